"""A tally that stays on Spark, with codes in place of values: as many columns of whole numbers.

Each column's distinct values come to the driver and become a tree, as on one machine; the tuples do not. Cost: one job
for each column over the tally, and one join for each column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import functions as F

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.core.schema import Schema
from incrowd.core.tally import code_column
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.counting import COUNT, cached
from incrowd.engines.spark.placing import lookup_frame
from incrowd.hierarchies.tree import MISSING, Tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource


@dataclass(frozen=True, eq=False)
class OwnedCodes:
    """Tuples on Spark with whose they are, told by the columns of `names`."""

    frame: DataFrame
    names: list[str]

    def people_with_values(self, code: str) -> DataFrame:
        """Return the distinct pairs of a person and a code of a column, which is called `code`.

        As on one machine, the missing value is only that of people who have no other.
        """
        held = self.frame.groupBy(*self.names).agg(F.collect_set(code).alias("codes"))
        others = F.filter("codes", lambda one: one != MISSING)
        codes = F.when(F.size(others) > 0, others).otherwise(F.col("codes"))
        return held.select(*self.names, F.explode(codes).alias("code"))


@dataclass(frozen=True, eq=False)
class CodedTally:
    """Tuples on Spark: `k0`, `k1`, … are the codes of `columns`, `n` the rows; raw values are in `c…` as they were."""

    frame: DataFrame
    columns: tuple[str, ...]
    trees: dict[str, Tree]
    value_counts: dict[str, Counts]
    rows: int
    owned: OwnedCodes | None = None
    """Where lines are people, the tuples that they have: `rows` and the counts of sensitive values are then people."""

    @property
    def everybody(self) -> int | None:
        """How many people there are, where somebody may have several values."""
        return None if self.owned is None else self.rows

    def code(self, name: str) -> str:
        """Return what a column's codes are called."""
        return f"k{self.columns.index(name)}"


def code_on_spark(source: SparkSource, counted: DataFrame, schema: Schema) -> CodedTally:
    """Code a tally that is on Spark, column by column."""
    hierarchies = {**schema.quasi, **schema.sensitive}
    columns = tuple(sorted(hierarchies))
    trees: dict[str, Tree] = {}
    value_counts: dict[str, Counts] = {}
    counted = cached(counted)  # for as long as its columns are looked at, one by one
    frame = counted
    for place, name in enumerate(columns):
        number = source.number(name)
        found = to_polars(counted.groupBy(F.col(number).alias("v")).agg(F.sum(COUNT).alias(COUNT)))
        trees[name], codes = code_column(name, found["v"].alias(""), hierarchies[name], source.texts)
        counts = np.bincount(codes, weights=found[COUNT].to_numpy(), minlength=trees[name].size)
        value_counts[name] = counts.astype(np.int64)
        values = pl.DataFrame({"v": found["v"], f"k{place}": codes.astype(np.int32)})
        lookup = lookup_frame(source.session, values, {"v": counted.schema[number].dataType})
        frame = frame.join(lookup, on=F.col(number).eqNullSafe(F.col("v"))).drop("v")
    coded = cached(frame)
    coded.count()
    counted.unpersist()
    return CodedTally(coded, columns, trees, value_counts, int(value_counts[columns[0]].sum()))
