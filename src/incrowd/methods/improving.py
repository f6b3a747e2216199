"""People move between the groups that a method found, so that labels lose less, and every model still holds.

Where models only count rows or different values, compiled code tries moves by chance: somebody goes to a group near by
and others follow in their place, a group is given up, a new one is made of people of several. At first, moves that lose
a little are kept, too, then fewer and fewer (simulated annealing, Kirkpatrick, Gelatt & Vecchi 1983); the best groups
that were found are returned. For all other models, the moves and swaps that gain most are found for many people at
once, the models judge the two groups of each as they would be, and those are made that they allow and that touch no
group twice. Where a method keeps what groups tell of classes, people move among groups that tell the same. Cost: a
search for near tuples, which looks at a few hundred branches of a tree for each; then a few microseconds for each try.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.threads import threads
from incrowd.core.method import Moves
from incrowd.core.model import Model, for_each_group
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import HIDDEN, Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.kernels.improving import Items, Region, near_items
from incrowd.methods.class_column import classes_of
from incrowd.methods.clusters import on_line
from incrowd.methods.improving_budget import Budget
from incrowd.methods.improving_judged import Judged
from incrowd.methods.improving_labels import ShownAs
from incrowd.methods.improving_regions import Regions

TRIES = 8
"""Tries of each tuple in one pass of `effort`."""
_TURNS = 8
"""Turns of one pass, each with other regions."""
_NEAR = 24
_MAY_VISIT = 20_000
_FEWEST_TRIES = 4096
_MOST_VALUES = 64
"""Compiled code counts no more different values of a group than these."""
_WARMTH, _COOLING, _LONG = 0.11, 10.0, 600.0
"""At first, kept moves may add so much of what a group loses, and at last so many times less; a search of fewer tries
for each tuple than a long one starts less warm, since it has no time to cool down."""


def improve(
    tally: Tally,
    schema: Schema,
    require: Sequence[Model],
    recoding: Recoding,
    moves: Moves,
    *,
    effort: int = 0,
    seconds: float | None = None,
    progress: Progress,
) -> Recoding:
    """Return groups that lose less and satisfy the models, or the same ones where none were found.

    Deterministic where `effort` alone bounds the search.
    """
    if not len(recoding.lows) or not len(recoding.columns) or recoding.shown == "level" or recoding.form is not None:
        return recoding
    budget = Budget(effort or None, seconds)
    models = for_each_group(require)
    means = [name for name, show in schema.show.items() if show == "mean"] if moves.loss == "squared-error" else []
    shown = ShownAs(tally, recoding, moves, means)
    codes = np.stack([tally.column(name)[recoding.tuples] for name in recoding.columns], axis=1)
    kinds = 0
    moved = codes
    if moves.keeps_classes:
        told = _told(tally, schema, moves, recoding)
        moved, kinds = np.concatenate([codes, told[:, None]], axis=1), int(told.max()) + 1
    counted = _counted(models, tally, tuple(sorted(schema.sensitive)))
    values = np.empty((len(tally), 0), dtype=np.int32)
    if counted is not None and counted[0]:
        values = np.stack(list(counted[0]), axis=1)
    items, item_of = _as_items(moved, values[recoding.tuples], recoding, apart=counted is None)
    numbers = [
        on_line(tally.trees[name], items.codes[:, place])
        for place, name in enumerate(recoding.columns)
        if name in means
    ]
    made = Items(
        items.codes,
        items.counts,
        near_items(items.codes, shown.distances(kinds), _NEAR, _MAY_VISIT),
        shown.losses(kinds),
        shown.max_climb,
        shown.withheld,
        max([moves.min_rows, *(model.min_group for model in models)]),
        np.stack(numbers, axis=1) if numbers else np.empty((len(items.counts), 0)),
    )
    before = made.anneal(*_no_values(len(items.counts)), 0, 0.0, 1.0, 0, items.groups.copy())
    if counted is None:
        judged = Judged(tally, tuple(sorted(schema.sensitive)), recoding, shown, models)
        after, groups = judged.search(made, items.groups, budget, progress)
    else:
        fewest = np.array(counted[1], dtype=np.int64)
        after, groups = _anneal(made, items.values, fewest, items.groups, before, budget, progress)
    if not after < before - 1e-9 * max(before, 1.0):
        return recoding
    return shown.recode(recoding, codes, groups[item_of])


@dataclass(frozen=True, eq=False)
class _ItemArrays:
    codes: Codes
    values: Codes
    counts: Counts
    groups: Ints


def _as_items(codes: Codes, values: Codes, recoding: Recoding, *, apart: bool) -> tuple[_ItemArrays, Ints]:
    """Put parts together that show the same and are in one group; return each part's item, too."""
    if apart:
        every, groups = np.arange(len(recoding.tuples)), recoding.groups.copy()
        return _ItemArrays(np.ascontiguousarray(codes), values, recoding.counts, groups), every
    kinds = np.concatenate([codes, values, (recoding.groups - WITHHELD)[:, None]], axis=1)
    sizes = [int(kinds[:, place].max(initial=0)) + 2 for place in range(kinds.shape[1])]
    item_of, first = group_tuples((kinds + 1).astype(np.int32), sizes)  # a value that protects nobody is -1
    counts = np.bincount(item_of, weights=recoding.counts, minlength=len(first)).astype(np.int64)
    return (
        _ItemArrays(
            codes.take(first, axis=0),
            values.take(first, axis=0),
            counts,
            recoding.groups[first].astype(np.int64),
        ),
        item_of,
    )


def _no_values(items: int) -> tuple[Codes, Ints]:
    return np.empty((items, 0), dtype=np.int32), np.empty(0, dtype=np.int64)


def _counted(models: Sequence[Model], tally: Tally, sensitive: tuple[str, ...]) -> tuple[list[Codes], list[int]] | None:
    """Return columns of values and how many different ones each group needs, where models ask for nothing else.

    None where a model asks for more than that and a number of rows. A value that protects nobody is negative.
    """
    columns: list[Codes] = []
    fewest: list[int] = []
    for model in models:
        if model.enough == "rows":
            continue
        if model.enough != "values" or model.diversity > _MOST_VALUES:
            return None
        secrets = tuple(name for name in sensitive if name not in HIDDEN)
        for name in secrets if model.column is None else (model.column,):
            if name not in sensitive or tally.trees[name].sets is not None:
                return None
            codes = tally.column(name)
            columns.append(np.where(codes == 0, -1, codes).astype(np.int32) if model.missing == "ignored" else codes)
            fewest.append(int(model.diversity))
    return columns, fewest


def _told(tally: Tally, schema: Schema, moves: Moves, recoding: Recoding) -> Codes:
    """Number what groups tell of classes, as shares; return it for each part. Who is withheld was told nothing."""
    classes, number = classes_of(tally, schema, moves.target)
    there = recoding.published
    pairs = recoding.groups[there] * number + classes[recoding.tuples[there]]
    filled, pair_of = np.unique(pairs, return_inverse=True)
    rows = np.bincount(pair_of, weights=recoding.counts[there])
    groups = filled // number
    shares = np.round(rows / np.bincount(groups, weights=rows)[groups], 12)
    _, share_of = np.unique(np.stack([filled % number, shares], axis=1), axis=0, return_inverse=True)
    # Groups that get the same sum by chance are taken for alike: what is published is still compared as it is.
    words = np.random.default_rng(0).integers(2**63, size=share_of.max() + 1, dtype=np.uint64)[share_of.ravel()]
    sums = np.add.reduceat(words, np.searchsorted(groups, np.arange(len(recoding.lows))))
    kinds = np.unique(sums, return_inverse=True)[1] + 1
    return np.where(there, kinds[recoding.groups], 0).astype(np.int32)


def _anneal(
    items: Items, values: Codes, fewest: Ints, groups: Ints, before: float, budget: Budget, progress: Progress
) -> tuple[float, Ints]:
    """Return the least loss that was found, and its groups."""
    number = len(items.counts)
    scale = before / max(len(np.unique(groups)), 1)
    best, best_groups, now = before, groups, groups.copy()
    # Borders cost a little. What a time allows cannot be repeated anyway, so one thread does without them there.
    regions = Regions(items, one=budget.seconds is not None and threads() == 1)
    for turn, (tries, warmth) in enumerate(_blocks(number, budget, progress)):

        def move(region: Region, share: int, seed: int, own: Ints, warmth: float = warmth) -> float:
            return items.anneal(values, fewest, share, warmth * scale, scale, seed, own, region=region)

        after = regions.move(now, tries, turn, move)
        if after < best:
            best, best_groups = after, now.copy()
    return best, best_groups


def _blocks(number: int, budget: Budget, progress: Progress) -> Iterator[tuple[int, float]]:
    """Yield how many tries come next, and how warm, until the budget is spent; the last are as cold as can be."""
    if budget.seconds is None:
        passes = budget.passes or 0
        start = _first_warmth(float(TRIES * passes))
        tries, turns = max(TRIES * number, _FEWEST_TRIES) // _TURNS, passes * _TURNS
        for turn in range(turns):
            progress("improving", turn / turns)
            last = turn >= turns - _TURNS
            yield tries, 0.0 if last else start * _COOLING ** -(turn / turns)
        return
    tries, left = max(number, _FEWEST_TRIES), (budget.passes or 0) * max(TRIES * number, _FEWEST_TRIES)
    began = time.monotonic()
    if budget.spent() < 1:
        yield tries, 0.0  # it tells how fast the others will be
    each = max(time.monotonic() - began, 1e-6)
    start = _first_warmth((1.0 - budget.spent()) * budget.seconds / each * tries / max(number, 1))
    limited = budget.passes is not None
    while (share := budget.spent()) < 1 and (not limited or left > 0):
        progress("improving", min(share, 1.0))
        left -= tries
        yield tries, start * _COOLING**-share if share < 0.97 else 0.0


def _first_warmth(tries: float) -> float:
    return _WARMTH * float(min(max(tries, 0.0) / _LONG, 1.0) ** 0.7)
