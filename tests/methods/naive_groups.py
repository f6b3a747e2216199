"""Releases and recodings as a stranger sees them: rows in plain Python, no codes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.method import Method
from incrowd.core.model import Model


def members(release: ic.Release, quasi: Sequence[str]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the published rows by what they show."""
    found = defaultdict(list)
    for row in release.to_polars().iter_rows(named=True):
        found[tuple(row[name] for name in quasi)].append(row)
    return found


def found_groups(table: ic.Table, method: Method, require: Sequence[Model]) -> Counter[frozenset[Any]]:
    """Return the groups that a search finds, each as its distinct tuples of quasi-identifiers with their counts."""
    tally = table.engine.count(table.schema).tally
    recoding = method.search(tally, table.schema, require, rng=np.random.default_rng(0), progress=silent)
    groups: defaultdict[int, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    values = {name: tally.trees[name].values.to_list() for name in table.schema.quasi}
    for part, group, count in zip(recoding.tuples, recoding.groups, recoding.counts, strict=True):
        raw = tuple(values[name][tally.column(name)[part]] for name in table.schema.quasi)
        groups[int(group)][raw] += int(count)
    return Counter(frozenset(group.items()) for group in groups.values())
