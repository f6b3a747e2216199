"""Rows joined with what was decided about them: one scan, one join by raw values, nothing row by row in Python.

The lookup of raw tuples is broadcast where it is small (`spark.sql.autoBroadcastJoinThreshold`) and shuffled where it
is not. Rows of a tuple that is in several groups are numbered and dealt as on one machine (`engines/dealing.py`).
Cost: one scan; each published row is shuffled once, twice where tuples are shared; the lookup, once.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.arrays import Ints
from incrowd.common.records import dataclass
from incrowd.core.engine import Counted
from incrowd.core.labelled import Labelled
from incrowd.core.people import names_as_read
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.shown_weights import ShownWeights
from incrowd.engines.dealing import group_of_tuple, hash_of, secrets_of
from incrowd.engines.spark.arrow_batches import to_arrow, to_spark
from incrowd.engines.spark.dates import DatesOnSpark
from incrowd.engines.spark.keyed_codes import with_pseudonyms
from incrowd.engines.spark.published import MARK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from incrowd.core.pseudonyms import PseudonymKey
    from incrowd.engines.spark.source import SparkSource

MARK_BITS = 24
_UNITS = {"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40}


@dataclass(frozen=True, eq=False)
class Placing:
    """A release of generalized values with columns that only the rows have."""

    source: SparkSource
    counted: Counted
    recoding: Recoding
    form: Labelled
    key: PseudonymKey
    shuffle: int | None

    def marked(self) -> DataFrame:
        """Return the published rows, and a mark for each; their order says nothing of the table's."""
        form, schema, rows = self.form, self.form.schema, self.source.rows
        placed = self._dealt(rows) if self._groups is None else self._looked_up(rows, self._groups)
        shown = {
            **self._found_again,
            **{name: f"q{place}" for place, name in enumerate(schema.written_quasi)},
            **{name: f"s{place}" for place, name in enumerate(schema.written_values)},
            **dict.fromkeys(schema.weights, "weight"),
        }
        columns = [shown[name] for name in form.schema.published]
        # By groups and within them by what is shown: nothing is left of the order in which the rows came.
        ordered = placed.repartition("group").sortWithinPartitions("group", *columns)
        return ordered.select(*columns, "mark").toDF(*form.schema.published, MARK)

    @property
    def expected_marks(self) -> int:
        """What the marks of all published rows add up to."""
        parts = self.recoding.published
        return int((marks(self.recoding.tuples[parts]) * self.recoding.counts[parts]).sum())

    @cached_property
    def _dates(self) -> DatesOnSpark | None:
        return DatesOnSpark.of(self.source, self.form.schema)

    @property
    def _found_again(self) -> dict[str, str]:
        """What columns that only the rows have are called."""
        schema = self.form.schema
        numbers = {name: self.source.number(name) for name in (*schema.pseudonyms, *schema.kept)}
        return numbers if self._dates is None else {**numbers, **self._dates.published}

    @property
    def _groups(self) -> Ints | None:
        return group_of_tuple(self.recoding, self.form.shown.group_of, len(self.form.tally))

    def _looked_up(self, rows: DataFrame, group_of: Ints) -> DataFrame:
        tuples = np.flatnonzero(group_of != WITHHELD)
        groups = group_of[tuples]
        facts = pl.DataFrame({"tuple": tuples, "group": groups, "mark": marks(tuples)})
        if self.form.weights is not None:
            facts = facts.with_columns(weight=pl.Series(self.form.weights.of(groups, tuples)))
        return self._join(rows, facts.hstack(self._labels(groups)).hstack(self._secrets(tuples)))

    def _dealt(self, rows: DataFrame) -> DataFrame:
        """Number the rows of each tuple, deal them to its parts, and only then look up what their group shows."""
        facts = _parts(self.recoding, self.form.shown.group_of, self.form.weights)
        tuples = facts["tuple"].to_numpy()
        if self.shuffle is not None:
            facts = facts.with_columns(secret=secrets_of(tuples, self.shuffle))
        joined = self._join(rows, facts.hstack(self._secrets(tuples)).with_columns(mark=marks(tuples)))
        carried = [F.col(ours) for _, ours in sorted(self._found_again.items())]
        same = Window.partitionBy("tuple")
        numbered = joined.withColumn("rank", (F.row_number().over(same.orderBy(*carried)) - 1).cast("bigint"))
        if self.shuffle is not None:
            chance = F.xxhash64("secret", "rank")
            drawn = F.row_number().over(same.orderBy(chance, "rank")) - 1
            numbered = numbered.withColumn("rank", drawn.cast("bigint"))
        before = F.size(F.filter("ends", lambda end: end <= F.col("rank")))
        placed = numbered.withColumn("group", F.element_at("groups", before + 1)).where(F.col("group") != WITHHELD)
        if self.form.weights is not None:
            placed = placed.withColumn("weight", F.element_at("weights", before + 1))
        groups = np.arange(len(self.form.shown))
        labels = pl.DataFrame({"group": groups}).hstack(self._labels(groups))
        return placed.join(lookup_frame(self.source.session, labels), on="group")

    def _labels(self, groups: Ints) -> pl.DataFrame:
        shown = self.form.shown.written(self.form.schema.quasi)[groups]
        return shown.rename({name: f"q{place}" for place, name in enumerate(shown.columns)})

    def _secrets(self, tuples: Ints) -> pl.DataFrame:
        tally = self.form.tally
        return pl.DataFrame(
            {
                f"s{place}": tally.trees[name].values.gather(tally.column(name)[tuples])
                for place, name in enumerate(self.form.schema.written_values)
            }
        )

    def _join(self, rows: DataFrame, facts: pl.DataFrame) -> DataFrame:
        """Give each row what is known of its tuple, pseudonyms and treated dates; rows of other tuples are left out."""
        schema, counted, number, dates = self.form.schema, self.counted.raw, self.source.number, self._dates
        known = {f"r{place}": name for place, name in enumerate(schema.found_again_by)}
        # Somebody whose name is spelt in two ways has one pseudonym.
        spelt = {f"p{place}": name for place, name in enumerate(schema.pseudonyms) if name in schema.person}
        raw = pl.DataFrame(
            {
                **{at: counted[name] for at, name in known.items()},
                **{at: names_as_read(counted[name].alias(""), self.source.texts) for at, name in spelt.items()},
                "tuple": pl.Series(self.counted.tuple_of),
            }
        )
        if dates is not None:
            raw, rows = raw.hstack(dates.whose(counted, schema, self.key)), dates.copied(self.source, rows)
        lookup = raw.join(facts, on="tuple", how="inner")
        fields = {at: rows.schema[number(name)].dataType for at, name in {**known, **spelt}.items()}
        found = lookup_frame(self.source.session, lookup, fields)
        same = [F.col(number(name)).eqNullSafe(F.col(at)) for at, name in known.items()]
        joined = rows.join(found, on=same).drop(*known, *map(number, known.values()))
        joined = joined.withColumnsRenamed({at: number(name) for at, name in spelt.items()})
        # Before anything is ordered: nothing that is published may follow the order of identifiers, nor of true dates.
        coded = with_pseudonyms(joined, [number(name) for name in schema.pseudonyms], self.key)
        if dates is None:
            return coded
        needed = [number(name) for name in (*schema.pseudonyms, *schema.kept)]
        looked_up = [name for name in found.columns if name not in known and name not in spelt]
        return dates.treated(coded.select(*needed, *dates.read.values(), *looked_up))


def marks(tuples: Ints) -> Ints:
    """Return a number of 24 bits for each tuple; sums of them fit 64 bits up to some 10^11 rows."""
    return hash_of(tuples) & np.int64(2**MARK_BITS - 1)


def _parts(recoding: Recoding, group_of_part: Ints, weights: ShownWeights | None) -> pl.DataFrame:
    """Return, for each tuple of which anything is published, where its parts end and which groups they are in.

    Where there are weights, return also what rows of each part show.
    """
    parts = np.argsort(recoding.tuples, kind="stable")
    shown = np.zeros(len(parts))
    if weights is not None:
        published = recoding.published
        shown[published] = weights.of(group_of_part[published], recoding.tuples[published])
    frame = pl.DataFrame(
        {
            "tuple": recoding.tuples[parts],
            "ends": recoding.counts[parts],
            "groups": np.where(recoding.published, group_of_part, WITHHELD)[parts],
            "weights": shown[parts],
        }
    )
    return (
        frame.with_columns(pl.col("ends").cum_sum().over("tuple"))
        .group_by("tuple", maintain_order=True)
        .agg("ends", "groups", *(["weights"] if weights is not None else []))
        .filter(pl.col("groups").list.max() != WITHHELD)
    )


def lookup_frame(session: SparkSession, frame: pl.DataFrame, fields: dict[str, T.DataType] | None = None) -> DataFrame:
    """Hand a lookup to Spark, to be broadcast where the session's threshold allows that."""
    made = to_spark(session, frame)
    if fields:  # equal types on both sides of a join: otherwise Spark would compare something else
        made = made.withColumns({name: F.col(name).cast(kind) for name, kind in fields.items()})
    small = to_arrow(frame).nbytes <= broadcast_bytes(session)
    # Without a word, Spark may broadcast the table instead, where its files are small and its rows are not.
    return F.broadcast(made) if small else made.hint("merge")


def broadcast_bytes(session: SparkSession) -> int:
    """Return the session's threshold for broadcasts, in bytes; -1 where there are to be none."""
    text = str(session.conf.get("spark.sql.autoBroadcastJoinThreshold"))
    found = re.fullmatch(r"(-?\d+)([a-z]*)", text.strip().lower())
    return int(found[1]) << _UNITS[found[2]] if found else -1
