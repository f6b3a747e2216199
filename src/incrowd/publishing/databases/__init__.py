"""Databases that a release is written to, in one transaction, and read from again.

A release `N` is the table `N` with its rows, `N_…` for each other table, and `N_files` with what is in its other files.
"""
