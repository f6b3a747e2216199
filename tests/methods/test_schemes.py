"""Level vectors and their scores: crowds counted row by row, and what one person changes."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.methods.schemes import Schemes, choose_levels

JOBS = ic.Categories((("nurse", "care"), ("doctor", "care"), ("clerk", "office"), ("buyer", "office")))
AGES = ic.Intervals(widths=(10, 20))


def people(rows: int, seed: int) -> pl.DataFrame:
    dice = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [dice.choice([None, *range(20, 45)]) for _ in range(rows)],
            "job": [dice.choice(["nurse", "doctor", "clerk", "buyer"]) for _ in range(rows)],
            "sick": [dice.choice(["flu", "none", None]) for _ in range(rows)],
        },
        schema={"age": pl.Int64, "job": pl.String, "sick": pl.String},
    )


def schemes_of(frame: pl.DataFrame, fixed: dict[str, int] | None = None) -> Schemes:
    table = ic.read(frame, quasi=["age", "job"], sensitive=["sick"], hierarchies={"age": AGES, "job": JOBS})
    return Schemes(table.engine.count(table.schema).tally, table.schema, fixed or {})


def naive_crowds(frame: pl.DataFrame, levels: dict[str, int]) -> list[int]:
    def shown(row: dict[str, Any]) -> tuple[Any, ...]:
        age = row["age"]
        if levels["age"] == 3:
            age = "*"
        elif age is not None and levels["age"]:
            age = age // (10, 20)[levels["age"] - 1]
        job = {kinds[0]: (*kinds, "*") for kinds in JOBS.rows}[row["job"]][levels["job"]]
        return age, job, row["sick"]

    return sorted(Counter(shown(row) for row in frame.to_dicts()).values())


@pytest.mark.parametrize("rows", [1, 30, 400])
def test_crowds_are_those_of_counting_row_by_row(rows: int) -> None:
    frame = people(rows, rows)
    schemes = schemes_of(frame)
    assert len(schemes) == 4 * 3
    for place, sizes in enumerate(schemes.crowds()):
        assert sorted(sizes.tolist()) == naive_crowds(frame, schemes.levels(place))


def test_fixed_levels_stay() -> None:
    frame = people(200, 3)
    schemes = schemes_of(frame, {"age": 2})
    assert [schemes.levels(place) for place in range(len(schemes))] == [{"age": 2, "job": level} for level in range(3)]
    for place, sizes in enumerate(schemes.crowds()):
        assert sorted(sizes.tolist()) == naive_crowds(frame, schemes.levels(place))


def test_precision_is_one_minus_the_mean_of_level_over_height() -> None:
    schemes = schemes_of(people(20, 1))
    for place, parts in enumerate(schemes.precision_parts()):
        levels = schemes.levels(place)
        assert parts == round(1000 * (1 - (levels["age"] / 3 + levels["job"] / 2) / 2))


@pytest.mark.parametrize(("k", "rate"), [(2, "0.5"), (5, "0.2"), (1, "0.9")])
def test_one_person_raises_every_score_by_the_sensitivity_at_most(k: int, rate: str) -> None:
    """On tables grown person by person, also with values that nobody had before."""
    expected, frame = ExpectedRows(k, Fraction(rate)), people(25, 9)
    before = schemes_of(frame[:1]).scores(expected, silent)
    rose = False
    for number in range(2, 26):
        after = schemes_of(frame[:number]).scores(expected, silent)
        change = after - before
        assert change.min() >= 0
        assert change.max() <= 1000 * expected.largest_step
        rose, before = rose or bool(change.any()), after
    assert rose


def test_the_best_level_is_chosen_as_often_as_the_exponential_mechanism_says() -> None:
    frame = pl.DataFrame({"age": [20] * 12 + [21] * 12})
    table = ic.read(frame, quasi=["age"], hierarchies={"age": ic.Intervals(widths=(10,))})
    tally = table.engine.count(table.schema).tally
    expected, rng = ExpectedRows(4, Fraction(1, 2)), randomness(3)
    schemes = Schemes(tally, table.schema, {})
    weights = np.exp(2.0 * schemes.scores(expected, silent) / (1000 * expected.largest_step))
    runs = 300
    chosen = Counter(
        choose_levels(tally, table.schema, {}, expected, epsilon=Fraction(2), rng=rng, progress=silent)["age"]
        for _ in range(runs)
    )
    for level, share in enumerate(weights / weights.sum()):
        assert abs(chosen[level] - runs * share) < 4 * (runs * share * (1 - share)) ** 0.5 + 1
