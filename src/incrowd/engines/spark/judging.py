"""What was published, judged where it is: groups are what shows the same labels, counted by Spark.

Sizes of groups come to the driver as how many groups have each size, which is all that models of sizes need. Models of
sensitive values judge on the executors, a bucket of whole groups at a time, by the same code that judges any file.
Cost: two group-bys over the labelled tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import functions as F

from incrowd.common.arrays import Counts
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Guarantee, Model
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.counting import COUNT, arrow_only
from incrowd.engines.spark.parts import whole_table
from incrowd.errors import ConformanceError
from incrowd.forms.people_crowds import crowds_of_people, number_rows
from incrowd.forms.verify import COUNT as ROWS
from incrowd.forms.verify import groups_of
from incrowd.hierarchies.tree import Tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def group_sizes(labelled: DataFrame, labels: Sequence[str]) -> tuple[Counts, NDArray[np.int64]]:
    """Return the sizes that groups have, and how many groups have each."""
    sizes = labelled.groupBy(*labels).agg(F.sum(COUNT).alias("size"))
    found = to_polars(sizes.groupBy("size").agg(F.count(F.lit(1)).alias("groups"))).sort("size")
    return found["size"].to_numpy(), found["groups"].to_numpy()


def people_in_groups(labelled: DataFrame, labels: Sequence[str], names: Sequence[str]) -> Counts:
    """Return the people of each group, in order; refuse a release in which somebody is in two groups."""
    people = labelled.select(*names).distinct().count()
    pairs = labelled.select(*labels, *names).distinct()
    sizes = pairs.groupBy(*labels).agg(F.count(F.lit(1)).alias("size"))
    found = to_polars(sizes.groupBy("size").agg(F.count(F.lit(1)).alias("groups"))).sort("size")
    counted = np.repeat(found["size"].to_numpy(), found["groups"].to_numpy())
    if int(counted.sum()) != people:
        raise ConformanceError("rows of one person are in several groups; nothing was published. Please report this.")
    return counted


def judge(
    labelled: DataFrame,
    labels: Sequence[str],
    secrets: Mapping[str, str],
    require: Sequence[Model],
    sizes: Counts,
    trees: Mapping[str, Tree],
    value_counts: Mapping[str, Counts],
    buckets: int,
    names: Sequence[str] = (),
    people: int = 0,
) -> list[Guarantee]:
    """Check every model on the labels that are published; return the guarantees, or refuse the release.

    Where `names` tell whose a row is, sizes and the counts of values are those of `people`.
    """
    by_size = [model for model in require if not model.looks_at_values and not model.covers_all_columns]
    by_value = [model for model in require if model not in by_size]
    found = {}
    whole = Groups(sizes)
    for model in by_size:
        if not model.satisfied(whole).all():
            raise _broken(model)
        found[model] = float(model.achieved(whole))
    if by_value:
        verdicts = _judge_buckets(labelled, labels, secrets, by_value, trees, value_counts, buckets, names, people)
        for place, model in enumerate(by_value):
            mine = verdicts.filter(pl.col("model") == place)
            if mine["failing"].sum():
                raise _broken(model)
            found[model] = weakest(mine)
    nobody = Groups(np.zeros(0, dtype=np.int64), {name: _no_entries() for name in secrets}, {}, trees)
    return [Guarantee(model, "verified", found[model], note=model.told(nobody)) for model in require]


def _no_entries() -> Histogram:
    return Histogram(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))


def weakest(verdicts: pl.DataFrame) -> float:
    """Return what all buckets together achieve: as much as the weakest of them.

    Whether more is stronger (k) or weaker (t), the halves of a bucket tell: the whole is never stronger than a half.
    Where they do not tell, and buckets differ, nobody knows: that is no number.

    >>> weakest(pl.DataFrame({"whole": [5.0, 7.0], "first": [5.0, 9.0], "second": [6.0, 7.0]}))
    5.0
    >>> weakest(pl.DataFrame({"whole": [0.3, 0.2], "first": [0.1, 0.2], "second": [0.3, 0.2]}))
    0.3
    >>> weakest(pl.DataFrame({"whole": [0.3, 0.2], "first": [0.3, 0.2], "second": [0.3, 0.2]}))
    nan
    """
    whole = verdicts["whole"].to_numpy()
    halves = verdicts.select("first", "second").to_numpy()
    if (whole < halves.max(axis=1)).any():
        return float(whole.min())
    if (whole > halves.min(axis=1)).any() or whole.min() == whole.max():
        return float(whole.max())
    return float("nan")


def _broken(model: Model) -> ConformanceError:
    return ConformanceError(f"the method's table does not satisfy {model}; nothing was published. Please report this.")


def _judge_buckets(
    labelled: DataFrame,
    labels: Sequence[str],
    secrets: Mapping[str, str],
    require: Sequence[Model],
    trees: Mapping[str, Tree],
    value_counts: Mapping[str, Counts],
    buckets: int,
    names_of_people: Sequence[str],
    people: int,
) -> pl.DataFrame:
    told_by = (*labels, *secrets.values(), *names_of_people)
    lines = labelled.groupBy(*told_by).agg(F.sum(COUNT).alias(COUNT))
    bucketed = lines.withColumn("bucket", F.pmod(F.xxhash64(*labels), F.lit(buckets)))
    names = tuple(secrets)
    before = whole_table({name: trees[name] for name in names}, value_counts, people)
    whose = list(names_of_people)

    def grouped(rows: pl.DataFrame) -> Groups:
        if not whose:
            return groups_of(rows, labels, names, before=before)
        return crowds_of_people(rows, labels, names, number_rows(rows, whose), before=before)

    def verdicts(bucket: Any) -> Any:
        rows = pl.DataFrame(pl.from_arrow(bucket))
        shown = rows.select(*labels, *whose, *(pl.col(ours).alias(name) for name, ours in secrets.items()))
        shown = shown.with_columns(rows["n"].alias(ROWS))
        groups = grouped(shown)
        number = rows.select(pl.struct(*labels).rank("dense")).to_series()
        halves = [shown.filter(half) for half in (number % 2 == 0, number % 2 == 1)]
        told = []
        for place, model in enumerate(require):
            whole = float(model.achieved(groups))
            parts = [float(model.achieved(grouped(half))) if half.height else whole for half in halves]
            failing = int((~model.satisfied(groups)).sum())
            told.append({"model": place, "failing": failing, "whole": whole, "first": parts[0], "second": parts[1]})
        return pl.DataFrame(told).to_arrow()

    verdicts.__annotations__ = {}
    told = "model bigint, failing bigint, whole double, first double, second double"
    with arrow_only():
        return to_polars(bucketed.groupBy("bucket").applyInArrow(verdicts, told))
