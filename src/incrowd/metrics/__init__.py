"""What a release is still good for."""

from incrowd.metrics.ambiguity import Ambiguity, mean_combinations_bits
from incrowd.metrics.association_kept import AssociationKept
from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.distortion import Distortion
from incrowd.metrics.equivalent_k import MaxK, avg_k, max_k
from incrowd.metrics.granularity import Granularity, granularities
from incrowd.metrics.height import Height, heights
from incrowd.metrics.iyengar_loss import IyengarLoss, leaf_losses
from incrowd.metrics.kl_divergence import KLDivergence
from incrowd.metrics.metric import Goal, Metric
from incrowd.metrics.ncp import GlobalCertaintyPenalty, certainty_penalties
from incrowd.metrics.non_uniform_entropy import NonUniformEntropy
from incrowd.metrics.precision import Precision
from incrowd.metrics.total_variation import PairwiseTotalVariation, TotalVariation
from incrowd.metrics.withheld_share import WithheldShare

__all__ = [
    "Ambiguity",
    "AssociationKept",
    "AverageGroupSize",
    "Discernibility",
    "Distortion",
    "GlobalCertaintyPenalty",
    "Goal",
    "Granularity",
    "Height",
    "IyengarLoss",
    "KLDivergence",
    "MaxK",
    "Metric",
    "NonUniformEntropy",
    "PairwiseTotalVariation",
    "Precision",
    "TotalVariation",
    "WithheldShare",
    "avg_k",
    "certainty_penalties",
    "granularities",
    "heights",
    "leaf_losses",
    "max_k",
    "mean_combinations_bits",
]
