"""Attacks on the promises with inputs that chance makes up: `make campaign`, for minutes or for hours."""
