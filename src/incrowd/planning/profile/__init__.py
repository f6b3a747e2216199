"""What a table holds and what to do about it: roles, hierarchies, and the columns that single people out."""

from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.proposing import Profile, profile
from incrowd.planning.profile.separation import Separation
from incrowd.planning.profile.writing import recipe_text

__all__ = ["ColumnProfile", "Profile", "Separation", "profile", "recipe_text"]
