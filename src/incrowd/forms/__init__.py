"""How a crowd is shown: the same people who hide together, in different ways."""

from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.showing import Showing

__all__ = ["ShowGeneralized", "Showing"]
