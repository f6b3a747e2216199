"""k-DGS: rows generalized and counted one by one, what it refuses, and what other models make of it."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.k_dgs import KDGS
from incrowd.models.delta_presence import DeltaPresence
from incrowd.models.k_map import KMap
from incrowd.testing import Case
from incrowd.testing.case import Attempt
from incrowd.testing.promises import PROMISES, unsatisfiable_raises
from incrowd.testing.strategies import cases

AGES = ic.Intervals(widths=(5, 10, 40))
JOBS = ic.Categories(
    (
        ("nurse", "care", "health"),
        ("doctor", "care", "health"),
        ("chemist", "drugs", "health"),
        ("clerk", "office", "trade"),
        ("buyer", "shop", "trade"),
    )
)
HIERARCHIES = {"age": AGES, "job": JOBS, "zip": ic.Masking(steps=(1, 3))}
QUASI = ["age", "job", "zip"]


def age_at(level: int) -> Callable[[Any], str | None]:
    def label(age: int | None) -> str | None:
        if level == 4:
            return "*"
        if age is None or level == 0:
            return None if age is None else str(age)
        width = (5, 10, 40)[level - 1]
        return f"[{math.floor(age / width) * width}, {math.floor(age / width) * width + width})"

    return label


def job_at(level: int) -> Callable[[Any], str | None]:
    names = {row[0]: (*row, "*") for row in JOBS.rows}
    return lambda job: "*" if level == 3 else None if job is None else names[job][level]


def zip_at(level: int) -> Callable[[Any], str | None]:
    hidden = (0, 1, 3)
    return lambda code: "*" if level == 3 else None if code is None else code[: 4 - hidden[level]] + "*" * hidden[level]


def draw_rows(dice: random.Random, rows: int) -> pl.DataFrame:
    def maybe(value: Any) -> Any:
        return None if dice.random() < 0.1 else value

    drawn = {
        "age": [maybe(dice.randint(18, 60)) for _ in range(rows)],
        "job": [maybe(dice.choice(["nurse", "doctor", "clerk", "buyer"])) for _ in range(rows)],
        "zip": [maybe(dice.choice(["7501", "7502", "7610", "1234"])) for _ in range(rows)],
        "sick": [maybe(dice.choice(["flu", "cold"])) for _ in range(rows)],
    }
    first = {"age": 20, "job": "nurse", "zip": "7501", "sick": "flu"}
    return pl.DataFrame({name: [first[name], *drawn[name]] for name in drawn})


def read(frame: pl.DataFrame, **options: Any) -> ic.Table:
    return ic.read(frame, quasi=QUASI, sensitive=["sick"], hierarchies=HIERARCHIES, **options)


# --- the definition ---


def test_the_same_rows_as_counting_one_by_one() -> None:
    dice = random.Random(1)
    released = 0
    for _ in range(36):
        frame = draw_rows(dice, dice.choice([0, 3, 20, 150, 600]))
        levels = {"age": dice.randint(0, 4), "job": dice.randint(0, 3), "zip": dice.randint(0, 3)}
        k = dice.choice([1, 2, 5, 20])
        show = {"age": age_at(levels["age"]), "job": job_at(levels["job"]), "zip": zip_at(levels["zip"])}
        shown = Counter((*(show[name](row[name]) for name in QUASI), row["sick"]) for row in frame.to_dicts())
        expected = Counter({row: count for row, count in shown.items() if count >= k})
        method = KDGS(k, levels={name: level for name, level in levels.items() if level})
        if not expected:
            with pytest.raises(Unsatisfiable, match=f"no row of {frame.height} is seen {k} times"):
                ic.publish(read(frame), ic.FullKAnonymity(k), method=method)
            continue
        released += 1
        release = ic.publish(read(frame), ic.FullKAnonymity(k), method=method)
        assert Counter(release.to_polars().rows()) == expected
        assert release.withheld == frame.height - expected.total()
        assert release.guarantees[0].achieved == min(expected.values())
    assert released > 15


def test_rows_of_one_group_are_withheld_for_their_sensitive_values() -> None:
    frame = pl.DataFrame({"job": ["nurse"] * 5 + ["clerk"] * 2, "sick": ["flu"] * 3 + ["cold", "cold", "flu", "cold"]})
    table = ic.read(frame, quasi=["job"], sensitive=["sick"], hierarchies={"job": JOBS})
    release = ic.publish(table, ic.FullKAnonymity(2), method=KDGS(2))
    assert release.to_polars().rows() == [("nurse", "cold")] * 2 + [("nurse", "flu")] * 3
    assert release.withheld == 2
    assert release.summary["groups"] == {
        "number": 1, "smallest": 5, "median": 5.0, "largest": 5, "by size": release.summary["groups"]["by size"]
    }  # fmt: skip
    together = ic.publish(table, ic.FullKAnonymity(2), method=KDGS(2, levels={"job": 3}))
    assert together.withheld == 0


def test_several_sensitive_columns_count_together() -> None:
    frame = pl.DataFrame({"job": ["nurse"] * 4, "a": ["x", "x", "y", "y"], "b": ["x", "y", "x", "x"]})
    table = ic.read(frame, quasi=["job"], sensitive=["a", "b"], hierarchies={"job": JOBS})
    release = ic.publish(table, ic.FullKAnonymity(2), method=KDGS(2))
    assert release.to_polars().rows() == [("nurse", "y", "x")] * 2


def test_what_is_shown_of_a_row_depends_on_no_other_row() -> None:
    dice = random.Random(2)
    frame = draw_rows(dice, 300)
    method = KDGS(1, levels={"age": 2, "job": 1, "zip": 2})
    whole = Counter(ic.publish(read(frame), ic.KAnonymity(1), method=method).to_polars().rows())
    parts = [part for part in (frame[:100], frame[100:130], frame[130:]) if part.height]
    shown = [Counter(ic.publish(read(part), ic.KAnonymity(1), method=method).to_polars().rows()) for part in parts]
    assert sum(shown, Counter()) == whole


def test_a_sample_is_counted_after_it_is_drawn() -> None:
    table = read(draw_rows(random.Random(3), 2000))
    method = KDGS(20, levels={"age": 3, "job": 2, "zip": 3})
    release = ic.publish(table, ic.FullKAnonymity(20), method=method, sample=0.3, seed=1)
    counts = Counter(release.to_polars().rows())
    assert min(counts.values()) >= 20
    assert release.rows + release.withheld == release.rows_in < 800


def test_a_node_that_holds_everybody_keeps_its_name() -> None:
    # Were it shown as anything, that would tell that nobody is elsewhere.
    frame = pl.DataFrame({"age": [21, 22, 23, 24], "zip": ["7501", "7501", "7502", "7502"]})
    table = ic.read(frame, quasi=["age", "zip"], hierarchies={"age": AGES, "zip": HIERARCHIES["zip"]})
    for level, label in enumerate(["[20, 25)", "[20, 30)", "[0, 40)", "*"], start=1):
        release = ic.publish(table, ic.KAnonymity(2), method=KDGS(2, levels={"age": level, "zip": 1}))
        assert set(release.to_polars().rows()) == {(label, "750*")}


def test_the_top_says_nothing_even_if_all_is_missing() -> None:
    frame = pl.DataFrame({"age": pl.Series([None, None], dtype=pl.Int64), "job": ["nurse", "nurse"]})
    table = ic.read(frame, quasi=["age", "job"], hierarchies={"age": AGES, "job": JOBS})
    release = ic.publish(table, ic.KAnonymity(2), method=KDGS(2, levels={"age": 4}))
    assert release.to_polars().rows() == [("*", "nurse")] * 2


# --- what it refuses ---


def test_a_hierarchy_made_from_the_data_is_refused() -> None:
    frame = draw_rows(random.Random(4), 50)
    for hierarchy in (None, ic.Flat(), ic.Automatic()):
        given = {"job": JOBS} | ({} if hierarchy is None else {"age": hierarchy})
        table = ic.read(frame, quasi=["age", "job"], others="drop", hierarchies=given)
        with pytest.raises(SchemaError, match="'age' is made from it"):
            ic.publish(table, ic.KAnonymity(1), method=KDGS(1, levels={"age": 1}))
        allowed = KDGS(2, levels={"age": 1, "job": 3}, allow_inferred=True)
        assert ic.publish(table, ic.KAnonymity(2), method=allowed).rows > 0


@pytest.mark.parametrize("role", ["keep", "pseudonyms"])
def test_columns_outside_of_what_it_counts_are_refused(role: str) -> None:
    frame = draw_rows(random.Random(5), 50).with_columns(note=pl.lit("x"))
    with pytest.raises(SchemaError, match="full 2-anonymity speaks of every published column, and 'note'"):
        ic.publish(read(frame, **{role: ["note"]}), ic.KAnonymity(2), method=KDGS(2))


def test_levels_that_are_not_there_are_refused() -> None:
    table = read(draw_rows(random.Random(6), 50))
    with pytest.raises(SchemaError, match="'age': levels go from 0 to 4"):
        ic.publish(table, ic.KAnonymity(2), method=KDGS(2, levels={"age": 5}))
    with pytest.raises(SchemaError, match="'sick' is not a quasi-identifier"):
        ic.publish(table, ic.KAnonymity(2), method=KDGS(2, levels={"sick": 1}))


@pytest.mark.parametrize(
    "parameters",
    [
        {"k": 0},
        {"k": "x"},
        {"k": 2, "levels": {"age": -1}},
        {"k": 2, "levels": {"age": 1.5}},
        {"k": 2, "levels": 3},
        {"k": 2, "allow_inferred": 1},
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="k-dgs"):
        KDGS(**parameters)


# --- other models ---


@pytest.mark.parametrize(
    ("model", "reached"),
    [(ic.KAnonymity(6), "6-anonymity: they reach 5"), (ic.LDiversity(3), "distinct 3-diversity: they reach 2")],
)
def test_models_that_it_cannot_satisfy_are_unsatisfiable(model: ic.Model, reached: str) -> None:
    frame = pl.DataFrame({"job": ["nurse"] * 6, "sick": ["flu"] * 3 + ["cold", "cold", "cough"]})
    table = ic.read(frame, quasi=["job"], sensitive=["sick"], hierarchies={"job": JOBS})
    with pytest.raises(Unsatisfiable, match=f"5 of 6 rows .* {reached}"):
        ic.publish(table, model, method=KDGS(2))


def test_models_are_asked_about_what_is_published_and_the_whole_table() -> None:
    # As published, half have flu, as in the whole table; the others, withheld, do not count towards a group.
    frame = pl.DataFrame({"job": ["nurse"] * 4 + ["clerk"] * 2, "sick": ["flu", "flu", "cold", "cold", "flu", "cold"]})
    table = ic.read(frame, quasi=["job"], sensitive=["sick"], hierarchies={"job": JOBS})
    release = ic.publish(table, [ic.TCloseness(0.01), ic.LDiversity(2)], method=KDGS(2))
    assert [guarantee.achieved for guarantee in release.guarantees] == [0, 2, 2]


def test_a_population_is_counted_at_the_levels() -> None:
    frame = pl.DataFrame({"age": [21, 22, 31, 32]})
    people = pl.DataFrame({"age": [20, 21, 22, 23, 24, 31, 32, 33]})
    table = ic.read(frame, quasi=["age"], hierarchies={"age": AGES}, population=people)
    method = KDGS(2, levels={"age": 2})
    release = ic.publish(table, [KMap(3), DeltaPresence(0.7, min_presence=0.4)], method=method)
    assert release.guarantees[0].achieved == 3
    assert release.guarantees[1].achieved == pytest.approx(2 / 3)
    with pytest.raises(Unsatisfiable, match="4-map: they reach 3"):
        ic.publish(table, KMap(4), method=method)
    with pytest.raises(Unsatisfiable, match=r"\(0.5, 1\)-presence"):
        ic.publish(table, DeltaPresence(1.0, min_presence=0.5), method=method)


@settings(max_examples=6)
@given(case=cases(most_kept=0), data=st.data())
def test_promises_are_kept(case: Case, data: st.DataObject) -> None:
    trees = case.table().engine.count(case.table().schema).tally.trees
    levels = {name: data.draw(st.integers(0, trees[name].height)) for name in case.quasi}
    method = KDGS(data.draw(st.integers(1, 3)), levels=levels, allow_inferred=True)
    unsatisfiable_raises(case, method)
    try:
        attempt = Attempt.of(case, method, [ic.KAnonymity(data.draw(st.integers(1, 3)))])
    except Unsatisfiable:
        return
    for promise in PROMISES:
        promise(attempt)
    counts = Counter(attempt.published.select(*case.quasi, *case.sensitive).rows())
    assert min(counts.values()) >= method.k


def test_a_recipe_brings_it_back() -> None:
    from incrowd.publishing.release import parameters

    method = KDGS(3, levels={"age": 2})
    assert KDGS(**parameters(method)) == method
