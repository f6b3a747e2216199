"""No small cells, and no value that the release does not show: an audit tells neither."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.hierarchies.calendar import short_bounds
from incrowd.hierarchies.narrowing import narrow
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text

FEW = 5
MOST_BARS = 24


def told(count: float) -> int | None:
    """Return a count, or nothing where it is small; none at all may be told."""
    return None if 0 < count < FEW else round(count)


def bars(tree: Tree, before: NDArray[np.number], shown_in: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
    """Put a column's values into few bars: return the bars' names, and the bar of each code.

    Names are those of values that are `shown_in` the release, or which the owner declared, and bounds lie between such.

    Numbers and dates become ranges of about equally many people, names the most frequent ones and the rest. A bar with
    fewer than a handful of people is joined with another, so that no difference of the others tells of it either.
    """
    if tree.ordered and tree.size - 1 > MOST_BARS:
        return _ranges(tree, before, shown_in)
    may_name = shown_in | tree.declared
    names = as_text(tree.values).to_list()
    names[0] = "missing"
    order = np.argsort(-before, kind="stable")
    large = [int(code) for code in order[: MOST_BARS - 1] if before[code] >= FEW and may_name[code]]
    rest = float(before.sum() - before[large].sum())
    while large and 0 < rest < FEW:
        rest += float(before[large.pop()])
    shown = sorted(large) if tree.ordered else large
    bar_of = np.full(tree.size, len(shown), dtype=np.int64)
    bar_of[shown] = np.arange(len(shown))
    labels = [str(names[code]) for code in shown]
    if len(shown) < tree.size:
        labels.append("all others" if shown else "all")
    return labels, bar_of


def _ranges(tree: Tree, before: NDArray[np.number], shown_in: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
    known = before[1:].astype(np.float64)
    missing = float(before[0])
    if known.sum() < FEW:
        return ["all"], np.zeros(tree.size, dtype=np.int64)
    target = max(known.sum() / MOST_BARS, FEW)
    bar_of = np.zeros(tree.size, dtype=np.int64)
    bar, inside = 1, 0.0
    starts = [1]
    edge_at = _edges(tree, shown_in)
    for code in range(1, tree.size):  # as many steps as a column has values
        if inside >= target and code in edge_at:
            bar, inside = bar + 1, 0.0
            starts.append(code)
        bar_of[code] = bar
        inside += float(known[code - 1])
    if inside < FEW and bar > 1:  # the last one is too small to stand alone
        bar_of[bar_of == bar] = bar - 1
        starts.pop()
    edges = [edge_at[code] for code in starts[1:]]
    ends = pl.DataFrame({"low": [None, *edges], "high": [*edges, None]}, schema={"low": pl.String, "high": pl.String})
    if tree.kind == "date":
        ends = ends.select(*short_bounds(pl.col("low"), pl.col("high")))
    labels = [
        f"below {high}" if low is None else f"from {low}" if high is None else f"{low} to {high}"
        for low, high in ends.iter_rows()
    ]
    first = labels[0] = labels[0] if len(edges) else "all"
    if 0 < missing < FEW:
        return [f"missing or {first}", *labels[1:]], np.maximum(bar_of - 1, 0)
    return ["missing", *labels], bar_of


def _edges(tree: Tree, shown_in: NDArray[np.bool_]) -> dict[int, str]:
    """Return how each cut is written that may be told, by the first code above it."""
    narrowed = narrow(tree, shown_in)
    edges, begins = (
        (tree.edges, np.arange(tree.size)) if narrowed is None else (narrowed.tree.edges, narrowed.begins[:-1])
    )
    return dict(zip(begins[2:].tolist(), edges[2:].to_list(), strict=True))
