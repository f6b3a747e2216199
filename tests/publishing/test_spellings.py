"""Texts that look alike are one value: in every source, in hierarchies and populations, unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SourceError
from incrowd.hierarchies.texts import TextRules, code_names, plain

E_ACUTE = ("Ren\u00e9", "Rene\u0301")
SPELLINGS = ["HIV", "HIV ", " HIV", "HIV\u00a0", "\tHIV", "HIV\u3000"]
FRAME = pl.DataFrame({"q": ["a"] * 6 + ["b"] * 6, "s": SPELLINGS + ["HIV", "flu"] * 3})


def as_csv(frame: pl.DataFrame, place: Path) -> object:
    frame.write_csv(place / "t.csv", quote_style="always")
    return place / "t.csv"


def as_parquet(frame: pl.DataFrame, place: Path) -> object:
    frame.write_parquet(place / "t.parquet")
    return place / "t.parquet"


def as_sqlite(frame: pl.DataFrame, place: Path) -> object:
    import sqlite3

    with sqlite3.connect(place / "t.db") as database:
        frame.to_pandas().to_sql("t", database, index=False)
    return f"sqlite:///{place / 't.db'}"


SOURCES: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "CSV": as_csv,
    "Parquet": as_parquet,
    "SQLite": as_sqlite,
    "polars": lambda frame, place: frame,
    "pandas": lambda frame, place: frame.to_pandas(),
    "categories": lambda frame, place: frame.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pyarrow": lambda frame, place: frame.to_arrow(),
}


def read(source: object, **given: Any) -> ic.Table:
    query = {"query": "t"} if str(source).startswith("sqlite") else {}
    return ic.read(source, quasi=["q"], sensitive=["s"], **query, **given)


def values(table: ic.Table, name: str = "s") -> list[str | None]:
    return table.engine.count(table.schema).tally.trees[name].values.to_list()


@pytest.mark.parametrize("kind", SOURCES)
def test_spaces_around_a_text_make_no_second_value(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](FRAME, tmp_path)
    assert values(read(source)) == [None, "HIV", "flu"]
    exact = values(read(source, exact_text=True))
    assert len(exact) == 1 + len({*SPELLINGS, "flu"})


def test_distinct_diversity_counts_what_can_be_told_apart() -> None:
    achieved = {found.model: found.achieved for found in ic.publish(read(FRAME), ic.LDiversity(1)).guarantees}
    assert achieved[ic.LDiversity(1)] == 1
    assert ic.check(FRAME, quasi=["q"], sensitive=["s"]).sensitive["s"].distinct_l == 1
    assert ic.check(FRAME, quasi=["q"], sensitive=["s"], exact_text=True).sensitive["s"].distinct_l == 2


def test_two_spellings_of_a_number_are_one_value_to_a_check() -> None:
    frame = pl.DataFrame({"q": ["a"] * 3, "s": ["5", "5.0", "n/a"]})
    assert ic.check(frame, quasi=["q"], sensitive=["s"]).sensitive["s"].distinct_l == 2


@pytest.mark.parametrize("kind", SOURCES)
def test_a_letter_is_one_letter_however_it_is_written(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"q": E_ACUTE * 3, "s": ["x", "y"] * 3})
    source = SOURCES[kind](frame, tmp_path)
    assert values(read(source), "q") == [None, E_ACUTE[0]]
    assert len(values(read(source, exact_text=True), "q")) == 3
    assert ic.publish(read(source), ic.KAnonymity(6)).to_polars()["q"].unique().to_list() == [E_ACUTE[0]]


@pytest.mark.parametrize("kind", SOURCES)
def test_words_that_are_missing(kind: str, tmp_path: Path) -> None:
    words = ["NaN", "nan", " ", "NA", "NULL", "None", "?", "? ", "Nan", "x", "y", "z"]
    frame = pl.DataFrame({"q": ["a"] * len(words), "s": words})
    source = SOURCES[kind](frame, tmp_path)
    assert set(values(read(source))) == {None, "NA", "NULL", "None", "?", "Nan", "x", "y", "z"}
    assert set(values(read(source, missing=["?", " NA"]))) == {None, "NULL", "None", "Nan", "x", "y", "z"}


def test_kept_columns_and_pseudonyms_stay_as_they_are() -> None:
    frame = FRAME.with_columns(k=pl.col("s"), p=pl.col("s"))
    table = ic.read(frame, quasi=["q"], sensitive=["s"], keep=["k"], pseudonyms=["p"], each_row_a_person=True)
    found = ic.publish(table, ic.KAnonymity(2)).to_polars()
    assert set(found["k"]) == {*SPELLINGS, "flu"}
    assert found["p"].n_unique() == len({*SPELLINGS, "flu"})
    assert set(found["s"]) == {"HIV", "flu"}


def test_hierarchies_are_met_by_what_their_names_look_like(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("HIV ;infection;*\n flu;infection;*\n", encoding="utf-8")
    for tree in (
        ic.Categories.read_csv(tmp_path / "tree.csv"),
        ic.Categories.from_tree({"infection": ["HIV ", "flu"]}),
    ):
        table = ic.read(FRAME, quasi=["s"], sensitive=["q"], hierarchies={"s": tree})
        assert ic.publish(table, ic.KAnonymity(2)).rows == FRAME.height


def test_values_that_are_declared_apart_stay_apart() -> None:
    tree = ic.Categories.from_tree({"infection": ["HIV", "HIV ", *SPELLINGS[2:], "flu"]})
    table = ic.read(FRAME, quasi=["s"], sensitive=["q"], hierarchies={"s": tree}, exact_text=True)
    assert len(table.engine.count(table.schema).tally) == 8


def test_a_population_is_read_alike() -> None:
    people = pl.DataFrame({"q": ["a ", "b"] * 10})
    table = read(FRAME, population=people)
    found = table.engine.count(table.schema, table.population).tally.population
    assert found is not None
    assert found.counts.tolist() == [10, 10]


def test_an_external_table_is_read_alike() -> None:
    people = pl.DataFrame({"q": ["a ", "b", "c"] * 10})
    release = ic.publish(read(FRAME), ic.KAnonymity(2))
    assert release.audit(remedies=False, external=people, learn=False) is not None


def test_a_recipe_remembers(tmp_path: Path) -> None:
    source = as_csv(FRAME, tmp_path)
    release = ic.publish(read(source, exact_text=True), ic.KAnonymity(2))
    release.save(tmp_path / "out", spreadsheet_safe=True)  # a tab begins a formula
    recipe = ic.Recipe.load(tmp_path / "out" / "recipe.toml")
    assert recipe.source["exact_text"] is True
    assert len(values(recipe.table())) == 8
    assert ic.open_release(tmp_path / "out").form.tally.trees["s"].size == 8


def test_exact_text_is_a_truth_value() -> None:
    with pytest.raises(SourceError, match="exact_text"):
        read(FRAME, exact_text="yes")


def test_names_are_found_as_they_are_written_first() -> None:
    names = pl.Series(["HIV ", "HIV", "flu"])
    assert code_names(pl.Series(["HIV", "HIV ", " HIV", None, "x"]), names).tolist() == [2, 1, 1, 0, -1]


def test_other_kinds_of_columns_are_not_touched() -> None:
    assert TextRules().read(pl.Series([1, 2])).to_list() == [1, 2]
    assert plain(pl.Series([], dtype=pl.String)).to_list() == []
