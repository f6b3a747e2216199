"""Ranges as other tools write them, written as ours; and the values that labels mention."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.calendar import days_of, range_of_days
from incrowd.hierarchies.coding import exact_codes
from incrowd.hierarchies.tree import Tree

_RANGE = re.compile(r"^\[\s*(?P<low>[^,;\[\]]+?)\s*[,;]\s*(?P<high>[^,;\[\]()]+?)\s*(?P<end>[\[\])])$")
_DOTS = re.compile(r"^(?P<low>[^.\s]\S*?)\s*(?:\.\.+|…)\s*(?P<high>[^.\s]\S*)$")
_OPEN = re.compile(r"^(?P<sign>>=|≥|<)\s*(?P<bound>[^=\s].*)$")
_FROM_TO = re.compile(r"^\s*(-?[^\s-]+)\s*-\s*(-?[^\s-]+)\s*$")
_SIGNS = {"≥": ">="}
_AND_MORE = re.compile(r"^(?P<bound>-?\d[^\s+]*)\s*\+$")
_STRICT = re.compile(r"^(?P<sign>>|<=|≤)\s*(?P<bound>[^=\s].*)$")


def standard_labels(tree: Tree, labels: pl.Series) -> pl.Series:
    """Write ranges of other tools as ours, in columns of numbers and dates; names of nodes stay as they are."""
    if not tree.ordered or labels.dtype != pl.String:
        return labels
    named = {name for names in tree.names for name in names.to_list()}
    written = [label if label is None or label in named else _by_next(tree, standard_label(label)) for label in labels]
    return pl.Series(labels.name, written, dtype=pl.String)


def standard_label(label: str) -> str:
    """Write one range of numbers or dates as ours; what is none stays as it is.

    >>> [standard_label(label) for label in ("[20, 40[", "[20,40]", "20..39", "≥ 65", "65+", "*")]
    ['[20, 40)', '[20, 40]', '[20, 39]', '>=65', '>=65', '*']
    """
    if match := _RANGE.match(label):
        return f"[{match['low'].strip()}, {match['high'].strip()}{']' if match['end'] == ']' else ')'}"
    if match := _DOTS.match(label):
        return f"[{match['low'].strip()}, {match['high'].strip()}]"
    if match := _OPEN.match(label):
        return f"{_SIGNS.get(match['sign'], match['sign'])}{match['bound'].strip()}"
    if match := _AND_MORE.match(label):
        return f">={match['bound']}"
    return label


def _by_next(tree: Tree, label: str) -> str:
    """Write `> 64` and `<= 17`, which we have no words for, by the next value that the column has."""
    match = _STRICT.match(label)
    if match is None or not tree.values.dtype.is_numeric():
        return label
    try:
        bound = float(match["bound"])
    except ValueError:
        return label
    known = tree.values.slice(1)
    above = known.filter(known > bound).sort()
    if match["sign"] == ">":
        return f">={above[0]}" if len(above) else label
    return f"<{above[0]}" if len(above) else f">={known.sort()[0]}"


def mentioned(label: str, *, ordered: bool) -> Iterator[str]:
    """Yield the values that a label mentions and stands for: of a range its first, and its last if that belongs to it.

    >>> list(mentioned("[20, 40[", ordered=True)), list(mentioned("20-39", ordered=True))
    (['20'], ['20', '39'])
    """
    try:
        meaning = syntax.read(standard_label(label) if ordered else label, ordered=ordered)
    except ValueError:  # a quote that is never closed
        return
    match meaning:
        case syntax.Range(low, high, closed):
            yield from [bound for bound in (low, high if closed else None) if bound is not None]
        case syntax.OneOf(names):
            yield from names
        case syntax.Name(name):
            match = _FROM_TO.match(name) if ordered else None
            yield from (name,) if match is None else match.groups()


def stated_ends(tree: Tree, labels: pl.Series) -> tuple[Codes, Codes]:
    """Return the first and the last value that the text of each label states, as codes; -1 where it states none.

    `[0, 200)` states 0, and not the smallest value that somebody has in it; `[22, 29]` states both of its ends.
    """
    labels, dates = labels.cast(pl.String), tree.values.dtype.is_temporal()
    distinct = labels.unique()
    lows, highs = (
        zip(*(_ends(label, dates=dates) for label in distinct.to_list()), strict=True) if len(distinct) else ((), ())
    )
    codes = pl.DataFrame(
        {
            "label": distinct,
            "low": exact_codes(tree, pl.Series(lows, dtype=pl.String)),
            "high": exact_codes(tree, pl.Series(highs, dtype=pl.String)),
        }
    )
    found = pl.DataFrame({"label": labels}).join(codes, on="label", how="left", nulls_equal=True, maintain_order="left")
    low, high = (np.where(found[end] > 0, found[end], -1).astype(np.int32) for end in ("low", "high"))
    return low, high


def _ends(label: str | None, *, dates: bool) -> tuple[str | None, str | None]:
    if label is None or label.startswith("{"):  # a set lists values, and has no ends
        return None, None
    match syntax.read(standard_label(label), ordered=True):
        case syntax.Range(low, high, closed):
            if dates:
                low, high, closed = range_of_days(low, high, closed=closed)
            return low, high if closed else None
        case syntax.Name(name):
            if dates and days_of(name) is not None:  # a year names none of its days
                return None, None
            match = _FROM_TO.match(name)
            return (name, name) if match is None else (match[1], match[2])
    return None, None
