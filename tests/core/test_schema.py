"""Roles: every column has exactly one, and a mistake is told with a way out."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.schema import Schema
from incrowd.errors import SchemaError
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact, Flat

COLUMNS = ["name", "age", "zip", "flu", "note"]


def test_every_column_has_its_role() -> None:
    schema = Schema.of(
        COLUMNS,
        quasi=["zip", "age"],
        sensitive=["flu"],
        pseudonyms=["name"],
        drop=["note"],
        hierarchies={"zip": Flat()},
    )
    assert schema.quasi == {"zip": Flat(), "age": Automatic()}
    assert schema.sensitive == {"flu": Exact()}
    assert (schema.pseudonyms, schema.kept, schema.removed) == (("name",), (), ("note",))
    assert schema.published == ("name", "zip", "age", "flu")
    assert schema.tallied == ("zip", "age", "flu")


def test_identifiers_and_dropped_columns_are_removed() -> None:
    schema = Schema.of(COLUMNS, quasi=["age"], identifiers=["name"], drop=["note"], others="drop")
    assert schema.removed == ("name", "note", "zip", "flu")
    assert schema.published == ("age",)


def test_others_are_kept_or_dropped_in_the_table_s_order() -> None:
    assert Schema.of(COLUMNS, quasi=["flu"], keep=["note"], others="keep").kept == ("note", "name", "age", "zip")


def test_lists_may_be_any_iterable_but_not_one_text() -> None:
    assert list(Schema.of(["a", "b"], quasi=(name for name in "ab")).quasi) == ["a", "b"]
    with pytest.raises(SchemaError, match=r'quasi is a list of column names.  Hint: write quasi=\["age"\]'):
        Schema.of(COLUMNS, quasi="age")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"quasi": ["age"]}, r"4 columns have no role: 'name', 'zip', 'flu', 'note'\.  Hint: .*others"),
        ({"quasi": ["age", "zip", "flu", "note"]}, r"column 'name' has no role\.  Hint: name it"),
        (
            {"quasi": ["agee"], "others": "drop"},
            r"column 'agee' \(quasi\) is not in the table\.  Hint: did you mean 'age'",
        ),
        (
            {"quasi": ["age"], "sensitive": ["age"], "others": "drop"},
            r"column 'age' is named twice: quasi and sensitive",
        ),
        ({"quasi": ["age", "age"], "others": "drop"}, r"column 'age' is named twice: quasi\."),
        ({"quasi": ["age"], "others": "hide"}, r'others is "keep" or "drop", not "hide"'),
        ({"quasi": [3], "others": "drop"}, r"column names, which are text, not 3"),
        (
            {"quasi": ["age"], "hierarchies": {"zip": Flat()}, "others": "drop"},
            r"column 'zip' has a hierarchy but is neither quasi-identifier nor sensitive",
        ),
        ({"quasi": ["age"], "hierarchies": {"aeg": Flat()}, "others": "drop"}, r"column 'aeg' .*did you mean 'age'"),
    ],
)
def test_mistakes(roles: dict, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.of(COLUMNS, **roles)


def test_a_table_needs_a_quasi_identifier() -> None:
    with pytest.raises(SchemaError, match="no column is a quasi-identifier"):
        ic.read(pl.DataFrame({"flu": [1]}), quasi=[], sensitive=["flu"])


def test_words_for_missing_are_a_list() -> None:
    table = pl.DataFrame({"age": ["31", "N", "A", "NA"]})
    with pytest.raises(ic.errors.SourceError, match="missing= takes a list of texts"):
        ic.read(table, quasi=["age"], missing="NA")
    with pytest.raises(ic.errors.SourceError, match="missing= takes a list of texts"):
        ic.check(table, quasi=["age"], missing="NA")


def test_a_table_tells_its_roles_and_no_values() -> None:
    table = ic.read(
        pl.DataFrame({"age": ["SECRET"], "flu": [1], "id": [2]}), quasi=["age"], sensitive=["flu"], drop=["id"]
    )
    assert repr(table) == "Table(quasi=['age'], sensitive=['flu'], removed=['id'])"
