"""Workflows and templates: what they may do, what they run, and that it exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.release import loaded

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})")
"""An action by its exact version: a branch, or a version that moves, may be another program tomorrow."""


def faults(text: str) -> list[str]:
    """Return what is wrong with a workflow, in words."""
    workflow = yaml.safe_load(text)
    found = []
    if workflow.get("permissions") != {"contents": "read"}:
        found.append("permissions by default are not to read alone")
    for name, job in workflow["jobs"].items():
        allowed = job.get("permissions", {})
        if {key for key, value in allowed.items() if value == "write"} - {"id-token"}:
            found.append(f"{name} may write")
        if allowed.get("id-token") == "write" and "environment" not in job:
            found.append(f"{name} can publish without anybody's approval")
        if "timeout-minutes" not in job:
            found.append(f"{name} may run for hours")
        found += [f"{name}: {step['uses']} is not pinned" for step in _using(job) if not PINNED.fullmatch(step["uses"])]
        found += [
            f"{name}: the checkout leaves a password behind"
            for step in _using(job)
            if step["uses"].startswith("actions/checkout@")
            and step.get("with", {}).get("persist-credentials") is not False
        ]
        commands = "\n".join(step.get("run", "") for step in job["steps"])
        if re.search(r"\$\{\{\s*github\.(event|head_ref)", commands):
            found.append(f"{name} puts text of strangers into a command")
        if "secrets." in commands:
            found.append(f"{name} takes a stored password")
    return found


def _using(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (step for step in job["steps"] if "uses" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_no_more_than_it_must(path: Path) -> None:
    assert faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("  contents: read", "  contents: write", "permissions by default are not to read alone"),
        ("      id-token: write", "      contents: write", "upload may write"),
        ("    environment:\n", "    env:\n", "upload can publish without anybody's approval"),
        ("    timeout-minutes: 15\n", "", "upload may run for hours"),
        ("download-artifact@v8.0.1", "download-artifact@v8", "upload: actions/download-artifact@v8 is not pinned"),
        ("-publish@v1.14.0", "-publish@release/v1", "upload: pypa/gh-action-pypi-publish@release/v1 is not pinned"),
        ("persist-credentials: false", "persist-credentials: true", "build: the checkout leaves a password behind"),
        ("make dist", "echo ${{ github.event.issue.title }}", "build puts text of strangers into a command"),
        ("run: make dist", "run: twine upload -p ${{ secrets.PYPI }}", "build takes a stored password"),
    ],
)  # fmt: skip
def test_a_workflow_that_may_do_more_is_found(before: str, after: str, found: str) -> None:
    text = (GITHUB / "workflows" / "publish.yml").read_text(encoding="utf-8")
    assert before in text
    assert found in faults(text.replace(before, after))


def test_tests_run_on_every_system_and_python() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["everywhere"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert set(matrix) == {"system", "python"}, "nothing is left out"


def test_what_workflows_run_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            for line in (step["run"] for step in job["steps"] if "run" in step):
                assert set(re.findall(r"\bmake ([a-z]+)", line)) <= targets
                assert all((ROOT / script).is_file() for script in re.findall(r"\bscripts/[\w.]+", line))


def test_templates_ask_that_no_real_row_is_sent() -> None:
    forms = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml")
    }
    config = forms.pop("config")
    assert config["contact_links"][0]["url"].endswith("/security/advisories/new")
    for form in forms.values():
        assert {"name", "description", "body"} <= set(form)
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids))
    (confirmed,) = [part for part in forms["fault"]["body"] if part["type"] == "checkboxes"]
    assert confirmed["attributes"]["options"][0]["required"] is True


def test_the_quick_part_names_tests_that_exist() -> None:
    quick = loaded("scripts/quick_tests.py")
    assert all((ROOT / "tests" / part).exists() for part in quick.PARTS)


def test_the_container_runs_as_nobody_and_copies_what_is_there() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, flags=re.MULTILINE)
    assert "NUMBA_CACHE_DIR=/opt/compiled" in last
    kept = {
        line[1:] for line in (ROOT / ".containerignore").read_text(encoding="utf-8").split() if line.startswith("!")
    }
    copied = {word for line in re.findall(r"^COPY (?!--)(.*)$", text, flags=re.MULTILINE) for word in line.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    assert copied == kept
