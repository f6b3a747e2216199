"""A table and the roles of its columns: what `read` takes, what it refuses, and what it shows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd as ic
from incrowd.core.source import ReadOptions
from incrowd.errors import IncrowdError, SchemaError, SourceError
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact

SECRET = "Quetzalcoatlus"
PEOPLE = pl.DataFrame(
    {
        "name": [SECRET, "Bo", "Cy"],
        "age": [34, 35, None],
        "zip": ["10001", "10002", "10003"],
        "ill": [SECRET, "flu", "flu"],
        "id": [1, 2, 3],
        "note": ["a", "b", "c"],
    }
)
ROLES: dict[str, Any] = {
    "quasi": ["zip", "age"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "pseudonyms": ["id"],
    "keep": ["note"],
}


def test_every_list_gives_its_columns_their_role() -> None:
    schema = ic.read(PEOPLE, **ROLES, hierarchies={"zip": ic.Masking()}).schema
    assert schema.quasi == {"zip": ic.Masking(), "age": Automatic()}
    assert schema.sensitive == {"ill": Exact()}
    assert (schema.pseudonyms, schema.kept, schema.removed) == (("id",), ("note",), ("name",))


@pytest.mark.parametrize(
    "given", [PEOPLE, PEOPLE.lazy(), PEOPLE.to_pandas(), PEOPLE.to_arrow()], ids=lambda given: type(given).__name__
)
def test_every_kind_of_frame_is_a_table(given: Any) -> None:
    table = ic.read(given, **ROLES)
    assert table.engine.source.columns == tuple(PEOPLE.columns)
    assert table.engine.count(table.schema).tally.rows == 3


def test_a_file_is_opened_where_it_is_and_read_later(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path, separator=";")
    table = ic.read(path, **ROLES)
    assert table.engine.source.description["separator"] == ";"
    assert table.engine.source.found_out
    stated = ic.read(path, **ROLES, separator=";", missing=["flu"])
    assert "separator" not in stated.engine.source.found_out
    assert stated.engine.count(stated.schema).tally.value_counts("ill")[0] == 2


@pytest.mark.parametrize(
    ("roles", "problem"),
    [
        (
            {"quasi": [], "others": "drop"},
            r"^no column is a quasi-identifier\.  Hint: name those that outsiders may know",
        ),
        ({"quasi": "zip"}, r"^quasi is a list of column names\.  Hint: write quasi=\[\"zip\"\]"),
        ({"quasi": ["zap"]}, r"^column 'zap' \(quasi\) is not in the table\.  Hint: did you mean 'zip'"),
        ({"sensitive": ["age"]}, r"^column 'age' is named twice: quasi and sensitive"),
        ({"keep": []}, r"^column 'note' has no role\."),
        ({"keep": [], "pseudonyms": []}, r"^2 columns have no role: 'id', 'note'"),
        ({"keep": [], "others": "publish"}, r'^others is "keep" or "drop", not "publish"'),
        ({"hierarchies": {"note": ic.Flat()}}, r"^column 'note' has a hierarchy but is neither"),
    ],
)
def test_a_role_that_cannot_be_is_refused(roles: dict[str, Any], problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        ic.read(PEOPLE, **{**ROLES, **roles})


@pytest.mark.parametrize(
    "option",
    [{"query": "people"}, {"separator": ";"}, {"quote": "'"}, {"encoding": "utf-8"}],
    ids=lambda given: next(iter(given)),
)
@pytest.mark.parametrize(
    "given", [PEOPLE, PEOPLE.to_pandas(), PEOPLE.to_arrow()], ids=lambda given: type(given).__name__
)
def test_a_frame_has_no_options_of_files_and_databases(given: Any, option: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match=f"so {next(iter(option))}= cannot be used"):
        ic.read(given, **ROLES, **option)


def test_words_for_missing_values_are_a_list_and_mean_something_in_frames_too() -> None:
    with pytest.raises(SourceError, match=r"missing= takes a list of texts"):
        ic.read(PEOPLE, **ROLES, missing="flu")
    table = ic.read(PEOPLE, **ROLES, missing=["flu", "10001"])
    tally = table.engine.count(table.schema).tally
    assert (tally.value_counts("ill")[0], tally.value_counts("zip")[0]) == (2, 1)
    assert ReadOptions(missing=["?"]).missing == ("?",)


@pytest.mark.parametrize("given", [None, 5, ["age"], {"age": [1]}, object()])
def test_what_is_no_table_is_refused_and_what_is_one_is_told(given: Any) -> None:
    with pytest.raises(SourceError, match=r"is not a table that can be opened\.  Hint: give one of"):
        ic.read(given, quasi=["age"])


def test_what_is_open_already_is_refused_with_what_to_give() -> None:
    table = ic.read(PEOPLE, **ROLES)
    with pytest.raises(SourceError, match=r"incrowd's own Table, .*Hint: give what it was read from"):
        ic.read(table, **ROLES)
    release = ic.publish(table, ic.KAnonymity(1))
    with pytest.raises(SourceError, match=r"incrowd's own Table, "):
        ic.audit(release, original=table)
    with pytest.raises(SourceError, match=r"incrowd's own Release, .*Hint: give its `data`"):
        ic.read(release, **ROLES)


# --- the population ---


def test_a_population_has_the_quasi_identifiers_and_may_have_more() -> None:
    people = PEOPLE.select("age", "zip", "note")
    table = ic.read(PEOPLE, **ROLES, population=people)
    assert table.population is not None
    tally = table.engine.count(table.schema, table.population).tally
    assert tally.population is not None
    assert tally.population.counts.sum() == 3


def test_a_population_that_lacks_a_column_is_refused() -> None:
    with pytest.raises(SchemaError) as refused:
        ic.read(PEOPLE, **ROLES, population=PEOPLE.select("age", "zip").rename({"zip": "zips"}))
    assert str(refused.value) == ("the population lacks the quasi-identifier 'zip'.  Hint: did you mean 'zips'?")


@pytest.mark.parametrize("population", ["nowhere.csv", 5])
def test_a_population_is_a_table_too(population: Any) -> None:
    with pytest.raises(IncrowdError):
        ic.read(PEOPLE, **ROLES, population=population)


# --- what is shown of it ---


def test_a_table_is_shown_by_its_roles() -> None:
    table = ic.read(PEOPLE, **ROLES)
    assert repr(table) == (
        "Table(quasi=['zip', 'age'], sensitive=['ill'], pseudonyms=['id'], kept=['note'], removed=['name'])"
    )
    assert repr(ic.read(PEOPLE, quasi=["age"], others="drop")) == (
        "Table(quasi=['age'], removed=['name', 'zip', 'ill', 'id', 'note'])"
    )


def test_a_notebook_shows_roles_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = PEOPLE.rename({"note": "<b>note</b>"})
    table = ic.read(frame, **{**ROLES, "keep": ["<b>note</b>"]}, hierarchies={"zip": ic.Masking()})
    monkeypatch.setattr(type(table.engine), "distinct", lambda *given: pytest.fail("a row was read"))
    page = table._repr_html_()
    shown = page.partition("</style>")[2]
    for value in (SECRET, "10001", "34", "flu", "Cy"):
        assert value not in shown
    for told in ("zip", "quasi-identifier", "masking", "automatic", "sensitive", "pseudonym", "kept", "removed"):
        assert told in page
    assert "<b>note</b>" not in page
    assert "&lt;b&gt;note&lt;/b&gt;" in page


def test_frames_of_other_libraries_are_not_changed() -> None:
    pandas, arrow = PEOPLE.to_pandas(), PEOPLE.to_arrow()
    for given in (pandas, arrow):
        table = ic.read(given, **ROLES)
        table.engine.count(table.schema)
    pd.testing.assert_frame_equal(pandas, PEOPLE.to_pandas())
    assert isinstance(arrow, pa.Table)
    assert arrow.equals(PEOPLE.to_arrow())
