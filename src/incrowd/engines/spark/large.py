"""Publishing a table whose tally is too large for the driver: first cuts on Spark, the rest inside of parts.

The driver holds one column's distinct values at a time, and how many groups have which size. Executors hold one part of
the tally each, at most `spark.incrowd.partTuples` tuples unless no safe cut makes a part smaller. Methods that decide
for all of the table at once see a coarser tally on the driver instead (`coarse.py`). The release is another than one
machine would make, since medians of parts are not medians of boxes; its guarantees are the same, and are verified on
the published labels where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.engine import MadeInParts, PartsTask
from incrowd.core.groups import Groups, Histogram
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model, any_looks_at_values, for_each_group
from incrowd.core.people import PeopleNumbers
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.schema import Schema
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.coarse import shown_by_all
from incrowd.engines.spark.coding import CodedTally, code_on_spark
from incrowd.engines.spark.counting import COUNT, arrow_only, cached, grouped, let_go, part_tuples, running, too_large
from incrowd.engines.spark.dates import DatesOnSpark
from incrowd.engines.spark.first_cuts import first_cuts
from incrowd.engines.spark.form import GeneralizedOnSpark
from incrowd.engines.spark.frame import SparkRows
from incrowd.engines.spark.judging import group_sizes, judge, people_in_groups
from incrowd.engines.spark.keyed_codes import with_pseudonyms
from incrowd.engines.spark.named_rows import NamedRows
from incrowd.engines.spark.naming import Naming, labelled, present_codes
from incrowd.engines.spark.parts import WAYS, PartSearch, in_arrow, raise_told
from incrowd.engines.spark.placing import MARK_BITS
from incrowd.engines.spark.published import MARK, Published, repeated
from incrowd.engines.spark.sliced_parts import publish_buckets, settled
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import Unsatisfiable
from incrowd.forms.generalized import ShowGeneralized

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SETTLED_BY = 100_000
"""So many tuples decide what is the same in all parts, at most."""


def publish_in_parts(source: SparkSource, task: PartsTask) -> MadeInParts:
    """Publish a table whose tally is on Spark, or say why that takes a tally on the driver."""
    why = _why_not(task)
    if why:
        raise too_large(task.tuples, task.limit, why=f"; {why}")
    with running():
        return _Release(source, task, cast("Method", task.method)).made()


def _why_not(task: PartsTask) -> str:
    method = task.method
    if method.private or method.remembers_people:
        return f"{method.name} needs all of them"
    if _in_buckets(task) and task.schema.person:
        return f"{method.name} is for tables in which everybody has one row"
    if task.form is not None and task.form != ShowGeneralized() and task.form.columns_in_parts(task.schema) is None:
        return f"the form {task.form.name} needs all of them"
    if method.searches_parts and method.goes_by_the_clock:
        return "what is found in a time cannot be found again (leave out max_seconds)"
    if task.seconds is not None:
        return f"what is found in a time cannot be found again, and what is found in passes can ({option('effort', 4)})"
    if task.schema.items:
        return "sets of items are searched with all of them"
    if task.rate < 1:
        return "a sample is drawn from all of them"
    if task.has_population:
        return "models that know a population need all of them"
    if task.schema.person and not cast("Method", method).searches_parts:
        return f"{method.name} needs all of them where people have several rows"
    for model in task.require:
        if model.needs_table or model.whole_table or (model.covers_all_columns and method.searches_parts):
            return f"{model} needs all of them"
    for name, treatment in task.schema.dates.items():
        if treatment.needs_person:
            return f"the dates of '{name}' are treated by person, which needs all of them"
    return ""


def _in_buckets(task: PartsTask) -> bool:
    """Whether rows are shown in buckets."""
    return task.method.one_row_each if task.form is None else task.form.one_row_each


@dataclass(frozen=True, eq=False)
class _Release:
    """A release in the making."""

    source: SparkSource
    task: PartsTask
    method: Method

    def made(self) -> MadeInParts:
        """Code, search, write labels, judge."""
        source, task, method, progress = self.source, self.task, self.method, self.task.progress
        schema, require = task.schema, task.require
        progress("coding", 0.0)
        named = NamedRows(source, schema) if schema.person else None
        counted = grouped(source, schema.tallied) if named is None else cached(named.counted())
        if named is not None:
            named.require_names(counted)
        tally = code_on_spark(source, counted, method.counted_as(schema))
        let_go()  # tuples have codes from here on
        looks = any_looks_at_values(require) or method.looks_at_values
        people = tally if named is None else named.people(tally, values=looks)
        if _in_buckets(task):
            return self._buckets(tally)
        for name, show in task.show(tally.trees).items():
            why = f"; to show the {show} of '{name}' needs all of them, and labels do not ({option('show', 'label')})"
            raise too_large(task.tuples, task.limit, why=why)
        lines, kept = self._lines(schema, tally, people, named)
        lines = lines.persist()
        facts = _Facts.of(lines)
        present = None
        if facts.rows < tally.rows:
            present = present_codes(lines, tally, tally.columns)
        naming = Naming(schema, tally.trees, present, {name: tally.code(name) for name in tally.columns})
        names = [] if named is None else named.names
        passed = [COUNT, "mark", "first", *self._raw(schema), *names]
        shown = labelled(lines, naming, passed).persist()
        form, numbers = _release_form(
            source, task, tally, schema, shown, facts, named, people
        )  # fmt: skip
        for spent in {id(frame): frame for frame in (lines, kept, tally.frame, people.frame, counted)}.values():
            spent.unpersist()
        if present is None:
            present = {name: tally.value_counts[name] > 0 for name in tally.columns}
        values = {name: tree.values.filter(pl.Series(present[name])) for name, tree in tally.trees.items()}
        if numbers is not None and numbers.total == tally.rows:
            numbers = None  # everybody has one row
        return MadeInParts(form, form.guarantees, SparkRows(source, lambda: form.published), values, numbers)

    def _buckets(self, tally: CodedTally) -> MadeInParts:
        """Put rows into buckets, part by part."""
        task, schema = self.task, self.task.schema
        for name in schema.found_again:
            raise too_large(task.tuples, task.limit, why=f"; '{name}' is kept, which buckets do not allow")
        search = self._search(schema, tally, tally)
        search, own = settled(search, tally, min(task.limit, _SETTLED_BY))
        showing = task.form or own
        shown = None if showing is None else showing.columns_in_parts(schema)
        if shown is None:
            raise too_large(task.tuples, task.limit, why=f"; {self.method.name} needs all of them")
        placed, search = self._cut(search, tally, tally)
        task.progress("searching parts", 0.0)
        return publish_buckets(self.source, tally, placed, search, task.form, shown, task.require)

    def _search(self, schema: Schema, tally: CodedTally, people: CodedTally) -> PartSearch:
        """Return what any part needs, but for where it ends."""
        task, method = self.task, self.method
        require = task.require if method.judges_all_groups else for_each_group(task.require)
        nothing = np.zeros((1, len(schema.quasi)), dtype=np.int32)
        return PartSearch(
            schema, tally.columns, tally.trees, people.value_counts, method, tuple(require), nothing, nothing,
            task.secret, people.everybody, task.effort,
        )  # fmt: skip

    def _cut(self, search: PartSearch, tally: CodedTally, people: CodedTally) -> tuple[DataFrame, PartSearch]:
        """Cut the table into parts; return the tuples, or people, with their parts."""
        task, quasi = self.task, tuple(search.schema.quasi)
        _require_whole(people, tuple(search.schema.sensitive), search.require)
        task.progress("first cuts", 0.0)
        moves = self.method.moves
        most = min(part_tuples(self.source.session), task.limit)
        weights = {} if moves is None else moves.weights
        sensitive = tuple(search.schema.sensitive)
        placed, parts = first_cuts(people, quasi, sensitive, search.require, most, weights)
        by_name = [quasi.index(name) for name in sorted(quasi)]
        return placed, replace(search, lows=parts.lows[:, by_name], highs=parts.highs[:, by_name])

    def _raw(self, schema: Schema) -> list[str]:
        """Return the raw columns of tuples, where rows will be joined by them."""
        return [self.source.number(name) for name in schema.tallied] if schema.found_again else []

    def _lines(
        self, schema: Schema, tally: CodedTally, people: CodedTally, named: NamedRows | None
    ) -> tuple[DataFrame, DataFrame]:
        """Return what becomes of each tuple, lines as `parts.py` makes them; and what is kept until these were made."""
        task, method, quasi = self.task, self.method, tuple(schema.quasi)
        search = self._search(schema, tally, people)
        codes = [tally.code(name) for name in tally.columns]
        mark = F.xxhash64(*codes).bitwiseAND(F.lit(2**MARK_BITS - 1)).alias("mark")
        names = [] if named is None else named.names
        passed = [*codes, "mark", *self._raw(schema), *names]
        if not method.searches_parts:
            task.progress("choosing levels", 0.0)
            found = shown_by_all(self.source, tally, search, task.limit, task.progress)
            return found.withColumn("mark", mark), tally.frame
        placed, search = self._cut(search, tally, people)
        if named is not None:  # a person's rows go where the person goes
            placed = tally.frame.join(placed.select(*named.names, "part"), on=named.names)
        task.progress("searching parts", 0.0)
        given = placed.select(*codes, COUNT, "part", mark, *self._raw(schema), *names)
        fields = [T.StructField(name, given.schema[name].dataType) for name in passed]
        fields += [T.StructField(name, T.LongType()) for name in (COUNT, "first", "whole")]
        fields += [T.StructField(f"{kind}{place}", T.IntegerType()) for place in range(len(quasi)) for kind in "lhv"]
        fields.append(T.StructField("why", T.StringType()))
        with arrow_only():
            label = in_arrow(search, codes, passed, names)
            return given.groupBy("part").applyInArrow(label, T.StructType(fields)), people.frame


@dataclass(frozen=True)
class _Facts:
    """What all lines together tell."""

    rows: int
    split: bool
    """Whether equal rows are in several groups, or some of them in none."""
    written: str
    """How labels are written, as a recoding tells it."""

    @classmethod
    def of(cls, lines: DataFrame) -> _Facts:
        """Look at all lines in one job; raise what an executor told of its part."""
        found = lines.agg(
            F.sum(COUNT).alias("rows"),
            F.max("why").alias("why"),
            F.max(F.col("whole") - F.col(COUNT)).alias("left"),
            F.min("v0").alias("way"),
        )
        rows, why, left, way = to_polars(found).row(0)
        if why is not None:
            raise_told(why)
        if not rows:
            raise Unsatisfiable("no group satisfies what is required: all rows would be withheld.  Hint: ask for less.")
        return cls(int(rows), bool(left), "level" if way >= 0 else WAYS[-1 - way])


def _require_whole(tally: CodedTally, sensitive: Sequence[str], require: Sequence[Model]) -> None:
    """Raise `Unsatisfiable` if not even the whole table, as one group, satisfies the models."""

    def histogram(name: str) -> Histogram:
        counts = tally.value_counts[name]
        codes = np.flatnonzero(counts)
        return Histogram(np.array([0, len(codes)]), codes.astype(np.int32), counts[codes])

    histograms = {name: histogram(name) for name in sensitive}
    whole = {name: tally.value_counts[name] for name in sensitive}
    everybody = Groups(np.array([tally.rows]), histograms, whole, tally.trees, everybody=tally.everybody)
    require_possible(require, everybody)


def _release_form(
    source: SparkSource,
    task: PartsTask,
    tally: CodedTally,
    schema: Schema,
    shown: DataFrame,
    facts: _Facts,
    named: NamedRows | None,
    people: CodedTally,
) -> tuple[GeneralizedOnSpark, PeopleNumbers | None]:
    labels = [f"q{place}" for place in range(len(schema.quasi))]
    secrets = {name: f"s{place}" for place, name in enumerate(schema.sensitive)}
    sizes, groups = group_sizes(shown, labels)
    numbers, names, judged = None, [], sizes
    if named is not None:
        names = named.names
        judged = people_in_groups(shown, labels, names)
        numbers = PeopleNumbers(people.rows, judged)
    buckets = task.tuples // min(part_tuples(source.session), task.limit) + 1
    guarantees = judge(
        shown, labels, secrets, task.require, judged, tally.trees, people.value_counts, buckets,
        names, people.everybody or 0,
    )  # fmt: skip
    widths = [F.sum(F.col(f"w{place}") * F.col(COUNT)).alias(f"w{place}") for place in range(len(labels))]
    marks = F.sum(F.col("mark") * F.col(COUNT)).alias("mark")
    sums = to_polars(shown.agg(*widths, marks)).row(0, named=True)
    made_up = sorted(name for name in schema.quasi if tally.trees[name].from_data)
    form = GeneralizedOnSpark(
        schema,
        Published(_rows(source, schema, shown, task.key, named, split=facts.split), facts.rows, int(sums["mark"])),
        sizes,
        groups,
        # A row that is withheld has lost everything.
        {
            name: (float(sums[f"w{place}"]) + tally.rows - facts.rows) / tally.rows
            for place, name in enumerate(schema.quasi)
        },
        tuple(guarantees),
        tuple(made_up) if facts.written in ("hierarchy", "level") else (),
        facts.written == "tight",
        tally.rows,
    )
    return form, numbers


def _rows(
    source: SparkSource,
    schema: Schema,
    labelled: DataFrame,
    key: PseudonymKey | None,
    named: NamedRows | None,
    *,
    split: bool,
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
        if split:  # rows that are equal in all of that are dealt in the order of what they carry, as on one machine
            carried = sorted({*columns} - {f"q{place}" for place in range(len(schema.quasi))} - {*found.columns})
            alike = Window.partitionBy(*joined_by).orderBy(*carried)
            given = given.withColumn("rank", F.row_number().over(alike) - 1)
            same += [F.col("rank") >= F.col("first"), F.col("rank") < F.col("first") + F.col(COUNT)]
        rows = given.join(found, on=same).select(*columns, "mark")
    else:
        rows = repeated(labelled, [*columns, "mark"])
    labels = [shown[name] for name in schema.quasi]
    ordered = rows.repartition(*labels).sortWithinPartitions(*labels, *columns)
    return ordered.select(*columns, "mark").toDF(*schema.published, MARK)
