"""Every kind of source that the core reads, and what those say that need an extra."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

FRAMES_OF_EXTRAS = {"pandas", "pyarrow"}  # who has such a frame has the package
NOT_HERE = {"object-store"}  # which needs no extra, and a network
# First bytes are enough to see which kind a file is, and so which extra is missing.
HEADS = {
    "spss": (".sav", b"$FL2@(#) SPSS", "statistics"),
    "stata": (".dta", b"<stata_dta><header>", "statistics"),
    "sas": (".xpt", b"HEADER RECORD*******LIBRARY HEADER", "statistics"),
    "excel": (".xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    "duckdb": (".duckdb", bytes(8) + b"DUCK", "duckdb"),
    "zstd": (".csv.zst", b"\x28\xb5\x2f\xfd", "zstd"),
}


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
    (place / "parts").mkdir()
    people[:40].write_csv(place / "parts" / "a.csv")
    people[40:].write_csv(place / "parts" / "b.csv")
    for name, (suffix, head, _) in HEADS.items():
        (place / f"{name}{suffix}").write_bytes(head + bytes(4000))
    given: dict[str, tuple[object, dict[str, str]]] = {
        "csv": (place / "people.csv", {}),
        "parquet": (place / "people.parquet", {}),
        "arrow": (place / "people.arrow", {}),
        "sqlite": (f"sqlite:///{place / 'people.db'}", {"query": "people"}),
        "polars": (people.lazy(), {}),
        "folder": (place / "parts", {}),
        "postgresql": ("postgresql://localhost/people", {"query": "people"}),
        **{name: (place / f"{name}{suffix}", {}) for name, (suffix, _, _) in HEADS.items()},
    }
    for name in sorted((set(registered("sources")) | {"zstd"}) ^ (given.keys() | FRAMES_OF_EXTRAS | NOT_HERE)):
        yield f"{name} is not tried, or is no source"
    for name, (source, options) in given.items():
        try:
            rows = ic.check(source, quasi=["age", "sex"], sensitive=["occupation"], **options).rows
            if rows != people.height:
                yield f"{name}: {rows} rows are read"
        except ic.errors.MissingExtra as error:
            if error.extra != (HEADS[name][2] if name in HEADS else name):
                yield f"{name}: {error}"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
        else:
            if name == "postgresql" or name in HEADS:
                yield f"{name} is read without its extra"
