"""Loops that must be loops, compiled by Numba and cached on disk; imported only when used."""
