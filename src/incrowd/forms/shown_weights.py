"""The weights of a form of labels: who shows which, judged by the required models, and what is told of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd.common.arrays import Bools, Counts, Floats, Ints
from incrowd.core.groups import WITHHELD, Groups, LazyHistograms, histogram
from incrowd.core.labelled import Labelled
from incrowd.core.model import Model, for_each_group, satisfies_all
from incrowd.core.people import PlacedPeople
from incrowd.core.recoding import Recoding
from incrowd.core.shown_weights import ShownWeights
from incrowd.core.tally import Tally
from incrowd.core.weights import WeightedTuples
from incrowd.forms.people_groups import groups_of_people
from incrowd.forms.weight_classes import WeightClasses, classes_of, one_class_each

_FEWEST = 2
"""However few people a model lets hide together, a weight of one person's own is not shown to the last digit."""
_DIGITS_BEFORE = 4
_DIGITS_AFTER = 6
"""Everybody can add up what is published. Sums of true weights are told less exactly: all digits of one would tell
which weights it is the sum of, or, where one person is withheld, what that person weighs."""


def show_weights(
    form: Labelled,
    recoding: Recoding,
    weighted: WeightedTuples,
    require: Sequence[Model],
    before: Tally,
    people: PlacedPeople | None,
    *,
    one_each: bool = False,
) -> ShownWeights:
    """Choose what each row of a form shows as its weight; `recoding` is what was decided of the weighted tuples.

    With `one_each`, each group shows one weight.
    """
    distinct, number_of = np.unique(weighted.weights, return_inverse=True)
    judged: _JudgedRows | _JudgedPeople
    if people is None:
        published = form.shown.group_of != WITHHELD
        groups, tuples = form.shown.group_of[published], recoding.tuples[published]
        weights, counts = weighted.weights[tuples], recoding.counts[published]
        rest = recoding.tuples[~published]
        lost = float((weighted.weights[rest] * recoding.counts[~published]).sum())
        judged = _JudgedRows(form, tuples, counts, before)
    else:
        assert weighted.of_people is not None
        row_groups = form.shown.group_of
        seen = people.seen_in(row_groups[row_groups != WITHHELD])
        there = seen != WITHHELD
        groups, weights, counts = seen[there], weighted.of_people[there], np.ones(int(there.sum()), dtype=np.int64)
        lost = float(weighted.of_people[~there].sum())
        judged = _JudgedPeople(form, people, there, before)
    if one_each:
        classes = one_class_each(groups, weights, counts)
    else:
        classes = _safe_classes(groups, weights, counts, require, judged)
    shown = classes.shown[classes.class_of]
    numbers = np.searchsorted(distinct, weights)
    room = int(number_of.max(initial=0)) + 1
    keys, first = np.unique(groups * room + numbers, return_index=True)
    of_people = None
    if people is not None:
        of_people = np.zeros(len(people.people))
        of_people[there] = shown
    return ShownWeights(
        number_of,
        weighted.weights,
        keys,
        shown[first],
        _told(classes, weights, counts, lost),
        of_people,
        weighted.of_people,
    )


def _safe_classes(
    groups: Ints, weights: Floats, counts: Counts, require: Sequence[Model], judged: _JudgedRows | _JudgedPeople
) -> WeightClasses:
    """Divide groups into classes that all models allow; where these speak of all groups together, into none."""
    enough = max([_FEWEST, *(model.min_group for model in require)])
    each = for_each_group(require)

    def satisfied(class_of: Ints, group_of: Ints) -> Bools:
        return satisfies_all(each, judged.groups(class_of, group_of))

    classes = classes_of(groups, weights, counts, enough, satisfied)
    seen = classes.as_seen()
    if satisfies_all(require, judged.groups(seen.class_of, seen.group_of)).all():
        return classes
    return one_class_each(groups, weights, counts)


class _JudgedRows:
    """Classes of rows, each of which is a person."""

    def __init__(self, form: Labelled, tuples: Ints, counts: Counts, before: Tally) -> None:
        self._form, self._tuples, self._counts, self._before = form, tuples, counts, before

    def groups(self, class_of: Ints, group_of: Ints) -> Groups:
        tally, before, number = self._form.tally, self._before, len(group_of)
        names = tuple(self._form.schema.sensitive)
        regions = self._form.group_regions().of(group_of)
        return Groups(
            np.bincount(class_of, weights=self._counts, minlength=number).astype(np.int64),
            LazyHistograms(
                names, lambda name: histogram(class_of, tally.column(name)[self._tuples], self._counts, number)
            ),
            {name: before.table_counts(name) for name in names},
            {name: tally.trees[name] for name in names},
            joint=lambda: histogram(class_of, tally.joint_codes(names)[self._tuples], self._counts, number),
            table=before,
            regions=lambda: regions,
        )


class _JudgedPeople:
    """Classes of people, of whom some have several rows."""

    def __init__(self, form: Labelled, people: PlacedPeople, there: Bools, before: Tally) -> None:
        self._form, self._people, self._there, self._before = form, people, there, before

    def groups(self, class_of: Ints, group_of: Ints) -> Groups:
        seen = np.full(len(self._there), WITHHELD, dtype=np.int64)
        seen[self._there] = class_of
        regions = self._form.group_regions().of(group_of)
        return groups_of_people(self._people.people, seen, len(group_of), before=self._before, regions=lambda: regions)


def _told(classes: WeightClasses, weights: Floats, counts: Counts, lost: float) -> dict[str, Any]:
    """Return how many people's weights were kept, and their sums."""
    shown = classes.shown[classes.class_of]
    kept = int(counts[shown == weights].sum())
    before, after = float((weights * counts).sum()), float((shown * counts).sum())
    seen = classes.as_seen()
    holders = np.bincount(seen.class_of, weights=counts, minlength=len(seen.group_of))
    return {
        "kept as they are": kept,
        "replaced by a mean": int(counts.sum()) - kept,
        "fewest people of a group who show the same": int(holders.min(initial=counts.sum())),
        "total before": float(f"{before:.{_DIGITS_BEFORE}g}"),
        "total as published": float(f"{after:.{_DIGITS_AFTER}g}"),
        "share of the total that is not published": round(lost / (lost + before), 3) if lost else 0.0,
    }
