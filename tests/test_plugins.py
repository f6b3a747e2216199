"""A package of somebody else's adds one part of each kind, one file each, and everything finds them.

`plugin_package` is installed with pip into a directory of its own, and whatever is tried runs in another process that
has this directory on its path. To start one takes longer than most of what is tried, so much of it is `told` to one
process, one after the other.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.families import FAMILIES, registered
from tests.cli.command import incrowd as in_this_process

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tests" / "plugin_package"
PARTS = {
    "models": "tiny-model",
    "methods": "tiny-method",
    "forms": "tiny-form",
    "metrics": "tiny-metric",
    "attacks": "tiny-attack",
    "hierarchies": "tiny-hierarchy",
    "dates": "tiny-treatment",
    "changes": "tiny-change",
    "sources": "tiny",
    "sinks": "tiny",
    "set_models": "tiny-set-model",
    "set_methods": "tiny-set-method",
}
CLASSES = [
    "TinyModel", "TinyMethod", "ShowTiny", "TinyMetric", "TinyAttack", "TinyHierarchy", "TinyTreatment", "TinyChange",
    "TinySetModel", "TinySetMethod",
]  # fmt: skip
RECIPE = """
incrowd = 1

[source]
path = "people.tiny"

[[models]]
name = "k-anonymity"
k = 4

[[models]]
name = "tiny-model"
minority = 2

[method]
name = "METHOD"

[form]
name = "tiny-form"
least = 10

[output]
directory = "release"
format = "tiny"

[columns]
age = "quasi"
disease = "sensitive"

[columns.city]
role = "quasi"
hierarchy = { kind = "tiny-hierarchy", letters = 2 }
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that the package is installed in; a copy is built, so that nothing is written beside the tests."""
    place = tmp_path_factory.mktemp("plugin")
    copied = shutil.copytree(PACKAGE, place / "package", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    done = _run(["-m", "pip", "install", *options, "--target", str(place / "site"), str(copied)])
    assert done.returncode == 0, done.stderr
    return place / "site"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a recipe, a table in the package's own kind of file, and the same as CSV."""
    place = tmp_path_factory.mktemp("work")
    frame = people()
    frame.write_csv(place / "people.csv")
    lines = [frame.columns, *(list(row) for row in frame.select(pl.all().cast(pl.String)).iter_rows())]
    (place / "people.tiny").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (place / "recipe.toml").write_text(RECIPE.replace("METHOD", "mondrian"), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def release(site: Path, work: Path) -> Path:
    """What `incrowd publish` makes of the recipe."""
    done = incrowd(["publish", "recipe.toml", "--json"], site=site, cwd=work)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["form"] == "tiny-form"
    assert [entry["model"] for entry in summary["guarantees"]] == ["k-anonymity", "tiny-model"]
    return work / "release"


def people() -> pl.DataFrame:
    """A table of 120 rows: ages, cities, diseases, and a missing value in each."""
    cities = ["Rome", "Roma", "Oslo", "Ostrava", "Paris", None]
    return pl.DataFrame(
        {
            "age": [None if row == 7 else 20 + row * 7 % 50 for row in range(120)],
            "city": [cities[row * 5 % 11 % 6] for row in range(120)],
            "disease": [["flu", "cold", "gout", None][row % 7 % 4] for row in range(120)],
        }
    )


def _run(arguments: Sequence[str], *, path: Sequence[Path] = (), cwd: Path | None = None) -> Any:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        cwd=cwd,
        timeout=300,
    )


def incrowd(arguments: Sequence[str], *, site: Path, cwd: Path | None = None) -> Any:
    """Run the command line with the package on the path, in a process of its own."""
    return _run(["-m", "incrowd", *arguments], path=[site], cwd=cwd)


@dataclass
class Told:
    """A process that has the package on its path, and does what it is told: commands, and lines of Python."""

    process: subprocess.Popen[str]

    def incrowd(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run a command and return what it prints."""
        code, out, err = self._ask({"arguments": arguments}, cwd)
        assert code == 0, err
        return str(out)

    def answer(self, *arguments: str, cwd: Path | None = None) -> Any:
        """Return what a command prints as JSON."""
        return json.loads(self.incrowd(*arguments, "--json", cwd=cwd))

    def python(self, code: str, cwd: Path | None = None) -> Any:
        """Run some code, without any warning, and return what it gives to `found`."""
        return self._ask({"code": code}, cwd)

    def with_another(self, place: Path, *arguments: str) -> str:
        """Run a command that must fail where one more package is installed, and return what it complains of."""
        code, _, err = self._ask({"arguments": arguments, "path": str(place)}, None)
        assert code == 3
        return str(err)

    def refused(self, place: Path, family: str) -> str:
        """Ask for a family's parts where one more package is installed, and return what is wrong with it."""
        code = (
            "from incrowd.core.families import registered\n"
            f"try: found = list(registered({family!r}))\n"
            "except Exception as error: found = f'{type(error).__name__}: {error}'"
        )
        return str(self._ask({"code": code, "path": str(place)}, None))

    def _ask(self, asked: dict[str, Any], cwd: Path | None) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({**asked, "cwd": str(cwd or ROOT)}), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, "the process has ended: what it complained of is above"
        return json.loads(answer)


_LISTENING = """
import json, os, sys, warnings
from incrowd.common.registry import members
from tests.cli.command import incrowd
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    asked = json.loads(line)
    os.chdir(asked["cwd"])
    before = list(sys.path)
    if "path" in asked:
        sys.path.insert(1, asked["path"])
        members.cache_clear()
    if "code" in asked:
        names = {}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(asked["code"], names)
        answer = names["found"]
    else:
        done = incrowd(*asked["arguments"])
        answer = [done.code, done.out, done.err]
    if "path" in asked:
        sys.path[:] = before
        members.cache_clear()
    print(json.dumps(answer), file=answers, flush=True)
"""


@pytest.fixture(scope="module")
def told(site: Path) -> Iterator[Told]:
    """A process that is asked for one thing after the other."""
    path = {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    with subprocess.Popen(
        [sys.executable, "-c", _LISTENING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **path},
    ) as process:
        yield Told(process)


def installed(place: Path, module: str, code: str, entries: dict[str, str]) -> Path:
    """Lay out a module and its entry points as an installed package has them."""
    about = place / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (place / f"{module}.py").write_text(code, encoding="utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"[incrowd.{group}]\nmine = {value}\n" for group, value in entries.items()]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return place


# --- what is there ---


def test_the_package_has_one_file_for_each_part() -> None:
    files = {path.stem for path in (PACKAGE / "tiny_plugin").glob("*.py")} - {"__init__"}
    of_sets = {"model of sets": "set_model", "method for sets": "set_method"}
    kinds = {of_sets.get(family.one, family.one) for family in FAMILIES.values()} - {"engine"} | {"command"}
    assert files == kinds
    groups = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(groups) == {f"incrowd.{name}" for name in (*PARTS, "commands")}
    named = [value for entries in groups.values() for value in entries.values()]
    assert {":" in value for value in named} == {True, False}, "both classes and modules are named"


def test_nothing_of_it_is_known_without_the_package() -> None:
    for family, name in PARTS.items():
        assert name not in registered(family)
    for name in CLASSES:
        with pytest.raises(AttributeError, match=f"module 'incrowd' has no attribute '{name}'"):
            getattr(ic, name)
    done = in_this_process("tiny")
    assert done.code == 2
    assert "No such command 'tiny'" in done.err


def test_every_part_is_registered_and_can_be_had_by_the_name_of_its_class(told: Told) -> None:
    found = told.python(
        "import incrowd as ic\n"
        "from incrowd.core.families import FAMILIES, published_forms, registered\n"
        "mine = lambda classes: [name for name, cls in classes.items() if cls.__module__.startswith('tiny_plugin')]\n"
        "parts = {family: mine(registered(family)) for family in FAMILIES}\n"
        f"classes = [getattr(ic, name).__module__ for name in {CLASSES}]\n"
        f"listed = [name for name in {CLASSES} if name in ic.__all__ and name in dir(ic)]\n"
        "found = [parts, mine(published_forms()), classes, listed]"
    )
    parts, published, classes, listed = found
    assert parts == {**{family: [name] for family, name in PARTS.items()}, "engines": []}
    assert published == ["tiny-form"]
    kinds = ("model", "method", "form", "metric", "attack", "hierarchy", "treatment", "change")
    kinds += ("set_model", "set_method")
    assert classes == [f"tiny_plugin.{one}" for one in kinds]
    assert listed == CLASSES


def test_list_tells_of_every_part_where_it_is_from(told: Told) -> None:
    found = told.answer("list")
    for family, name in PARTS.items():
        (mine,) = [part for part in found[family] if part["from"] == "tiny_plugin"]
        assert mine["name"] == name
        assert mine["is"].endswith(".")
    (model,) = [part for part in found["models"] if part["from"] == "tiny_plugin"]
    assert model["parameters"] == ["minority"]
    assert {part["from"] for part in found["engines"]} == {"incrowd"}
    assert "[tiny_plugin]" in told.incrowd("list", "models")


def test_the_command_runs_and_is_in_the_help(told: Told) -> None:
    assert told.incrowd("tiny") == f"{len(PARTS)} tiny parts\n"
    assert "Count the parts that tiny-plugin adds." in told.incrowd("--help")


# --- what they do ---


def test_a_recipe_publishes_with_all_of_them_in_the_package_s_own_files(release: Path) -> None:
    assert sorted(path.name for path in release.iterdir()) == [
        "crowds.tiny",
        "data.tiny",
        "labels.json",
        "recipe.toml",
        "summary.json",
    ]
    columns, *rows = map(json.loads, (release / "data.tiny").read_text(encoding="utf-8").splitlines())
    assert columns == ["age", "city", "disease", "crowd"]
    assert len(rows) == json.loads((release / "summary.json").read_text(encoding="utf-8"))["rows"]["published"]
    assert {row[1] for row in rows} & {"Ro…", "Os…", "Rome", "*"}
    named, *crowds = map(json.loads, (release / "crowds.tiny").read_text(encoding="utf-8").splitlines())
    assert named == ["age", "city", "crowd"]
    sizes = {tuple(row[:2]): sum(other[:2] == row[:2] for other in rows) for row in rows}
    assert {(age, city): told for age, city, told in crowds} == {
        shown: str(size) if size >= 10 else "<10" for shown, size in sizes.items()
    }
    written = tomllib.loads((release / "recipe.toml").read_text(encoding="utf-8"))
    assert written["form"] == {"name": "tiny-form", "least": 10}
    assert written["output"] == {"format": "tiny"}
    assert written["models"][1] == {"name": "tiny-model", "minority": 2}
    assert written["columns"]["city"]["hierarchy"] == {"kind": "tiny-hierarchy", "letters": 2}


def test_the_written_recipe_makes_the_same_release(release: Path, told: Told, tmp_path: Path) -> None:
    told.incrowd("publish", str(release / "recipe.toml"), "--output", str(tmp_path / "again"))
    for name in ("data.tiny", "crowds.tiny", "summary.json"):
        assert (tmp_path / "again" / name).read_bytes() == (release / name).read_bytes()


def test_the_source_s_kind_of_file_is_the_release_s_own(work: Path, told: Told, tmp_path: Path) -> None:
    recipe = RECIPE.replace("METHOD", "tiny-method").replace('format = "tiny"', "")
    (tmp_path / "recipe.toml").write_text(recipe.replace("people.tiny", str(work / "people.tiny")), encoding="utf-8")
    found = told.answer("publish", "recipe.toml", cwd=tmp_path)
    assert found["data"].endswith("data.tiny")
    assert found["groups"]["number"] == 1
    assert found["loss"] == {"crowds": 1}


@pytest.mark.parametrize("original", ["people.tiny", None])
def test_a_release_is_read_back_as_it_was_published(
    release: Path, told: Told, work: Path, original: str | None
) -> None:
    rows, counts, form, table, guarantees, notes = told.python(
        "import incrowd as ic\n"
        f"opened = ic.open_release('release', original={original!r})\n"
        "made = ic.Recipe.load('recipe.toml').run()\n"
        "queries = [{}, {'disease': 'flu'}, {'disease': ['gout', None]}]\n"
        f"queries += [{{'city': 'Rome'}}, {{'age': (30, 44), 'disease': 'flu'}}] if {original!r} else []\n"
        "texts = lambda release: [[None if cell is None else str(cell) for cell in row]\n"
        "                         for row in release.to_polars().iter_rows()]\n"
        "forms = opened.form, made.form.canonical(made.form.tally)\n"
        "counts = [[form.count(query) for query in queries] for form in forms]\n"
        "guarantees = [[str(each) for each in release.guarantees] for release in (opened, made)]\n"
        "found = [[texts(opened), texts(made)], counts, opened.form.name, opened.rows, guarantees, list(opened.notes)]",
        cwd=work,
    )
    assert rows[0] == rows[1]
    assert (form, table, notes) == ("tiny-form", len(rows[0]), [])
    assert counts[0][0] == len(rows[0])
    assert counts[0][1] == sum(row[2] == "flu" for row in rows[0])
    assert counts[0] == pytest.approx(counts[1])  # without the table, what labels stand for is not asked
    assert guarantees[0] == guarantees[1]


def test_an_audit_tries_the_attack_and_measures_the_metric(release: Path, told: Told, work: Path) -> None:
    found = told.answer("audit", "release", "--original", "people.tiny", "--no-learning", cwd=work)
    (risk,) = [one for one in found["attacks"] if one["attack"] == "tiny-attack"]
    assert risk["threat"] == "linkability"
    assert risk["baseline"] <= risk["value"] <= 1 / 4
    sizes = json.loads((release / "summary.json").read_text(encoding="utf-8"))["groups"]
    assert found["usefulness"]["losses"]["tiny-metric"] == pytest.approx(sizes["largest"] / 120)


def test_the_attack_can_be_asked_for(release: Path, told: Told, work: Path) -> None:
    asked = ["attack", "release", "--with", "tiny-attack"]
    found = told.answer(*asked, "--original", "people.csv", cwd=work)
    assert [one["attack"] for one in found["attacks"]] == ["tiny-attack"]
    lacking = told.answer(*asked, cwd=work)
    assert lacking == {"attacks": [], "not tried": [{"what": "tiny-attack", "why": "the table before is needed"}]}


def test_the_method_is_compared_with_others(told: Told, work: Path, tmp_path: Path) -> None:
    ways = (
        '[[compare]]\nmethod = "tiny-method"\nmodels = [{ name = "tiny-model", minority = "$n" }]\n'
        'form = "tiny-form"\ngrid = { n = [1, 2] }\n[[compare]]\nmethod = "mondrian"\n'
        'models = [{ name = "k-anonymity", k = 5 }]\n'
    )
    (work / "ways.toml").write_text(RECIPE.replace("METHOD", "mondrian") + ways, encoding="utf-8")
    found = told.answer("compare", "ways.toml", "--output", str(tmp_path / "found"), "--jobs", "1", cwd=work)
    outcomes = {one["name"]: one for one in found["candidates"]}
    assert list(outcomes) == [
        "tiny-method: tiny-model minority=1",
        "tiny-method: tiny-model minority=2",
        "mondrian: k-anonymity k=5",
    ]
    assert not any(one.get("failed") for one in outcomes.values())
    assert [one["form"] for one in outcomes.values()] == ["tiny-form", "tiny-form", "generalized"]


def test_the_conformance_suite_runs_on_them(told: Told) -> None:
    checked = told.python(
        "from incrowd.testing import check_registered\n"
        "found = check_registered(examples=2, only=lambda cls: cls.__module__.startswith('tiny_plugin'))\n"
    )
    kinds = {"models": 2, "methods": 1, "forms": 2, "metrics": 1, "attacks": 1, "hierarchies": 1, "sinks": 1}
    kinds["changes"] = 1
    assert {family: len(parts) for family, parts in checked.items() if parts} == kinds


# --- what is refused ---

MODEL = "from dataclasses import dataclass\nfrom incrowd.models.k_anonymity import KAnonymity\n"


def test_two_parts_of_one_name_are_refused_and_both_are_told(told: Told, tmp_path: Path) -> None:
    twice = installed(
        tmp_path,
        "clashing",
        f"{MODEL}@dataclass(frozen=True)\nclass Twice(KAnonymity):\n    name = 'tiny-model'\n",
        {"models": "clashing:Twice"},
    )
    said = told.refused(twice, "models")
    assert said.startswith("RecipeError: two models are called 'tiny-model': ")
    assert {"tiny_plugin.model", "clashing"} <= set(said.replace(".", " .").replace(" .model", ".model").split())
    assert "two models are called 'tiny-model'" in told.with_another(twice, "list")


def test_a_name_that_incrowd_has_is_refused(told: Told, tmp_path: Path) -> None:
    taken = installed(
        tmp_path,
        "taking",
        f"{MODEL}@dataclass(frozen=True)\nclass Taken(KAnonymity):\n    name = 'k-anonymity'\n",
        {"models": "taking"},
    )
    said = told.refused(taken, "models")
    assert said.endswith("two models are called 'k-anonymity': incrowd.models.k_anonymity and taking.")


def test_a_class_that_does_not_inherit_from_the_protocol_is_refused(told: Told, tmp_path: Path) -> None:
    stranger = installed(
        tmp_path, "strange", "class Stranger:\n    name = 'stranger'\n", {"attacks": "strange:Stranger"}
    )
    said = told.refused(stranger, "attacks")
    assert said.endswith(
        "the entry point 'mine' of incrowd.attacks is no attack: strange.Stranger does not implement "
        "incrowd.core.attack.Attack."
    )


def test_a_package_that_cannot_be_imported_is_named(told: Told, tmp_path: Path) -> None:
    broken = installed(tmp_path, "breaking", "import nothing_of_the_kind\n", {"sinks": "breaking"})
    said = told.with_another(broken, "list", "sinks")
    assert "the entry point 'mine' of incrowd.sinks cannot be loaded: breaking (ModuleNotFoundError" in said
    assert "repair or uninstall breaking" in said
