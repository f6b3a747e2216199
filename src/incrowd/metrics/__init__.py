"""What a release is still good for."""

from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.distortion import Distortion
from incrowd.metrics.metric import Goal, Metric
from incrowd.metrics.ncp import GlobalCertaintyPenalty, certainty_penalties
from incrowd.metrics.withheld_share import WithheldShare

__all__ = [
    "AverageGroupSize",
    "Discernibility",
    "Distortion",
    "GlobalCertaintyPenalty",
    "Goal",
    "Metric",
    "WithheldShare",
    "certainty_penalties",
]
