"""Sweeps over vectors of levels: groups of rows against a loop over rows, and what happens where all take too long."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.common.threads import using
from incrowd.errors import RecipeError
from incrowd.methods import level_order
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice import Lattice
from incrowd.methods.level_order import UNTRIED, Patience, by_loss
from incrowd.methods.recode_leftovers import _sweep

COLUMNS = ("a", "b", "c")


def table_of(seed: int, most_copies: int = 1, rows: int = 200, values: int = 16) -> ic.Table:
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame({name: chance.integers(0, values, rows) for name in COLUMNS})
    frame = frame[np.repeat(np.arange(rows), chance.integers(1, most_copies + 1, rows))]
    return ic.read(frame, quasi=COLUMNS, hierarchies={name: ic.Intervals(widths=(2, 8)) for name in COLUMNS})


def lattice_of(table: ic.Table) -> Lattice:
    return Lattice(table.engine.count(table.schema).tally, COLUMNS, (), [])


def naive_sweep(lattice: Lattice, k: int) -> set[frozenset[int]]:
    """Try vectors one after the other: groups of enough rows are done, and the others go on."""
    rows, trees = lattice.all_rows(), [lattice.tally.trees[name] for name in COLUMNS]
    left, found = set(range(len(rows.counts))), set()
    for vector in by_loss(lattice, 100_000).tolist():
        groups: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for row in left:
            each = zip(trees, vector, rows.codes[row].tolist(), strict=True)
            groups[tuple(int(tree.nodes[level, code]) for tree, level, code in each)].add(row)
        for members in groups.values():
            if sum(int(rows.counts[row]) for row in members) >= k:
                found.add(frozenset(members))
                left -= members
    return found | {frozenset({row}) for row in left}  # tuples are distinct: each is a group of its own


@pytest.mark.parametrize(("most_copies", "k"), [(1, 2), (1, 5), (3, 7), (300, 250), (300, 700), (1, 1), (1, 500)])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_sweep_finds_the_groups_that_a_loop_over_rows_finds(most_copies: int, k: int, threads: int) -> None:
    """However many vectors are looked at together: that depends on the number of threads."""
    lattice = lattice_of(table_of(k, most_copies))
    nodes = by_loss(lattice, 100_000)
    with using(threads):
        groups, untried = _sweep(lattice, nodes, k, Deadline(None), silent)
    assert untried == 0
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)}
    assert found == naive_sweep(lattice, k)


@pytest.mark.parametrize("k", [2, 9, 60])
def test_groups_have_the_same_numbers_with_any_number_of_threads(k: int) -> None:
    """With so many rows, threads are started."""
    lattice = lattice_of(table_of(k, rows=30_000, values=64))
    nodes = by_loss(lattice, 100_000)
    found = []
    for threads in (1, 2, 5):
        with using(threads):
            found.append(_sweep(lattice, nodes, k, Deadline(None), silent)[0].tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("method", "numbers"),
    [(ic.LevelSweep(), (1, 2, 5)), (ic.LevelSweep(labels="tight"), (1, 5)), (ic.LocalSuppression(), (1, 5))],
)
def test_sweeps_publish_the_same_with_any_number_of_threads(method: ic.Method, numbers: tuple[int, ...]) -> None:
    chance = np.random.default_rng(4)
    frame = pl.DataFrame(
        {name: chance.integers(0, 64, 20_000) for name in COLUMNS} | {"ill": chance.integers(0, 9, 20_000)}
    )
    trees = {name: ic.Intervals(widths=(2, 8, 32)) for name in COLUMNS}
    table = ic.read(frame, quasi=COLUMNS, sensitive=["ill"], hierarchies=trees)
    models = [ic.KAnonymity(4), ic.DistinctLDiversity(3)]
    alone, *others = (ic.publish(table, models, method=method, seed=1, threads=number) for number in numbers)
    for other in others:
        assert other.to_polars().equals(alone.to_polars())


@pytest.mark.parametrize("method", [ic.LevelSweep(), ic.FullDomain(leftovers="recode"), ic.LocalSuppression()])
def test_where_all_vectors_take_too_long_fewer_are_tried(method: ic.Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is published is still safe and whole, and loses no less."""
    monkeypatch.setattr("incrowd.methods.level_sweep._VECTORS_AT_ONCE", 2)
    monkeypatch.setattr("incrowd.methods.recode_leftovers._VECTORS_AT_ONCE", 2)
    table = table_of(3, rows=400)
    whole = ic.publish(table, ic.KAnonymity(5), method=method)
    monkeypatch.setattr(level_order, "_MOST_LOOKS", 1000)
    part = ic.publish(table, ic.KAnonymity(5), method=method)
    assert part.withheld == 0
    assert min(Counter(part.to_polars().rows()).values()) >= 5
    assert part.summary["loss"]["gcp"] > whole.summary["loss"]["gcp"]
    assert UNTRIED in str(part.summary)
    assert UNTRIED not in str(whole.summary)


def test_vectors_are_left_out_evenly_and_the_last_one_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_order, "_MOST_LOOKS", 1000)
    patience = Patience(100, 3, Deadline(None))
    for first in range(0, 20, 5):  # looks are spent as vectors are behind
        assert patience.next(5, 10).tolist() == list(range(first, first + 5))
        patience.looked(5, 10)
    patience.looked(5, 60)  # now half of them are
    assert patience.next(100, 100).tolist() == list(range(27, 100, 8))
    assert patience.not_tried(all_done=False) == 75
    assert patience.not_tried(all_done=True) == 0
    patience.looked(3, 10_000)
    assert patience.not_tried(all_done=True) == 44 - 28  # the last of these three is vector 43
    assert patience.next(100, 100).tolist() == [99]


def test_tuples_of_many_columns_are_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes longer."""
    monkeypatch.setattr(level_order, "_MOST_CELLS", 1000)
    narrow, wide = Patience(100, 1, Deadline(None)), Patience(100, 50, Deadline(None))
    for patience in (narrow, wide):
        patience.looked(1, 10)
    assert len(narrow.next(100, 1)) == 99
    assert len(wide.next(100, 1)) == 20


def test_a_sweep_that_has_no_time_tries_the_last_vector() -> None:
    patience = Patience(100, 3, Deadline(1e-9))
    time.sleep(0.03)  # longer than a tick of any clock
    patience.looked(1, 10)
    assert patience.next(100, 10).tolist() == [99]
    assert patience.not_tried(all_done=False) == 99


@pytest.mark.parametrize("method", [partial(ic.FullDomain, leftovers="recode"), ic.LocalSuppression])
def test_recoding_that_has_no_time_still_tries_some_vectors(method: Callable[..., ic.Method]) -> None:
    """Of a small table, that is all of them."""
    whole, hurried = (
        ic.publish(table_of(3), ic.KAnonymity(5), method=method(max_seconds=seconds)) for seconds in (None, 1e-9)
    )
    assert hurried.summary["loss"]["gcp"] == whole.summary["loss"]["gcp"]


def test_local_suppression_in_a_hurry_is_safe_and_tells_what_it_left_out() -> None:
    """Ten columns have 1,024 sets, of which 256 are tried between two looks at the clock."""
    chance = np.random.default_rng(6)
    names = [f"c{place}" for place in range(10)]
    frame = pl.DataFrame({name: chance.integers(0, 4, 3000) for name in names})
    table = ic.read(frame, quasi=names)
    hurried, whole = (
        ic.publish(table, ic.KAnonymity(5), method=ic.LocalSuppression(max_seconds=seconds)) for seconds in (1e-9, None)
    )
    assert min(Counter(hurried.to_polars().rows()).values()) >= 5
    assert hurried.to_polars().height == 3000
    assert UNTRIED in str(hurried.summary)
    assert UNTRIED not in str(whole.summary)
    assert hurried.summary["loss"]["gcp"] >= whole.summary["loss"]["gcp"]
    with pytest.raises(RecipeError, match="max_seconds"):
        ic.LocalSuppression(max_seconds=0)
