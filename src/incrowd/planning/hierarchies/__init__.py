"""Hierarchies as their owner looks at them and edits them: levels with counts, and one change after another."""

from incrowd.planning.hierarchies.editing import edited
from incrowd.planning.hierarchies.levels import ColumnValues, Looked, look_at

__all__ = ["ColumnValues", "Looked", "edited", "look_at"]
