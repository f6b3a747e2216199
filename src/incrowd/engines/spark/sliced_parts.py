"""Buckets in parts: executors search a part, put its rows into buckets, permute and verify them.

No row meets the driver. Parts are cut by quasi-identifiers, and equal people are in one part. So nobody matches a
bucket of another part, and what is verified part by part holds of the release. Chance is made of a secret and a part's
number, so that a part which Spark computes again is the same. Which attributes share a column is decided once, by some
of the table's tuples.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.arrays import Codes, Counts
from incrowd.common.plain import parameters
from incrowd.common.progress import silent
from incrowd.common.records import dataclass
from incrowd.core.engine import MadeInParts
from incrowd.core.model import Guarantee, Model
from incrowd.core.recoding import Showing
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import spark_type, to_arrow, to_polars
from incrowd.engines.spark.coding import CodedTally
from incrowd.engines.spark.counting import COUNT, arrow_only
from incrowd.engines.spark.form import CountedOnSpark
from incrowd.engines.spark.frame import SparkRows
from incrowd.engines.spark.judging import group_sizes
from incrowd.engines.spark.parts import PartSearch, raise_told
from incrowd.engines.spark.placing import lookup_frame
from incrowd.engines.spark.published import Published
from incrowd.errors import IncrowdError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.engines.spark.source import SparkSource

ROWS, OTHERS, TOLD = 0, 1, 2
"""Kinds of lines: a row, a line of the table beside the rows, and what a part tells of itself."""


@dataclass(frozen=True, eq=False)
class SlicedOnSpark(CountedOnSpark):
    """Rows in buckets on Spark; `sizes[i]` is the size of `groups[i]` buckets."""

    schema: Schema
    sizes: Counts
    groups: NDArray[np.int64]
    columns: Sequence[Sequence[str]]
    told_warnings: tuple[str, ...]
    rows_in: int
    name: ClassVar[str] = "sliced"
    listed: ClassVar[bool] = False

    def losses(self) -> dict[str, Any]:
        """Return the columns of attributes, and how large buckets are."""
        buckets = max(int(self.groups.sum()), 1)
        return {"columns": [list(column) for column in self.columns], "average group size": self.rows / buckets}

    def warnings(self) -> list[str]:
        """Return what parts say of themselves."""
        return list(self.told_warnings)


@dataclass(frozen=True, eq=False)
class BucketizedOnSpark(SlicedOnSpark):
    """Two tables that only the bucket's number connects."""

    name: ClassVar[str] = "bucketized"


@dataclass(frozen=True)
class SlicedSearch:
    """All that a part needs to become rows in buckets; it travels to the executors."""

    search: PartSearch
    form: Showing | None
    require: tuple[Model, ...]

    def made(self, part: int, codes: Codes, counts: Counts) -> tuple[pl.DataFrame, pl.DataFrame | None, str]:
        """Return the rows of a part, the lines of the table beside them, and what the part tells of itself."""
        search = self.search
        tally, _ = search.tally(codes, counts)
        rng = np.random.default_rng([*search.secret, part])
        recoding = search.method.search(tally, search.schema, search.require, rng=rng, progress=silent)
        showing = self.form or recoding.form
        assert showing is not None
        form = showing.show(tally, search.schema, recoding, rows_in=tally.rows, rng=rng)
        guarantees = form.verify(self.require, tally)
        rows = pl.concat(form.batches(1 << 20))
        others = dict(form.tables())
        told = {
            "form": form.name,
            "rows": rows.columns,
            "others": {name: frame.columns for name, frame in others.items()},
            "buckets": len(form.group_sizes),
            "columns": form.losses()["columns"],
            "warnings": form.warnings(),
            "achieved": [guarantee.achieved for guarantee in guarantees],
            "notes": [guarantee.note for guarantee in guarantees],
        }
        return rows, next(iter(others.values()), None), json.dumps(told)


def publish_buckets(
    source: SparkSource,
    tally: CodedTally,
    placed: DataFrame,
    search: PartSearch,
    form: Showing | None,
    shown: Sequence[str],
    require: Sequence[Model],
) -> MadeInParts:
    """Make the release of a table whose tuples were placed in parts; rows have the columns that are `shown`."""
    schema = search.schema
    codes = [tally.code(name) for name in tally.columns]
    beside = tuple(schema.sensitive)
    fields = [
        T.StructField("part", T.IntegerType()), T.StructField("kind", T.IntegerType()),
        T.StructField("bucket", T.LongType()), T.StructField(COUNT, T.LongType()),
        *(T.StructField(f"x{at}", spark_type(tally.trees[name].values)) for at, name in enumerate(shown)),
        *(T.StructField(f"y{at}", spark_type(tally.trees[name].values)) for at, name in enumerate(beside)),
        T.StructField("told", T.StringType()),
    ]  # fmt: skip
    given = placed.select(*codes, COUNT, "part")
    kinds: dict[str, Any] = {"part": pl.Int32, "kind": pl.Int32, "bucket": pl.Int64, COUNT: pl.Int64}
    kinds |= {f"x{at}": tally.trees[name].values.dtype for at, name in enumerate(shown)}
    kinds |= {f"y{at}": tally.trees[name].values.dtype for at, name in enumerate(beside)}
    label = _in_arrow(SlicedSearch(search, form, tuple(require)), codes, {**kinds, "told": pl.String})
    with arrow_only():
        lines = given.groupBy("part").applyInArrow(label, T.StructType(fields)).persist()
    found = to_polars(lines.where(F.col("kind") == TOLD).select("part", "told"))
    for text in found["told"]:
        if not text.startswith("{"):
            raise_told(text)
    told = [json.loads(text) for text in found["told"]]
    # Numbers of buckets tell nothing of the order of parts.
    order = np.random.default_rng(search.secret).permutation(len(told))
    sizes_of = np.array([part["buckets"] for part in told], dtype=np.int64)[order]
    first = np.cumsum(sizes_of) - sizes_of
    offsets = pl.DataFrame({"of": found["part"].cast(pl.Int32).gather(order), "before": first})
    numbered = lines.join(lookup_frame(source.session, offsets), on=F.col("part") == F.col("of"))
    numbered = numbered.withColumn("bucket", F.col("bucket") + F.col("before"))
    sizes, groups = group_sizes(lines.where(F.col("kind") == ROWS), ["part", "bucket"])
    kind = BucketizedOnSpark if told[0]["form"] == BucketizedOnSpark.name else SlicedOnSpark
    outline = kind(schema, sizes, groups, told[0]["columns"], _warnings(told), tally.rows)
    columns = [f"x{at}" for at in range(len(shown))]
    rows = numbered.where(F.col("kind") == ROWS).repartition("bucket").sortWithinPartitions("bucket", *columns)
    frame = rows.select("bucket", *columns).toDF(*told[0]["rows"])
    others: dict[str, Callable[[], Published]] = {}
    for name, names in told[0]["others"].items():
        table = numbered.where(F.col("kind") == OTHERS)
        number = table.count()
        ys = [f"y{at}" for at in range(len(beside))]
        ordered = table.repartition("bucket").sortWithinPartitions("bucket", *ys).select("bucket", *ys, COUNT)
        others[name] = partial(Published, ordered.toDF(*names), number)
    guarantees = tuple(
        Guarantee(
            model, "verified", _weakest(model, [part["achieved"][at] for part in told]), note=told[0]["notes"][at]
        )
        for at, model in enumerate(require)
    )
    values = {name: tree.values.filter(pl.Series(tally.value_counts[name] > 0)) for name, tree in tally.trees.items()}
    made = SparkRows(source, lambda: Published(frame, outline.rows), others=others)
    return MadeInParts(outline, guarantees, made, values)


def _weakest(model: Model, achieved: Sequence[float]) -> float:
    """Return what all parts together achieve: as much as that which is nearest to what was asked for."""
    asked = parameters(model).get(model.strictness[0])
    if not isinstance(asked, (int, float)):
        return achieved[0] if len(set(achieved)) == 1 else float("nan")
    return min(achieved) if min(achieved) >= asked else max(achieved)


def _warnings(told: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what all parts say, and what some say as theirs."""
    said = Counter(text for part in told for text in part["warnings"])
    whole = [text for text, parts in said.items() if parts == len(told)]
    some = [text for text in said if text not in whole]
    return (*whole, *([f"In some of {len(told)} parts, such as one: {some[0]}"] if some else ()))


def _in_arrow(sliced: SlicedSearch, code_columns: Sequence[str], kinds: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the function that Spark gives each part to, as Arrow; `kinds` are the types of what comes out."""

    def lines(part: Any) -> Any:
        import pyarrow as pa

        frame = pl.DataFrame(pl.from_arrow(part))
        codes = np.stack([frame[name].to_numpy() for name in code_columns], axis=1).astype(np.int32)
        number = int(frame["part"][0])
        try:
            rows, others, text = sliced.made(number, codes, frame[COUNT].to_numpy())
        except IncrowdError as error:
            rows, others, text = pl.DataFrame(), None, f"{type(error).__name__}\n{error}"
        made = [_named(rows, "x", ROWS, counts=False)]
        if others is not None:
            made.append(_named(others, "y", OTHERS, counts=True))
        made.append(pl.DataFrame({"kind": pl.Series([TOLD], dtype=pl.Int32), "told": [text]}))
        table = pl.concat([some for some in made if some.width], how="diagonal")
        table = table.with_columns(part=pl.lit(number, dtype=pl.Int32))
        missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in kinds.items() if name not in table.columns]
        arrow = to_arrow(table.with_columns(missing).select(*kinds))
        texts = {at for at, field in enumerate(arrow.schema) if pa.types.is_large_string(field.type)}
        columns = [values.cast(pa.string()) if at in texts else values for at, values in enumerate(arrow.columns)]
        return pa.table(columns, names=list(kinds))

    lines.__annotations__ = {}
    return lines


def _named(frame: pl.DataFrame, letter: str, kind: int, *, counts: bool) -> pl.DataFrame:
    """Return rows with columns called by number: the bucket comes first and, where there are `counts`, these last."""
    if not frame.width:
        return frame
    bucket, *rest = frame.get_columns()
    number = rest.pop() if counts else pl.Series(np.ones(frame.height, dtype=np.int64))
    named = [values.alias(f"{letter}{at}") for at, values in enumerate(rest)]
    facts = [bucket.cast(pl.Int64).alias("bucket"), number.cast(pl.Int64).alias(COUNT)]
    return pl.DataFrame([*facts, *named]).with_columns(kind=pl.lit(kind, dtype=pl.Int32))


def settled(search: PartSearch, tally: CodedTally, limit: int) -> tuple[PartSearch, Showing | None]:
    """Decide by some of the tuples what is the same in all parts; return the form that the method asks for, too."""
    codes = [tally.code(name) for name in tally.columns]
    some = to_polars(tally.frame.orderBy(F.xxhash64(*codes)).select(*codes, COUNT).limit(limit))
    given = np.stack([some[name].to_numpy() for name in codes], axis=1).astype(np.int32)
    part, _ = search.tally(given, some[COUNT].to_numpy())
    rng = np.random.default_rng([*search.secret, 0])
    recoding = search.method.search(part, search.schema, search.require, rng=rng, progress=silent)
    return replace(search, method=search.method.settled(recoding)), recoding.form
