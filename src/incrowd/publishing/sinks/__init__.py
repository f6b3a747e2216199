"""Kinds of files that a release is written to."""
