"""Whose rows are, on Spark: where there are more people than the driver holds, executors tell names apart.

One person may be spelt in two ways, as `P1` and `P1 `, or as 5 and 5.0. So texts become what is the same for all
spellings of one name, by the code of one machine, a batch of Arrow at a time; people are then counted by aggregates.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.records import dataclass
from incrowd.core.people import without_name
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import texts_in_arrow, to_polars
from incrowd.engines.spark.coding import CodedTally, OwnedCodes
from incrowd.engines.spark.counting import COUNT, arrow_only, cached, grouped
from incrowd.engines.spark.first_cuts import TUPLES
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.values import spelling_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from incrowd.engines.spark.source import SparkSource

_TEXTS = (T.StringType, T.CharType, T.VarcharType)


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a table in which people are known: `p0`, `p1`, … tell together whose a row is."""

    source: SparkSource
    schema: Schema

    @property
    def names(self) -> list[str]:
        """What tells whose a row is."""
        return [f"p{place}" for place in range(len(self.schema.person))]

    @cached_property
    def rows(self) -> DataFrame:
        """The rows, each with its person's name as all of its spellings have it."""
        return self._named(self.source.rows)

    def _named(self, rows: DataFrame) -> DataFrame:
        columns = {
            ours: _one_name(F.col(self.source.number(name)), self.source.texts) if self._is_text(name)
            else F.col(self.source.number(name))
            for ours, name in zip(self.names, self.schema.person, strict=True)
        }  # fmt: skip
        return rows.withColumns(columns)

    def counted(self) -> DataFrame:
        """Return the plan that counts the distinct tuples of each person, spellings of whose name are counted first."""
        numbers = [self.source.number(name) for name in self.schema.tallied]
        # The driver has asked for the same counts, and so the executors may still have them (`keeping_large`).
        spelt = self._named(grouped(self.source, self.schema.found_again_by))
        return spelt.groupBy(*numbers, *self.names).agg(F.sum(COUNT).alias(COUNT))

    def require_names(self, counted: DataFrame) -> None:
        """Refuse rows that do not tell whose they are."""
        for ours, name in zip(self.names, self.schema.person, strict=True):
            if counted.where(F.col(ours).isNull()).limit(1).count():
                raise without_name(name)

    def people(self, tally: CodedTally, *, values: bool) -> CodedTally:
        """Return one line for each person: in each quasi-identifier the middle one of the person's codes.

        A missing value is the middle one only where there is no other. Where somebody looks at sensitive `values`, it
        is counted how many people have each.
        """
        codes = [tally.code(name) for name in self.schema.quasi]
        known = {
            code: F.sort_array(F.collect_list(F.when(F.col(code) != 0, F.col(code)))).alias(code) for code in codes
        }
        held = tally.frame.groupBy(*self.names).agg(*known.values(), F.count(F.lit(1)).alias(TUPLES))
        middle = {
            code: F.coalesce(F.get(code, F.floor((F.size(code) - 1) / 2).cast("int")), F.lit(0)).alias(code)
            for code in codes
        }
        frame = cached(held.withColumns(middle).withColumn(COUNT, F.lit(1).cast("bigint")))
        owned = OwnedCodes(tally.frame, self.names)
        counts = dict(tally.value_counts)
        for name in self.schema.sensitive if values else ():
            pairs = owned.people_with_values(tally.code(name))
            found = to_polars(pairs.groupBy("code").agg(F.count(F.lit(1)).alias(COUNT)))
            counts[name] = np.zeros(tally.trees[name].size, dtype=np.int64)
            counts[name][found["code"].to_numpy()] = found[COUNT].to_numpy()
        return CodedTally(frame, tally.columns, tally.trees, counts, frame.count(), owned)

    def with_own_spelling(self, rows: DataFrame) -> DataFrame:
        """Return rows in which persons that get a pseudonym have one spelling, the shortest that the table has."""
        for ours, name in zip(self.names, self.schema.person, strict=True):
            if name not in self.schema.pseudonyms or not self._is_text(name):
                continue
            number = self.source.number(name)
            with arrow_only():
                read = _as_read(F.col(number), self.source.texts)
            spelt = self.rows.select(F.col(ours).alias("name"), read.alias("read"))
            shortest = F.min(F.struct(F.octet_length("read").alias("length"), F.col("read"))).getField("read")
            spelt = spelt.groupBy("name").agg(shortest.alias("read"))
            rows = rows.join(spelt, on=F.col(ours) == F.col("name")).drop(number, "name")
            rows = rows.withColumnRenamed("read", number)
        return rows

    def _is_text(self, name: str) -> bool:
        return isinstance(self.source.rows.schema[self.source.number(name)].dataType, _TEXTS)


def _one_name(values: Column, texts: TextRules) -> Column:
    return texts_in_arrow(values, lambda some: spelling_of(texts.read(some)))


def _as_read(values: Column, texts: TextRules) -> Column:
    return texts_in_arrow(values, texts.read)
