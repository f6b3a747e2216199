"""How rows are spread inside of boxes, against tables of all combinations of values."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from incrowd.dp.boxes.margins import Margins, Pair, Single
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.boxes.spreading import Spreading

SIZES = (5, 4, 3)  # code 0 is the missing value, which nobody has
STARTS = [1, 1, 1]
CLASSES = 2
BOXES = [((1, 3), (1, 4), (1, 3)), ((3, 5), (1, 2), (1, 3)), ((3, 5), (2, 4), (1, 2)), ((3, 5), (2, 4), (2, 3))]
CELLS = (np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1]), np.array([0, 0, 1]), np.array([0, 1]))


def tree_of(rng: np.random.Generator) -> NoisyTree:
    lows, highs = (np.array([[run[end] for run in box] for box in BOXES], dtype=np.int32) for end in (0, 1))
    counts = rng.integers(20, 200, (len(BOXES), CLASSES))
    return NoisyTree(np.full(len(BOXES), -1), lows, highs, counts, np.full(len(BOXES), 4.0))


def singles_of(rng: np.random.Generator, total: int) -> list[Single]:
    found = []
    for size in SIZES:
        shares = rng.dirichlet(np.full(size - 1, 3.0))
        found.append(Single(np.array([0, *np.rint(total * shares)], dtype=np.int64), 5.0))
    return found


def whole_table(tree: NoisyTree, spreading: Spreading) -> np.ndarray:
    """Rake a table of all combinations: first the boxes' counts spread by single columns, then classes and columns."""
    table = np.zeros((*SIZES, CLASSES))
    rows = tree.noisy * (spreading.total / tree.noisy.sum())
    for box, kind in product(range(len(BOXES)), range(CLASSES)):
        inside = [range(*run) for run in BOXES[box]]
        weights = {
            codes: float(np.prod([spreading.singles[axis][code] for axis, code in enumerate(codes)]))
            for codes in product(*inside)
        }
        for codes, weight in weights.items():
            table[(*codes, kind)] += rows[box, kind] * weight / sum(weights.values())
    by_class = tree.noisy.sum(axis=0) + (spreading.total - tree.noisy.sum()) / CLASSES  # the nearest with this sum
    for _ in range(12):
        table = table * (by_class / table.sum(axis=(0, 1, 2)))
        for axis, wanted in enumerate(spreading.singles):
            now = table.sum(axis=tuple(other for other in range(4) if other != axis))
            step = np.clip(np.where(now > 0, wanted / np.where(now > 0, now, 1), 1), 0.25, 4)
            table = table * step.reshape([-1 if other == axis else 1 for other in range(4)])
    table = table * (by_class / table.sum(axis=(0, 1, 2)))
    return np.asarray(table * spreading.total / table.sum())


def questions(rng: np.random.Generator, number: int, *columns: int) -> list[dict[int, np.ndarray]]:
    sizes = (*SIZES, CLASSES)
    return [{column: rng.random(sizes[column]) < 0.5 for column in columns} for _ in range(number)]


def in_table(table: np.ndarray, asked: dict[int, np.ndarray]) -> float:
    for axis, matches in asked.items():
        table = table * matches.reshape([-1 if other == axis else 1 for other in range(4)])
    return float(table.sum())


def answered(spreading: Spreading, asked: dict[int, np.ndarray]) -> float:
    classes = asked.get(3, np.ones(CLASSES, dtype=bool))
    return spreading.count({column: matches for column, matches in asked.items() if column < 3}, classes)


@pytest.mark.parametrize("seed", range(3))
def test_boxes_and_single_columns_are_spread_as_a_table_of_all_combinations_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = tree_of(rng)
    spreading = Spreading.of(tree, STARTS, singles_of(rng, int(tree.noisy.sum())))
    table = whole_table(tree, spreading)
    assert spreading.published().sum() == round(spreading.total)
    for columns in ((0,), (2,), (0, 1), (1, 3), (0, 1, 2), (0, 1, 2, 3)):
        for asked in questions(rng, 5, *columns):
            assert answered(spreading, asked) == pytest.approx(in_table(table, asked), rel=1e-6, abs=1e-6)
    for first, second in ((0, 2), (1, 3)):
        expected = spreading.expected((first, second), (CELLS[first], CELLS[second]))
        for one, other in product(range(expected.shape[0]), range(expected.shape[1])):
            asked = {first: CELLS[first] == one, second: CELLS[second] == other}
            assert expected[one, other] == pytest.approx(in_table(table, asked), rel=1e-6, abs=1e-6)


def likely(expected: np.ndarray, counts: np.ndarray, variance: float) -> np.ndarray:
    """What is likely of a pair's cells, cell by cell: empirical Bayes, then the margins that are known."""
    unlike = max(0.0, sum((n - e) ** 2 - variance for n, e in zip(counts.flat, expected.flat, strict=True)))
    unlike /= expected.sum()
    found = np.array(
        [
            max(e + unlike * (e + 1) / (unlike * (e + 1) + variance) * (n - e), 1e-9)
            for n, e in zip(counts.flat, expected.flat, strict=True)
        ]
    ).reshape(expected.shape)
    for _ in range(15):
        found = found * (expected.sum(axis=1) / found.sum(axis=1))[:, None]
        found = found * (expected.sum(axis=0) / found.sum(axis=0))[None, :]
    return found


@pytest.mark.parametrize("pair", [(0, 1), (1, 3)])
def test_a_counted_pair_corrects_a_table_of_asked_and_not_asked(pair: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    tree = tree_of(rng)
    before = Spreading.of(tree, STARTS, singles_of(rng, int(tree.noisy.sum())))
    cells = CELLS[pair[0]], CELLS[pair[1]]
    expected = before.expected(pair, cells)
    counted = Pair(pair, cells, rng.integers(10, 200, expected.shape), 30.0)
    spreading = before.with_pairs([counted])
    table, wanted = whole_table(tree, before), likely(expected, counted.counts, 30.0)
    for asked in questions(rng, 8, *pair, 2):
        # The share of each cell that is asked about, by single columns; the class is known by itself.
        shares = []
        for column in pair:
            rows = before.singles[column] if column < 3 else np.ones(CLASSES)
            shares.append(
                np.array(
                    [
                        (rows * asked[column])[CELLS[column] == cell].sum() / rows[CELLS[column] == cell].sum()
                        for cell in range(CELLS[column].max() + 1)
                    ]
                )
            )
        both = in_table(table, {column: asked[column] for column in pair})
        answer = in_table(table, asked) * (shares[0] @ wanted @ shares[1]) / max(both, 1e-9)
        assert answered(spreading, asked) == pytest.approx(answer, rel=1e-6, abs=1e-6)


def test_pooled_single_columns_are_the_best_linear_estimate() -> None:
    rng = np.random.default_rng(3)
    single = Single(rng.integers(0, 90, 5), 8.0)
    pairs = (
        Pair((0, 1), (CELLS[0], CELLS[1]), rng.integers(0, 90, (3, 2)), 3.0),
        Pair((0, 2), (CELLS[0], CELLS[2]), rng.integers(0, 90, (3, 2)), 2.0),
    )
    found = Margins((single, Single(rng.integers(0, 90, 4), 8.0), Single(rng.integers(0, 90, 3), 8.0)), pairs)
    pooled = found.pooled(STARTS)[0]
    # Codes 1 … 4 by least squares: each counted alone, and the sums of the cells {1, 2}, {3}, {4} by either pair.
    lines, seen, weights = [*np.eye(4)], [*single.counts[1:]], [1 / 8.0] * 4
    for pair in pairs:
        for cell in range(3):
            lines.append((CELLS[0][1:] == cell).astype(float))
            seen.append(pair.counts[cell].sum())
            weights.append(1 / (2 * pair.variance))
    scale = np.sqrt(weights)
    best, *_ = np.linalg.lstsq(np.array(lines) * scale[:, None], np.array(seen) * scale, rcond=None)
    np.testing.assert_allclose(pooled.counts[1:], best)
    covariance = np.linalg.inv((np.array(lines).T * weights) @ np.array(lines))
    for matches in product((0.0, 1.0), repeat=4):
        asked = np.array(matches)
        share = np.bincount([0, 0, 1, 2], weights=asked) / (2, 1, 1)
        noise = pooled.noise(1)
        to_the_total = (share @ noise.variances) ** 2 / noise.variances.sum()  # it goes where the total is known
        found_variance = noise.of(asked[None, :], pooled.variance)[0] + to_the_total
        assert found_variance == pytest.approx(asked @ covariance @ asked)
    assert found.pooled(STARTS)[1].counts[0] == found.singles[1].counts[0]


def test_the_noise_of_one_condition_is_that_of_many_draws() -> None:
    """With pairs, so that neighbouring codes are counted together too; no count is near 0."""
    rng = np.random.default_rng(5)
    tree = tree_of(rng)
    whole = Spreading.of(tree, STARTS, singles_of(rng, int(tree.noisy.sum())))
    true = [np.rint(one) for one in whole.singles]
    expected = {pair: whole.expected(pair, (CELLS[pair[0]], CELLS[pair[1]])) for pair in ((0, 1), (0, 2))}
    found = []
    asked = questions(np.random.default_rng(6), 12, 0)
    for _ in range(160):
        singles = tuple(Single(one + np.array([0, *rng.normal(0, 3.0, len(one) - 1)]), 9.0) for one in true)
        pairs = tuple(
            Pair(pair, (CELLS[pair[0]], CELLS[pair[1]]), rows + rng.normal(0, 1.5, rows.shape), 2.25)
            for pair, rows in expected.items()
        )
        noisy = tree.noisy + np.rint(rng.normal(0, 2.0, tree.noisy.shape)).astype(np.int64)
        spreading = Spreading.of_margins(replace(tree, noisy=noisy), STARTS, Margins(singles, pairs))
        found.append([answered(spreading, one) for one in asked])
    told = [spreading.noise(0, one[0]) for one in asked]
    for one, variance, each in zip(asked, np.var(found, axis=0), told, strict=True):
        assert 0.75 * variance <= each <= 1.6 * variance, one
