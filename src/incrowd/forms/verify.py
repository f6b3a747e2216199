"""Judge a table as a reader sees it: groups are what shows the same labels, whoever made the table.

Nothing here knows how a method works. It counts the labels that were published, or those of any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.core.groups import Groups, Histogram, LabelledRegions, LazyHistograms, Regions
from incrowd.core.model import Guarantee, Model
from incrowd.core.tally import Tally
from incrowd.errors import ConformanceError, SchemaError, Unsatisfiable
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_numbers, as_text, code_among

WEIGHTS_INCLUDED = "also for whoever sees weights"
ESTIMATED = "people of the population are estimated by survey weights, not counted"
COUNT = "\0count of rows"
"""Name of the column of counts; the leading zero byte keeps it apart from any column that a table may have."""


def groups_of(
    counted: pl.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    *,
    before: Tally | None = None,
    stands_for: Regions | None = None,
) -> Groups:
    """Group a table of distinct published rows with their counts by its quasi-identifiers.

    Models that compare a group with the whole table compare it with the table `before`, or with this one. What the
    labels of each row stand for, row by row, is told by `stands_for`.
    """
    # Columns are renamed first: a table may well have a column called "group".
    keys = [f"q{place}" for place in range(len(quasi))]
    values = [f"s{place}" for place in range(len(sensitive))]
    names = zip((*quasi, *sensitive), (*keys, *values), strict=True)
    placed = pl.DataFrame({ours: counted[name] for name, ours in names} | {"count": counted[COUNT].cast(pl.Int64)})
    # One row of each group tells what the whole group shows.
    facts = (pl.col("count").sum(), pl.col("row").first())
    placed = placed.with_row_index("row")
    sizes = placed.group_by(keys, maintain_order=True).agg(facts) if keys else placed.select(facts)
    numbered: list[pl.DataFrame] = []

    def count(name: str) -> Histogram:
        if not numbered:  # only a model that looks at values needs to know which group a row is in
            numbered.append(_number_groups(placed, sizes, keys))
        ours = values[list(sensitive).index(name)]
        return _histogram(numbered[0].join(codes[name], on=ours, how="left", nulls_equal=True), sizes.height)

    trees: dict[str, Tree] = {}
    codes: dict[str, pl.DataFrame] = {}
    for name, ours in zip(sensitive, values, strict=True):
        found = placed[ours].unique(maintain_order=True)
        if before is None:
            trees[name], found_codes = Exact().build(name, found)
        else:
            trees[name] = before.trees[name]
            found_codes = _known_codes(name, found, trees[name])
        codes[name] = pl.DataFrame({ours: found, "code": found_codes})
    whole = {} if before is None else {name: before.table_counts(name) for name in sensitive}

    def joint() -> Histogram:
        combinations = placed.select(values).unique(maintain_order=True).with_row_index("code")
        numbered = _number_groups(placed, sizes, keys)
        return _histogram(numbered.join(combinations, on=values, how="left", nulls_equal=True), sizes.height)

    def regions() -> Regions:
        assert stands_for is not None
        return stands_for.of(sizes["row"].to_numpy())

    return Groups(
        sizes["count"].to_numpy(),
        LazyHistograms(tuple(sensitive), count),
        whole,
        trees,
        joint=joint,
        table=before,
        regions=None if stands_for is None else regions,
    )


def codes_of_values(
    counted: pl.DataFrame, columns: Sequence[str], before: Tally | None
) -> tuple[dict[str, Tree], dict[str, Codes]]:
    """Code what some columns show: by the trees of the table `before`, or by trees of their own."""
    trees: dict[str, Tree] = {}
    codes: dict[str, Codes] = {}
    for name in columns:
        shown = counted[name].alias("")
        if before is None:
            trees[name], codes[name] = Exact().build(name, shown)
        else:
            trees[name] = before.trees[name]
            codes[name] = _known_codes(name, shown, trees[name])
    return trees, codes


def _known_codes(name: str, found: pl.Series, tree: Tree) -> Codes:
    known = tree.values.slice(1)
    if found.dtype != known.dtype:  # a file may have written numbers as text, and 25 as 25.0
        numbers = as_numbers(found) if known.dtype.is_numeric() else None
        if numbers is None:
            found, known = as_text(found), as_text(known)
        else:
            found, known = numbers.cast(pl.Float64), known.cast(pl.Float64)
    codes = code_among(found, known)
    if (codes < 0).any():
        raise SchemaError(f"sensitive column '{name}' has values that the original table does not have.")
    return codes


def read_regions(counted: pl.DataFrame, quasi: Sequence[str], before: Tally) -> LabelledRegions:
    """Read what the labels of each row of a published table stand for, whoever wrote them."""
    columns = tuple(sorted(quasi))
    label_of, masks, lows, highs = [], [], [], []
    for name in columns:
        shown = counted[name].alias("")
        labels = shown.unique(maintain_order=True)
        numbered = pl.DataFrame({"label": labels}).with_row_index("number")
        number = pl.DataFrame({"label": shown}).join(
            numbered, on="label", how="left", nulls_equal=True, maintain_order="left"
        )["number"]
        mask = label_masks(name, before.trees[name], labels)
        label_of.append(number.to_numpy().astype(np.int64))
        masks.append(mask)
        lows.append(mask.argmax(axis=1)[label_of[-1]].astype(np.int32))
        highs.append((mask.shape[1] - mask[:, ::-1].argmax(axis=1))[label_of[-1]].astype(np.int32))
    return LabelledRegions(
        columns, np.stack(lows, axis=1), np.stack(highs, axis=1), np.stack(label_of, axis=1), tuple(masks)
    )


def _number_groups(placed: pl.DataFrame, sizes: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    if not keys:
        return placed.with_columns(group=pl.lit(0, dtype=pl.UInt32))
    numbered = sizes.drop("count", "row").with_row_index("group")
    return placed.join(numbered, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _histogram(placed: pl.DataFrame, groups: int) -> Histogram:
    counted = placed.group_by("group", "code").agg(pl.col("count").sum()).sort("group", "code")
    offsets = np.searchsorted(counted["group"].to_numpy(), np.arange(groups + 1))
    return Histogram(offsets, counted["code"].to_numpy().astype(np.int32), counted["count"].to_numpy())


def verify(
    counted: pl.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    require: Sequence[Model],
    *,
    before: Tally | None = None,
    stands_for: Regions | None = None,
) -> list[Guarantee]:
    """Check every model on the published rows; return the guarantees, or refuse the release."""
    return verify_groups(groups_of(counted, quasi, sensitive, before=before, stands_for=stands_for), require)


def verify_groups(groups: Groups, require: Sequence[Model]) -> list[Guarantee]:
    """Check every model on groups as a reader sees them."""
    broken = [model for model in require if not model.satisfied(groups).all()]
    if broken:
        names = ", ".join(str(model) for model in broken)
        if all(model.whole_table for model in broken):
            reached = ", ".join(f"{model.achieved(groups):.4g}" for model in broken)
            raise Unsatisfiable(
                f"all groups together do not satisfy {names}, which was only known once they were all made: {reached} "
                "is reached.  Hint: use the full-domain search, or Mondrian with strict cuts and regions as labels."
            )
        raise ConformanceError(
            f"the method's table does not satisfy {names}; nothing was published. Please report this."
        )
    return [Guarantee(model, "verified", model.achieved(groups), note=_note(model, groups)) for model in require]


def weights_included(of_labels: Sequence[Guarantee], of_classes: Sequence[Guarantee]) -> list[Guarantee]:
    """Return how far models hold for whoever sees weights, too, given what holds by labels and by classes of weights.

    How many people of a population a row could be is told by its labels alone.
    """
    return [
        one if cast("Model", one.model).asks_population else replace(other, note=_both(other.note, WEIGHTS_INCLUDED))
        for one, other in zip(of_labels, of_classes, strict=True)
    ]


def _note(model: Model, groups: Groups) -> str:
    estimated = ESTIMATED if model.asks_population and groups.population_is_estimated else ""
    return _both(model.told(groups), estimated)


def _both(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
