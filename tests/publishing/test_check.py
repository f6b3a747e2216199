"""What a table achieves, read off its rows; compared with counting them one by one."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import EmptyTable, RecipeError, SchemaError
from tests.cli.command import incrowd

rows = st.lists(
    st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "a", "b"]), st.sampled_from([None, "x", "y", "z"])),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, derandomize=True, database=None)
@given(rows)
def test_every_number_equals_the_naive_one(found: list[tuple]) -> None:
    table = pl.DataFrame(found, schema={"age": pl.Int64, "sex": pl.String, "flu": pl.String}, orient="row")
    checked = ic.check(table, quasi=["age", "sex"], sensitive=["flu"])
    groups: dict[tuple, Counter] = defaultdict(Counter)
    for age, sex, flu in found:
        groups[age, sex][flu] += 1
    sizes = [group.total() for group in groups.values()]
    assert (checked.rows, checked.groups, checked.k) == (len(found), len(groups), min(sizes))
    assert checked.unique_rows == sizes.count(1)
    assert sum(checked.by_size.values()) == len(groups)
    flu = checked.sensitive["flu"]
    for group in groups.values():  # a missing value protects nobody
        if len(group) > 1:
            group.pop(None, None)
    assert flu.distinct_l == min(len(group) for group in groups.values())
    assert flu.probabilistic_l == min(group.total() / max(group.values()) for group in groups.values())
    assert flu.entropy_l == pytest.approx(min(exponential_entropy(group) for group in groups.values()))
    worst = max(recursive_c(group) for group in groups.values())
    assert flu.recursive_c == (None if math.isinf(worst) else worst)


def exponential_entropy(group: Counter) -> float:
    shares = [count / group.total() for count in group.values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def recursive_c(group: Counter) -> float:
    first, *others = sorted(group.values(), reverse=True)
    return first / sum(others) if others else math.inf


def test_the_slicing_paper_s_patients() -> None:
    patients = ic.datasets.slicing_patients()
    assert ic.check(patients, quasi=["sex"], sensitive=["disease"]).k == 4
    assert ic.check(patients, quasi=["age", "sex", "zip"]).unique_rows == 8


def test_two_spellings_of_a_number_are_not_two_values() -> None:
    table = pl.DataFrame({"age": ["1", "1"], "dose": ["5", "5.0"]})
    assert ic.check(table, quasi=["age"], sensitive=["dose"]).sensitive["dose"].distinct_l == 1


def test_missing_is_a_value_like_any_other_whatever_its_spelling(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age;flu\n1;yes\n;yes\n?;no\n", encoding="utf-8")
    checked = ic.check(tmp_path / "t.csv", quasi=["age"], sensitive=["flu"], missing=["?"])
    assert (checked.groups, checked.k, checked.sensitive["flu"].distinct_l) == (2, 1, 1)


def test_the_result_is_json() -> None:
    checked = ic.check(pl.DataFrame({"age": [1, 1], "flu": ["a", "a"]}), quasi=["age"], sensitive=["flu"])
    assert json.loads(json.dumps(checked.to_dict(), allow_nan=False))["sensitive"]["flu"]["recursive_c"] is None


def test_a_release_achieves_what_it_promises(tmp_path: Path) -> None:
    people = ic.datasets.census(3000)
    quasi, sensitive = ["age", "sex", "education"], ["occupation"]
    release = ic.publish(
        ic.read(people, quasi=quasi, sensitive=sensitive, others="drop"), [ic.KAnonymity(7), ic.LDiversity(3)]
    )
    for format in ("csv", "parquet", "arrow"):
        checked = ic.check(release.save(tmp_path / format, format=format), quasi=quasi, sensitive=sensitive)
        assert checked.rows == 3000
        assert checked.k == release.guarantees[0].achieved >= 7
        assert checked.sensitive["occupation"].distinct_l == release.guarantees[1].achieved >= 3


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"quasi": []}, SchemaError, "no column is a quasi-identifier"),
        ({"quasi": ["agee"]}, SchemaError, "did you mean 'age'"),
        ({"quasi": ["age"], "sensitive": ["age"]}, SchemaError, "named twice"),
        ({"quasi": ["age"], "sensitive": "flu"}, SchemaError, "is a list of column names"),
    ],
)
def test_mistakes(roles: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ic.check(pl.DataFrame({"age": [1], "flu": ["a"]}), **roles)


def test_a_table_without_rows_achieves_nothing() -> None:
    with pytest.raises(EmptyTable, match="columns but no rows"):
        ic.check(pl.DataFrame({"age": []}, schema={"age": pl.Int64}), quasi=["age"])


CENSUS = ic.datasets.census(2500, seed=21).select("age", "sex", "education", "occupation")
TREES: dict[str, ic.Hierarchy] = {
    "age": ic.Intervals(widths=(5, 10, 20, 40)),
    "education": ic.Categories.from_tree(ic.datasets.CENSUS_TREES["education"]),
}


def original(**options: Any) -> ic.Table:
    return ic.read(CENSUS, quasi=["age", "sex", "education"], sensitive=["occupation"], hierarchies=TREES, **options)


@pytest.mark.parametrize(
    ("method", "dependence"),
    [
        (ic.LocalRecoding(max_distortion=1), "fitted"),
        (ic.Mondrian(), "independent"),
        (ic.Mondrian(), "fitted"),
        (ic.Mondrian(labels="tight"), "fitted"),
        (ic.Mondrian(labels="hierarchy"), "independent"),
    ],
)
def test_a_release_is_judged_by_its_labels_alone_as_when_it_was_made(method: ic.Method, dependence: Any) -> None:
    model = ic.ExpectedConfidence(dependence=dependence)
    release = ic.publish(original(), model, method=method)
    found = ic.check(release.to_polars(), require=[model, ic.KAnonymity(1)], original=original())
    assert found.models[0].satisfied
    assert found.models[0].failing_rows == 0
    assert found.models[0].achieved == pytest.approx(release.guarantees[0].achieved, abs=1e-12)


def test_a_table_made_elsewhere_is_judged_by_the_same_criterion() -> None:
    elsewhere = CENSUS.with_columns(
        age=pl.format("{}-{}", pl.col("age") // 10 * 10, pl.col("age") // 10 * 10 + 9), education=pl.lit("*")
    )
    model = ic.ExpectedConfidence()
    found = ic.check(elsewhere, require=[model], original=original()).models[0]
    shares = {name: CENSUS[name].value_counts() for name in ("sex", "occupation")}
    failing = 0
    for (age, sex), group in elsewhere.group_by("age", "sex"):
        low = int(str(age).split("-")[0])
        p_age = CENSUS.filter(pl.col("age").is_between(low, low + 9)).height / 2500
        p_sex = shares["sex"].filter(pl.col("sex") == sex)["count"].item() / 2500
        for (job,), members in group.group_by("occupation"):
            p_job = shares["occupation"].filter(pl.col("occupation") == job)["count"].item() / 2500
            if members.height / group.height > 1 - (1 - p_age * p_sex * p_job) ** 2500:
                failing += members.height
    assert found.failing_rows == failing
    assert found.satisfied == (failing == 0)


def test_labels_of_another_hierarchy_are_refused_without_a_word_of_rows() -> None:
    wrong = CENSUS.with_columns(education=pl.lit("somewhere in school"))
    with pytest.raises(ic.errors.HierarchyError, match="1 label stands for no value of the original table"):
        ic.check(wrong, require=[ic.ExpectedConfidence()], original=original())
    with pytest.raises(SchemaError, match="'occupation' has values that the original table does not have"):
        ic.check(CENSUS.with_columns(occupation=pl.lit("astronaut")), require=[ic.KAnonymity(2)], original=original())


def test_without_the_original_only_models_of_groups_can_be_asked() -> None:
    found = ic.check(CENSUS, quasi=["sex"], sensitive=["occupation"], require=[ic.KAnonymity(5), ic.KAnonymity(10**6)])
    assert [model.satisfied for model in found.models] == [True, False]
    assert found.models[1].failing_rows == 2500
    with pytest.raises(SchemaError, match="needs the table that they were made from"):
        ic.check(CENSUS, quasi=["sex"], sensitive=["occupation"], require=[ic.ExpectedConfidence()])


@pytest.mark.parametrize("name", ["*", "{a, b}"])
@pytest.mark.parametrize("model", [ic.KMap(2), ic.JournalistRisk(0.5), ic.PopulationUniqueness(0)], ids=str)
def test_a_value_that_looks_like_a_label_hides_nobody(name: str, model: ic.Model) -> None:
    raw = pl.DataFrame({"code": [name, "a", "a", "b", "b", "b"], "ill": ["x", "y", "x", "y", "x", "y"]})
    table = ic.read(raw, quasi=["code"], sensitive=["ill"], population=raw.select("code"))
    (found,) = ic.check(raw, require=[model], original=table).models
    assert not found.satisfied  # one person is published as they are


def test_a_model_that_does_not_inherit_is_refused() -> None:
    class Structural:
        name = "structural"

    with pytest.raises(RecipeError, match="Structural is no model"):
        ic.check(pl.DataFrame({"age": [1, 1]}), quasi=["age"], require=[Structural()])  # type: ignore[list-item]


def saved(directory: Path, require: list[Any], **how: Any) -> ic.Table:
    CENSUS.head(300).write_csv(directory / "people.csv")
    table = ic.read(directory / "people.csv", quasi=["age", "sex", "education"], sensitive=["occupation"])
    ic.publish(table, require, **how).save(directory / "out")
    return table


def test_a_release_is_judged_by_its_files(tmp_path: Path) -> None:
    saved(tmp_path, [ic.BucketSize(20), ic.LDiversity(3)], form=ic.ShowBuckets())
    found = ic.check(tmp_path / "out")
    assert (found.rows, found.k, found.smallest_bucket) == (300, 1, found.models[0].achieved)
    assert [(one.statement, one.satisfied, one.note) for one in found.models] == [
        ("buckets of at least 20 rows", True, "in each bucket"),
        ("distinct 3-diversity", True, "in each bucket"),
    ]
    assert incrowd("check", str(tmp_path / "out")).code == 0


def test_a_claim_that_the_files_do_not_bear_out_fails(tmp_path: Path) -> None:
    saved(tmp_path, [ic.BucketSize(20)], form=ic.ShowBuckets())
    recipe = tmp_path / "out" / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("bucket-size", "k-anonymity").replace("rows = 20", "k = 20"))
    (claim,) = ic.check(tmp_path / "out").models
    assert (claim.statement, claim.satisfied) == ("20-anonymity", False)
    done = incrowd("check", str(tmp_path / "out"))
    assert (done.code, "does not hold" in done.out) == (1, True)


def test_what_compares_with_the_whole_table_is_not_judged_by_a_part_of_it(tmp_path: Path) -> None:
    table = saved(tmp_path, [ic.TCloseness(0.6)], sample=0.5)
    assert [one.satisfied for one in ic.check(tmp_path / "out").models] == [None]
    assert [one.satisfied for one in ic.check(tmp_path / "out", original=table).models] == [True]
    assert "cannot be judged" in incrowd("check", str(tmp_path / "out")).out


def test_sensitive_numbers_of_a_csv_file_are_those_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay\n1,25.0\n1,30.25\n2,25.0\n2,30.25\n", encoding="utf-8")
    known = {"pay": ic.Intervals(widths=(10,))}
    table = ic.read(tmp_path / "people.csv", quasi=["age"], sensitive=["pay"], hierarchies=known)
    ic.publish(table, ic.LDiversity(2)).save(tmp_path / "out")
    checked = ic.check(tmp_path / "out" / "data.csv", require=[ic.LDiversity(2)], original=table)
    assert checked.models[0].satisfied


def test_columns_that_no_guarantee_speaks_of_are_told_from_the_files(tmp_path: Path) -> None:
    CENSUS.head(300).write_csv(tmp_path / "people.csv")
    roles = {"quasi": ["age", "sex"], "keep": ["education"], "pseudonyms": ["occupation"], "each_row_a_person": True}
    table = ic.read(tmp_path / "people.csv", **roles)  # type: ignore[arg-type]
    data = ic.publish(table, ic.KAnonymity(5)).save(tmp_path / "out")
    assert ic.check(tmp_path / "out").outside == ("occupation", "education")
    said = ic.open_release(data.parent).warnings
    assert any(text.startswith("Columns published as they are") and "education" in text for text in said)
    assert any(text.startswith("Pseudonyms") and "occupation" in text for text in said)
    pl.read_csv(data, infer_schema=False).with_columns(row=pl.int_range(pl.len())).write_csv(data)
    assert ic.check(tmp_path / "out").outside == ("occupation", "education", "row")
    assert "row" in incrowd("check", str(tmp_path / "out")).out.split("speaks of")[1].splitlines()[0]


def test_a_release_is_not_told_what_its_columns_are(tmp_path: Path) -> None:
    saved(tmp_path, [ic.KAnonymity(5)])
    with pytest.raises(SchemaError, match="which tells itself what its columns are"):
        ic.check(tmp_path / "out", quasi=["age"])


def test_a_model_that_is_asked_of_a_release_compares_with_no_part_of_the_table(tmp_path: Path) -> None:
    saved(tmp_path, [ic.KAnonymity(5)], sample=0.5)
    assert [one.satisfied for one in ic.check(tmp_path / "out", require=[ic.TCloseness(0.9)]).models] == [True, None]
