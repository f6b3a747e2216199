"""Groups written down by hand, tables drawn by seed, and the same tables as pyCANON wants them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import polars as pl

from incrowd.core.groups import Groups
from incrowd.forms.verify import COUNT, groups_of
from incrowd.hierarchies.flat import Exact
from incrowd.testing.naive import Members, count_groups, groups_of_rows

QUASI = ["q0", "q1"]
SENSITIVE = ["s0", "s1"]
NULL_TOKEN = "(missing)"


def groups(*members: str, **columns: Sequence[str]) -> Groups:
    """Groups by their members' sensitive values, a letter each, `-` for missing: `groups("aab", "c-")`."""
    named = columns or {"s": members}
    rows = [
        [{name: None if value == "-" else value for name, value in zip(named, member, strict=True)} for member in group]
        for group in (zip(*values, strict=True) for values in zip(*named.values(), strict=True))
    ]
    everyone = [row for group in rows for row in group]
    trees = {
        name: Exact().build(name, pl.Series([row[name] for row in everyone], dtype=pl.String))[0] for name in named
    }
    return count_groups(rows, everyone, trees)


@dataclass(frozen=True)
class Table:
    """A table in the three shapes that are compared."""

    frame: pl.DataFrame

    @cached_property
    def groups(self) -> Groups:
        """As the package counts it."""
        counted = self.frame.group_by(self.frame.columns).agg(pl.len().alias(COUNT))
        return groups_of(counted, QUASI, SENSITIVE)

    @property
    def members(self) -> list[Members]:
        """As plain Python counts it."""
        return groups_of_rows(self.frame.to_dicts(), QUASI, SENSITIVE)

    @cached_property
    def pandas(self) -> pd.DataFrame:
        """As pyCANON wants it: it leaves out rows with nulls and takes the index for positions, so it gets neither."""
        return self.frame.with_columns(pl.all().fill_null(NULL_TOKEN)).to_pandas().reset_index(drop=True)


def tables(number: int, *, seed: int = 0) -> Iterator[Table]:
    """Small tables with ties, nulls, constants and single rows."""
    dice = random.Random(seed)
    for _ in range(number):
        rows = dice.choice([1, 2, 5, 10, 20, 40])
        columns = {}
        for name in (*QUASI, *SENSITIVE):
            pool: list[str | None] = list("abcdef"[: dice.randint(1, 6 if name in SENSITIVE else 3)])
            if dice.random() < 0.4:
                pool.append(None)
            columns[name] = pl.Series([dice.choice(pool) for _ in range(rows)], dtype=pl.String)
        yield Table(pl.DataFrame(columns))
