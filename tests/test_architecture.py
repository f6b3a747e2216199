"""The house is as ARCHITECTURE.md draws it: imports run downward, rooms are listed, and parts say what they can do.

Every rule is a function of a source tree that returns what breaks it. Each is held against the tree itself, which must
break none, and against a copy with something planted, which must be found.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.parsed_source import nodes_of, text_of

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "incrowd"
TESTS = ROOT / "tests"

Rule = Callable[[Path], list[str]]


# --- imports ---


def lint(root: Path) -> Any:
    """Run import-linter on a tree with the contract of this one."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    path = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["--no-cache", "--config", str(root / "pyproject.toml")]
    return subprocess.run([*command, *options], capture_output=True, text=True, env=path, cwd=root, timeout=120)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the contract."""
    place = tmp_path_factory.mktemp("tree")
    shutil.copytree(SOURCE, place / "src" / "incrowd", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    return place


def test_imports_run_downward(copied: Path) -> None:
    done = lint(copied)
    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout


UPWARD = {
    "query": "import incrowd.cli\n",
    "tally": "def _planted() -> None:\n    import incrowd.cli\n",
    "groups": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import incrowd.cli\n",
}
"""An import at the top, one inside a function and one under `TYPE_CHECKING`, in three modules of `core`."""


def test_imports_upward_are_found(copied: Path) -> None:
    changed = {copied / "src" / "incrowd" / "core" / f"{name}.py": planted for name, planted in UPWARD.items()}
    texts = {module: module.read_text(encoding="utf-8") for module in changed}
    try:
        for module, planted in changed.items():
            module.write_text(f"{texts[module]}\n\n{planted}", encoding="utf-8")
        done = lint(copied)
    finally:
        for module, text in texts.items():
            module.write_text(text, encoding="utf-8")
    assert done.returncode == 1
    for name in UPWARD:  # each is told by itself
        assert f"incrowd.core.{name} -> incrowd.cli" in done.stdout


def test_a_room_that_the_contract_does_not_know_is_found(copied: Path) -> None:
    room = copied / "src" / "incrowd" / "attic"
    room.mkdir()
    try:
        (room / "__init__.py").touch()
        done = lint(copied)
    finally:
        shutil.rmtree(room)
    assert done.returncode == 1
    assert "attic" in done.stdout


# --- rules ---


def modules(source: Path) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield every module's classes, calls and patterns, by its path within the package."""
    for path in sorted(source.rglob("*.py")):
        yield path.relative_to(source).as_posix(), _nodes(text_of(path))


@cache
def _nodes(text: str) -> list[ast.AST]:
    return [node for node in nodes_of(text) if isinstance(node, (ast.ClassDef, ast.Call, ast.MatchClass))]


def strangers_at_the_top(source: Path) -> list[str]:
    """What is in the package beside its face, its errors and its rooms."""
    files = {"__init__.py", "__init__.pyi", "__main__.py", "errors.py", "py.typed"}
    found = {path.name for path in source.iterdir() if path.is_file() or not (path / "__init__.py").exists()}
    return sorted(found - files - {"__pycache__"})


def unlisted_rooms(source: Path) -> list[str]:
    """Which packages have no row in the table of rooms, and which rows have no package."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("| room | what is in it |")[2].partition("\n\n")[0]
    listed = {
        name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1] if line else "")
    }
    rooms = {path.parent.name for path in source.glob("*/__init__.py")} | {"errors"}
    return sorted(rooms ^ listed)


def errors_out_of_the_tree(source: Path) -> list[str]:
    """Which error classes the tree in the docstring does not name, or names at another place, or names for nothing."""
    module = ast.parse((source / "errors.py").read_text(encoding="utf-8"))
    drawn: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (ast.get_docstring(module) or "").splitlines():
        if match := re.match(r"^(\s+[│├└─\s]*)([A-Z]\w+)\s{2,}\S", f"    {line.strip(chr(10))}"):
            depth, name = len(match[1]), match[2]
            above = [(other, parent) for other, parent in above if other < depth]
            drawn[name] = above[-1][1] if above else "UserWarning" if name.endswith("Warning") else "Exception"
            above.append((depth, name))
    defined = {
        node.name: node.bases[0].id
        for node in module.body
        if isinstance(node, ast.ClassDef) and isinstance(node.bases[0], ast.Name)
    }
    return sorted({name for name, _ in drawn.items() ^ defined.items()})


def clusters_by_name(source: Path) -> list[str]:
    """Which modules name Spark that have nothing to do with it."""
    apart = ("engines/", "cli/publish.py", "common/extras.py")
    found = {path.relative_to(source).as_posix(): text_of(path) for path in source.rglob("*.py")}
    return sorted(name for name, text in found.items() if "spark" in text.lower() and not name.startswith(apart))


def implementations(source: Path, protocols: set[str]) -> set[str]:
    """The names of protocols and of all classes that inherit from one, however far away."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for _, nodes in modules(source)
        for node in nodes
        if isinstance(node, ast.ClassDef)
    }
    found = set(protocols)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def asked_for_their_form(source: Path) -> list[str]:
    """Where code outside of `forms/` asks which form it has."""
    forms = implementations(source, {"Form", "FormOutline"})
    found = []
    for name, nodes in modules(source):
        if name.startswith("forms/"):
            continue
        for node in nodes:
            if isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass") and len(node.args) == 2:
                asked: list[ast.AST] = [node.args[1]]
            elif isinstance(node, ast.MatchClass):
                asked = [node.cls]
            else:
                continue
            names = {part.id for one in asked for part in ast.walk(one) if isinstance(part, ast.Name)}
            names |= {part.attr for one in asked for part in ast.walk(one) if isinstance(part, ast.Attribute)}
            found += [f"{name}:{node.lineno} {form}" for form in sorted(names & forms)]
    return found


def facts(source: Path) -> set[str]:
    """What the protocols of parts declare: attributes, properties and methods that every part has."""
    parts = implementations(source, {"Named"})
    found: set[str] = set()
    for name, nodes in modules(source):
        elsewhere = ("common/registry.py", "hierarchies/hierarchy.py", "dates/treatment.py", "changes/change.py")
        if not (name.startswith("core/") or name in elsewhere):
            continue
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name in parts and _is_protocol(node):
                found |= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                found |= {
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                }
    return {fact for fact in found if not fact.startswith("_")}


def asked_for_a_fact(source: Path) -> list[str]:
    """Where `getattr` or `hasattr` looks for what a protocol declares, and so every part has."""
    declared = facts(source)
    return [
        f"{name}:{node.lineno} {node.args[1].value}"
        for name, nodes in modules(source)
        for node in nodes
        if isinstance(node, ast.Call)
        and _called(node) in ("getattr", "hasattr")
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value in declared
    ]


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


RULES: list[Rule] = [
    strangers_at_the_top,
    unlisted_rooms,
    errors_out_of_the_tree,
    clusters_by_name,
    asked_for_their_form,
    asked_for_a_fact,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.replace("_", " "))
def test_the_tree_breaks_no_rule(rule: Rule) -> None:
    assert rule(SOURCE) == []


@pytest.mark.parametrize(
    ("rule", "module", "planted", "found"),
    [
        (strangers_at_the_top, "helpers.py", "", "helpers.py"),
        (strangers_at_the_top, "things/loose.py", "", "things"),
        (unlisted_rooms, "attic/__init__.py", "", "attic"),
        (errors_out_of_the_tree, "errors.py", "class Surprise(IncrowdError):\n    pass\n", "Surprise"),
        (errors_out_of_the_tree, "errors.py", "class SchemaError(SourceError):\n    pass\n", "SchemaError"),
        (clusters_by_name, "sources/frames.py", "PYSPARK = 1\n", "sources/frames.py"),
        (asked_for_their_form, "auditing/run.py", "isinstance(1, SlicedTable)\n", "SlicedTable"),
        (asked_for_their_form, "auditing/run.py", "isinstance(1, int | forms.Generalized)\n", "Generalized"),
        (asked_for_their_form, "auditing/run.py", "match 1:\n    case Form():\n        pass\n", "Form"),
        (asked_for_a_fact, "auditing/run.py", "getattr(1, 'monotone', None)\n", "monotone"),
        (asked_for_a_fact, "methods/mondrian.py", "hasattr(1, 'labelled')\n", "labelled"),
        (asked_for_a_fact, "sources/csv.py", "hasattr(1, 'declares_values')\n", "declares_values"),
    ],
)
def test_what_breaks_a_rule_is_found(copied: Path, rule: Rule, module: str, planted: str, found: str) -> None:
    source = copied / "src" / "incrowd"
    path = source / module
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(f"{before or ''}\n\n{planted}", encoding="utf-8")
        broken = rule(source)
    finally:
        if before is not None:
            path.write_text(before, encoding="utf-8")
        else:
            path.unlink()
            if path.parent != source:
                path.parent.rmdir()
    assert [line.split()[-1] for line in broken] == [found]  # and the tree itself breaks no rule


def test_an_error_that_is_only_drawn_is_found(copied: Path) -> None:
    path = copied / "src" / "incrowd" / "errors.py"
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(before.replace("    ├── QueryError ", "    ├── Imagined     nobody\n    ├── QueryError "))
        assert errors_out_of_the_tree(path.parent) == ["Imagined"]
    finally:
        path.write_text(before, encoding="utf-8")


def test_the_facts_are_those_of_the_protocols() -> None:
    found = facts(SOURCE)
    assert {"monotone", "private", "labelled", "per_column", "goal", "declares_values", "suffixes", "fallback"} <= found
    assert not {"strerror", "dtype", "to_dict"} & found


# --- tests ---


OF_THE_WHOLE_HOUSE = ("plugin_package", "campaigns", "bare_install", "people", "release", "docs")


def without_counterpart(tests: Path, source: Path) -> list[str]:
    """Which folders of tests that are packages test no package."""
    folders = [path.parent.relative_to(tests) for path in tests.rglob("__init__.py")]
    mirrored = [folder for folder in folders if folder.parts[:1] not in ((name,) for name in OF_THE_WHOLE_HOUSE)]
    return sorted(folder.as_posix() for folder in mirrored if not (source / folder / "__init__.py").exists())


def test_tests_mirror_the_rooms(tmp_path: Path) -> None:
    assert without_counterpart(TESTS, SOURCE) == []
    for folder in ("models", "models/wardrobe", "plugin_package/tiny"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    assert without_counterpart(tmp_path, SOURCE) == ["models/wardrobe"]
