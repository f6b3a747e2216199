"""What *safe* means: requirements on the groups that people hide in."""

from incrowd.models.alpha_k_anonymity import AlphaKAnonymity
from incrowd.models.bayes_optimal_privacy import BayesOptimalPrivacy
from incrowd.models.beta_likeness import BasicBetaLikeness
from incrowd.models.confidence_bounds import ConfidenceBounds
from incrowd.models.delta_disclosure import DeltaDisclosure
from incrowd.models.delta_presence import DeltaPresence
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.enhanced_beta_likeness import EnhancedBetaLikeness
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.expected_confidence import ExpectedConfidence
from incrowd.models.full_k_anonymity import FullKAnonymity
from incrowd.models.journalist_risk import JournalistRisk
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.k_map import KMap
from incrowd.models.marketer_risk import MarketerRisk
from incrowd.models.model import Guarantee, Model
from incrowd.models.population_uniqueness import PopulationUniqueness
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.prosecutor_risk import ProsecutorRisk
from incrowd.models.recursive_l_diversity import RecursiveLDiversity
from incrowd.models.sliced_diversity import SlicedDiversity
from incrowd.models.t_closeness import TCloseness

LDiversity = DistinctLDiversity
"""ℓ-diversity in its plainest reading: at least ℓ different values."""

__all__ = [
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "BayesOptimalPrivacy",
    "ConfidenceBounds",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "ExpectedConfidence",
    "FullKAnonymity",
    "Guarantee",
    "JournalistRisk",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "MarketerRisk",
    "Model",
    "PopulationUniqueness",
    "ProbabilisticLDiversity",
    "ProsecutorRisk",
    "RecursiveLDiversity",
    "SlicedDiversity",
    "TCloseness",
]
