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
from incrowd.core.model import Model, any_looks_at_values
from incrowd.core.people import PeopleNumbers
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.coding import CodedTally, code_on_spark
from incrowd.engines.spark.counting import COUNT, arrow_only, grouped, running, too_large
from incrowd.engines.spark.dates import DatesOnSpark
from incrowd.engines.spark.first_cuts import first_cuts
from incrowd.engines.spark.form import GeneralizedOnSpark
from incrowd.engines.spark.frame import SparkRows
from incrowd.engines.spark.judging import group_sizes, judge, people_in_groups
from incrowd.engines.spark.keyed_codes import with_pseudonyms
from incrowd.engines.spark.named_rows import NamedRows
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
        named = NamedRows(source, schema) if schema.person else None
        counted = grouped(source, schema.tallied) if named is None else named.counted().persist()
        if named is not None:
            named.require_names(counted)
        tally = code_on_spark(source, counted, schema)
        people = tally if named is None else named.people(tally, values=any_looks_at_values(require))
        part_tuples = min(PART_TUPLES, task.limit)
        quasi, sensitive = tuple(schema.quasi), tuple(schema.sensitive)
        _require_whole(people, sensitive, require)
        progress("first cuts", 0.0)
        placed, parts = first_cuts(people, quasi, sensitive, require, part_tuples, method.weights)
        if named is not None:  # a person's rows go where the person goes
            placed = tally.frame.join(placed.select(*named.names, "part"), on=named.names)
        by_name = [quasi.index(name) for name in sorted(quasi)]
        search = PartSearch(
            schema, tally.columns, tally.trees, people.value_counts, method, tuple(require),
            parts.lows[:, by_name], parts.highs[:, by_name], people.everybody,
        )  # fmt: skip
        progress("cutting", 0.0)
        labelled = _labelled(source, tally, placed, search, named).persist()
        buckets = task.tuples // part_tuples + 1
        made, numbers = _release_form(source, tally, schema, labelled, require, key, method, buckets, named, people)
        for spent in {id(frame): frame for frame in (tally.frame, people.frame, counted)}.values():
            spent.unpersist()
    values = {name: tree.values.filter(pl.Series(tally.value_counts[name] > 0)) for name, tree in tally.trees.items()}
    if numbers is not None and numbers.total == tally.rows:
        numbers = None  # everybody has one row
    return MadeInParts(made, made.guarantees, SparkRows(source, lambda: made.published), values, numbers)


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
    for name, treatment in task.schema.dates.items():
        if treatment.needs_person:
            return f"the dates of '{name}' are treated by person, which needs all of them"
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
    everybody = Groups(np.array([tally.rows]), histograms, whole, tally.trees, everybody=tally.everybody)
    require_possible(require, everybody)


def _labelled(
    source: SparkSource, tally: CodedTally, placed: DataFrame, search: PartSearch, named: NamedRows | None
) -> DataFrame:
    """Return each tuple with its labels, its sensitive values, its mark, and its raw values if rows will be joined."""
    from pyspark.sql import types as T

    from incrowd.engines.spark.arrow_batches import spark_type

    schema = search.schema
    codes = [tally.code(name) for name in tally.columns]
    joins = bool(schema.found_again)
    raw = [source.number(name) for name in schema.tallied] if joins else []
    mark = F.xxhash64(*codes).bitwiseAND(F.lit(2**MARK_BITS - 1))
    names = [] if named is None else named.names
    given = placed.select(*codes, COUNT, "part", mark.alias("mark"), *raw, *names)
    passed = [COUNT, "mark", *raw, *names]
    fields = [given.schema[name] for name in passed]
    fields += [T.StructField(f"q{place}", T.StringType()) for place in range(len(schema.quasi))]
    fields += [
        T.StructField(f"s{place}", spark_type(search.trees[name].values)) for place, name in enumerate(schema.sensitive)
    ]
    fields += [T.StructField(f"w{place}", T.DoubleType()) for place in range(len(schema.quasi))]
    label = in_arrow(search, codes, passed, names)
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
    named: NamedRows | None,
    people: CodedTally,
) -> tuple[GeneralizedOnSpark, PeopleNumbers | None]:
    labels = [f"q{place}" for place in range(len(schema.quasi))]
    secrets = {name: f"s{place}" for place, name in enumerate(schema.sensitive)}
    sizes, groups = group_sizes(labelled, labels)
    numbers, names, judged = None, [], sizes
    if named is not None:
        names = named.names
        judged = people_in_groups(labelled, labels, names, people.rows)
        numbers = PeopleNumbers(people.rows, judged)
    guarantees = judge(
        labelled, labels, secrets, require, judged, tally.trees, people.value_counts, buckets,
        names, people.everybody or 0,
    )  # fmt: skip
    widths = [F.sum(F.col(f"w{place}") * F.col(COUNT)).alias(f"w{place}") for place in range(len(labels))]
    marks = F.sum(F.col("mark") * F.col(COUNT)).alias("mark")
    sums = to_polars(labelled.agg(*widths, marks)).row(0, named=True)
    made_up = sorted(name for name in schema.quasi if tally.trees[name].from_data)
    form = GeneralizedOnSpark(
        schema,
        Published(_rows(source, schema, labelled, key, named), tally.rows, int(sums["mark"])),
        sizes,
        groups,
        {name: float(sums[f"w{place}"]) / tally.rows for place, name in enumerate(schema.quasi)},
        tuple(guarantees),
        tuple(made_up) if method.labels == "hierarchy" else (),
        method.labels == "tight",
        tally.rows,
    )
    return form, numbers


def _rows(
    source: SparkSource, schema: Schema, labelled: DataFrame, key: PseudonymKey | None, named: NamedRows | None
) -> DataFrame:
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
        names = [] if named is None else named.names
        # A tuple's rows are in several groups where they are several people's.
        joined_by = [*numbers, *names]
        found = labelled.withColumnsRenamed({column: f"r{place}" for place, column in enumerate(joined_by)})
        assert key is not None or not schema.pseudonyms
        given = source.rows if named is None else named.with_own_spelling(named.rows)
        if key is not None:
            given = with_pseudonyms(given, [source.number(name) for name in schema.pseudonyms], key)
        if dates is not None:  # none that asks whose a row is
            needed = (*joined_by, *(source.number(name) for name in (*schema.pseudonyms, *schema.kept)))
            given = dates.treated(dates.copied(source, given).select(*needed, *dates.read.values()))
        same = [F.col(column).eqNullSafe(F.col(f"r{place}")) for place, column in enumerate(joined_by)]
        rows = given.join(found, on=same).select(*columns, "mark")
    else:
        rows = repeated(labelled, [*columns, "mark"])
    labels = [shown[name] for name in schema.quasi]
    ordered = rows.repartition(*labels).sortWithinPartitions(*labels, *columns)
    return ordered.select(*columns, "mark").toDF(*schema.published, MARK)
