"""Predicate singling out (Cohen & Nissim 2020): name a condition that exactly one person of the table satisfies.

A release helps where its rarest rows are somebody's own: "these labels and this value" is such a condition if only one
published row has it. A row that stands for several is narrowed by a condition of chance that one in as many satisfies.
Where all counts are multiples of a number, rows may have been repeated as often (k-Duplication, Li, Qardaji & Su 2012):
that is tried too, and the better way counts. Without a release, a condition that one in n satisfies isolates somebody
with probability (1 − 1/n)^(n−1), about 37 %.

Of a sliced table, written rows are taken as conditions, those of which it lets one expect one person. Cost: one
look-up of the conditions among the table's rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Counts, Floats
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target
from incrowd.core.view import ExactView, LabelledView
from incrowd.kernels.boxes_and_points import points_in_boxes

_WRITTEN_ROWS = 20_000


@dataclass(frozen=True)
class SinglingOut(Attack):
    """Try the conditions that stand for the fewest published rows: which of them hold for exactly one person?

    Parameters
    ----------
    conditions : how many conditions to try (default: 1000).

    It needs the table before.

    Reference: Cohen & Nissim (2020).
    """

    conditions: int = 1000
    name: ClassVar[str] = "singling-out"
    plain_name: ClassVar[str] = "describing exactly one person"
    threat: ClassVar[Threat] = "singling out"
    reaches_people: ClassVar[bool] = False
    stream: ClassVar[int | None] = 3

    def __post_init__(self) -> None:
        require_whole(self.name, "conditions", self.conditions, at_least=1)

    def lacks(self, target: Target) -> str | None:
        """The table before is needed, to know how many people satisfy a condition."""
        if target.view.exact is None and target.view.labels is None:
            return "there are neither labels nor rows with exact values"
        return "the table before is needed" if target.truth is None else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how many of the conditions isolate a person."""
        assert target.truth is not None
        if target.view.exact is not None:
            success = self._written_rows(target, target.view.exact, rng)
        else:
            assert target.view.labels is not None
            success = self._rarest_lines(target, target.view.labels, rng)
        value = float(success.mean()) if len(success) else 0.0
        rows = max(target.truth.rows, 1)
        baseline = float((1 - 1 / rows) ** (rows - 1))
        return risk_of(
            self,
            value=value,
            baseline=baseline,
            people=len(success),
            against="a condition that one in n satisfies",
            says=f"{percent(value)} of the {len(success):,} narrowest conditions that the release suggests hold for "
            f"exactly one person of the table; conditions made up without it do so in at most {percent(baseline)} of "
            "the cases.",
        )

    def _rarest_lines(self, target: Target, view: LabelledView, rng: np.random.Generator) -> Floats:
        form, truth = view.form, target.truth
        assert truth is not None
        secret = sorted(form.schema.sensitive)
        hidden = form.sensitive[:, [list(form.schema.sensitive).index(name) for name in secret]]
        # Lines that differ in a set of items alone are one condition.
        shown = np.concatenate([form.groups[:, None], hidden], axis=1).astype(np.int32)
        line_of, first = group_tuples(
            shown, [max(len(form.shown), 1), *(form.tally.trees[name].size for name in secret)]
        )
        groups, hidden = form.groups[first], hidden[first]
        counts = np.bincount(line_of, weights=form.counts, minlength=len(first)).astype(np.int64)
        # Chance must not depend on the order in which columns were named.
        order = rng.permutation(np.lexsort((*hidden.T[::-1], groups)))
        lines = order[np.argsort(counts[order], kind="stable")][: self.conditions]
        regions = view.regions.of(groups[lines])
        values = hidden[lines]
        lows = np.concatenate([regions.lows, values], axis=1)
        highs = np.concatenate([regions.highs, values + 1], axis=1)
        points = truth.codes_of((*regions.columns, *secret))
        people = points_in_boxes(lows, highs, points, truth.counts).astype(np.float64)
        repeated = int(np.gcd.reduce(counts)) if len(counts) else 1
        ways = [_isolated(people, counts[lines] // times) for times in {1, repeated}]
        return max(ways, key=lambda success: float(success.sum()))

    def _written_rows(self, target: Target, view: ExactView, rng: np.random.Generator) -> Floats:
        truth = target.truth
        assert truth is not None
        if not view.rows:
            return np.zeros(0)
        names = view.columns
        written = view.written_rows(rng.integers(0, view.rows, _WRITTEN_ROWS))
        shown = view.as_shown(truth.codes_of(names))
        sizes = [truth.trees[name].size for name in names]
        written = written[rng.permutation(group_tuples(written, sizes)[1])]
        # The best conditions are those that the release lets one expect of one person.
        best = np.argsort(np.abs(view.fits(written) - 1), kind="stable")[: self.conditions]
        numbers, _ = group_tuples(np.concatenate([shown, written[best]]), sizes)
        people = np.bincount(numbers[: len(shown)], weights=truth.counts, minlength=int(numbers.max()) + 1)
        return np.asarray(people[numbers[len(shown) :]] == 1, dtype=np.float64)


def _isolated(people: Floats, expected: Counts) -> Floats:
    """Return how likely exactly one of the people is left by a condition of chance that one in `expected` satisfies."""
    chance = 1.0 / expected
    return np.asarray(people * chance * (1 - chance) ** np.maximum(people - 1, 0))
