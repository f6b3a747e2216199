"""From a recoding to what a reader of the release sees: groups by their labels."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes
from incrowd.core.labelled import ShownGroups
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally, group_tuples
from incrowd.hierarchies.naming import label_runs, widen_to_showable


def show_groups(tally: Tally, recoding: Recoding) -> ShownGroups:
    """Label every group, and join those that look the same."""
    lows, highs = recoding.lows.copy(), recoding.highs.copy()
    label_codes = np.empty(lows.shape, dtype=np.int32)
    labels: dict[str, pl.Series] = {}
    for place, name in enumerate(recoding.columns):
        tree = tally.trees[name]
        level = None if recoding.levels is None else recoding.levels[place]
        if recoding.shown != "tight":
            lows[:, place], highs[:, place] = widen_to_showable(tree, lows[:, place], highs[:, place])
        labels[name] = label_runs(tree, lows[:, place], highs[:, place], shown=recoding.shown, level=level)
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
    )


def _number_labels(labels: pl.Series, lows: Codes, highs: Codes) -> NDArray[np.int64]:
    """Number labels by the order of their codes; labels that read the same get one number."""
    frame = pl.DataFrame({"label": labels, "low": lows, "high": highs})
    ranked = frame.group_by("label").agg(pl.min("low"), pl.max("high")).sort("low", "high", "label")
    numbered = ranked.select("label").with_row_index("number")
    found = frame.join(numbered, on="label", how="left", nulls_equal=True, maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)
