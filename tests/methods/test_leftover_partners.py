"""The group that it costs least to join: found in a tree as by looking at all of them, one by one."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.arrays import Bools, Ints
from incrowd.core.model import satisfies_all
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, code_table
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.intervals import Intervals
from incrowd.kernels import joining
from incrowd.methods import leftover_groups, leftover_partners
from incrowd.methods.lattice import Lattice, LevelLimits
from incrowd.methods.leftover_groups import LocalGroups
from incrowd.methods.leftover_partners import Partners, _JudgedKinds

AREAS = {
    f"land {land}": {f"{land}{town}": [f"{land}{town}{part}" for part in "xyz"] for town in "abc"} for land in "pq"
}
SCHEMA = Schema(
    quasi={
        "age": Intervals(widths=(5, 10, 40)),
        "area": Categories.from_tree(AREAS),
        "code": Intervals(widths=(10, 100)),
    },
    sensitive={"ill": Exact()},
)
MODELS: list[ic.Model] = [ic.KAnonymity(3), ic.DistinctLDiversity(2)]


def tallied(rows: int, seed: int) -> Tally:
    chance = np.random.default_rng(seed)
    parts = [part for land in AREAS.values() for town in land.values() for part in town]
    columns = {
        "age": [None if age == 20 else int(age) for age in chance.integers(20, 70, rows)],
        "area": chance.choice(parts, rows).tolist(),
        "code": chance.integers(0, 600, rows).tolist(),  # more values than are looked up in a table
        "ill": chance.choice(["flu", "gout", "none"], rows, p=[0.1, 0.1, 0.8]).tolist(),
    }
    counted = pl.DataFrame(columns).group_by(pl.all(), maintain_order=True).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), {**SCHEMA.quasi, **SCHEMA.sensitive})[0]


def grouped(rows: int, seed: int, **limits: dict[str, int]) -> LocalGroups:
    tally = tallied(rows, seed)
    lattice = Lattice(tally, tuple(SCHEMA.quasi), ("ill",), MODELS, bounds=LevelLimits(**limits))
    codes = lattice.all_rows().codes
    near = np.lexsort((codes[:, 2] // 40, codes[:, 0] // 4, codes[:, 1]))
    group_of = np.empty(len(codes), dtype=np.int64)
    group_of[near] = np.arange(len(codes)) // 3
    return LocalGroups(lattice, group_of, MODELS)


def cost(groups: LocalGroups, one: int, other: int) -> float:
    """What joining adds to the loss of both, per row that was failing: by the lowest levels that hold all codes."""
    sizes, losses, lows, highs, levels, keys, loss_at, first_key, highest = groups.layout()
    joint = 0.0
    for column in range(lows.shape[1]):
        low, high = min(lows[one][column], lows[other][column]), max(highs[one][column], highs[other][column])
        level = max(levels[one][column], levels[other][column])
        while keys[first_key[column][level] + low] != keys[first_key[column][level] + high]:
            level += 1
        if level > highest[column]:
            return float("inf")
        joint += loss_at[first_key[column][level] + high]
    more = sizes[one] * (joint - losses[one]) + sizes[other] * (joint - losses[other])
    return float(more / (sizes[one] + (sizes[other] if groups.failing[other] else 0)))


def found_one_by_one(groups: LocalGroups, one: int, allowed: Bools, wanted: int) -> list[float]:
    costs = [cost(groups, one, other) for other in range(len(groups)) if other != one and allowed[other]]
    return sorted(known for known in costs if known < float("inf"))[:wanted]


@pytest.mark.parametrize(("seed", "limits"), [(1, {}), (2, {"highest": {"area": 1}}), (3, {"lowest": {"age": 1}})])
@pytest.mark.parametrize("wanted", [1, 5])
def test_a_tree_finds_what_looking_at_all_finds(seed: int, limits: dict[str, dict[str, int]], wanted: int) -> None:
    groups = grouped(900, seed, **limits)
    failing = np.flatnonzero(groups.failing)
    assert len(groups) > 200
    assert len(failing) > 40
    chance = np.random.default_rng(seed)
    kind_of, safe = chance.integers(0, 70, len(groups)), chance.random((3, 70)) < 0.2
    own_row = chance.integers(0, 3, len(failing))
    found, costs = np.empty((len(failing), wanted), dtype=np.int64), np.empty((len(failing), wanted))
    joining.nearest(failing, groups.failing, False, own_row, kind_of, safe, *groups.layout(), found, costs)
    for place in range(0, len(failing), 7):
        one, allowed = int(failing[place]), safe[own_row[place]][kind_of]
        expected = found_one_by_one(groups, one, allowed, wanted)
        assert costs[place][: len(expected)] == pytest.approx(expected)
        assert (found[place][len(expected) :] == -1).all()
        others: Ints = found[place][: len(expected)]
        assert allowed[others].all()
        assert len(set(others.tolist())) == len(others)
        assert [cost(groups, one, int(other)) for other in others] == pytest.approx(expected)


def test_only_failing_groups_are_found_if_only_they_are_wanted() -> None:
    groups = grouped(600, 4)
    failing = np.flatnonzero(groups.failing)
    found, costs = Partners(groups).nearest(failing, 1, only_failing=True)
    assert groups.failing[found[:, 0]].all()
    for place in range(0, len(failing), 11):
        assert [costs[place, 0]] == pytest.approx(found_one_by_one(groups, int(failing[place]), groups.failing, 1))


def test_joined_groups_hold_what_their_rows_do() -> None:
    groups = grouped(400, 5)
    target = np.arange(len(groups)) // 2 * 2
    target[:4] = -1
    moved = groups.replace(target)
    rows_of = groups.group_of.copy()
    again = LocalGroups(groups._lattice, rows_of, MODELS)
    assert (moved[:4] == -1).all()
    assert (rows_of == -1).any()
    assert groups.sizes.tolist() == again.sizes.tolist()
    assert groups.lows.tolist() == again.lows.tolist()
    assert groups.highs.tolist() == again.highs.tolist()
    assert groups.levels.tolist() == again.levels.tolist()
    assert groups.losses == pytest.approx(again.losses)
    assert groups.failing.tolist() == again.failing.tolist()
    assert groups.kinds()[2].tolist() == again.kinds()[2].tolist()


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_pairs_that_are_judged_a_few_at_a_time_are_judged_alike(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = grouped(300, 8)
    chance = np.random.default_rng(at_once)
    ones, others = chance.integers(0, len(groups), (2, 200))
    expected = groups.judge_pairs(ones, others)
    kinds = groups.kinds()
    of_kinds = _JudgedKinds().judge(groups, np.arange(len(kinds[1])), kinds[1], kinds[2])
    monkeypatch.setattr(leftover_groups, "_VALUES_AT_ONCE", at_once)
    monkeypatch.setattr(leftover_partners, "_PAIRS_AT_ONCE", at_once)
    assert groups.judge_pairs(ones, others).tolist() == expected.tolist()
    assert groups.judge_pairs(ones[:0], others[:0]).tolist() == []
    assert (_JudgedKinds().judge(groups, np.arange(len(kinds[1])), kinds[1], kinds[2]) == of_kinds).all()
    together = [
        groups.judge_unions(np.array(pair), np.zeros(1, dtype=np.int64))[0] for pair in zip(ones, others, strict=True)
    ]
    assert expected.tolist() == together
    assert 0 < expected.sum() < len(expected)


def test_groups_that_were_judged_are_let_go_at_once() -> None:
    groups = grouped(60, 9).as_groups()
    satisfies_all([*MODELS, ic.TCloseness(0.2), ic.DeltaDisclosure(1)], groups)
    known = weakref.ref(groups)
    gc.disable()
    try:
        del groups
        assert known() is None
    finally:
        gc.enable()


def lost_together(groups: LocalGroups, members: list[int]) -> float:
    """What a row of some groups loses as one, by the lowest levels that hold all codes."""
    _, _, lows, highs, levels, keys, loss_at, first_key, highest = groups.layout()
    lost = 0.0
    for column in range(lows.shape[1]):
        low, high = lows[members, column].min(), highs[members, column].max()
        level = levels[members, column].max()
        while keys[first_key[column][level] + low] != keys[first_key[column][level] + high]:
            level += 1
        if level > highest[column]:
            return float("inf")
        lost += loss_at[first_key[column][level] + high]
    return float(lost)


def test_a_group_joins_a_union_that_costs_it_no_more() -> None:
    groups = grouped(600, 6)
    ones, others, costs = Partners(groups).look_for(np.flatnonzero(groups.failing))
    order = np.lexsort((ones, costs))
    none_taken = np.zeros(len(groups), dtype=bool)
    joins, is_first = joining.match_unions(ones[order], others[order], costs[order], none_taken, *groups.layout())
    unions: dict[int, list[int]] = {}
    into: dict[int, int] = {}
    late = refused = 0
    for one, other, cost_before in zip(ones[order].tolist(), others[order].tolist(), costs[order], strict=True):
        if one in into:
            continue
        first = other not in into
        root = into.get(other, other)
        members = unions.get(root, [root])
        size, before = groups.sizes[members].sum(), lost_together(groups, members)
        after = lost_together(groups, [*members, one])
        more = groups.sizes[one] * (after - groups.losses[one]) + size * (after - before)
        if not first and more > groups.sizes[one] * cost_before:
            refused += 1
            continue
        late += not first
        unions[root] = [*members, one]
        into[one] = into[root] = root
        assert bool(is_first[one]) is first
    assert late > 0  # some joined a union, and some did not, or this shows nothing
    assert refused > 0
    assert {group: int(root) for group, root in enumerate(joins) if root >= 0} == into
