"""What *safe* means: requirements on the groups that people hide in."""

from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.model import Guarantee, Model
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.recursive_l_diversity import RecursiveLDiversity

LDiversity = DistinctLDiversity
"""ℓ-diversity in its plainest reading: at least ℓ different values."""

__all__ = [
    "DistinctLDiversity",
    "EntropyLDiversity",
    "Guarantee",
    "KAnonymity",
    "LDiversity",
    "Model",
    "ProbabilisticLDiversity",
    "RecursiveLDiversity",
]
