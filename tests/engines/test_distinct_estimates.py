"""How many distinct tuples there are, from the smallest of their random numbers: near the number of a plain count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from incrowd.engines.spark.distinct_estimates import KEPT, Smallest, estimate_distinct

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def words(number: int, seed: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.random.default_rng(seed).integers(0, 2**64, size=number, dtype=np.uint64)


@pytest.mark.parametrize("number", [0, 1, 70, KEPT - 1])
def test_few_are_counted(number: int) -> None:
    once = words(number)
    found = Smallest.none().with_more(np.concatenate([once, once[::-1]])).with_more(once)
    assert found.estimate == number


@pytest.mark.parametrize("number", [KEPT, 20_000, 1_000_000])
def test_many_are_estimated(number: int) -> None:
    """The error is about 1.6 %; five times that does not happen by chance."""
    estimates = [Smallest.none().with_more(words(number, seed)).estimate / number for seed in range(10)]
    assert np.abs(np.array(estimates) - 1).max() < 5 / np.sqrt(KEPT)
    assert abs(np.mean(estimates) - 1) < 5 / np.sqrt(10 * KEPT)


def test_batches_give_what_the_whole_gives() -> None:
    numbers = words(30_000)
    in_batches = Smallest.none()
    for batch in np.array_split(numbers, 7):
        in_batches = in_batches.with_more(batch)
    assert in_batches.numbers.tolist() == np.unique(numbers)[:KEPT].tolist()


@pytest.mark.spark
def test_levels_of_columns_on_spark(spark: SparkSession) -> None:
    """A column of 300 codes at levels of 1, 10 and all of them together, beside one of 40 codes."""
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, 300, 30_000), rng.integers(0, 40, 30_000)])
    frame = spark.createDataFrame(codes.tolist(), "a int, b int").repartition(3)
    levels = [np.arange(300), np.arange(300) // 10 * 10, np.zeros(300, dtype=np.int64)]
    numbers = [[words(300, 3)[shown] for shown in levels], [words(40, 4)]]
    asked = [(0, 0), (1, 0), (2, 0)]
    found = estimate_distinct(frame, ["a", "b"], numbers, asked)
    true = [len({(levels[level][a], b) for a, b in codes.tolist()}) for level, _ in asked]
    assert found[1:] == true[1:] == [30 * 40, 40]
    assert found[0] == pytest.approx(true[0], rel=5 / np.sqrt(KEPT))


@pytest.mark.spark
def test_nobody(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "a int")
    assert estimate_distinct(frame, ["a"], [[words(5)]], [(0,)]) == [0.0]
