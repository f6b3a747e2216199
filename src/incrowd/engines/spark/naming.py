"""Labels of lines on Spark: runs of codes become what is published, by the code of one machine, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.arrays import Bools, Floats
from incrowd.common.records import dataclass
from incrowd.core.labelled import Shown
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import spark_type, to_arrow, to_polars
from incrowd.engines.spark.coding import CodedTally
from incrowd.engines.spark.counting import arrow_only
from incrowd.engines.spark.parts import WAYS
from incrowd.hierarchies.naming import name_runs
from incrowd.hierarchies.tree import Tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Naming:
    """What labels are written with; it travels to the executors."""

    schema: Schema
    trees: Mapping[str, Tree]
    present: Mapping[str, Bools] | None
    """The values that labels may name, where rows are withheld; None where each may be named."""
    codes: Mapping[str, str]
    """What the codes of a column are called."""

    def shown(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the labels `q…` and their widths `w…`, and the sensitive values `s…` of some lines."""
        found: dict[str, Any] = {}
        for place, name in enumerate(self.schema.quasi):
            labels, widths = self._named(name, lines.select(f"l{place}", f"h{place}", f"v{place}"))
            found[f"q{place}"], found[f"w{place}"] = labels, widths
        for place, name in enumerate(self.schema.sensitive):
            found[f"s{place}"] = self.trees[name].values.gather(lines[self.codes[name]])
        return pl.DataFrame(found)

    def _named(self, name: str, runs: pl.DataFrame) -> tuple[pl.Series, Floats]:
        """Name every run of a column once."""
        tree = self.trees[name]
        runs = runs.rename(dict(zip(runs.columns, ("low", "high", "way"), strict=True)))
        distinct = runs.unique().sort("low", "high", "way").with_row_index("at")
        labels, widths = [], np.zeros(distinct.height)
        for way in distinct["way"].unique().sort().to_list():
            some = distinct.filter(pl.col("way") == way)
            shown = cast("Shown", "level" if way >= 0 else WAYS[-1 - way])
            named = name_runs(
                tree,
                some["low"].to_numpy().astype(np.int32),
                some["high"].to_numpy().astype(np.int32),
                shown=shown,
                level=way if way >= 0 else None,
                present=None if self.present is None else self.present[name],
            )
            labels.append(pl.DataFrame({"at": some["at"], "label": named.labels}))
            widths[some["at"].to_numpy()] = tree.widths(named.lows, named.highs)
        texts = pl.concat(labels).sort("at")["label"] if labels else pl.Series(dtype=pl.String)
        at = runs.join(distinct, on=["low", "high", "way"], how="left", maintain_order="left")["at"]
        return texts.gather(at), widths[at.to_numpy()]


def present_codes(lines: DataFrame, tally: CodedTally, names: Sequence[str]) -> dict[str, Bools]:
    """Return which codes of some columns published lines have: one job over the lines."""
    codes = F.posexplode(F.array(*(F.col(tally.code(name)) for name in names))).alias("place", "code")
    found = to_polars(lines.select(codes).distinct())
    present = {}
    for place, name in enumerate(names):
        present[name] = np.zeros(tally.trees[name].size, dtype=bool)
        present[name][found.filter(pl.col("place") == place)["code"].to_numpy()] = True
    return present


def labelled(lines: DataFrame, naming: Naming, passed: Sequence[str]) -> DataFrame:
    """Return lines with what is published of them; `passed` columns come out as they went in."""
    schema = naming.schema
    fields = [lines.schema[name] for name in passed]
    for place in range(len(schema.quasi)):
        fields += [T.StructField(f"q{place}", T.StringType()), T.StructField(f"w{place}", T.DoubleType())]
    fields += [
        T.StructField(f"s{place}", spark_type(naming.trees[name].values)) for place, name in enumerate(schema.sensitive)
    ]

    def label(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            if not batch.num_rows:
                continue
            shown = to_arrow(naming.shown(pl.DataFrame(pl.from_arrow(batch))))
            columns = {name: batch.column(name) for name in passed}
            for name, values in zip(shown.column_names, shown.columns, strict=True):
                columns[name] = values.cast(pa.string()) if pa.types.is_large_string(values.type) else values
            named = pa.table({field.name: columns[field.name] for field in fields})
            yield from named.to_batches()

    label.__annotations__ = {}
    with arrow_only():
        return lines.mapInArrow(label, T.StructType(fields))
