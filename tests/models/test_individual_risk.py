"""Individual risk by survey weights, and other models whose population weights estimate."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, Regions
from incrowd.core.tally import Population, Tally
from incrowd.errors import NeedsTable, RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.flat import Flat
from incrowd.models.negative_binomial import mean_inverse
from incrowd.models.superpopulation import pitman_stays_alone
from incrowd.testing.claims import is_a_value
from tests.models.crowds import verdicts
from tests.models.test_negative_binomial import by_definition


def weighed(sizes: list[int], weights: list[float]) -> Groups:
    """Groups of one value each, whose people's weights add up to these."""
    tree, codes = Flat().build("x", pl.Series(range(len(sizes))))
    counts = np.array(sizes, dtype=np.int64)
    sums = np.array(weights, dtype=np.float64)
    population = Population(("x",), codes[:, None], np.floor(sums).astype(np.int64), (counts, sums))
    table = Tally(("x",), codes[:, None], counts, {"x": tree}, population=population)
    regions = Regions(("x",), codes[:, None], codes[:, None] + 1)
    return Groups(counts, table=table, regions=lambda: regions)


def test_the_risk_is_the_mean_of_one_over_the_people() -> None:
    groups = weighed([1, 2, 5], [50.0, 20.5, 1000.0])
    risks = [by_definition(f, people) for f, people in ((1, 50.0), (2, 20.5), (5, 1000.0))]
    assert ic.IndividualRisk(0.5).achieved(groups) == pytest.approx(max(risks))
    assert verdicts(ic.IndividualRisk(0.081), groups) == [risk <= 0.081 for risk in risks]
    mean = np.average(risks, weights=[1, 2, 5])
    assert ic.IndividualRisk(0.5, average=True).achieved(groups) == pytest.approx(mean)
    assert verdicts(ic.IndividualRisk(float(mean), average=True), groups) == [True] * 3
    assert verdicts(ic.IndividualRisk(float(mean) * 0.99, average=True), groups) == [False] * 3


def test_nobody() -> None:
    assert verdicts(ic.IndividualRisk(0.5), weighed([], [])) == []


numbers = st.tuples(st.integers(1, 30), st.floats(1, 200))


@settings(max_examples=60, deadline=None)
@given(numbers, numbers)
def test_a_union_is_no_riskier_than_its_riskiest_part(one: tuple[int, float], two: tuple[int, float]) -> None:
    """And no part less risky than the whole: that is what monotone and hereditary say."""
    (f, a), (g, b) = one, two
    drawn, people = np.array([f, g, f + g]), np.array([f * a, g * b, f * a + g * b])
    first, second, both = mean_inverse(drawn, people)
    assert both <= max(first, second) * (1 + 1e-9)
    for bound in (0.01, 0.05, 0.2, 0.5):
        if both > bound * (1 + 1e-9):
            assert first > bound
            assert second > bound


def survey(rows: int, seed: int = 0) -> pl.DataFrame:
    dice = random.Random(seed)
    return pl.DataFrame(
        {
            "town": [dice.choice("abcdefgh") for _ in range(rows)],
            "job": [dice.choice("stuvwxyz") for _ in range(rows)],
            "w": [round(dice.uniform(1, 60), 2) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("average", [False, True])
def test_a_naive_adversary_finds_no_more(average: bool, tmp_path: Path) -> None:
    frame = survey(150)
    table = ic.read(frame, quasi=["town", "job"], weight="w")
    release = ic.publish(table, ic.IndividualRisk(0.03, average=average), method=ic.FullDomain(max_withheld=0.1))
    release.save(tmp_path / "out")
    published = pl.read_csv(tmp_path / "out" / "data.csv")
    risks = []
    for town, job in published.select("town", "job").iter_rows():
        alike = [w for t, j, w in frame.iter_rows() if town in (t, "*") and job in (j, "*")]
        risks.append(by_definition(len(alike), max(sum(alike), len(alike))))
    found = sum(risks) / len(risks) if average else max(risks)
    assert found <= 0.03 * (1 + 1e-9)
    (guarantee,) = release.guarantees
    assert guarantee.achieved == pytest.approx(found, rel=1e-4)
    assert "estimated by survey weights" in guarantee.note
    assert "estimated by survey weights" in release.summary["guarantees"][0]["note"]
    # From the files and the table, the same verdict; from the files alone, none.
    (claim,) = ic.open_release(tmp_path / "out", original=table).claims
    assert claim.verdict == "holds"
    (claim,) = ic.open_release(tmp_path / "out").claims
    assert claim.verdict == "cannot be judged"


def test_k_map_takes_the_sum_of_weights() -> None:
    frame = survey(200, seed=1)
    release = ic.publish(ic.read(frame, quasi=["town", "job"], weight="w"), ic.KMap(40), method=ic.FullDomain())
    people = [
        sum(w for t, j, w in frame.iter_rows() if town in (t, "*") and job in (j, "*"))
        for town, job in release.to_polars().select("town", "job").unique().iter_rows()
    ]
    assert release.guarantees[0].achieved == int(min(people)) >= 40
    assert "estimated" in release.guarantees[0].note
    table = ic.read(frame, quasi=["town", "job"], weight="w")
    risk = ic.publish(table, ic.JournalistRisk(1 / 40), method=ic.FullDomain())
    assert risk.guarantees[0].achieved == 1 / int(min(people))


def test_a_population_that_is_given_is_counted() -> None:
    frame = survey(100)
    everybody = pl.concat([frame.drop("w")] * 30)
    table = ic.read(frame, quasi=["town", "job"], weight="w", population=everybody)
    release = ic.publish(table, [ic.KMap(30), ic.IndividualRisk(1 / 30)])
    assert not any(guarantee.note for guarantee in release.guarantees)
    assert release.guarantees[1].achieved == 1 / release.guarantees[0].achieved


def test_uniqueness_takes_the_sampling_fraction() -> None:
    frame = survey(60, seed=2)
    table = ic.read(frame, quasi=["town", "job"], weight="w")
    release = ic.publish(table, ic.PopulationUniqueness(0.9), method=ic.FullDomain())
    sizes = np.array(frame.group_by("town", "job").len()["len"].to_list())
    alone = int((sizes == 1).sum()) / 60
    expected = alone * pitman_stays_alone(sizes, 60 / float(frame["w"].sum()))
    assert release.guarantees[0].achieved == pytest.approx(expected)
    assert "estimated" in release.guarantees[0].note
    strict = ic.publish(table, ic.PopulationUniqueness(0), method=ic.Mondrian())
    assert strict.form.group_sizes.min() >= 2


@pytest.mark.usefixtures("few_queries")
def test_an_audit_tells_it(tmp_path: Path) -> None:
    frame = survey(200)
    table = ic.read(frame, quasi=["town", "job"], weight="w")
    release = ic.publish(table, [ic.KAnonymity(3), ic.IndividualRisk(0.05)], seed=1)
    release.save(tmp_path / "out")
    frame.write_csv(tmp_path / "survey.csv")
    here = release.audit(remedies=False, learn=False)
    there = ic.open_release(tmp_path / "out", original=tmp_path / "survey.csv").audit(remedies=False, learn=False)
    for audit in (here, there):
        told = audit.achieved["individual risk by weights"]
        assert told["largest"] == pytest.approx(release.guarantees[1].achieved)
        assert 0 < told["mean"] <= told["largest"]
        assert "individual risk by weights" in audit.to_html()
    plain = ic.publish(ic.read(frame, quasi=["town", "job"], others="drop"), ic.KAnonymity(3))
    assert "individual risk by weights" not in plain.audit(remedies=False, learn=False).achieved


def test_people_are_weighed_once() -> None:
    frame = survey(120, seed=3).with_columns(pid=pl.int_range(120))
    alone = ic.read(frame, quasi=["town", "job"], weight="w", drop=["pid"])
    several = ic.read(pl.concat([frame, frame[:60], frame[:30]]), person="pid", quasi=["town", "job"], weight="w")
    one, two = (ic.publish(table, ic.KMap(60), method=ic.FullDomain()) for table in (alone, several))
    assert one.guarantees[0].achieved == two.guarantees[0].achieved


def test_samples_know_the_whole_table() -> None:
    table = ic.read(survey(400), quasi=["town", "job"], weight="w")
    release = ic.publish(table, ic.IndividualRisk(0.02), sample=0.5, seed=1, method=ic.FullDomain(max_withheld=0.2))
    assert release.guarantees[0].achieved <= 0.02


def test_values_of_the_table_are_no_public_population() -> None:
    """Labels name no value of withheld people, though weights tell of a population."""
    frame = pl.concat([survey(200), pl.DataFrame({"town": ["only"], "job": ["s"], "w": [1.0]})])
    table = ic.read(frame, quasi=["town", "job"], weight="w")
    release = ic.publish(table, [ic.KAnonymity(3), ic.KMap(3)], method=ic.FullDomain(max_withheld=0.5), seed=1)
    assert release.withheld
    assert not any("only" in label for label in release.to_polars()["town"])


def test_what_is_refused() -> None:
    frame = survey(50)
    with pytest.raises(NeedsTable, match="no weights"):
        ic.publish(ic.read(frame, quasi=["town", "job"], others="drop"), ic.IndividualRisk(0.1))
    relative = frame.with_columns(w=pl.col("w") / 1000)
    with pytest.raises(SchemaError, match="add up to fewer people"):
        ic.publish(ic.read(relative, quasi=["town", "job"], weight="w"), ic.IndividualRisk(0.1))
    with pytest.raises(Unsatisfiable):
        ic.publish(ic.read(frame, quasi=["town", "job"], weight="w"), ic.IndividualRisk(1e-9))


@pytest.mark.parametrize("parameters", [{"risk": 0}, {"risk": 2}, {"risk": "x"}, {"risk": 0.1, "average": 1}])
def test_odd_parameters(parameters: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="individual-risk"):
        ic.IndividualRisk(**parameters)  # type: ignore[arg-type]


def test_a_risk_of_one_promises_nothing_and_says_so() -> None:
    assert ic.IndividualRisk(1.0).asks_nothing
    assert not ic.IndividualRisk(0.99).asks_nothing
    table = ic.read(pl.DataFrame({"age": [30, 31], "w": [5.0, 6.0]}), quasi=["age"], weight="w")
    release = ic.publish(table, ic.IndividualRisk(1.0), seed=1)
    assert "Nothing is guaranteed: every table satisfies individual risk of at most 1." in release.warnings


def test_it_is_a_value() -> None:
    is_a_value(ic.IndividualRisk(0.2))
    is_a_value(ic.IndividualRisk(0.2, average=True))
    assert str(ic.IndividualRisk(0.2)) == "individual risk of at most 0.2"
    assert str(ic.IndividualRisk(0.2, average=True)) == "average individual risk of at most 0.2"
