"""The variance of sums over estimates that agree: against the covariance of least squares, written out."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.dp.boxes.consistency import variances_of_sums


def naive(parents: np.ndarray, variances: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Solve the least squares of the leaves by its normal equations."""
    boxes = len(parents)
    leaves = [box for box in range(boxes) if box not in set(parents.tolist())]
    design = np.zeros((boxes, len(leaves)))
    for place, leaf in enumerate(leaves):
        box = leaf
        while box >= 0:
            design[box, place] = 1
            box = int(parents[box])
    covariance = np.linalg.inv(design.T @ np.diag(1 / variances) @ design)
    return np.einsum("lq,lm,mq->q", amounts[leaves], covariance, amounts[leaves])


@pytest.mark.parametrize("seed", range(12))
def test_it_is_that_of_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = int(rng.integers(1, 25))
    roots = 1 if seed % 3 else min(3, boxes)
    parents = np.array([-1] * roots + [int(rng.integers(0, box)) for box in range(roots, boxes)])
    variances = rng.uniform(0.5, 20, boxes)
    amounts = rng.normal(size=(boxes, 4))
    assert variances_of_sums(parents, variances, amounts) == pytest.approx(naive(parents, variances, amounts))


def test_no_boxes_or_exact_ones() -> None:
    assert variances_of_sums(np.array([-1, 0, 0]), np.zeros(3), np.ones((3, 1))) == [0]
