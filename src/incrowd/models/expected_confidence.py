"""Expected against observed confidence: nobody learns more from the release than before it (Sattar et al. 2013).

Before, an adversary who draws n people at random meets somebody with these labels and this sensitive value with
probability 1 − (1 − Pr(t))^n: the *expected* confidence. After, they believe that a victim with these labels has the
value with β · #s / |E|, β being the share of rows that were sampled: the *observed* confidence. There is no threshold
to guess: a record may be published if the second is not above the first. Cost: one pass over the (group, value) pairs
per quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, histograms, of_what, require_missing
from incrowd.errors import RecipeError
from incrowd.hierarchies.tree import MISSING
from incrowd.models.knowledge import Dependence, Marginals, Rule, as_rules, read_marginals, record_probabilities
from incrowd.models.knowledge.frequencies import require_marginals
from incrowd.models.shares import group_shares, groups_without, require_share


@dataclass(frozen=True)
class ExpectedConfidence(Model):
    """For each row, the observed confidence in its sensitive value is at most the expected one.

    Parameters
    ----------
    marginals : public frequencies of some columns, as column → value → probability; in a recipe also the name of a
        file, see `incrowd.models.knowledge.read_marginals` (default: the table's own frequencies).
    rules : what is known of some people and a value, as `Rule`s (default: nothing).
    dependence : "independent", or "fitted" to learn from the table how quasi-identifiers and the sensitive value are
        related (default: "independent").
    rate : the share of rows that was sampled (default: the release's own).
    trials : the n of the formula (default: the table's rows times the rate).
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: a
        value's share of a group is that among the people whose value is recorded, and rows that show none are not
        judged. What is expected stays the same. With "counts", missing is a value like any other.

    The expected confidence is what an adversary believes before the release: the probability 1 − (1 − Pr(t))^n to meet
    a person with these labels and this value among n people drawn at random. The observed confidence is what they
    believe after it: the rate times the value's share of the group. There is no threshold to choose.

    Where people have several rows, people are counted: Pr(t) is that of a person with these labels who has the value,
    n is a number of people, and a value's share of the group are the people who have it.

    Reference: Sattar et al. (2013).
    """

    marginals: Marginals = field(default_factory=dict, hash=False)
    rules: tuple[Rule, ...] = ()
    dependence: Dependence = "independent"
    rate: float | None = None
    trials: int | None = None
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "expected-confidence"
    plain_name: ClassVar[str] = "a guess is no surer than expected"
    monotone: ClassVar[bool] = True  # of a union, labels are more probable, and a value's share is between its shares
    hereditary: ClassVar[bool] = False  # a part of a group may lack the value that is too frequent
    needs_table: ClassVar[bool] = True
    judges_entries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_marginals(self.name, self.marginals)
        require_missing(self.name, self.missing)
        object.__setattr__(self, "marginals", {column: dict(given) for column, given in self.marginals.items()})
        object.__setattr__(self, "rules", as_rules(self.rules))
        if self.dependence not in ("independent", "fitted"):
            raise RecipeError(f'{self.name}: dependence is "independent" or "fitted", not {self.dependence!r}.')
        if self.rate is not None:
            require_share(self.name, "rate", self.rate, zero=True)
        if self.trials is not None:
            require_whole(self.name, "trials", self.trials, at_least=1)

    @classmethod
    def from_recipe(cls, parameters: Mapping[str, Any], base: Path) -> ExpectedConfidence:
        """Read parameters of a recipe, where marginals may be the name of a file."""
        parameters = dict(parameters)
        if isinstance(parameters.get("marginals"), str):
            parameters["marginals"] = read_marginals(base / parameters["marginals"])
        return cls(**parameters)

    @property
    def min_group(self) -> int:
        """A row alone may be safe, where somebody like it was to be expected."""
        return 1

    def confidences(self, groups: Groups, column: str, histogram: Histogram) -> tuple[Floats, Floats]:
        """Return the expected and the observed confidence of every (group, value) entry."""
        probabilities = record_probabilities(
            groups,
            column,
            histogram,
            marginals=self.marginals,
            rules=self.rules,
            dependence=self.dependence,
        )
        assert groups.table is not None  # or there were no probabilities
        everybody = groups.table.drawn_from or groups.table
        # As many as a sample has on average: how many it has this time is nothing that an adversary must know.
        trials = int(everybody.rows * groups.table.rate) if self.trials is None else self.trials
        rate = float(groups.table.rate) if self.rate is None else self.rate
        return expected_confidence(probabilities, trials), rate * self._shares(groups, column, histogram)

    def _shares(self, groups: Groups, column: str, histogram: Histogram) -> Floats:
        """Return each entry's share of its group; nothing of a missing value that is ignored."""
        if self.missing == "counts":
            return group_shares(groups, histogram)
        known = histogram.values != MISSING
        shares = np.zeros(len(known))
        sizes = groups.recorded(column).sizes[histogram.group_of]
        np.divide(histogram.counts, sizes, out=shares, where=known)
        return shares

    def satisfied_entries(self, groups: Groups, column: str, histogram: Histogram) -> NDArray[np.bool_]:
        """Return whether the rows of each (group, value) entry may be published."""
        expected, observed = self.confidences(groups, column, histogram)
        return np.less_equal(observed, expected)

    def failing_rows(self, groups: Groups) -> int:
        """Return how many rows, at least, may not be published; others of the same group may."""
        failing = 0
        for column, histogram in histograms(groups, self.column).items():
            unsafe = ~self.satisfied_entries(groups, column, histogram)
            failing = max(failing, int(histogram.counts[unsafe].sum()))
        return failing

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether every row of each group may be published."""
        return all_satisfied(
            (
                groups_without(histogram, ~self.satisfied_entries(groups, column, histogram))
                for column, histogram in histograms(groups, self.column).items()
            ),
            groups,
        )

    def achieved(self, groups: Groups) -> float:
        """Return by how much the observed confidence exceeds the expected one at most; above 0, somebody is at risk."""
        largest = -1.0
        for column, histogram in histograms(groups, self.column).items():
            expected, observed = self.confidences(groups, column, histogram)
            largest = max(largest, float((observed - expected).max(initial=-1.0)))
        return largest

    def __str__(self) -> str:
        return f"no more confidence than expected{of_what(self.column, self.missing)}"


def expected_confidence(probability: float | Floats, trials: int) -> Floats:
    """Return 1 − (1 − p)^n, right also where p is tiny and n huge.

    >>> expected_confidence(0.15 * 0.5 * 0.05, 100).round(3), expected_confidence(0.15 * 0.5 * 0.05, 1000).round(3)
    (np.float64(0.313), np.float64(0.977))
    """
    if not trials:  # nobody is drawn, so nothing is to be expected
        return np.zeros_like(probability, dtype=np.float64)[()]
    with np.errstate(divide="ignore"):  # of a certain event, the logarithm of the contrary is minus infinity
        return np.asarray(-np.expm1(trials * np.log1p(-np.asarray(probability, dtype=np.float64))))[()]
