"""Bayes-optimal privacy as a model: seeing the release, no belief about anybody changes by τ (Senellart; [1], §3.1).

An adversary knows f(s|q), how likely each sensitive value s is for somebody with the quasi-identifiers q, and believes
that before. A group whose labels may stand for q then shows the value s n(s) times, where f(s|q*) of it was to be
expected: the belief becomes n(s) · f(s|q) / f(s|q*), normalized over s. See `bayes_optimal.py` for both.

Cost: all pairs of a group and a distinct tuple that its labels may stand for, times the sensitive values, in blocks.

[1] Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007): ℓ-Diversity: Privacy Beyond k-Anonymity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram, Regions
from incrowd.core.model import Missing, Model, histograms, of_what, require_missing
from incrowd.core.tally import Tally
from incrowd.errors import NeedsTable, SchemaError
from incrowd.hierarchies.tree import MISSING
from incrowd.kernels import box_members, boxes_and_points
from incrowd.models.bayes_optimal import changes, posterior, prior
from incrowd.models.knowledge.rules import Rule, as_rules, masks_by_value
from incrowd.models.shares import require_share

_BLOCK = 1 << 22
"""Beliefs that are held in memory at once, unless a single group has more."""
_ROUNDING = 1e-12
"""A change of exactly τ is a breach; it may come out smaller by this much."""


@dataclass(frozen=True)
class BayesOptimalPrivacy(Model):
    """No belief in a sensitive value changes by `tau` or more, for any person whom a group's labels may stand for.

    Parameters
    ----------
    tau : the change of belief that is never reached, above 0 and at most 1.
    smoothing : how many people with the whole table's shares of values are added to those with the same
        quasi-identifiers, before beliefs are learnt from them (default: 1). With 0, the adversary knows the table and
        learns nothing new. The larger it is, the less the adversary knows. In the limit, the model only asks that no
        value's share of a group differs by `tau` from its share of the whole table.
    rules : what else is known, as `Rule`s (default: nothing). A rule replaces the belief in the value that it names;
        the other values share the rest.
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody:
        beliefs are about the recorded values, before and after, and a group that shows none changes none. With
        "counts", missing is a value like any other.

    The adversary's prior belief is learnt from the table: the shares of values among people with the same
    quasi-identifiers, smoothed as above.

    A group is judged by all people of the table whom its labels may stand for, also those who are withheld or shown in
    another group: f(s|q*) is the sum of f(s|q) over them. If labels of several groups hold for the same people, each of
    these groups has to keep to tau, and then so does any mixture of them. Labels are known only when a method is done.
    All methods but the full-domain search go by their groups' own values until then, so they may end with labels that
    are not safe. The release is then refused.

    A belief is about the one value that a person has. A table in which somebody has several is refused.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(500), quasi=["sex", "education"], sensitive=["occupation"], others="drop")
    >>> release = ic.publish(table, BayesOptimalPrivacy(0.3, smoothing=20), method=ic.FullDomain(max_withheld=0.2))
    >>> release.guarantees[0].achieved < 0.3
    True
    """

    tau: float
    smoothing: float = 1.0
    rules: tuple[Rule, ...] = ()
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "bayes-optimal-privacy"
    plain_name: ClassVar[str] = "an expert learns little"
    monotone: ClassVar[bool] = False  # labels of a union may stand for people of neither group
    hereditary: ClassVar[bool] = False  # what a group shows too often may be what one of its parts is known for
    needs_table: ClassVar[bool] = True
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "tau", self.tau, zero=False)
        require_number(self.name, "smoothing", self.smoothing, at_least=0)
        object.__setattr__(self, "rules", as_rules(self.rules))
        require_missing(self.name, self.missing)

    @property
    def min_group(self) -> int:
        """A row alone will do where its value was to be expected."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether all beliefs about the people of each group change by less than tau."""
        return np.less(self.largest_changes(groups), self.tau - _ROUNDING)

    def achieved(self, groups: Groups) -> float:
        """Return the largest change of any belief about anybody."""
        return float(self.largest_changes(groups).max(initial=0.0))

    def largest_changes(self, groups: Groups) -> Floats:
        """Return the largest change of any belief about anybody whom each group's labels may stand for."""
        if groups.regions is None or groups.table is None:
            raise NeedsTable(
                f"{self.name} needs the table that the labels were made from, to know whom they may stand for.  "
                "Hint: publish the table here, or check the release together with its original."
            )
        found = np.zeros(len(groups))
        named = histograms(groups, self.column)
        regions, table = groups.regions(), groups.table.drawn_from or groups.table
        people, place = table.project(regions.columns)
        for column, histogram in named.items():
            if groups.several_values(column) or table.trees[column].sets is not None:
                raise SchemaError(
                    f"{self.name} is about the one value that a person has, and some people have several in "
                    f"'{column}'.  Hint: bound the share of people instead, with ProbabilisticLDiversity."
                )
            before = self._beliefs(table, people, place, column)
            for few, class_of, members in _members(regions, people, before.shape[1]):
                shown = _shown(histogram, few, before.shape[1])
                if self.missing == "ignored":
                    shown[:, MISSING] = 0.0
                told = (shown.sum(axis=1) > 0)[class_of]
                class_of, members = class_of[told], members[told]
                known = before[members]
                after = posterior(known, class_of, shown, people.counts[members].astype(np.float64))
                np.maximum.at(found, few.start + class_of, changes(known, after))
        return found

    def _beliefs(self, table: Tally, people: Tally, place: Ints, column: str) -> Floats:
        """Return f(s|q), a row for each distinct q and a column for each code, and one for values that nobody has."""
        size = table.trees[column].size
        cells = np.bincount(place * (size + 1) + table.column(column), table.counts, len(people) * (size + 1))
        joint = cells.astype(np.float64).reshape(len(people), size + 1)
        everybody = table.value_counts(column).astype(np.float64)
        if self.missing == "ignored":
            joint[:, MISSING] = everybody[MISSING] = 0.0
        joint[:, :size] += self.smoothing * everybody / max(everybody.sum(), 1.0)
        return _with_rules(prior(joint), self.rules, people, table, column)

    def __str__(self) -> str:
        return f"beliefs change by less than {self.tau:g}{of_what(self.column, self.missing)}"


def _with_rules(beliefs: Floats, rules: Sequence[Rule], people: Tally, table: Tally, column: str) -> Floats:
    """Replace the beliefs that rules speak of, and give what is left to the other values in proportion."""
    if not rules:
        return beliefs
    told, spoken_of = np.zeros(beliefs.shape), np.zeros(beliefs.shape, dtype=bool)
    for value, among, confidence in masks_by_value(rules, table.trees[column], table.trees, people.columns):
        concerned = np.ones(len(people), dtype=bool)
        for name, mask in among.items():
            concerned &= mask[people.column(name)]
        told[concerned, value] += confidence  # -1, a value that nobody has, is the last column
        spoken_of[concerned, value] = True
    total = told.sum(axis=1)
    if (total > 1 + _ROUNDING).any():
        raise SchemaError("rules that speak of the same people give them values with a probability of more than 1.")
    others = np.where(spoken_of, 0.0, beliefs)
    share = np.zeros(len(beliefs))
    np.divide(1.0 - total, others.sum(axis=1), out=share, where=others.sum(axis=1) > 0)
    return prior(told + others * np.maximum(share, 0.0)[:, None])


def _members(regions: Regions, people: Tally, values: int) -> Iterator[tuple[slice, Ints, Ints]]:
    """Go through groups block by block; yield which they are, and of each pair of a group and a tuple in it, both."""
    if not len(regions.lows):
        return
    sizes = np.array([people.trees[name].size for name in people.columns])
    at = [regions.columns.index(name) for name in people.columns]
    all_lows, all_highs = regions.lows[:, at], regions.highs[:, at]
    order, starts = box_members.sort_by_code(people.codes, sizes)
    numbers = boxes_and_points.points_in_boxes(all_lows, all_highs, people.codes, np.ones(len(people)))
    before = np.concatenate(([0], np.cumsum(numbers)))
    first = 0
    while first < len(numbers):
        fits = int(np.searchsorted(before, before[first] + _BLOCK // values, side="right")) - 1
        few = slice(first, max(fits, first + 1))
        lows, highs = (np.ascontiguousarray(edges[few]) for edges in (all_lows, all_highs))
        offsets = before[few.start : few.stop + 1] - before[few.start]
        members = box_members.members_of_boxes(lows, highs, people.codes, order, starts, offsets)
        class_of = np.repeat(np.arange(few.stop - few.start), np.diff(offsets))
        meant = np.ones(len(members), dtype=bool)
        for name in people.columns:  # labels of sets: not all that lies between may be meant
            meant &= regions.means(name, few.start + class_of, people.column(name)[members])
        members, class_of = members[meant], class_of[meant]
        yield few, class_of, members
        first = few.stop


def _shown(histogram: Histogram, few: slice, values: int) -> Floats:
    """Return how often each of some groups shows each value."""
    entries = slice(histogram.offsets[few.start], histogram.offsets[few.stop])
    cells = (histogram.group_of[entries] - few.start) * values + histogram.values[entries]
    groups = few.stop - few.start
    return np.bincount(cells, histogram.counts[entries], groups * values).astype(np.float64).reshape(groups, values)
