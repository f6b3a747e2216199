from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError
from incrowd.methods.k_member import KMember
from tests.methods import naive_clusters
from tests.methods.clustering_cases import JOBS, naive_rows, opened, people, raw
from tests.methods.naive_groups import found_groups


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("rows", "k"), [(30, 3), (24, 6), (8, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_those_of_the_definition(rows: int, k: int, seed: int, missing: bool) -> None:
    frame = people(rows, seed, missing=missing)
    expected = naive_clusters.k_member(naive_rows(frame), k, JOBS)
    found = found_groups(opened(frame), KMember(labels="tight"), [ic.KAnonymity(k)])
    assert found == Counter(frozenset((raw(row), 1) for row in cluster) for cluster in expected)


def test_clusters_of_more_points_than_are_looked_at_at_once() -> None:
    """With missing values: without any, the oracle is asked about fewer points above."""
    frame = people(530, 1, missing=True)
    expected = naive_clusters.k_member(naive_rows(frame), 2, JOBS)
    found = found_groups(opened(frame), KMember(labels="tight"), [ic.KAnonymity(2)])
    assert found == Counter(frozenset((raw(row), 1) for row in cluster) for cluster in expected)


def test_a_cluster_grows_by_what_it_spans_and_not_from_its_start() -> None:
    # From 0: 10 joins first. Then 19 adds 9 to the span of 10, less than -11 would, though -11 is nearer to 0.
    frame = pl.DataFrame({"x": [-100, -99, -98, -11, 0, 10, 19, 1000, 1001, 1002, -12, -13], "flu": ["a"] * 12})
    found = found_groups(opened(frame, ("x",)), KMember(labels="tight"), [ic.KAnonymity(3)])
    assert {frozenset(value for (value,), _ in group) for group in found} == {
        frozenset({1000, 1001, 1002}),
        frozenset({-100, -99, -98}),
        frozenset({19, 10, 0}),
        frozenset({-11, -12, -13}),
    }


def test_what_is_left_over_joins_the_nearest_cluster() -> None:
    frame = pl.DataFrame({"x": [0, 1, 2, 70, 100, 101, 102], "flu": ["a"] * 7})
    release = ic.publish(opened(frame, ("x",)), ic.KAnonymity(3), method=KMember(labels="tight"))
    assert Counter(release.to_polars()["x"]) == {"[0, 2]": 3, "[70, 102]": 4}


def test_tight_ranges_show_an_extreme_value_and_say_so() -> None:
    frame = pl.DataFrame({"x": [900_000, 1_000_000, 35_000_000, 10, 20, 30], "flu": ["a"] * 6})
    tight = ic.publish(opened(frame, ("x",)), ic.KAnonymity(3), method=KMember(labels="tight"))
    assert "[900000, 35000000]" in tight.to_polars()["x"].to_list()
    assert any("tight" in warning for warning in tight.warnings)
    nodes = ic.publish(opened(frame, ("x",)), ic.KAnonymity(3), method=KMember())
    assert not any("35000000" in label for label in nodes.to_polars()["x"])


def test_wrong_parameters() -> None:
    with pytest.raises(RecipeError, match="k-member: labels is"):
        KMember(labels="region")  # type: ignore[arg-type]
