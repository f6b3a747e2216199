"""From a recoding to what a reader of the release sees: groups by their labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.core.labelled import ShownGroups
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally, group_tuples
from incrowd.hierarchies.naming import Pieces, name_runs


def show_groups(
    tally: Tally, recoding: Recoding, *, present: Mapping[str, Bools] | None = None, wider: bool = False
) -> ShownGroups:
    """Label every group, and join those that look the same.

    Labels name no value of a column but those that are `present`, by default all of them, and so may stand for less
    than the runs; `wider` ones stand for all of them.
    """
    lows, highs = recoding.lows.copy(), recoding.highs.copy()
    label_codes = np.empty(lows.shape, dtype=np.int32)
    labels: dict[str, pl.Series] = {}
    torn: dict[str, tuple[Ints, Pieces]] = {}
    less = False
    for place, name in enumerate(recoding.columns):
        tree = tally.trees[name]
        level = None if recoding.levels is None else recoding.levels[place]
        named = name_runs(
            tree,
            lows[:, place],
            highs[:, place],
            shown=recoding.shown,
            level=level,
            present=None if present is None else present[name],
            wider=wider,
        )
        labels[name], lows[:, place], highs[:, place] = named.labels, named.lows, named.highs
        less |= named.less
        if named.pieces is not None and named.piece_of is not None:
            torn[name] = (named.piece_of, named.pieces)
        label_codes[:, place] = _number_labels(labels[name], lows[:, place], highs[:, place])
    sizes = [int(label_codes[:, place].max(initial=0)) + 1 for place in range(len(recoding.columns))]
    merged, first = group_tuples(label_codes, sizes)
    merged_lows, merged_highs = lows[first], highs[first]
    np.minimum.at(merged_lows, merged, lows)
    np.maximum.at(merged_highs, merged, highs)
    group_of = np.where(recoding.published, merged[recoding.groups], WITHHELD) if len(merged) else recoding.groups
    return ShownGroups(
        recoding.columns,
        {name: series.gather(first) for name, series in labels.items()},
        merged_lows,
        merged_highs,
        group_of,
        {name: (piece_of[first], pieces) for name, (piece_of, pieces) in torn.items()},
        less,
    )


def present_values(tally: Tally, recoding: Recoding) -> dict[str, Bools]:
    """Return the values that labels may name: those of published people, and of a population, which is public."""
    published = np.zeros(len(tally), dtype=bool)
    published[recoding.tuples[recoding.published]] = True
    found = {}
    for name in tally.columns:
        found[name] = np.zeros(tally.trees[name].size, dtype=bool)
        found[name][tally.column(name)[published]] = True
        people = tally.population
        # Where weights alone tell of a population, its values are those of the table, and not public.
        if people is not None and people.by_weight is None and name in people.columns:
            found[name][people.codes[:, people.columns.index(name)]] = True
    return found


def _number_labels(labels: pl.Series, lows: Codes, highs: Codes) -> NDArray[np.int64]:
    """Number labels by the order of their codes; labels that read the same get one number."""
    frame = pl.DataFrame({"label": labels, "low": lows, "high": highs})
    ranked = frame.group_by("label").agg(pl.min("low"), pl.max("high")).sort("low", "high", "label")
    numbered = ranked.select("label").with_row_index("number")
    found = frame.join(numbered, on="label", how="left", nulls_equal=True, maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)
