"""The page's own files: small, without anything from elsewhere, linted and type-checked."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from incrowd.studio.catalogue import catalogue
from incrowd.studio.first_paint import STEPS, first_paint
from tests.report.report_cases import Page

STATIC = Path(__file__).resolve().parents[2] / "src" / "incrowd" / "studio" / "static"
SCRIPTS = sorted(STATIC.rglob("*.js"))
WORDS = STATIC / "words.json"
PROJECT: dict[str, Any] = {
    "id": "5f0c", "name": "pay <b>.csv", "state": "ready", "recipe": {},
    "text": {"toml": 'incrowd = 1\n[columns]\n"a<script>" = "quasi"\n', "python": "", "command": ""},
}  # fmt: skip


def state(project: dict[str, Any] | None, screen: str = "") -> dict[str, Any]:
    return {"name": "incrowd studio", "screen": screen, "projects": [], "folders": [], "current": project}


def test_small_enough_to_read() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SCRIPTS)
    assert 1000 < lines < 3000
    assert max(len(line) for path in SCRIPTS for line in path.read_text(encoding="utf-8").splitlines()) <= 140
    assert sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) < 300_000


def test_nothing_from_elsewhere() -> None:
    """No address but those of this server, and nothing that a strict policy refuses."""
    for path in [*SCRIPTS, *STATIC.rglob("*.css"), *STATIC.rglob("*.html")]:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|url\(", text), path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|localStorage", text), (
            path.name
        )
        if path.suffix == ".html":
            assert not re.search(r"<style|style=|onclick=|<script(?![^>]*src=)", text)


def test_every_import_is_there() -> None:
    for path in SCRIPTS:
        for name in re.findall(r'(?:from|import) "([^"]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / name).resolve() in [*SCRIPTS, WORDS], f"{path.name}: {name}"


def test_words_are_short_and_used() -> None:
    """Each explanation is a few plain sentences, and something in the page asks for it, or a role or a model does."""
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    text = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    of_parts = {part["name"] for family in ("roles", "models") for part in catalogue()[family]}
    for word, meaning in words.items():
        assert f'"{word}"' in text or word in of_parts, word
        assert len(meaning) < 240, word
        assert meaning.endswith("."), word


def test_no_list_of_parts() -> None:
    """What a recipe may name comes from the catalogue, so that a plugin's parts are in the page like all others."""
    text = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    for family in ("models", "methods", "forms", "dates", "changes", "attacks", "rules"):
        named = [part["name"] for part in catalogue()[family] if re.search(rf'"{part["name"]}"', text)]
        assert not named, (family, named)


def test_types_are_right(javascript_tools: Path) -> None:
    command = [javascript_tools / "tsc", "--project", Path(__file__).with_name("tsconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_wrong_type_is_found(javascript_tools: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.js"
    wrong.write_text('/** @param {number} x */\nfunction f(x) { return x; }\nf("a");\n', encoding="utf-8")
    options = ["--allowJs", "--checkJs", "--noEmit", "--strict", "--ignoreConfig"]
    done = subprocess.run([javascript_tools / "tsc", *options, wrong], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "not assignable" in done.stdout


def test_linted(javascript_tools: Path) -> None:
    options = ["--deny-warnings", "--config", Path(__file__).with_name("oxlint.json")]
    done = subprocess.run([javascript_tools / "oxlint", *options, STATIC], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("screen", ["", *STEPS])
def test_the_first_paint_has_name_steps_and_recipe(screen: str) -> None:
    text = first_paint(state(PROJECT, screen))
    page = Page(text)
    assert "pay &lt;b&gt;.csv" in text
    assert "&quot;a&lt;script&gt;&quot; = &quot;quasi&quot;" in text
    assert all(f">{title}</span>" in text for title in STEPS.values())
    current = [given for tag, given in page.elements if tag == "a" and given.get("aria-current") == "step"]
    assert [given["href"] for given in current] == [f"/project/5f0c/{screen or 'open'}"]
    assert not re.search(r"\bstyle=|\bon\w+=|<script", text)


def test_the_first_paint_without_a_table() -> None:
    text = first_paint(state(None))
    assert "No table is open" in text
    assert "once a table is open" in text
