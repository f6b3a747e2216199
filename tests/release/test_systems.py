"""Nothing in the code is wrong on Windows or macOS by construction, as far as reading it can tell.

Every rule is a function of a module's syntax tree that returns what breaks it. Each is held against all code that users
run, and against a planted line, which must be found.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PureWindowsPath

import polars as pl
import pytest

import incrowd as ic
from incrowd.common.names import is_device, same_file, why_no_file
from incrowd.errors import SchemaError
from tests.parsed_source import nodes_of, text_of

ROOT = Path(__file__).parents[2]
Nodes = list[ast.AST]
Rule = Callable[[Nodes, str], Iterator[str]]

ONLY_HERE = {
    # What not every system has, and the modules that may name it: they ask first whether it is there.
    "fcntl": {"common/locks.py"},
    "msvcrt": {"common/locks.py"},
    "resource": {"common/memory.py"},
    "pwd": set(), "grp": set(), "termios": set(), "locale": set(),
    "os.name": {"common/systems.py", "kernels/native/building.py", "scripts/dist.py"},
    "os.kill": {"common/systems.py"},
    "os.geteuid": {"common/private_place.py", "studio/allowed.py"},
    "os.pathconf": {"core/release_directory.py"},
    "os.sysconf": {"common/memory.py"},
    "os.memfd_create": {"sources/piped.py"},
    "os.nice": {"studio/working.py"},
    "os.write": {"studio/history.py"},
    "os.read": set(), "os.fork": set(), "os.getuid": set(), "os.mkfifo": set(), "os.sync": set(), "os.symlink": set(),
    "os.chown": set(), "os.fchmod": set(), "os.setsid": set(), "os.killpg": set(), "os.uname": set(),
    "os.O_CLOEXEC": set(), "os.O_NOFOLLOW": set(), "os.O_DIRECTORY": set(), "os.O_BINARY": set(),
    "sys.platform": {"common/moves.py"},
    "signal.SIGKILL": set(), "signal.SIGHUP": set(), "signal.SIGALRM": set(), "signal.SIGPIPE": set(),
    "time.tzset": set(), "socket.AF_UNIX": set(),
}  # fmt: skip
PLACES = {"/dev/shm": {"studio/allowed.py"}, "/proc/self/": {"sources/piped.py", "common/memory.py"}}
"""Folders that only Linux has, and who may name them: they ask whether they are there."""


def calls(nodes: Nodes) -> Iterator[tuple[ast.Call, str]]:
    """Yield calls with the last word of what is called."""
    for node in nodes:
        if isinstance(node, ast.Call):
            named = node.func
            yield node, named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")


def _given(call: ast.Call) -> set[str | None]:
    return {keyword.arg for keyword in call.keywords}


def texts_by_the_systems_taste(nodes: Nodes, name: str) -> Iterator[str]:
    """Text files whose encoding, or whose ends of lines, differ from system to system."""
    for call, called in calls(nodes):
        method = isinstance(call.func, ast.Attribute)
        if called == "write_text" and method and not {"encoding", "newline"} <= _given(call):
            yield f"{name}:{call.lineno} write_text"
        if called == "read_text" and method and "encoding" not in _given(call) and not call.args:
            yield f"{name}:{call.lineno} read_text"
        if called == "open" and (mode := _mode(call)) is not None and "b" not in mode:
            wanted = {"encoding"} | ({"newline"} if set(mode) & set("wax") else set())
            if not wanted <= _given(call):
                yield f"{name}:{call.lineno} open"


def _mode(call: ast.Call) -> str | None:
    """Return the mode of a call that opens a file; None where it opens something else."""
    method = isinstance(call.func, ast.Attribute)
    if (
        method
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in ("os", "gzip", "webbrowser", "archive")
    ):
        return None
    values = [word.value for word in call.args if isinstance(word, ast.Constant)]
    modes = [word for word in values if isinstance(word, str) and re.fullmatch(r"[rwaxbt+]{1,3}", word)]
    modes += [
        str(one.value.value) for one in call.keywords if one.arg == "mode" and isinstance(one.value, ast.Constant)
    ]
    if modes:
        return modes[0]
    return "r" if not method or (not call.args and {"encoding", "newline"} & _given(call)) else None


def programs_read_by_the_systems_taste(nodes: Nodes, name: str) -> Iterator[str]:
    """What another program says, decoded by the country's encoding."""
    for call, called in calls(nodes):
        as_text = {"text", "universal_newlines"} & _given(call) and "encoding" not in _given(call)
        if called in ("run", "Popen", "check_output") and as_text:
            yield f"{name}:{call.lineno} {called}"


def names_of_one_system(nodes: Nodes, name: str) -> Iterator[str]:
    """Modules and functions that not every system has."""
    for node in nodes:
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "sys", "signal", "time", "socket"):
            found = [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [node.module or ""]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = [f"{node.value.id}.{node.attr}"]
        yield from (f"{name}:{node.lineno} {one}" for one in found if one in ONLY_HERE and name not in ONLY_HERE[one])


def folders_of_one_system(nodes: Nodes, name: str) -> Iterator[str]:
    """Paths that only one system has."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.match(r"/(tmp|dev|proc|var|usr|etc|home)(/|$)", node.value)
            allowed = any(node.value.startswith(place) and name in who for place, who in PLACES.items())
            if found and not allowed:
                yield f"{name}:{node.lineno} {node.value}"


def processes_that_fork(nodes: Nodes, name: str) -> Iterator[str]:
    """Processes that begin as a copy of this one: Windows has none, elsewhere Polars does not survive it."""
    for call, called in calls(nodes):
        if called == "ProcessPoolExecutor" and "mp_context" not in _given(call):
            yield f"{name}:{call.lineno} {called}"
        if called == "get_context" and [ast.literal_eval(word) for word in call.args] != ["spawn"]:
            yield f"{name}:{call.lineno} {called}"
        owner = getattr(getattr(call.func, "value", None), "id", "")
        if called in ("Process", "Pool") and owner == "multiprocessing":
            yield f"{name}:{call.lineno} {called}"


RULES: list[Rule] = [
    texts_by_the_systems_taste,
    programs_read_by_the_systems_taste,
    names_of_one_system,
    folders_of_one_system,
    processes_that_fork,
]


@cache
def code() -> list[tuple[str, Nodes]]:
    """Return all code that users run, by its path: the package's from within it."""
    package = ROOT / "src" / "incrowd"
    found = [(path.relative_to(package).as_posix(), path) for path in package.rglob("*.py")]
    found += [(path.relative_to(ROOT).as_posix(), path) for path in (ROOT / "scripts").glob("*.py")]
    found += [(path.relative_to(ROOT).as_posix(), path) for path in (ROOT / "docs").glob("*.py")]
    return [(name, nodes_of(text_of(path))) for name, path in sorted(found)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.replace("_", " "))
def test_the_code_suits_every_system(rule: Rule) -> None:
    assert [fault for name, nodes in code() for fault in rule(nodes, name)] == []


@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        (texts_by_the_systems_taste, 'path.write_text("a", encoding="utf-8")'),
        (texts_by_the_systems_taste, 'path.write_text("a", newline="\\n")'),
        (texts_by_the_systems_taste, "path.read_text()"),
        (texts_by_the_systems_taste, 'path.open("w", encoding="utf-8")'),
        (texts_by_the_systems_taste, 'open("a", mode="x", newline="")'),
        (texts_by_the_systems_taste, 'open("a")'),
        (texts_by_the_systems_taste, 'path.open("r")'),
        (programs_read_by_the_systems_taste, 'subprocess.run(["a"], text=True)'),
        (names_of_one_system, "import fcntl"),
        (names_of_one_system, "from os import fork"),
        (names_of_one_system, "os.kill(1, 0)"),
        (names_of_one_system, "signal.SIGKILL"),
        (names_of_one_system, "if sys.platform == 'win32': pass"),
        (folders_of_one_system, 'Path("/tmp/a")'),
        (folders_of_one_system, 'Path("/dev/null")'),
        (processes_that_fork, "ProcessPoolExecutor(2)"),
        (processes_that_fork, 'get_context("fork")'),
        (processes_that_fork, "multiprocessing.Process(target=f)"),
    ],
)
def test_what_suits_one_system_alone_is_found(rule: Rule, planted: str) -> None:
    assert len(list(rule(nodes_of(planted), "planted.py"))) == 1


@pytest.mark.parametrize(
    "right",
    [
        'path.write_text("a", encoding="utf-8", newline="\\n")',
        'path.open("rb")',
        'path.open("w", encoding="utf-8", newline="")',
        "source.open(location, options)",
        'os.open(path, os.O_RDWR)\nwrite_text(path, "a")',
    ],
)
def test_what_suits_all_is_not_found(right: str) -> None:
    assert [fault for rule in RULES for fault in rule(nodes_of(right), "right.py")] == []


# --- names of files ---


NO_NAMES = (
    "",
    "a/b",
    "a\\b",
    "a:b",
    "con",
    "NUL",
    "Aux.x",
    "COM1",
    "lpt9",
    "a.",
    "a ",
    ".a",
    "a\0b",
    "x" * 121,
    "..",
    "a*",
)


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_that_some_system_refuses(name: str) -> None:
    assert why_no_file(name) is not None


@pytest.mark.parametrize("name", ["visits", "Besuche 2020", "consultations", "com", "lpt", "é", "a.b"])
def test_names_that_every_system_takes(name: str) -> None:
    assert why_no_file(name) is None


def test_names_that_are_one_file_somewhere() -> None:
    assert same_file("Visits") == same_file("vISITS")
    assert same_file("caf\u00e9") == same_file("cafe\u0301")
    assert same_file("visits") != same_file("visit")
    assert is_device("CON.recipe.toml")


def _linked(*names: str) -> None:
    ic.read_tables(_people(), **{name: _visits(place) for place, name in enumerate(names)})


def _people() -> ic.Table:
    return ic.read(pl.DataFrame({"pid": [1, 2, 3, 4], "age": [30, 31, 50, 51]}), person="pid", quasi=["age"])


def _visits(place: int) -> ic.Table:
    frame = pl.DataFrame({"pid": [1, 2, 3, 4], f"illness {place}": ["flu", "cold", "flu", "cold"]})
    return ic.read(frame, person="pid", sensitive=[f"illness {place}"])


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("Data",), "since a file of the release is"),
        (("../elsewhere",), "it holds '/'"),
        (("nul",), "Windows has a device"),
        (("visits", "Visits"), "one file on some systems"),
    ],
)
def test_tables_of_a_release_can_be_files_everywhere(names: tuple[str, ...], told: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(told)):
        _linked(*names)
    _linked("visits", "drugs")


# --- paths ---


def test_a_recipe_names_a_table_on_another_drive_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.publishing import recipe_format

    def another_drive(path: object, start: object) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    recipe = recipe_format.RecipeFields({"path": "a.csv"}, roles={}, hierarchies={}, models=(), base=tmp_path)
    assert recipe.relative_to(tmp_path / "out").source["path"] == "../a.csv"
    monkeypatch.setattr(os.path, "relpath", another_drive)
    assert recipe.relative_to(tmp_path / "out").source["path"] == (tmp_path / "a.csv").as_posix()


def test_spark_gets_a_path_of_windows_as_an_address() -> None:
    pytest.importorskip("pyspark")
    from incrowd.engines.spark.saving import as_address

    assert as_address(PureWindowsPath("D:\\data\\out")) == "file:///D:/data/out"
