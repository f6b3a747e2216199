"""Synthetic rows from noisy counts of single columns and of pairs of columns, under differential privacy."""
