from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest

import incrowd as ic
from incrowd.metrics.non_uniform_entropy import NonUniformEntropy
from incrowd.testing import Case
from tests.metrics.recoded import (
    AGES,
    ODD,
    Recoded,
    all_withheld,
    drawn_recodings,
    recode,
    starred,
    torn_labels,
    untouched,
)


def naive(recoded: Recoded) -> float:
    lost = possible = 0.0
    for name in recoded.quasi:
        counted = Counter(values[name] for values, _ in recoded.rows)
        for values, shown in recoded.rows:
            own = counted[values[name]]
            covered = sum(counted[value] for value in recoded.may_be(name, "*" if shown is None else shown[name]))
            lost -= math.log2(own / covered)
            possible -= math.log2(own / len(recoded.rows))
    return lost / possible if possible else 0.0


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        assert NonUniformEntropy().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-9)


def test_names_that_are_no_neighbours_stand_for_themselves() -> None:
    for recoded in torn_labels():
        assert NonUniformEntropy().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-9)


LETTERS = Case(pl.DataFrame({"a": list("wwwxxyyz")}), quasi=("a",), hierarchies={"a": ic.Flat()})


def test_by_hand() -> None:
    recoded = recode(LETTERS, [0, 0, 1, 2])  # {w, x} | y | z
    lost = 3 * math.log2(5 / 3) + 2 * math.log2(5 / 2)
    possible = 3 * math.log2(8 / 3) + 2 * 2 * math.log2(8 / 2) + math.log2(8)
    assert NonUniformEntropy().measure(recoded.tally, recoded.release) == pytest.approx(lost / possible)
    withheld = recode(LETTERS, [0, 0, 1, -1])
    assert NonUniformEntropy().measure(withheld.tally, withheld.release) == pytest.approx(
        (lost + math.log2(8)) / possible
    )


def test_a_rare_value_among_frequent_ones_costs_less_than_two_halves() -> None:
    uneven = Case(pl.DataFrame({"a": ["x"] * 7 + ["y"] + ["u"] * 4 + ["v"] * 4}), quasi=("a",))
    rare = recode(uneven, [0, 1, 2, 2])  # u | v | {x, y}
    halves = recode(uneven, [0, 0, 1, 2])  # {u, v} | x | y
    assert NonUniformEntropy().measure(rare.tally, rare.release) < NonUniformEntropy().measure(
        halves.tally, halves.release
    )


def test_values_that_nobody_has_cost_nothing() -> None:
    case = Case(
        pl.DataFrame({"job": ["writer", "lawyer"]}), quasi=("job",), hierarchies={"job": AGES.hierarchies["job"]}
    )
    recoded = recode(case, [0, 1])
    tree, codes = recoded.tree("job"), recoded.tally.column("job")
    recoded.recoding.lows[:, 0], recoded.recoding.highs[:, 0] = tree.starts[1, codes], tree.ends[1, codes]
    assert set(recoded.release.shown.labels["job"]) == {"office", "art"}
    assert NonUniformEntropy().measure(recoded.tally, recoded.release) == 0


def test_a_star_may_be_missing_although_nobody_in_the_group_is() -> None:
    case = Case(pl.DataFrame({"a": [None, None, 1, 2], "b": ["x", "x", "y", "y"]}), quasi=("a", "b"))
    recoded = recode(case, [0, 1, 1])
    assert sorted(recoded.release.shown.labels["a"].to_list(), key=str) == ["*", None]
    lost, possible = 2 * math.log2(4), 2 * math.log2(4 / 2) + 2 * math.log2(4) + 4 * math.log2(2)
    assert NonUniformEntropy().measure(recoded.tally, recoded.release) == pytest.approx(lost / possible)


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, hidden, gone = untouched(case), starred(case), all_withheld(case)
    assert NonUniformEntropy().measure(raw.tally, raw.release) == pytest.approx(0, abs=1e-12)
    something = any(case.frame[name].n_unique() > 1 for name in case.quasi)
    assert NonUniformEntropy().measure(hidden.tally, hidden.release) == pytest.approx(float(something))
    assert NonUniformEntropy().measure(gone.tally, gone.release) == pytest.approx(float(something))


def test_of_a_sample() -> None:
    table = ic.read(ic.datasets.census(4000), quasi=["age", "sex", "education"], others="drop")
    whole = ic.publish(table, [ic.KAnonymity(20)], seed=1)
    sampled = ic.publish(table, [ic.KAnonymity(10)], sample=0.5, seed=1)
    found = [NonUniformEntropy().measure(release.form.tally, release.form) for release in (whole, sampled)]
    assert found[1] == pytest.approx(found[0], rel=0.1)
