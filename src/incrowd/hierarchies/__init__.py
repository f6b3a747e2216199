"""How a value becomes less specific, level by level."""

from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Exact, Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.tree import Tree

__all__ = ["Automatic", "Categories", "Dates", "Exact", "Flat", "Hierarchy", "Intervals", "Masking", "Tree"]
