"""Planning for a table: expected rows by simulation, what is told, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.dp.sdgs_parameters import plan, smallest_k
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.schemes import Schemes
from incrowd.methods.sdgs import SDGS
from incrowd.planning.level_front import look_at_levels
from incrowd.planning.sdgs import _front, curve_around, plan_release, smallest_ks, to_declare

AGES = ic.Intervals(widths=(10, 20))
SEXES = ic.Categories.from_tree(["F", "M"])


def table(rows: int = 1500) -> ic.Table:
    dice = random.Random(2)
    frame = pl.DataFrame(
        {
            "age": [min(int(dice.expovariate(0.05)) + 18, 90) for _ in range(rows)],
            "sex": [dice.choice("FM") for _ in range(rows)],
            "sick": [dice.choice(["flu", "cold", "none"]) for _ in range(rows)],
        }
    )
    return ic.read(frame, quasi=["age", "sex"], sensitive=["sick"], hierarchies={"age": AGES, "sex": SEXES})


def test_what_is_expected_is_what_comes_out_on_average() -> None:
    people = table()
    found, rows = plan_release(people, epsilon=1, delta="1e-6", rates=["0.1", "0.3"])
    assert rows == 1500
    for line in found.to_dicts()[:: max(1, found.height // 3)]:
        method = SDGS(line["k"], levels=line["levels"], epsilon=1)
        published = []
        for seed in range(12):
            try:
                published.append(ic.publish(people, method=method, sample=Fraction(str(line["rate"])), seed=seed).rows)
            except Unsatisfiable:
                published.append(0)
        spread = max(float(np.std(published)), 1.0) / 12**0.5
        assert abs(np.mean(published) - rows * line["published"]) < 4 * spread + 1


def test_every_choice_keeps_the_promise_and_beats_the_others_somewhere() -> None:
    found, _ = plan_release(table(), epsilon=1, delta="1e-6")
    assert found.height > 2
    for line in found.to_dicts():
        assert exact_delta(line["k"], line["rate"], 1) <= 1e-6
        assert line["k"] == smallest_k(epsilon=1, delta="1e-6", rate=line["rate"])
    assert found["precision"].to_list() == sorted(found["precision"], reverse=True)
    assert found["published"].to_list() == sorted(found["published"])
    assert found["published"].n_unique() == found.height
    best = found.filter("best").to_dicts()
    assert len(best) == 1
    assert best[0]["kept"] == found["kept"].max()
    assert found["kept"].to_list() == (found["published"] * found["precision"]).to_list()


def test_no_level_vector_beats_what_is_told() -> None:
    """All level vectors and rates, one by one: none is as precise and publishes more."""
    people, rates = table(600), ["0.1", "0.2", "0.5"]
    found, rows = plan_release(people, epsilon=1, delta="1e-4", rates=rates)
    frame = people.engine.count(people.schema).tally
    assert frame.rows == rows
    for age in range(4):
        for sex in range(2):
            only, _ = plan_release(people, epsilon=1, delta="1e-4", rates=rates, levels={"age": age, "sex": sex})
            for line in only.to_dicts():
                better = found.filter(
                    (pl.col("precision") >= line["precision"]) & (pl.col("published") >= line["published"])
                )
                assert better.height
    assert Counter(found["best"])[True] == 1


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_is_what_looking_at_every_vector_tells(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(200, 2000))
    few = [f"of {number}" for number in range(2, 6)]
    frame = pl.DataFrame({"age": chance.geometric(0.05, rows).clip(max=90)} | {
        name: chance.integers(0, 2 + number, rows) for number, name in enumerate(few)
    })  # fmt: skip
    hierarchies = {"age": ic.Intervals(widths=(5, 10, 20))} | dict.fromkeys(few, ic.Intervals(widths=(10,)))
    people = ic.read(frame, quasi=frame.columns, hierarchies=hierarchies)
    tally = people.engine.count(people.schema).tally
    schemes = Schemes(tally, people.schema, {})
    choices = [ExpectedRows(k, rate) for rate, k in smallest_ks(1, "1e-3", ["0.1", "0.3", "0.6"]).items()]
    published = np.array([[choice.published(sizes) for choice in choices] for sizes in schemes.crowds()])
    every = _front(schemes, choices, np.arange(len(schemes)), published)
    looked = look_at_levels(schemes, choices, silent)
    assert _front(schemes, choices, looked.places, looked.published).equals(every)
    assert every.height > 1
    assert len(looked.places) < 0.9 * len(schemes)


def test_a_given_k_leaves_out_rates_that_need_more() -> None:
    ks = smallest_ks(1, "1e-6", ["0.05", "0.2", "0.5"])
    found, _ = plan_release(table(), epsilon=1, delta="1e-6", rates=["0.05", "0.2", "0.5"], k=ks[Fraction(1, 5)])
    assert set(found["k"]) == {ks[Fraction(1, 5)]}
    assert found["rate"].max() == 0.2
    with pytest.raises(RecipeError, match="too small"):
        plan_release(table(), epsilon=1, delta="1e-6", rates=["0.5"], k=2)


def test_rates_that_epsilon_does_not_allow_are_left_out_or_refused() -> None:
    assert list(smallest_ks("0.5", "1e-6", ["0.9", "0.1"])) == [Fraction(1, 10)]
    with pytest.raises(RecipeError, match="ε is at least"):
        smallest_ks("0.5", "1e-6", ["0.9"])
    with pytest.raises(RecipeError, match="no sampling rate"):
        smallest_ks("0.5", "1e-6", [])


def test_what_sdgs_would_refuse_is_named_before_anybody_tries() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "sex": ["F", "M", "F"], "zip": ["12", "13", "14"], "id": [1, 2, 3]})
    trees = {"sex": ic.Categories.from_tree(["F", "M"], taken_from="data"), "zip": AGES}
    guessed = ic.read(frame, quasi=["age", "sex", "zip"], keep=["id"], hierarchies=trees)
    first, second, third = to_declare(guessed)
    assert "drop 'id'" in first
    assert "'sex', which names values of this table" in second
    assert "'age': it is made from the table" in third
    with pytest.raises(SchemaError):
        ic.publish(guessed, method=SDGS(2, epsilon=1), sample=0.5, seed=1)
    assert to_declare(table(20)) == []


def test_a_hierarchy_of_the_table_changes_nothing_of_a_plan() -> None:
    frame = pl.DataFrame({"sex": ["F", "M"] * 300, "sick": ["flu", "cold", "none"] * 200})
    found = [
        plan_release(
            ic.read(frame, quasi=["sex"], sensitive=["sick"], hierarchies={"sex": tree}), epsilon=1, delta="1e-4"
        )[0]
        for tree in (SEXES, ic.Categories.from_tree(["F", "M"], taken_from="data"))
    ]
    assert found[0].height
    assert found[0].equals(found[1])


def test_columns_may_have_any_name_and_nothing_may_be_published() -> None:
    frame = pl.DataFrame({"k": [20, 21], "rate": ["F", "M"]})
    people = ic.read(frame, quasi=["k", "rate"], hierarchies={"k": AGES, "rate": SEXES})
    found, rows = plan_release(people, epsilon=1, delta="1e-9", rates=["0.1"])
    assert (found.height, rows) == (0, 2)
    assert found.columns == ["k", "rate", "levels", "published", "precision", "kept", "best"]


def test_the_curve_holds_the_plan_and_nothing_below_the_least_epsilon() -> None:
    found = plan(epsilon=1, delta="1e-6", rate="0.5")
    curve = {point["epsilon"]: point["delta"] for point in curve_around(found)}
    assert min(curve) > 0.6931
    assert curve[1.0] <= 1e-6
    assert list(curve.values()) == sorted(curve.values(), reverse=True)


def test_a_plan_for_people_with_several_rows_takes_one_row_of_each() -> None:
    """Of rows, its ε would be one of rows."""
    once = pl.DataFrame({"who": range(500), "age": [20 + number % 40 for number in range(500)]})
    trees = {"age": AGES}
    alone = plan_release(ic.read(once.drop("who"), quasi=["age"], hierarchies=trees), epsilon=1, delta="1e-4")
    often = pl.concat([once, once, once])
    found = plan_release(ic.read(often, quasi=["age"], person="who", hierarchies=trees), epsilon=1, delta="1e-4")
    assert found[1] == alone[1] == 500
    assert found[0].height
    assert found[0].equals(alone[0])


def test_a_plan_for_names_that_repeat_is_refused() -> None:
    data = pl.DataFrame({"who": [1, 1, 2], "age": [1, 2, 3]})
    unknown = ic.read(data, quasi=["age"], identifiers=["who"], hierarchies={"age": AGES})
    with pytest.raises(SchemaError, match="names people and repeats"):
        plan_release(unknown, epsilon=1, delta="1e-6")
