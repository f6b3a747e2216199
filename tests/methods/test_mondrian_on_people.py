"""Releases of real and generated people, judged by pyCANON on what was published."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pycanon.anonymity import k_anonymity, l_diversity

import incrowd as ic

Q = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
VARIANTS = [(cuts, labels) for cuts in ("strict", "relaxed") for labels in ("region", "hierarchy", "tight")]


def for_pycanon(published: pl.DataFrame) -> pd.DataFrame:
    """Give each text a number: pyCANON asks only which are equal, and finds that sooner; it leaves rows with nulls out
    of its groups, so a missing value is one of them.
    """
    return published.with_columns(
        pl.all().cast(pl.String).fill_null("(missing)").rank("dense").cast(pl.Int64)
    ).to_pandas()


def hierarchies(folder: Path, quasi: list[str]) -> dict[str, Any]:
    """ARX's hierarchies; age is left to itself, since its file puts 20 into 15-19."""
    return {
        name: ic.Categories.read_csv(folder / f"hierarchy_{name}.csv")
        for name in quasi
        if name != "age" and (folder / f"hierarchy_{name}.csv").exists()
    }


@cache
def some_people(folder: Path) -> pl.DataFrame:
    """Return every sixth of Adult's people: what is asked of many ways to cut and to label needs no more of them."""
    return pl.read_csv(folder / "adult.csv", infer_schema=False).gather_every(6)


def require_k_and_l(
    source: Any,
    quasi: list[str],
    sensitive: str,
    k: int,
    l: int,
    method: ic.Mondrian,
    trees: dict[str, Any] | None = None,
) -> ic.Release:
    """Publish under k and ℓ, and have pyCANON find at least those."""
    table = ic.read(source, quasi=quasi, sensitive=[sensitive], others="drop", hierarchies=trees)
    release = ic.publish(table, [ic.KAnonymity(k), ic.LDiversity(l)], method=method)
    published = for_pycanon(release.to_polars())
    assert len(published) == release.rows == release.rows_in
    assert k_anonymity(published, quasi) == release.guarantees[0].achieved >= k
    if l > 1:
        assert l_diversity(published, quasi, [sensitive]) == release.guarantees[1].achieved >= l
    return release


@pytest.mark.adult
@pytest.mark.parametrize(("cuts", "k"), [("strict", 50), ("relaxed", 2)])  # on fewer people, both with both: below
def test_adult(adult: Path, cuts: Any, k: int) -> None:
    release = require_k_and_l(adult / "adult.csv", Q, "income", k, 1, ic.Mondrian(cuts=cuts))
    assert release.rows == 45_222


@pytest.mark.adult
@pytest.mark.slow
@pytest.mark.parametrize(("cuts", "labels", "k"), [(*each, (2, 10)[place % 2]) for place, each in enumerate(VARIANTS)])
def test_adult_with_hierarchies(adult: Path, cuts: Any, labels: Any, k: int) -> None:
    """Both k with all cuts and with all labels."""
    method = ic.Mondrian(cuts=cuts, labels=labels)
    require_k_and_l(some_people(adult), Q, "income", k, 1, method, hierarchies(adult, Q))


@pytest.mark.adult
@pytest.mark.parametrize(("cuts", "k"), [("strict", 2), ("relaxed", 50)])
def test_some_of_adult(adult: Path, cuts: Any, k: int) -> None:
    require_k_and_l(some_people(adult), Q, "income", k, 1, ic.Mondrian(cuts=cuts))


@pytest.mark.adult
@pytest.mark.parametrize(("cuts", "labels"), VARIANTS)
def test_adult_with_two_incomes_in_every_group(adult: Path, cuts: Any, labels: Any) -> None:
    require_k_and_l(some_people(adult), Q, "income", 100, 2, ic.Mondrian(cuts=cuts, labels=labels))


@pytest.mark.adult
@pytest.mark.slow
@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
@pytest.mark.parametrize(("k", "l"), [(50, 2), (20, 4), (50, 5)])
def test_adult_with_many_occupations_in_every_group(adult: Path, cuts: Any, k: int, l: int) -> None:
    quasi = [name for name in Q if name != "occupation"]
    require_k_and_l(some_people(adult), quasi, "occupation", k, l, ic.Mondrian(cuts=cuts), hierarchies(adult, quasi))


@pytest.mark.adult
@pytest.mark.parametrize(("cuts", "every"), [("strict", 4), ("relaxed", 1)])
def test_adult_with_missing_values(adult: Path, cuts: Any, every: int) -> None:
    path = adult / "adult_with_missing.csv"
    raw = pl.read_csv(path, infer_schema=False).gather_every(every)
    release = require_k_and_l(path if every == 1 else raw, Q, "income", 100, 2, ic.Mondrian(cuts=cuts))
    assert release.rows == -(-48_842 // every)
    for name in ("workclass", "occupation", "native-country"):
        missing = raw[name].null_count()
        shown = release.to_polars()[name]
        assert missing > 0
        assert shown.null_count() <= missing <= shown.null_count() + (shown == "*").sum()


@pytest.mark.parametrize(("cuts", "labels"), VARIANTS)
def test_census(cuts: Any, labels: Any) -> None:
    quasi = ["age", "sex", "education", "marital", "race", "birth_place"]
    trees = {
        name: ic.Categories.from_tree(ic.datasets.CENSUS_TREES[name])
        for name in quasi
        if name in ic.datasets.CENSUS_TREES
    }
    people = ic.datasets.census(2000, seed=1)
    method = ic.Mondrian(cuts=cuts, labels=labels)
    require_k_and_l(people, quasi, "occupation", 10, 3, method, trees)
