from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.methods import clusters
from incrowd.methods.k_member import KMember
from incrowd.methods.microaggregation import Microaggregation
from tests.methods import naive_clusters
from tests.methods.clustering_cases import JOBS, naive_rows, opened, people, raw
from tests.methods.naive_groups import found_groups, members

METHODS = [Microaggregation, KMember]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("rows", "k"), [(30, 3), (32, 5), (9, 4), (7, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_those_of_the_definition(rows: int, k: int, seed: int, missing: bool) -> None:
    frame = people(rows, seed, missing=missing)
    expected = naive_clusters.mdav(naive_rows(frame), k, JOBS)
    found = found_groups(opened(frame), Microaggregation(labels="tight"), [ic.KAnonymity(k)])
    assert found == Counter(frozenset((raw(row), 1) for row in cluster) for cluster in expected)


def test_clusters_of_more_points_than_are_looked_at_at_once() -> None:
    """With missing values: without any, the oracle is asked about fewer points above."""
    frame = people(530, 1, missing=True)
    expected = naive_clusters.mdav(naive_rows(frame), 60, JOBS)
    found = found_groups(opened(frame), Microaggregation(labels="tight"), [ic.KAnonymity(60)])
    assert found == Counter(frozenset((raw(row), 1) for row in cluster) for cluster in expected)


def test_the_most_unusual_come_first() -> None:
    frame = pl.DataFrame({"x": [0, 1, 2, 3, 4, 5, 100], "flu": ["yes"] * 7})
    found = found_groups(opened(frame, ("x",)), Microaggregation(labels="tight"), [ic.KAnonymity(3)])
    # 100 is furthest from the mean and takes 5 and 4; the rest is too few to be parted
    assert {frozenset(value for (value,), _ in group) for group in found} == {
        frozenset({100, 5, 4}),
        frozenset({0, 1, 2, 3}),
    }


@pytest.mark.parametrize("method", METHODS)
def test_enough_equal_rows_are_a_cluster_of_their_own(method: Any) -> None:
    frame = pl.DataFrame({"x": [1] * 4 + [2, 3, 3, 4], "flu": ["yes"] * 8})
    found = found_groups(opened(frame, ("x",)), method(labels="tight"), [ic.KAnonymity(4)])
    assert frozenset({((1,), 4)}) in found
    assert frozenset({((2,), 1), ((3,), 2), ((4,), 1)}) in found


@pytest.mark.parametrize("method", METHODS)
def test_a_failing_cluster_joins_its_nearest(method: Any) -> None:
    frame = pl.DataFrame(
        {"x": [0, 1, 10, 11, 100, 101], "flu": ["a", "a", "a", "b", "a", "b"]},
    )
    models = [ic.KAnonymity(2), ic.DistinctLDiversity(2)]
    release = ic.publish(opened(frame, ("x",)), models, method=method(labels="tight"), show="label")
    assert Counter(release.to_polars()["x"]) == {"[0, 11]": 4, "[100, 101]": 2}


@pytest.mark.parametrize("labels", ["hierarchy", "tight"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("models", [[ic.KAnonymity(4)], [ic.KAnonymity(3), ic.DistinctLDiversity(2)]])
def test_published_groups_satisfy_the_models(method: Any, labels: str, models: list[Any]) -> None:
    frame = pl.concat([people(60, 5, missing=True), people(20, 5)]).with_columns(pl.col("height") // 64)
    release = ic.publish(opened(frame), models, method=method(labels=labels))
    groups = members(release, ("height", "weight", "job"))
    assert release.rows == frame.height == sum(map(len, groups.values()))
    assert min(map(len, groups.values())) >= models[0].k
    assert len(groups) > 4
    if len(models) > 1:
        assert all(len({row["flu"] for row in rows}) >= 2 for rows in groups.values())


@pytest.mark.parametrize("method", METHODS)
def test_order_of_rows_and_columns_says_nothing(method: Any) -> None:
    frame = people(50, 1, missing=True).with_columns(pl.col("height") // 128, pl.col("weight") // 128)
    models = [ic.KAnonymity(3), ic.DistinctLDiversity(2)]
    first = ic.publish(opened(frame), models, method=method()).to_polars()
    turned = frame.sample(fraction=1, shuffle=True, seed=3).select(frame.columns[::-1])
    second = ic.publish(opened(turned, ("job", "weight", "height")), models, method=method()).to_polars()
    columns = ["height", "job", "weight", "flu"]
    assert first.select(columns).sort(columns).equals(second.select(columns).sort(columns))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("values", "k", "expected"),
    [
        ([7], 1, {"7": 1}),  # one row
        ([1, 2, 3], 3, {"[1, 3]": 3}),  # k = n
        ([5] * 6, 3, {"5": 6}),  # all equal
        ([None, None, 1, 2], 2, {None: 2, "[1, 2]": 2}),  # missing is a value
        ([None, 1, 2], 3, {"*": 3}),  # missing beside values
        ([None] * 3, 2, {None: 3}),  # nothing but missing
        ([0, 1, 50, 51, 52], 2, {"[0, 1]": 2, "[50, 52]": 3}),
    ],
)
def test_small_tables(method: Any, values: list[int | None], k: int, expected: dict[str | None, int]) -> None:
    frame = pl.DataFrame({"x": values, "flu": ["a"] * len(values)}, schema={"x": pl.Int64, "flu": pl.String})
    release = ic.publish(opened(frame, ("x",)), ic.KAnonymity(k), method=method(labels="tight"), show="label")
    assert Counter(release.to_polars()["x"]) == expected


@dataclass(frozen=True)
class OddSize(Model):
    """A model under which two safe groups make an unsafe one."""

    name: ClassVar[str] = "odd-size"
    monotone: ClassVar[bool] = False
    hereditary: ClassVar[bool] = False
    min_group: ClassVar[int] = 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        return groups.sizes % 2 == 1

    def achieved(self, groups: Groups) -> float:
        return float((groups.sizes % 2).min())

    def __str__(self) -> str:
        return "odd sizes"


@pytest.mark.parametrize("method", METHODS)
def test_clusters_that_look_the_same_are_judged_as_one(method: Any) -> None:
    # Two clusters of three show "*" and are one of six to the reader; joined to the three z, they are nine.
    frame = pl.DataFrame({"x": [*"abcdef", "z", "z", "z"], "flu": ["a"] * 9})
    release = ic.publish(opened(frame, ("x",)), [ic.KAnonymity(3), OddSize()], method=method())
    assert Counter(release.to_polars()["x"]) == {"*": 9}


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns_stay(method: Any) -> None:
    frame = people(20, 2).with_columns(weight=pl.lit(70), job=pl.lit("clerk"))
    shown = ic.publish(opened(frame), ic.KAnonymity(3), method=method(), show="label").to_polars()
    assert shown["weight"].unique().to_list() == ["70"]
    assert shown["job"].unique().to_list() == ["clerk"]


@pytest.mark.parametrize("method", METHODS)
def test_too_few_rows(method: Any) -> None:
    with pytest.raises(Unsatisfiable, match="all 10 rows together reach 10"):
        ic.publish(opened(people(10, 0)), ic.KAnonymity(11), method=method())


def test_clusters_have_the_size_asked_for() -> None:
    release = ic.publish(
        opened(people(60, 4)), ic.KAnonymity(2), method=Microaggregation(group_size=10, labels="tight")
    )
    sizes = [len(rows) for rows in members(release, ("height", "weight", "job")).values()]
    assert min(sizes) == 10
    assert max(sizes) < 20


def test_a_size_beyond_the_table_is_one_cluster() -> None:
    release = ic.publish(opened(people(12, 4)), ic.KAnonymity(2), method=Microaggregation(group_size=99))
    assert len(members(release, ("height", "weight", "job"))) == 1


@pytest.mark.parametrize(
    "wrong", [{"group_size": 0}, {"group_size": 2.5}, {"group_size": True}, {"labels": "region"}, {"labels": None}]
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=r"microaggregation: (group_size|labels) is"):
        Microaggregation(**wrong)


@pytest.mark.parametrize("method", METHODS)
def test_large_tables_are_clustered_in_blocks(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MOST_POINTS", 100)
    monkeypatch.setattr(clusters, "_MOST_IN_BLOCK", 40)
    monkeypatch.setattr(clusters, "_MOST_COMPARED", 1)
    frame = people(400, 6)
    table = opened(frame)
    points = clusters.Points(table.engine.count(table.schema).tally, ("height", "job", "weight"))
    blocks = points.blocks(table.schema)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(400))
    assert max(map(len, blocks)) <= 40
    assert len(blocks) >= 10
    told: list[float] = []
    release, other = (
        ic.publish(
            table, [ic.KAnonymity(3), ic.DistinctLDiversity(2)], method=method(labels="tight"), show="label",
            threads=threads, progress=lambda step, share: told.append(share) if step == "clustering" else None,
        )
        for threads in (1, 4)
    )  # fmt: skip
    assert other.to_polars().equals(release.to_polars())
    assert told == sorted(told[: len(blocks)]) * 2
    assert told[-1] == 1
    groups = members(release, ("height", "weight", "job"))
    assert release.rows == 400
    assert all(len(rows) >= 3 and len({row["flu"] for row in rows}) == 2 for rows in groups.values())
    assert len(groups) > 40


@pytest.mark.adult
def test_adult_loses_little(adult: Path) -> None:
    frame = pl.read_csv(adult / "adult.csv", infer_schema=False).head(3000)
    quasi = ["age", "sex", "race", "marital-status", "education"]
    table = ic.read(frame, quasi=quasi, sensitive=["income"], others="drop")
    release = ic.publish(table, ic.KAnonymity(5), method=Microaggregation(labels="tight"), show="label")
    assert min(len(rows) for rows in members(release, quasi).values()) >= 5
    assert release.summary["loss"]["gcp"] < 0.15
