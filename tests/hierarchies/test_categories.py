"""Category trees: dicts, files, and the real files of the Adult data set."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import HierarchyError, SchemaError, UncoveredValue
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.public import public_tree
from tests.any_text import any_text
from tests.hierarchies.grown import CHECKED

ADULT = ["age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"]

names = any_text(6).filter(lambda text: text != "*" and "\r" not in text and "\0" not in text)
shapes = st.recursive(
    st.lists(names, min_size=1, max_size=4), lambda below: st.dictionaries(names, below, min_size=1, max_size=3)
)


def made(tree: Any) -> Categories | None:
    """The categories of a random tree; None where it names a value twice, which is refused."""
    try:
        return Categories.from_tree(tree)
    except HierarchyError:
        return None


@CHECKED
@given(shapes)
def test_a_tree_reads_back(tree: Any) -> None:
    places = made(tree)
    if places is not None:
        assert Categories.from_tree(places.to_tree()) == Categories(tuple(places._walking_order()))


@settings(CHECKED, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shapes, st.sampled_from([";", ",", "\t"]))
def test_a_file_reads_back(tmp_path: Path, tree: Any, separator: str) -> None:
    places = made(tree)
    if places is not None:
        places.write_csv(tmp_path / "places.csv", separator=separator)
        assert Categories.read_csv(tmp_path / "places.csv", separator=separator) == places


@pytest.mark.parametrize("name", ADULT)
def test_the_adult_files_are_read_built_and_written_back(adult: Path, tmp_path: Path, name: str) -> None:
    file = adult / f"hierarchy_{name}.csv"
    with file.open(newline="", encoding="utf-8") as lines:
        rows = [tuple(row) for row in csv.reader(lines, delimiter=";")]
    hierarchy = Categories.read_csv(file)
    assert [(*row, "*") for row in hierarchy.rows] == rows
    hierarchy.write_csv(tmp_path / "again.csv")
    assert Categories.read_csv(tmp_path / "again.csv") == hierarchy
    tree, codes = hierarchy.build(name, pl.Series([row[0] for row in rows]))
    assert (tree.size, tree.height, tree.from_data) == (len(rows) + 1, len(rows[0]) - 1, False)
    for row, code in zip(rows, codes, strict=True):
        above = zip(tree.nodes[:, code], tree.names, strict=True)
        assert tuple(level_names[int(node)] for node, level_names in above) == row


@pytest.mark.parametrize("name", ADULT)
def test_the_adult_files_cover_the_adult_table(adult: Path, name: str) -> None:
    values = pl.read_csv(adult / "adult_with_missing.csv", columns=[name], infer_schema=False)[name].unique()
    _, codes = Categories.read_csv(adult / f"hierarchy_{name}.csv").build(name, values)
    assert sorted(codes.tolist()) == sorted({*codes.tolist()})  # one code each, missing is 0
    assert (codes == 0).sum() == values.null_count()


def test_branches_of_different_depth_repeat_their_last_group() -> None:
    places = Categories.from_tree({"Asia": ["Japan"], "Europe": {"South": ["Italy"], "North": ["Norway"]}})
    assert places.rows == (("Japan", "Asia", "Asia"), ("Italy", "South", "Europe"), ("Norway", "North", "Europe"))


def test_codes_follow_a_walk_through_the_tree() -> None:
    places = Categories((("Italy", "Europe"), ("Japan", "Asia"), ("Spain", "Europe")))
    tree, codes = places.build("country", pl.Series(["Japan", None, "Spain", "Italy"]))
    assert tree.names[0].to_list() == [None, "Italy", "Spain", "Japan"]
    assert codes.tolist() == [3, 0, 2, 1]


def test_values_that_are_not_text_are_spelled_as_in_the_table() -> None:
    answers = Categories.from_tree({"known": [True, False, 3.0, 4.5, 7]})
    assert [row[0] for row in answers.rows] == ["true", "false", "3", "4.5", "7"]
    assert answers.build("x", pl.Series([True, False]))[1].tolist() == [1, 2]
    assert answers.build("x", pl.Series([3.0, 4.5]))[1].tolist() == [3, 4]
    assert answers.build("x", pl.Series([7, None]))[1].tolist() == [5, 0]


def test_a_value_may_be_its_own_group_and_an_asterisk() -> None:
    tree, codes = Categories.from_tree({"Oceania": ["Oceania"], "signs": ["*"]}).build("x", pl.Series(["*", "Oceania"]))
    assert codes.tolist() == [2, 1]
    assert tree.names[1].to_list() == [None, "Oceania", "signs"]


def test_uncovered_values_are_listed_but_at_most_five() -> None:
    places = Categories.from_tree(["Italy"])
    with pytest.raises(UncoveredValue, match=r"7 distinct values not in its hierarchy\.") as caught:
        places.build("country", pl.Series([*"gfedcba", "Italy", None]))
    told = caught.value.describe(quote_values=True)
    assert "7 distinct values not in its hierarchy: 'a', 'b', 'c', 'd', 'e' and 2 more" in told


def test_values_taken_from_the_data_are_told_as_far_as_they_are_published() -> None:
    places = Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan"]}, taken_from="data")
    told = places.as_published(pl.Series(["Spain", "Italy"]))
    assert told == Categories.from_tree({"Europe": ["Italy", "Spain"]}, taken_from="release")
    assert places.as_published(pl.Series(["Spain", "Italy", "Japan"])) == places
    assert places.as_published(pl.Series([], dtype=pl.String)) == Flat()
    declared = Categories.from_tree(["Italy", "Spain"])
    assert declared.as_published(pl.Series(["Spain"])) == declared
    again = Categories.from_recipe(told.to_recipe(), Path())
    assert again == told
    tree, codes = again.build("country", pl.Series(["Laos", "Spain", None, "Japan"]))
    assert codes.tolist() == [4, 2, 0, 3]  # what it does not list is by itself, and no error
    assert tree.names[1].to_list() == [None, "Europe", "Japan", "Laos"]
    assert "Italy" not in repr(told) + repr(places) + places._repr_html_()


def test_values_taken_from_the_data_declare_no_domain() -> None:
    places = Categories.from_tree(["Italy", "Spain"], taken_from="data")
    with pytest.raises(SchemaError, match="'country': its values were taken from the data"):
        public_tree("country", places)
    with pytest.raises(HierarchyError, match="lists a value twice"):
        Categories.from_tree(["Italy", "Italy"], taken_from="data")
    with pytest.raises(HierarchyError, match="taken_from"):
        Categories.from_tree(["Italy"], taken_from="somewhere")  # type: ignore[arg-type]


def test_an_uncovered_value_can_be_told_without_its_name() -> None:
    with pytest.raises(UncoveredValue) as caught:
        Categories.from_tree(["Italy"]).build("country", pl.Series(["SECRET"]))
    assert "SECRET" not in caught.value.describe(quote_values=False)


def written(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "h.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_blank_lines_repeated_lines_and_a_byte_order_mark_say_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "Italy;Europe;*\n\nItaly;Europe;*\nJapan;Asia;*\n", "utf-8-sig")
    assert Categories.read_csv(path).rows == (("Italy", "Europe"), ("Japan", "Asia"))


def test_several_columns_of_asterisks_are_one_root(tmp_path: Path) -> None:
    path = written(tmp_path, "Italy;Europe;*;*\nJapan;Asia;*;*\n")
    assert Categories.read_csv(path).rows == (("Italy", "Europe"), ("Japan", "Asia"))


def test_a_file_without_a_root_is_taken_as_it_is(tmp_path: Path) -> None:
    assert Categories.read_csv(written(tmp_path, "Italy,Europe\nJapan,Asia\n"), separator=",").rows[1] == (
        "Japan",
        "Asia",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs at least one value"),
        ("Italy;Europe;*\nJapan;*\n", r"row 2 has 2 levels, the first has 3\.  Hint: is ';' the separator\?"),
        ("Italy;Europe;*\nItaly;Asia;*\n", "lists 'Italy' twice"),
    ],
)
def test_files_that_are_no_tree(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(HierarchyError, match=message) as caught:
        Categories.read_csv(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"nowhere\.csv cannot be read: No such file or directory\.$"):
        Categories.read_csv(tmp_path / "nowhere.csv")
    with pytest.raises(HierarchyError, match="cannot be read"):
        Categories.read_csv(written(tmp_path, "Zürich;CH;*\n", "latin-1"))
    with pytest.raises(HierarchyError, match="separator"):
        Categories.read_csv(written(tmp_path, "a;b\n"), separator=";;")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "at least one value"),
        ({"Europe": "Italy"}, "'Europe' holds neither"),
        ("Italy", "'Italy' holds neither"),
        ({"Europe": 5}, "'Europe' holds neither"),
        ({"Europe": ["Italy"], "Asia": ["Italy"]}, "lists 'Italy' twice"),
        (["Italy", None], "cannot hold a missing value"),
    ],
)
def test_trees_that_are_none(tree: Any, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Categories.from_tree(tree)


@pytest.mark.parametrize(
    "tree",
    [
        {"Europe": {"South": ["Italy"]}, "Asia": {"South": ["Nepal"]}},  # one name, two groups
        {"Italy": ["Italy", "Spain"]},  # one name, a value and a group
        {"*": ["Italy"], "Asia": ["Japan"]},  # the root's name
    ],
)
def test_names_that_mean_two_things_are_refused_when_built(tree: Any) -> None:
    with pytest.raises(HierarchyError, match="column 'country'"):
        Categories.from_tree(tree).build("country", pl.Series(["Italy"]))


@pytest.mark.parametrize("tree", [[[]], {"Europe": [["Italy"]]}, [{}], {"Europe": [b"Italy"]}])
def test_a_list_holds_values_and_nothing_else(tree: Any) -> None:
    with pytest.raises(HierarchyError, match="made of tables, and of lists of values"):
        Categories.from_tree(tree)


def test_a_row_holds_a_value() -> None:
    with pytest.raises(HierarchyError, match="needs a value in every row"):
        Categories(((),))
