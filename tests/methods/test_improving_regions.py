"""Regions whose people move at the same time: they share no group, and any number of threads finds the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import incrowd as ic
from incrowd.common import threads as common_threads
from incrowd.common.progress import silent
from incrowd.common.threads import using
from incrowd.kernels.improving import Items, Region
from incrowd.methods import improving_regions
from incrowd.methods.improving import improve
from incrowd.methods.improving_regions import Regions

MODELS: dict[str, list[ic.Model]] = {
    "sizes": [ic.KAnonymity(3)],
    "values": [ic.KAnonymity(3), ic.LDiversity(2)],
    "judged": [ic.KAnonymity(3), ic.TCloseness(0.5)],
}


@pytest.fixture(autouse=True)
def small_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(improving_regions, "_ITEMS_EACH", 60)
    monkeypatch.setattr(common_threads, "WORTH_THREADS", 1)


@pytest.fixture(scope="module")
def people() -> ic.Table:
    quasi = ["age", "sex", "education", "marital"]
    return ic.read(ic.datasets.census(900), quasi=quasi, sensitive=["occupation"], others="drop")


@pytest.mark.parametrize("asked", MODELS)
@pytest.mark.parametrize("method", [ic.Mondrian(labels="hierarchy"), ic.Microaggregation(), ic.InfoGainMondrian("sex")])
def test_any_number_of_threads_finds_the_same(people: ic.Table, method: Any, asked: str) -> None:
    tally, models = people.engine.count(people.schema).tally, MODELS[asked]
    own = method.search(tally, people.schema, models, rng=np.random.default_rng(0), progress=silent)
    found = []
    for number in (1, 3):
        with using(number):
            found.append(improve(tally, people.schema, models, own, method.moves, effort=1, progress=silent))
    assert found[0] is not own
    for other in found[1:]:
        assert other.groups.tobytes() == found[0].groups.tobytes()
        assert other.lows.tobytes() == found[0].lows.tobytes()
        assert other.highs.tobytes() == found[0].highs.tobytes()


def some_items(number: int, rng: np.random.Generator) -> Items:
    codes = rng.integers(0, 9, (number, 3)).astype(np.int32)
    near = rng.integers(0, max(number, 1), (number, min(number - 1, 5))).astype(np.int32)
    nothing: Any = None
    return Items(codes, np.ones(number, dtype=np.int64), near, nothing, np.inf, 1.0, 1)


@pytest.mark.parametrize("number", [1, 2, 59, 130, 700])
def test_regions_part_the_items_and_no_group(number: int) -> None:
    rng = np.random.default_rng(number)
    items, groups = some_items(number, rng), rng.integers(-1, max(number // 4, 1), number)
    before, borders = groups.copy(), set()
    seen: list[Region] = []

    def note(region: Region, tries: int, seed: int, own: Any) -> float:
        seen.append(region)
        assert tries == 10 * number * len(own) // number
        assert (own[before[region.members] < 0] == -1).all()
        assert region.place_of[region.members].tolist() == list(range(len(own)))
        return 1.0

    for turn in range(4):
        seen.clear()
        lost = Regions(items, one=False).move(groups, 10 * number, turn, note)
        assert lost == len(seen)
        assert len(seen) >= number // 60
        assert sorted(np.concatenate([one.members for one in seen]).tolist()) == list(range(number))
        region_of = seen[0].region_of
        for group in set(before[before >= 0].tolist()):
            assert len(set(region_of[before == group].tolist())) == 1
        # Nothing was moved: the same people are together as before, by other numbers.
        assert ((groups < 0) == (before < 0)).all()
        together = before[:, None] == before[None, :]
        there = before >= 0
        assert ((groups[:, None] == groups[None, :]) == together)[np.ix_(there, there)].all()
        borders.add(region_of.tobytes())
    assert len(borders) > 1 or number < 120


def test_one_region_is_all_there_is() -> None:
    items = some_items(300, np.random.default_rng(1))
    seen = []
    Regions(items, one=True).move(np.zeros(300, dtype=np.int64), 7, 0, lambda region, *_: seen.append(region) or 0.0)  # type: ignore[func-returns-value]
    assert [len(one.members) for one in seen] == [300]
