"""Further walks in a real browser: files that are dropped, databases, rules, changes, and what goes wrong on the way.

One studio and one browser serve most of them; each opens a table of its own.
"""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from tests.short_files import KEEPS_NOTHING
from tests.studio.driven import Chromium, Page
from tests.studio.page_fixtures import Started
from tests.studio.running import running

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="limits of another process are set as Linux does")


def census(path: Path, rows: int = 300) -> Path:
    """Write people, unless another walk did: a file that is open stays as it is."""
    if not path.exists():
        ic.datasets.census(rows, seed=3).select("age", "sex", "marital", "occupation", "salary").write_csv(path)
    return path


def visits(path: Path) -> Path:
    """Write a table with people who come several times, and dates."""
    people = ic.datasets.census(80, seed=4).with_row_index("patient_id", 1000)
    twice = pl.concat([people, people]).with_columns(
        visit_date=pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()) * 2)
    )
    twice.select("patient_id", "visit_date", "age", "sex", "occupation", "salary").write_csv(path)
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def tab(driven: Chromium, folder: Path, home: Path) -> Iterator[Page]:
    """The one tab that most walks share."""
    with running(folder, store=home) as studio:
        page = driven.page(studio.access.new_link())
        yield page
        page.close()


@pytest.fixture
def opening(tab: Page) -> Iterator[Callable[[str], Page]]:
    """Open a table of the folder by its name, and look for faults at the end."""

    def opened(name: str) -> Page:
        tab.go("/".join(str(tab.run("location.href")).split("/")[:5]) + "/")
        choose_another(tab)
        tab.click("button", name)
        tab.until(lambda: f'path = "{name}"' in recipe(tab), f"{name} is open")
        tab.sees("First rows")
        return tab

    yield opened
    assert tab.wrong == []


def choose_another(page: Page) -> None:
    """Go where tables are chosen, whatever is open."""
    page.until(lambda: any(text in page.text() for text in ("Open another table", "Drop a file here")), "it is drawn")
    if page.is_there("button", "Open another table"):
        page.click("button", "Open another table")


def recipe(page: Page) -> str:
    """Return the recipe that the page shows, if there is one."""
    return str(page.run("document.querySelector('#recipe-text')?.textContent ?? ''"))


def until_recipe_has(page: Page, text: str) -> None:
    page.until(lambda: text in recipe(page), f"the recipe has {text}")


def test_a_dropped_file_is_published_as_a_download(tab: Page, folder: Path, tmp_path: Path) -> None:
    census(folder / "there.csv")
    dropped = census(tmp_path / "dropped.csv")
    tab.drop(dropped, "Drop a file here")
    tab.sees("Is this your table?")
    tab.sees("First rows")
    tab.click("button", "Next: Roles")
    tab.sees("of the rows stand alone")
    tab.click("link", "Publish")
    tab.sees("you download them")
    tab.click("button", "Publish")
    tab.sees("Published.")
    tab.click("button", "Make the evidence")
    tab.node("link", "Open the evidence", seconds=120)
    tab.sees("for the person who signs")
    page = tab.property(tab.node("link", "Open the evidence"), "href")
    assert "Evidence" in tab.run(f"fetch({page!r}).then((answer) => answer.text())")
    assert tab.wrong == []


def test_a_query_of_a_database(tab: Page, folder: Path) -> None:
    with sqlite3.connect(folder / "clinic.db") as link:
        link.execute("CREATE TABLE patients (age INTEGER, sex TEXT, diagnosis TEXT)")
        rows = [(20 + place % 50, "FM"[place % 2], ["flu", "gout", "asthma"][place % 3]) for place in range(120)]
        link.executemany("INSERT INTO patients VALUES (?, ?, ?)", rows)
    tab.click("link", "Open")
    choose_another(tab)
    tab.unfold("A database")
    tab.write("textbox", "Address", f"sqlite:///{folder / 'clinic.db'}")
    tab.write("textbox", "Query", "SELECT age, sex, diagnosis FROM patients WHERE age < 60")
    tab.click("button", "Open the query")
    tab.until(lambda: "SELECT age" in recipe(tab), "the recipe has the query")
    tab.sees("First rows, 3 columns")
    tab.unfold("Another browser, or forget this table")
    tab.click("button", "Make a link for another browser")
    tab.sees("/?token=")
    tab.click("button", "Next: Roles")
    tab.sees("of the rows stand alone")
    tab.click("link", "Open")
    tab.unfold("Another browser, or forget this table")
    tab.click("button", "Forget clinic.db")
    tab.until(lambda: "SELECT age" not in recipe(tab) and "clinic.db" not in tab.text(), "the table is forgotten")
    assert tab.wrong == []


def test_a_hierarchys_file_is_checked_before_it_replaces(
    opening: Callable[[str], Page], folder: Path, tmp_path: Path
) -> None:
    table = census(folder / "people.csv")
    page = opening(table.name)
    page.click("link", "Hierarchies")
    page.click("tab", "marital")
    page.sees("Level by level")
    before = recipe(page)
    values = pl.read_csv(table)["marital"].unique().sort().to_list()
    (tmp_path / "lacking.csv").write_text("".join(f"{value};some;*\n" for value in values[1:]), encoding="utf-8")
    (tmp_path / "whole.csv").write_text("".join(f"{value};any state;*\n" for value in values), encoding="utf-8")
    page.unfold("Import or export")
    page.hand_over("Import a CSV file", tmp_path / "lacking.csv")
    page.sees("It cannot be used. The old hierarchy stays.")
    page.sees(f"lacks 1 value of this column: {values[0]}")
    assert not page.is_there("button", "Use the file")
    assert recipe(page) == before
    page.click("button", "Keep the old one")
    page.hand_over("Import a CSV file", tmp_path / "whole.csv")
    page.sees("The old hierarchy is still in use.")
    assert recipe(page) == before
    page.click("button", "Use the file")
    until_recipe_has(page, "any state")
    page.click("button", "Undo")
    page.until(lambda: recipe(page) == before, "the import is undone")


def test_changes_dates_people_and_rules(opening: Callable[[str], Page], folder: Path) -> None:
    page = opening(visits(folder / "visits.csv").name)
    page.click("button", "Next: Roles")
    page.sees("of the rows stand alone")
    page.click("radio", "The column patient_id tells whose a row is")
    until_recipe_has(page, 'role = "person"')
    page.choose("Role of salary", "Secret")
    page.unfold("Change it before it is published")
    page.choose("Change salary by", "rounding")
    until_recipe_has(page, 'name = "rounding"')
    page.write("spinbutton", "to", "5000")
    until_recipe_has(page, "to = 5000")
    page.choose("Change salary by", "top-coding")
    page.sees("Still to do:")  # it lacks its threshold, and says so
    page.write("spinbutton", "above", "90000")
    until_recipe_has(page, "above = 90000")
    page.until(lambda: "Still to do:" not in page.text(), "the recipe can be run")
    page.choose("Role of visit_date", "date")
    until_recipe_has(page, 'kind = "truncate"')
    page.choose("Dates of visit_date", "shift")
    until_recipe_has(page, "most_days = 60")
    page.write("spinbutton", "most days", "30")
    until_recipe_has(page, "most_days = 30")
    page.choose("What crowds show of age", "the mean of the people")
    until_recipe_has(page, 'show = "mean"')
    page.click("button", "Remove top-coding")
    page.until(lambda: "top-coding" not in recipe(page), "the change is gone")
    before = recipe(page)
    page.unfold("Must it follow a rule?")
    page.choose("Rule", "EMA")
    page.sees("What it does not establish")
    assert recipe(page) == before
    page.click("button", "Use this rule")
    until_recipe_has(page, 'kind = "since-first"')
    until_recipe_has(page, 'name = "prosecutor-risk"')
    page.sees("in use")
    page.click("button", "Undo")
    page.until(lambda: recipe(page) == before, "the rule is undone in one step")


def test_forms_samples_and_the_tiles_of_a_search(opening: Callable[[str], Page], folder: Path) -> None:
    page = opening(census(folder / "people.csv").name)
    page.click("link", "Try")
    page.unfold("How it is shown, and how much of it")
    page.choose("Crowds are shown", "multisets")
    until_recipe_has(page, "multisets")
    page.choose("Crowds are shown", "as the method")
    page.until(lambda: "multisets" not in recipe(page), "the form is the method's own")
    page.write("spinbutton", "sample", "0.9")
    until_recipe_has(page, "sample = 0.9")
    page.write("spinbutton", "sample", "")
    page.until(lambda: "sample" not in recipe(page), "all rows are published")
    page.choose("Method", "full-domain")
    until_recipe_has(page, 'name = "full-domain"')
    page.write("spinbutton", "max withheld", "0.2")
    until_recipe_has(page, "max_withheld = 0.2")
    page.click("button", "Try it")
    page.sees("exact, all rows")
    page.click("link", "Compare")
    page.sees("solutions that the search looked at")
    page.click("button", "Tiles")
    tiles = [name for name, _ in page.found("button") if ": loss " in name]
    assert len(tiles) > 3
    page.click("button", tiles[1])
    page.until(lambda: page.property(page.node("button", tiles[1]), "ariaPressed") == "true", "the tile is in use")
    until_recipe_has(page, "levels")
    page.click("button", "Undo")
    page.until(lambda: "levels" not in recipe(page), "the search decides again")


def test_long_work_is_called_off(opening: Callable[[str], Page], folder: Path) -> None:
    page = opening(census(folder / "long.csv", 3000).name)
    page.click("link", "Compare")
    page.click("button", "Compare")
    page.click("button", "Cancel")
    page.sees("Stopped. Nothing was changed.")
    page.click("link", "Attack")
    page.click("button", "Attack it")
    page.sees("so far", 120)  # attacks are seen one by one, while others are still tried
    assert page.is_there("button", "Cancel")
    page.click("button", "Cancel")
    page.sees("Stopped. Nothing was changed.")
    assert not list(folder.glob("long-release*"))


def test_a_studio_that_was_killed_and_a_full_disk(driven: Chromium, tmp_path: Path) -> None:
    table = census(tmp_path / "people.csv", 200)
    started = Started(str(table), home=tmp_path)
    page = driven.page(started.address)

    def role() -> str:
        return str(page.property(page.node("combobox", "Role of marital"), "value"))

    try:
        page.sees("First rows")
        page.click("button", "Next: Roles")
        page.sees("of the rows stand alone")
        page.choose("Role of marital", "Not needed")
        page.until(lambda: role() == "drop", "it is dropped")
        until_recipe_has(page, 'role = "drop"')
        place = str(page.run("location.pathname")).partition("/project/")[2]
        assert place

        processes = started.processes()
        assert len(processes) >= 2
        started.kill()
        page.sees("Not connected.")
        page.until(lambda: not any(path.exists() for path in processes), "nothing runs on without it", 10)
        started = Started(str(table), home=tmp_path, port=started.port, environment=KEEPS_NOTHING)
        page.sees("The studio was started again.")
        second = driven.page(started.address)  # the new link, in the same browser
        page.front()
        page.until(lambda: "The studio was started again." not in page.text(), "it goes on")
        page.sees("of the rows stand alone")
        assert role() == "drop"
        assert str(page.run("location.pathname")).partition("/project/")[2] == place
        assert 'role = "drop"' in recipe(page)
        page.click("button", "Undo")
        page.until(lambda: role() == "quasi", "the history goes on")
        page.until(lambda: 'role = "drop"' not in recipe(page), "the recipe is the one before")
        second.close()

        (stored,) = (tmp_path / "state").rglob("*.jsonl")
        _, hard = resource.prlimit(started.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(started.process.pid, resource.RLIMIT_FSIZE, (stored.stat().st_size, hard))
        kept = recipe(page)
        page.choose("Role of marital", "Harmless")
        page.sees("This did not work.")
        page.until(lambda: role() == "quasi", "nothing has changed")
        assert recipe(page) == kept
        page.click("link", "Publish")
        page.click("button", "Publish")
        page.sees("This did not work.")
        assert [path.name for path in tmp_path.iterdir() if "release" in path.name] == []
        resource.prlimit(started.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        page.click("link", "Roles")
        page.choose("Role of marital", "Harmless")
        page.until(lambda: role() == "keep", "it goes on")
        page.close()
        started.process.send_signal(signal.SIGINT)
        rest, _ = started.process.communicate(timeout=20)
        assert started.process.returncode == 0
        assert rest.removeprefix("The link works once. End with Ctrl-C.\n") == "The studio is closed.\n"
    finally:
        started.end()
