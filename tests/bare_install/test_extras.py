"""Each extra by itself is enough for what it is for, and what is missing is said by its name."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from incrowd.common.extras import EXTRAS
from tests.bare_install.hidden import installed_with, packages_without, run_with
from tests.sources.conftest import postgresql  # noqa: F401

ROOT = Path(__file__).parents[2]
HEAVY = [
    "adbc_driver_postgresql",
    "altair",
    "duckdb",
    "fastexcel",
    "hypothesis",
    "pandas",
    "pyarrow",
    "pyreadstat",
    "pyspark",
    "scipy",
    "sklearn",
]

ASK = """
import sys
import incrowd as ic
roles = dict(quasi=["age", "sex"], sensitive=["occupation"], others="drop")
def attempt(what):
    try:
        return what()
    except ic.errors.IncrowdError as error:
        print(error)
"""
READ = ASK + "people = ic.datasets.census(300)\n"


# --- what is hidden is hidden, and nothing else ---


FOR_DEVELOPERS = ("test", "docs")


def test_every_extra_is_known_by_what_it_brings() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    owners = {name: {canonicalize_name(owner) for owner in found} for name, found in packages_distributions().items()}
    for extra, needed in declared.items():
        if extra not in FOR_DEVELOPERS:
            wanted = {canonicalize_name(Requirement(one).name) for one in needed}
            assert set().union(*(owners[package] for package in EXTRAS[extra])) == wanted
    assert {*EXTRAS, *FOR_DEVELOPERS} == set(declared)


WANTED = sorted({*HEAVY, *(package for brought in EXTRAS.values() for package in brought)})
CAN = f"""
import importlib, importlib.util
def can(name):
    there = importlib.util.find_spec(name) is not None
    try: importlib.import_module(name)
    except ModuleNotFoundError: assert not there, name
    else: assert there, name
    return there
print(*[name for name in {WANTED} if can(name)])
"""
ALONE = ("pandas", "excel", "statistics", "duckdb", "experiments", "testing")
"""Extras that are used further below anyway, where neither a server nor Java is needed."""


def require_only(extra: str | None, seen: set[str]) -> None:
    """Hold what could be imported against what an extra brings."""
    assert seen >= set(EXTRAS[extra] if extra else ())
    assert not seen & packages_without(extra)
    allowed = installed_with(extra)
    assert {"polars", "numpy", "typer"} <= allowed
    assert not {"pytest", "mypy", "opendp"} & allowed
    assert ("pandas" in seen) == (extra in ("pandas", "spark"))
    assert ("scipy" in seen) == (extra in ("accounting", "experiments"))


@pytest.mark.parametrize("extra", [None, *(extra for extra in EXTRAS if extra not in ALONE)])
def test_only_what_the_extra_brings_can_be_imported(extra: str | None) -> None:
    require_only(extra, set(run_with(extra, CAN).split()))


def alone(extra: str, code: str, *, place: Path | None = None) -> list[str]:
    """Run code where one extra is installed, and return its lines; then nothing else can be imported there, either."""
    assert extra in ALONE
    *lines, seen = run_with(extra, code + CAN, place=place).splitlines()
    require_only(extra, set(seen.split()))
    return lines


def test_what_is_hidden_is_hidden_from_other_processes_too() -> None:
    code = """
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "import pandas"], capture_output=True, text=True).stderr.splitlines()[-1])
"""
    assert run_with(None, code) == "ModuleNotFoundError: No module named 'pandas'"


# --- each extra alone ---


def test_pandas_alone() -> None:
    code = (
        READ
        + """
import pandas as pd, pyarrow as pa
frame = pd.DataFrame(people.to_dict(as_series=False)).astype({"occupation": "category"})
for given in (frame, pa.Table.from_pandas(frame.astype({"occupation": "str"}))):
    release = ic.publish(ic.read(given, **roles), ic.KAnonymity(5))
    print(type(release.data).__module__.partition(".")[0], len(release.data))
"""
    )
    assert alone("pandas", code) == ["pandas 300", "pyarrow 300"]


@pytest.mark.parametrize(("extra", "formats"), [("excel", ["xlsx"]), ("statistics", ["sav", "dta"])])
def test_kinds_of_files_with_their_extra_alone(extra: str, formats: list[str], tmp_path: Path) -> None:
    code = (
        READ
        + f"""
release = ic.publish(ic.read(people, **roles), ic.KAnonymity(5))
for format in {formats}:
    path = release.save(format, format=format)
    print(ic.open_release(format).rows, ic.check(path, quasi=["age", "sex"], each_row_a_person=True).rows)
"""
    )
    assert alone(extra, code, place=tmp_path) == ["300 300"] * len(formats)


def test_duckdb_alone(tmp_path: Path) -> None:
    code = (
        READ
        + """
release = ic.publish(ic.read(people, **roles), ic.KAnonymity(5))
release.save("duckdb:///out.db#released")
print(ic.open_release("duckdb:///out.db#released").rows)
print(ic.read("out.db", query="released", **roles).engine.source.columns)
"""
    )
    assert alone("duckdb", code, place=tmp_path) == ["300", "('age', 'sex', 'occupation')"]


@pytest.mark.postgresql
def test_postgresql_alone(postgresql: str) -> None:  # noqa: F811
    code = (
        READ
        + """
import sys
query = "SELECT n % 40 AS age, 'm' AS sex, 'job ' || n % 3 AS occupation FROM generate_series(1, 200) AS n"
release = ic.publish(ic.read(sys.argv[1], query=query, **roles), ic.KAnonymity(5))
print(type(release.data).__module__.partition(".")[0], len(release.data))
"""
    )
    assert run_with("postgresql", code, postgresql) == "polars 200"


def test_experiments_alone(tmp_path: Path) -> None:
    code = (
        READ
        + """
from pathlib import Path
from incrowd.experiments.charts import Axis, lines, save
release = ic.publish(ic.read(people, **roles), ic.KAnonymity(5), method=ic.Mondrian())
print(sorted(release.audit(remedies=False).to_dict()["usefulness"]["learning"][0]) != [])
import polars as pl
frame = pl.DataFrame({"k": [2, 5, 9], "loss": [0.1, 0.2, 0.4], "method": ["one"] * 3})
chart = lines(frame, Axis("k", "k"), Axis("loss", "loss"), {"one": "#000000"}, title="A chart")
print([path.suffix for path in save(chart, Path("chart")) if path.stat().st_size > 1000])
features, classes, weights = release.training_set("occupation")
from sklearn.tree import DecisionTreeClassifier
print(DecisionTreeClassifier().fit(features.select("age"), classes, weights).score(features.select("age"), classes) > 0)
"""
    )
    assert alone("experiments", code, place=tmp_path) == ["True", "['.png', '.svg']", "True"]


# Spark's extra alone is tried in tests/engines/test_spark_saving.py, by a process that has more to do.


def test_testing_alone() -> None:
    code = """
from incrowd import Mondrian
from incrowd.testing import check_method, check_registered
check_method(Mondrian(), examples=2)
print(check_registered(["sinks"], examples=1))
"""
    assert alone("testing", code) == ["{'sinks': ['ArrowSink()', 'CsvSink()', 'ParquetSink()']}"]


# --- without it, or without a part of it ---


def told(extra: str, what: str, package: str) -> str:
    return f"{what} need {package}, which is not installed.  Hint: pip install 'incrowd[{extra}]'."


WITHOUT = """
import sitecustomize, sys
hidden = sitecustomize.HIDDEN
def without_each(attempt):
    \"\"\"Try something where one part after the other is hidden, in one process; what is there already cannot be.\"\"\"
    for missing in sys.argv[1:]:
        assert missing not in sys.modules, missing
        sitecustomize.HIDDEN = hidden | {missing}
        attempt(missing)
"""
COMMAND = (
    WITHOUT
    + """
from incrowd.cli import main
sys.stderr = sys.stdout
def command(*arguments):
    sys.argv = ["incrowd", *arguments]
    try: main()
    except SystemExit as end: print(end.code)
"""
)


def test_pandas_without_pyarrow_names_the_extra() -> None:
    code = (
        READ
        + """
import pandas as pd
numbers = pd.DataFrame(people.select("age", "salary").to_dict(as_series=False))
texts = pd.DataFrame(people.select("age", "sex").to_dict(as_series=False)).astype({"sex": "str"})
release = ic.publish(ic.read(numbers, quasi=["age"], sensitive=["salary"]), ic.KAnonymity(5))
print(release.to_polars().height)
attempt(lambda: release.data)
attempt(lambda: ic.read(texts, quasi=["age", "sex"]))
"""
    )
    expected = told("pandas", "pandas frames", "pyarrow")
    assert run_with("pandas", code, hide=["pyarrow"]).splitlines() == ["300", expected, expected]


def test_a_database_without_its_driver_or_pyarrow_names_the_extra() -> None:
    missing = EXTRAS["postgresql"]
    read = "ic.read('postgresql://localhost/people', query='people', **roles)"
    code = ASK + WITHOUT + f"without_each(lambda _: attempt(lambda: {read}))"
    expected = [told("postgresql", "PostgreSQL databases", one) for one in missing]
    assert run_with("postgresql", code, *missing).splitlines() == expected


def test_the_core_alone_writes_no_other_kinds_of_files_and_names_the_extra_of_checks(tmp_path: Path) -> None:
    needed = {
        "xlsx": told("excel", "Excel workbooks", "xlsxwriter"),
        "sav": told("statistics", "SPSS files", "pyreadstat"),
        "dta": told("statistics", "Stata files", "pyreadstat"),
        "xpt": told("statistics", "SAS files", "pyreadstat"),
    }
    code = (
        READ
        + f"""
import os
release = ic.publish(ic.read(people, **roles), ic.KAnonymity(5))
for format in {list(needed)}:
    attempt(lambda: release.save("out", format=format))
    print(os.listdir())
try:
    import incrowd.testing
except ImportError as error:  # as whoever imports a module expects
    print(error)
"""
    )
    expected = [line for said in needed.values() for line in (said, "[]")]
    expected.append(told("testing", "conformance checks", "hypothesis"))
    assert run_with(None, code, place=tmp_path).splitlines() == expected


def test_spark_without_a_part_of_its_extra_names_it() -> None:
    missing = EXTRAS["spark"]
    code = (
        ASK
        + WITHOUT
        + """
class DataFrame: ...
DataFrame.__module__ = "pyspark.sql.classic.dataframe"  # no session is needed to see that it cannot be read
def ask(missing):
    if missing != "pyspark":  # whose frame it would be
        attempt(lambda: ic.read(DataFrame(), **roles))
    from incrowd.engines.spark.session import start
    attempt(start)
without_each(ask)
"""
    )
    expected = []
    for one in missing:
        expected += [told("spark", "sessions and frames of Spark", one)] * (1 if one == "pyspark" else 2)
    assert run_with("spark", code, *missing).splitlines() == expected


def test_a_part_of_the_extra_of_the_studio_is_not_enough(tmp_path: Path) -> None:
    missing = EXTRAS["studio"]
    code = COMMAND + "without_each(lambda _: command('studio'))"
    expected = [line for one in missing for line in (f"incrowd: {told('studio', 'pages in the browser', one)}", "3")]
    assert run_with("studio", code, *missing, place=tmp_path).splitlines() == expected


EXPERIMENTS = ("sattar", "sdgs", "slicing")


def test_a_part_of_the_extra_of_experiments_is_not_enough(tmp_path: Path) -> None:
    missing = EXTRAS["experiments"]
    asked = dict(zip(missing, EXPERIMENTS, strict=True))
    code = COMMAND + f"without_each(lambda missing: command('experiment', {asked}[missing]))"
    said = [f"incrowd: {told('experiments', 'experiments and charts', one)}" for one in missing]
    expected = [line for one in said for line in (one, "3")]
    assert run_with("experiments", code, *missing, place=tmp_path).splitlines() == expected
