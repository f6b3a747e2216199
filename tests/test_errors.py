"""Errors are logged, sent and kept: they quote no value, and nothing in them moves a cursor."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd import errors
from incrowd.errors import (
    IncrowdError,
    SchemaError,
    SourceError,
    UncoveredValue,
    UnreadableLabel,
    escaped,
    looks_like_data,
)

SECRET = "S3CRET"


@pytest.mark.parametrize("kind", [UncoveredValue, UnreadableLabel])
def test_values_are_an_attribute_and_nothing_else(kind: type[UncoveredValue]) -> None:
    error = kind("city", [f"{SECRET} {number}" for number in range(9)], 9)
    assert len(error.values) == 5
    told = [str(error), repr(error), repr(error.args), *traceback.format_exception(error)]
    assert SECRET not in "".join(told)
    assert SECRET.encode() not in pickle.dumps(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.column, again.total, again.values) == (kind, "city", 9, ())
    assert str(again) == str(error)
    assert f"'{SECRET} 4'" in error.describe(quote_values=True)
    assert f"{SECRET} 5" not in error.describe(quote_values=True)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "a\u202eb", "a\u2028b", "a\rb", "a\x9bb"])
def test_a_name_cannot_move_the_cursor(name: str) -> None:
    frame = pl.DataFrame({name: [1, 2], "age": [3, 4]})
    for attempt in (lambda: ic.read(frame, quasi=["age"]), lambda: ic.read(frame, quasi=[name + "x"])):
        with pytest.raises(SchemaError) as caught:
            attempt()
        assert name not in str(caught.value)
        assert str(caught.value).isprintable()
        assert escaped(name) in str(caught.value)


def test_every_error_is_escaped_and_can_be_sent() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, IncrowdError)]
    for kind in kinds:
        if kind in (UncoveredValue, UnreadableLabel, errors.TallyTooLarge):
            continue
        error = kind(*{errors.MissingExtra: ("pandas", "a\x1b[2J", None)}.get(kind, ("a\x1b[2J",)))
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert str(error).startswith("a\\x1b[2J")


@pytest.mark.parametrize(
    "first",
    [
        f"{SECRET} Smith,F,1987-11-03,10115\n",
        f"{SECRET} Smith,F,34\n",
        f"{SECRET}@example.org,F,x\n",
        '{"name": "' + SECRET + '"}\n',
        f"<people><person name='{SECRET}'/></people>",
        f"{SECRET} " * 20 + "\n",
        f"{SECRET},{SECRET},F\n",
    ],
)
def test_a_file_without_a_header_is_not_quoted(first: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(first * 3)
    for roles in ({"quasi": ["age"]}, {"quasi": ["F"]}, {"quasi": []}, {"quasi": ["ages"], "others": "drop"}):
        with pytest.raises((SchemaError, SourceError)) as caught:
            ic.read(file, **roles)  # type: ignore[arg-type]
        assert SECRET not in str(caught.value)


def test_names_that_are_names_are_quoted() -> None:
    frame = pl.DataFrame({"age": [1], "sex": ["f"], "zip code": ["x"], "q1_2": [3]})
    with pytest.raises(SchemaError, match="3 columns have no role: 'sex', 'zip code', 'q1_2'"):
        ic.read(frame, quasi=["age"])
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        ic.read(frame, quasi=["agge"])
    with pytest.raises(SchemaError, match="it has 4 columns; `incrowd profile` shows their names"):
        ic.read(frame, quasi=["weight"])
    assert not looks_like_data(["education-num", "ICD-10", "income (€)", "2nd visit", "född"])
