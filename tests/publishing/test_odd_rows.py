"""Under differential privacy, one odd row in a file is one row: it changes nothing of how others are read or shown.

Each file is published with the same chance, and everything that is written is compared byte by byte. An odd row that
can be read is the row it means; one that cannot be read, or holds what was not declared, is as good as none.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TypeVar

import pytest

from incrowd.core.families import registered
from incrowd.errors import UndeclaredWarning
from incrowd.publishing.recipe import Recipe

pytestmark = pytest.mark.usefixtures("few_questions")

T = TypeVar("T")
HEADER = b"age,sex,ill"
PEOPLE = [
    b"%d,%s,%s" % (20 + (7 * number) % 60, (b"F", b"M")[number % 2], (b"flu", b"cold", b"gout")[number % 3])
    for number in range(240)
]
SAME = {
    "padded": b" 34 , F,  flu ",
    "quoted": b'"34","F","flu"',
    "quoted and padded": b' "34" , "F", "flu"',
    "with a return": b"34,F,flu\r",
    "with a point": b"34.0,F,flu",
    "with a zero": b"034,F,flu",
}
MISSING = {
    "undeclared": (b"34,X,flu", b"34,,flu"),
    "undeclared and sensitive": (b"34,F,plague", b"34,F,"),
    "no number": (b"old,F,flu", b",F,flu"),
    "a number in another way": (b'"34,5",F,flu', b",F,flu"),
    "not of the encoding": (b"34,\xff\xfe,flu", b"34,,flu"),
    "a mark in front": (b"\xef\xbb\xbf34,F,flu", b",F,flu"),
    "a zero byte": (b"34,F\x00,flu", b"34,,flu"),
    "very long": (b"34,F," + b"x" * 300_000, b"34,F,"),
    "short": (b"34,F", b",,"),
    "long": (b"34,F,flu,5", b",,"),
    "another separator": (b"34;F;flu", b",,"),
    "an open quote": (b'34,"F,flu', b",,"),
    "only quotes": (b'"""', b",,"),
    "a return inside": (b"34,F\r,fl\ru", b"34,,"),
}
"""What is written, and the row that it stands for: values that cannot be read are missing."""
BLANK = {"blank": b"", "spaces": b"   ", "a return": b"\r"}
BEYOND = {
    "far above": (b"9999,F,flu", b"90,F,flu"),
    "very far": (b"100000,F,flu", b"90,F,flu"),
    "between": (b"34.5,F,flu", b"34,F,flu"),
}
METHODS: dict[str, str] = {
    **{kind.name: "epsilon = 1" for kind in registered("methods").values() if kind.private},
    "sdgs": "k = 3\nlevels = { age = 2 }",
}
ONE_COLUMN = ("hierarchical-histogram",)
MEASURING = [name for name, kind in registered("methods").items() if "error_share" in kind.__match_args__]
"""Methods that also tell how wrong counts are, by the table itself: most of their time, and tried once for each."""


def recipe_of(method: str, *, errors: bool) -> str:
    alone = method in ONE_COLUMN
    return f"""
incrowd = 1
seed = 7
{"sample = 0.5" if method == "sdgs" else ""}
[source]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = {{ kind = "intervals", widths = [5, 20], lower = 10, upper = 90 }}
[columns.sex]
role = "{"drop" if alone else "quasi"}"
{"" if alone else 'hierarchy = { kind = "categories", tree = ["F", "M"] }'}
[columns.ill]
role = "sensitive"
hierarchy = {{ kind = "categories", tree = ["flu", "cold", "gout"] }}
[method]
name = "{method}"
{METHODS[method]}
{"" if errors or method not in MEASURING else "error_share = 0"}
"""


def files(method: str, place: Path, rows: list[bytes], *, errors: bool = False) -> dict[str, bytes]:
    """Return everything that is published of these lines."""
    (place / "people.csv").write_bytes(b"\n".join([HEADER, *rows]) + b"\n")
    (place / "recipe.toml").write_text(recipe_of(method, errors=errors))
    shutil.rmtree(place / "out", ignore_errors=True)
    Recipe.load(place / "recipe.toml").run().save(place / "out")
    return {file.name: file.read_bytes() for file in sorted((place / "out").iterdir())}


def odd_rows(method: str) -> dict[str, tuple[bytes, bytes]]:
    """Return each odd row, and the row that it stands for."""
    same = {name: (row, b"34,F,flu") for name, row in SAME.items()}
    endless = (b"1e999,F,flu", b",F,flu" if method == "sdgs" else b"90,F,flu")
    return {**same, **MISSING, **BEYOND, "endless": endless}


def each_alone(method: str, rows: dict[str, T], alone: tuple[str, ...] = ("flat-histogram",)) -> list[dict[str, T]]:
    """Return the rows to write into one file each: one by one for some methods, and all together for each other one.

    All methods get what was read by the same code, and read nothing themselves.
    """
    return [{name: row} for name, row in rows.items()] if method in alone else [rows]


@pytest.mark.parametrize("method", METHODS)
def test_an_odd_row_changes_nothing_else(method: str, tmp_path: Path) -> None:
    plain, without = files(method, tmp_path, [*PEOPLE, b"34,F,flu"]), files(method, tmp_path, PEOPLE)
    assert plain["data.csv"] != without["data.csv"]
    wrong = []
    for blank in each_alone(method, BLANK):
        if files(method, tmp_path, [*PEOPLE, *blank.values()]) != without:
            wrong.append(list(blank))
    expected: dict[tuple[bytes, ...], dict[str, bytes]] = {(b"34,F,flu",): plain}
    # A sample is drawn tuple by tuple, and tuples are told apart as they are written: of several, the order matters.
    for odd in each_alone(method, odd_rows(method), ("flat-histogram", "sdgs")):
        rows, meant = zip(*odd.values(), strict=True)
        if meant not in expected:
            expected[meant] = files(method, tmp_path, [*PEOPLE, *meant])
        if files(method, tmp_path, [*PEOPLE, *rows]) != expected[meant]:
            wrong.append(list(odd))
    assert wrong == []


@pytest.mark.parametrize("method", MEASURING)
def test_nor_the_errors_that_are_told(method: str, tmp_path: Path) -> None:
    told = [files(method, tmp_path, [*PEOPLE, row], errors=True) for row in (b"100000,F,flu", b"90,F,flu")]
    assert told[0] == told[1]
    assert told[0] != files(method, tmp_path, [*PEOPLE, b"90,F,flu"])  # they are told


@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("sdgs", *ONE_COLUMN)])
def test_a_row_without_its_values_is_left_out(method: str, tmp_path: Path) -> None:
    """Nobody announced missing values, and that somebody has one must not be seen."""
    without = files(method, tmp_path, PEOPLE)
    for rows in each_alone(method, {"age": b",F,flu", "sex": b"34,,flu", "ill": b"34,F,", "all": b",,"}):
        assert files(method, tmp_path, [*PEOPLE, *rows.values()]) == without


def test_the_owner_is_told(tmp_path: Path) -> None:
    with pytest.warns(UndeclaredWarning, match="column 'sex' holds missing values, or values that were not declared"):
        files("flat-histogram", tmp_path, [*PEOPLE, b"34,X,flu"])
    assert not any(b"left out" in text for text in files("flat-histogram", tmp_path, [*PEOPLE, b"34,X,flu"]).values())


@pytest.mark.parametrize("method", METHODS)
def test_nor_does_where_it_stands(method: str, tmp_path: Path) -> None:
    """First, in the middle or last."""
    odd = {name: MISSING[name][0] for name in ("an open quote", "not of the encoding")}
    odd |= {"quoted and padded": SAME["quoted and padded"], "blank": b"", "plain": b"34,F,flu"}
    for rows in each_alone(method, odd):
        first, *others = (
            files(method, tmp_path, [*PEOPLE[:at], *rows.values(), *PEOPLE[at:]])
            for at in (0, len(PEOPLE) // 2, len(PEOPLE))
        )
        assert all(other == first for other in others)
