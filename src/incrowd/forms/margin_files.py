"""Single columns and pairs that were counted beside boxes, as a table of a release: one line for each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
import polars as pl

from incrowd.common.arrays import Floats, Ints
from incrowd.dp.boxes.margins import Margins, Pair, Single
from incrowd.errors import SourceError
from incrowd.hierarchies.naming import name_runs
from incrowd.hierarchies.tree import Tree

CLASS = "*class*"
"""What the combination of all sensitive values is called; places number these as the table `measured` has them."""
_TORN = "the table 'margins' of this release is not as it was written: columns, cells or numbers are missing in it."
_MOST_ROWS = 2.0**53
"""A number above is not whole any more as floating point."""
_COLUMNS = {
    "first": pl.String,
    "first label": pl.String,
    "first place": pl.String,
    "second": pl.String,
    "second label": pl.String,
    "second place": pl.String,
    "estimate": pl.Int64,
    "variance": pl.Float64,
}


def margins_frame(margins: Margins, columns: Sequence[str], trees: Mapping[str, Tree], classes: int) -> pl.DataFrame:
    """Return one line for each code of a single column, and for each two cells of a pair."""
    names = [*columns, CLASS]
    frames = []
    for place, one in enumerate(margins.singles):
        codes = np.arange(len(one.counts))
        cells = _described(names[place], trees, codes, len(one.counts))
        frames.append(_lines(cells, None, one.counts, one.variance))
    for pair in margins.pairs:
        sides = [
            _described(names[column], trees, cells, classes if column == len(columns) else len(cells))
            for column, cells in zip(pair.columns, pair.cells, strict=True)
        ]
        frames.append(_lines(sides[0], sides[1], pair.counts, pair.variance))
    return pl.concat(frames) if frames else pl.DataFrame(schema=_COLUMNS)


def _described(name: str, trees: Mapping[str, Tree], cells: Ints, size: int) -> pl.DataFrame:
    """Return name, label and first and last place of each cell of a column."""
    number = int(cells.max(initial=0)) + 1
    lows = np.searchsorted(cells, np.arange(number)).astype(np.int32)
    highs = np.append(lows[1:], size).astype(np.int32)
    places = [f"{low}-{high - 1}" for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
    labels = places if name == CLASS else name_runs(trees[name], lows, highs).labels.cast(pl.String)
    return pl.DataFrame({"name": [name] * number, "label": labels, "place": places}, strict=False)


def _lines(first: pl.DataFrame, second: pl.DataFrame | None, counts: Ints | Floats, variance: float) -> pl.DataFrame:
    other = pl.DataFrame({"name": [None], "label": [None], "place": [None]}) if second is None else second
    rows, columns = first.height, other.height
    ours = first[np.repeat(np.arange(rows), columns)]
    theirs = other[np.tile(np.arange(columns), rows)]
    return pl.DataFrame(
        {
            "first": ours["name"],
            "first label": ours["label"],
            "first place": ours["place"],
            "second": theirs["name"],
            "second label": theirs["label"],
            "second place": theirs["place"],
            "estimate": counts.ravel(),
            "variance": np.full(counts.size, variance),
        }
    ).cast(_COLUMNS)  # type: ignore[arg-type]


def read_margins(lines: pl.DataFrame, columns: Sequence[str], trees: Mapping[str, Tree], classes: int) -> Margins:
    """Read what `margins_frame` returned, from a file."""
    for name in _COLUMNS:
        if name not in lines.columns:
            raise SourceError(f"the table 'margins' of this release has no column '{name}'.")
    lines = lines.select(list(_COLUMNS)).with_columns(
        pl.col("first", "first place", "second", "second place").cast(pl.String),
        pl.col("estimate", "variance").cast(pl.Float64, strict=False),
    )
    numbers = lines.select("estimate", "variance")
    if sum(numbers.null_count().row(0)) or not np.isfinite(numbers.to_numpy()).all():
        raise SourceError(_TORN)
    if (lines["variance"] < 0).any() or (lines["estimate"].abs() > _MOST_ROWS).any():
        raise SourceError(_TORN)
    sizes = {**{name: trees[name].size for name in columns}, CLASS: classes}
    places = {name: place for place, name in enumerate([*columns, CLASS])}
    singles: dict[int, Single] = {}
    pairs: list[Pair] = []
    keys = list(zip(lines["first"].to_list(), lines["second"].to_list(), strict=True))
    start = 0
    for (first, second), group in groupby(keys):
        number = len(list(group))
        block = lines.slice(start, number)
        start += number
        if first not in places or (second is not None and places.get(second, -1) <= places[first]):
            raise SourceError(_TORN)
        if block["variance"].n_unique() > 1:
            raise SourceError(_TORN)
        variance = float(block["variance"][0])
        estimates = np.rint(block["estimate"].to_numpy()).astype(np.int64)
        ours = _cells(block["first place"], sizes[first])
        if second is None:
            if len(estimates) != sizes[first] or len(np.unique(ours)) != len(ours) or places[first] in singles:
                raise SourceError(_TORN)
            singles[places[first]] = Single(estimates, variance)
            continue
        theirs = _cells(block["second place"], sizes[second])
        shape = (int(ours.max()) + 1, int(theirs.max()) + 1)
        if len(estimates) != shape[0] * shape[1] or not _in_order(block, shape):
            raise SourceError(_TORN)
        pairs.append(Pair((places[first], places[second]), (ours, theirs), estimates.reshape(shape), variance))
    if sorted(singles) != list(range(len(columns))) or len({pair.columns for pair in pairs}) < len(pairs):
        raise SourceError(_TORN)
    return Margins(tuple(singles[place] for place in range(len(columns))), tuple(pairs))


def _in_order(block: pl.DataFrame, shape: tuple[int, int]) -> bool:
    """Whether the lines of a pair are those of the first cell, with all second ones, then of the next."""
    first, second = (block[name].to_numpy().reshape(shape) for name in ("first place", "second place"))
    return bool((first == first[:, :1]).all() and (second == second[:1]).all())


def _cells(written: pl.Series, size: int) -> Ints:
    """Return the cell of each code, from the first and last places of cells."""
    found = written.unique(maintain_order=True).str.extract_groups(r"^(\d{1,9})-(\d{1,9})$").struct.unnest()
    if sum(found.null_count().row(0)):
        raise SourceError(_TORN)
    ends = found.cast(pl.Int64).to_numpy()
    lows, highs = ends[:, 0], ends[:, 1] + 1
    if lows[0] != 0 or highs[-1] != size or (lows[1:] != highs[:-1]).any() or (lows >= highs).any():
        raise SourceError(_TORN)
    return np.repeat(np.arange(len(lows)), highs - lows)
