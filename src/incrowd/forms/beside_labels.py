"""A release with the columns that are kept beside its labels, as somebody reads it who knows these columns, too.

To such a reader a group is what shows the same labels and the same kept values. Cost: a sort of the published rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.core.labelled import Labelled, ShownGroups
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies import labels
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.tree import Tree


def with_columns_beside(
    form: Labelled, tally: Tally, groups: Ints, sensitive: Codes, beside: Mapping[str, Codes]
) -> Generalized:
    """Return the groups that differ in labels or in columns beside them.

    Published row i is in group `groups[i]` of the form, with sensitive codes `sensitive[i]` and the code
    `beside[name][i]` in each further column, by the trees of `tally`, the table before.
    """
    names = tuple(beside)
    kept = np.stack([groups, *(beside[name] for name in names)], axis=1).astype(np.int32)
    sizes = [max(len(form.shown), 1), *(tally.trees[name].size for name in names)]
    group_of, first = group_tuples(kept, sizes)
    lines = np.concatenate([group_of[:, None], sensitive], axis=1).astype(np.int32)
    secret = tuple(form.schema.sensitive)
    line_of, line = group_tuples(lines, [max(len(first), 1), *(tally.trees[name].size for name in secret)])
    counts = np.bincount(line_of, minlength=len(line)).astype(np.int64)

    was, shown = groups[first], form.shown
    columns = tuple(sorted((*shown.columns, *names)))
    lows, highs = np.empty((len(first), len(columns)), np.int32), np.empty((len(first), len(columns)), np.int32)
    regions = form.group_regions()
    for place, name in enumerate(columns):
        if name in beside:
            lows[:, place] = beside[name][first]
            highs[:, place] = lows[:, place] + 1
        else:
            at = regions.columns.index(name)
            lows[:, place], highs[:, place] = regions.lows[was, at], regions.highs[was, at]
    texts = {name: shown.labels[name].gather(was) for name in shown.columns}
    texts |= {name: tally.trees[name].values.gather(beside[name][first]) for name in names}
    schema = replace(
        form.schema,
        quasi={**form.schema.quasi, **{name: Exact() for name in names}},
        kept=tuple(name for name in form.schema.kept if name not in beside),
        items={},
    )
    return Generalized(
        schema,
        tally,
        ShownGroups(
            columns,
            texts,
            lows,
            highs,
            np.zeros(0, dtype=np.int64),
            stand_ins={name: values[was] for name, values in shown.stand_ins.items()},
        ),
        lines[line][:, 0].astype(np.int64),
        np.ascontiguousarray(lines[line][:, 1:]),
        counts,
        form.rows_in,
        form.written,
    )


def tree_of_texts(texts: Sequence[pl.Series]) -> Tree:
    """Return a tree of all texts of some columns, in which no two have anything in common."""
    values = pl.concat([text.rename("") for text in texts]).drop_nulls().unique().sort()
    known = pl.concat([pl.Series([None], dtype=pl.String), values], rechunk=True)
    size = len(known)
    nodes = np.stack([np.arange(size), np.zeros(size)]).astype(np.int32)
    return Tree(known, "text", nodes, (known, pl.Series([labels.ANY])), np.arange(size, dtype=np.float64), True)
