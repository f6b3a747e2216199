"""What published labels stand for, also those of a table that was made elsewhere: the values of a column that fit them.

Besides the labels that are written here, it reads any name of a value or of a hierarchy's node, and `20-39`. Cost: one
pass over a column's values per distinct label.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools
from incrowd.errors import UnreadableLabel
from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.calendar import days_of, range_of_days
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_bound, as_dates, as_short_text, as_text

_FROM_TO = re.compile(r"^\s*(-?[^\s-]+)\s*-\s*(-?[^\s-]+)\s*$")


def label_masks(
    column: str, tree: Tree, labels: pl.Series, *, ours: bool = False, strict: bool = True
) -> NDArray[np.bool_]:
    """Return, for each label, which codes of the column it stands for; a label of none is an error if `strict`.

    A text such as `*` may be the name of a value and a label, too. Labels of `ours` quote such names, so there it is
    the label. In other tables it is the value: the narrower reading, by which nothing seems safer than it is.
    """
    masks = np.zeros((len(labels), tree.size), dtype=bool)
    reader = _Reader(tree, names_first=not ours)
    unreadable = []
    for place, label in enumerate(as_text(labels).to_list()):
        mask = reader.read(label)
        if mask is None:
            unreadable.append(label)
        else:
            masks[place] = mask
    if unreadable and strict:
        raise UnreadableLabel(column, unreadable, len(unreadable))
    return masks


class _Reader:
    """One column's values and the names of their nodes."""

    def __init__(self, tree: Tree, *, names_first: bool) -> None:
        self._tree = tree
        self._names_first = names_first
        self._named: dict[str, Bools] = {}
        for level in range(tree.height, 0, -1):  # a name that several levels have is that of the lowest
            for node, name in enumerate(tree.names[level].to_list()):
                if name is not None:
                    self._named[name] = tree.nodes[level] == node
        for code, text in enumerate(as_short_text(tree.values).to_list()):
            if text is not None:
                self._named[text] = np.arange(tree.size) == code

    def read(self, text: str | None) -> Bools | None:
        """Return the codes that a label stands for, or None if it says nothing of this column."""
        if not text:
            return np.equal(np.arange(self._tree.size), MISSING)
        named = self._named.get(text)
        if named is not None and self._names_first:
            return named
        meant = self._meaning(text)
        return named if meant is None else meant

    def _meaning(self, text: str) -> Bools | None:
        """Return the codes that a label stands for by the way it is written."""
        try:
            meaning = syntax.read(text, ordered=self._tree.ordered)
        except ValueError:  # a quote that is never closed
            return None
        match meaning:
            case syntax.Anything():
                return np.ones(self._tree.size, dtype=bool)
            case syntax.Range(low, high, closed):
                return self._between(low, high, closed=closed)
            case syntax.OneOf(names):
                found = [self._name(name) for name in names]
                return None if not found or any(mask is None for mask in found) else np.any(found, axis=0)  # type: ignore[arg-type]
            case syntax.Name(name):
                return self._name(name)

    def _name(self, name: str) -> Bools | None:
        if name in self._named:
            return self._named[name]
        if not self._tree.ordered:
            return None
        if self._tree.values.dtype.is_temporal() and days_of(name) is not None:
            return self._between(name, name, closed=True)
        if match := _FROM_TO.match(name):
            return self._between(match[1], match[2], closed=True)
        return self._between(name, name, closed=True)

    def _between(self, low: str | None, high: str | None, *, closed: bool) -> Bools | None:
        values = self._tree.values
        if values.dtype.is_temporal():
            low, high, closed = range_of_days(low, high, closed=closed)
        try:
            fits = values.is_not_null()
            if low is not None:
                fits &= values >= self._bound(low)
            if high is not None:
                fits &= (values <= self._bound(high)) if closed else (values < self._bound(high))
        except (pl.exceptions.PolarsError, TypeError):
            return None
        mask = fits.fill_null(value=False).to_numpy()
        return mask if mask.any() else None

    def _bound(self, text: str) -> pl.Series:
        dtype = self._tree.values.dtype
        parsed = as_dates(pl.Series([text])) if dtype.is_temporal() else as_bound(text, dtype)
        if parsed is None or parsed.null_count():
            raise TypeError
        return parsed.cast(dtype) if dtype.is_temporal() else parsed
