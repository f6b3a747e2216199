"""(k,β)-SDGS: the sample's rows counted one by one, what is promised, what is told, and what is refused."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.core.sampling import draw_sample
from incrowd.dp.exact_suppression import exact_delta
from incrowd.errors import ConformanceError, RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.sdgs import SDGS
from incrowd.publishing.noisy_counts import SEEDED
from tests.dp.naive_suppression import hockey_stick

AGES = ic.Intervals(widths=(10, 20, 40))
SEXES = ic.Categories.from_tree(["F", "M"])
HIERARCHIES = {"age": AGES, "sex": SEXES}
GAMMA = (math.e - 1 + 0.2) / math.e


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    dice = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [dice.choice([None, *range(20, 60)]) for _ in range(rows)],
            "sex": [dice.choice(["F", "M", "M", None]) for _ in range(rows)],
            "sick": [dice.choice(["flu", "cold", "none", "none"]) for _ in range(rows)],
        }
    )


def read(frame: pl.DataFrame, **options: Any) -> ic.Table:
    return ic.read(frame, **{"quasi": ["age", "sex"], "sensitive": ["sick"], "hierarchies": HIERARCHIES, **options})


def shown_age(age: int | None, level: int) -> str | None:
    if level == 4:
        return "*"
    if age is None or level == 0:
        return None if age is None else str(age)
    width = (10, 20, 40)[level - 1]
    return f"[{age // width * width}, {age // width * width + width})"


# --- suppression ---


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_sample_is_suppressed_as_if_counted_row_by_row(rate: float) -> None:
    published = 0
    for seed in range(8):
        frame = people(700, seed)
        table, level, k = read(frame), seed % 5, 2 + seed % 4
        tally = table.engine.count(table.schema).tally
        sample = draw_sample(tally, Fraction(str(rate)), randomness(seed)).tally
        rows: Counter[tuple[Any, ...]] = Counter()
        for codes, count in zip(sample.codes.tolist(), sample.counts.tolist(), strict=True):
            values = dict(zip(sample.columns, codes, strict=True))
            age, sex, sick = (sample.trees[name].values[values[name]] for name in ("age", "sex", "sick"))
            rows[(shown_age(age, level), sex, sick)] += count
        expected = Counter({row: count for row, count in rows.items() if count >= k})
        try:
            release = ic.publish(table, method=SDGS(k, levels={"age": level}), sample=rate, seed=seed)
        except Unsatisfiable:
            assert not expected
            continue
        assert Counter(release.to_polars().rows()) == expected
        published += release.rows
    assert published > 0


def test_every_row_is_sampled_at_the_rate() -> None:
    table = read(people(4000))
    kept = [ic.publish(table, method=SDGS(1, levels={"age": 4}), sample=0.25, seed=seed).rows for seed in range(20)]
    assert abs(sum(kept) / 20 - 1000) < 4 * (4000 * 0.25 * 0.75 / 20) ** 0.5


def test_the_order_of_rows_and_columns_changes_nothing() -> None:
    frame = people(600)
    method = SDGS(5, levels={"age": 2})
    first = ic.publish(read(frame), method=method, sample=0.5, seed=3).data
    shuffled = frame.sample(fraction=1, shuffle=True, seed=7).select("sick", "sex", "age")
    second = ic.publish(read(shuffled), method=method, sample=0.5, seed=3).data
    columns = ["age", "sex", "sick"]
    assert first.select(columns).sort(columns).equals(second.select(columns).sort(columns))


def test_one_seed_one_release_and_no_seed_another_one() -> None:
    table, method = read(people(900)), SDGS(3, levels={"age": 3})
    rows = [Counter(ic.publish(table, method=method, sample=0.3, seed=seed).data.rows()) for seed in (4, 4, None, None)]
    assert rows[0] == rows[1]
    assert rows[2] != rows[3]


# --- what is promised and told ---


def test_the_promise_is_the_exact_delta_at_the_epsilon_asked_for() -> None:
    release = ic.publish(read(people(900)), method=SDGS(20, levels={"age": 4}, epsilon="0.5"), sample=0.2)
    verified, promised = release.guarantees
    assert (verified.model, verified.basis) == (ic.FullKAnonymity(20), "verified")
    assert promised.basis == "by construction"
    assert promised.note == ""
    assert str(promised.model) == "differential privacy (ε = 0.5, δ = 3.11e-07)"
    told = promised.model.delta  # type: ignore[attr-defined]
    assert exact_delta(20, "0.2", "0.5") <= Fraction(told) < exact_delta(20, "0.2", "0.5") * 1.00001


def test_the_curve_is_in_the_summary() -> None:
    summary = ic.publish(read(people(900)), method=SDGS(20, levels={"age": 4}), sample=0.2).summary
    curve = {point["ε"]: point["δ"] for point in summary["privacy"]["ε and δ"]}
    assert {0.25, 0.5, 0.75, 1.0, 1.5, 2.0} <= set(curve)
    for epsilon in (0.25, 1.0, 2.0):
        naive = float(hockey_stick(20, Fraction(1, 5), Fraction(str(epsilon)), crowds=110))
        assert naive * (1 - 1e-9) <= curve[epsilon] <= naive * 1.00001
    assert float(f"{summary['privacy']['δ by theorem 1']:.2e}") == 6.03e-9  # Table 1
    assert min(curve) == pytest.approx(0.2231435513)  # −ln(1−β)
    assert summary["guarantees"][1]["parameters"]["epsilon"] == "1"
    smooth = summary["privacy"]["smooth bound of suppression"]
    assert smooth["ε0"] == 1
    assert smooth["δ0"] == pytest.approx(math.exp(-20 * (math.log(GAMMA / 0.2) - (GAMMA - 0.2) / GAMMA)))  # theorem 6
    assert curve[1.0] < smooth["δ0"]
    assert curve[2.0] < smooth["δ at 2·ε0"] < smooth["δ0"]


def test_without_an_epsilon_the_least_possible_is_promised_where_1_is_too_small() -> None:
    promise = SDGS(20).promise(Fraction(9, 10))
    assert float(promise.price.epsilon) == pytest.approx(2.302585093)


def test_nothing_tells_how_many_rows_there_are() -> None:
    frame = people(1234)
    release = ic.publish(read(frame), method=SDGS(10, levels={"age": 1}), sample=0.5, seed=2)
    told = json.dumps({"summary": release.summary, "repr": repr(release)})
    assert 100 < release.withheld < release.rows_in < 1234
    for secret in (release.withheld, release.rows_in, release.left_out, 1234):
        assert not re.search(rf"\b{secret}\b", told.replace(",", ""))
    assert release.summary["rows"] == {"published": release.rows, "sampling rate": 0.5}
    assert release.summary["loss"] == {}


def test_two_tables_that_publish_the_same_rows_tell_the_same() -> None:
    """Withheld people leave no trace: not in the summary, not in labels, not in warnings."""
    common = pl.DataFrame({"age": [25] * 300, "sex": ["F"] * 300, "sick": ["flu"] * 300})
    rare = pl.DataFrame({"age": [None, 59], "sex": [None, "M"], "sick": ["none", None]})
    method = SDGS(20, levels={"age": 1})
    for levels in ({"age": 1}, {"age": 4, "sex": 1}):
        told = []
        for frame in (common, pl.concat([common, rare])):
            # One row in a million is left out, so that both publish the same 300 rows all but surely.
            release = ic.publish(read(frame), method=replace(method, levels=levels, k=250), sample="0.999999", seed=1)
            told.append((release.data.filter(pl.col("sick") == "flu").rows(), release.summary))
        assert told[0] == told[1]


def test_a_seeded_run_is_not_for_publication() -> None:
    table, method = read(people(900)), SDGS(5, levels={"age": 4})
    assert ic.publish(table, method=method, sample=0.2, seed=1).guarantees[-1].note == SEEDED
    assert SEEDED in json.dumps(ic.publish(table, method=method, sample=0.2, seed=1).summary)
    assert ic.publish(table, method=method, sample=0.2).guarantees[-1].note == ""


def test_a_large_delta_is_warned_of_and_a_small_one_is_not() -> None:
    table = read(people(900))
    weak = ic.publish(table, method=SDGS(2, levels={"age": 4}, epsilon=1), sample=0.5)
    assert any("too large" in warning for warning in weak.warnings)
    strong = ic.publish(table, method=SDGS(25, levels={"age": 4, "sex": 1}, epsilon=1), sample=0.2)
    assert strong.warnings == []


def test_a_release_can_be_made_again_from_its_recipe(tmp_path: Path) -> None:
    people(900).write_csv(tmp_path / "people.csv")
    table = ic.read(tmp_path / "people.csv", quasi=["age", "sex"], sensitive=["sick"], hierarchies=HIERARCHIES)
    method = SDGS(5, levels={"age": 2}, epsilon=Fraction(4, 5), scheme="chosen", scheme_epsilon="1/3")
    release = ic.publish(table, method=method, sample=0.3, seed=5)
    release.save(tmp_path / "out")
    again = ic.Recipe.load(release.save_recipe(tmp_path / "own.toml")).run()
    assert again.method == release.method
    assert Counter(again.data.rows()) == Counter(release.data.rows())
    assert [str(guarantee) for guarantee in again.guarantees] == [str(guarantee) for guarantee in release.guarantees]
    saved = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert saved["rows"] == {"published": release.rows, "sampling rate": 0.3}


# --- refusals ---


def test_without_a_sample_it_is_refused() -> None:
    with pytest.raises(RecipeError, match="not differentially private"):
        ic.publish(read(people(100)), method=SDGS(2))


def test_a_promise_of_nothing_is_refused() -> None:
    with pytest.raises(RecipeError, match="nothing would be promised"):
        ic.publish(read(people(100)), method=SDGS(1), sample="0.99999999")


def test_an_epsilon_below_what_the_rate_allows_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"at least −ln\(1−β\) = 0\.6931"):
        ic.publish(read(people(100)), method=SDGS(2, epsilon=0.5), sample=0.5)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"k": 0}, "k"),
        ({"k": 2, "levels": {"age": -1}}, "level"),
        ({"k": 2, "epsilon": 0}, "ε is above 0"),
        ({"k": 2, "epsilon": "much"}, "ε is a number"),
        ({"k": 2, "scheme": "best"}, "scheme"),
        ({"k": 2, "scheme": "chosen"}, "scheme_epsilon"),
        ({"k": 2, "scheme_epsilon": 1}, "scheme_epsilon"),
        ({"k": 2, "scheme": "chosen", "scheme_epsilon": -1}, "ε is above 0"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        SDGS(**parameters)


@pytest.mark.parametrize(
    ("hierarchy", "values", "said"),
    [
        (ic.Flat(), ["a", "b"], "made from the table"),
        (ic.Masking(), ["75001", "75002"], "steps"),
        (ic.Masking(steps=(1, 3)), ["75", "76"], "more characters than its values have"),
        (ic.Dates(), ["2020-01-01", "2020-01-02"], "units"),
    ],
)
def test_hierarchies_that_depend_on_the_table_are_refused(hierarchy: Any, values: list[str], said: str) -> None:
    table = ic.read(pl.DataFrame({"it": values * 50}), quasi=["it"], hierarchies={"it": hierarchy})
    with pytest.raises(SchemaError, match=said):
        ic.publish(table, method=SDGS(2), sample=0.5, seed=1)


@pytest.mark.parametrize(
    ("hierarchy", "values", "level", "label"),
    [
        (ic.Masking(steps=(1, 3)), ["75001", "75002"], 2, "75***"),
        (ic.Dates(units=("month", "year")), ["2020-01-01", "2020-01-02"], 1, "2020-01"),
    ],
)
def test_hierarchies_that_do_not_are_not(hierarchy: Any, values: list[str], level: int, label: str) -> None:
    table = ic.read(pl.DataFrame({"it": values * 50}), quasi=["it"], hierarchies={"it": hierarchy})
    release = ic.publish(table, method=SDGS(2, levels={"it": level}), sample=0.5, seed=1)
    assert release.data["it"].unique().to_list() == [label]


def test_columns_outside_of_the_promise_are_refused() -> None:
    with pytest.raises(SchemaError, match="outside"):
        ic.publish(read(people(100).with_columns(note=pl.lit("x")), keep=["note"]), method=SDGS(2), sample=0.5)


def test_models_that_may_look_at_the_whole_table_are_refused() -> None:
    table = read(people(900))
    with pytest.raises(RecipeError, match="cannot be asked"):
        ic.publish(table, ic.TCloseness(0.5), method=SDGS(2, levels={"age": 4}), sample=0.5)
    assert ic.publish(table, ic.KAnonymity(2), method=SDGS(2, levels={"age": 4}), sample=0.5).rows


def test_other_forms_are_refused() -> None:
    with pytest.raises(RecipeError, match="no other form"):
        ic.publish(read(people(100)), method=SDGS(2), sample=0.5, form=ic.ShowMultisets())


def test_nothing_seen_often_enough_is_unsatisfiable_and_counts_nobody() -> None:
    with pytest.raises(Unsatisfiable, match="spends privacy every time") as error:
        ic.publish(read(people(777)), method=SDGS(700), sample=0.5, seed=1)
    assert "777" not in str(error.value)


# --- levels chosen by the table ---


def test_chosen_levels_are_those_that_keep_most_when_privacy_is_cheap() -> None:
    """Everybody is 20 to 59: by tens, all crowds are large; by single years, none is."""
    dice = random.Random(5)
    frame = pl.DataFrame({"age": [dice.randrange(20, 60) for _ in range(3000)]})
    table = ic.read(frame, quasi=["age"], hierarchies={"age": AGES})
    release = ic.publish(table, method=SDGS(60, scheme="chosen", scheme_epsilon=100), sample=0.2, seed=1)
    assert set(release.data["age"]) == {"[20, 30)", "[30, 40)", "[40, 50)", "[50, 60)"}
    assert float(release.promise.price.epsilon) == 101  # type: ignore[union-attr]


def test_levels_that_are_given_stay_as_they_are() -> None:
    table = read(people(2000))
    method = SDGS(5, levels={"age": 3}, scheme="chosen", scheme_epsilon=1)
    assert {label for label in ic.publish(table, method=method, sample=0.3).data["age"] if label} == {
        "[0, 40)",
        "[40, 80)",
    }


def test_too_many_level_vectors_are_refused() -> None:
    columns = {f"c{number}": ["a", "b"] * 20 for number in range(17)}
    tree = ic.Categories.from_tree(["a", "b"])
    table = ic.read(pl.DataFrame(columns), quasi=list(columns), hierarchies=dict.fromkeys(columns, tree))
    with pytest.raises(RecipeError, match="131,072 combinations"):
        ic.publish(table, method=SDGS(2, scheme="chosen", scheme_epsilon=1), sample=0.5, seed=1)


def test_levels_are_never_chosen_by_the_sample() -> None:
    table, method = read(people(300)), SDGS(2, scheme="chosen", scheme_epsilon=1)
    sample = draw_sample(table.engine.count(table.schema).tally, Fraction(1, 2), randomness(1)).tally
    alone = replace(sample, drawn_from=None)
    with pytest.raises(ConformanceError, match="whole table"):
        method.search(alone, table.schema, method.guarantees, rng=randomness(1), progress=silent)


@pytest.mark.parametrize(
    ("usual", "odd"),
    [("5.0", "5"), ("9", "x"), ("10", "007"), ("7", "7.5")],
)
def test_a_row_that_is_not_published_changes_nothing_of_the_others(usual: str, odd: str) -> None:
    # Spelling and order of sensitive values must not depend on a row that its own group's size suppresses.
    def shown(values: list[str], ages: list[int]) -> list[tuple[Any, ...]]:
        frame = pl.DataFrame({"age": ages, "sex": ["F"] * len(ages), "sick": values})
        release = ic.publish(read(frame), method=SDGS(k=5, levels={"age": 1, "sex": 0}), sample=0.9, seed=3)
        return release.to_polars().unique(maintain_order=True).rows()

    both = [usual, "10"] * 100
    without = shown(both, [25] * 200)
    with_one = shown([*both, odd], [*[25] * 200, 55])
    assert without == with_one
    assert {row[-1] for row in without} == set(both)


def test_the_recipe_of_a_private_release_does_not_tell_what_the_rows_are_written_in(tmp_path: Path) -> None:
    told = []
    for name, note in (("plain", "e"), ("accent", "é")):
        path = tmp_path / f"{name}.csv"
        people(300).with_columns(note=pl.lit(note)).write_csv(path)
        path.write_bytes(path.read_bytes().decode().encode("cp1252"))
        table = ic.read(path, quasi=["age", "sex"], sensitive=["sick"], hierarchies=HIERARCHIES, drop=["note"])
        release = ic.publish(table, method=SDGS(k=5, levels={"age": 1, "sex": 0}), sample=0.5)
        release.save(tmp_path / name)
        recipe = (tmp_path / name / "recipe.toml").read_text(encoding="utf-8")
        told.append(recipe.replace(name, "table"))
    assert told[0] == told[1]
    assert "encoding" not in told[0]
