"""How many distinct tuples a table on Spark has if it is shown at some levels, about: for many choices in one job.

Every code has a random number, and a tuple the sum of its codes' numbers. The smallest of these sums tell how many
there are: among twice as many distinct numbers, the 4,096th is half as large. Executors keep those of their rows, and
the driver those of all. Cost: one pass over the tuples' codes, some nanoseconds for each choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.common.arrays import Words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT = 4096
"""So many of the smallest numbers are kept, which makes an error of about 1 / √KEPT = 1.6 %."""
_ALL = 2.0**64


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
        return Smallest(np.unique(np.concatenate([self.numbers, numbers]))[:KEPT])

    @property
    def estimate(self) -> float:
        """How many distinct numbers there were: exact where all were kept."""
        if len(self.numbers) < KEPT:
            return float(len(self.numbers))
        return (KEPT - 1) * _ALL / max(float(self.numbers[-1]), 1.0)


def estimate_distinct(
    frame: DataFrame, columns: Sequence[str], numbers: Sequence[Sequence[Words]], choices: Sequence[Sequence[int]]
) -> list[float]:
    """Estimate how many distinct tuples there are with each of some choices.

    `numbers[column][level]` has the random number of each code, the same one for codes that are shown alike; a choice
    has a level for each column.
    """
    from incrowd.engines.spark.counting import arrow_only

    smallest = _on_executors(columns, numbers, choices)
    with arrow_only():
        found = frame.select(*columns).mapInArrow(smallest, "choice int, number bigint")
    lines = found.toArrow()
    choice = lines.column("choice").to_numpy()
    number = np.ascontiguousarray(lines.column("number").to_numpy()).view(np.uint64)
    return [Smallest.none().with_more(number[choice == place]).estimate for place in range(len(choices))]


def _on_executors(
    columns: Sequence[str], numbers: Sequence[Sequence[Words]], choices: Sequence[Sequence[int]]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    used = [sorted({choice[place] for choice in choices}) for place in range(len(columns))]
    tables = [{level: numbers[place][level] for level in levels} for place, levels in enumerate(used)]

    def smallest(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

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
                kept[place] = kept[place].with_more(added)
        lines = np.concatenate([one.numbers for one in kept])
        of = np.repeat(np.arange(len(kept), dtype=np.int32), [len(one.numbers) for one in kept])
        yield pa.RecordBatch.from_arrays([pa.array(of), pa.array(lines.view(np.int64))], names=["choice", "number"])

    smallest.__annotations__ = {}  # Spark tells kinds of functions by these
    return smallest
