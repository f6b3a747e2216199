"""Checks that models and methods make on their parameters."""

from incrowd.parameters import require_number, require_whole

__all__ = ["require_number", "require_whole"]
