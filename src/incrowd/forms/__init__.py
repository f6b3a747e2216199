"""How a crowd is shown: the same people who hide together, in different ways."""

from incrowd.forms.buckets import ShowBuckets
from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.multisets import ShowMultisets
from incrowd.forms.showing import Showing
from incrowd.forms.slices import ShowSlices

__all__ = ["ShowBuckets", "ShowGeneralized", "ShowMultisets", "ShowSlices", "Showing"]
