"""Counting queries: drawn at random, of a given size, and answered many at once."""
