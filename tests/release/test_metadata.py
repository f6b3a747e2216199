"""Version, changelog, citation and addresses say the same, and the README's links lead somewhere on a package index."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from incrowd.common.version import __version__
from tests.release import loaded

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME: str = PROJECT["urls"]["Repository"]
VERSION = r"\d+\.\d+\.\d+"


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def versions_of(changelog: str) -> list[tuple[str, date]]:
    """Return the versions of a changelog and their dates, in its order."""
    found = re.findall(rf"^## \[({VERSION})\] - (\d{{4}}-\d{{2}}-\d{{2}})$", changelog, flags=re.MULTILINE)
    return [(version, date.fromisoformat(day)) for version, day in found]


def disagreements(project: str, package: str, changelog: str, citation: dict[str, Any]) -> list[str]:
    """Return which places tell another version, or another date, than the package does."""
    versions = versions_of(changelog)
    if not versions:
        return ["changelog"]
    version, day = versions[0]
    told = {"pyproject": project, "changelog": version, "citation": citation["version"]}
    found = [place for place, version in told.items() if version != package]
    return found + (["date of the citation"] if citation["date-released"] != day else [])


def test_version_changelog_and_citation_agree() -> None:
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert disagreements(PROJECT["version"], __version__, text_of("CHANGELOG.md"), citation) == []


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (("2.0.0", "1.0.0", "1.0.0", "2026-01-02"), ["pyproject"]),
        (("1.0.0", "1.0.1", "1.0.0", "2026-01-02"), ["changelog"]),
        (("1.0.0", "1.0.0", "0.9.0", "2026-01-02"), ["citation"]),
        (("1.0.0", "1.0.0", "1.0.0", "2026-01-03"), ["date of the citation"]),
        (("1.0.0", "none", "1.0.0", "2026-01-02"), ["changelog"]),
    ],
)
def test_a_place_that_tells_another_version_is_found(told: tuple[str, ...], found: list[str]) -> None:
    project, changelog, citation, day = told
    text = f"# Changelog\n\n## [Unreleased]\n\n## [{changelog}] - 2026-01-02\n"
    cited = {"version": citation, "date-released": date.fromisoformat(day)}
    assert disagreements(project, "1.0.0", text, cited) == found


def test_the_changelog_goes_back_in_time_and_every_heading_has_its_address() -> None:
    changelog = text_of("CHANGELOG.md")
    versions = versions_of(changelog)
    assert re.findall(r"^## (.*)$", changelog, flags=re.MULTILINE) == [
        "[Unreleased]",
        *(f"[{version}] - {day}" for version, day in versions),
    ]
    assert versions == sorted(versions, key=lambda one: tuple(map(int, one[0].split("."))), reverse=True)
    assert [day for _, day in versions] == sorted((day for _, day in versions), reverse=True)
    addresses = dict(re.findall(r"^\[(.*?)\]: (\S+)$", changelog, flags=re.MULTILINE))
    assert list(addresses) == ["Unreleased", *(version for version, _ in versions)]
    assert all(address.startswith(f"{HOME}/") for address in addresses.values())
    assert addresses["Unreleased"] == f"{HOME}/compare/v{__version__}...HEAD"


def test_every_address_of_the_project_is_at_its_home() -> None:
    assert all(address == HOME or address.startswith(f"{HOME}/") for address in PROJECT["urls"].values())
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["repository-code"] == citation["url"] == HOME
    others = [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.*"), ROOT / "Containerfile"]
    for path in others:
        for address in re.findall(
            r"https://github\.com/[\w.-]*incrowd[\w.-]*/[\w.-]+", path.read_text(encoding="utf-8")
        ):
            assert address == HOME, path


def test_the_licence_and_the_authors_are_those_of_the_citation() -> None:
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert PROJECT["license"] == citation["license"] == "Apache-2.0"
    assert "Apache License" in text_of("LICENSE")
    assert [one["name"] for one in PROJECT["authors"]] == [one["name"] for one in citation["authors"]]


def test_the_classifiers_name_every_python_that_the_workflow_tries() -> None:
    workflow = yaml.safe_load(text_of(".github/workflows/tests.yml"))
    tried = {version for job in workflow["jobs"].values() for version in _pythons(job)}
    told = {found[1] for one in PROJECT["classifiers"] if (found := re.fullmatch(r".* :: Python :: (3\.\d+)", one))}
    assert told == tried
    assert PROJECT["requires-python"] == f">={min(told, key=lambda one: int(one[2:]))}"


def _pythons(job: dict[str, Any]) -> list[str]:
    found: list[str] = job.get("strategy", {}).get("matrix", {}).get("python", [])
    return found


# --- the README on a package index ---


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    return loaded("scripts/readme_for_index.py")


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("see [docs](docs/a.md)", "see [docs](H/blob/v1/docs/a.md)"),
        ("[part](./docs/a.md#part)", "[part](H/blob/v1/docs/a.md#part)"),
        ("![map](docs/a.svg)", "![map](H/raw/v1/docs/a.svg)"),
        ("[![map](a.svg)](docs/a.md)", "[![map](H/raw/v1/a.svg)](H/blob/v1/docs/a.md)"),
        ("[far](https://example.org/a) [here](#part)", "[far](https://example.org/a) [here](#part)"),
        ('<img src="docs/a.png" alt="a">', '<img src="H/raw/v1/docs/a.png" alt="a">'),
        ('<a href="docs/a.md">a</a>', '<a href="H/blob/v1/docs/a.md">a</a>'),
        ("`read[a](b)` and\n```\nx[0](y)\n```\n", "`read[a](b)` and\n```\nx[0](y)\n```\n"),
        ("[mail](mailto:a@example.org)", "[mail](mailto:a@example.org)"),
    ],
)
def test_links_within_the_repository_get_an_address(hook: ModuleType, written: str, made: str) -> None:
    assert hook.absolute(written, "H", "v1") == made


def test_the_readme_has_no_link_that_an_index_cannot_follow(hook: ModuleType) -> None:
    made = hook.absolute(text_of("README.md"), HOME, f"v{__version__}")
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", made, flags=re.DOTALL | re.MULTILINE)
    targets = [found["target"] for found in hook.LINK.finditer(prose)]
    targets += [found["target"] for found in hook.HTML.finditer(prose)]
    assert targets
    headings = {_anchor(line) for line in re.findall(r"^#+ (.*)$", made, flags=re.MULTILINE)}
    for target in targets:
        if target.startswith("#"):
            assert target[1:] in headings
            continue
        assert target.startswith("https://"), target
        inside = re.fullmatch(rf"{re.escape(HOME)}/(?:blob|raw)/v{VERSION}/([^#]+)(#.*)?", target)
        if inside is not None:
            assert (ROOT / inside[1]).exists(), target


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
