"""The exact privacy loss of whole runs on tables that differ by one person with many rows.

As for one row (`tests/dp/boxes/test_privacy_loss.py`): told the same answers, the other table must ask the same
questions, and how much likelier the answers are on one of the two is a sum. It is at most the ε of a person, whichever
rows are kept; and far more where all of them are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.core.kept_rows import keep_rows
from incrowd.dp.accountant import Accountant
from incrowd.methods.adaptive import AdaptiveSynthesis
from incrowd.methods.diffgen import ConsistentDiffGen, DiffGen
from incrowd.methods.flat_histogram import FlatHistogram
from incrowd.methods.marginals import MarginalSynthesis
from incrowd.methods.private import PrivateMethod
from tests.dp.boxes.private_cases import Row, random_rows
from tests.dp.boxes.test_privacy_loss import CLASSES, Transcript, measured, table_of

PAIRS = 6
MANY = 30

METHODS: list[PrivateMethod] = [
    DiffGen(2, steps=3, most_rows=3),
    ConsistentDiffGen(5, steps=7, fanout=3, most_rows=4),
    ConsistentDiffGen(4, steps=6, adjust="algorithm-2", most_rows=2),
    MarginalSynthesis(60, most_rows=3),
    AdaptiveSynthesis(12, most_rows=3),
    FlatHistogram(1, most_rows=5),
    FlatHistogram(1, most_rows=1),
]


def some_of(rng: np.random.Generator, rows: Sequence[Row], most_rows: int) -> list[Row]:
    """Keep some rows of one person."""
    counts = keep_rows(rng, np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64), most_rows)
    return [row for row, kept in zip(rows, counts, strict=True) if kept]


def loss(method: PrivateMethod, seed: int, patch: pytest.MonkeyPatch, *, all_rows: bool = False) -> float:
    """Return the privacy loss over a person's ε, of one run on random neighbours whose rows are kept or not."""
    rng = np.random.default_rng(seed)
    assert method.most_rows is not None
    of_others = [random_rows(rng, int(rng.integers(1, 8)), CLASSES) for _ in range(int(rng.choice([0, 1, 20])))]
    alike = random_rows(rng, 1, CLASSES) * MANY if seed % 2 else random_rows(rng, MANY, CLASSES)
    others = [row for rows in of_others for row in some_of(rng, rows, method.most_rows)]
    one_more = alike if all_rows else some_of(rng, alike, method.most_rows)
    assert len(one_more) == (MANY if all_rows else method.most_rows)
    tables = [table_of(rows, (False,) * 3) for rows in (others, [*others, *one_more])]
    transcript = Transcript(rng, rows=method.most_rows)
    transcript.listen(patch)
    before, after = tables if seed % 3 else reversed(tables)
    released, accountant = measured(method.for_rows, before)
    assert accountant.total() * method.most_rows == method.budget
    transcript.losses = []
    again, _ = measured(method.for_rows, after)
    assert all(np.array_equal(one, other) for one, other in zip(released, again, strict=True))
    return math.fsum(transcript.losses) / float(method.budget.epsilon)


@pytest.mark.parametrize("method", METHODS, ids=lambda one: f"{one.name} {one.most_rows}")
def test_no_person_loses_more_than_was_promised(method: PrivateMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [loss(method, seed, monkeypatch) for seed in range(PAIRS)]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.5


@pytest.mark.parametrize("method", METHODS[-2:], ids=lambda one: f"{one.name} {one.most_rows}")
def test_who_keeps_all_rows_loses_more(method: PrivateMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    assert method.most_rows is not None
    assert loss(method, 1, monkeypatch, all_rows=True) == pytest.approx(MANY / method.most_rows)


@pytest.mark.parametrize("method", METHODS[:5], ids=lambda one: f"{one.name} {one.most_rows}")
def test_choices_by_all_rows_are_found_out(method: PrivateMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice changes by more than its share of ε, which the transcript refuses; or counts change by more."""
    try:
        found = max(loss(method, seed, monkeypatch, all_rows=True) for seed in range(PAIRS))
    except AssertionError:
        return
    assert found > 1


def test_a_run_on_rows_spends_what_a_person_pays() -> None:
    method = FlatHistogram("2/3", most_rows=7)
    accountant = Accountant(limit=method.budget)
    with accountant.by_person(method.most_rows):
        method.for_rows.measure(table_of([], (False,) * 3), rng=randomness(1), progress=silent, accountant=accountant)
    assert accountant.total() == method.budget
