"""What a notebook shows of tables, hierarchies, releases, audits and comparisons."""

from __future__ import annotations

import re

import polars as pl
import pytest

import incrowd as ic
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Flat
from tests.report.report_cases import ODD, Page, audits, comparison

PEOPLE = pl.DataFrame(
    {
        "name": [f"person-{place}" for place in range(60)],
        ODD: [place % 7 + 20 for place in range(60)],
        "town": ["Aa", "Bee", "Cee"] * 20,
        "ill": ["flu", "cold"] * 30,
        "note": ["x"] * 60,
    }
)


def opened() -> ic.Table:
    return ic.read(
        PEOPLE,
        quasi=[ODD, "town"],
        sensitive=["ill"],
        identifiers=["name"],
        keep=["note"],
        hierarchies={"town": ic.Categories.from_tree({"north": ["Aa", "Bee"], "south": ["Cee"]})},
    )


def text(shown: object) -> str:
    page = Page(shown._repr_html_())  # type: ignore[attr-defined]
    return " ".join(part for part in page.text if "{" not in part)


def test_a_table_shows_roles_and_no_row() -> None:
    said = text(opened())
    for part in (ODD, "quasi-identifier", "sensitive", "categories", "automatic", "removed", "kept"):
        assert part in said
    assert "person-" not in said
    assert "flu" not in said


@pytest.mark.parametrize(
    ("models", "method"),
    [(ic.KAnonymity(5), ic.Mondrian()), (ic.ProbabilisticLDiversity(2), ic.Anatomy())],
    ids=["generalized", "bucketized"],
)
def test_a_release_shows_promises_sizes_and_its_first_rows(models: ic.Model, method: ic.Method) -> None:
    table = ic.read(PEOPLE, quasi=[ODD, "town"], sensitive=["ill"], others="drop")
    release = ic.publish(table, models, method=method, seed=0)
    page = Page(release._repr_html_())
    said = " ".join(page.text)
    assert str(models) in said
    assert "60 rows in" in said
    assert "0 rows withheld" in said
    assert len([tag for tag, _ in page.elements if tag == "tr"]) == 6
    first = next(release.batches()).head(5)
    for name in first.columns:
        assert name in said
        for value in first[name].cast(pl.String):
            assert value is None or value in said
    assert "person-" not in said


def test_warnings_of_a_release_are_shown() -> None:
    release = ic.publish(opened(), ic.KAnonymity(5), seed=0)
    assert "outside of every guarantee: note" in text(release)


def test_categories_show_their_first_nodes_as_nested_lists() -> None:
    places = ic.Categories.from_tree({f"part {p}": [f"town {p}.{t}" for t in range(30)] for p in range(20)})
    page = Page(places._repr_html_())
    said = " ".join(page.text)
    assert "600 values" in said
    assert "part 0" in said
    assert "town 0.0" in said
    assert "town 0.29" not in said
    assert said.count("… 18 more") == 12
    assert "… 8 more" in said
    assert [tag for tag, _ in page.elements].count("ul") == 13


def test_a_tree_shows_no_value_that_came_from_the_table() -> None:
    ages = pl.Series([20, 21, 37, 44, None])
    tree = Automatic().build("age", ages)[0]
    said = text(tree)
    assert "4 values (number)" in said
    assert tree.names[tree.height - 1][1] in said
    assert "town" not in text(Flat().build("town", pl.Series(["town 1", "town 2"]))[0])


def test_audits_and_comparisons_show_their_verdicts() -> None:
    said = text(audits()["generalized"])
    assert "Strongest attack that got through" in said
    assert "Risk against loss" in text(comparison())


def test_a_notebook_keeps_its_own_look() -> None:
    for shown in (opened(), audits()["generalized"], comparison()):
        (style,) = re.findall(r"<style>(.*?)</style>", shown._repr_html_(), re.DOTALL)
        rules = re.sub(r"@media[^{]*\{", "", style)
        for selectors in re.findall(r"([^{}]+)\{", rules):
            assert all(selector.strip().startswith(".incrowd") for selector in selectors.split(",")), selectors


def test_looking_changes_nothing() -> None:
    release = ic.publish(opened(), ic.KAnonymity(5), seed=0)
    before = release.to_polars()
    assert release._repr_html_() == release._repr_html_()
    assert release.to_polars().equals(before)
