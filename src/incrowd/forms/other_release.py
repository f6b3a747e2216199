"""Another release about the same people, read by this one's trees, and joined with it row by row.

Labels of another release may name values that this table lacks, or come from another hierarchy. They are read by their
text; where that says nothing here, by the values that they stand for there. A label that stands for no value of this
table fits nobody of it.

Rows are joined where a column that both releases publish as it is, a stable pseudonym or a kept column, has a value
once in each. A joined row is somebody whom the labels of both fit. Cost: one sort of each release's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.core.labelled import Labelled, ShownGroups
from incrowd.core.tally import group_tuples
from incrowd.forms.generalized import Generalized
from incrowd.forms.reading.foreign_labels import standard_labels
from incrowd.forms.reading.labels import number_labels
from incrowd.hierarchies import labels
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text, code_among

NOT_JOINED = -1


def read_by(form: Labelled, trees: Mapping[str, Tree]) -> Generalized:
    """Return another release's groups by this one's trees; columns that these lack stay as they are."""
    shown = form.shown
    regions = form.group_regions()
    lows, highs = regions.lows.copy(), regions.highs.copy()
    own = form.tally.trees
    for place, name in enumerate(shown.columns):
        if name in trees and trees[name] is not own[name]:
            there = lows[:, place], highs[:, place]
            lows[:, place], highs[:, place] = _runs(name, trees[name], own[name], shown.labels[name], there)
    known = {name: trees.get(name, own[name]) for name in shown.columns}
    return Generalized(
        form.schema,
        replace(form.tally, trees={**own, **known}),
        replace(shown, lows=lows, highs=highs, torn={}, less=False),
        form.groups,
        form.sensitive,
        form.counts,
        form.rows_in,
        form.written,
    )


def _runs(name: str, tree: Tree, there: Tree, shown: pl.Series, runs: tuple[Codes, Codes]) -> tuple[Codes, Codes]:
    """Return the runs of this tree's codes that labels of another release stand for; (0, 0) where they hold none."""
    label_of, distinct = number_labels(shown)
    masks = label_masks(name, tree, standard_labels(tree, distinct), strict=False)
    # A label that says nothing here stands for the values that it stands for there.
    here = code_among(as_text(there.values), as_text(tree.values.slice(1)))
    _, first = np.unique(label_of, return_index=True)
    for label in np.flatnonzero(~masks.any(axis=1)):  # as many as there are distinct labels
        codes = here[runs[0][first[label]] : runs[1][first[label]]]
        masks[label, codes[codes >= 0]] = True
    masks[distinct.eq_missing(labels.ANY).to_numpy()] = True
    lows = masks.argmax(axis=1).astype(np.int32)
    highs = (masks.shape[1] - masks[:, ::-1].argmax(axis=1)).astype(np.int32)
    highs[~masks.any(axis=1)] = 0
    return lows[label_of], highs[label_of]


def joined_rows(mine: pl.DataFrame, theirs: pl.DataFrame, columns: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Return which row of another release each row is joined with, or -1, and the columns that join most rows."""
    ways = [(name,) for name in columns] + ([tuple(columns)] if len(columns) > 1 else [])
    best: tuple[Ints, tuple[str, ...]] = np.full(mine.height, NOT_JOINED, dtype=np.int64), ()
    for names in ways:
        partner = _partners(_keys(mine, names), _keys(theirs, names), mine.height)
        if (partner >= 0).sum() > (best[0] >= 0).sum():
            best = partner, names
    return best


def _keys(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the keys that only one row has, with the row's number; a row that lacks a part of its key has none."""
    keys = pl.DataFrame({f"key {place}": as_text(rows[name]) for place, name in enumerate(names)})
    keys = keys.with_row_index("row").drop_nulls()
    return keys.filter(pl.len().over([f"key {place}" for place in range(len(names))]) == 1)


def _partners(mine: pl.DataFrame, theirs: pl.DataFrame, height: int) -> Ints:
    keys = [name for name in mine.columns if name != "row"]
    found = np.full(height, NOT_JOINED, dtype=np.int64)
    both = mine.join(theirs, on=keys, how="inner")
    found[both["row"].to_numpy()] = both["row_right"].to_numpy()
    return found


def joined(form: Labelled, other: Labelled, groups: Ints, partners: Ints, sensitive: Codes) -> tuple[Generalized, Ints]:
    """Return this release's rows with the labels of both, and the group of each row.

    Row i is in group `groups[i]` of this release, has the sensitive codes `sensitive[i]`, and is joined with a row in
    group `partners[i]` of the other one, or with none (-1). Only columns that this release has are looked at. Where the
    labels of both have nothing in common, the rows are not one person's, or the person has changed: this release's own
    labels count.
    """
    shown, mine, theirs = form.shown, form.group_regions(), other.group_regions()
    pairs = np.stack([groups, partners + 1], axis=1).astype(np.int32)
    pair_of, first = group_tuples(pairs, [max(len(shown), 1), max(len(other.shown), 1) + 1])
    was, there = groups[first], partners[first]
    lows, highs = mine.lows[was].copy(), mine.highs[was].copy()
    common = [(place, theirs.columns.index(name)) for place, name in enumerate(shown.columns) if name in theirs.columns]
    with_partner = np.flatnonzero(there >= 0)
    tight_lows, tight_highs = lows.copy(), highs.copy()
    for place, at in common:
        tight_lows[with_partner, place] = np.maximum(lows[with_partner, place], theirs.lows[there[with_partner], at])
        tight_highs[with_partner, place] = np.minimum(highs[with_partner, place], theirs.highs[there[with_partner], at])
    agrees = (tight_lows < tight_highs).all(axis=1)
    lows[agrees], highs[agrees] = tight_lows[agrees], tight_highs[agrees]

    lines = np.concatenate([pair_of[:, None], sensitive], axis=1).astype(np.int32)
    sizes = [max(len(first), 1), *(form.tally.trees[name].size for name in form.schema.sensitive)]
    line_of, line = group_tuples(lines, sizes)
    made = Generalized(
        replace(form.schema, items={}),
        form.tally,
        # What is shown is a pair of labels, which is not written anywhere: the first one stands for both.
        ShownGroups(
            shown.columns,
            {name: _unless_anything(shown.labels[name].gather(was), lows[:, place], mine.lows[was, place],
                                    highs[:, place], mine.highs[was, place])
             for place, name in enumerate(shown.columns)},
            lows,
            highs,
            np.zeros(0, dtype=np.int64),
            stand_ins={name: values[was] for name, values in shown.stand_ins.items()},
        ),
        lines[line][:, 0].astype(np.int64),
        np.ascontiguousarray(lines[line][:, 1:]),
        np.bincount(line_of, minlength=len(line)).astype(np.int64),
        form.rows_in,
        form.written,
    )  # fmt: skip
    return made, pair_of


def _unless_anything(shown: pl.Series, low: Codes, own_low: Codes, high: Codes, own_high: Codes) -> pl.Series:
    """Return labels, but no `*` where the other release narrows it: that would be read as anything."""
    narrowed = pl.Series((low != own_low) | (high != own_high))
    return shown.cast(pl.String).set(narrowed & shown.eq_missing(labels.ANY), "(joined)")
