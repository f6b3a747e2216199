"""Every example of README, docs and docstrings, run as it stands; and which of them may ask for an extra."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from tests.bare_install.environment import NEED_AN_EXTRA

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# What a command that is shown ends with, if not in 0: its exit code and what it says.
ENDS_IN = {
    "incrowd experiment sattar": (3, "pip install 'incrowd[experiments]'"),
    "incrowd evidence --new-key steward": (3, "pip install 'incrowd[evidence]'"),
    "incrowd evidence --verify patients-release-evidence --public-key steward.pub": (
        3,
        "pip install 'incrowd[evidence]'",
    ),
    "incrowd studio patients.csv": (3, "pip install 'incrowd[studio]'"),
    "incrowd studio patients.csv --folder . --no-browser": (3, "pip install 'incrowd[studio]'"),
}
ENGINE = (3, "pip install 'incrowd[spark]'")
# Takes a minute as it stands.
SHORTER = {"incrowd demo": "incrowd demo --rows 500 --jobs 1"}
# A program for a cluster: its second line imports Spark.
FOR_SPARK = "from pyspark.sql import SparkSession"


def faults(place: Path) -> Iterator[str]:
    """Yield what an example does that its reader would not expect."""
    _write_files(place)
    names = _names(place)
    with chdir(place):
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
                yield from (f"{document.name}: {fault}" for fault in _run_code(code, names))
    shutil.copy(place / "out" / "data.csv", place / "theirs.csv")
    done: set[str] = set()  # what one document shows, another may show again; what it wrote is there already
    for document in DOCUMENTS:
        for found in re.findall(r"^    (incrowd .*?)(?:  +#.*)?$", document.read_text(encoding="utf-8"), flags=re.M):
            command = found.strip()
            if command not in done:
                yield from (f"{document.name}: {command}: {fault}" for fault in _run_command(command, place))
            done.add(command)
    yield from _docstrings()


ILLNESSES = ("flu", "gout", "asthma", "migraine", "eczema")
RECIPE = """
incrowd = 1
[source]
path = "people.csv"
[[models]]
name = "k-anonymity"
k = 5
[method]
name = "mondrian"
[columns]
name = { role = "identifier" }
age = { role = "quasi" }
sex = { role = "quasi" }
zip = { role = "quasi" }
diagnosis = { role = "sensitive" }
"""
STAYS = """
incrowd = 1
[source]
path = "stays.csv"
[[models]]
name = "k-anonymity"
k = 5
[columns]
patient = { role = "person" }
age = { role = "quasi" }
sex = { role = "quasi" }
diagnosis = { role = "sensitive" }
"""
DESCRIPTION = '[columns]\nage = "quasi"\nsex = "quasi"\nzip = "quasi"\ndiagnosis = "sensitive"\n'


def _write_files(place: Path) -> None:
    """Write the files that examples name: a table of patients, the same elsewhere, a recipe and a description."""
    rows = [
        f"Person {row},{18 + row * 7 % 70},{'FM'[row % 2]},{10115 + row * 13 % 40},{ILLNESSES[row * 11 % 17 % 5]}"
        for row in range(1500)
    ]
    table = "\n".join(["name,age,sex,zip,diagnosis", *rows]) + "\n"
    for name in ("patients.csv", "people.csv"):
        (place / name).write_text(table, encoding="utf-8")
    _write_people(place)
    _write_survey(place)
    (place / "people.toml").write_text(RECIPE, encoding="utf-8")
    (place / "stays.recipe.toml").write_text(STAYS, encoding="utf-8")
    (place / "theirs.toml").write_text(DESCRIPTION, encoding="utf-8")


def _write_people(place: Path) -> None:
    """Write tables in which a person has several rows: visits in one table, and members with their events in three."""
    from datetime import date, timedelta

    import polars as pl

    number = range(400)
    members = pl.DataFrame(
        {"pid": number, "age": [18 + row * 7 % 70 for row in number], "zip": [10115 + row * 13 % 40 for row in number]}
    )
    members.write_csv(place / "members.csv")
    families = members.with_columns(hid=pl.col("pid") // 3, income=pl.col("pid") * 37 % 900)
    families.write_csv(place / "families.csv")
    treated = [(row, ILLNESSES[(row * 3 + one * one) % 5], one) for row in number for one in range(1 + row % 2)]
    days = [date(2024, 1, 1) + timedelta(days=(row * 17 + one * 40) % 300) for row, _, one in treated]
    events = pl.DataFrame(
        {"pid": [row for row, _, _ in treated], "diagnosis": [ill for _, ill, _ in treated], "day": days}
    )
    events.write_parquet(place / "treatments.parquet")
    bought = [(row, f"product {row * one % 7}") for row in number for one in range(1, 1 + row % 4)]
    pl.DataFrame(bought, schema=["pid", "product"], orient="row").write_csv(place / "purchases.csv")
    people = members.select(patient="pid", age="age").with_columns(sex=pl.Series(["F", "M"] * 200))
    stays = {
        "patient": number,
        "age": [18 + row * 37 % 71 for row in number],
        "sex": ["FM"[row // 3 % 2] for row in number],
        "diagnosis": [ILLNESSES[row * row % 23 % 5] for row in number],
    }
    pl.DataFrame(stays).write_csv(place / "stays.csv")
    events.rename({"pid": "patient", "day": "visit"}).join(people, on="patient").write_csv(place / "visits.csv")


def _write_survey(place: Path) -> None:
    """Write a survey, with weights that hardly two people share."""
    rows = [
        f"{18 + row * 7 % 70},{'FM'[row % 2]},{'NSW'[row % 3]},{('low', 'middle', 'high')[row * 11 % 17 % 3]},"
        f"{200 + row * 7919 % 1013 / 8}"
        for row in range(800)
    ]
    (place / "survey.csv").write_text("\n".join(["age,sex,region,income,wgt", *rows]) + "\n", encoding="utf-8")


def _names(place: Path) -> dict[str, Any]:
    """Return what examples take for granted: a table whose hierarchies are declared, and people with names."""
    import polars as pl

    import incrowd as ic

    zips = [str(code) for code in range(10115, 10155)]
    groups = {
        start: [code for code in zips if code.startswith(start)] for start in ("1011", "1012", "1013", "1014", "1015")
    }
    declared = {
        "age": ic.Intervals(widths=[5, 10, 20, 40], lower=0, upper=100),
        "sex": ic.Categories.from_tree({"any": ["F", "M"]}),
        "zip": ic.Categories.from_tree({"all": {"101": groups}}),
        "diagnosis": ic.Categories.from_tree({"any": list(ILLNESSES)}),
    }
    # Of a tenth of the table, SDGS publishes what twenty people share.
    many = pl.concat([pl.read_csv(place / "patients.csv", schema_overrides={"zip": pl.String})] * 27)
    table = ic.read(many, quasi=["age", "sex", "zip"], sensitive=["diagnosis"], others="drop", hierarchies=declared)
    return {"ic": ic, "declared": table, "people": place / "people.csv"}


def _run_code(code: str, names: dict[str, Any]) -> Iterator[str]:
    if "ic.read(" not in code:
        names["table"] = names["declared"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, "example", "exec"), names)
    except ModuleNotFoundError as error:
        if FOR_SPARK not in code or error.name != "pyspark":
            yield f"{type(error).__name__}: {error}"
    except Exception as error:
        yield f"{type(error).__name__}: {error}"


def _run_command(command: str, place: Path) -> Iterator[str]:
    code, said = ENGINE if "--engine spark" in command else ENDS_IN.get(command, (0, ""))
    words = shlex.split(SHORTER.get(command, command))[1:]
    if "--engine" in words and "--output" not in words:
        words += ["--output", "made by Spark"]  # the recipe's own directory is there already, from the example before
    done = subprocess.run(
        [sys.executable, "-m", "incrowd", *words], cwd=place, capture_output=True, text=True, timeout=300
    )
    if done.returncode != code or said not in done.stderr or "Warning" in done.stderr:
        yield f"ends in {done.returncode}: {done.stderr.strip()}"


def _docstrings() -> Iterator[str]:
    import incrowd

    for module in pkgutil.walk_packages(incrowd.__path__, "incrowd.", onerror=lambda name: None):
        if module.name.startswith(tuple(NEED_AN_EXTRA)) or module.name.endswith("__main__"):
            continue
        report: list[str] = []
        runner = doctest.DocTestRunner(verbose=False)
        for test in doctest.DocTestFinder().find(importlib.import_module(module.name)):
            runner.run(test, out=report.append)
        if runner.failures:
            yield f"{module.name}: {''.join(report)}"
