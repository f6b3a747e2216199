"""Columns grouped privately: which are put together, what it costs to the last bit, and sizes that are kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from incrowd.common.randomness import randomness
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.marginals import grouping
from incrowd.dp.marginals.grouping import Group, Grouping
from incrowd.dp.selection import permute_and_flip
from tests.dp.boxes.test_privacy_loss import Transcript, first_that_stands


def grouped(rows: np.ndarray, alone: list[bool] | None = None, size: int = 3) -> Grouping:
    columns = rows.shape[1]
    names = [f"column {place}" for place in range(columns)]
    counts = np.ones(len(rows), dtype=np.int64)
    return Grouping(names, list(rows.T), [size] * columns, counts, alone or [True] * columns)


def chosen(of: Grouping, epsilon: str, most: int, seed: int = 1) -> tuple[list[Group], Accountant]:
    accountant = Accountant(limit=Budget(epsilon))
    groups = of.choose(most, budget=Budget(epsilon), rng=randomness(seed), accountant=accountant)
    return groups, accountant


def dependent(rows: int) -> np.ndarray:
    """Columns 0 and 3 tell each other, and so do 1 and 2; column 4 is by itself."""
    made = np.random.default_rng(1).integers(0, 3, (rows, 5))
    made[:, 3], made[:, 2] = made[:, 0], (made[:, 1] + 1) % 3
    return made


def test_columns_that_tell_each_other_are_put_together() -> None:
    groups, accountant = chosen(grouped(dependent(4000)), "1", 2)
    assert {(0, 3), (1, 2)} <= set(groups)
    assert Budget(1).covers(accountant.total())


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_groups_hold_every_column_once_and_are_no_larger_than_said(most: int) -> None:
    groups, _ = chosen(grouped(dependent(50)), "1/10", most)
    assert sorted(place for group in groups for place in group) == list(range(5))
    assert max(map(len, groups)) == most


def test_a_column_that_may_not_be_alone_goes_with_one_that_may() -> None:
    alone = [True, False, False, True, False]
    for seed in range(8):
        groups, _ = chosen(grouped(dependent(30), alone), "1/10", 3, seed)
        assert all(any(alone[place] for place in group) for group in groups)


def test_no_choice_loses_more_than_was_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact loss: told the same answers, a neighbour asks the same questions and comes to the same groups."""
    losses = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 3, (int(rng.choice([1, 4, 30])), 4))
        both = [rows, np.concatenate([rows, rng.integers(0, 3, (1, 4))])]
        transcript = Transcript(rng)
        monkeypatch.setattr(grouping, "noisy_counts", transcript.count)
        monkeypatch.setattr(grouping, "permute_and_flip", transcript.chooser(permute_and_flip, first_that_stands))
        before, after = both if seed % 2 else reversed(both)
        first, accountant = chosen(grouped(before), "2", 3)
        transcript.losses = []
        again, accountant_again = chosen(grouped(after), "2", 3)
        assert again == first
        assert accountant.rows() == accountant_again.rows()
        losses.append(math.fsum(transcript.losses) / 2)
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.4
