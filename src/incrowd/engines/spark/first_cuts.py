"""The first cuts of a tally that is too large for one machine, made from histograms on Spark.

Mondrian's own rule: the widest column first, at its median. In rounds, one job counts the codes of every column in
every part that is still too large; the driver cuts each such part in two, and keeps a cut if both sides satisfy the
models, which takes a second job where these look at sensitive values. A part's histogram tells how large both of its
sides are, so that a side that is small enough is not counted again. Cost: about log2(tuples / tuples of a part)
rounds; what comes to the driver is one number for each code of each column in each open part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import functions as F

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Model, any_looks_at_values, satisfies_all
from incrowd.engines.spark.arrow_batches import to_polars
from incrowd.engines.spark.coding import CodedTally
from incrowd.engines.spark.counting import COUNT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


TUPLES = "tuples"
"""A column that tells how many tuples a line stands for, where lines are people; otherwise it is one."""


@dataclass
class Parts:
    """A table in parts: part p holds the codes `lows[p, j]` to `highs[p, j] - 1` of quasi-identifier j."""

    lows: Codes
    highs: Codes
    attempts: list[int] = field(default_factory=lambda: [0])
    done: list[bool] = field(default_factory=lambda: [False])

    def __len__(self) -> int:
        return len(self.lows)


@dataclass(frozen=True)
class Cut:
    """A part in two: codes of a column below `code` stay, the others become part `right`."""

    part: int
    column: int
    code: int
    right: int
    sizes: tuple[int, int]
    tuples: tuple[int, int]
    """How many rows, or people, both sides have; and how many tuples."""


def first_cuts(
    tally: CodedTally,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    require: Sequence[Model],
    part_tuples: int,
    weights: Mapping[str, float],
) -> tuple[DataFrame, Parts]:
    """Return the tuples with the number of their part, and the parts; few have more than `part_tuples` tuples."""
    trees = [tally.trees[name] for name in quasi]
    lowest = [0 if tally.value_counts[name][0] else 1 for name in quasi]
    parts = Parts(np.array([lowest], dtype=np.int32), np.array([[tree.size for tree in trees]], dtype=np.int32))
    min_group = max((model.min_group for model in require), default=1)
    frame = tally.frame
    made: list[Cut] = []
    while not all(parts.done):
        found = _histograms(_placed(frame, made, tally, quasi), [tally.code(name) for name in quasi], parts)
        proposed: list[Cut] = []
        for part in np.flatnonzero(~np.array(parts.done)).tolist():
            columns = [found.get((part, column)) for column in range(len(quasi))]
            if columns[0] is None or int(columns[0][2].sum()) <= part_tuples:
                parts.done[part] = True
                continue
            cut = _propose(part, columns, parts, tally, quasi, weights, min_group, len(parts) + len(proposed))
            if cut is None:
                parts.done[part] = True
            else:
                proposed.append(cut)
        accepted = _judge(frame, made, proposed, tally, quasi, sensitive, require)
        number = len(parts)
        for cut in proposed:
            if cut not in accepted:
                parts.attempts[cut.part] += 1
                continue
            made.append(replace(cut, right=number))
            _split(parts, cut, part_tuples)
            number += 1
    return _placed(frame, made, tally, quasi), parts


def _split(parts: Parts, cut: Cut, part_tuples: int) -> None:
    lows, highs = parts.lows[cut.part].copy(), parts.highs[cut.part].copy()
    lows[cut.column] = cut.code
    parts.highs[cut.part, cut.column] = cut.code
    parts.lows, parts.highs = np.vstack([parts.lows, lows]), np.vstack([parts.highs, highs])
    parts.attempts[cut.part] = 0
    parts.attempts.append(0)
    parts.done[cut.part] = cut.tuples[0] <= part_tuples
    parts.done.append(cut.tuples[1] <= part_tuples)


def _placed(frame: DataFrame, cuts: Sequence[Cut], tally: CodedTally, quasi: Sequence[str]) -> DataFrame:
    """Number the part of each tuple, by one expression that asks as many questions as there are cuts above it."""

    def part_after(part: int, first: int) -> Column:
        for place in range(first, len(cuts)):
            cut = cuts[place]
            if cut.part == part:
                right = F.col(tally.code(quasi[cut.column])) >= cut.code
                return F.when(right, part_after(cut.right, place + 1)).otherwise(part_after(part, place + 1))
        return F.lit(part)

    return frame.withColumn("part", part_after(0, 0))


def _histograms(
    placed: DataFrame, codes: Sequence[str], parts: Parts
) -> dict[tuple[int, int], tuple[Codes, NDArray[np.int64], NDArray[np.int64]]]:
    """Return codes, rows and tuples by part and column, of the parts that are still open."""
    open_parts = [part for part, done in enumerate(parts.done) if not done]
    lines = F.col(TUPLES) if TUPLES in placed.columns else F.lit(1)
    exploded = placed.where(F.col("part").isin(open_parts)).select(
        "part", COUNT, lines.alias(TUPLES), F.posexplode(F.array(*codes)).alias("place", "code")
    )
    counted = exploded.groupBy("part", "place", "code").agg(F.sum(COUNT).alias("rows"), F.sum(TUPLES).alias("tuples"))
    found = to_polars(counted).sort("part", "place", "code")
    return {
        (int(part), int(place)): (
            rows["code"].to_numpy().astype(np.int32),
            rows["rows"].to_numpy(),
            rows["tuples"].to_numpy(),
        )
        for (part, place), rows in found.partition_by("part", "place", as_dict=True).items()
    }


def _propose(
    part: int,
    columns: Sequence[tuple[Codes, NDArray[np.int64], NDArray[np.int64]] | None],
    parts: Parts,
    tally: CodedTally,
    quasi: Sequence[str],
    weights: Mapping[str, float],
    min_group: int,
    right: int,
) -> Cut | None:
    """Return the part's next cut: its columns from the widest on, each as near to its median as may be."""
    possible: list[tuple[float, Cut]] = []
    for place, name in enumerate(quasi):
        held = columns[place]
        if held is None or len(held[0]) < 2:
            continue
        codes, rows, tuples = held
        left = np.cumsum(rows)[:-1]
        total = int(rows.sum())
        balance = np.minimum(left, total - left)
        best = int(balance.argmax())
        if balance[best] < max(min_group, 1):
            continue
        width = float(tally.trees[name].widths(codes[:1], codes[-1:] + np.int32(1))[0])
        sizes = int(left[best]), int(total - left[best])
        ends = int(tuples[: best + 1].sum()), int(tuples[best + 1 :].sum())
        possible.append((width * weights.get(name, 1.0), Cut(part, place, int(codes[best + 1]), right, sizes, ends)))
    possible.sort(key=lambda item: -item[0])
    attempt = parts.attempts[part]
    return possible[attempt][1] if attempt < len(possible) else None


def _judge(
    frame: DataFrame,
    made: Sequence[Cut],
    proposed: Sequence[Cut],
    tally: CodedTally,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    require: Sequence[Model],
) -> list[Cut]:
    """Return the cuts both of whose sides satisfy every model."""
    if not proposed:
        return []
    sizes = np.array([size for cut in proposed for size in cut.sizes], dtype=np.int64)
    histograms: dict[str, Histogram] = {}
    if any_looks_at_values(require):
        placed = _placed(frame, [*made, *proposed], tally, quasi)
        order = {number: place for place, cut in enumerate(proposed) for number in (cut.part, cut.right)}
        sides = {cut.part: 2 * place for place, cut in enumerate(proposed)}
        sides |= {cut.right: 2 * place + 1 for place, cut in enumerate(proposed)}
        touched = placed.where(F.col("part").isin(list(order)))
        for name in sensitive:
            if tally.owned is None:
                valued = touched.withColumn("code", F.col(tally.code(name)))
            else:  # somebody with three values counts for each of them
                pairs = tally.owned.people_with_values(tally.code(name))
                valued = touched.select(*tally.owned.names, "part", COUNT).join(pairs, on=tally.owned.names)
            rows = to_polars(valued.groupBy("part", "code").agg(F.sum(COUNT).alias(COUNT)))
            group = pl.Series("group", [sides[part] for part in rows["part"].to_list()], dtype=pl.Int64)
            rows = rows.with_columns(group).sort("group", "code")
            offsets = np.searchsorted(rows["group"].to_numpy(), np.arange(len(sizes) + 1))
            histograms[name] = Histogram(offsets, rows["code"].to_numpy().astype(np.int32), rows[COUNT].to_numpy())
    whole = {name: tally.value_counts[name] for name in sensitive}
    groups = Groups(sizes, histograms, whole, tally.trees, everybody=tally.everybody)
    verdicts = satisfies_all(require, groups)
    return [cut for place, cut in enumerate(proposed) if verdicts[2 * place] and verdicts[2 * place + 1]]
