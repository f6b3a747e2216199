"""What a table holds and what to do about it: roles, hierarchies, and the columns that single people out."""

from incrowd.profiling.proposing import ColumnProfile, Profile, profile
from incrowd.profiling.separation import Separation
from incrowd.profiling.writing import recipe_text

__all__ = ["ColumnProfile", "Profile", "Separation", "profile", "recipe_text"]
