"""The numbers behind a column's codes, where its values are numbers: also where a file has written them as text."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.common.arrays import Floats
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import natural_kind


def numbers_of(tree: Tree) -> Floats | None:
    """Return the number of each code, not-a-number for the missing value; None if some value is no number.

    Numbers that a hierarchy of names groups are names.

    >>> from incrowd.hierarchies.flat import Exact
    >>> numbers_of(Exact().build("pay", pl.Series(["900", None, "1e3"]))[0])
    array([  nan,  900., 1000.])
    """
    natural = _natural(tree)
    if natural is None or not natural.dtype.is_numeric():
        return None
    known = natural.cast(pl.Float64).to_numpy()
    return np.concatenate(([np.nan], known))


def has_order(tree: Tree) -> bool:
    """Whether the values are numbers or dates, so that some are nearer to each other than others."""
    natural = _natural(tree)
    return natural is not None and (natural.dtype.is_numeric() or natural.dtype.is_temporal())


def _natural(tree: Tree) -> pl.Series | None:
    """Return the values without the missing one as what they are; None for names in a hierarchy, or for no values."""
    known = tree.values.slice(1)
    if not len(known) or (tree.kind == "text" and tree.height > 1):
        return None
    return natural_kind(known) if tree.kind == "text" else known
