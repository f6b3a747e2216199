"""Releases of other tools, from a table and a small description of its columns."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import IncrowdError, RecipeError, SchemaError, SourceError, UnreadableLabel
from incrowd.forms.reading.foreign_labels import standard_label, standard_labels
from incrowd.publishing.opening.description import Description
from incrowd.publishing.opening.open_release import open_release
from tests.auditing.audit_cases import plain, write

ORIGINAL = """\
name;age;town;ill
Ann;21;Aa;flu
Ben;25;Aa;cold
Cid;39;Bee;flu
Dot;44;Bee;flu
Eve;47;Cee;flu
Fay;58;Dee;flu
Gil;61;Dee;cold
Hal;79;Cee;cold
"""
PUBLISHED = """\
age;town;ill
[20, 40[;north;flu
[20, 40[;north;cold
[20, 40[;north;flu
40-59;*;flu
40-59;*;flu
40-59;*;flu
≥ 60;south;cold
≥ 60;south;cold
"""
DESCRIPTION = """\
[source]
separator = ";"
[columns]
age = "quasi"
ill = "sensitive"
[columns.town]
role = "quasi"
hierarchy = { kind = "categories", tree = { north = ["Aa", "Bee"], south = ["Cee", "Dee"] } }
[[models]]
name = "k-anonymity"
k = 2
[[models]]
name = "distinct-l-diversity"
l = 2
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "original.csv", ORIGINAL)
    write(tmp_path / "published.csv", PUBLISHED)
    write(tmp_path / "description.toml", DESCRIPTION)
    return tmp_path


def test_with_the_original_everything_is_measured(files: Path) -> None:
    release = open_release(
        files / "published.csv", description=files / "description.toml", original=files / "original.csv"
    )
    assert release.rows == 8
    assert release.withheld == 0
    assert sorted(release.form.group_sizes.tolist()) == [2, 3, 3]
    assert release.count({"age": (40, 59)}) == pytest.approx(3)
    assert release.count({"age": (20, 39), "ill": "flu"}) == pytest.approx(2)
    assert release.count({"town": "Cee"}) == pytest.approx(2 / 2 + 3 / 4)
    found = release.audit(learn=False)
    assert found.achieved["k"] == 2
    assert found.about["method"]["name"] == "another tool"
    assert found.verdict["guaranteed"] == ["2-anonymity: verified on what is published"]
    assert any(warning.startswith("Claimed, and not found: distinct 2-diversity") for warning in found.warnings)
    homogeneity = next(risk for risk in found.attacks if risk.attack == "homogeneity")
    assert homogeneity.value == pytest.approx(5 / 8)  # the three with flu, the two with a cold
    linkage = next(risk for risk in found.attacks if risk.attack == "linkage")
    assert linkage.value == pytest.approx(3 / 8)  # one right guess in each group
    assert [column["column"] for column in found.usefulness["columns"]] == ["age", "ill", "town"]


def test_with_an_external_table_only(files: Path) -> None:
    people = pl.DataFrame({"name": ["Ann", "Cid", "Gil"], "age": [21, 39, 61], "town": ["Aa", "Bee", "Dee"]})
    people.write_csv(files / "people.csv")
    release = open_release(
        files / "published.csv", description=files / "description.toml", external=files / "people.csv"
    )
    found = release.audit(external=files / "people.csv", learn=False)
    assert found.settings["external"] == "given"
    assert found.settings["original"] == "not given"
    assert found.usefulness == {}
    assert found.achieved["k"] == 2
    assert "external-linkage" in {risk.attack for risk in found.attacks} | {skipped.what for skipped in found.skipped}


def test_with_nothing_but_the_labels(files: Path) -> None:
    found = open_release(files / "published.csv", description=files / "description.toml").audit(learn=False)
    assert found.achieved["k"] == 2
    assert found.achieved["diversity of ill"]["distinct l"] == 1
    assert found.about["rows"] == {"published": 8}
    homogeneity = next(risk for risk in found.attacks if risk.attack == "homogeneity")
    assert homogeneity.value == pytest.approx(5 / 8)


def test_a_description_may_be_given_as_an_object(files: Path) -> None:
    described = Description.load(files / "description.toml")
    audits = [
        plain(
            open_release(files / "published.csv", description=given, original=files / "original.csv").audit(),
            without=["published"],  # an object has no text to show
        )
        for given in (described, files / "description.toml")
    ]
    assert audits[0] == audits[1]


@pytest.mark.parametrize(
    ("theirs", "written"),
    [
        ("[20, 40[", "[20, 40)"),
        ("[20,40[", "[20, 40)"),
        ("[20;40]", "[20, 40]"),
        ("[-5, -1)", "[-5, -1)"),
        ("20..39", "[20, 39]"),
        ("1.5...2.5", "[1.5, 2.5]"),
        ("≥ 65", ">=65"),
        (">=65", ">=65"),
        ("< 18", "<18"),
        ("*", "*"),
        ("20-39", "20-39"),  # read as it is
        ("34", "34"),
        ("", ""),
    ],
)
def test_ranges_of_other_tools(theirs: str, written: str) -> None:
    assert standard_label(theirs) == written


def test_a_label_that_says_nothing_is_refused_by_column(files: Path) -> None:
    write(files / "published.csv", PUBLISHED.replace("≥ 60;south", "old;south"))
    with pytest.raises(UnreadableLabel, match="age"):
        open_release(files / "published.csv", description=files / "description.toml", original=files / "original.csv")


def test_a_missing_column_is_named(files: Path) -> None:
    write(files / "published.csv", PUBLISHED.replace("town", "city"))
    with pytest.raises(SchemaError, match="the published table has no column 'town'"):
        open_release(files / "published.csv", description=files / "description.toml")
    write(files / "published.csv", PUBLISHED)
    write(files / "original.csv", ORIGINAL.replace("town", "city"))
    with pytest.raises(SchemaError, match="the original has no column 'town'"):
        open_release(files / "published.csv", description=files / "description.toml", original=files / "original.csv")


def test_errors_say_what_to_do(files: Path) -> None:
    with pytest.raises(SchemaError, match=r"does not say what its columns are.*description="):
        open_release(files / "published.csv")
    with pytest.raises(RecipeError, match="cannot be read"):
        open_release(files / "published.csv", description=files / "nowhere.toml")
    with pytest.raises(RecipeError, match="is not TOML"):
        open_release(files / "published.csv", description=write(files / "bad.toml", "[columns"))
    with pytest.raises(RecipeError, match="the columns are not described"):
        open_release(files / "published.csv", description=write(files / "empty.toml", ""))
    with pytest.raises(RecipeError, match="no column is a quasi-identifier"):
        open_release(files / "published.csv", description=write(files / "no.toml", '[columns]\nill = "sensitive"\n'))
    with pytest.raises(IncrowdError):
        open_release(files / "published.csv", description=write(files / "odd.toml", '[columns]\nage = "secret"\n'))
    (files / "folder").mkdir()
    with pytest.raises(SourceError, match="holds no release"):
        open_release(files / "folder", description=files / "description.toml")
    with pytest.raises(IncrowdError):
        open_release(files / "nowhere.csv", description=files / "description.toml")
    write(files / "published.csv", "age;town;ill\n")
    with pytest.raises(IncrowdError, match="no rows"):
        open_release(files / "published.csv", description=files / "description.toml")


def test_no_error_quotes_a_row(files: Path) -> None:
    write(files / "original.csv", ORIGINAL.replace("Bee", "Zzz"))
    with pytest.raises(IncrowdError) as caught:
        open_release(files / "published.csv", description=files / "description.toml", original=files / "original.csv")
    assert "Dot" not in str(caught.value)


def test_sets_that_are_no_neighbours_are_widened_and_said(files: Path) -> None:
    write(files / "published.csv", PUBLISHED.replace("*", "{Aa, Dee}"))
    release = open_release(
        files / "published.csv", description=files / "description.toml", original=files / "original.csv"
    )
    assert any("no neighbours" in warning and "town" in warning for warning in release.warnings)


def test_open_ranges_of_other_tools_are_read_by_the_values_there_are() -> None:
    tree, _ = ic.Intervals(widths=(10,)).build("age", pl.Series([10, 17, 18, 64, 65, 80]))
    labels = pl.Series(["65+", "> 64", "<= 17", "≤17", ">17", "<=80", ">80", "*"])
    assert standard_labels(tree, labels).to_list() == [">=65", ">=65", "<18", "<18", ">=18", ">=10", ">80", "*"]
