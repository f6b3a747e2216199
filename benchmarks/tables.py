"""The tables that are measured: scaled Adult where the data is at hand, and the built-in census."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from incrowd.datasets import CENSUS_AGE_WIDTHS, CENSUS_TREES, write_census
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals

ADULT_QUASI = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation")
CENSUS_QUASI = ("age", "sex", "education", "marital", "race", "birth_place")


@dataclass(frozen=True)
class Measured:
    """A file on disk with the roles of its columns."""

    name: str
    path: Path
    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    dropped: tuple[str, ...]
    hierarchies: dict[str, Hierarchy]


def data_folder() -> Path | None:
    """Return the folder of outside data: INCROWD_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("INCROWD_DATA", beside))
    return folder if (folder / "adult" / "adult.csv").exists() else None


def adult_hierarchies(folder: Path) -> dict[str, Hierarchy]:
    """Return the category trees of Adult; age is cut freely."""
    return {
        name: Categories.read_csv(folder / "adult" / f"hierarchy_{name}.csv") for name in ADULT_QUASI if name != "age"
    }


def scaled_adult(folder: Path, rows: int, cache: Path) -> Measured | None:
    """Return the large Adult file on which other tools were measured, or None without the script that makes it."""
    script = folder.parent / "tools" / "scale_adult.py"
    if not script.exists():
        return None
    path = cache / f"adult-{rows}.csv"
    if not path.exists():
        subprocess.run([sys.executable, script, str(rows), str(path)], check=True)
    return Measured("Adult, scaled", path, rows, ADULT_QUASI, ("salary-class",), (), adult_hierarchies(folder))


def census_file(rows: int, cache: Path) -> Measured:
    """Return a census of any size."""
    path = cache / f"census-{rows}.csv"
    if not path.exists():
        write_census(path, rows)
    trees: dict[str, Hierarchy] = {
        "age": Intervals(widths=CENSUS_AGE_WIDTHS),
        **{name: Categories.from_tree(CENSUS_TREES[name]) for name in CENSUS_QUASI if name != "age"},
    }
    return Measured("census", path, rows, CENSUS_QUASI, ("occupation",), ("salary",), trees)
