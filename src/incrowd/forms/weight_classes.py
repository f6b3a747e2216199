"""What of survey weights may be shown: within each group, one weight for so many people as the models ask for.

A weight is close to a fingerprint: it follows from the region, the age and whatever else a survey was drawn by. So it
is taken for one more label. In each group, people who weigh about the same become a class of at least k people, the
smallest group that any required model allows, and show one weight: their own where all of them have it, and otherwise
its mean, rounded. Every class must satisfy every required model by itself, as if it were a group; where one does not,
its whole group is one class. So each promise that holds for the groups holds for whoever looks at weights, too.

Means keep the sum of the weights of each class, up to rounding. They are rounded to three digits, since all digits of
a mean would tell which weights it is the mean of. Cost: a sort of the pairs of a group and a weight, and what it costs
to judge the classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd.common.arrays import Bools, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.kernels.keys import rank_keys
from incrowd.kernels.weight_runs import runs_of_enough

DIGITS = 3
"""Significant digits of a mean."""


@dataclass(frozen=True, eq=False)
class WeightClasses:
    """Classes of people who show one weight: `class_of[i]` is that of entry i, `group_of[c]` the group of class c."""

    class_of: Ints
    group_of: Ints
    shown: Floats
    """The published weight of each class."""

    def as_seen(self) -> WeightClasses:
        """Join classes of a group that show the same: no reader can tell them apart."""
        distinct, number = np.unique(self.shown, return_inverse=True)
        room = max(len(distinct), 1)
        place, first = rank_keys(self.group_of * room + number, (int(self.group_of.max(initial=0)) + 1) * room)
        return WeightClasses(place[self.class_of], self.group_of[first], self.shown[first])


def classes_of(
    groups: Ints, weights: Floats, people: Counts, enough: int, satisfied: Callable[[Ints, Ints], Bools]
) -> WeightClasses:
    """Divide groups into classes: `people[i]` people of group `groups[i]` weigh `weights[i]` each.

    `satisfied` judges classes, given each entry's class and each class' group.
    """
    distinct, number = np.unique(weights, return_inverse=True)
    room = max(len(distinct), 1)
    place, first = rank_keys(groups * room + number, (int(groups.max(initial=0)) + 1) * room)
    holders = np.bincount(place, weights=people, minlength=len(first)).astype(np.int64)
    run_of = runs_of_enough(groups[first], holders, enough)
    class_of = run_of[place]
    group_of = _first_of(class_of, groups)
    safe = np.asarray(satisfied(class_of, group_of))
    if not safe.all():
        class_of, group_of = _joined(class_of, group_of, group_of[~safe])
    return WeightClasses(class_of, group_of, _means(class_of, len(group_of), weights, people))


def one_class_each(groups: Ints, weights: Floats, people: Counts) -> WeightClasses:
    """Return the classes of groups that show one weight each."""
    class_of, first = rank_keys(groups, int(groups.max(initial=0)) + 1)
    return WeightClasses(class_of, groups[first], _means(class_of, len(first), weights, people))


def _joined(class_of: Ints, group_of: Ints, unsafe: Ints) -> tuple[Ints, Ints]:
    """Make one class of all those of some groups."""
    whole = np.zeros(int(group_of.max(initial=0)) + 1, dtype=bool)
    whole[unsafe] = True
    # Classes are numbered group by group: the first of a group stands for all of them.
    is_first = np.append(True, group_of[1:] != group_of[:-1])
    number = np.cumsum(is_first | ~whole[group_of]) - 1
    joined = number[class_of]
    return joined, group_of[is_first | ~whole[group_of]]


def _first_of(class_of: Ints, groups: Ints) -> Ints:
    found = np.zeros(int(class_of.max(initial=-1)) + 1, dtype=np.int64)
    found[class_of] = groups
    return found


def _means(class_of: Ints, number: int, weights: Floats, people: Counts) -> Floats:
    """Return the one weight of each class, or the rounded mean of its weights."""
    lowest, highest = np.full(number, np.inf), np.full(number, -np.inf)
    np.minimum.at(lowest, class_of, weights)
    np.maximum.at(highest, class_of, weights)
    totals = np.bincount(class_of, weights=weights * people, minlength=number)
    holders = np.bincount(class_of, weights=people, minlength=number)
    means = rounded(totals / np.maximum(holders, 1))
    return np.where((lowest == highest) & (holders > 1), lowest, means)


def rounded(numbers: Floats, digits: int = DIGITS) -> Floats:
    """Round to so many significant digits.

    >>> rounded(np.array([0.0, 123.456, 98765.4, 0.0012345])).tolist()
    [0.0, 123.0, 98800.0, 0.00123]
    """
    found = np.zeros(len(numbers))
    there = numbers > 0
    exponents = np.floor(np.log10(numbers[there])).astype(np.int64) - (digits - 1)
    # Powers of ten are exact as whole numbers, and their inverses are not.
    tens = 10.0 ** np.abs(exponents)
    small = exponents < 0
    given = numbers[there]
    found[there] = np.where(small, np.rint(given * tens) / tens, np.rint(given / tens) * tens)
    return found
