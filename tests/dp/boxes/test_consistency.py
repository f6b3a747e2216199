"""Counts that agree: against a dense solver, against Hay's formula, and the example of Qian et al., figure 3."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from incrowd.dp.boxes.consistency import Generations, algorithm_2, least_squares, non_negative, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIGURE_3 = np.array([-1, 0, 0, 1, 1, 2, 2])  # ABCD; AB, CD; A, B, C, D
TRUE = np.array([6, 4, 2, 3, 1, 2, 0], dtype=float)
NOISY = np.array([7, 6, 0, 2, 3, 0, 3], dtype=float)


def random_tree(rng: np.random.Generator, boxes: int) -> Ints:
    """Return parents, which come first; every box has no child or at least two."""
    parents = [-1]
    leaves = [0]
    while len(parents) < boxes:
        above = leaves.pop(int(rng.integers(len(leaves))))
        for _ in range(int(rng.integers(2, 5))):
            leaves.append(len(parents))
            parents.append(above)
    return np.array(parents)


def full_tree(branches: int, height: int) -> Ints:
    inner = (branches ** (height - 1) - 1) // (branches - 1)
    return np.array([-1, *np.repeat(np.arange(inner), branches)])


def leaves_below(parents: Ints) -> NDArray[np.bool_]:
    """Return boxes × leaves: which leaf is in which box."""
    leaves = np.setdiff1d(np.arange(len(parents)), parents)
    inside = np.zeros((len(parents), len(leaves)), dtype=bool)
    for place, leaf in enumerate(leaves):
        box = leaf
        while box >= 0:
            inside[box, place] = True
            box = parents[box]
    return inside


def sums_of_children(parents: Ints, counts: NDArray[np.generic]) -> tuple[Ints, NDArray[np.generic]]:
    inner = np.unique(parents[parents >= 0])
    return inner, np.stack([counts[parents == box].sum(axis=0) for box in inner])


def test_true_counts_agree_already() -> None:
    for agreed in (least_squares(FIGURE_3, TRUE[:, None], np.ones(7)), algorithm_2(FIGURE_3, TRUE[:, None])):
        assert np.allclose(agreed.ravel(), TRUE)


def test_figure_3_by_both_ways() -> None:
    """By hand: z(AB) = (2·6 + 5)/3, z(CD) = (0 + 3)/3, and 4/7 of the root's count against 3/7 of their sum."""
    above = (4 * 7 + 3 * (17 / 3 + 1)) / 7
    share = (above - 17 / 3 - 1) / 2
    ab, cd = 17 / 3 + share, 1 + share
    a, b, c, d = 2 + (ab - 5) / 2, 3 + (ab - 5) / 2, (cd - 3) / 2, 3 + (cd - 3) / 2
    expected = [above, ab, cd, a, b, c, d]
    assert np.allclose(algorithm_2(FIGURE_3, NOISY[:, None]).ravel(), expected)
    assert np.allclose(least_squares(FIGURE_3, NOISY[:, None], np.ones(7)).ravel(), expected)


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_is_that_of_a_dense_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, int(rng.integers(3, 60)))
    noisy = rng.normal(10, 30, size=(len(parents), 2))
    variances = rng.uniform(0.1, 9, size=len(parents))
    inside = leaves_below(parents).astype(float)
    scale = 1 / np.sqrt(variances)[:, None]
    leaves = np.linalg.lstsq(inside * scale, noisy * scale, rcond=None)[0]
    assert np.allclose(least_squares(parents, noisy, variances), inside @ leaves)


@pytest.mark.parametrize("seed", range(20))
def test_counts_that_were_not_made_have_no_say(seed: int) -> None:
    """Infinite variances: what the other counts determine is as the dense solver has it, and all agrees."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, int(rng.integers(3, 40)))
    noisy = rng.normal(10, 30, size=(len(parents), 1))
    variances = np.where(rng.random(len(parents)) < 0.4, np.inf, rng.uniform(0.1, 9, size=len(parents)))
    counted = np.isfinite(variances)
    inside = leaves_below(parents).astype(float)
    agreed = least_squares(parents, noisy, variances)
    assert np.isfinite(agreed).all()
    inner, sums = sums_of_children(parents, agreed)
    assert np.allclose(agreed[inner], sums)
    scale = 1 / np.sqrt(variances[counted])[:, None]
    solved = np.linalg.lstsq(inside[counted] * scale, noisy[counted] * scale, rcond=None)[0]
    assert np.allclose(agreed[counted], (inside @ solved)[counted])


def test_nothing_counted_at_all_is_zero() -> None:
    assert not least_squares(FIGURE_3, NOISY[:, None], np.full(7, np.inf)).any()


def test_counts_without_noise_stay() -> None:
    assert np.allclose(least_squares(FIGURE_3, TRUE[:, None], np.zeros(7)).ravel(), TRUE)


@pytest.mark.parametrize(("branches", "height"), [(2, 2), (2, 5), (3, 4), (5, 3)])
def test_on_full_trees_algorithm_2_is_least_squares_and_hays_formula(branches: int, height: int) -> None:
    parents = full_tree(branches, height)
    noisy = np.random.default_rng(branches).normal(0, 20, size=(len(parents), 1))
    depth = Generations.of(parents).depth
    z = noisy.ravel().copy()
    for box in range(len(parents))[::-1]:  # Hay et al. 2010, theorem 3
        level = height - depth[box]
        if level > 1:
            own = (branches**level - branches ** (level - 1)) / (branches**level - 1)
            z[box] = own * noisy[box, 0] + (1 - own) * z[parents == box].sum()
    hay = z.copy()
    for box in range(1, len(parents)):
        siblings = parents == parents[box]
        hay[box] = z[box] + (hay[parents[box]] - z[siblings].sum()) / branches
    assert np.allclose(least_squares(parents, noisy, np.full(len(parents), 3.0)).ravel(), hay)
    assert np.allclose(algorithm_2(parents, noisy).ravel(), hay)


def test_on_other_trees_algorithm_2_agrees_but_is_not_the_best() -> None:
    rng = np.random.default_rng(7)
    parents = random_tree(rng, 40)
    noise = rng.laplace(size=(len(parents), 4000))
    errors = [
        (made**2).sum() for made in (least_squares(parents, noise, np.ones(len(parents))), algorithm_2(parents, noise))
    ]
    assert errors[0] < errors[1] < 1.2 * errors[0]
    inner, sums = sums_of_children(parents, algorithm_2(parents, noise))
    assert np.allclose(algorithm_2(parents, noise)[inner], sums)


@pytest.mark.parametrize("seed", range(15))
def test_no_count_is_negative_and_each_family_is_the_nearest_that_has_the_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, int(rng.integers(3, 40)))
    variances = rng.uniform(0.5, 5, size=len(parents))
    agreed = least_squares(parents, rng.normal(3, 20, size=(len(parents), 2)), variances)
    shared = non_negative(parents, agreed, variances)
    assert (shared >= 0).all()
    assert np.allclose(shared[0], np.maximum(agreed[0], 0))
    inner, sums = sums_of_children(parents, shared)
    assert np.allclose(shared[inner], sums)
    for box in inner:
        family = np.flatnonzero(parents == box)
        for column in range(2):
            wanted, weight = agreed[family, column], 1 / variances[family]
            total = shared[box, column]
            if total <= 1e-9:
                continue
            # Independent: the sum is a very heavy equation of a non-negative least squares problem.
            rows = np.vstack([np.diag(np.sqrt(weight)), np.full(len(family), 1e4)])
            nearest, _ = optimize.nnls(rows, np.append(np.sqrt(weight) * wanted, 1e4 * total))
            assert np.allclose(shared[family, column], nearest, atol=1e-3)


def test_branches_where_nobody_is_stay_empty() -> None:
    agreed = np.array([10, 12, -2, 15, -3, 5, -7], dtype=float)[:, None]
    assert non_negative(FIGURE_3, agreed, np.ones(7)).ravel().tolist() == [10, 10, 0, 10, 0, 0, 0]
    below = np.array([-4, -2, -2, 3, -5, 1, -3], dtype=float)[:, None]
    assert not non_negative(FIGURE_3, below, np.ones(7)).any()


@pytest.mark.parametrize("seed", range(15))
def test_whole_numbers_keep_all_sums_and_are_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, int(rng.integers(3, 80)))
    inside = leaves_below(parents)
    leaves = rng.exponential(3, size=(inside.shape[1], 3)) * (rng.random((inside.shape[1], 3)) < 0.7)
    counts = inside @ leaves
    rounded = whole(parents, counts)
    assert (rounded >= 0).all()
    assert (rounded[0] == np.rint(counts[0])).all()
    inner, sums = sums_of_children(parents, rounded)
    assert (rounded[inner] == sums).all()
    assert (rounded[counts == 0] == 0).all()
    for box in inner:  # each child is within one of its share of what the parent has become
        family = parents == box
        share = counts[family] * rounded[box] / np.maximum(counts[box], 1e-12)
        assert (np.abs(rounded[family] - share) < 1 + 1e-9).all()


def test_whole_numbers_stay_as_they_are() -> None:
    assert whole(FIGURE_3, TRUE[:, None]).ravel().tolist() == TRUE.tolist()


def test_one_box_alone() -> None:
    root = np.array([-1])
    assert least_squares(root, np.array([[3.0]]), np.ones(1)).tolist() == [[3.0]]
    assert non_negative(root, np.array([[-3.0]]), np.ones(1)).tolist() == [[0.0]]
    assert whole(root, np.array([[2.6]])).tolist() == [[3]]


def test_generations_go_down_from_the_root() -> None:
    generations = Generations.of(FIGURE_3)
    assert generations.depth.tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert [boxes.tolist() for boxes in generations.down()] == [[1, 2], [3, 4, 5, 6]]
    assert [boxes.tolist() for boxes in generations.up()] == [[3, 4, 5, 6], [1, 2]]
