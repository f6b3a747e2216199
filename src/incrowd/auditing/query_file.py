"""The questions that users of a release will ask, from a TOML file: how well does it answer these?

    [[queries]]
    age = [30, 39]                       # of numbers and dates: from 30 to 39, both included
    sex = "F"

    [[queries]]
    country = ["Italy", "Spain"]         # of names: one of these
    age = { from = 65 }                  # or { to = 17 }
    children = { among = [0, 2] }        # of numbers: one of these
    disease = { missing = true }

Only what all of them come to is told, never one question's error: with the release's own answer it would tell the
table's. Cost: one pass over the distinct tuples for each combination of columns, and one answer of the release each.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.auditing.suppression import FEW
from incrowd.auditing.usefulness import error_quantiles, weighed
from incrowd.common.arrays import Floats
from incrowd.core.query import Query, matching_codes
from incrowd.core.tally import Tally
from incrowd.errors import QueryError, did_you_mean
from incrowd.hierarchies.tree import Tree

if TYPE_CHECKING:
    from incrowd.core.form import Form
    from incrowd.metrics.workload.queries import Workload

_BOUNDS = {"from", "to"}


def read_queries(path: str | Path, trees: Mapping[str, Tree]) -> list[Query]:
    """Read questions about some of the columns whose trees are given."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise QueryError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise QueryError(f"{path} is not TOML: {error}.") from error
    listed = data.get("queries")
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, dict) and entry for entry in listed):
        raise QueryError(
            f"{path} has no queries.  Hint: write each as [[queries]] and conditions below it, age = [30, 39]."
        )
    if len(listed) < FEW:
        raise QueryError(
            f"{path} has {len(listed)} queries, and at least {FEW} are needed: the error of a single one would tell "
            "how many people it is about."
        )
    found: list[Query] = []
    for number, entry in enumerate(listed, start=1):
        try:
            found.append({name: _condition(name, given, trees) for name, given in entry.items()})
        except QueryError as error:
            raise QueryError(f"{path}, query {number}: {error}") from error
    return found


def file_errors(
    truth: Tally, form: Form, count: Callable[[Query], float], queries: Sequence[Query], totals: Floats | None = None
) -> dict[str, Any]:
    """Return the relative errors of the release's own answers; where nobody fits, as if it were one person.

    Where `totals` tell what the rows of each tuple weigh, answers are sums of weights. What the release cannot answer
    is taken for 0, and counted.
    """
    from incrowd.metrics.workload.cells import Cells

    workload = _workload(truth, sorted(form.schema.tallied), queries)
    actual = Cells.of_tally(truth, totals).answers(workload)
    estimated = np.array([_answer(count, query) for query in queries])
    answered = ~np.isnan(estimated)
    errors = np.abs(np.nan_to_num(estimated) - actual) / np.maximum(actual, 1.0)
    left = {} if answered.all() else {"not answered": int((~answered).sum())}
    return {"queries": "from file", "number": len(queries), **left, **weighed(totals), **error_quantiles(errors)}


def _answer(count: Callable[[Query], float], query: Query) -> float:
    """Return the release's answer, or no number where it has none: a column may show nothing but `*`."""
    try:
        return count(query)
    except QueryError:
        return float("nan")


def _condition(name: str, given: Any, trees: Mapping[str, Tree]) -> object:
    if name not in trees:
        raise QueryError(f"'{name}' is not a quasi-identifier or sensitive column.{did_you_mean(name, trees)}")
    wanted = given
    if isinstance(given, Mapping):
        if set(given) == {"missing"} and given["missing"] is True:
            wanted = [None]
        elif set(given) == {"among"} and isinstance(given["among"], list):
            wanted = given["among"]
        elif given and set(given) <= _BOUNDS:
            wanted = (given.get("from"), given.get("to"))
        else:
            raise QueryError(
                f"column '{name}': a condition is a value, a list, or one of "
                "{ from, to }, { among } and { missing }."
            )
    elif isinstance(given, list) and len(given) == 2 and trees[name].ordered:
        wanted = (given[0], given[1])
    matching_codes(name, trees[name], wanted)  # refused here, where the query can be named
    return wanted


def _workload(truth: Tally, columns: Sequence[str], queries: Sequence[Query]) -> Workload:
    from incrowd.metrics.workload.queries import Workload

    asked = np.array([[name in query for name in columns] for query in queries], dtype=bool)
    matches = {
        name: np.stack(
            [
                matching_codes(name, truth.trees[name], query[name])
                if name in query
                else np.ones(truth.trees[name].size, dtype=bool)
                for query in queries
            ]
        )
        for name in columns
    }
    return Workload(tuple(columns), {name: truth.trees[name] for name in columns}, matches, asked)
