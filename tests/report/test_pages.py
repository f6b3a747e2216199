"""Pages: every number is the JSON's, nothing becomes markup, nothing is asked for from outside."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pytest

from incrowd.auditing.audit import Audit, Skipped
from incrowd.errors import OutputError
from incrowd.report.html import element, table
from incrowd.report.numbers import number, percent
from tests.report.report_cases import ODD, Page, audits, comparison, numbers_of

FORMS = ["generalized", "weak", "bucketized", "sliced"]
SECTIONS = ["attacks", "promises", "crowds", "inside", "ladder", "columns", "pairs", "queries"]


def pages() -> dict[str, str]:
    return {**{name: audits()[name].to_html() for name in FORMS}, "comparison": comparison().to_html()}


@pytest.mark.parametrize("name", [*FORMS, "comparison"])
def test_every_number_on_the_page_is_in_its_json(name: str) -> None:
    page = Page(pages()[name])
    known = {repr(value) for value in numbers_of(page.data)}
    assert len(page.values()) > 20
    assert set(page.values()) <= known


@pytest.mark.parametrize("name", FORMS)
def test_the_json_of_the_page_is_the_audits(name: str) -> None:
    audit = audits()[name]
    assert Page(audit.to_html()).data == json.loads(audit.to_json()) == audit.to_dict()


def test_the_json_of_a_comparison_is_its_own() -> None:
    assert Page(comparison().to_html()).data == comparison().to_dict()


@pytest.mark.parametrize("name", [*FORMS, "comparison"])
def test_a_page_needs_nothing_else(name: str) -> None:
    text = pages()[name]
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert not re.search(r"https?://|//\w+\.\w", text)
    assert not re.search(r"url\(|@import", text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "link", "iframe", "object", "embed", "audio", "video", "base", "form", "input"}
    for tag, given in page.elements:
        assert "src" not in given
        assert not [key for key in given if key.startswith("on")], "a handler is script"
        assert str(given.get("href", "#")).startswith("#")
        if tag == "script":
            assert given["type"] == "application/json"
    policy = [given["content"] for _, given in page.elements if given.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert len(text.encode()) < 3_000_000


@pytest.mark.parametrize("name", [*FORMS, "comparison"])
def test_links_lead_somewhere(name: str) -> None:
    page = Page(pages()[name])
    keys = [given["id"] for _, given in page.elements if "id" in given]
    assert len(keys) == len(set(keys))
    assert {(given["href"] or "")[1:] for _, given in page.elements if "href" in given} <= set(keys)


@pytest.mark.parametrize("name", FORMS)
def test_names_that_look_like_markup_stay_names(name: str) -> None:
    text = pages()[name]
    page = Page(text)
    assert "<b " not in text
    assert "alert(1)</script>" not in text
    assert not [tag for tag, _ in page.elements if tag == "b"]
    assert any(ODD in part for part in page.text)


@pytest.mark.parametrize("name", FORMS)
def test_all_sections_are_there_with_their_three_sentences(name: str) -> None:
    page = Page(pages()[name])
    sections = [given["id"] for tag, given in page.elements if tag == "section"]
    assert [key for key in sections if key in SECTIONS] == SECTIONS
    for said in ("What it shows", "How to read it", "What to do about it"):
        assert page.text.count(said) == len(sections)
    assert "learning" in sections or name != "generalized"


def test_the_verdict_names_promise_attack_and_use() -> None:
    audit = audits()["generalized"]
    said = " ".join(Page(audit.to_html()).text)
    assert "5-anonymity: verified on what is published" in said
    assert audit.strongest is not None
    assert audit.strongest.says in said
    for threat, found in audit.threats.items():
        assert threat in said
        assert found["level"] in said


def test_the_recommendation_comes_first_and_says_once_that_it_is_no_law() -> None:
    for name in FORMS:
        audit = audits()[name]
        said = "".join(Page(audit.to_html()).text)
        assert said.index(audit.recommendation.sentence) < said.index("Guaranteed")
        assert said.count("not a legal determination") == 1
        assert list(audit.to_dict())[1] == "recommendation"


def test_plain_names_stand_beside_technical_ones() -> None:
    said = " ".join(Page(pages()["generalized"]).text)
    for risk in audits()["generalized"].attacks:
        assert risk.plain_name
        assert f"{risk.full_name} ({risk.plain_name})" in said
    for part in ("everybody looks like at least k − 1 others", "discernibility (how many rows look like each row"):
        assert part in said


def test_the_worst_columns_come_first() -> None:
    text = pages()["generalized"]
    section = text[text.index('id="columns"') :]
    listed = audits()["generalized"].usefulness["columns"]
    worst_first = sorted(listed, key=lambda column: -column["total variation"])
    places = [section.index(f"<h3>{escape(column['column'])}") for column in worst_first]
    assert places == sorted(places)


def test_an_audit_of_almost_nothing_is_a_page_too() -> None:
    nothing = Audit(
        about={
            "form": "generalized",
            "method": {"name": "another tool", "parameters": {}},
            "rows": {"published": 0},
            "columns": {"quasi-identifiers": [], "sensitive": [], "kept": [], "pseudonyms": []},
            "seeded": False,
        },
        guarantees=[],
        achieved={},
        attacks=(),
        skipped=(Skipped("usefulness", "the table before is needed"),),
        usefulness={},
        crowds={
            "sizes": {"number": 0, "smallest": 0, "median": 0.0, "largest": 0, "by size": {}},
            "risk by record": [],
            "worst groups": {},
        },
        ladder=[],
        warnings=["Look at this <i>."],
        settings={"fewest people told of": 5},
    )
    page = Page(nothing.to_html())
    said = " ".join(page.text)
    assert "Nothing is promised" in said
    assert "No attack did better than guessing." in said
    assert "Not measured: the table before is not known." in said
    assert "Look at this <i>." in said
    assert page.text.count("No attack of this kind could be tried.") == 3


def test_many_columns_stay_below_three_megabytes() -> None:
    """As many columns and pairs as an audit of any table lists at most, each with all of its bars."""
    audit = audits()["generalized"]
    column = max(audit.usefulness["columns"], key=lambda column: len(column["bars"]))
    bars = [{"value": f"from {10**9 + place} to {10**9 + place + 1}", "before": 0.123456789012345, "after": 0.1}
            for place in range(26)]  # fmt: skip
    columns = [{**column, "column": f"a column with a name, number {place}", "bars": bars} for place in range(100)]
    pairs = [{**audit.usefulness["pairs"][0], "one": f"one {place}", "two": f"two {place}"} for place in range(66)]
    data = {**audit.to_dict(), "usefulness": {**audit.usefulness, "columns": columns, "pairs": pairs}}
    from incrowd.report import page

    assert len(page(data).encode()) < 3_000_000


def test_saving_by_suffix(tmp_path: Path) -> None:
    audit = audits()["generalized"]
    assert audit.save(tmp_path / "deep" / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(audit.save(tmp_path / "a.JSON").read_text(encoding="utf-8")) == audit.to_dict()
    with pytest.raises(OutputError, match=r"\.html or \.json"):
        audit.save(tmp_path / "a.pdf")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        audit.save(tmp_path / "file" / "a.html")


def test_colours_belong_to_the_whole_page() -> None:
    style = "".join(re.findall(r"<style>(.*?)</style>", audits()["generalized"].to_html(), re.DOTALL))
    assert style.count(":root {") == 2  # light and dark
    assert style.count("{") == style.count("}")


def test_elements_are_escaped() -> None:
    assert element("p", "<&>", title='"', hidden=None) == '<p title="&quot;">&lt;&amp;&gt;</p>'
    assert element("br") == "<br>"
    assert '<td data-label="x&quot;">&lt;b&gt;</td>' in table(['x"'], [["<b>"]])


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.5, "50.0 %"), (0.0004, "0.040 %"), (0.9999, "99.990 %"), (1.5, "150.0 %")],
)
def test_shares_are_told_apart_from_none_and_all(share: float, text: str) -> None:
    assert percent(share) == text


def test_numbers_are_short() -> None:
    assert [number(value) for value in (0, 5.0, 1234567, 0.00012345, 12.3456)] == [
        "0", "5", "1,234,567", "0.000123", "12.3",
    ]  # fmt: skip
