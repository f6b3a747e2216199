"""What a release is still good for."""

from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.metric import Goal, Metric
from incrowd.metrics.ncp import GlobalCertaintyPenalty, certainty_penalties

__all__ = ["AverageGroupSize", "Discernibility", "GlobalCertaintyPenalty", "Goal", "Metric", "certainty_penalties"]
