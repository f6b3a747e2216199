"""Loops that must be loops: what they are called with and what they mean. The loops are C++, in `native/`."""
