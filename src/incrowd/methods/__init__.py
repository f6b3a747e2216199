"""How to get a safe table: who hides together."""

from incrowd.methods.method import Method
from incrowd.methods.mondrian import Mondrian

__all__ = ["Method", "Mondrian"]
