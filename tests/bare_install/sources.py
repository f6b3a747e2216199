"""Every kind of source that the core reads, and what those say that need an extra."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

FRAMES_OF_EXTRAS = {"pandas", "pyarrow"}  # who has such a frame has the package


def faults(place: Path) -> Iterator[str]:
    """Yield which source cannot be read."""
    import incrowd as ic
    from incrowd.core.families import registered

    people = ic.datasets.census(100).select("age", "sex", "occupation")
    people.write_csv(place / "people.csv")
    people.write_parquet(place / "people.parquet")
    people.write_ipc(place / "people.arrow")
    with sqlite3.connect(place / "people.db") as database:
        database.execute("CREATE TABLE people (age, sex, occupation)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", people.rows())
    database.close()
    given = {
        "csv": (place / "people.csv", {}),
        "parquet": (place / "people.parquet", {}),
        "arrow": (place / "people.arrow", {}),
        "sqlite": (f"sqlite:///{place / 'people.db'}", {"query": "people"}),
        "polars": (people.lazy(), {}),
        "postgresql": ("postgresql://localhost/people", {"query": "people"}),
    }
    for name in sorted(set(registered("sources")) ^ (given.keys() | FRAMES_OF_EXTRAS)):
        yield f"{name} is not tried, or is no source"
    for name, (source, options) in given.items():
        try:
            rows = ic.check(source, quasi=["age", "sex"], sensitive=["occupation"], **options).rows
            if rows != people.height:
                yield f"{name}: {rows} rows are read"
        except ic.errors.MissingExtra as error:
            if error.extra != name:
                yield f"{name}: {error}"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
        else:
            if name == "postgresql":
                yield "a database is read without its driver"
