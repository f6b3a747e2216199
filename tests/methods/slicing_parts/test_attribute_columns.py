"""The attribute partition: k-medoids against brute force, and where sensitive attributes go."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.arrays import Floats
from incrowd.datasets.ratings import GENRES, ratings
from incrowd.errors import RecipeError
from incrowd.forms.slices.slices import slice_tally
from incrowd.methods.slicing_parts import medoids
from incrowd.methods.slicing_parts.attribute_columns import partition_attributes
from incrowd.methods.slicing_parts.buckets import largest_l
from incrowd.methods.slicing_parts.correlation import contingency
from incrowd.methods.slicing_parts.medoids import best_number, k_medoids, silhouette
from tests.forms.slices.slicing_cases import tally_of


def points(number: int, seed: int, digits: int = 6) -> Floats:
    """Distances of points on a plane; with few digits there are many ties."""
    places = np.random.default_rng(seed).random((number, 2))
    distances: Floats = np.round(np.linalg.norm(places[:, None] - places[None, :], axis=2), digits)
    return distances


def cost(distances: Floats, chosen: tuple[int, ...]) -> float:
    return sum(min(float(distances[medoid, point]) for medoid in chosen) for point in range(len(distances)))


@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 50), st.sampled_from([1, 6]))
def test_few_points_are_clustered_at_the_least_cost(number: int, k: int, seed: int, digits: int) -> None:
    k = min(k, number)
    distances = points(number, seed, digits)
    found = k_medoids(distances, k)
    best = min(cost(distances, chosen) for chosen in combinations(range(number), k))
    assert found.cost == pytest.approx(best)
    assert cost(distances, tuple(found.medoids.tolist())) == pytest.approx(best)
    for point, cluster in enumerate(found.cluster_of):
        assert distances[found.medoids[cluster], point] == distances[found.medoids, point].min()
    assert found.cluster_of[found.medoids].tolist() == list(range(k))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_no_swap_helps(seed: int, k: int) -> None:
    """The swap phase ends where no exchange of one medoid lowers the cost; it is held against trying them all."""
    distances = points(40, seed)
    found = medoids._swap(distances, np.sort(medoids._build(distances, k)))
    least = cost(distances, tuple(found.tolist()))
    for out in range(k):
        for into in set(range(40)) - set(found.tolist()):
            swapped = [*np.delete(found, out).tolist(), into]
            assert cost(distances, tuple(swapped)) >= least - 1e-9
    assert least <= cost(distances, tuple(medoids._build(distances, k).tolist()))


def test_swaps_find_what_brute_force_finds_where_clusters_are_clear() -> None:
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.normal(centre, 0.1, 12) for centre in (0, 5, 9)])
    distances = np.abs(places[:, None] - places[None, :])
    found = medoids._swap(distances, np.array([0, 1, 2]))
    best = min(combinations(range(36), 3), key=lambda chosen: cost(distances, chosen))
    assert found.tolist() == sorted(best)
    assert best_number(distances, 10).medoids.tolist() == sorted(best)


def test_silhouette_by_hand() -> None:
    """Points at 0, 1, 10 and 12: for each, how much nearer its own cluster is on average than the next one."""
    places = np.array([0.0, 1.0, 10.0, 12.0])
    distances = np.abs(places[:, None] - places[None, :])
    by_hand = [(11 - 1) / 11, (10 - 1) / 10, (9.5 - 2) / 9.5, (11.5 - 2) / 11.5]
    assert silhouette(distances, np.array([0, 0, 1, 1])) == pytest.approx(np.mean(by_hand))
    assert silhouette(distances, np.array([0, 0, 0, 1])) == pytest.approx(
        np.mean([(12 - 5.5) / 12, (11 - 5) / 11, (2 - 9.5) / 9.5, 0])
    )


NAMES = ["a1", "a2", "b1", "b2", "b3", "s", "t"]


def blocks(s: str = "a", t: str = "b") -> Floats:
    """Two families of attributes; s and t hang on one of them each."""
    family = ["a", "a", "b", "b", "b", s, t]
    phi = np.array([[0.6 if x == y else 0.1 for y in family] for x in family])
    phi[5:, :5] -= 0.05
    phi[:5, 5:] -= 0.05
    np.fill_diagonal(phi, 1)
    return phi


def test_families_are_columns() -> None:
    assert partition_attributes(NAMES, blocks(), sensitive=["s", "t"], column_count=2) == (
        ("a1", "a2", "s"),
        ("b1", "b2", "b3", "t"),
    )
    assert partition_attributes(NAMES, blocks(), sensitive=["s", "t"]) == (("a1", "a2", "s"), ("b1", "b2", "b3", "t"))
    assert partition_attributes(NAMES, blocks()) == (("a1", "a2", "s"), ("b1", "b2", "b3", "t"))


@pytest.mark.parametrize("number", range(1, 8))
def test_the_number_of_columns(number: int) -> None:
    columns = partition_attributes(NAMES, blocks(), sensitive=["s"], column_count=number)
    assert len(columns) == number
    assert sorted(name for column in columns for name in column) == NAMES


@given(st.permutations(range(7)))
def test_order_changes_nothing(order: list[int]) -> None:
    phi = blocks()[np.ix_(order, order)]
    names = [NAMES[place] for place in order]
    assert partition_attributes(names, phi, sensitive=["s"]) == partition_attributes(NAMES, blocks(), sensitive=["s"])


def test_sensitive_attributes_apart() -> None:
    both = blocks("b", "b")
    together = partition_attributes(NAMES, both, sensitive=["s", "t"], column_count=2)
    assert ("b1", "b2", "b3", "s", "t") in together
    apart = partition_attributes(NAMES, both, sensitive=["s", "t"], column_count=2, separate_sensitive=True)
    assert all(len({"s", "t"} & set(column)) == 1 for column in apart)
    assert len(apart) == 2


def test_as_many_attributes_beside_the_sensitive_one_as_asked_for() -> None:
    assert partition_attributes(NAMES, blocks(), sensitive=["s"], column_count=3, sensitive_group_size=0) == (
        ("a1", "a2"),
        ("b1", "b2", "b3", "t"),
        ("s",),
    )
    columns = partition_attributes(NAMES, blocks(), sensitive=["s"], column_count=2, sensitive_group_size=1)
    assert ("a1", "s") in columns
    columns = partition_attributes(
        NAMES, blocks(), sensitive=["s", "t"], column_count=3, sensitive_group_size=1, separate_sensitive=True
    )
    assert {("a1", "s"), ("b1", "t")} < set(columns)
    columns = partition_attributes(NAMES, blocks(), sensitive=["s", "t"], column_count=2, sensitive_group_size=9)
    assert columns == (tuple(NAMES),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column_count": 0}, "at least 1"),
        ({"column_count": 8}, "at most 7 columns"),
        ({"column_count": 1, "separate_sensitive": True}, "2 separate sensitive attributes need 2"),
        ({"column_count": 1, "sensitive_group_size": 1}, "take all of the 1 columns"),
        ({"sensitive_group_size": -1}, "at least 0"),
    ],
)
def test_what_cannot_be(options: dict[str, int], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        partition_attributes(NAMES, blocks(), sensitive=["s", "t"], **options)  # type: ignore[arg-type]


def test_few_attributes() -> None:
    assert partition_attributes([], np.empty((0, 0))) == ()
    assert partition_attributes(["a"], np.ones((1, 1))) == (("a",),)
    assert partition_attributes(["b", "a"], np.eye(2)) == (("a",), ("b",))


def test_genres_are_found_again() -> None:
    """Of 120 sparse attributes, those of one genre end up in one column."""
    people = ratings(5_000)
    items = [name for name in people.columns if name.startswith("item")]
    tally = tally_of(people)
    columns = partition_attributes(items, contingency(tally, items), column_count=len(GENRES))
    shelves = {tuple(items[genre :: len(GENRES)]) for genre in range(len(GENRES))}
    assert len(shelves & set(columns)) >= 6


def test_the_census_has_columns_that_make_sense() -> None:
    tally = tally_of(ic.datasets.census(20_000).drop("salary"), ["occupation"])
    phi = contingency(tally, tally.columns)
    columns = partition_attributes(tally.columns, phi, sensitive=["occupation"])
    assert columns == (("age", "marital"), ("birth_place", "race"), ("education", "occupation", "sex"))
    # Schooling gives some jobs away.
    assert (largest_l(slice_tally(tally, columns, ["occupation"])) or 0) < 5
