"""How sure counts are: bounds that always hold against naive ones, intervals against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from benchmarks.intervals import coverage, natural_queries, true_count
from incrowd.core.estimate import CountBounds, beta_quantile
from incrowd.errors import QueryError


def census(rows: int = 1500) -> pl.DataFrame:
    return ic.datasets.census(rows, seed=3).select("age", "sex", "education", "occupation")


def published(frame: pl.DataFrame, model: Any, **how: Any) -> ic.Release:
    quasi = [name for name in frame.columns if name != "occupation"]
    return ic.publish(ic.read(frame, quasi=quasi, sensitive=["occupation"]), model, seed=1, **how)


WAYS = {
    "mondrian": (ic.KAnonymity(10), {}),
    "hierarchy": (ic.KAnonymity(10), {"method": ic.Mondrian(labels="hierarchy")}),
    "full domain": (ic.KAnonymity(10), {"method": ic.FullDomain(max_withheld=0)}),
    "anatomy": (ic.LDiversity(3), {"method": ic.Anatomy()}),
    "multisets": (ic.LDiversity(3), {"form": ic.ShowMultisets()}),
    "slicing": (ic.SlicedDiversity(3), {"method": ic.Slicing()}),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_truth_is_between_the_bounds_and_mostly_in_the_interval(way: str) -> None:
    frame = census()
    model, how = WAYS[way]
    release = published(frame, model, **how)
    queries = natural_queries(frame, 60, seed=5)
    found = coverage("census", release, way, frame, queries)
    assert found.within_bounds == 1.0
    assert found.held >= 0.9
    estimate = release.estimate(queries[0])
    assert estimate.value == release.count(queries[0])


@pytest.mark.parametrize("way", ["mondrian", "anatomy"])
def test_intervals_of_made_up_certainty_would_fail(way: str) -> None:
    """Plant it: intervals of independent rows alone, or of none, do not hold the truth."""
    frame = census()
    model, how = WAYS[way]
    release = published(frame, model, **how)
    missed = 0
    for query in natural_queries(frame, 60, seed=5):
        estimate = release.estimate(query)
        missed += abs(true_count(frame, query) - estimate.value) > 0.5 and estimate.error > 0
    assert missed > 10


def naive_bounds(release: ic.Release, low: int, high: int) -> tuple[int, int]:
    """Return the rows whose label of a whole number must, and may, lie between two numbers, label by label."""
    least = most = 0
    for label in release.to_polars()["age"]:
        if label.startswith("["):
            first, after = (int(text) for text in label[1:-1].split(", "))
        elif label.startswith("<"):
            first, after = -(10**9), int(label[1:])
        elif label.startswith(">="):
            first, after = int(label[2:]), 10**9
        elif label == "*":
            first, after = -(10**9), 10**9
        else:
            first, after = int(label), int(label) + 1
        least += low <= first and after - 1 <= high
        most += first <= high and low < after
    return least, most


def test_bounds_of_ranges_are_as_by_hand() -> None:
    release = ic.publish(ic.read(census().select("age"), quasi=["age"]), ic.KAnonymity(40))
    for low, high in [(30, 39), (0, 200), (18, 18), (60, 150), (120, 130), (50, 50)]:
        found = release.estimate({"age": (low, high)})
        assert (found.least, found.most) == naive_bounds(release, low, high)
        assert found.least <= found.low <= found.value <= found.high <= found.most


def test_bounds_of_buckets_are_as_by_hand() -> None:
    frame = census(300)
    release = published(frame, ic.LDiversity(3), method=ic.Anatomy())
    rows, values = release.to_polars(), release.tables["sensitive"]
    for low, high, job in [(30, 50, "Sales"), (0, 99, "Sales"), (18, 25, frame["occupation"][0])]:
        if job not in frame["occupation"].to_list():
            continue
        found = release.estimate({"age": (low, high), "occupation": job})
        least = most = expected = 0.0
        for (bucket,), members in rows.group_by("bucket"):
            size = members.height
            fits = members.filter(pl.col("age").is_between(low, high)).height
            have = values.filter(pl.col("bucket") == bucket, pl.col("occupation") == job)["count"].sum()
            least += max(0, fits + have - size)
            most += min(fits, have)
            expected += fits * have / size
        assert (found.least, found.most) == (least, most)
        assert found.value == pytest.approx(expected)


def test_chance_pairing_has_the_variance_of_an_urn() -> None:
    from incrowd.forms.count_errors import Part, chance_pairing

    none = np.zeros(1)
    for size, first, second in [(10, 4, 5), (3, 1, 1), (1, 1, 1), (6, 6, 2)]:
        parts = [Part(np.array([float(n)]), np.array([float(n)]), np.array([float(n)]), none) for n in (first, second)]
        found = chance_pairing(np.array([size]), parts)
        rng = np.random.default_rng(0)
        drawn = rng.hypergeometric(first, size - first, second, 200_000)
        extra = (0.1 * size) ** 2 * (first / size) * (1 - first / size) * (second / size) * (1 - second / size)
        assert found.value == pytest.approx(drawn.mean(), abs=0.02)
        assert found.variance - extra == pytest.approx(drawn.var(), abs=0.02)


def test_what_is_certain_has_no_interval() -> None:
    frame = pl.DataFrame({"sex": ["F", "M"] * 20, "occupation": ["a", "b", "c", "d"] * 10})
    release = published(frame, ic.KAnonymity(5))
    for query in ({"sex": "F"}, {"occupation": "a"}, {}):
        found = release.estimate(query)
        assert found.low == found.value == found.high == true_count(frame, query)
        assert found.error == 0
    assert str(release.estimate({"sex": "F"})) == "20 (20 to 20)"


@pytest.mark.parametrize("rows", [1, 2])
def test_tiny_tables(rows: int) -> None:
    frame = pl.DataFrame({"age": [30, 41][:rows], "occupation": ["a", "b"][:rows]})
    found = published(frame, ic.BucketSize(rows)).estimate({"occupation": "a"})
    assert found.least <= found.low <= found.value <= found.high <= found.most


def test_a_sample_is_less_sure_and_holds_the_truth() -> None:
    frame = census(2000)
    held = []
    for seed in range(12):
        table = ic.read(frame, quasi=["age", "sex", "education"], sensitive=["occupation"])
        release = ic.publish(table, ic.KAnonymity(5), sample=0.5, seed=seed)
        found = release.estimate({"sex": frame["sex"][0]})
        assert found.most == float("inf")
        assert found.error > 0
        assert "sampled" in found.assumes
        held.append(found.low <= true_count(frame, {"sex": frame["sex"][0]}) <= found.high)
    assert sum(held) >= 10


def test_weights_are_bounded_too(tmp_path: Path) -> None:
    frame = census(400).with_columns(w=pl.Series(np.tile([1.5, 2.0], 200)))
    quasi, sensitive = ["age", "sex"], ["occupation"]
    table = ic.read(frame, quasi=quasi, sensitive=sensitive, weight="w", others="drop")
    release = ic.publish(table, ic.KAnonymity(20), seed=1)
    release.save(tmp_path / "out")
    again = ic.open_release(tmp_path / "out")
    for query in ({"age": (30, 45)}, {"age": (30, 45), "sex": frame["sex"][0]}):
        found = release.estimate(query)
        assert found == again.estimate(query)
        assert found.value == release.count(query) != release.estimate(query, weighted=False).value
        assert found.least <= found.low <= found.value <= found.high <= found.most


def test_wider_confidence_is_a_wider_interval() -> None:
    release = published(census(), ic.KAnonymity(20))
    narrow, wide = (release.estimate({"age": (31, 44)}, confidence=share) for share in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    for wrong in (0, 1, 95, "a lot"):
        with pytest.raises(QueryError, match="confidence"):
            release.estimate({"age": 30}, confidence=wrong)  # type: ignore[arg-type]


def test_intervals_are_those_of_the_beta_distribution() -> None:
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    for first, second in 10 ** rng.uniform(-1, 3, (40, 2)):
        for share in (0.025, 0.5, 0.975):
            assert beta_quantile(share, first, second) == pytest.approx(scipy.beta.ppf(share, first, second), abs=1e-7)
    low, high = CountBounds(50, 0, 100, 25.0, 50).interval(0.95)
    assert (low, high) == pytest.approx((50 - 9.8, 50 + 9.8), abs=0.2)
