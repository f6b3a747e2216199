"""How many distinct tuples there are, from the smallest of their random numbers: near the number of a plain count."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.engines.spark.distinct_estimates import KEPT, Smallest, _mixed, estimate_distinct

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
    from incrowd.engines.spark.arrow_batches import to_spark

    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, 300, 30_000), rng.integers(0, 40, 30_000)])
    frame = to_spark(spark, pl.DataFrame(codes.astype(np.int32), schema=["a", "b"])).repartition(2)
    levels = [np.arange(300), np.arange(300) // 10 * 10, np.zeros(300, dtype=np.int64)]
    numbers = [[words(300, 3)[shown] for shown in levels], [words(40, 4)]]
    asked = [(0, 0), (1, 0), (2, 0)]
    found = estimate_distinct(frame, ["a", "b"], lambda column, level: numbers[column][level], asked)
    true = [len({(levels[level][a], b) for a, b in codes.tolist()}) for level, _ in asked]
    assert found[1:] == true[1:] == [30 * 40, 40]
    assert found[0] == pytest.approx(true[0], rel=5 / np.sqrt(KEPT))


@pytest.mark.spark
def test_nobody(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "a int")
    assert estimate_distinct(frame, ["a"], lambda column, level: words(5), [(0,)]) == [0.0]


def test_sums_of_few_random_numbers_are_mixed() -> None:
    """Fourteen columns of two codes: without mixing, one estimate in eighty is wrong by more than 4 %, some by 11 %."""
    lines = np.array(list(product((0, 1), repeat=14)))
    errors = []
    for seed in range(60):
        each = words(28, seed).reshape(14, 2)
        added = each[np.arange(14), lines].sum(axis=1, dtype=np.uint64)
        errors.append(Smallest.none().with_more(_mixed(added)).estimate / len(lines) - 1)
    assert np.std(errors) < 1.3 / np.sqrt(KEPT)
    assert np.abs(errors).max() < 4 / np.sqrt(KEPT)


@pytest.mark.spark
def test_levels_of_a_tally_are_counted_as_they_are_searched(spark: SparkSession) -> None:
    """With values missing, and at every level up to the roots: fewer tuples than are estimated, so they are equal."""
    from pyspark.sql import functions as F

    from incrowd.engines.spark.arrow_batches import to_polars, to_spark
    from incrowd.engines.spark.coarse import _Levels
    from incrowd.engines.spark.coding import code_on_spark
    from incrowd.engines.spark.counting import grouped

    rng = np.random.default_rng(5)
    age = pl.Series(rng.integers(0, 60, 900)).cast(pl.Int64).set(pl.Series(rng.random(900) < 0.1), None)
    frame = pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 900), "ill": rng.choice(list("abc"), 900)})
    trees = {"age": ic.Intervals(widths=(10,), lower=0, upper=60)}
    table = ic.read(to_spark(spark, frame), quasi=["age", "sex"], sensitive=["ill"], hierarchies=trees)
    tally = code_on_spark(table.engine.source, grouped(table.engine.source, table.schema.tallied), table.schema)
    held = _Levels(table.engine.source, tally, ("age", "sex"), ("ill",))
    some = [(0, 0), (1, 1), (2, 0)]
    assert held.top == (2, 1), "these are all levels of both"
    codes = held.columns
    searched = [held.at(vector).withColumn("at", F.lit(place)) for place, vector in enumerate(some)]
    together = reduce(lambda one, more: one.unionAll(more), searched)
    lines = to_polars(together.select("at", *codes, "g0", "g1", "g2"))
    ages = {age: lines.filter(pl.col("at") == place).select(*codes, "g0") for place, (age, _) in enumerate(some)}
    sexes = {sex: lines.filter(pl.col("at") == place).select(*codes, "g1", "g2") for place, (_, sex) in enumerate(some)}
    vectors = list(product(ages, sexes))
    shown = [ages[age].join(sexes[sex], on=codes, validate="1:1") for age, sex in vectors]
    assert held.distinct(vectors) == [frame.n_unique(["g0", "g1", "g2"]) for frame in shown]
    without = _Levels(table.engine.source, tally, ("age", "sex"), ())
    assert without.distinct(vectors) == [frame.n_unique(["g0", "g1"]) for frame in shown]
