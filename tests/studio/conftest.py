"""One studio with one table for all tests that change nothing for the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incrowd as ic
from tests.studio.page_fixtures import chromium_program, driven, javascript_tools  # noqa: F401 (fixtures)
from tests.studio.running import Browser, Running, running

pytest.importorskip("starlette")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in a folder of its own."""
    path = tmp_path_factory.mktemp("studio") / "people.csv"
    ic.datasets.census(600, seed=3).write_csv(path)
    return path


@pytest.fixture(scope="session")
def studio(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running studio."""
    with running(table.parent, store=tmp_path_factory.mktemp("state")) as one:
        yield one


@pytest.fixture(scope="session")
def browser(studio: Running) -> Browser:
    """A browser that has opened the link."""
    return studio.browser()


@pytest.fixture(scope="session")
def project(browser: Browser, table: Path) -> dict[str, Any]:
    """The table, opened."""
    return browser.open(table)
