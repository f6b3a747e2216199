"""Differential privacy per person: budgets, refusals by declarations alone, and audits with a person of many rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.core.engine import Counted
from incrowd.core.sampling import draw_sample
from incrowd.core.schema import Schema
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noisy_counts
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.group_privacy import price_of_person
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.sdgs import SDGS
from incrowd.publishing.by_columns import publish_separately
from incrowd.publishing.noisy_counts import noisy_counts_of
from incrowd.publishing.people_promises import refuse_unbounded
from incrowd.publishing.private_table import PrivateTable
from incrowd.publishing.recipe import Recipe
from incrowd.testing.mechanism_audit import AuditResult, audit
from tests.publishing.read_once import ReadOnce, read_once

pytestmark = pytest.mark.usefixtures("few_questions")

AGES = ic.Intervals(widths=(5, 50), lower=0, upper=100)
SEXES = ic.Categories.from_tree(["F", "M"])
PRIVATE: list[Callable[..., Any]] = [
    ic.FlatHistogram,
    ic.HierarchicalHistogram,
    ic.DiffGen,
    ic.ConsistentDiffGen,
    ic.MarginalSynthesis,
    ic.AdaptiveSynthesis,
]


def frame(rows_each: int = 3, people: int = 60) -> pl.DataFrame:
    """People with so many rows each."""
    rng = np.random.default_rng(rows_each)
    rows = rows_each * people
    return pl.DataFrame(
        {
            "who": [f"p{number % people}" for number in range(rows)],
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["F", "M"], rows),
        }
    )


def table(data: pl.DataFrame | None = None, **roles: Any) -> ic.Table:
    roles = roles or {"person": "who"}
    known = {"age": AGES, "sex": SEXES}
    data = frame() if data is None else data
    return ic.read(data, quasi=["age"], sensitive=["sex"], hierarchies=known, others="drop", **roles)


def stated(release: ic.Release) -> Any:
    return release.guarantees[-1].model


# --- what is promised ---


@pytest.mark.parametrize("kind", PRIVATE)
def test_the_budget_is_a_persons_to_the_last_digit(kind: Callable[..., Any]) -> None:
    method = kind("1/3", most_rows=4)
    assert method.for_rows.budget == Budget(Fraction(1, 12))
    assert method.for_rows.most_rows is None
    release = ic.publish(table(), method=method, seed=1)
    form: Any = release.form
    assert form.accountant.total() == Budget("1/3") == form.accountant.limit
    assert str(stated(release)) == "differential privacy (ε = 0.333333), per person, at most 4 rows each"
    assert stated(release).most_rows == 4
    assert {question["within"] for question in form.accountant.rows()} == {"at most 4 rows per person"}
    assert sum(Fraction(question["ε"]) for question in form.accountant.rows()) == Fraction(1, 12)
    assert "per person, at most 4 rows each" in json.dumps(release.summary, ensure_ascii=False)
    assert "people" not in release.summary
    assert release.warnings == ic.publish(table(each_row_a_person=True), method=kind("1/3"), seed=1).warnings


def test_without_people_all_is_as_it_was() -> None:
    release = ic.publish(table(each_row_a_person=True), method=ic.FlatHistogram(1), seed=1)
    assert str(stated(release)) == "differential privacy (ε = 1)"
    assert ic.FlatHistogram(1).for_rows == ic.FlatHistogram(1)


def test_one_row_each_is_said_in_the_singular() -> None:
    release = ic.publish(table(), method=ic.FlatHistogram(1, most_rows=1))
    assert str(stated(release)) == "differential privacy (ε = 1), per person, at most 1 row each"


def test_a_sample_of_the_kept_rows_costs_a_person_less() -> None:
    release = ic.publish(table(), method=ic.FlatHistogram(1, most_rows=4), sample=0.5, seed=1)
    price = price_of_person(amplified(Budget("1/4"), "1/2"), 4)
    assert Fraction(stated(release).epsilon) == price.epsilon < amplified(Budget(1), "1/2").epsilon
    form: Any = release.form
    assert form.accountant.total() == price


@pytest.mark.parametrize("most_rows", [1, 2, 3, 1000])
@pytest.mark.parametrize("kind", PRIVATE[:1])
def test_as_many_rows_are_counted_as_people_may_have(kind: Callable[..., Any], most_rows: int) -> None:
    release = ic.publish(table(), method=kind(10**6, most_rows=most_rows))
    assert release.count({}) == 60 * min(most_rows, 3)
    some = table(frame().with_columns(who=pl.lit("p")))
    assert ic.publish(some, method=kind(10**6, most_rows=most_rows)).count({}) == min(most_rows, 180)


def test_noise_is_that_for_all_rows_of_a_person() -> None:
    """The scale is most_rows/ε: an answer's error is that of a method with ε/most_rows."""
    ours = ic.publish(table(), method=ic.FlatHistogram(1, most_rows=5), seed=1).form.error({"age": (10, 10)})
    theirs = ic.publish(table(each_row_a_person=True), method=ic.FlatHistogram("1/5"), seed=1)
    assert ours == theirs.form.error({"age": (10, 10)})


def test_one_seed_one_release_whatever_the_order_of_rows() -> None:
    first = ic.publish(table(), method=ic.FlatHistogram(1, most_rows=2), seed=7)
    again = ic.publish(table(frame().reverse()), method=ic.FlatHistogram(1, most_rows=2), seed=7)
    assert first.to_polars().equals(again.to_polars())
    assert "not for publication" in first.guarantees[-1].note


def test_nobody_is_a_table_like_any_other() -> None:
    nobody = pl.DataFrame(schema={"who": pl.String, "age": pl.Int64, "sex": pl.String})
    nameless = pl.DataFrame({"who": [None], "age": [3], "sex": ["F"]}, schema=nobody.schema)
    # Rows without a name are left out before any method counts.
    for data, kinds in ((nobody, PRIVATE), (nameless, PRIVATE[:1])):
        for kind in kinds:
            release = ic.publish(table(data), method=kind(50, most_rows=2, undeclared="missing"), seed=1)
            assert release.count({}) < 5
        private = PrivateTable(table(data), budget=50, most_rows=2, undeclared="missing")
        assert private.count({}, epsilon=50) == 0


# --- what is refused, and by what ---


@pytest.mark.parametrize("rows_each", [1, 3])
@pytest.mark.parametrize("kind", [*PRIVATE, lambda *_, **given: SDGS(5, **given)])
def test_refusals_depend_on_declarations_alone(kind: Callable[..., Any], rows_each: int) -> None:
    """Also where nobody has two rows: one person more, with many, must not change what is done."""
    sample = 0.5 if isinstance(kind(1), SDGS) else 1
    data = frame(rows_each)
    with pytest.raises(SchemaError, match=r"how many rows of a person.*most_rows=1 keeps.*most_rows=10 keeps"):
        ic.publish(table(data), method=kind(1), sample=sample)
    for roles in ({"each_row_a_person": True}, {"drop": ["who"]}):
        with pytest.raises(SchemaError, match=r"no column tells whose a row is.*leave out most_rows"):
            ic.publish(table(data, **roles), method=kind(1, most_rows=2), sample=sample)
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(RecipeError, match="most_rows"):
            kind(1, most_rows=wrong)


def test_names_that_may_repeat_are_refused_where_nobody_is() -> None:
    method = ic.FlatHistogram(1, undeclared="missing")
    for rows_each in (1, 3):
        named = table(frame(rows_each), identifiers=["who"])
        with pytest.raises(SchemaError, match="nobody looks whether its values repeat"):
            ic.publish(named, method=method)
        with pytest.raises(SchemaError, match="nobody looks whether its values repeat"):
            PrivateTable(named, 1)
        ic.publish(table(frame(rows_each), identifiers=["who"], each_row_a_person=True), method=method)
    with pytest.raises(SchemaError, match="names people and repeats"):
        PrivateTable(table(frame(3), identifiers=["who"]), 1, undeclared="refuse")
    PrivateTable(table(frame(1), identifiers=["who"]), 1, undeclared="refuse")


def test_a_private_table_is_refused_alike() -> None:
    with pytest.raises(SchemaError, match="PrivateTable promises differential privacy"):
        PrivateTable(table(), 1)
    with pytest.raises(SchemaError, match="no column tells whose a row is"):
        PrivateTable(table(each_row_a_person=True), 1, most_rows=1)
    with pytest.raises(RecipeError, match="most_rows"):
        PrivateTable(table(), 1, most_rows=0)


def test_pseudonyms_of_people_are_refused() -> None:
    with pytest.raises(SchemaError, match="cannot be published beside noisy counts"):
        ic.publish(table(person="who", pseudonyms=["who"]), method=ic.FlatHistogram(1, most_rows=1))
    for most_rows in (1, 2):
        with pytest.raises(SchemaError, match="'who' would be published outside"):
            ic.publish(
                table(person="who", pseudonyms=["who"]), method=SDGS(5, epsilon=2, most_rows=most_rows), sample=0.5
            )


# --- recipes, files ---


def test_a_recipe_holds_it_and_makes_it_again(tmp_path: Path) -> None:
    frame().write_csv(tmp_path / "people.csv")
    opened = ic.read(
        tmp_path / "people.csv",
        quasi=["age"],
        sensitive=["sex"],
        person="who",
        hierarchies={"age": AGES, "sex": SEXES},
    )
    for method, sample in ((ic.DiffGen(1, most_rows=4), 1), (SDGS(5, {"age": 2}, epsilon=4, most_rows=2), 0.5)):
        release = ic.publish(opened, method=method, sample=sample, seed=3)
        release.save(tmp_path / method.name)
        text = (tmp_path / method.name / "recipe.toml").read_text()
        assert f"most_rows = {method.most_rows}" in text
        loaded = Recipe.load(tmp_path / method.name / "recipe.toml")
        assert loaded.method == method
        again = loaded.run(seed=3)
        assert again.to_polars().equals(release.to_polars())
        read = ic.open_release(tmp_path / method.name)
        assert "per person, at most" in json.dumps(read.stated_guarantees, ensure_ascii=False)
        assert not [warning for warning in read.warnings if "Claimed" in warning]


# --- sampling and suppression ---


def test_sampling_promises_a_person_what_theorem_1_promises_of_rows() -> None:
    method = SDGS(20, epsilon=2, most_rows=4)
    price = method.promise(Fraction(1, 10)).price
    assert price.epsilon == 2
    of_row = exact_delta(20, "1/10", "1/2")
    expected = of_row * sum(math.exp(0.5 * place) for place in range(4))
    assert float(price.delta) == pytest.approx(expected, rel=1e-5)
    assert float(price.delta) >= expected
    curve = method.curve(Fraction(1, 10))
    assert curve[0]["ε"] == pytest.approx(-4 * math.log(0.9))
    assert {"ε": 2.0, "δ": float(price.delta)} in curve
    assert (
        SDGS(20, epsilon=2, most_rows=1).promise(Fraction(1, 10)).price
        == SDGS(20, epsilon=2).promise(Fraction(1, 10)).price
    )


def test_a_choice_of_levels_is_paid_by_person() -> None:
    method = SDGS(20, epsilon=2, scheme="chosen", scheme_epsilon="1/2", most_rows=4)
    promise = method.promise(Fraction(1, 10))
    assert promise.price.epsilon == Fraction(5, 2)
    assert promise.price.delta == SDGS(20, epsilon=2, most_rows=4).promise(Fraction(1, 10)).price.delta
    told = promise.told["budget"]["questions"]
    assert [question["ε"] for question in told] == ["1/8", "1/2"]


def test_a_rate_that_is_too_high_for_so_many_rows_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"with 4 rows per person, ε is at least −4·ln\(1−β\)"):
        SDGS(20, epsilon=2, most_rows=4).promise(Fraction(1, 2))
    assert SDGS(20, most_rows=4).promise(Fraction(1, 2)).price.epsilon == pytest.approx(4 * math.log(2))


def test_k_counts_rows_and_is_said_of_people_only_where_they_are() -> None:
    data = frame(20)
    one = ic.publish(table(data), method=SDGS(5, {"age": 2}, epsilon=2, most_rows=1), sample=0.8)
    assert str(one.guarantees[0].model) == "full 5-anonymity"
    assert one.rows <= 60
    several = ic.publish(table(data), method=SDGS(20, {"age": 2}, epsilon=8, most_rows=4), sample=0.5)
    assert len(several.guarantees) == 1
    assert 60 < several.rows <= 180
    with pytest.raises(RecipeError, match="counts people"):
        ic.publish(table(data), ic.KAnonymity(2), method=SDGS(20, {"age": 2}, epsilon=8, most_rows=4), sample=0.5)


def test_rows_of_one_person_are_sampled_one_by_one() -> None:
    """Nothing of theorem 1 holds if they come and go together."""
    data = pl.DataFrame({"who": ["p"] * 50, "age": [30] * 50, "sex": ["F"] * 50})
    method = SDGS(10, epsilon=40, most_rows=40)
    seen = set()
    for seed in range(20):
        opened = table(data)
        tally = opened.engine.count_kept(opened.schema, 40, randomness(seed)).tally
        assert tally.rows == 40
        sample = draw_sample(tally, Fraction(1, 2), randomness(seed)).tally
        assert method.search(sample, opened.schema, (), rng=randomness(seed), progress=silent).published.any()
        seen.add(sample.rows)
    assert len(seen) > 3
    assert max(seen) < 40


def test_columns_apart_add_up_by_person() -> None:
    method = SDGS(5, {"age": 2}, epsilon=4, most_rows=2)
    parts = publish_separately(table(frame(20)), [["age"], ["age", "sex"]], method=method, sample=0.5, seed=1)
    model: Any = parts.guarantee.model
    assert model.epsilon == "4"
    each = float(SDGS(5, epsilon=2, most_rows=2).promise(Fraction(1, 2)).price.delta)
    assert float(Fraction(model.delta)) == pytest.approx(2 * each, rel=1e-9)
    assert "per person, at most 2 rows each" in str(model)
    usual = publish_separately(table(frame(20)), [["age"]], method=SDGS(5, {"age": 2}, most_rows=2), sample=0.5)
    assert "ε = 1.38629" in str(usual.guarantee.model)
    with pytest.raises(SchemaError, match="how many rows of a person"):
        publish_separately(table(), [["age"]], method=SDGS(5), sample=0.5)


# --- questions ---


def test_questions_cost_a_person_what_they_say() -> None:
    private = PrivateTable(table(), budget=1, most_rows=3)
    private.count({}, epsilon="1/3")
    assert private.spent == Budget("1/3")
    assert private.remaining == Budget("2/3")
    assert private.answers[0].price == Budget("1/3")
    assert repr(private) == "PrivateTable(1 answers; ε = 0.666667 of ε = 1 left, per person, at most 3 rows each)"
    single = PrivateTable(table(each_row_a_person=True), budget=1)
    single.count({}, epsilon="1/9")
    assert private.answers[0].error == single.answers[0].error
    sampled = PrivateTable(table(), budget=1, most_rows=3, sample=0.5)
    sampled.count({}, epsilon="1/2")
    assert sampled.spent == price_of_person(amplified(Budget("1/6"), "1/2"), 3)


# --- audits on tables that differ by one person with many rows ---


@dataclass(frozen=True, eq=False)
class Untruncated(ReadOnce):
    """What must not be: all rows of everybody are kept."""

    def count_kept(self, schema: Schema, most_rows: int, rng: np.random.Generator, *given: Any, **more: Any) -> Counted:
        return super().count_kept(schema, 10**9, rng, *given, **more)


def pair(
    engine: type[ReadOnce], alone: list[int], others: list[int], *, many: int = 60, age: int = 10
) -> dict[bool, ic.Table]:
    """Two tables: people 1, 2, … with rows of age 70 and of the age of interest; and one more, with many of the latter.

    `others[i]` and `alone[i]` are how many rows the person i + 1 has of the one and of the other.
    """
    rows = [(who, 70, "M") for who, number in enumerate(others, start=1) for _ in range(number)]
    rows += [(who, age, "F") for who, number in enumerate(alone, start=1) for _ in range(number)]
    tables = {}
    for with_person in (True, False):
        data = pl.DataFrame(rows + [(0, age, "F")] * many * with_person, ["who", "age", "sex"], orient="row")
        tables[with_person] = read_once(table(data), engine)
    return tables


def tried(
    tables: dict[bool, ic.Table],
    outcome: Callable[[ic.Table, np.random.Generator], Any],
    *,
    runs: int,
    delta: float = 0.0,
) -> AuditResult:
    def run(with_person: bool, rng: np.random.Generator) -> Any:
        return outcome(tables[with_person], rng)

    return audit(run, runs=runs, rng=np.random.default_rng(17), delta=delta)


def test_noisy_counts_of_a_person_with_many_rows() -> None:
    method = ic.FlatHistogram(1, levels={"age": 2}, most_rows=2, error_share=0)

    def outcome(opened: ic.Table, rng: np.random.Generator) -> Any:
        tally = opened.engine.count_kept(opened.schema, 2, rng).tally
        return round(noisy_counts_of(tally, opened.schema, method, Fraction(1), rng, silent).count({"age": (0, 49)}))

    assert not tried(pair(ReadOnce, [], [2, 2, 2]), outcome, runs=40).contradicts(1)
    assert tried(pair(Untruncated, [], [2, 2, 2]), outcome, runs=40).contradicts(1)


def test_answers_about_a_person_with_many_rows() -> None:
    """The promise is used up in part, and without a choice of rows it is broken by far."""

    def outcome(opened: ic.Table, rng: np.random.Generator) -> Any:
        seed = int(rng.integers(2**60))
        return PrivateTable(opened, 1, most_rows=2, seed=seed).count({"age": (0, 49)}, epsilon=1)

    found = tried(pair(ReadOnce, [1, 5], [2, 2, 2]), outcome, runs=700)
    assert not found.contradicts(1)
    assert found.contradicts(0.3)
    assert tried(pair(Untruncated, [1, 5], [2, 2, 2]), outcome, runs=100).contradicts(2)


def test_noise_for_one_row_is_caught_where_two_are_kept() -> None:
    """Rows are chosen, and ε is spent on each of them."""

    def outcome(opened: ic.Table, rng: np.random.Generator) -> Any:
        tally = opened.engine.count_kept(opened.schema, 2, rng).tally
        return int(noisy_counts(rng, np.array([tally.rows]), epsilon=Fraction(1))[0])

    assert tried(pair(ReadOnce, [], [2, 2, 2]), outcome, runs=300).contradicts(1)


def test_sampling_and_suppression_of_a_person_with_many_rows() -> None:
    """Two of the rows that a person has are enough for a crowd of three; forty are too much."""
    method = SDGS(3, {"age": 2}, epsilon=2, most_rows=2)
    delta = float(method.promise(Fraction(1, 2)).price.delta)

    def outcome(opened: ic.Table, rng: np.random.Generator) -> Any:
        tally = opened.engine.count_kept(opened.schema, 2, rng).tally
        try:
            sample = draw_sample(tally, Fraction(1, 2), rng).tally
            recoding = method.search(sample, opened.schema, method.guarantees, rng=rng, progress=silent)
        except Unsatisfiable:
            return ()
        shown = recoding.published
        return tuple(zip(sample.column("sex")[recoding.tuples[shown]].tolist(), recoding.counts[shown], strict=True))

    alone, others = [1, 1], [0, 0, 2, 2, 2]
    assert not tried(pair(ReadOnce, alone, others), outcome, runs=250, delta=delta).contradicts(2)
    assert tried(pair(Untruncated, alone, others), outcome, runs=250, delta=delta).contradicts(2)


def test_a_refusal_names_no_number_of_the_table() -> None:
    with pytest.raises(SchemaError) as error:
        refuse_unbounded("diffgen", table().schema, None, nobody_refused=False)
    assert "60" not in str(error.value)
    assert "180" not in str(error.value)
