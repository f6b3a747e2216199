"""Membership: the paper's 16 tuples, 12 of them fake, and the same counted out on drawn tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import incrowd as ic
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.sliced import SlicedTable
from incrowd.forms.slices.fake_tuples import advantage, count_fakes, fake_tuples, known_parts, matching_fakes
from incrowd.forms.slices.matching import BucketIndex, matching_buckets
from incrowd.forms.slices.slices import Buckets, slice_tally
from incrowd.methods.slicing_parts.anatomy_buckets import deal_anatomy
from incrowd.methods.slicing_parts.buckets import make_buckets
from tests.forms.slices.naive_slicing import matching
from tests.forms.slices.slicing_cases import Case, cases, paper_case, rows_of, tally_of


def test_the_paper_s_sliced_table() -> None:
    """Sixteen combinations of four column values each, four of them original: twelve fake ones, a ratio of 3."""
    case = paper_case([["age", "sex"], ["zip", "disease"]])
    fakes = count_fakes(case.slices, case.buckets)
    assert fakes.matching[0] == 16
    assert fakes.original[0] == 4
    assert fakes.ratio_by_bucket[0] == 3
    # In the second bucket (60, M) occurs twice: 3 · 4 combinations.
    assert fakes.matching[1] == 12
    assert fakes.ratio == (12 + 8) / 8


@given(cases())
def test_fakes_counted_out(case: Case) -> None:
    """Every combination of a bucket's column values, held against the rows of the table."""
    fakes = count_fakes(case.slices, case.buckets)
    rows = case.rows
    originals = {tuple(tuple(row[name] for name in column) for column in case.columns) for row in rows}
    for bucket, members in enumerate(case.bucket_rows):
        values = [{tuple(row[name] for name in column) for row in members} for column in case.columns]
        combinations = set(product(*values))
        assert fakes.matching[bucket] == len(combinations)
        assert fakes.original[bucket] == len(combinations & originals)


def test_fakes_are_not_in_the_table_and_look_like_it() -> None:
    tally = tally_of(ic.datasets.census(5_000))
    fakes = fake_tuples(np.random.default_rng(0), tally, 2_000)
    assert len(fakes) == 2_000
    assert not {tuple(row.values()) for row in rows_of(tally)} & set(map(tuple, fakes.tolist()))
    for place, name in enumerate(tally.columns):
        shares = tally.value_counts(name) / tally.rows
        drawn = np.bincount(fakes[:, place], minlength=len(shares)) / len(fakes)
        assert set(np.flatnonzero(drawn)) <= set(np.flatnonzero(shares))
        assert abs(drawn - shares).max() < 0.06


def test_attributes_together_are_drawn_as_they_occur() -> None:
    tally = tally_of(ic.datasets.census(5_000))
    units = [["age", "marital"], ["birth_place", "race"], ["education"], ["occupation", "salary", "sex"]]
    fakes = fake_tuples(np.random.default_rng(0), tally, 500, together=units)
    place = [tally.columns.index(name) for name in ("age", "marital")]
    assert set(map(tuple, fakes[:, place].tolist())) <= set(map(tuple, tally.codes[:, place].tolist()))


def test_a_table_that_has_everything_has_no_fakes() -> None:
    tally = tally_of(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}))
    assert len(fake_tuples(np.random.default_rng(0), tally, 10)) == 0


def test_known_parts_of_the_table_itself() -> None:
    case = paper_case([["age", "sex"], ["zip", "disease"]])
    parts = known_parts(case.tally, case.slices, case.columns, case.tally.codes, ["disease"])
    assert parts.tolist() == case.slices.known.tolist()


def test_matching_buckets_of_tuples_that_are_not_there() -> None:
    tally = tally_of(ic.datasets.census(300).drop("salary"), ["occupation"])
    columns = [["age", "marital"], ["education", "race"], ["birth_place"], ["sex", "occupation"]]
    slices = slice_tally(tally, columns, ["occupation"])
    quasi = [name for name in tally.columns if name != "occupation"]
    buckets = make_buckets(tally, slices, quasi, 2, rng=np.random.default_rng(0)).buckets
    case = Case(tally, columns, ["occupation"], buckets)
    fakes = fake_tuples(np.random.default_rng(0), tally, 200)
    parts = known_parts(tally, slices, columns, fakes, ["occupation"])
    rows = [dict(zip(tally.columns, codes, strict=True)) for codes in fakes.tolist()]
    naive = [matching(row, case.bucket_rows, columns, ["occupation"]) for row in rows]
    assert matching_buckets(BucketIndex(slices, buckets), parts).tolist() == naive
    assert max(naive) > 0
    assert (parts < 0).any()


@pytest.mark.parametrize("form", ["bucketized", "sliced"])
def test_who_can_be_told_from_a_fake(form: str) -> None:
    """Bucketization shows whether anybody is in the table; slicing matches many people who are not."""
    tally = tally_of(ic.datasets.census(5_000).drop("salary"), ["occupation"])
    quasi = [name for name in tally.columns if name != "occupation"]
    rng = np.random.default_rng(0)
    if form == "bucketized":
        columns = [quasi, ["occupation"]]
        slices = slice_tally(tally, columns, ["occupation"])
        buckets = deal_anatomy(rng, np.ascontiguousarray(tally.column("occupation")), tally.counts, 5)
    else:
        columns = [["age", "marital"], ["birth_place", "education", "race"], ["sex", "occupation"]]
        slices = slice_tally(tally, columns, ["occupation"])
        buckets = make_buckets(tally, slices, quasi, 5, rng=rng, min_bucket_size=100).buckets
    index = BucketIndex(slices, buckets)
    people, _ = tally.project(quasi)
    units = [[name for name in column if name in quasi] for column in columns]
    fakes = fake_tuples(rng, people, 2_000, together=units if form == "sliced" else None)
    codes = np.zeros((len(fakes), len(tally.columns)), dtype=np.int32)
    codes[:, [tally.columns.index(name) for name in people.columns]] = fakes
    matched = matching_buckets(index, known_parts(tally, slices, columns, codes, ["occupation"])) > 0
    assert (matching_buckets(index, slices.known) > 0).all()
    if form == "bucketized":
        assert not matched.any()
    else:
        assert matched.mean() > 0.3


def test_the_paper_s_people_without_their_diseases() -> None:
    """Of two zips and four kinds of age and sex, all eight combinations match the first bucket; four are people's."""
    case = paper_case([["age", "sex"], ["zip", "disease"]])
    fakes = count_fakes(case.slices, case.buckets, people=True)
    assert fakes.matching.tolist() == [8, 6]
    assert fakes.original.tolist() == [4, 4]
    assert fakes.ratio == (4 + 2) / 8


@given(cases())
def test_fake_people_are_all_that_match_and_nobody_else(case: Case) -> None:
    """Drawn often enough, every combination that matches and is in no row comes up, and nothing else does."""
    known, index = case.slices.known, BucketIndex(case.slices, case.buckets)
    combinations: set[tuple[int, ...]] = set()
    for bucket in range(len(case.buckets)):
        members = known[case.buckets.tuples[case.buckets.bucket_of == bucket]]
        combinations |= set(product(*(set(column) for column in members.T.tolist())))
    expected = combinations - set(map(tuple, known.tolist()))
    drawn = matching_fakes(np.random.default_rng(0), case.slices, case.buckets, 400)
    assert set(map(tuple, drawn.tolist())) <= expected
    assert bool(len(drawn)) == bool(expected)
    if len(expected) <= 10 and len(drawn) == 400:
        assert set(map(tuple, drawn.tolist())) == expected
    assert (matching_buckets(index, drawn) > 0).all()


def test_each_fake_is_as_likely_as_another() -> None:
    """Whoever matches three buckets is drawn no more often than whoever matches one."""
    frame = pl.DataFrame({"a": [1, 2, 1, 2, 1, 2, 3, 4], "b": [1, 2, 1, 2, 1, 2, 3, 4]})
    tally = tally_of(frame)
    slices = slice_tally(tally, [["a"], ["b"]])
    tuples = np.array([0, 1, 0, 1, 0, 1, 2, 3])
    buckets = Buckets(tuples, np.ones(8, dtype=np.int64), np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    drawn = matching_fakes(np.random.default_rng(0), slices, buckets, 4_000)
    kinds, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(kinds) == 4  # (1, 2), (2, 1) in three buckets each; (3, 4), (4, 3) in one
    assert abs(counts / 4_000 - 0.25).max() < 0.03


def test_buckets_of_whole_people_have_no_fakes() -> None:
    case = paper_case([["age", "sex", "zip"], ["disease"]])
    assert len(matching_fakes(np.random.default_rng(0), case.slices, case.buckets, 10)) == 0
    assert count_fakes(case.slices, case.buckets, people=True).ratio == 0


@pytest.mark.parametrize(
    ("original", "fake", "expected"),
    [
        ([1, 1, 1], [0, 0, 0], 1.0),
        ([0, 0], [1, 1], 1.0),  # a rule may as well go the other way
        ([1, 2, 3], [1, 2, 3], 0.0),
        ([1, 1, 0, 0], [1, 0, 0, 0], 0.25),
        ([1], [], 1.0),  # nobody else matches: a match says it all
    ],
)
def test_advantage(original: list[int], fake: list[int], expected: float) -> None:
    found = advantage(np.array(original, dtype=np.int64), np.array(fake, dtype=np.int64))
    assert found == pytest.approx(expected)


def test_slicing_with_as_many_fakes_as_are_asked_for() -> None:
    frame = ic.datasets.census(3_000).select("age", "sex", "education", "birth_place", "occupation")
    table = ic.read(frame, quasi=["age", "sex", "education", "birth_place"], sensitive=["occupation"])
    ratios, sizes = [], []
    for fakes in (0, 3, 30):
        release = ic.publish(table, ic.SlicedDiversity(3), method=ic.Slicing(column_count=5, fake_ratio=fakes), seed=1)
        form = release.form
        assert isinstance(form, SlicedTable)
        ratios.append(count_fakes(form.slices, form.buckets, people=True).ratio)
        sizes.append(int(form.group_sizes.min()))
        assert ratios[-1] >= fakes
    assert sizes[0] < sizes[1] < sizes[2]
    with pytest.raises(Unsatisfiable, match=r"a fake_ratio of 1e\+09 cannot be had"):
        ic.publish(table, ic.SlicedDiversity(3), method=ic.Slicing(fake_ratio=1e9), seed=1)
    columns = (("age", "sex", "education", "birth_place"), ("occupation",))
    with pytest.raises(Unsatisfiable, match="more columns"):
        ic.publish(table, ic.SlicedDiversity(3), method=ic.Slicing(columns=columns, fake_ratio=1), seed=1)


def test_slicing_in_buckets_of_some_size() -> None:
    frame = ic.datasets.census(2_000).select("age", "sex", "education", "occupation")
    table = ic.read(frame, quasi=["age", "sex", "education"], sensitive=["occupation"])
    release = ic.publish(table, ic.SlicedDiversity(3), method=ic.Slicing(min_bucket_size=60), seed=1)
    assert release.form.group_sizes.min() >= 60
    for wrong in ({"min_bucket_size": 0}, {"min_bucket_size": 2.5}, {"fake_ratio": -1}, {"fake_ratio": float("inf")}):
        with pytest.raises(RecipeError, match="slicing: "):
            ic.Slicing(**wrong)  # type: ignore[arg-type]
