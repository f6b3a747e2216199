"""What releases tell together, held against a naive adversary and against all that could be behind them."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from incrowd.core.model import Model
from incrowd.hierarchies.flat import Exact
from incrowd.ledger.together import SensitiveColumn, _Coded, _joined, _number_people, _Units, judge_together
from incrowd.models.alpha_k_anonymity import AlphaKAnonymity
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.k_map import KMap
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.t_closeness import TCloseness
from tests.ledger.naive_adversary import Shown, assignments, beliefs, classes_of, possible
from tests.ledger.placements import VALUES, placement


def column() -> SensitiveColumn:
    tree, _ = Exact().build("s", pl.Series(VALUES))
    return SensitiveColumn(tree, np.array([0, 5, 5, 5, 5]))


def random_releases(rng: random.Random, people: int, number: int, groups: int, *, fakes: bool) -> list[Shown]:
    own = {person: rng.choice(VALUES[:3]) for person in range(people)}
    made = []
    for _ in range(number):
        here = [person for person in own if rng.random() < 0.8] or [0]
        shown = Shown({person: (own[person], rng.randrange(groups)) for person in here})
        if fakes:
            group = next(iter(shown.people.values()))[1]
            shown.fakes[group] = [rng.choice(VALUES)]
        made.append(shown)
        if rng.random() < 0.5:  # somebody changes
            own[rng.randrange(people)] = rng.choice(VALUES[:3])
    return made


def learnt(releases: list[Shown]) -> dict[tuple[int, str], tuple[dict[str, tuple[int, int]], dict[str, float]]]:
    """Return bounds and beliefs of everybody with each value, by the compiled code."""
    placements = [placement(shown) for shown in releases]
    people, place = _number_people(placements)
    joined = [_joined([one], [who], len(people)) for one, who in zip(placements, place, strict=True)]
    coded = _Coded.of("s", column(), joined)
    units = _Units.of("s", joined, coded, joined[-1])
    assert units is not None
    cells, values, least, most, likely = units.learnt
    keys = [
        (int(people[place[at][i]]), VALUES[int(code)], at)
        for at, one in enumerate(placements)
        for i, code in zip(one.values["s"].owner.tolist(), one.values["s"].codes.tolist(), strict=True)
    ]
    numbered = sorted({(person, VALUES.index(value)) for person, value, _ in keys})
    found = {}
    for unit, (person, code) in enumerate(numbered):
        own = int(units.class_of[unit])
        where = range(int(cells[own]), int(cells[own + 1]))
        bounds = {VALUES[int(values[cell]) - 1]: (int(least[cell]), int(most[cell])) for cell in where}
        shares = {VALUES[int(values[cell]) - 1]: float(likely[cell] / units.sizes[own]) for cell in where if most[cell]}
        found[person, VALUES[code]] = bounds, shares
    return found


@pytest.mark.parametrize("seed", range(30))
def test_bounds_and_beliefs_are_those_of_the_naive_adversary(seed: int) -> None:
    rng = random.Random(seed)
    releases = random_releases(rng, rng.randint(3, 14), rng.randint(2, 4), rng.randint(1, 4), fakes=seed % 3 == 0)
    sizes, class_of = classes_of(releases)
    cells, believed, found = possible(releases, sizes, 40), beliefs(releases), learnt(releases)
    assert set(found) == set(class_of)
    for unit, one in class_of.items():
        bounds, shares = found[unit]
        assert bounds == {value: tuple(own) for (which, value), own in cells.items() if which == one}
        assert shares == pytest.approx(believed[unit], abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_all_that_could_be_behind_the_releases_is_within_the_bounds(seed: int) -> None:
    rng = random.Random(seed + 100)
    releases = random_releases(rng, 5, rng.randint(2, 3), 2, fakes=False)
    sizes, class_of = classes_of(releases)
    cells = possible(releases, sizes, 40)
    ways = list(assignments(releases))
    assert ways  # what is true is one of them
    for way in ways:
        counts: dict[object, int] = defaultdict(int)
        for unit, value in way.items():
            counts[class_of[unit], value] += 1
        for cell, number in counts.items():
            assert cells[cell][0] <= number <= cells[cell][1]  # type: ignore[index]


def judge(releases: list[Shown], *models: Model, links: tuple[str, ...] = ()) -> tuple[list[int], tuple[str, ...]]:
    made = [placement(shown, links) for shown in releases]
    verdict = judge_together(made[:-1], made[-1], models, {"s": column()})
    return sorted(verdict.affected.tolist()), verdict.not_judged


def test_intersection_leaves_one_value() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 1), 4: ("d", 1)})
    second = Shown({1: ("a", 0), 3: ("c", 0), 2: ("b", 1), 4: ("d", 1)})
    assert judge([first, second], DistinctLDiversity(2)) == ([1, 2, 3, 4], ())
    assert judge([first, first], DistinctLDiversity(2), ProbabilisticLDiversity(2), EntropyLDiversity(2)) == ([], ())


def test_who_left_is_told_by_subtraction() -> None:
    first = Shown({person: (value, 0) for person, value in enumerate("aabbc")})
    second = Shown({person: (value, 0) for person, value in enumerate("aabb")})
    assert judge([first, second], DistinctLDiversity(2)) == ([4], ())
    third = Shown({person: (value, 0) for person, value in enumerate("aabbcd") if person})
    assert 0 in judge([first, third], DistinctLDiversity(2))[0]
    two_left = Shown({person: (value, 0) for person, value in enumerate("aabb") if person})
    assert judge([first, two_left], DistinctLDiversity(2)) == ([], ())  # one of a and c left, and nobody knows which


def test_what_others_told_before_is_not_the_new_ones_fault() -> None:
    first = Shown({person: (value, 0) for person, value in enumerate("aabbc")})
    second = Shown({person: (value, 0) for person, value in enumerate("aabb")})
    elsewhere = Shown({person: (value, 0) for person, value in zip(range(50, 54), "abcd", strict=True)})
    assert judge([first, second, elsewhere], DistinctLDiversity(2)) == ([], ())


def test_rows_that_can_be_followed_are_joined() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 1), 4: ("d", 1)})
    second = Shown({1: ("a", 0), 3: ("c", 0), 2: ("b", 1), 4: ("d", 1)})
    assert judge([first, second], KAnonymity(2)) == ([], ())  # nobody can tell which row of one is which of the other
    assert judge([first, second], KAnonymity(2), links=("key",)) == ([1, 2, 3, 4], ())
    assert judge([first, first], KAnonymity(2), AlphaKAnonymity(0.5, 2), links=("key",)) == ([], ())
    gone = Shown({1: ("a", 0), 2: ("b", 0)})
    late = Shown({1: ("a", 0), 2: ("b", 0), 5: ("c", 0)})
    assert judge([gone, late], KAnonymity(2), links=("key",)) == ([5], ())


def test_changed_people_are_other_people() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0)})
    second = Shown({1: ("c", 0), 2: ("d", 0)})
    assert judge([first, second], DistinctLDiversity(2)) == ([], ())


def test_counterfeits_hide_who_left() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 0)})
    second = Shown({1: ("a", 0), 2: ("b", 0)})
    assert judge([first, second], DistinctLDiversity(2)) == ([3], ())
    second.fakes[0] = ["c"]
    assert judge([first, second], DistinctLDiversity(3), ProbabilisticLDiversity(3)) == ([], ())


def test_models_that_compare_with_the_table_or_need_it() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 1), 4: ("d", 1)})
    second = Shown({1: ("a", 0), 3: ("c", 0), 2: ("b", 1), 4: ("d", 1)})
    affected, not_judged = judge([first, second], TCloseness(0.6), KMap(2))
    assert affected == [1, 2, 3, 4]  # one value of four is at a distance of 0.75
    assert not_judged == ()  # who is in a group of one release is not changed by another
    assert judge([first, second], KMap(2), links=("key",)) == ([], (str(KMap(2)),))
    assert judge([first, first], TCloseness(0.6)) == ([], ())


def test_values_that_the_new_table_lacks_and_missing_ones() -> None:
    first = Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 0)})
    second = Shown({1: ("a", 0), 2: ("b", 0)})
    tree, _ = Exact().build("s", pl.Series(["a", "b"]))
    made = [placement(first), placement(second)]
    verdict = judge_together(
        made[:1], made[1], [DistinctLDiversity(2)], {"s": SensitiveColumn(tree, np.array([0, 1, 1]))}
    )
    assert verdict.affected.tolist() == [3]
    assert verdict.groups.tolist() == [0]
    assert not verdict.safe


@pytest.mark.parametrize("seed", range(20))
def test_exactly_those_are_affected_whom_the_naive_adversary_breaks(seed: int) -> None:
    rng = random.Random(seed + 500)
    releases = random_releases(rng, rng.randint(6, 20), rng.randint(2, 4), rng.randint(1, 3), fakes=False)

    def broken(shown: list[Shown], people: set[int]) -> set[int]:
        told = beliefs(shown)
        return {person for (person, _), shares in told.items() if person in people and len(shares) < 2}

    alone = {group for _, group in releases[-1].people.values()}
    of_group = {group: {value for value, own in releases[-1].people.values() if own == group} for group in alone}
    in_new = set(releases[-1].people)
    everybody = {person for shown in releases for person in shown.people}
    expected = broken(releases, in_new) | (broken(releases, everybody - in_new) - broken(releases[:-1], everybody))
    # Groups that fail by themselves are refused before any comparison.
    fail_alone = {person for person, (_, group) in releases[-1].people.items() if len(of_group[group]) < 2}
    found = set(judge(releases, DistinctLDiversity(2))[0])
    assert found - fail_alone == expected - fail_alone
