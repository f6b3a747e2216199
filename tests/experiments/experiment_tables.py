"""Tables and releases that several tests look at, and what naive counting makes of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally
from incrowd.experiments.report import Findings
from incrowd.experiments.sdgs import run as run_sdgs
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.intervals import Intervals

PLACES = {"north": ["a", "b"], "south": ["c", "d", "e"]}
HIERARCHIES = {"age": Intervals(widths=(5, 10)), "place": Categories.from_tree(PLACES)}

rows = st.tuples(
    st.none() | st.integers(18, 40),
    st.sampled_from(["a", "b", "c", "d", "e"]),
    st.sampled_from(["flu", "hiv", "ok", None]),
)
frames = st.lists(rows, min_size=4, max_size=40).map(
    lambda drawn: pl.DataFrame(drawn, schema={"age": pl.Int64, "place": pl.String, "ill": pl.String}, orient="row")
)


@cache
def sdgs_findings() -> Findings:
    """Return what the experiment of Li, Qardaji & Su finds: two files look at it."""
    return run_sdgs()


def opened(frame: pl.DataFrame) -> ic.Table:
    return ic.read(frame, quasi=["age", "place"], sensitive=["ill"], hierarchies=HIERARCHIES)


def people(number: int = 3000, sensitive: str = "occupation") -> ic.Table:
    frame = ic.datasets.census(number)
    trees = {name: Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in ("education", "race")}
    quasi = ["age", "sex", "education", "race"]
    return ic.read(
        frame,
        quasi=quasi,
        sensitive=[sensitive],
        others="drop",
        hierarchies={"age": Intervals(widths=(5, 10)), **trees},
    )


def counted(table: ic.Table) -> Tally:
    return table.engine.count(table.schema).tally


def satisfies(value: Any, condition: Any) -> bool:
    if isinstance(condition, tuple):
        return value is not None and condition[0] <= value <= condition[1]
    return value in condition


def naive_count(frame: pl.DataFrame, query: Any) -> int:
    """Look at every row."""
    return sum(
        all(satisfies(row[name], condition) for name, condition in query.items()) for row in frame.iter_rows(named=True)
    )
