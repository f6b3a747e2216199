"""From file to release in a real browser, by what is seen: with the mouse on Adult, and with the keyboard alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl
import pytest

import incrowd as ic
from tests.cli.command import incrowd
from tests.studio.driven import Chromium, Page
from tests.studio.page_fixtures import studio
from tests.studio.running import running

SIZES = ((360, True), (1280, True), (800, False), (1600, False))
"""Widths, and whether it is dark: light and dark differ in no width, so each width is looked at in one of them."""
_WIDER = """
(() => {
  const wide = document.documentElement.clientWidth;
  const scrolled = (it) => it.closest(".scroll, pre, .tip");
  return [...document.querySelectorAll("body *:not(svg *)")].filter((it) => {
    const box = it.getBoundingClientRect();
    if (!box.width || it.closest(".visually-hidden, .skip") || scrolled(it)) return false;
    return box.right > wide + 1 || box.left < -1;
  }).map((it) => `${it.tagName}.${it.className} ${it.textContent.slice(0, 40)}`);
})()
"""
_UNNAMED = """
[...document.querySelectorAll("button, a[href], input, select, [role=slider], [role=button]")]
  .filter((it) => it.checkVisibility())
  .filter((it) => !(it.ariaLabel || it.textContent.trim() || it.labels?.length || it.title)).map((it) => it.outerHTML)
"""


class Looked:
    """Checks at each size that nothing sticks out; saves pictures where INCROWD_PICTURES is set."""

    def __init__(self, folder: Path, page: Page) -> None:
        self.folder, self.page = folder, page

    def at(self, name: str) -> None:
        for width, dark in SIZES:
            self.page.look(width, dark=dark)
            assert self.page.run(_WIDER) == [], f"{name}: wider than a window of {width}"
            if os.environ.get("INCROWD_PICTURES"):  # to be looked at by a person; they take most of the time
                self.page.picture(self.folder / f"{name}-{width}{'-dark' if dark else ''}.png")
        self.page.look(1280)
        assert self.page.run(_UNNAMED) == [], f"{name}: what has no name for a screen reader"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


def people(path: Path, rows: int = 400) -> Path:
    """Write a small census."""
    ic.datasets.census(rows, seed=3).drop("race", "birth_place", "occupation").write_csv(path)
    return path


def lines(path: Path) -> list[str]:
    return sorted(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.adult
@pytest.mark.slow
def test_adult_from_file_to_release(driven: Chromium, adult: Path, tmp_path: Path, pictures: Path) -> None:
    began = time.monotonic()
    table = tmp_path / "adult.csv"
    rows = pl.read_csv(adult / "adult.csv")
    whole = bool(os.environ.get("INCROWD_WHOLE_ADULT"))  # that takes minutes; the screens are the same
    if not whole:
        rows = rows.head(500).select("age", "workclass", "education", "marital-status", "occupation", "sex", "income")
    rows.write_csv(table)
    with studio("--folder", str(tmp_path), home=tmp_path) as address:
        page = driven.page(address)
        looked = Looked(pictures, page)

        page.node("button", table.name)
        looked.at("0-before-a-table")
        page.click("button", table.name)
        page.sees("Is this your table?")
        page.sees("First rows")
        looked.at("1-open")
        page.click("button", "Next: Roles")

        page.sees("of the rows stand alone")
        page.choose("Role of occupation", "Secret")
        page.sees("occupation: Secret: protect it")  # the step, in the history of the recipe
        looked.at("2-roles")
        page.click("button", "Next: Hierarchies")

        page.click("tab", "age")
        before = page.property(page.node("slider", "Cut 1"), "ariaValueNow")
        page.drag("slider", "Cut 1", -12)
        page.until(lambda: page.property(page.node("slider", "Cut 1"), "ariaValueNow") != before, "the cut has moved")
        page.sees("Level by level")
        looked.at("3-hierarchies-age")
        page.click("tab", "workclass")
        page.click("checkbox", "Tick Private")
        page.click("checkbox", "Tick State-gov")
        page.write("textbox", "called", "Other work")
        page.click("button", "Move 2 items")
        page.node("textbox", "Name of group Other work")
        looked.at("3-hierarchies-workclass")
        page.click("button", "Undo")
        page.until(lambda: not page.is_there("textbox", "Name of group Other work"), "the group is gone")
        page.click("button", "Next: Try")

        page.click("button", "Try it")
        if whole:
            page.sees("on a sample")  # of few rows the exact numbers may follow before anybody has looked
        page.sees("exact, all rows")
        page.sees("guaranteed")
        page.click("button", "Why row 1?")
        page.sees("Why does this row look like that?")
        looked.at("4-try")
        page.click("button", "Next: Compare")

        page.click("button", "Compare")
        page.node("button", "Compare again", seconds=280)
        page.until(lambda: any(name.startswith("Use ") for name, _ in page.found("button")), "there are ways to choose")
        looked.at("5-compare")
        page.click("button", "Next: Attack")

        page.click("button", "Attack it")
        page.sees("Who is most exposed?", 280)
        looked.at("6-attack")
        page.click("button", "Next: Publish")

        page.click("button", "Publish")
        page.sees("Published.")
        looked.at("7-publish")
        recipe = page.run("document.querySelector('#recipe-text').textContent")
        assert page.wrong == []
        assert {urlsplit(url).netloc for url in page.asked if url.startswith("http")} == {urlsplit(address).netloc}
        page.close()
    assert not whole or time.monotonic() - began < 300, "a person is through in five minutes"

    # The files are those of the command line for the recipe that the studio shows.
    (tmp_path / "shown.recipe.toml").write_text(recipe, encoding="utf-8")
    done = incrowd("publish", tmp_path / "shown.recipe.toml", "-o", tmp_path / "again")
    assert done.code == 0, done.err
    assert lines(tmp_path / "adult-release" / "data.csv") == lines(tmp_path / "again" / "data.csv")


@pytest.fixture
def opened(driven: Chromium, tmp_path: Path) -> Iterator[Page]:
    """The page of a studio that is in no process of its own, with one table to open."""
    people(tmp_path / "people.csv")
    with running(tmp_path) as one:
        page = driven.page(one.access.new_link())
        yield page
        page.close()


def test_with_the_keyboard_alone(opened: Page, tmp_path: Path) -> None:
    page = opened

    def enter(role: str, name: str) -> None:
        page.tab_to(role, name)
        page.press("Enter")

    enter("button", "people.csv")
    page.sees("First rows")
    page.until(lambda: not page.property(page.node("button", "Next: Roles"), "disabled"), "it can go on")
    enter("button", "Next: Roles")
    page.sees("of the rows stand alone")
    page.tab_to("combobox", "Role of salary")
    page.arrow_to("Harmless")
    page.arrow_to("Secret")
    page.until(lambda: page.property(page.node("combobox", "Role of salary"), "value") == "sensitive", "it is secret")
    enter("button", "Next: Hierarchies")
    enter("tab", "age")
    page.tab_to("slider", "Cut 1")
    before = float(page.property(page.node("slider", "Cut 1"), "ariaValueNow"))
    page.press("ArrowRight")
    page.until(lambda: float(page.property(page.node("slider", "Cut 1"), "ariaValueNow")) > before, "the cut has moved")
    enter("button", "Next: Try")
    enter("button", "Try it")
    page.sees("exact, all rows")
    enter("button", "Why row 1?")
    page.sees("Why does this row look like that?")
    enter("button", "Next: Compare")
    enter("button", "Next: Attack")
    enter("button", "Next: Publish")
    enter("button", "Publish")
    page.sees("Published.")
    assert (tmp_path / "people-release" / "data.csv").exists()
    assert page.wrong == []


def role(page: Page) -> str:
    """Return the role of one of the columns, as the page shows it."""
    return str(page.property(page.node("combobox", "Role of marital"), "value"))


def test_a_reload_and_a_second_tab_lose_nothing(driven: Chromium, opened: Page) -> None:
    page = opened
    page.click("button", "people.csv")
    page.sees("First rows")
    page.click("button", "Next: Roles")
    page.sees("of the rows stand alone")
    page.choose("Role of marital", "Not")
    page.sees("marital: Not needed")
    address = page.run("location.href")
    second = driven.page(address)
    second.sees("of the rows stand alone")
    assert role(second) == "drop"
    second.choose("Role of marital", "Harmless")
    second.until(lambda: role(second) == "keep", "it is kept")
    page.front()
    page.until(lambda: role(page) == "keep", "the other tab is told")
    second.close()
    page.go(address)
    page.sees("of the rows stand alone")
    assert role(page) == "keep"
    page.click("button", "Undo")
    page.until(lambda: role(page) == "drop", "it is undone")
    assert page.wrong == []


def test_what_is_wrong_would_be_seen(driven: Chromium, tmp_path: Path) -> None:
    """A page with a script in it that the policy refuses, and one that fails."""
    page = tmp_path / "wrong.html"
    page.write_text(
        '<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src \'unsafe-inline\'; style-src '
        "'none'\"><p style='color: red'>x</p><script>throw Error('planted')</script>",
        encoding="utf-8",
    )
    opened = driven.page(page.as_uri())
    opened.sees("x")
    opened.until(lambda: len(opened.wrong) >= 2, "both are noted", 5)
    assert any("planted" in text for text in opened.wrong)
    assert any("Content Security Policy" in text for text in opened.wrong)
    opened.close()
