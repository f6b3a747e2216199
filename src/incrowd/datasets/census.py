"""A generator of census-like people, as many as one asks for.

The domains have the sizes of Table 4 in Sattar, Li, Ding, Liu & Vincent, "A General Framework for Privacy
Preserving Data Publishing" (their Occupation and Salary data sets): age 77, sex 2, education 14, marital
status 6, race 6, birth place 41, occupation 50, salary 50. How the columns depend on one another is in
`_census_model`.

Rows are made in blocks, each from a random stream of its own, so memory is bounded by the block and, for
`census`, by the table that is returned. A table is a function of its number of rows and its seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from incrowd.common.writing import new_file
from incrowd.datasets._census_domains import CENSUS_DOMAINS
from incrowd.datasets._census_model import census_model

BLOCK_ROWS = 1_000_000


def census(rows: int = 30_000, *, seed: int = 0) -> pl.DataFrame:
    """Return a table of generated people, one per row.

    >>> people = census(1_000)
    >>> people.columns
    ['age', 'sex', 'education', 'marital', 'race', 'birth_place', 'occupation', 'salary']
    >>> people.equals(census(1_000, seed=0)), people.equals(census(1_000, seed=1))
    (True, False)
    """
    _require_not_negative(rows=rows, seed=seed)
    # One chunk would be tidier, and would need the memory of the table a second time.
    return pl.concat(_blocks(rows, seed), rechunk=False)


def write_census(path: str | Path, rows: int, *, seed: int = 0) -> None:
    """Write the table that `census` returns as CSV or Parquet, by the path's suffix, block by block."""
    path = Path(path)
    _require_not_negative(rows=rows, seed=seed)

    def read_blocks(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        # Nothing is selected or filtered between this source and the file, so there is nothing to push down.
        return _blocks(rows, seed)

    people = register_io_source(read_blocks, schema=_block(0, seed, 0).schema)
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"cannot write a census as '{suffix}'.  Hint: end the path in .csv or .parquet.")
    with new_file(path) as new:
        people.sink_csv(new) if suffix == ".csv" else people.sink_parquet(new)


def _require_not_negative(**arguments: int) -> None:
    for name, value in arguments.items():
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}")


def _blocks(rows: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the blocks of the table; there is at least one, so that an empty table has columns too."""
    for number, start in enumerate(range(0, max(rows, 1), BLOCK_ROWS)):
        yield _block(min(BLOCK_ROWS, rows - start), seed, number)


def _block(rows: int, seed: int, number: int) -> pl.DataFrame:
    """Return the block of this number."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    codes = census_model().draw(rng, rows)
    return pl.DataFrame([pl.Series(name, CENSUS_DOMAINS[name]).gather(codes[name]) for name in CENSUS_DOMAINS])
