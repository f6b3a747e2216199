"""Questions from a file, answered by a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.query_file import read_queries
from incrowd.errors import QueryError
from tests.auditing.audit_cases import inhabitants, opened, write

pytestmark = pytest.mark.usefixtures("few_queries")

QUERIES = """
[[queries]]
age = [30, 39]
sex = "F"
[[queries]]
town = ["Bee;bee", "{Cee}"]
[[queries]]
age = { from = 65 }
ill = "flu"
[[queries]]
age = { to = 29 }
[[queries]]
age = { among = [30, 40] }
[[queries]]
town = { missing = true }
[[queries]]
ill = "flu"
"""


def asked(frame: pl.DataFrame) -> list[pl.DataFrame]:
    age, town = pl.col("age"), pl.col("town")
    return [
        frame.filter((age >= 30) & (age <= 39) & (pl.col("sex") == "F")),
        frame.filter(town.is_in(["Bee;bee", "{Cee}"])),
        frame.filter((age >= 65) & (pl.col("ill") == "flu")),
        frame.filter(age <= 29),
        frame.filter(age.is_in([30, 40])),
        frame.filter(town.is_null()),
        frame.filter(pl.col("ill") == "flu"),
    ]


@pytest.mark.parametrize(
    ("models", "method"),
    [
        (ic.KAnonymity(4), ic.Mondrian()),
        (ic.SlicedDiversity(2), ic.Slicing()),
        (ic.ProbabilisticLDiversity(2), ic.Anatomy()),
    ],
    ids=["generalized", "sliced", "bucketized"],
)
def test_errors_are_those_of_the_releases_own_answers(models: ic.Model, method: ic.Method, tmp_path: Path) -> None:
    frame = inhabitants()
    release = ic.publish(opened(frame), models, method=method, seed=0)
    path = write(tmp_path / "queries.toml", QUERIES)
    queries = read_queries(path, release.form.tally.trees)
    actual = np.array([part.height for part in asked(frame)])
    errors = np.abs(np.array([answered(release, query) for query in queries]) - actual) / np.maximum(actual, 1)
    line = release.audit(remedies=False, queries=path, learn=False).usefulness["queries"][-1]
    assert line["queries"] == "from file"
    assert line["number"] == 7
    assert line["median error"] == pytest.approx(float(np.median(errors)))
    assert line["mean error"] == pytest.approx(float(errors.mean()))


def answered(release: ic.Release, query: dict[str, Any]) -> float:
    try:
        return release.count(query)
    except QueryError:  # a value that nobody shows
        return 0.0


def test_the_page_and_the_verdict_name_them(tmp_path: Path) -> None:
    release = ic.publish(opened(inhabitants()), ic.KAnonymity(4), seed=0)
    found = release.audit(remedies=False, queries=write(tmp_path / "queries.toml", QUERIES), learn=False)
    assert any(said.startswith("The queries from the file have a median error") for said in found.verdict["good for"])
    assert "from file (7)" in found.to_html()
    assert "and of those from the file" in found.to_html()


def many(text: str) -> str:
    return (text + "\n") * 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no queries"),
        ("queries = 3", "has no queries"),
        ("[[queries]]", "has no queries"),
        ("[[queries", "is not TOML"),
        ('[[queries]]\nsex = "F"', "has 1 queries, and at least 5 are needed"),
        (many("[[queries]]\nagee = 3"), r"query 1: 'agee' is not a quasi-identifier.*age"),
        (many('[[queries]]\ntown = { from = "A" }'), "query 1: column 'town' holds names"),
        (many('[[queries]]\nage = ["young", "old"]'), "query 1: column 'age': the bounds are not of the column's kind"),
        (many("[[queries]]\nage = { between = [1, 2] }"), r"query 1: column 'age': a condition is .* \{ from, to \}"),
        (many("[[queries]]\nage = {}"), "query 1: column 'age': a condition is"),
    ],
)
def test_mistakes_are_explained(text: str, says: str, tmp_path: Path) -> None:
    release = ic.publish(opened(inhabitants(50)), ic.KAnonymity(4), seed=0)
    with pytest.raises(QueryError, match=says):
        release.audit(remedies=False, queries=write(tmp_path / "queries.toml", text), learn=False)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    release = ic.publish(opened(inhabitants(50)), ic.KAnonymity(4), seed=0)
    with pytest.raises(QueryError, match="cannot be read"):
        release.audit(remedies=False, queries=tmp_path / "nothing.toml", learn=False)
