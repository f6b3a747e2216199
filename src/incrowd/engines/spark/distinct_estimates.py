"""How many distinct tuples a table on Spark has if it is shown at some levels, about: for many choices in one job.

Every code has a random number, and a tuple the sum of its codes' numbers, mixed once more. The smallest of these tell
how many there are: among twice as many distinct numbers, the 4,096th is half as large. Executors keep those of their
rows; others bring together what these found for one choice. Cost: one pass over the tuples' codes, less than 100 ns a
tuple for each choice, and a shuffle of 4,096 numbers for each task and choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.common.arrays import Words
from incrowd.common.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT = 4096
"""So many of the smallest numbers are kept, which makes an error of about 1 / √KEPT = 1.6 %."""
_ALL = 2.0**64
_LINES = "choice int, number bigint"
_MOST_TASKS = 8


Numbers = Callable[[int, int], Words]


@dataclass(frozen=True, eq=False)
class Smallest:
    """The smallest distinct numbers that were met, ascending, at most `KEPT` of them."""

    numbers: Words

    @classmethod
    def none(cls) -> Smallest:
        """Begin."""
        return cls(np.empty(0, dtype=np.uint64))

    def with_more(self, numbers: Words) -> Smallest:
        """Return the smallest of these and some others."""
        if len(self.numbers) == KEPT:
            numbers = numbers[numbers < self.numbers[-1]]
        if not len(numbers):
            return self
        ordered = np.sort(np.concatenate([self.numbers, numbers]))  # many times as fast as np.unique of such numbers
        new = np.ones(len(ordered), dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        return Smallest(ordered[new][:KEPT])

    @property
    def estimate(self) -> float:
        """How many distinct numbers there were: exact where fewer than `KEPT` were met."""
        if len(self.numbers) < KEPT:
            return float(len(self.numbers))
        return (KEPT - 1) * _ALL / max(float(self.numbers[-1]), 1.0)


def estimate_distinct(
    frame: DataFrame, columns: Sequence[str], numbers: Numbers, choices: Sequence[Sequence[int]]
) -> list[float]:
    """Estimate how many distinct tuples there are with each of some choices.

    `numbers(column, level)` returns the random number of each code, the same one for codes that are shown alike; a
    choice has a level for each column.
    """
    from incrowd.engines.spark.counting import arrow_only

    smallest = _on_executors(columns, numbers, choices)
    with arrow_only():
        found = frame.select(*columns).mapInArrow(smallest, _LINES)
        found = found.repartition(min(len(choices), _MOST_TASKS), "choice").mapInArrow(_brought_together, _LINES)
    lines = found.toArrow()
    kept = _by_choice(lines.to_batches())
    return [kept.get(place, Smallest.none()).estimate for place in range(len(choices))]


def _on_executors(
    columns: Sequence[str], numbers: Numbers, choices: Sequence[Sequence[int]]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    used = [sorted({choice[place] for choice in choices}) for place in range(len(columns))]
    tables = [{level: numbers(place, level) for level in levels} for place, levels in enumerate(used)]

    def smallest(batches: Iterator[Any]) -> Iterator[Any]:
        kept = [Smallest.none()] * len(choices)
        for batch in batches:
            codes = [batch.column(name).to_numpy(zero_copy_only=False) for name in columns]
            looked_up = [
                {level: table[code] for level, table in by_level.items()}
                for by_level, code in zip(tables, codes, strict=True)
            ]
            for place, choice in enumerate(choices):
                added = np.zeros(batch.num_rows, dtype=np.uint64)
                for by_level, level in zip(looked_up, choice, strict=True):
                    added += by_level[level]
                kept[place] = kept[place].with_more(_mixed(added))
        yield _lines(dict(enumerate(kept)))

    smallest.__annotations__ = {}  # Spark tells kinds of functions by these
    return smallest


def _brought_together(batches: Iterator[Any]) -> Iterator[Any]:
    """Return the smallest numbers of each choice, of what several tasks found."""
    yield _lines(_by_choice(batches))


_brought_together.__annotations__ = {}


def _by_choice(batches: Iterable[Any]) -> dict[int, Smallest]:
    kept: dict[int, Smallest] = {}
    for batch in batches:
        choice, number = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
        for place in np.unique(choice).tolist():
            more = np.ascontiguousarray(number[choice == place]).view(np.uint64)
            kept[place] = kept.get(place, Smallest.none()).with_more(more)
    return kept


def _lines(kept: Mapping[int, Smallest]) -> Any:
    import pyarrow as pa

    numbers = np.concatenate([np.empty(0, dtype=np.uint64), *(one.numbers for one in kept.values())])
    choice = np.repeat(np.array(list(kept), dtype=np.int32), [len(one.numbers) for one in kept.values()])
    return pa.RecordBatch.from_arrays([pa.array(choice), pa.array(numbers.view(np.int64))], names=["choice", "number"])


def _mixed(words: Words) -> Words:
    """Mix the bits of numbers (SplitMix64): sums of few random numbers are not as independent as they seem."""
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
