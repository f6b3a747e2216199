from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import QueryError, RecipeError, SchemaError, Unsatisfiable
from incrowd.publishing.recipe import Recipe
from tests.forms.naive_slices import by_bucket, estimate, worst_guess

PATIENTS = ic.datasets.slicing_patients()
QUASI, DISEASE = ["age", "sex", "zip"], "disease"
FIRST = {"age": [22, 22, 33, 52], "sex": ["F", "F", "F", "M"], "zip": [47905, 47905, 47906, 47906]}
SECOND = {"age": [54, 60, 60, 64], "sex": ["F", "M", "M", "M"], "zip": [47302, 47302, 47304, 47304]}


def patients() -> ic.Table:
    return ic.read(PATIENTS, quasi=QUASI, sensitive=[DISEASE])


def shown(form: Any, **options: Any) -> pl.DataFrame:
    return ic.publish(patients(), ic.BucketSize(4), form=form, **options).to_polars()


def halves(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the bucket of the young and that of the old."""
    assert frame["bucket"].to_list() == [0] * 4 + [1] * 4
    young = frame.filter(pl.col("disease").is_in(["bronchitis"]))["bucket"].item()
    return frame.filter(bucket=young), frame.filter(bucket=1 - young)


def test_figure_2_generalized() -> None:
    found = shown(None)
    groups = {key: sorted(group["disease"]) for key, group in found.group_by("age", "sex", "zip")}
    assert groups == {
        ("<54", "*", "*"): ["bronchitis", "dyspepsia", "flu", "flu"],
        (">=54", "*", "*"): ["dyspepsia", "dyspepsia", "flu", "gastritis"],
    }


def test_figure_3_bucketized() -> None:
    for bucket, ages in zip(halves(shown(ic.ShowBuckets("one"))), ([22, 22, 33, 52], [54, 60, 60, 64]), strict=True):
        whole = PATIENTS.with_columns(pl.col("zip").cast(pl.Int64)).filter(pl.col("age").is_in(ages)).select(QUASI)
        assert sorted(bucket.select(QUASI).rows()) == sorted(whole.rows()), "quasi-identifiers stay together"
        assert sorted(bucket["disease"]) == sorted(PATIENTS.filter(pl.col("age").is_in(ages))["disease"])


def test_figure_3_in_two_tables() -> None:
    release = ic.publish(patients(), ic.BucketSize(4), form=ic.ShowBuckets())
    assert release.to_polars().columns == ["bucket", *QUASI]
    sensitive = release.tables["sensitive"]
    assert sensitive["count"].sum() == 8
    counts = sorted(tuple(sorted(group.select("disease", "count").rows())) for _, group in sensitive.group_by("bucket"))
    assert counts == [
        (("bronchitis", 1), ("dyspepsia", 1), ("flu", 2)),
        (("dyspepsia", 2), ("flu", 1), ("gastritis", 1)),
    ]


def test_figure_4_multisets() -> None:
    young, old = halves(shown(ic.ShowMultisets()))
    assert set(young.select(QUASI).rows()) == {("22:2, 33:1, 52:1", "F:3, M:1", "47905:2, 47906:2")}
    assert set(old.select(QUASI).rows()) == {("54:1, 60:2, 64:1", "F:1, M:3", "47302:2, 47304:2")}


def test_figure_5_one_attribute_per_column() -> None:
    for bucket, values in zip(halves(shown(ic.ShowSlices())), (FIRST, SECOND), strict=True):
        assert {name: sorted(bucket[name]) for name in QUASI} == values


def test_figure_6_sliced() -> None:
    columns = (("age", "sex"), ("zip", "disease"))
    for bucket, ages in zip(halves(shown(ic.ShowSlices(columns))), ([22, 22, 33, 52], [54, 60, 60, 64]), strict=True):
        whole = PATIENTS.with_columns(pl.col("zip").cast(pl.Int64)).filter(pl.col("age").is_in(ages))
        for column in columns:
            assert sorted(bucket.select(column).rows()) == sorted(whole.select(column).rows())


def test_a_bucket_of_four_with_two_columns_matches_sixteen_tuples() -> None:
    columns = (("age", "sex"), ("zip", "disease"))
    release = ic.publish(patients(), ic.BucketSize(4), form=ic.ShowSlices(columns))
    fakes = release.form.fakes  # type: ignore[attr-defined]
    # In the bucket of the young all parts differ: 4 × 4 tuples match, 12 of them fake. Of the old, two are 60 and male.
    assert sorted(fakes.matching.tolist()) == [12, 16]
    assert sorted(fakes.ratio_by_bucket.tolist()) == [2, 3]
    assert release.summary["loss"]["fake-original ratio"] == 2.5


def test_chance_differs_from_run_to_run_unless_there_is_a_seed() -> None:
    orders = {tuple(shown(ic.ShowSlices())["age"].to_list()) for _ in range(9)}
    assert len(orders) > 5
    assert shown(ic.ShowSlices(), seed=3).equals(shown(ic.ShowSlices(), seed=3))


def test_reading_twice_gives_the_same_rows() -> None:
    release = ic.publish(patients(), ic.BucketSize(4), form=ic.ShowSlices())
    assert release.to_polars().equals(release.to_polars())


def test_bucket_numbers_tell_nothing() -> None:
    # Of 24 fair coins, fewer than two fall on one side once in 300,000 times.
    first = Counter(halves(shown(ic.ShowSlices()))[0]["bucket"][0] for _ in range(24))
    assert min(first[0], first[1]) > 1


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(4, 24))
    dice = np.random.default_rng(draw(st.integers(0, 2**16)))
    return pl.DataFrame(
        {
            "a": dice.integers(0, 4, rows),
            "b": dice.choice(["x", "y", "z"], rows),
            "c": dice.choice(["p", "q"], rows),
            "s": dice.choice(["flu", "cold", "hiv", "none", "gout"], rows),
        }
    )


COLUMNS = [
    (("a", "b", "c"), ("s",)),
    (("a", "b"), ("c", "s")),
    (("a",), ("b",), ("c",), ("s",)),
    (("a", "c"), ("b",), ("s",)),
]


@settings(max_examples=10, deadline=None)
@given(frame=tables(), columns=st.sampled_from(COLUMNS), l=st.sampled_from([1, 2, 2.5, 3]))
def test_a_sliced_table_is_as_diverse_as_it_says(frame: pl.DataFrame, columns: Any, l: float) -> None:
    table = ic.read(frame, quasi=["a", "b", "c"], sensitive=["s"])
    try:
        release = ic.publish(table, ic.SlicedDiversity(l), method=ic.Slicing(columns=columns), seed=1)
    except Unsatisfiable:
        return
    published = release.to_polars()
    worst = worst_guess(published.to_dicts(), frame.to_dicts(), columns, "s")
    assert worst <= 1 / Fraction(str(l))
    assert release.guarantees[0].achieved == pytest.approx(float(1 / worst))
    for column in columns:
        assert sorted(published.select(column).rows()) == sorted(frame.select(column).rows())


@settings(max_examples=10, deadline=None)
@given(frame=tables(), columns=st.sampled_from(COLUMNS), seed=st.integers(0, 9))
def test_questions_are_answered_bucket_by_bucket(frame: pl.DataFrame, columns: Any, seed: int) -> None:
    table = ic.read(frame, quasi=["a", "b", "c"], sensitive=["s"])
    release = ic.publish(table, ic.BucketSize(2), form=ic.ShowSlices(columns), seed=seed)
    rows = release.to_polars().to_dicts()
    secret, some, one = frame["s"][0], [frame["b"][0], frame["b"][-1]], frame["c"][0]
    for query, wanted in [
        ({"a": (1, 2), "s": secret}, {"a": {1, 2}, "s": {secret}}),
        ({"b": some, "c": one}, {"b": set(some), "c": {one}}),
        ({}, {}),
    ]:
        assert release.count(query) == pytest.approx(estimate(rows, columns, wanted))


@settings(max_examples=10, deadline=None)
@given(frame=tables(), l=st.integers(1, 3))
def test_anatomy_deals_every_value_to_a_group_at_most_once(frame: pl.DataFrame, l: int) -> None:
    table = ic.read(frame, quasi=["a", "b", "c"], sensitive=["s"])
    most = frame["s"].value_counts()["count"].max()
    assert isinstance(most, int)
    if l * most > frame.height:
        with pytest.raises(Unsatisfiable, match=f"the largest l that is possible is {frame.height // most}"):
            ic.publish(table, ic.ProbabilisticLDiversity(l), method=ic.Anatomy())
        return
    release = ic.publish(table, ic.ProbabilisticLDiversity(l), method=ic.Anatomy("one"), seed=2)
    for bucket in by_bucket(release.to_polars().to_dicts()):
        values = [row["s"] for row in bucket]
        assert l <= len(values) < 2 * l + 1
        assert len(set(values)) == len(values) or l == 1
    assert sorted(release.to_polars().select("a", "b", "c").rows()) == sorted(frame.select("a", "b", "c").rows())


def test_models_of_groups_hold_for_buckets_where_secrets_are_alone() -> None:
    table = ic.read(ic.datasets.census(2000, seed=4), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    require = [ic.BucketSize(6), ic.LDiversity(4), ic.EntropyLDiversity(3), ic.ProbabilisticLDiversity(3)]
    release = ic.publish(table, require, method=ic.Anatomy("one"))
    found = ic.check(release.to_polars(), quasi=["bucket"], sensitive=["occupation"])
    assert found.k >= 6
    assert found.sensitive["occupation"].distinct_l >= 4


def test_models_that_a_sliced_table_cannot_answer_for_are_refused() -> None:
    mixed = ic.ShowSlices((("age", "sex"), ("zip", "disease")))
    with pytest.raises(SchemaError, match="ask for SlicedDiversity"):
        ic.publish(patients(), [ic.BucketSize(4), ic.LDiversity(2)], form=mixed)
    with pytest.raises(SchemaError, match="a sliced table has neither"):
        ic.publish(patients(), [ic.ExpectedConfidence()], form=ic.ShowBuckets())


def test_kept_columns_would_link_what_slicing_takes_apart() -> None:
    table = ic.read(PATIENTS, quasi=["age", "sex"], sensitive=[DISEASE], keep=["zip"])
    with pytest.raises(SchemaError, match="'zip' is kept as it is and would link"):
        ic.publish(table, ic.BucketSize(4), form=ic.ShowBuckets())


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        (lambda: ic.ShowSlices((("age", "height"),)), "'height' is no attribute"),
        (lambda: ic.ShowSlices((("age",), ("age", "sex"))), "'age' is in two columns"),
        (lambda: ic.ShowSlices(("age",)), "a list of lists"),  # type: ignore[arg-type]
        (lambda: ic.ShowBuckets("three"), "tables is"),  # type: ignore[arg-type]
        (lambda: ic.ShowSlices(levels={"age": 9}), "levels go from 0 to"),
    ],
)
def test_senseless_forms_are_refused(form: Any, complaint: str) -> None:
    with pytest.raises((SchemaError, RecipeError), match=complaint):
        ic.publish(patients(), ic.BucketSize(4), form=form())


def test_a_question_about_another_column_is_refused() -> None:
    release = ic.publish(patients(), ic.BucketSize(4), form=ic.ShowSlices())
    with pytest.raises(QueryError, match="'ages' is not a column of the release"):
        release.count({"ages": 22})


def test_columns_may_be_generalized_too() -> None:
    hierarchies = {"age": ic.Intervals(widths=(20, 40))}
    table = ic.read(PATIENTS, quasi=QUASI, sensitive=[DISEASE], hierarchies=hierarchies)
    release = ic.publish(
        table,
        ic.SlicedDiversity(2),
        method=ic.Slicing(columns=(("age", "sex"), ("zip",), ("disease",)), levels={"age": 1}),
    )
    assert set(release.to_polars()["age"]) <= {"[20, 40)", "[40, 60)", "[60, 80)"}
    assert release.count({"age": (20, 39)}) == 3


def test_several_sensitive_attributes_are_each_diverse() -> None:
    frame = ic.datasets.census(1200, seed=6).select("age", "sex", "occupation", "education")
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["occupation", "education"])
    columns = (("age", "sex"), ("occupation",), ("education",))
    release = ic.publish(table, ic.SlicedDiversity(2), method=ic.Slicing(columns=columns), seed=1)
    sample = frame.sample(150, seed=1).to_dicts()
    for secret, other in (("occupation", "education"), ("education", "occupation")):
        known = [{name: value for name, value in row.items() if name != other} for row in sample]
        own = [column for column in columns if column != (other,)]
        assert worst_guess(release.to_polars().to_dicts(), known, own, secret) <= Fraction(1, 2)


def test_without_sensitive_columns_only_membership_is_hidden() -> None:
    table = ic.read(ic.datasets.census(500, seed=7).select("age", "sex", "race"), quasi=["age", "sex", "race"])
    release = ic.publish(table, ic.BucketSize(5), method=ic.Slicing(column_count=2))
    assert release.rows == 500
    # Buckets were cut by sex, which is a column of its own: it varies in none of them.
    assert release.summary["loss"]["fake-original ratio"] == 0
    assert "500 rows are in buckets that match nobody but the people in them" in release.warnings[0]


def test_a_sampled_table_is_sliced_as_a_sample() -> None:
    table = ic.read(ic.datasets.census(1000, seed=8), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    release = ic.publish(table, ic.ProbabilisticLDiversity(3), method=ic.Anatomy("one"), sample=0.5, seed=1)
    assert release.rows + release.left_out + release.withheld == 1000
    assert release.to_polars().height == release.rows
    assert abs(release.count({}) - 1000) < 120


def test_a_release_of_two_tables_is_saved_and_made_again(tmp_path: Path) -> None:
    PATIENTS.write_csv(tmp_path / "patients.csv")
    table = ic.read(tmp_path / "patients.csv", quasi=QUASI, sensitive=[DISEASE])
    release = ic.publish(table, ic.BucketSize(4), form=ic.ShowBuckets(), seed=5)
    release.save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "data.csv",
        "recipe.toml",
        "sensitive.csv",
        "summary.json",
    ]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["form"] == "bucketized"
    again = Recipe.load(release.save_recipe(tmp_path / "own.toml")).run()
    assert again.to_polars().equals(release.to_polars())
    assert again.tables["sensitive"].equals(release.tables["sensitive"])
    release.save(tmp_path / "out", force=True)


def test_the_method_brings_its_own_form_in_a_recipe_too(tmp_path: Path) -> None:
    ic.datasets.census(400, seed=9).write_csv(tmp_path / "people.csv")
    table = ic.read(tmp_path / "people.csv", quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    release = ic.publish(
        table, ic.SlicedDiversity(3), method=ic.Slicing(columns=(("age", "sex"), ("occupation",))), seed=1
    )
    release.save(tmp_path / "out")
    recipe = Recipe.load(tmp_path / "out" / "recipe.toml")
    assert recipe.form is None
    assert recipe.method == release.method
    assert sorted(recipe.run().to_polars().columns) == sorted(release.to_polars().columns)


OVERLAPPING = (("a", "b"), ("b", "s"), ("c",))


@settings(max_examples=10, deadline=None)
@given(frame=tables(), l=st.sampled_from([1, 2]))
def test_columns_may_overlap(frame: pl.DataFrame, l: int) -> None:
    table = ic.read(frame, quasi=["a", "b", "c"], sensitive=["s"])
    try:
        release = ic.publish(
            table, ic.SlicedDiversity(l), method=ic.Slicing(columns=OVERLAPPING, overlapping=True), seed=1
        )
    except Unsatisfiable:
        return
    published = release.to_polars()
    assert published.columns == ["bucket", "a", "b", "c", "s", "b (column 2)"]
    for names, shown in ((("a", "b"), ("a", "b")), (("b", "s"), ("b (column 2)", "s")), (("c",), ("c",))):
        assert sorted(published.select(shown).rows()) == sorted(frame.select(names).rows())
    # As a reader sees it: each column by its own copy of b.
    rows = [{**row, "b2": row["b (column 2)"]} for row in published.to_dicts()]
    people = [{**row, "b2": row["b"]} for row in frame.to_dicts()]
    worst = worst_guess(rows, people, (("a", "b"), ("b2", "s"), ("c",)), "s")
    assert worst <= Fraction(1, l)
    known, secret = frame["b"][0], frame["s"][0]
    assert release.count({"b": known, "s": secret}) == pytest.approx(
        estimate(rows, (("b2", "s"),), {"b2": {known}, "s": {secret}})
    )


def _in_decades() -> ic.Release:
    """Forty people of twenty ages, shown by decade; all in one bucket."""
    people = pl.DataFrame({"age": [*range(20, 40)] * 2, "sex": ["F", "M"] * 20})
    table = ic.read(people, quasi=["age", "sex"], hierarchies={"age": ic.Intervals(widths=(10,))})
    return ic.publish(table, ic.BucketSize(40), form=ic.ShowSlices(columns=(("age",), ("sex",)), levels={"age": 1}))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"age": (20, 29)}, 20.0),
        ({"age": 25}, 2.0),  # a tenth of the twenty in the decade
        ({"age": (25, 31)}, 0.5 * 20 + 0.2 * 20),
        ({"age": (25, 31), "sex": "F"}, 7.0),
        ({"sex": "F"}, 20.0),
    ],
)
def test_a_node_counts_by_how_much_of_it_is_asked_for(query: dict[str, Any], expected: float) -> None:
    assert _in_decades().count(query) == pytest.approx(expected)


def test_values_are_drawn_from_the_nodes_that_are_shown() -> None:
    release = _in_decades()
    features, _, _ = release.training_set("sex", seed=1)
    ages = features["age"]
    assert ages.min() >= 20
    assert ages.max() <= 39
    assert ages.n_unique() > 10
    assert (ages < 30).sum() == 20


SIZE_MODELS = [ic.KAnonymity(4), ic.ProsecutorRisk(0.25), ic.MarketerRisk(0.25)]
EXACT_FORMS = [ic.ShowBuckets("one"), ic.ShowBuckets("two"), ic.ShowSlices(), ic.ShowSlices((("age", "sex", "zip"),))]


@pytest.mark.parametrize("model", SIZE_MODELS, ids=str)
@pytest.mark.parametrize("form", EXACT_FORMS, ids=str)
def test_buckets_do_not_pass_for_people_who_look_alike(form: Any, model: Any) -> None:
    with pytest.raises(Unsatisfiable, match=r"show a combination that no other row shows\.  Hint: ask for BucketSize"):
        ic.publish(patients(), model, form=form)
    alike = pl.DataFrame({"age": [20] * 4 + [30] * 4, "ill": ["flu", "cold"] * 4})
    release = ic.publish(ic.read(alike, quasi=["age"], sensitive=["ill"]), model, form=ic.ShowBuckets())
    assert release.guarantees[0].note == "of the rows as they are written"


@pytest.mark.parametrize(
    "model", [ic.AlphaKAnonymity(0.5, 2), ic.KMap(2), ic.JournalistRisk(0.5), ic.DeltaPresence(1.0)], ids=str
)
def test_models_of_labels_are_refused_where_values_are_shown_as_they_are(model: Any) -> None:
    table = ic.read(PATIENTS, quasi=QUASI, sensitive=[DISEASE], population=PATIENTS.select(QUASI))
    with pytest.raises(SchemaError, match=r"published as they are\.  Hint: ask for BucketSize"):
        ic.publish(table, [ic.BucketSize(4), model], method=ic.Mondrian(), form=ic.ShowBuckets())


def test_rows_of_a_multiset_look_alike() -> None:
    release = ic.publish(patients(), ic.KAnonymity(4), form=ic.ShowMultisets())
    assert release.guarantees[0].achieved == 4
    assert ic.check(release.to_polars(), quasi=QUASI).k == 4


def test_anatomy_makes_buckets_as_large_as_asked_for() -> None:
    table = ic.read(ic.datasets.census(500), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    release = ic.publish(table, [ic.ProbabilisticLDiversity(4), ic.BucketSize(30)], method=ic.Anatomy())
    assert 30 <= release.form.group_sizes.min() <= release.form.group_sizes.max() < 70
    assert release.guarantees[0].achieved >= 4
    assert release.guarantees[1].achieved >= 30
    with pytest.raises(Unsatisfiable, match="a bucket is to have at least 501"):
        ic.publish(table, ic.BucketSize(501), method=ic.Anatomy())


def test_an_audit_does_not_take_buckets_for_k() -> None:
    found = ic.publish(patients(), ic.BucketSize(4), form=ic.ShowBuckets()).audit(remedies=False, learn=False).achieved
    assert (found["k"], found["smallest bucket"]) == (1, 4)
