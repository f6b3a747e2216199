"""What changes did to columns as a whole: means, deviations, quartiles and distances, before and after.

Columns that are kept are measured, too, which no tally holds. Cost: each changed column is read once more, and sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.changes.change import three_digits
from incrowd.common.arrays import Floats
from incrowd.core.changed import ChangeFacts
from incrowd.core.source import OpenedTable
from incrowd.hierarchies.values import as_text, natural_kind
from incrowd.sources import reading

FEWEST = 20
"""Of fewer people, quartiles would be values of single ones."""
_QUARTILES = (0.25, 0.5, 0.75)


def changed_columns(facts: ChangeFacts, before: OpenedTable, published: Iterable[pl.DataFrame]) -> list[dict[str, Any]]:
    """Return what became of each changed column; numbers to three digits, since more would tell of single values."""
    names = [name for name in facts.columns if name in before.columns]
    rows = pl.concat([batch.select(cs.by_name(*names, require_all=False)) for batch in published])
    names = [name for name in names if name in rows.columns]
    if not names:
        return []
    with reading(before):
        table = before.frame.select(cs.by_name(*names)).collect(engine="streaming")
    found = []
    for name in names:
        old, new = (_known(frame[name].alias(""), before) for frame in (table, rows))
        told: dict[str, Any] = {"column": name, "says": facts.says(name)}
        if old.dtype.is_numeric() and new.dtype.is_numeric():
            told |= _of_numbers(*(one.cast(pl.Float64).to_numpy() for one in (old, new)))
        elif not {*as_text(new).to_list()} - {*as_text(old).to_list()}:  # bands and labels are other names
            told["distance"] = _total_variation(as_text(old), as_text(new))
        found.append(told)
    return found


def _known(values: pl.Series, before: OpenedTable) -> pl.Series:
    return natural_kind(before.texts.read(values)).drop_nulls()


def _of_numbers(old: Floats, new: Floats) -> dict[str, Any]:
    if min(len(old), len(new)) < FEWEST:
        return {}
    found: dict[str, Any] = {}
    for when, numbers in (("before", old), ("after", new)):
        found[f"mean {when}"] = three_digits(float(numbers.mean()))
        found[f"deviation {when}"] = three_digits(float(numbers.std()))
        found[f"quartiles {when}"] = [three_digits(float(one)) for one in np.quantile(numbers, _QUARTILES)]
    every = np.unique(np.concatenate([old, new]))
    below = [np.searchsorted(np.sort(one), every, side="right") / len(one) for one in (old, new)]
    found["distance"] = float(np.abs(below[0] - below[1]).max())
    return found


def _total_variation(old: pl.Series, new: pl.Series) -> float:
    """Return half of the sum of all differences between two frequencies."""
    counted = [dict(zip(*np.unique(one.to_numpy().astype(str), return_counts=True), strict=True)) for one in (old, new)]
    names = {*counted[0], *counted[1]}
    rows = [max(len(one), 1) for one in (old, new)]
    return float(sum(abs(counted[0].get(name, 0) / rows[0] - counted[1].get(name, 0) / rows[1]) for name in names) / 2)
