"""Publishing a table whose tally is too large for the driver: first cuts on Spark, the rest inside of parts.

The driver holds one column's distinct values at a time, and how many groups have which size. Executors hold one part of
the tally each, at most `PART_TUPLES` tuples unless no safe cut makes a part smaller. The release is another than one
machine would make, since medians of parts are not medians of boxes; its guarantees are the same, and are verified on
the published labels where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as F

from incrowd.engines.spark.arrow import to_polars
from incrowd.engines.spark.coding import CodedTally, code_on_spark
from incrowd.engines.spark.counting import COUNT, arrow_only, grouped, running
from incrowd.engines.spark.first_cuts import first_cuts
from incrowd.engines.spark.form import GeneralizedOnSpark
from incrowd.engines.spark.judging import group_sizes, judge
from incrowd.engines.spark.parts import PartSearch, in_arrow
from incrowd.engines.spark.placing import MARK_BITS
from incrowd.engines.spark.pseudonyms import with_pseudonyms
from incrowd.engines.spark.publishing import MARK, Published, repeated
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import TallyTooLarge
from incrowd.forms import ShowGeneralized, Showing
from incrowd.groups import Groups
from incrowd.methods.method import require_possible
from incrowd.methods.mondrian import Mondrian
from incrowd.models.model import Model
from incrowd.progress import Progress
from incrowd.pseudonyms import PseudonymKey
from incrowd.releases.release import Release
from incrowd.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.table import Table

PART_TUPLES = 1_000_000
_UNFIT = ("needs_table", "whole_table", "covers_all_columns")


def publish_in_parts(
    table: Table,
    require: Sequence[Model],
    method: object,
    form: Showing | None,
    found: TallyTooLarge,
    *,
    rate: Fraction,
    seed: int | None,
    key: PseudonymKey | None,
    progress: Progress,
) -> Release:
    """Publish a table whose tally is on Spark, or say why that takes a tally on the driver."""
    why = _why_not(table, require, method, form, rate)
    if why:
        raise TallyTooLarge(found.tuples, found.limit, why=f"; {why}")
    method = cast("Mondrian", method)
    source, schema = cast("SparkSource", table.engine.source), table.schema
    key = key or (PseudonymKey.new() if schema.pseudonyms else None)
    with running():
        progress("coding", 0.0)
        tally = code_on_spark(source, grouped(source, schema.tallied), schema)
        part_tuples = min(PART_TUPLES, found.limit)
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
        made = _release_form(source, tally, schema, labelled, require, key, method, found.tuples // part_tuples + 1)
        tally.frame.unpersist()
    return Release(
        form=made,
        guarantees=made.guarantees,
        method=method,
        seed=seed,
        source=source,
        make_batches=lambda: made.batches(0),
        make_frame=lambda: made.published,
        pseudonym_key=None if key is None else key.path,
        asked_form=form,
    )


def _why_not(table: Table, require: Sequence[Model], method: object, form: Showing | None, rate: Fraction) -> str:
    if not isinstance(method, Mondrian):
        return f"{getattr(method, 'name', 'the method')} needs all of them"
    if method.cuts != "strict" or method.fixed:
        return "relaxed cuts and fixed columns need all of them"
    if form is not None and form != ShowGeneralized():
        return f"the form {form.name} needs all of them"
    if rate < 1:
        return "a sample is drawn from all of them"
    if table.population is not None:
        return "models that know a population need all of them"
    for model in require:
        if any(getattr(model, flag, False) for flag in _UNFIT):
            return f"{model} needs all of them"
    return ""


def _require_whole(tally: CodedTally, sensitive: Sequence[str], require: Sequence[Model]) -> None:
    """Raise `Unsatisfiable` if not even the whole table, as one group, satisfies the models."""
    import numpy as np

    from incrowd.groups import Histogram

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

    from incrowd.engines.spark.arrow import spark_type

    schema = search.schema
    codes = [tally.code(name) for name in tally.columns]
    joins = bool(schema.kept or schema.pseudonyms)
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
    )


def _rows(source: SparkSource, schema: Schema, labelled: DataFrame, key: PseudonymKey | None) -> DataFrame:
    """Return the published rows and their marks: each tuple as often as it occurs, or joined with the table's rows."""
    shown = {
        **{name: source.number(name) for name in (*schema.pseudonyms, *schema.kept)},
        **{name: f"q{place}" for place, name in enumerate(schema.quasi)},
        **{name: f"s{place}" for place, name in enumerate(schema.sensitive)},
    }
    columns = [shown[name] for name in schema.published]
    if schema.kept or schema.pseudonyms:
        numbers = [source.number(name) for name in schema.tallied]
        found = labelled.withColumnsRenamed({number: f"r{place}" for place, number in enumerate(numbers)})
        assert key is not None or not schema.pseudonyms
        given = source.rows
        if key is not None:
            given = with_pseudonyms(given, [source.number(name) for name in schema.pseudonyms], key)
        same = [F.col(number).eqNullSafe(F.col(f"r{place}")) for place, number in enumerate(numbers)]
        rows = given.join(found, on=same).select(*columns, "mark")
    else:
        rows = repeated(labelled, [*columns, "mark"])
    labels = [shown[name] for name in schema.quasi]
    ordered = rows.repartition(*labels).sortWithinPartitions(*labels, *columns)
    return ordered.select(*columns, "mark").toDF(*schema.published, MARK)
