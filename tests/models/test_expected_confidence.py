from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.groups import Groups, Histogram, Regions
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.models.expected_confidence import ExpectedConfidence, expected_confidence
from incrowd.models.knowledge import Rule, fitted_shares, marginal_shares, read_marginals, record_probabilities
from incrowd.publishing.recipe import Recipe
from incrowd.testing.claims import is_a_value

PATIENTS = pl.DataFrame(
    {
        "age": [25] * 3 + [35] * 17,
        "sex": ["F", "F", "M"] + ["F"] * 8 + ["M"] * 9,
        "disease": ["diabetes"] + ["flu"] * 19,
    }
)
"""20 people, 3 of them 25 years old, 10 of them female, one with diabetes: as frequent as in the paper's example."""


def tally_of(frame: pl.DataFrame, sensitive: str = "disease", **options: Any) -> Tally:
    quasi = [name for name in frame.columns if name != sensitive]
    table = ic.read(frame, quasi=quasi, sensitive=[sensitive], **options)
    return table.engine.count(table.schema).tally


def one_group(tally: Tally, values: dict[str, tuple[int, int]], sick: dict[int, int], rate: str = "1") -> Groups:
    """Return a single group that shows the given runs of codes, and whose members have the given sensitive codes."""
    columns = tuple(values)
    lows, highs = (np.array([[values[name][end] for name in columns]], dtype=np.int32) for end in (0, 1))
    histogram = Histogram(
        np.array([0, len(sick)]), np.array(list(sick), dtype=np.int32), np.array(list(sick.values()), dtype=np.int64)
    )
    return Groups(
        sizes=np.array([sum(sick.values())]),
        sensitive={"disease": histogram},
        trees=tally.trees,
        table=replace(tally, rate=Fraction(rate)),
        regions=lambda: Regions(columns, lows, highs),
    )


def code(tally: Tally, column: str, value: object) -> int:
    return tally.trees[column].values.to_list().index(value)


def test_the_papers_record_probability_and_confidences() -> None:
    tally = tally_of(PATIENTS)
    young, female, diabetes = code(tally, "age", 25), code(tally, "sex", "F"), code(tally, "disease", "diabetes")
    groups = one_group(tally, {"age": (young, young + 1), "sex": (female, female + 1)}, {diabetes: 1})
    probability = record_probabilities(groups, "disease", groups.sensitive["disease"], marginals={})
    assert probability == pytest.approx([0.00375])
    assert round(float(expected_confidence(probability, 100)[0]), 3) == 0.313
    assert round(float(expected_confidence(probability, 1000)[0]), 3) == 0.977


def test_the_papers_group_confidences() -> None:
    tally = tally_of(pl.DataFrame({"age": [30] * 6, "disease": list("AAABBC")}))
    codes = {letter: code(tally, "disease", letter) for letter in "ABC"}
    groups = one_group(tally, {"age": (1, 2)}, {codes["A"]: 3, codes["B"]: 2, codes["C"]: 1})
    _, observed = ExpectedConfidence().confidences(groups, "disease", groups.sensitive["disease"])
    assert observed == pytest.approx([0.5, 1 / 3, 1 / 6])
    _, sampled = ExpectedConfidence(rate=0.9).confidences(groups, "disease", groups.sensitive["disease"])
    assert sampled == pytest.approx([0.45, 0.3, 0.15])
    groups = one_group(tally, {"age": (1, 2)}, {codes["A"]: 3, codes["B"]: 2, codes["C"]: 1}, rate="9/10")
    _, of_the_release = ExpectedConfidence().confidences(groups, "disease", groups.sensitive["disease"])
    assert of_the_release == pytest.approx(sampled)


def test_it_is_right_for_tiny_probabilities_and_huge_numbers() -> None:
    # 1 − (1 − p)^n ≈ n·p, which a naive power loses altogether.
    assert float(expected_confidence(1e-18, 10**6)) == pytest.approx(1e-12, rel=1e-9)
    assert float(expected_confidence(1e-300, 10**12)) == pytest.approx(1e-288, rel=1e-9)
    assert float(expected_confidence(1e-12, 10**12)) == pytest.approx(1 - math.exp(-1), rel=1e-9)
    assert float(expected_confidence(0.0, 10**12)) == 0.0
    assert float(expected_confidence(1.0, 1)) == 1.0
    assert float(expected_confidence(0.5, 1)) == 0.5


def test_a_rare_value_keeps_its_share_beside_frequent_ones() -> None:
    tally = tally_of(pl.DataFrame({"age": [30, 40], "disease": ["a", "b"]}))
    weights = np.array([0.0, 1.0 - 1e-13, 1e-13])
    regions = Regions(("age",), np.array([[2]], dtype=np.int32), np.array([[3]], dtype=np.int32))
    assert tally.trees["age"].size == 3
    assert regions.mass("age", weights, np.array([0]))[0] == pytest.approx(1e-13, rel=1e-4)


def test_given_marginals_replace_the_tables_own() -> None:
    tally = tally_of(PATIENTS)
    young, female, diabetes = code(tally, "age", 25), code(tally, "sex", "F"), code(tally, "disease", "diabetes")
    groups = one_group(tally, {"age": (young, young + 1), "sex": (female, female + 1)}, {diabetes: 1})
    given = {"age": {"25": 0.3, "80": 0.1}, "disease": {"diabetes": 0.2}}
    found = record_probabilities(groups, "disease", groups.sensitive["disease"], marginals=given)
    assert found == pytest.approx([0.3 * 0.5 * 0.2])


def test_a_node_of_the_hierarchy_shares_its_probability() -> None:
    tree = {"respiratory": ["flu", "cold"], "other": ["diabetes"]}
    frame = pl.DataFrame({"age": [30, 30, 30], "disease": ["flu", "cold", "diabetes"]})
    tally = tally_of(frame, hierarchies={"disease": ic.Categories.from_tree(tree)})
    shares = marginal_shares("disease", tally.trees["disease"], {"respiratory": 0.3, "flu": 0.5, "diabetes": 0.2})
    named = dict(zip(tally.trees["disease"].values.to_list(), shares.tolist(), strict=True))
    assert named == pytest.approx({None: 0.0, "flu": 0.5, "cold": 0.3, "diabetes": 0.2})


def test_a_rule_replaces_the_product_for_those_it_speaks_of() -> None:
    frame = pl.DataFrame(
        {"age": [30, 50, 50, 70], "sex": ["M", "M", "F", "M"], "disease": ["flu", "prostate", "flu", "flu"]}
    )
    tally = tally_of(frame)
    rule = Rule(when={"age": (40, 60), "sex": "M"}, then="prostate", confidence=0.02)
    sick, flu = code(tally, "disease", "prostate"), code(tally, "disease", "flu")
    everybody = {"age": (1, 4), "sex": (1, 3)}
    groups = one_group(tally, everybody, {sick: 1, flu: 1})
    found = record_probabilities(groups, "disease", groups.sensitive["disease"], marginals={}, rules=[rule])
    concerned = 0.5 * 0.75
    assert found == pytest.approx([concerned * 0.02 + (1 - concerned) * 0.25, 0.75])
    men = code(tally, "sex", "M")
    inside = {"age": (code(tally, "age", 50), code(tally, "age", 50) + 1), "sex": (men, men + 1)}
    groups = one_group(tally, inside, {sick: 1})
    found = record_probabilities(groups, "disease", groups.sensitive["disease"], marginals={}, rules=[rule])
    assert found == pytest.approx([concerned * 0.02])


def test_rules_that_speak_of_the_same_people_are_refused() -> None:
    tally = tally_of(PATIENTS)
    rules = [Rule({"age": (20, 30)}, "flu", 0.1), Rule({"sex": "F"}, "flu", 0.2)]
    groups = one_group(tally, {"age": (1, 3), "sex": (1, 3)}, {1: 1})
    with pytest.raises(SchemaError, match="two rules are about the same people"):
        ExpectedConfidence(rules=rules).satisfied(groups)  # type: ignore[arg-type]


def test_a_fitted_dependence_knows_what_goes_with_what() -> None:
    frame = pl.DataFrame({"age": [30] * 50 + [70] * 50, "disease": ["flu"] * 50 + ["stroke"] * 50})
    tally = tally_of(frame)
    young, stroke, flu = code(tally, "age", 30), code(tally, "disease", "stroke"), code(tally, "disease", "flu")
    groups = one_group(tally, {"age": (young, young + 1)}, {flu: 1, stroke: 1})
    histogram = groups.sensitive["disease"]
    plain = record_probabilities(groups, "disease", histogram, marginals={})
    fitted = record_probabilities(groups, "disease", histogram, marginals={}, dependence="fitted")
    assert plain == pytest.approx([0.25, 0.25])
    assert fitted == pytest.approx([0.5 * 50.5 / 51, 0.5 * 0.5 / 51])


def test_a_fitted_dependence_sums_to_one() -> None:
    tally = tally_of(ic.datasets.census(500, seed=2).select("age", "sex", disease="occupation"))
    for column in ("age", "sex"):
        assert fitted_shares(tally, column, "disease").sum(axis=0) == pytest.approx(
            np.ones(tally.trees["disease"].size)
        )


def test_merging_groups_never_makes_them_less_safe() -> None:
    rng = np.random.default_rng(4)
    tally = tally_of(ic.datasets.census(300, seed=3).select("age", "sex", disease="occupation"))
    model = ExpectedConfidence()
    sizes = [tally.trees[name].size for name in ("age", "sex")]
    joined = 0
    for _ in range(300):
        groups = []
        for _ in range(2):
            runs = {
                name: sorted(rng.choice(size + 1, 2, replace=False))
                for name, size in zip(("age", "sex"), sizes, strict=True)
            }
            values = rng.choice(tally.trees["disease"].size, 3, replace=False).tolist()
            groups.append(
                (
                    {name: (int(a), int(b)) for name, (a, b) in runs.items()},
                    {v: int(rng.integers(1, 4)) for v in values},
                )
            )
        if not all(model.satisfied(one_group(tally, *group))[0] for group in groups):
            continue
        (runs, sick), (other_runs, other_sick) = groups
        hull = {
            name: (min(runs[name][0], other_runs[name][0]), max(runs[name][1], other_runs[name][1])) for name in runs
        }
        both = {value: sick.get(value, 0) + other_sick.get(value, 0) for value in {*sick, *other_sick}}
        assert model.satisfied(one_group(tally, hull, both)).all()
        joined += 1
    assert joined > 10


@pytest.mark.parametrize("dependence", ["independent", "fitted"])
@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Mondrian(labels="hierarchy"), ic.Microaggregation()])
def test_any_method_can_be_required_to_satisfy_it(method: ic.Method, dependence: Any) -> None:
    table = ic.read(ic.datasets.census(1200, seed=5), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    release = ic.publish(
        table, [ic.KAnonymity(2), ExpectedConfidence(dependence=dependence)], method=method, sample=0.9, seed=1
    )
    assert release.guarantees[1].achieved <= 0
    alone = ic.publish(table, ic.KAnonymity(2), method=method, sample=0.9, seed=1)
    assert len(alone.form.shown) >= len(release.form.shown)


def test_a_value_that_nobody_expects_can_never_be_published() -> None:
    frame = pl.DataFrame({"age": [30, 40, 50, 60], "disease": ["flu", "flu", "flu", "ebola"]})
    table = ic.read(frame, quasi=["age"], sensitive=["disease"])
    knowledge = {"disease": {"flu": 1.0, "ebola": 0.0}}
    with pytest.raises(Unsatisfiable, match="all 4 rows together reach"):
        ic.publish(table, ExpectedConfidence(marginals=knowledge))
    release = ic.publish(table, ExpectedConfidence(marginals=knowledge), method=ic.LocalRecoding(max_distortion=1))
    assert "ebola" not in release.to_polars()["disease"].to_list()
    assert release.withheld == 1


def test_a_sensitive_column_of_one_value_is_no_secret() -> None:
    frame = pl.DataFrame({"age": [30, 40, 50, 60], "disease": ["flu"] * 4})
    release = ic.publish(ic.read(frame, quasi=["age"], sensitive=["disease"]), ExpectedConfidence())
    assert release.rows == 4


def test_at_a_rate_of_zero_nothing_is_learnt() -> None:
    tally = tally_of(PATIENTS)
    groups = one_group(tally, {"age": (1, 2), "sex": (1, 2)}, {1: 5})
    assert ExpectedConfidence(rate=0.0).satisfied(groups).tolist() == [True]
    assert ExpectedConfidence(rate=1.0, trials=1).satisfied(groups).tolist() == [False]


def test_it_needs_the_table_that_labels_were_made_from() -> None:
    with pytest.raises(SchemaError, match="needs the table that they were made from"):
        ExpectedConfidence().satisfied(
            Groups(np.array([1]), {"s": Histogram(np.array([0, 1]), np.array([1], dtype=np.int32), np.array([1]))})
        )


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"marginals": {"age": {"30": 1.5}}}, "add up to 1.5"),
        ({"marginals": {"age": {"30": -0.5}}}, "a probability of 'age'"),
        ({"marginals": [1]}, "marginals is a table"),
        ({"rate": 2}, "rate is a share"),
        ({"trials": 0}, "trials is a whole number"),
        ({"dependence": "strong"}, "dependence is"),
        ({"rules": [{"when": {"age": 3}}]}, "a rule has the parts"),
        ({"rules": [{"when": {}, "then": "flu", "confidence": 0.1}]}, "says when it applies"),
        ({"rules": [{"when": {"age": 3}, "then": "flu", "confidence": 3}]}, "confidence is a share"),
        ({"rules": [{"when": {"age": {"upto": 3}}, "then": "flu", "confidence": 0.3}]}, "range is written"),
    ],
)
def test_senseless_knowledge_is_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RecipeError, match=complaint):
        ExpectedConfidence(**parameters)


def test_none_of_the_given_values_is_the_columns() -> None:
    table = ic.read(PATIENTS, quasi=["age", "sex"], sensitive=["disease"])
    with pytest.raises(SchemaError, match="none of the given values is one of column 'sex'"):
        ic.publish(table, ExpectedConfidence(marginals={"sex": {"female": 0.5}}))


def test_it_is_a_value() -> None:
    is_a_value(ExpectedConfidence())
    is_a_value(ExpectedConfidence(marginals={"age": {"30": 0.5}}, rules=(Rule({"age": (1, None)}, "flu", 0.1),)))


def test_a_recipe_holds_all_it_knows(tmp_path: Path) -> None:
    PATIENTS.write_csv(tmp_path / "patients.csv")
    (tmp_path / "known.csv").write_text("column,value,probability\nage,25,0.15\nage,35,0.8\n", encoding="utf-8")
    (tmp_path / "r.toml").write_text(
        """
incrowd = 1
source = {path = "patients.csv"}
columns = {age = "quasi", sex = "quasi", disease = "sensitive"}

[[models]]
name = "expected-confidence"
marginals = "known.csv"
dependence = "fitted"
rules = [{when = {age = {from = 20, to = 30}, sex = "M"}, then = "diabetes", confidence = 0.02}]

[method]
name = "local-recoding"
max_distortion = 1.0
""",
        encoding="utf-8",
    )
    recipe = Recipe.load(tmp_path / "r.toml")
    (model,) = recipe.models
    assert isinstance(model, ExpectedConfidence)
    assert model.marginals == {"age": {"25": 0.15, "35": 0.8}}
    assert model.rules == (Rule({"age": (20, 30), "sex": "M"}, "diabetes", 0.02),)
    assert Recipe.from_dict(recipe.to_dict(), base=tmp_path).models == recipe.models
    release = recipe.run(seed=1)
    release.save(tmp_path / "out")
    assert Recipe.load(tmp_path / "out" / "recipe.toml").models == recipe.models


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("column,value\nage,25\n", "a file with the columns"),
        ("column,value,probability\nage,25,much\n", "which is a number"),
        ("column,value,probability\nage,25,0.1\nage,25,0.2\n", "two probabilities"),
        ("column,value,probability\nage,25,0.9\nage,26,0.2\n", "add up to 1.1"),
    ],
)
def test_a_file_of_probabilities_is_checked(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "known.csv").write_text(text, encoding="utf-8")
    with pytest.raises((SchemaError, RecipeError), match=complaint):
        read_marginals(tmp_path / "known.csv")


def test_nobody_is_expected_where_nobody_is_drawn() -> None:
    assert expected_confidence(np.array([0.0, 0.5, 1.0]), 0).tolist() == [0.0, 0.0, 0.0]
