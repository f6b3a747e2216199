"""One person's ladder: with each attribute that somebody knows of them, the crowd that they could be shrinks, in the
table as it is and in the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.generalized_view import GeneralizedView
from incrowd.attacks.sliced_view import SlicedView
from incrowd.attacks.target import Target
from incrowd.errors import AttackError
from incrowd.hierarchies.tree import Codes


@dataclass(frozen=True)
class Rung:
    """So many people fit what is known after one more attribute; `before` in the table, `after` in the release."""

    learnt: str
    before: int
    after: int


def ladder(target: Target, person: Codes, order: Sequence[str] | None = None) -> list[Rung]:
    """Return the crowd of a person, given by codes in the order of the view's columns, attribute by attribute.

    Attributes are learnt in the `order` given, or the most telling first.
    """
    truth, view = target.truth, target.view
    if truth is None:
        raise AttackError("a ladder needs the table before.  Hint: give it as the original.")
    left = np.ones(len(truth), dtype=bool)
    rungs = [Rung("nothing", truth.rows, view.rows)]
    learnt: list[str] = []
    for _ in view.columns:
        rest = [name for name in view.columns if name not in learnt]
        fits = {name: truth.column(name) == person[view.columns.index(name)] for name in rest}
        if order is None:
            name = min(rest, key=lambda name: int(truth.counts[left & fits[name]].sum()))
        else:
            name = order[len(learnt)]
        left &= fits[name]
        learnt.append(name)
        rungs.append(Rung(name, int(truth.counts[left].sum()), _rows_left(target, person, learnt)))
    return rungs


def somebody(target: Target, rng: np.random.Generator) -> Codes:
    """Return a random person among those who are alone in the table, or in the smallest crowd there is."""
    people = target.people
    least = np.flatnonzero(people.tuple_counts == people.tuple_counts.min())
    person: Codes = people.tuples[int(rng.choice(least))]
    return person


def _rows_left(target: Target, person: Codes, learnt: Sequence[str]) -> int:
    view = target.view
    places = [view.columns.index(name) for name in learnt]
    if isinstance(view, GeneralizedView):
        lows, highs = view.regions.lows[:, places], view.regions.highs[:, places]
        fits = ((lows <= person[places]) & (person[places] < highs)).all(axis=1)
        return int(view.form.group_sizes[fits].sum())
    assert isinstance(view, SlicedView)
    form = view.form
    fitting = np.ones(len(form.group_sizes), dtype=bool)
    for column in form.columns:  # a bucket fits if each of its columns has a part that does
        known = [name for name in column if name in learnt]
        if known:
            fitting &= _has_part(view, person, known)
    return int(form.group_sizes[fitting].sum())


def _has_part(view: SlicedView, person: Codes, known: Sequence[str]) -> NDArray[np.bool_]:
    form = view.form
    fits = np.ones(len(form.shown), dtype=bool)
    for name in known:
        shown = form.tally.trees[name].starts[form.levels.get(name, 0)][person[view.columns.index(name)]]
        fits &= form.shown.column(name) == shown
    there = np.bincount(form.buckets.bucket_of, fits[form.buckets.tuples], minlength=len(form.group_sizes))
    return there > 0
