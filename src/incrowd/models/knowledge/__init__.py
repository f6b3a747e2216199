"""What everybody knows about people before anything is published: how frequent values are, and what goes with what."""

from incrowd.models.knowledge.dependence import fitted_shares
from incrowd.models.knowledge.frequencies import Marginals, marginal_shares, read_marginals, require_marginals
from incrowd.models.knowledge.probability import Dependence, record_probabilities
from incrowd.models.knowledge.rules import Rule, as_rules

__all__ = [
    "Dependence",
    "Marginals",
    "Rule",
    "as_rules",
    "fitted_shares",
    "marginal_shares",
    "read_marginals",
    "record_probabilities",
    "require_marginals",
]
