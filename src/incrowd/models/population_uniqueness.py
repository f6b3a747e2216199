"""Population uniqueness: few of the published rows belong to people whom nobody in the population is like.

A row that is alone in the table is at risk only if nobody else in the population looks the same. With a table of the
population this is counted; without one, it is estimated from the sizes of groups and the share of the population that
the table is (Bethlehem, Keller & Pannekoek 1990; Dankar et al. 2012). Cost: one count of the population in all groups'
regions, or an estimate over the distinct sizes of groups.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.common.surface import option
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.k_map import KMap
from incrowd.models.shares import require_share
from incrowd.models.uniqueness_estimates import ESTIMATORS, uniqueness_estimates

_PITMAN_UP_TO = 0.1


@renamed(share="max_share")
@dataclass(frozen=True)
class PopulationUniqueness(Model):
    """At most a share of `max_share` of the rows is unique in the population, counted or expected.

    Parameters
    ----------
    max_share : the largest share of rows that may be unique, from 0 to 1.
    fraction : the share of the population that the table is, above 0 and at most 1 (default: None, count the population
        that you gave when you read the table).
    estimator : "pitman", "zayatz", "snb" (slide negative binomials), "poisson" (all classes equally large) or
        "largest", the most cautious of the four; needs a `fraction` (default: by the decision rule of Dankar et al.,
        "pitman" for fractions of up to a tenth, and the smaller of "zayatz" and "snb" above that).

    Where people have several rows, people are counted, not rows.

    With survey weights in place of a population (`read(..., weight=...)`) and without a `fraction`, that is the people
    of the table over the sum of their weights, and the number is estimated.

    Without a `fraction`, a row is unique if its labels hold for one person of the population, or for none. With a
    `fraction`, the table is taken as a random sample of a population that is not available, and the number is
    estimated. An estimate is no bound: on some tables it is a third of the truth, on others ten times as much. The
    guarantee says that it is one, and what all four estimators say: where they differ, nobody knows. If the table
    itself is sampled before it is published, the fraction is that of the whole table.

    This is a property of all groups together: every group gets the same verdict. A method that judges a few groups at a
    time lets no row be unique at all.

    >>> round(PopulationUniqueness(0.01, fraction=0.05).achieved(Groups(sizes=np.array([1, 1, 1, 2, 5, 10]))), 3)
    0.008

    Reference: Bethlehem, Keller & Pannekoek (1990); Dankar et al. (2012).
    """

    max_share: float
    fraction: float | None = None
    estimator: Literal["pitman", "zayatz", "snb", "poisson", "largest"] | None = None
    name: ClassVar[str] = "population-uniqueness"
    plain_name: ClassVar[str] = "few are the only one in the population"
    monotone: ClassVar[bool] = False  # counted, it is; but an estimate may rise when groups are joined
    hereditary: ClassVar[bool] = False
    looks_at_values: ClassVar[bool] = False
    compares_with_table: ClassVar[bool] = True  # an estimate goes by the share of it that was sampled
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "max_share", self.max_share, zero=True)
        if self.fraction is not None:
            require_share(self.name, "fraction", self.fraction, zero=False)
        if self.estimator not in (None, "largest", *ESTIMATORS):
            known = ", ".join(f'"{name}"' for name in ESTIMATORS)
            raise RecipeError(f'{self.name}: estimator is {known} or "largest", not {self.estimator!r}.')
        if self.estimator is not None and self.fraction is None:
            raise RecipeError(
                f"{self.name}: an estimator needs the share of the population that the table is.  "
                f"Hint: {option('fraction', 0.05)} for one person in twenty."
            )

    @property
    def for_each_group(self) -> Model:
        """Where no row is unique, their share is 0."""
        return NotAlone() if self.fraction is None else KAnonymity(2)

    @property
    def asks_population(self) -> bool:
        """Whether nobody says which share of it the table is."""
        return self.fraction is None

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.max_share == 1

    @property
    def min_group(self) -> int:
        """A few rows may well be unique."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether few enough rows are unique, the same for every group."""
        estimated = self.fraction is not None or groups.population_is_estimated
        if estimated and _share_alone(groups) <= self.max_share:  # an estimate would only be smaller
            return np.ones(len(groups), dtype=bool)
        return np.full(len(groups), self.achieved(groups) <= self.max_share)

    def achieved(self, groups: Groups) -> float:
        """Return the share of rows that are unique in the population."""
        if not len(groups):
            return 0.0
        fraction = self._sampled(groups)
        if fraction is None:
            return int(groups.sizes[groups.population <= 1].sum()) / int(groups.sizes.sum())
        alone = _share_alone(groups)
        if not alone:
            return 0.0
        if self.estimator == "largest":
            return max(uniqueness_estimates(groups.sizes, fraction).values())
        by_rule = ("pitman",) if fraction <= _PITMAN_UP_TO else ("zayatz", "snb")
        estimators = by_rule if self.estimator is None else (self.estimator,)
        return alone * min(ESTIMATORS[estimator](groups.sizes, fraction) for estimator in estimators)

    def _sampled(self, groups: Groups) -> float | None:
        """Return which share of the population the groups are; None where the population is at hand."""
        fraction = self.fraction
        if fraction is None:
            if not groups.population_is_estimated:
                return None
            fraction = _fraction(groups)
        return fraction * (1.0 if groups.table is None else float(groups.table.rate))

    def told(self, groups: Groups) -> str:
        """Return what all estimators say, where the number is an estimate."""
        fraction = None if self.asks_nothing or not len(groups) else self._sampled(groups)
        if fraction is None:
            return super().told(groups)
        found = uniqueness_estimates(groups.sizes, fraction)
        shares = ", ".join(f"{name} {share:.2g}" for name, share in found.items())
        return f"an estimate and no bound: between {min(found.values()):.2g} and {max(found.values()):.2g} ({shares})"

    def least_failing(self, groups: Groups) -> NDArray[np.float64]:
        """Return 1 for all groups where too many rows are unique for certain: in smaller groups no fewer are."""
        estimated = self.fraction is not None or groups.population_is_estimated
        counted = not estimated and not self.satisfied(groups).all()
        return np.full(len(groups), float(counted))

    def __str__(self) -> str:
        estimated = "" if self.fraction is None else f" (estimated, from {self.fraction:.4g} of it)"
        return f"at most {self.max_share:.4g} of rows unique in the population{estimated}"


@dataclass(frozen=True)
class NotAlone(Model):
    """Nobody is unique for certain: two people of the population in each group, or two rows where it is not known."""

    name: ClassVar[str] = "not-alone"
    listed: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True
    looks_at_values: ClassVar[bool] = False

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be two people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group holds two people."""
        return self._judge(groups).satisfied(groups)

    def achieved(self, groups: Groups) -> float:
        """Return the fewest people of any group."""
        return self._judge(groups).achieved(groups)

    def _judge(self, groups: Groups) -> Model:
        return KAnonymity(2) if groups.population_is_estimated else KMap(2)

    def __str__(self) -> str:
        return "nobody unique in the population"


def _fraction(groups: Groups) -> float:
    """Return which share of the population the table is, by its weights."""
    sampled, people = groups.people_by_weight
    return min(float(sampled) / people, 1.0)


def _share_alone(groups: Groups) -> float:
    rows = int(groups.sizes.sum())
    return int((groups.sizes == 1).sum()) / rows if rows else 0.0
