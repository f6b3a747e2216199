"""From a recoding to what a reader of the release sees: groups by their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Ints, pick, side_by_side
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.core.labelled import ShownGroups, shows_anything
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_columns
from incrowd.forms.stand_ins import means_of, stand_ins_of, too_few_known
from incrowd.hierarchies.labels import ANY
from incrowd.hierarchies.naming import Named, name_runs
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.keys import codes_met, rank_keys


def show_groups(
    tally: Tally,
    recoding: Recoding,
    *,
    present: Mapping[str, Bools] | None = None,
    wider: bool = False,
    schema: Schema | None = None,
) -> ShownGroups:
    """Label every group, and join those that look the same.

    Labels name no value of a column but those that are `present`, by default all of them, and so may stand for less
    than the runs; `wider` ones stand for all of them. Where the schema says that columns show numbers in place of
    labels, groups are what shows the same numbers; means are then those of the method's groups, or, where that is to be
    `wider`, of all who have the same labels.
    """
    wanted = [
        partial(_name_column, tally, recoding, place, None if present is None else present[name], wider=wider)
        for place, name in enumerate(recoding.columns)
    ]
    columns = do_together(wanted, steps=recoding.lows.size)
    merged, first = _join_alike(columns, len(recoding.lows))
    stand_ins: dict[str, pl.DataFrame] = {}
    split = False
    less = any(column.named.less for column in columns)
    if schema is not None and schema.show:
        for name, show in schema.show.items():
            place, tree = recoding.columns.index(name), tally.trees[name]
            named = columns[place].of_groups
            means, hierarchy = np.zeros(0), schema.quasi.get(name)
            if show == "mean":
                # Of the method's own groups, or of all who have the same labels.
                group_of, number = (_placed(merged, recoding), len(first)) if wider else (recoding.groups, len(merged))
                of_group = merged if wider else np.arange(number)
                means = means_of(tally, name, recoding, group_of, number)[of_group]
            stand_ins[name] = stand_ins_of(name, show, tree, named.labels, hierarchy, means)
            if show == "mean" and (few := too_few_known(tally, name, recoding, group_of, number)[of_group]).any():
                middles = stand_ins_of(name, "midpoint", tree, named.labels, hierarchy, means)
                own = pl.when(pl.Series(few)).then(middles[name]).otherwise(stand_ins[name][name])
                stand_ins[name] = pl.select(own.alias(name))
            named = _one_label_each(stand_ins[name], named, tree, None if present is None else present[name])
            shown = _number_shown(stand_ins[name], named.lows, named.highs)
            columns[place] = _NamedColumn(named, np.arange(len(merged)), shown)
        number = len(first)
        merged, first = _join_alike(columns, len(merged))
        split = len(first) > number
    alone = len(first) == len(merged)  # no group looks like another
    steps = len(first) * len(columns)
    found = do_together([partial(column.of, merged, first, alone=alone) for column in columns], steps=steps)
    return ShownGroups(
        recoding.columns,
        {name: one.labels for name, one in zip(recoding.columns, found, strict=True)},
        side_by_side([one.lows for one in found], len(first)),
        side_by_side([one.highs for one in found], len(first)),
        _placed(merged, recoding),
        {
            name: (one.piece_of, one.pieces)
            for name, one in zip(recoding.columns, found, strict=True)
            if one.pieces is not None and one.piece_of is not None
        },
        less,
        {name: values[first] for name, values in stand_ins.items()},
        split,
        recoding.levels,
    )


@dataclass(frozen=True, eq=False)
class _NamedColumn:
    """The runs of a column that groups have, by their labels, and the run of each group: runs are far fewer."""

    named: Named
    run_of: Ints
    number: Ints
    """Of each run: those that look the same have one number."""

    @property
    def of_groups(self) -> Named:
        """What each group shows."""
        return self._at(self.run_of)

    def of(self, merged: Ints, first: Ints, *, alone: bool) -> Named:
        """Return what groups show of which some were joined; `first` are the first of each."""
        found = self._at(self.run_of[first])
        if not alone:  # labels that look the same may be of several runs, and stand for all of them
            np.minimum.at(found.lows, merged, self.named.lows[self.run_of])
            np.maximum.at(found.highs, merged, self.named.highs[self.run_of])
        return found

    def _at(self, runs: Ints) -> Named:
        named = self.named
        pieces = None if named.piece_of is None else named.piece_of[runs]
        return Named(pick(named.labels, runs), named.lows[runs], named.highs[runs], pieces, named.pieces, named.less)


def _name_column(tally: Tally, recoding: Recoding, place: int, present: Bools | None, *, wider: bool) -> _NamedColumn:
    tree = tally.trees[recoding.columns[place]]
    lows, highs = recoding.lows[:, place], recoding.highs[:, place]
    run_of, first = rank_keys(lows.astype(np.int64) * (tree.size + 1) + highs, (tree.size + 1) ** 2)
    named = name_runs(
        tree,
        lows[first],
        highs[first],
        shown=recoding.shown,
        level=None if recoding.levels is None else recoding.levels[place],
        present=present,
        wider=wider,
    )
    return _NamedColumn(named, run_of, _number_shown(named.labels.alias("label").to_frame(), named.lows, named.highs))


def _placed(merged: Ints, recoding: Recoding) -> Ints:
    """Return each part's group among those that were joined."""
    if not len(merged):
        return recoding.groups
    return np.where(recoding.published, merged[recoding.groups], WITHHELD)


def _join_alike(columns: Sequence[_NamedColumn], groups: int) -> tuple[Ints, Ints]:
    """Return which group each of the method's is to a reader of some columns, and the first that is each of these."""
    codes = do_together([partial(_looks, column) for column in columns], steps=groups * len(columns))
    return group_columns(codes, [int(column.number.max(initial=0)) + 1 for column in columns], groups)


def _looks(column: _NamedColumn) -> Ints:
    return column.number[column.run_of]


def _one_label_each(values: pl.DataFrame, named: Named, tree: Tree, present: Bools | None) -> Named:
    """Give groups that show the same numbers one label, which holds all that theirs held.

    Two ranges may have one middle. Then the label is the range from the first to the last of what they hold.
    """
    labels, lows, highs = named.labels, named.lows.copy(), named.highs.copy()
    if not len(labels):
        return named
    number = _number_shown(values, lows, highs)
    pairs = pl.DataFrame({"number": number, "label": labels}).unique()
    several = pairs.group_by("number").len().filter(pl.col("len") > 1)["number"].to_numpy()
    doubtful = np.isin(number, several)
    if not doubtful.any():
        return named
    if named.pieces is not None and named.piece_of is not None:  # sets become ranges, so that all are of one kind
        doubtful |= (np.diff(named.pieces.offsets) > 1)[named.piece_of]
    low, high = np.full(number.max() + 1, tree.size, dtype=np.int32), np.zeros(number.max() + 1, dtype=np.int32)
    np.minimum.at(low, number, lows)
    np.maximum.at(high, number, highs)
    whole = np.zeros(len(low), dtype=bool)
    whole[number[shows_anything(labels)]] = True
    whole |= (low == MISSING) & (high > 1)
    low = np.where(whole, np.minimum(low, 1), low)[number[doubtful]].astype(np.int32)
    high = np.where(whole, tree.size, high)[number[doubtful]].astype(np.int32)
    ranges = name_runs(tree, low, high, present=present)
    lows[doubtful], highs[doubtful] = ranges.lows, ranges.highs
    texts = ranges.labels.scatter(np.flatnonzero(whole[number[doubtful]]), ANY)
    return Named(labels.clone().scatter(np.flatnonzero(doubtful), texts), lows, highs)


def present_values(tally: Tally, recoding: Recoding) -> dict[str, Bools]:
    """Return the values that labels may name: those of published people, and of a population, which is public."""
    published = np.zeros(len(tally), dtype=bool)
    published[recoding.tuples[recoding.published]] = True
    found = codes_met(tally.codes, published, [tally.trees[name].size for name in tally.columns])
    present = dict(zip(tally.columns, found, strict=True))
    people = tally.population
    # Where weights alone tell of a population, its values are those of the table, and not public.
    if people is not None and people.by_weight is None:
        for place, name in enumerate(people.columns):
            present[name][people.codes[:, place]] = True
    return present


def _number_shown(shown: pl.DataFrame, lows: Codes, highs: Codes) -> NDArray[np.int64]:
    """Number what a column shows by the order of its codes; what reads the same gets one number."""
    room = int(highs.max(initial=0)) + 1
    run, first = rank_keys(lows.astype(np.int64) * room + highs, room * room)
    reads = (shown.to_series() if shown.width == 1 else shown.to_struct()).alias("")  # a name may look like a pattern
    if reads.n_unique() == len(first) and pick(reads, first[run]).equals(reads):  # each run reads in a way of its own
        return run
    keys = [f"key {place}" for place in range(shown.width)]
    frame = pl.DataFrame(dict(zip(keys, shown.get_columns(), strict=True)) | {"low": lows, "high": highs})
    ranked = frame.group_by(keys).agg(pl.min("low"), pl.max("high")).sort("low", "high", *keys)
    numbered = ranked.select(keys).with_row_index("number")
    found = frame.join(numbered, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)
