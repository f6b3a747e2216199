"""C4.5 on tables whose trees are printed in every book."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.experiments.c45 import C45, _pessimistic

OUTLOOK = {"sunny": 0, "overcast": 1, "rain": 2}
GOLF = [
    ("sunny", 85, 85, 0, 0), ("sunny", 80, 90, 1, 0), ("overcast", 83, 78, 0, 1), ("rain", 70, 96, 0, 1),
    ("rain", 68, 80, 0, 1), ("rain", 65, 70, 1, 0), ("overcast", 64, 65, 1, 1), ("sunny", 72, 95, 0, 0),
    ("sunny", 69, 70, 0, 1), ("rain", 75, 80, 0, 1), ("sunny", 75, 70, 1, 1), ("overcast", 72, 90, 1, 1),
    ("overcast", 81, 75, 0, 1), ("rain", 71, 80, 1, 0),
]  # fmt: skip
"""Quinlan's: outlook, temperature, humidity, windy, and whether to play."""


def test_quinlans_tree() -> None:
    """Outlook first; then humidity at 75 to 78 where it is sunny, and wind where it rains."""
    features = np.array([(OUTLOOK[outlook], heat, damp, wind) for outlook, heat, damp, wind, _ in GOLF], dtype=float)
    plays = np.array([row[-1] for row in GOLF])
    tree = C45.fit(features, plays, np.ones(len(GOLF)), numeric=(False, True, True, False), kinds=2)
    assert tree.root.column == 0
    assert tree.root.children[OUTLOOK["overcast"]].column == -1
    assert tree.root.children[OUTLOOK["sunny"]].column == 2
    assert 70 < tree.root.children[OUTLOOK["sunny"]].threshold < 85
    assert tree.root.children[OUTLOOK["rain"]].column == 3
    assert (tree.predict(features) == plays).all()


def test_a_weight_is_so_many_rows() -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(0, 4, size=(60, 3)).astype(float)
    classes = ((features[:, 0] > 1) ^ (rng.random(60) < 0.1)).astype(int)
    times = rng.integers(1, 4, size=60)
    numeric = (True, False, True)
    weighted = C45.fit(features, classes, times.astype(float), numeric=numeric, kinds=2)
    rows = np.repeat(np.arange(60), times)
    repeated = C45.fit(features[rows], classes[rows], np.ones(len(rows)), numeric=numeric, kinds=2)
    assert (weighted.predict(features) == repeated.predict(features)).all()
    assert weighted.root.column == repeated.root.column == 0


def test_noise_alone_is_pruned_to_a_leaf() -> None:
    rng = np.random.default_rng(1)
    features, classes = rng.random((300, 4)), (rng.random(300) < 0.1).astype(int)
    tree = C45.fit(features, classes, np.ones(300), numeric=(True,) * 4, kinds=2)
    assert (tree.predict(features) == 0).mean() > 0.95


def test_quinlans_pessimistic_errors() -> None:
    """C4.5's own example: leaves of 6, 9 and 1 rows without an error have 3.273 expected ones, one leaf has 2.63."""
    assert 6 * (1 - 0.25 ** (1 / 6)) == pytest.approx(_pessimistic(6, 0)) == pytest.approx(6 * 0.206, abs=0.005)
    assert _pessimistic(9, 0) == pytest.approx(9 * 0.143, abs=0.005)
    assert _pessimistic(1, 0) == pytest.approx(0.75, abs=0.001)
    assert _pessimistic(16, 1) == pytest.approx(16 * 0.157, abs=0.15)


@pytest.mark.parametrize("rows", [0, 1])
def test_almost_nobody(rows: int) -> None:
    tree = C45.fit(np.ones((rows, 2)), np.zeros(rows, dtype=int), np.ones(rows), numeric=(True, False), kinds=2)
    assert tree.predict(np.zeros((3, 2))).tolist() == [0, 0, 0]
