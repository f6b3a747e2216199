"""Publishing a table whose tally is too large for the driver: first cuts on Spark, the rest inside of parts.

The driver holds one column's distinct values at a time, and how many groups have which size. Executors hold one part of
the tally each, at most `PART_TUPLES` tuples unless no safe cut makes a part smaller. The release is another than one
machine would make, since medians of parts are not medians of boxes; its guarantees are the same, and are verified on
the published labels where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from pyspark.sql import functions as F

from incrowd.core.engine import MadeInParts, PartsTask
from incrowd.core.groups import Groups
from incrowd.core.method import require_possible
from incrowd.core.model import Model
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.coding import CodedTally, code_on_spark
from incrowd.engines.spark.counting import COUNT, arrow_only, grouped, running, too_large
from incrowd.engines.spark.dates import DatesOnSpark
from incrowd.engines.spark.first_cuts import first_cuts
from incrowd.engines.spark.form import GeneralizedOnSpark
from incrowd.engines.spark.frame import SparkRows
from incrowd.engines.spark.judging import group_sizes, judge
from incrowd.engines.spark.keyed_codes import with_pseudonyms
from incrowd.engines.spark.parts import PartSearch, in_arrow
from incrowd.engines.spark.placing import MARK_BITS
from incrowd.engines.spark.published import MARK, Published, repeated
from incrowd.engines.spark.source import SparkSource
from incrowd.forms.generalized import ShowGeneralized
from incrowd.methods.mondrian import Mondrian

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PART_TUPLES = 1_000_000


def publish_in_parts(source: SparkSource, task: PartsTask) -> MadeInParts:
    """Publish a table whose tally is on Spark, or say why that takes a tally on the driver."""
    schema, require, method, key, progress = task.schema, task.require, task.method, task.key, task.progress
    why = _why_not(task)
    if why or not isinstance(method, Mondrian):
        raise too_large(task.tuples, task.limit, why=f"; {why}")
    with running():
        progress("coding", 0.0)
        tally = code_on_spark(source, grouped(source, schema.tallied), schema)
        part_tuples = min(PART_TUPLES, task.limit)
        quasi, sensitive = tuple(schema.quasi), tuple(schema.sensitive)
        _require_whole(tally, sensitive, require)
        progress("first cuts", 0.0)
        placed, parts = first_cuts(tally, quasi, sensitive, require, part_tuples, method.weights)
        by_name = [quasi.index(name) for name in sorted(quasi)]
        search = PartSearch(
            schema, tally.columns, tally.trees, tally.value_counts, method, tuple(require),
            parts.lows[:, by_name], parts.highs[:, by_name],
        )  # fmt: skip
        progress("cutting", 0.0)
        labelled = _labelled(source, tally, placed, search).persist()
        made = _release_form(source, tally, schema, labelled, require, key, method, task.tuples // part_tuples + 1)
        tally.frame.unpersist()
    values = {name: tree.values.filter(pl.Series(tally.value_counts[name] > 0)) for name, tree in tally.trees.items()}
    return MadeInParts(made, made.guarantees, SparkRows(source, lambda: made.published), values)


def _why_not(task: PartsTask) -> str:
    if not isinstance(task.method, Mondrian):
        return f"{task.method.name} needs all of them"
    if task.method.cuts != "strict" or task.method.fixed:
        return "relaxed cuts and fixed columns need all of them"
    if task.form is not None and task.form != ShowGeneralized():
        return f"the form {task.form.name} needs all of them"
    if task.schema.items:
        return "sets of items are searched with all of them"
    if task.rate < 1:
        return "a sample is drawn from all of them"
    if task.has_population:
        return "models that know a population need all of them"
    for model in task.require:
        if model.needs_table or model.whole_table or model.covers_all_columns:
            return f"{model} needs all of them"
    return ""


def _require_whole(tally: CodedTally, sensitive: Sequence[str], require: Sequence[Model]) -> None:
    """Raise `Unsatisfiable` if not even the whole table, as one group, satisfies the models."""
    import numpy as np

    from incrowd.core.groups import Histogram

    def histogram(name: str) -> Histogram:
        counts = tally.value_counts[name]
        codes = np.flatnonzero(counts)
        return Histogram(np.array([0, len(codes)]), codes.astype(np.int32), counts[codes])

    histograms = {name: histogram(name) for name in sensitive}
    whole = {name: tally.value_counts[name] for name in sensitive}
    require_possible(require, Groups(np.array([tally.rows]), histograms, whole, tally.trees))


def _labelled(source: SparkSource, tally: CodedTally, placed: DataFrame, search: PartSearch) -> DataFrame:
    """Return each tuple with its labels, its sensitive values, its mark, and its raw values if rows will be joined."""
    from pyspark.sql import types as T

    from incrowd.engines.spark.arrow_batches import spark_type

    schema = search.schema
    codes = [tally.code(name) for name in tally.columns]
    joins = bool(schema.found_again)
    raw = [source.number(name) for name in schema.tallied] if joins else []
    mark = F.xxhash64(*codes).bitwiseAND(F.lit(2**MARK_BITS - 1))
    given = placed.select(*codes, COUNT, "part", mark.alias("mark"), *raw)
    passed = [COUNT, "mark", *raw]
    fields = [given.schema[name] for name in passed]
    fields += [T.StructField(f"q{place}", T.StringType()) for place in range(len(schema.quasi))]
    fields += [
        T.StructField(f"s{place}", spark_type(search.trees[name].values)) for place, name in enumerate(schema.sensitive)
    ]
    fields += [T.StructField(f"w{place}", T.DoubleType()) for place in range(len(schema.quasi))]
    label = in_arrow(search, codes, passed)
    with arrow_only():
        return given.groupBy("part").applyInArrow(label, T.StructType(fields))


def _release_form(
    source: SparkSource,
    tally: CodedTally,
    schema: Schema,
    labelled: DataFrame,
    require: Sequence[Model],
    key: PseudonymKey | None,
    method: Mondrian,
    buckets: int,
) -> GeneralizedOnSpark:
    labels = [f"q{place}" for place in range(len(schema.quasi))]
    secrets = {name: f"s{place}" for place, name in enumerate(schema.sensitive)}
    sizes, groups = group_sizes(labelled, labels)
    guarantees = judge(labelled, labels, secrets, require, sizes, tally.trees, tally.value_counts, buckets)
    widths = [F.sum(F.col(f"w{place}") * F.col(COUNT)).alias(f"w{place}") for place in range(len(labels))]
    marks = F.sum(F.col("mark") * F.col(COUNT)).alias("mark")
    sums = to_polars(labelled.agg(*widths, marks)).row(0, named=True)
    made_up = sorted(name for name in schema.quasi if tally.trees[name].from_data)
    return GeneralizedOnSpark(
        schema,
        Published(_rows(source, schema, labelled, key), tally.rows, int(sums["mark"])),
        sizes,
        groups,
        {name: float(sums[f"w{place}"]) / tally.rows for place, name in enumerate(schema.quasi)},
        tuple(guarantees),
        tuple(made_up) if method.labels == "hierarchy" else (),
        method.labels == "tight",
        tally.rows,
    )


def _rows(source: SparkSource, schema: Schema, labelled: DataFrame, key: PseudonymKey | None) -> DataFrame:
    """Return the published rows and their marks: each tuple as often as it occurs, or joined with the table's rows."""
    dates = DatesOnSpark.of(source, schema)
    shown = {
        **{name: source.number(name) for name in (*schema.pseudonyms, *schema.kept)},
        **({} if dates is None else dates.published),
        **{name: f"q{place}" for place, name in enumerate(schema.quasi)},
        **{name: f"s{place}" for place, name in enumerate(schema.sensitive)},
    }
    columns = [shown[name] for name in schema.published]
    if schema.found_again:
        numbers = [source.number(name) for name in schema.tallied]
        found = labelled.withColumnsRenamed({number: f"r{place}" for place, number in enumerate(numbers)})
        assert key is not None or not schema.pseudonyms
        given = source.rows
        if key is not None:
            given = with_pseudonyms(given, [source.number(name) for name in schema.pseudonyms], key)
        if dates is not None:  # none that asks whose a row is: people are not published in parts
            needed = (*numbers, *(source.number(name) for name in (*schema.pseudonyms, *schema.kept)))
            given = dates.treated(dates.copied(source, given).select(*needed, *dates.read.values()))
        same = [F.col(number).eqNullSafe(F.col(f"r{place}")) for place, number in enumerate(numbers)]
        rows = given.join(found, on=same).select(*columns, "mark")
    else:
        rows = repeated(labelled, [*columns, "mark"])
    labels = [shown[name] for name in schema.quasi]
    ordered = rows.repartition(*labels).sortWithinPartitions(*labels, *columns)
    return ordered.select(*columns, "mark").toDF(*schema.published, MARK)
