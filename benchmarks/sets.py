"""Sets of items: CPU, memory and loss of every method, on baskets of half a million people.

Each way runs in a process of its own, so that its memory is its own; CPU is that of the method alone, on compiled code.
`python -m benchmarks.sets --people 50000` measures fewer.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.timing import run_process
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.datasets.baskets import basket_codes, basket_tree
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.item_groups import group_items
from incrowd.hierarchies.nodes import Nodes
from incrowd.methods.sets.item_suppression import ItemSuppression
from incrowd.methods.sets.occurrence_recoding import OccurrenceRecoding
from incrowd.methods.sets.subtree_generalization import SubtreeGeneralization
from incrowd.metrics.sets.frequent_itemsets import frequent_itemsets
from incrowd.models.sets.exposure import exposure, holds
from incrowd.models.sets.km_anonymity import KmAnonymity

PEOPLE, KINDS, K = 500_000, 1657, 5
WAYS: dict[str, SetMethod] = {
    "suppression of items alone": ItemSuppression(),
    "global, generalization alone": SubtreeGeneralization(suppress=False),
    "global": SubtreeGeneralization(),
    "local": OccurrenceRecoding(),
}
TREES = ("departments", "by frequency")


def open_baskets(people: int, tree: str) -> tuple[ItemSets, Nodes]:
    """Return baskets, with their departments or with groups of items of like frequency."""
    person, item = basket_codes(people, KINDS)
    if tree == "departments":
        grown, _ = Categories.from_tree(basket_tree(KINDS)).build("item", pl.Series([], dtype=pl.String))
        codes = np.arange(1, KINDS + 1, dtype=np.int32)
    else:
        names = pl.Series([f"{number:04}" for number in range(KINDS)])
        grown, codes = group_items("item", names, np.bincount(item, minlength=KINDS))
    return ItemSets.from_pairs(person, codes[item])[0], Nodes.of(grown)


def run(people: int, tree: str, way: str, m: int, target: Path) -> None:
    """Recode and check once, and write down how it went."""
    sets, nodes = open_baskets(people, tree)
    model = KmAnonymity(K, m)
    few = sets.take(np.arange(min(len(sets), 200)))
    holds(WAYS[way].recode(few, nodes, model).published(few), model)
    start = time.process_time()
    recoding = WAYS[way].recode(sets, nodes, model)
    recoded = time.process_time()
    published = recoding.published(sets)
    safe = holds(published, model)
    checked = time.process_time()
    kept = frequent_itemsets(sets, published)
    told = {
        "occurrences": sets.occurrences,
        "recode": recoded - start,
        "check": checked - recoded,
        "safe": safe,
        "loss": recoding.loss(sets, nodes),
        "suppressed": recoding.suppressed(sets) / sets.occurrences,
        "kept": kept.kept,
        "error": kept.support_error,
    }
    target.write_text(json.dumps(told), encoding="utf-8")


def measure(console: Console, people: int = PEOPLE) -> None:
    """Print one line per way, number of known items, and hierarchy."""
    table = Table(title=f"Baskets of {people:,} people, {KINDS:,} kinds of items, k = {K}", title_justify="left")
    names = ("hierarchy", "m", "method", "CPU, s", "check, s", "peak memory", "safe", "loss", "suppressed")
    for name in (*names, "1 % itemsets kept", "their support off by"):
        table.add_column(name, justify="left" if name in ("hierarchy", "method") else "right")
    for tree in TREES:
        for m in (2, 3):
            for way in WAYS:
                with tempfile.TemporaryDirectory() as folder:
                    target = Path(folder) / "told.json"
                    asked = ["--people", str(people), "--tree", tree, "--way", way, "--m", str(m)]
                    process = run_process(["benchmarks.sets", *asked, "--target", str(target)])
                    told = json.loads(target.read_text(encoding="utf-8"))
                table.add_row(
                    tree,
                    str(m),
                    way,
                    f"{told['recode']:.1f}",
                    f"{told['check']:.1f}",
                    f"{process.peak_bytes / 2**30:.2f} GiB",
                    "yes" if told["safe"] else "NO",
                    f"{told['loss']:.3%}",
                    f"{told['suppressed']:.3%}",
                    f"{told['kept']:.1%}",
                    f"{told['error']:.2%}",
                )
    console.print(table)
    sets, _ = open_baskets(people, TREES[0])
    for m in (2, 3):
        found = exposure(sets, KmAnonymity(K, m))
        console.print(
            f"As they are, m = {m}: {found.exposed_share:.1%} of people have a combination that fewer than {K} have; "
            f"who knows a person's rarest {m} items finds that person with probability {found.expected_success:.1%}."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--tree", default=TREES[0])
    parser.add_argument("--way")
    parser.add_argument("--m", type=int, default=2)
    parser.add_argument("--target", type=Path)
    chosen = parser.parse_args()
    if chosen.way is None:
        measure(Console(width=160), chosen.people)
    else:
        run(chosen.people, chosen.tree, chosen.way, chosen.m, chosen.target)


if __name__ == "__main__":
    main()
