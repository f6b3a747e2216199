"""Numbers that are published in place of labels: the middle of what a label stands for, its two ends, or a mean.

Middles and ends are read off the labels, as whoever has `labels.json` reads them. Means are those of the published
people of a group. Of whole numbers and days, both ends are among what the label stands for; of other numbers, the upper
end of a range is not. A missing value, and an end that is open, stay missing. Cost: one pass over a column's distinct
labels, and one over the parts of the tally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.recoding import Recoding
from incrowd.core.show import Show, written_as
from incrowd.core.tally import Tally
from incrowd.forms.label_meanings import Piece, describe_column, point
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_dates, as_text

_DIGITS = 12
"""So many digits of a mean are published: the last ones of a float follow the order in which it was added up."""
_LARGEST_WHOLE = 2.0**53
_ROUNDED_DAY = 0.5
FEWEST_IN_A_MEAN = 3
"""A mean of fewer people than these, in a group of more, would tell the value of one of them."""
_UNITS_IN_A_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of what labels stand for, NaN where open, and how far open ones are taken to reach."""

    lows: Floats
    highs: Floats
    known: tuple[float, float]

    @property
    def middles(self) -> Floats:
        """The middle of each, which is NaN where nothing is known of the column."""
        low, high = (np.where(np.isnan(ends), open_end, ends) for ends, open_end in zip(
            (self.lows, self.highs), self.known, strict=True))  # fmt: skip
        return np.asarray((low + high) / 2)


def stand_ins_of(
    name: str, show: Show, tree: Tree, labels: pl.Series, hierarchy: Hierarchy | None, means: Floats
) -> pl.DataFrame:
    """Return what is written in place of labels, one row for each of them; `means` belong to the labels' groups."""
    if show == "mean":
        return pl.DataFrame({name: _as_values(tree, means)})
    distinct = labels.unique().sort()
    place = pl.DataFrame({"label": labels}).join(
        pl.DataFrame({"label": distinct}).with_row_index("place"),
        on="label", how="left", nulls_equal=True, maintain_order="left",
    )["place"].to_numpy()  # fmt: skip
    ends = _ends(tree, distinct, describe_column(name, distinct, tree, hierarchy, known=True))
    missing = distinct.is_null().to_numpy()
    if show == "midpoint":
        middles = np.where(missing, np.nan, ends.middles)
        return pl.DataFrame({name: _as_values(tree, middles[place])})
    whole = _is_whole(tree)
    ends_of = zip(written_as(name, show), (ends.lows, ends.highs), strict=True)
    return pl.DataFrame({column: _as_values(tree, values[place], whole=whole) for column, values in ends_of})


def group_means(tally: Tally, name: str, tuples: Ints, counts: Counts, groups: Ints, number: int) -> Floats:
    """Return the mean of a column in each group, of the values that are known; NaN where none is."""
    tree, codes = tally.trees[name], tally.column(name)[tuples]
    known = (codes != MISSING) & (codes < tree.leaves)
    values, weights = tree.positions[codes[known]], counts[known].astype(np.float64)
    # From where the column starts, so that dates and other large numbers lose no digits.
    start = float(np.nanmin(tree.positions)) if tree.leaves > 1 else 0.0
    totals = np.bincount(groups[known], weights=weights, minlength=number)
    sums = np.bincount(groups[known], weights=weights * (values - start), minlength=number)
    means = start + np.divide(sums, totals, out=np.full(number, np.nan), where=totals > 0)
    return np.asarray(means / _UNITS_IN_A_DAY[unit] if (unit := _time_unit(tree)) is not None else means)


def too_few_known(tally: Tally, name: str, recoding: Recoding, group_of: Ints, number: int) -> Bools:
    """Return the groups of more people whose mean would be that of one or two, since all others lack a value."""
    there = recoding.published
    codes, counts, groups = tally.column(name)[recoding.tuples[there]], recoding.counts[there], group_of[there]
    sizes = np.bincount(groups, weights=counts, minlength=number)
    known = np.bincount(groups, weights=np.where(codes != MISSING, counts, 0), minlength=number)
    return np.asarray((known > 0) & (known < FEWEST_IN_A_MEAN) & (known < sizes))


def narrowed_by_mean(tree: Tree, lows: Codes, highs: Codes, sizes: Counts, means: pl.Series) -> tuple[Codes, Codes]:
    """Return the run of codes that each group's label still stands for beside the mean of the group.

    Of n people from a to b, whose mean is m, nobody has more than n·m - (n - 1)·a, nor less than n·m - (n - 1)·b. A
    label that may be missing, too, is left as it is, and so are numbers that floats cannot tell apart.
    """
    if tree.leaves < 2:
        return lows, highs
    points, positions = positions_of(tree, means), tree.positions
    rounding = _ROUNDED_DAY if tree.values.dtype == pl.Date else np.abs(points) * 10.0 ** (1 - _DIGITS)
    with np.errstate(invalid="ignore"):
        total, others = points * sizes, sizes - 1
        slack = rounding * sizes + 1e-9 * tree.span
        most = total - others * positions[np.maximum(lows, 1)] + slack
        least = total - others * positions[np.maximum(highs - 1, 1)] - slack
    told = np.isfinite(most) & np.isfinite(least) & (lows > MISSING)
    known = positions[1:]
    low = np.maximum(np.searchsorted(known, least, side="left") + 1, lows)
    high = np.minimum(np.searchsorted(known, most, side="right") + 1, highs)
    told &= low < high
    return np.where(told, low, lows).astype(np.int32), np.where(told, high, highs).astype(np.int32)


def positions_of(tree: Tree, means: pl.Series) -> Floats:
    """Return means as the line on which a tree places its values; NaN where there is none."""
    unit, means = _time_unit(tree), means.alias("")  # a name may look like a pattern of names
    if unit is not None:
        moments = means.cast(pl.Datetime("us")).to_physical().cast(pl.Float64)
        return moments.to_numpy() * (_UNITS_IN_A_DAY[unit] / _UNITS_IN_A_DAY["us"])
    return means.to_physical().cast(pl.Float64).to_numpy()


def means_of(tally: Tally, name: str, recoding: Recoding, group_of: Ints, number: int) -> Floats:
    """Return the mean of a column among the published people of each group; `group_of` is each part's group."""
    there = recoding.published
    return group_means(tally, name, recoding.tuples[there], recoding.counts[there], group_of[there], number)


def can_stand_in(tree: Tree) -> bool:
    """Whether a column has middles and means at all."""
    return tree.ordered


def _is_whole(tree: Tree) -> bool:
    return tree.values.dtype.is_integer() or tree.values.dtype == pl.Date


def _ends(tree: Tree, labels: pl.Series, told: Mapping[str, Any]) -> Ends:
    whole, kind = _is_whole(tree), told["kind"]
    lows, highs = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for place, label in enumerate(labels.to_list()):  # as many as there are distinct labels
        if label is None or kind == "names":
            continue
        pieces: list[Piece] = told["labels"][str(label)]
        lower = [_low(piece) for piece in pieces]
        upper = [_high(piece, whole=whole) for piece in pieces]
        lows[place] = min(lower) if pieces and not np.isnan(lower).any() else np.nan
        highs[place] = max(upper) if pieces and not np.isnan(upper).any() else np.nan
    reach = told["assumed"] if kind != "names" else None
    if reach is None:
        return Ends(lows, highs, (np.nan, np.nan))
    return Ends(lows, highs, (point(reach["from"]), _high(reach, whole=whole)))


def _low(piece: Mapping[str, Any]) -> float:
    found = piece.get("value", piece.get("from"))
    return np.nan if found is None else point(found)


def _high(piece: Mapping[str, Any], *, whole: bool) -> float:
    found = piece.get("value", piece.get("to"))
    if found is not None:
        return point(found)
    if "below" not in piece:
        return np.nan
    below = point(piece["below"])
    return math.ceil(below) - 1 if whole else below


def _as_values(tree: Tree, values: Floats, *, whole: bool = False) -> pl.Series:
    """Return numbers, days or times of the column's own kind; NaN is missing."""
    known = ~np.isnan(values)
    dtype = tree.values.dtype
    if dtype.is_temporal():
        there = pl.Series(known)
        if dtype == pl.Date:
            moments = pl.Series(np.where(known, np.round(values), 0).astype(np.int32)).cast(pl.Date)
        else:
            micro = np.round(np.where(known, values, 0) * _UNITS_IN_A_DAY["us"])
            moments = pl.Series(micro.astype(np.int64)).cast(pl.Datetime("us"))
        return pl.select(pl.when(there).then(moments)).to_series()
    if whole and (np.abs(values[known]) < _LARGEST_WHOLE).all():
        numbers = pl.Series(np.where(known, values, 0).astype(np.int64))
        return pl.select(pl.when(pl.Series(known)).then(numbers)).to_series()
    return pl.Series(_rounded(values)).fill_nan(None)


def _time_unit(tree: Tree) -> str | None:
    """Return the unit that times are counted in; None for days and numbers."""
    dtype = tree.values.dtype
    return dtype.time_unit if isinstance(dtype, pl.Datetime) else None


def _rounded(values: Floats) -> Floats:
    """Round numbers to as many digits as every order of adding them up agrees on."""
    known = np.isfinite(values) & (values != 0)
    scale = np.zeros(len(values))
    scale[known] = _DIGITS - 1 - np.floor(np.log10(np.abs(values[known])))
    few = np.clip(scale, -290, 290)
    found = np.where(few >= 0, np.round(values * 10.0 ** np.maximum(few, 0)) / 10.0 ** np.maximum(few, 0), values)
    return np.asarray(np.where(np.isfinite(found), found, values)) + 0.0


def as_keys(values: pl.DataFrame) -> pl.DataFrame:
    """Return what is written in place of labels as texts that are the same whatever file they were read from."""
    return pl.DataFrame({column.name: _key(column.alias("")) for column in values.get_columns()})


def _key(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        floats = column.cast(pl.Float64, strict=False)
        if floats.null_count() > column.null_count():
            dates = as_dates(column)
            return column if dates is None else _moments(dates)
        return as_text(floats)
    return _moments(column) if column.dtype.is_temporal() else as_text(column.cast(pl.Float64))


def _moments(dates: pl.Series) -> pl.Series:
    """Write days and times alike: a file without types holds days where all times are midnight."""
    return as_text(dates.cast(pl.Datetime("us")))
