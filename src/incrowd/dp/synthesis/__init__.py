"""Synthetic rows from noisy counts that are chosen one after the other by what a model of them still gets wrong."""
