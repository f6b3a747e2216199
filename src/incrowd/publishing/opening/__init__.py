"""Releases read from their files, and descriptions of those that were made elsewhere."""
