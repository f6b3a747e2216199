"""A published table of labels as a generalized form: what shows the same is a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Ints, pick
from incrowd.common.records import dataclass
from incrowd.core.form import PublishedFiles
from incrowd.core.labelled import ShownGroups
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import EmptyTable, SchemaError
from incrowd.forms.reading.foreign_labels import standard_labels
from incrowd.forms.reading.stand_ins import number_stand_ins
from incrowd.forms.reading.trees import tree_of_labels
from incrowd.forms.verify import COUNT
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.naming import Pieces
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_short_text, code_among, distinct_values, known_values
from incrowd.sources.reading import reading


@dataclass(frozen=True, eq=False)
class ReadLines:
    """Distinct published rows: line i is `counts[i]` rows of group `groups[i]` with the sensitive codes `sensitive[i]`.

    `widened` are columns with labels that were read as more than they say, and `line_of` the line of each row that was
    read.
    """

    shown: ShownGroups
    groups: Ints
    sensitive: Codes
    counts: Counts
    widened: list[str]
    line_of: Ints


def count_lines(published: OpenedTable, schema: Schema) -> pl.DataFrame:
    """Count the distinct published rows."""
    counted_by = (*schema.written_quasi, *schema.sensitive, *schema.weights)
    for name in counted_by:
        if name not in published.columns:
            raise SchemaError(f"the published table has no column '{name}', which the description names.")
    with reading(published):
        if counted_by:
            lines = published.frame.group_by(cs.by_name(*counted_by)).agg(pl.len().alias(COUNT))
        else:
            lines = published.frame.select(pl.len().alias(COUNT)).filter(pl.col(COUNT) > 0)
        counted = lines.collect(engine="streaming")
    if not counted.height:
        raise EmptyTable("the published table has columns but no rows.")
    return labels_as_text(counted, schema)


def labels_as_text(rows: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Return rows whose labels are texts, also where a file holds single values as numbers or dates."""
    names = [name for name in schema.quasi if name not in schema.show and rows[name].dtype != pl.String]
    return rows.with_columns([as_short_text(rows[name].alias("")).alias(name) for name in names])


def read_labels(counted: pl.DataFrame, schema: Schema, tally: Tally, *, known: bool, ours: bool = False) -> ReadLines:
    """Read the labels of distinct rows by the trees of a tally, which is the table's own where that is `known`.

    `ours` says that the labels were written here, by these trees. Where the schema says that numbers are shown in place
    of labels, rows are as `with_labels` returns them.
    """
    columns = tuple(sorted(schema.quasi))
    numbers, lows, highs, widened = [], [], [], []
    label_lists: dict[str, pl.Series] = {}
    torn: dict[str, Pieces] = {}
    stand_ins: dict[str, pl.DataFrame] = {}
    for name in columns:
        if name in schema.show:
            label_of, labels, stand_ins[name] = number_stand_ins(counted, name, schema)
        else:
            label_of, labels = number_labels(counted[name])
        low, high, pieces = runs_of_labels(name, tally.trees[name], labels, ours=ours)
        if known and not tally.has_missing(name):  # then `*` is any of the known values
            low = np.where(high - low > 1, np.maximum(low, 1), low).astype(np.int32)
        numbers.append(label_of)
        lows.append(low)
        highs.append(high)
        label_lists[name] = labels
        if pieces is not None:
            widened.append(name)
            torn[name] = pieces
    label_codes = _matrix(numbers, counted.height)
    groups, first = group_tuples(label_codes, [len(label_lists[name]) for name in columns])
    shown = ShownGroups(
        columns,
        {name: pick(label_lists[name], label_codes[first, place]) for place, name in enumerate(columns)},
        _matrix([low[label_codes[first, place]] for place, low in enumerate(lows)], len(first)),
        _matrix([high[label_codes[first, place]] for place, high in enumerate(highs)], len(first)),
        np.zeros(0, dtype=np.int64),
        {name: (label_codes[first, columns.index(name)].astype(np.int64), pieces) for name, pieces in torn.items()},
        stand_ins={name: values[label_codes[first, columns.index(name)]] for name, values in stand_ins.items()},
    )
    secrets = [codes_of_labels(name, tally.trees[name], counted[name]) for name in schema.sensitive]
    sensitive = _matrix(secrets, counted.height)
    counts = counted[COUNT].to_numpy().astype(np.int64)
    # Labels that read alike may be written in two ways: what is counted are lines of groups and values.
    lines = np.concatenate([groups[:, None].astype(np.int32), sensitive], axis=1)
    index, kept = group_tuples(lines, [max(len(first), 1), *(tally.trees[name].size for name in schema.sensitive)])
    totals = np.bincount(index, weights=counts, minlength=len(kept)).astype(np.int64)
    return ReadLines(shown, groups[kept], sensitive[kept], totals, widened, index)


def _matrix(columns: Sequence[NDArray[np.integer]], rows: int) -> Codes:
    """Put columns side by side, of which there may be none."""
    return np.stack(columns, axis=1).astype(np.int32) if columns else np.zeros((rows, 0), dtype=np.int32)


def number_labels(shown: pl.Series) -> tuple[Ints, pl.Series]:
    """Return each row's label by number, and the distinct labels."""
    labels = distinct_values(shown.alias(""))
    if shown.dtype == pl.String:
        known = known_values(labels)
        return code_among(shown, known).astype(np.int64) - (len(labels) == len(known)), labels
    numbered = pl.DataFrame({"label": labels}).with_row_index("number")
    found = pl.DataFrame({"label": shown.alias("")}).join(
        numbered, on="label", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["number"].to_numpy().astype(np.int64), labels


def runs_of_labels(
    name: str, tree: Tree, labels: pl.Series, *, ours: bool = False
) -> tuple[Codes, Codes, Pieces | None]:
    """Return the run of codes from the first to the last that each label stands for, and its pieces where that is not
    all that lies between.
    """
    masks = label_masks(name, tree, standard_labels(tree, labels), ours=ours)
    lows = masks.argmax(axis=1).astype(np.int32)
    highs = (masks.shape[1] - masks[:, ::-1].argmax(axis=1)).astype(np.int32)
    if (masks.sum(axis=1) == highs - lows).all():
        return lows, highs, None
    steps = np.diff(np.pad(masks, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    label_of, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    offsets = np.searchsorted(label_of, np.arange(len(labels) + 1))
    return lows, highs, Pieces(offsets.astype(np.int64), starts.astype(np.int32), ends.astype(np.int32))


def codes_of_labels(name: str, tree: Tree, shown: pl.Series) -> Codes:
    """Return the code of each value, or the first one of the node that a label names."""
    label_of, labels = number_labels(shown)
    codes: Codes = label_masks(name, tree, standard_labels(tree, labels)).argmax(axis=1).astype(np.int32)[label_of]
    return codes


def tally_of_nobody(trees: Mapping[str, Tree]) -> Tally:
    """Return the tally of a table that is not known: its values, and nobody."""
    names = tuple(sorted(trees))
    return Tally(names, np.zeros((0, len(names)), dtype=np.int32), np.zeros(0, dtype=np.int64), trees)


def trees_of_labels(files: PublishedFiles, rows: pl.DataFrame) -> dict[str, Tree]:
    """Return the trees by which labels are read where the table before is not known."""
    hierarchies = {**files.schema.quasi, **files.schema.sensitive}
    return {
        name: tree_of_labels(name, hierarchy, rows[name], files.external) for name, hierarchy in hierarchies.items()
    }
