"""(k,e)-anonymity, minimum variance, and the distance of t-closeness: definitions, brute force, and saved files."""

from __future__ import annotations

import csv
import itertools
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, histogram
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.flat import Exact
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, crowd, drawn_crowd, drawn_groups, joined_pairs, verdicts

NUMBERS = (None, 1, 2, 4, 9, 10)


def test_five_salaries_within_a_thousandth_are_as_good_as_one() -> None:
    salaries = crowd([50000, 50010, 50020, 50030, 50040], [20000, 35000, 50000, 65000, 80000])
    assert verdicts(ic.DistinctLDiversity(5), salaries) == [True, True]
    assert verdicts(ic.KEAnonymity(5, 10000), salaries) == [False, True]
    assert verdicts(ic.MinimumVariance(variance=1e6), salaries) == [False, True]
    assert verdicts(ic.MinimumVariance(share=0.5), salaries) == [False, True]
    assert ic.KEAnonymity(5, 1).achieved(salaries) == pytest.approx(40)
    assert ic.KEAnonymity(6, 1).achieved(salaries) == -math.inf
    assert ic.MinimumVariance(variance=1).achieved(salaries) == pytest.approx(200)


@CHECKED
@given(groups=drawn_groups(NUMBERS), k=st.integers(1, 3), e=st.sampled_from([0, 1, 3, 8.5, 9]))
def test_ke_anonymity_agrees_with_its_definition(groups: list[list[Any]], k: int, e: float) -> None:
    model = ic.KEAnonymity(k, e)
    expected = []
    for members in groups:
        known = [value for value in members if value is not None]
        spread = max(known) - min(known) if known else 0
        expected.append(max(len(set(known)), 1) >= k and spread >= e)
    counted = crowd(*groups)
    assert verdicts(model, counted) == expected
    assert (model.achieved(counted) >= e) == all(expected)
    assert all(joined_pairs(model, groups, ()))
    assert all(len(members) >= model.min_group for members, fine in zip(groups, expected, strict=True) if fine)
    failing = model.least_failing(counted)
    assert [bool(share) for share in failing] == [not fine for fine in expected]  # hereditary, with one value each


@CHECKED
@given(groups=drawn_groups(NUMBERS), withheld=drawn_crowd(NUMBERS), share=st.sampled_from([0.1, 0.5, 1.2]))
def test_minimum_variance_agrees_with_its_definition(
    groups: list[list[Any]], withheld: list[Any], share: float
) -> None:
    def variance(members: list[Any]) -> float:
        known = [float(value) for value in members if value is not None]
        return statistics.pvariance(known) if known else 0.0

    table = variance([value for group in (*groups, withheld) for value in group])
    counted = crowd(*groups, withheld=withheld)
    found = [variance(members) for members in groups]
    model = ic.MinimumVariance(share=share)
    expected = [value >= share * table * (1 - 1e-9) for value in found]
    assert verdicts(model, counted) == expected
    if table:
        assert model.achieved(counted) == pytest.approx(min(found) / table)
    fixed = ic.MinimumVariance(variance=2.0)
    assert verdicts(fixed, counted) == [value >= 2 * (1 - 1e-9) for value in found]
    assert fixed.achieved(counted) == pytest.approx(min(found))
    for asked in (model, fixed):
        assert all(joined_pairs(asked, groups, withheld))


def test_equal_numbers_have_no_variance_whatever_rounding_says() -> None:
    assert ic.MinimumVariance(variance=1e-30).achieved(crowd(["0.1"] * 3)) == 0
    assert verdicts(ic.KEAnonymity(1, 1e-12), crowd([10**6, 10**6])) == [False]
    assert verdicts(ic.KEAnonymity(2, 0.2), crowd(["0.1", "0.3"])) == [True]  # in floats 0.3 - 0.1 is less than 0.2


people = st.lists(st.frozensets(st.sampled_from([1, 2, 4, 9, 10]), min_size=1, max_size=3), min_size=1, max_size=5)


@CHECKED
@given(people)
def test_people_with_several_values_are_judged_in_the_least_safe_way(members: list[frozenset[int]]) -> None:
    tree, codes = Exact().build("s", pl.Series([1, 2, 4, 9, 10]))
    code = dict(zip([1, 2, 4, 9, 10], codes.tolist(), strict=True))
    values = [code[value] for one in members for value in one]
    entries = histogram(
        np.zeros(len(values), dtype=np.int64), np.array(values, dtype=np.int32), np.ones(len(values), dtype=np.int64), 1
    )
    groups = Groups(np.array([len(members)]), {"s": entries}, {}, {"s": tree}, everybody=len(members))
    ways = list(itertools.product(*members))
    for model, true in (
        (ic.KEAnonymity(1, 1.0), min(max(way) - min(way) for way in ways)),
        (ic.MinimumVariance(variance=1.0), min(statistics.pvariance(way) for way in ways)),
    ):
        assert model.achieved(groups) <= true + 1e-9
        if all(len(one) == 1 for one in members):
            assert model.achieved(groups) == pytest.approx(true)
    together = sorted(value for one in members for value in one)
    n = len(members)
    windows = [together[first : first + n] for first in range(len(together) - n + 1)]
    assert ic.KEAnonymity(1, 1.0).achieved(groups) == pytest.approx(min(w[-1] - w[0] for w in windows))
    variance = ic.MinimumVariance(variance=1.0).achieved(groups)
    assert variance == pytest.approx(min(statistics.pvariance(w) for w in windows), abs=1e-12)


@pytest.mark.parametrize("model", [ic.KEAnonymity(2, 1), ic.MinimumVariance(share=0.2)], ids=str)
def test_names_are_refused(model: Any) -> None:
    with pytest.raises(SchemaError, match="is about numbers"):
        model.satisfied(crowd("ab", "cd"))
    assert verdicts(model, crowd()) == []
    is_a_value(model)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ic.KEAnonymity(0, 1),
        lambda: ic.KEAnonymity(2, -1),
        lambda: ic.MinimumVariance(),
        lambda: ic.MinimumVariance(1.0, 0.5),
        lambda: ic.MinimumVariance(0.0),
        lambda: ic.MinimumVariance(share=0.1, missing="counts"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong: Any) -> None:
    with pytest.raises(RecipeError):
        wrong()


def paid(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    pay = np.round(rng.lognormal(10, 0.5, rows), 2)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(list("abcdefgh"), rows),
            "pay": [None if lost else value for value, lost in zip(pay.tolist(), rng.random(rows) < 0.2, strict=True)],
        }
    )


# Each method by one kind of file: files are written and read by code that knows nothing of methods.
@pytest.mark.parametrize(
    ("method", "file"),
    [
        (ic.Mondrian(), "csv"),
        (ic.FullDomain(max_withheld=0.2), "parquet"),
        (ic.LocalRecoding(), "csv"),
        (ic.KMember(), "parquet"),
        (ic.Microaggregation(), "csv"),
    ],
)
def test_releases_hold_what_they_claim_in_their_files(method: Any, file: str, tmp_path: Path) -> None:
    frame = paid()
    frame.write_csv(tmp_path / "in.csv")  # read as text, and published as it was spelled
    table = ic.read(tmp_path / "in.csv", quasi=["age", "town"], sensitive=["pay"])
    known = frame["pay"].drop_nulls().to_list()
    asked = [ic.KEAnonymity(3, 9000), ic.MinimumVariance(share=0.3)]
    release = ic.publish(table, asked, method=method, seed=1)
    release.save(tmp_path / "out", format=file)
    if file == "parquet":
        rows = pl.read_parquet(tmp_path / "out" / "data.parquet").to_dicts()
    else:
        with (tmp_path / "out" / "data.csv").open(newline="") as written:
            rows = list(csv.DictReader(written))
    groups: dict[Any, list[float]] = {}
    for row in rows:
        of_group = groups.setdefault((row["age"], row["town"]), [])
        if row["pay"] not in (None, ""):
            of_group.append(float(row["pay"]))
    assert len(groups) > 3
    ranges = [max(members) - min(members) for members in groups.values()]
    variances = [statistics.pvariance(members) / statistics.pvariance(known) for members in groups.values()]
    assert min(len(set(members)) for members in groups.values()) >= 3
    assert min(ranges) >= 9000
    assert min(variances) >= 0.3
    achieved = [guarantee.achieved for guarantee in release.guarantees]
    assert achieved == [pytest.approx(min(ranges)), pytest.approx(min(variances))]
    checked = ic.check(tmp_path / "out", require=[ic.KEAnonymity(3, min(ranges) + 1)], original=table).models
    assert [one.satisfied for one in checked] == [True, True, False]


def test_anatomy_says_what_its_buckets_reach() -> None:
    table = ic.read(paid(), quasi=["age", "town"], sensitive=["pay"])
    assert ic.publish(table, ic.KEAnonymity(3, 0.01), method=ic.Anatomy(), seed=1).rows == 300
    with pytest.raises(Unsatisfiable, match="reaches"):
        ic.publish(table, ic.KEAnonymity(3, 30000), method=ic.Anatomy(), seed=1)


def test_closeness_of_numbers_is_ordered_unless_told_otherwise(tmp_path: Path) -> None:
    numbers = crowd([3, 4, 5], [6, 8, 11], [7, 9, 10])
    assert ic.TCloseness(1).achieved(numbers) == ic.TCloseness(1, "ordered").achieved(numbers) == pytest.approx(0.375)
    assert ic.TCloseness(1, "equal").achieved(numbers) == pytest.approx(2 / 3)
    letters = crowd("abc", "def")
    assert ic.TCloseness(1).achieved(letters) == ic.TCloseness(1, "equal").achieved(letters)
    coded = crowd(["01", "02"], ["03", "04"])  # a zero in front is no number
    assert ic.TCloseness(1).achieved(coded) == ic.TCloseness(1, "equal").achieved(coded)
    frame = paid().with_columns(disease=pl.Series(["flu", "gout", "ague"] * 100))
    table = ic.read(frame, quasi=["age", "town"], sensitive=["pay", "disease"])
    release = ic.publish(table, ic.TCloseness(0.6), seed=1)
    said = "ordered distance of pay, equal distance of disease"
    assert set(release.guarantees[0].note.split(", ")) == set(said.split(", "))
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "summary.json").read_text()
    assert "ordered distance of pay" in text
    (claim,) = ic.open_release(tmp_path / "out").claims
    assert claim.found is not None
    assert claim.found.achieved == pytest.approx(release.guarantees[0].achieved)
    assert "ordered distance of pay" in claim.found.note
