"""How likely a person's row is among those whose labels fit the person most tightly.

Labels of local recoding, clusters or recoded leftovers overlap: a person fits groups of others, too. Whoever takes the
tightest group is right for those who are in it. Who is in which group, files do not tell, but they bound it: of the
people with a value for whom a group is the tightest, no more can be in it than it has rows with that value. That bound
is taken, so an audit claims a little more than an outsider reaches, never less.

Cost: that of matching the whole table, some people at a time.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.core.tally import Tally, group_tuples
from incrowd.core.target import Target
from incrowd.core.view import EVERY_ROW, TIGHTEST, LabelledView, Matches

_AT_ONCE = 1 << 17
"""So many distinct people are matched at once: each may fit many groups."""


def chances_by_tightest_fit(target: Target) -> tuple[Floats, Floats] | None:
    """Return how likely each line of the table finds its own row, and how many rows it picks from; None if no labels
    overlap around anybody.
    """
    return target.share("tightest fit", lambda: _chances(target))


def _chances(target: Target) -> tuple[Floats, Floats] | None:
    view, truth = target.view.labels, target.truth
    if view is None or truth is None:
        return None
    columns = view.columns
    known = truth.codes_of(columns)
    tuple_of, first = group_tuples(known, [view.trees[name].size for name in columns])
    matches = _tightest(view, np.ascontiguousarray(known[first]))
    if matches is None:
        return None
    # One entry for each line of the table and each of its tightest groups.
    starts, lengths = matches.offsets[tuple_of], np.diff(matches.offsets)[tuple_of]
    line_of = np.repeat(np.arange(len(tuple_of)), lengths)
    entry = np.arange(len(line_of)) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)
    groups, weights = matches.crowds[entry], matches.weights[entry]
    inside = _share_inside(target, view, truth, line_of, groups, weights)
    found = np.bincount(line_of, weights=weights * inside, minlength=len(tuple_of))
    picked_from = matches.total(view.form.group_sizes)[tuple_of]
    chances = np.divide(found, picked_from, out=np.zeros(len(found)), where=picked_from > 0)
    return chances, picked_from


def _tightest(view: LabelledView, people: Codes) -> Matches | None:
    """Return the tightest groups of each person; None where nobody fits more than one group."""
    offsets, crowds, weights = [np.zeros(1, dtype=np.int64)], [], []
    overlap = False
    for start in range(0, len(people), _AT_ONCE):
        readings = view.readings(view.match(people[start : start + _AT_ONCE], None))
        overlap |= TIGHTEST in readings
        found = readings.get(TIGHTEST, readings[EVERY_ROW])
        offsets.append(found.offsets[1:] + offsets[-1][-1])
        crowds.append(found.crowds)
        weights.append(found.weights)
    if not overlap:
        return None
    return Matches(np.concatenate(offsets), np.concatenate(crowds), np.concatenate(weights))


def _share_inside(
    target: Target, view: LabelledView, truth: Tally, line_of: Ints, groups: Ints, weights: Floats
) -> Floats:
    """Return, for each line of the table and one of its tightest groups, which share can be in the group at most: as
    many as it has rows with the line's sensitive values.

    Values that chance changed rule nobody out: what a row shows need not be what its person has.
    """
    form, every = view.form, list(view.form.schema.sensitive)
    names = [name for name in every if name not in target.changes.by_chance]
    told = [every.index(name) for name in names]
    shown = np.concatenate([form.groups[:, None], form.sensitive[:, told]], axis=1)
    looked_for = np.stack([groups, *(truth.column(name)[line_of] for name in names)], axis=1)
    both = np.concatenate([shown, looked_for])
    sizes = [max(len(form.shown), 1), *(view.trees[name].size for name in names)]
    cell_of, cells = group_tuples(both.astype(np.int32), sizes)
    lines = len(form.groups)
    there = np.bincount(cell_of[:lines], weights=form.counts, minlength=len(cells))
    wanted = np.bincount(cell_of[lines:], weights=weights * truth.counts[line_of], minlength=len(cells))
    share = np.minimum(1.0, np.divide(there, wanted, out=np.zeros(len(cells)), where=wanted > 0))
    return np.asarray(share[cell_of[lines:]])
