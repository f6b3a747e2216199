"""Bucketization and slicing: break the link instead of blurring the value."""
