"""Individual risk: the chance of naming the right person for a row of a survey, by its weights.

Nobody knows how many people of the population a row could be; the weights of the people who look the same estimate it.
The mean of 1/F over all that F may then be is the risk (Benedetti & Franconi 1998; Hundepool et al. 2012, 3.3.1; the
`indivRisk` of sdcMicro). Cost: one count of the table in all groups' regions, and some hundred steps over the groups.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.models.negative_binomial import mean_inverse
from incrowd.models.risk_of_links import RiskOfLinks


@dataclass(frozen=True)
class IndividualRisk(RiskOfLinks):
    """No row of a survey is linked to its person with an estimated probability above `risk`.

    Parameters
    ----------
    risk : the largest probability, above 0 and at most 1.
    average : True bounds the mean over all rows instead of the largest probability (default: False). The mean times the
        rows is how many of them are expected to be linked rightly.

    Where people have several rows, people are counted, not rows.

    You give the weights when you read the table: `read(..., weight="w")`. They must add up to the population. Of the
    people whom a group's labels hold for, f are in the table, and their weights add up to F. The number of such people
    in the population is then taken to follow a negative binomial distribution with f successes of probability f/F, and
    the risk is the mean of its inverse. Where `read` was given the population itself, people are counted in it, and
    this is journalist risk.

    It is an estimate, not a bound: weights that were made for totals may be wrong for a small group. It protects only
    against those who do not know who is in the table.

    >>> import incrowd as ic
    >>> frame = ic.datasets.census(1000).with_columns(w=20.0)
    >>> table = ic.read(frame, quasi=["age", "sex", "education"], weight="w", others="drop")
    >>> release = ic.publish(table, [ic.KAnonymity(2), IndividualRisk(0.05)])
    >>> release.guarantees[1].achieved <= 0.05
    True

    Reference: Benedetti & Franconi (1998); Hundepool et al. (2012).
    """

    name: ClassVar[str] = "individual-risk"
    plain_name: ClassVar[str] = "the chance that a row is named rightly"
    # For one F, the risk falls with f; and with both, since more people were counted. So a union is no riskier than the
    # riskiest of its parts, and a part no less risky than the whole.
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True
    rounding: ClassVar[float] = 1e-9  # of some hundred steps

    def risks(self, groups: Groups) -> Floats:
        """Return the mean of 1/F, or 1/F itself where the population is at hand."""
        known = groups.table is not None and groups.table.population is not None
        if known and not groups.population_is_estimated:
            return np.asarray(1 / np.maximum(groups.population, 1))
        return mean_inverse(*groups.estimated_population)
