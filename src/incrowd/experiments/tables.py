"""The tables that experiments run on: the built-in census in two readings, and Adult where it is at hand."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from incrowd.common.records import dataclass
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.datasets import CENSUS_AGE_WIDTHS, CENSUS_TREES, census
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.publishing.table import Table, read

CENSUS_QUASI = ("age", "sex", "education", "marital", "race", "birth_place")
ADULT_QUASI = ("age", "sex", "education", "marital-status", "race", "native-country")
ADULT_AGE_WIDTHS = (5, 10, 20, 40)
"""The hierarchy file of Adult's age is off by one (20 is in "15-19"), and its values are names; these are ranges."""

ADULT_IS_ABSENT = (
    "Adult is not at hand, and nothing was measured on it. Put it into ../shared/data/adult, or name the folder above "
    "it in INCROWD_DATA."
)


@dataclass(frozen=True, eq=False)
class Subject:
    """A table to experiment on: its name, its roles, and its tally, which is counted once."""

    name: str
    table: Table
    sensitive: str

    @property
    def schema(self) -> Schema:
        """The roles of its columns."""
        return self.table.schema

    @property
    def quasi(self) -> tuple[str, ...]:
        """Its quasi-identifiers."""
        return tuple(self.table.schema.quasi)

    @cached_property
    def tally(self) -> Tally:
        """Its rows, counted."""
        return self.table.engine.count(self.schema).tally

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.tally.rows


def census_subject(sensitive: str, rows: int, seed: int) -> Subject:
    """Return a census of so many people with one sensitive column: `occupation` or `salary`."""
    trees: dict[str, Hierarchy] = {
        "age": Intervals(widths=CENSUS_AGE_WIDTHS),
        **{name: Categories.from_tree(CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
    }
    people = census(rows, seed=seed)
    table = read(people, quasi=CENSUS_QUASI, sensitive=[sensitive], others="drop", hierarchies=trees)
    return Subject(f"census {sensitive}", table, sensitive)


def adult_folder() -> Path | None:
    """Return the folder of Adult, named by INCROWD_DATA or in ../shared/data; None where it is in neither."""
    folder = Path(os.environ.get("INCROWD_DATA") or Path("..") / "shared" / "data") / "adult"
    return folder if (folder / "adult.csv").exists() else None


def adult_subject(folder: Path, sensitive: str) -> Subject:
    """Return Adult, without its incomplete records, with one sensitive column: `occupation` or `income`."""
    trees: dict[str, Hierarchy] = {
        "age": Intervals(widths=ADULT_AGE_WIDTHS),
        **{name: Categories.read_csv(folder / f"hierarchy_{name}.csv") for name in ADULT_QUASI if name != "age"},
    }
    table = read(folder / "adult.csv", quasi=ADULT_QUASI, sensitive=[sensitive], others="drop", hierarchies=trees)
    return Subject(f"Adult {sensitive}", table, sensitive)
