"""How frequent each value of a column is: as given by somebody who knows, or as in the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.parameters import require_number
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.texts import plain
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text
from incrowd.sources import open_source, reading

Marginals = Mapping[str, Mapping[str, float]]
"""Column → value or name of a hierarchy's node → probability."""

_COLUMNS = ("column", "value", "probability")
_ROUNDING = 1e-9


def read_marginals(path: str | Path) -> dict[str, dict[str, float]]:
    """Read probabilities from a CSV file with the columns `column`, `value` and `probability`."""
    source = open_source(path)
    if set(source.columns) != set(_COLUMNS):
        raise SchemaError(f"{path}: probabilities are a file with the columns {', '.join(_COLUMNS)}.")
    with reading(source):
        frame = source.frame.collect()
    numbers = frame["probability"].cast(pl.Float64, strict=False)
    if numbers.null_count() or frame["column"].null_count():
        raise SchemaError(f"{path}: every line names a column and a probability, which is a number.")
    found: dict[str, dict[str, float]] = {}
    texts = plain(as_text(frame["value"])).fill_null("")
    for column, value, probability in zip(frame["column"].to_list(), texts.to_list(), numbers.to_list(), strict=True):
        if value in found.setdefault(column, {}):
            raise SchemaError(f"{path}: a value of column '{column}' has two probabilities.")
        found[column][value] = probability
    require_marginals(str(path), found)
    return found


def require_marginals(owner: str, marginals: object) -> None:
    """Refuse what is not a table of probabilities that sum to at most 1 in each column."""
    if not isinstance(marginals, Mapping) or not all(isinstance(given, Mapping) for given in marginals.values()):
        raise RecipeError(f"{owner}: marginals is a table of columns, each a table of values and their probabilities.")
    for column, given in marginals.items():
        for probability in given.values():
            require_number(owner, f"a probability of '{column}'", probability, at_least=0)
        total = sum(given.values())
        if total > 1 + _ROUNDING:
            raise RecipeError(f"{owner}: the probabilities of '{column}' add up to {total:g}, which is more than 1.")


def marginal_shares(column: str, tree: Tree, given: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the probability of each code of a column.

    A name that is no value but a node of the hierarchy shares its probability evenly among its values that have none of
    their own. A value that is not mentioned at all has probability 0; a name that the column does not know is of
    somebody who is not in the table.
    """
    shares = np.zeros(tree.size)
    spoken_for = np.zeros(tree.size, dtype=bool)
    known = False
    rest = dict(given)
    for level, names in enumerate([as_text(tree.values).fill_null(""), *tree.names[1:]]):
        nodes = np.arange(tree.size) if level == 0 else tree.nodes[level]
        places = {name: node for node, name in enumerate(names.to_list())}
        taken = np.zeros(tree.size, dtype=bool)
        for name in [name for name in rest if name in places]:
            below = (nodes == places[name]) & ~spoken_for
            known = True
            probability = rest.pop(name)
            if below.any():
                shares[below] += probability / below.sum()
                taken |= below
        spoken_for |= taken
    if not known:
        raise SchemaError(f"none of the given values is one of column '{column}'.  Hint: spell them as the table does.")
    return shares
