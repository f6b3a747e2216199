"""Sets of items on their way into a release: recoded within the groups of people, and checked as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import ItemsOfPeople, ShownSets, written_sets
from incrowd.core.model import Guarantee
from incrowd.core.people import distinct_pairs
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.errors import ConformanceError, RecipeError, SchemaError
from incrowd.hierarchies.naming import name_runs
from incrowd.hierarchies.nodes import Nodes
from incrowd.hierarchies.tree import LONGEST_SET, Tree
from incrowd.methods.sets.by_parts import recode_parts
from incrowd.metrics.sets.frequent_itemsets import frequent_itemsets
from incrowd.models.sets.exposure import exposure


@dataclass(frozen=True, eq=False)
class ShownItems:
    """What is published of sets: person p shows the list `lists[list_of[p]]`, or none where `list_of[p]` is -1."""

    list_of: Ints
    lists: pl.Series
    guarantees: tuple[Guarantee, ...]
    told: dict[str, Any]
    """What was lost, as plain numbers."""
    sets: ShownSets
    """The same lists by what their labels stand for."""


def show_items(
    items: ItemsOfPeople,
    group_of: Ints,
    sensitive: Codes | None,
    require: Sequence[SetModel],
    method: SetMethod,
    progress: Progress,
) -> ShownItems:
    """Recode the sets of published people so that each group of theirs satisfies the models by itself.

    `group_of[p]` is the group that a reader sees person p in, -1 if p is not published; `sensitive[p]` the code of the
    sensitive value that models look at, where one does.
    """
    sets, entry = items.sets(len(group_of), group_of, sensitive)
    if sets.parts is not None and not sets.parts.any():  # one group is no part
        sets = replace(sets, parts=None)
    nodes = Nodes.of(items.tree)
    model = _strictest(require)
    recoding = recode_parts(method, sets, nodes, model, progress=progress)
    shown = recoding.published(sets)
    present = np.zeros(items.tree.size, dtype=bool)
    present[sets.items] = True
    names = _names(items, nodes, shown, present)
    lists = written_sets(names, shown)
    told = {
        "method": method.name,
        "items": int(sets.occurrences),
        "item loss": recoding.loss(sets, nodes),
        "items left out": recoding.suppressed(sets),
        **_frequent(sets, shown),
    }
    guarantees = verify_items(sets_as_written(lists, sets.counts, sets.parts, sets.sensitive), require)
    return ShownItems(entry, lists, guarantees, told, ShownSets(items.tree, shown, nodes.lows, nodes.highs, present))


def _frequent(sets: ItemSets, shown: ItemSets) -> dict[str, Any]:
    """Return how many items and pairs of items that a hundredth of the people have are still found as they are."""
    left = frequent_itemsets(sets, shown, max_size=2)
    return {"frequent itemsets": left.total, "frequent itemsets kept": left.kept}


def _strictest(require: Sequence[SetModel]) -> SetModel:
    if len(require) > 1:
        raise RecipeError(
            "several models of sets are required, and one is enforced at a time.  Hint: ask for the strictest one."
        )
    return require[0]


def _names(items: ItemsOfPeople, nodes: Nodes, shown: ItemSets, present: Bools) -> pl.Series:
    """Return how each node is written; no name is that of an item that nobody has who is published."""
    used = np.unique(shown.items)
    if not len(used):
        return pl.Series([""] * len(nodes), dtype=pl.String)
    tree, lows, highs = items.tree, nodes.lows[used], nodes.highs[used]
    written = name_runs(tree, lows, highs, shown="hierarchy", present=present).labels
    if tree.from_data:
        # Names of groups that were made up say nothing, so their items are named, unless these are too many.
        before = np.concatenate(([0], np.cumsum(present)))
        few = pl.Series(before[highs] - before[lows] <= LONGEST_SET)
        listed = name_runs(_flat(tree), lows, highs, shown="region", present=present).labels
        written = pl.select(pl.when(few).then(listed).otherwise(written)).to_series()
    names = np.zeros(len(nodes), dtype=np.int64)
    names[used] = np.arange(len(used))
    return written.gather(names)


def _flat(tree: Tree) -> Tree:
    """Return a tree without anything between its values and the root."""
    ends = [0, tree.height]
    return replace(tree, nodes=tree.nodes[ends], names=tuple(tree.names[level] for level in ends))


def verify_items(sets: ItemSets, require: Sequence[SetModel]) -> tuple[Guarantee, ...]:
    """Check models on sets as a reader sees them."""
    found = []
    for model in require:
        seen = exposure(sets, model)
        if not seen.holds:
            raise ConformanceError(f"the sets do not satisfy {model}; nothing was published. Please report this.")
        support = seen.smallest_support
        found.append(Guarantee(model, "verified", float("inf") if support is None else float(support)))
    return tuple(found)


def sets_as_written(lists: pl.Series, counts: Ints, parts: Ints | None, sensitive: Codes | None = None) -> ItemSets:
    """Return lists of labels as sets of numbers, one for each label; `counts[i]` people show list i."""
    lengths = lists.list.len().to_numpy().astype(np.int64)
    labels = lists.filter(pl.Series(lengths > 0)).explode().alias("")
    number = labels.cast(pl.Enum(labels.unique())).to_physical().to_numpy().astype(np.int64) + 1
    size = int(number.max(initial=0)) + 1
    owner, item = distinct_pairs(np.repeat(np.arange(len(lists)), lengths), number, size)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(lists)))))
    return ItemSets(offsets, item, counts, sensitive, parts)


def require_recodable(require: Sequence[SetModel], columns: Sequence[str]) -> None:
    """Refuse, before any work, models of sets without sets, and sets without a model."""
    if require and not columns:
        raise SchemaError(
            f"{require[0]} is about sets of items, and no column is of items.  Hint: {as_role('items', 'products')}."
        )
    if columns and not require:
        raise RecipeError(
            f"column '{columns[0]}' is of items that an adversary may know, and nothing is required of them.  "
            "Hint: ask for km-anonymity as well, with k = 5 and m = 2."
        )
