"""Rows to learn from: any release turned back into rows of plain values, as an analyst would.

A generalized row becomes one that could be behind it, each value drawn evenly from those that its label may stand for;
a sliced or bucketized row is taken as it is written, which is one of the ways in which a bucket's columns may go
together; noisy counts become rows with weights. What is learnt from such rows is what the release tells, no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import QueryError, did_you_mean
from incrowd.hierarchies.tree import Codes
from incrowd.releases.generalized import Generalized
from incrowd.releases.noisy import NoisyCounts
from incrowd.releases.sliced import SlicedTable

if TYPE_CHECKING:
    from incrowd.releases.form import Form


def training_set(
    form: Form, target: str, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.Series, NDArray[np.float64]]:
    """Return features, classes and the weight of each row; scikit-learn takes all three."""
    names = [*form.schema.quasi, *form.schema.sensitive]
    if target not in names:
        raise QueryError(f"'{target}' is not a published column.{did_you_mean(target, names)}")
    codes, weights = reconstruct(form, rng)
    values = {name: form.tally.trees[name].values.gather(codes[name]) for name in names}
    frame = pl.DataFrame(values)
    return frame.drop(target), frame[target], weights


def reconstruct(form: Form, rng: np.random.Generator) -> tuple[dict[str, Codes], NDArray[np.float64]]:
    """Return the codes of rows that could be behind a release, column by column, and what each row weighs."""
    if isinstance(form, NoisyCounts):
        return reconstruct(form.boxes, rng)
    if isinstance(form, SlicedTable):
        return _from_slices(form, rng), np.ones(form.rows)
    if isinstance(form, Generalized):
        return _from_labels(form, rng), np.ones(form.rows)
    raise QueryError(f"rows cannot be made from a release that is {form.name}.")


def _from_labels(form: Generalized, rng: np.random.Generator) -> dict[str, Codes]:
    lines = np.repeat(np.arange(len(form.counts)), form.counts)
    groups = form.groups[lines]
    found: dict[str, Codes] = {}
    for place, name in enumerate(form.shown.columns):
        lows, highs = form.shown.lows[groups, place], form.shown.highs[groups, place]
        found[name] = rng.integers(lows, highs).astype(np.int32)
    for place, name in enumerate(form.schema.sensitive):
        found[name] = form.sensitive[lines, place]
    return found


def _from_slices(form: SlicedTable, rng: np.random.Generator) -> dict[str, Codes]:
    places = {name: place for place, column in reversed(list(enumerate(form.columns))) for name in column}
    found = {name: form.shown.column(name)[form.permuted.tuples[place]] for name, place in places.items()}
    for name, level in form.levels.items():
        tree = form.tally.trees[name]
        found[name] = rng.integers(tree.starts[level, found[name]], tree.ends[level, found[name]]).astype(np.int32)
    return found
