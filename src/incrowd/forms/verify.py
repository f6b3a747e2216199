"""Judge a table as a reader sees it: groups are what shows the same labels, whoever made the table.

Nothing here knows how a method works. It counts the labels that were published, or those of any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import cast

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.core.groups import Groups, Histogram, LabelledRegions, LazyHistograms, Regions
from incrowd.core.model import Guarantee, Model
from incrowd.core.tally import Tally, group_columns
from incrowd.errors import ConformanceError, SchemaError, Unsatisfiable
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_numbers, as_text, code_among, known_values

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
    group_of = cache(partial(_group_of, placed, sizes, keys))  # only models that look at values need to know

    def count(codes: Codes) -> Histogram:
        return _histogram(group_of(), codes, placed["count"].to_numpy(), sizes.height)

    trees: dict[str, Tree] = {}
    found: dict[str, tuple[pl.Series, Codes]] = {}
    for name, ours in zip(sensitive, values, strict=True):
        distinct = placed[ours].unique(maintain_order=True)
        if before is None:
            trees[name], codes = Exact().build(name, distinct)
        else:
            trees[name] = before.trees[name]
            codes = _known_codes(name, distinct, trees[name])
        found[ours] = distinct, codes
    whole = {} if before is None else {name: before.table_counts(name) for name in sensitive}

    def count_one(name: str) -> Histogram:
        ours = values[list(sensitive).index(name)]
        distinct, codes = found[ours]
        known = known_values(distinct)
        codes = codes if known is distinct else codes[distinct.is_not_null().to_numpy()]
        return count(np.append(np.int32(MISSING), codes)[code_among(placed[ours], known)])

    def joint() -> Histogram:
        combinations = placed.select(values).unique(maintain_order=True)
        return count(_place_among(placed, combinations, values).astype(np.int32))

    def regions() -> Regions:
        assert stands_for is not None
        return stands_for.of(sizes["row"].to_numpy())

    return Groups(
        sizes["count"].to_numpy(),
        LazyHistograms(tuple(sensitive), count_one),
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


def _group_of(placed: pl.DataFrame, sizes: pl.DataFrame, keys: list[str]) -> Ints:
    """Return the group of each row."""
    return _place_among(placed, sizes, keys) if keys else np.zeros(placed.height, dtype=np.int64)


def _place_among(rows: pl.DataFrame, kinds: pl.DataFrame, columns: list[str]) -> Ints:
    """Return, of each row, the place of the one that shows the same in some columns."""
    numbered = kinds.lazy().select(columns).with_row_index("place")
    found = rows.lazy().select(columns).join(numbered, on=columns, how="left", nulls_equal=True, maintain_order="left")
    return found.select(pl.col("place").cast(pl.Int64)).collect().to_series().to_numpy()


def _histogram(group_of: Ints, codes: Codes, counts: Counts, groups: int) -> Histogram:
    entry, first = group_columns([group_of, codes], [groups, int(codes.max(initial=0)) + 1], len(codes))
    offsets = np.searchsorted(group_of[first], np.arange(groups + 1))
    return Histogram(offsets, codes[first], np.bincount(entry, weights=counts, minlength=len(first)).astype(np.int64))


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
