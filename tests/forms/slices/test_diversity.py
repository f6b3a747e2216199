"""The ℓ-diversity check of a sliced table: the paper's numbers, and the naive implementation on drawn tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.tally import Tally
from incrowd.forms.slices.diversity import as_bound, guess, is_diverse
from incrowd.forms.slices.exact_shares import exact_probabilities
from incrowd.forms.slices.matching import BucketIndex, matching_buckets
from incrowd.forms.slices.slices import Buckets, Secret, Slices, slice_tally
from tests.forms.slices.naive_slicing import candidates, largest_probability, matching, matching_degree, probabilities
from tests.forms.slices.slicing_cases import Case, cases, paper_case, tally_of

SLICED = [["age", "sex"], ["zip", "disease"]]


def test_the_first_patient_of_the_paper() -> None:
    """Li et al., section 4: t1 = (22, M, 47906) matches the first bucket only, and has dyspepsia or flu, as likely."""
    case = paper_case(SLICED)
    names = {name: case.tally.trees[name].values.to_list() for name in case.tally.columns}
    (first,) = [row for row in case.rows if names["age"][row["age"]] == 22 and names["sex"][row["sex"]] == "M"]
    young, old = case.bucket_rows
    assert matching_degree(first, young, SLICED, ["disease"]) == Fraction(1, 4) * Fraction(2, 4)
    assert matching_degree(first, old, SLICED, ["disease"]) == 0
    likely = candidates(first, young, SLICED[1], ["disease"], "disease")
    assert {names["disease"][code]: share for code, share in likely.items()} == {
        "dyspepsia": Fraction(1, 2),
        "flu": Fraction(1, 2),
    }
    assert probabilities(first, case.bucket_rows, SLICED, ["disease"], "disease") == likely


@pytest.mark.parametrize(
    "columns",
    [SLICED, [["age", "sex", "zip"], ["disease"]], [["age"], ["sex"], ["zip"], ["disease"]]],
    ids=["sliced", "bucketized", "one attribute per column"],
)
def test_the_paper_s_tables_are_2_diverse(columns: list[list[str]]) -> None:
    case = paper_case(columns)
    assert guess(case.slices, case.buckets, 2).diverse
    assert guess(case.slices, case.buckets, 2).worst == 0.5
    assert not guess(case.slices, case.buckets, 2.01).diverse


@given(cases(), st.sampled_from([1, 1.5, 2, Fraction(7, 3), 3, 4, 5]))
def test_as_the_naive_implementation(case: Case, l: float | Fraction) -> None:
    found = guess(case.slices, case.buckets, l)
    for place, secret in enumerate(case.secrets):
        for row, person in zip(case.rows, found.person_of, strict=True):
            naive = largest_probability(row, case.bucket_rows, case.columns, case.sensitive, secret)
            assert found.probability[place, person] == pytest.approx(float(naive), rel=1e-12, abs=0)
            assert found.exceeds[place, person] == (naive * as_bound(l, 1) > 1)
    assert is_diverse(case.slices, case.buckets, l) == found.diverse


@given(cases(), st.integers(1, 5))
def test_portions_change_nothing(case: Case, most: int) -> None:
    at_once, in_portions = guess(case.slices, case.buckets, 2), guess(case.slices, case.buckets, 2, most_matches=most)
    assert at_once.probability.tolist() == in_portions.probability.tolist()
    assert at_once.exceeds.tolist() == in_portions.exceeds.tolist()


@given(cases())
def test_the_bound_at_the_probability_itself(case: Case) -> None:
    """1/ℓ is exactly the largest probability, where rounding would decide: fine. A hair more is too much."""
    for place, secret in enumerate(case.secrets):
        naive = max(
            largest_probability(row, case.bucket_rows, case.columns, case.sensitive, secret) for row in case.rows
        )
        only = slice_tally(case.tally, case.columns, case.sensitive)
        at_bound = guess(only, case.buckets, 1 / naive)
        assert not at_bound.exceeds[place].any()
        assert guess(only, case.buckets, 1 / naive + Fraction(1, 10**6)).exceeds[place].any()


@given(cases())
def test_exact_probabilities(case: Case) -> None:
    slices = case.slices
    index = BucketIndex(slices, case.buckets)
    for secret, name in zip(slices.secrets, case.secrets, strict=True):
        assert exact_probabilities(index, slices.known, secret.column, index.hidden(secret)) == [
            largest_probability(row, case.bucket_rows, case.columns, case.sensitive, name) for row in case.rows
        ]


@given(cases())
def test_matching_buckets(case: Case) -> None:
    index = BucketIndex(case.slices, case.buckets)
    assert matching_buckets(index, case.slices.known).tolist() == [
        matching(row, case.bucket_rows, case.columns, case.sensitive) for row in case.rows
    ]


def test_a_tie_that_no_single_bucket_has() -> None:
    """Shares of 2/5 and 0 of two buckets that match alike: the mean is 1/5, exactly, and fine for ℓ = 5."""
    frame = pl.DataFrame({"q": ["x"] * 15, "s": [*"aabcd", *"efghi", *"jklmn"]})
    tally = tally_of(frame, ["s"])
    names = tally.trees["s"].values.to_list()
    letters = [names[code] for code in tally.column("s")]
    bucket_of = np.array(["abcd".find(letter) < 0 for letter in letters], dtype=np.int64)
    bucket_of[["jklmn".find(letter) >= 0 for letter in letters]] = 2
    slices = slice_tally(tally, [["q"], ["s"]], ["s"])
    found = guess(slices, Buckets(np.arange(len(tally)), tally.counts, bucket_of), Fraction(15, 2))
    assert found.diverse
    assert not guess(slices, Buckets(np.arange(len(tally)), tally.counts, bucket_of), Fraction(76, 10)).diverse


@pytest.mark.parametrize(("more", "diverse"), [(0, False), (1, True)])
def test_a_hair_above_or_below_the_bound(more: int, diverse: bool) -> None:
    """Two buckets match to degrees that differ by one part in 10^16; the likelier one decides, which floats cannot see.

    A person with (a, b) = (0, 0) meets 10^8 times 10^8 rows in one bucket, and 10^8 - 1 times 10^8 + 1 in the other.
    """
    eight = 10**8
    first, second = [(eight, eight), (eight - 1, eight + 1)][:: 1 - 2 * more]
    rows = [(0, 0, 0, 1, 2)]  # a, b, s, count, bucket; the person is withheld, so nobody's own row spoils the numbers
    for bucket, (with_a, with_b), values in [(0, first, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]), (1, second, range(7, 17))]:
        for a, b, number in [(0, 1, with_a), (1, 0, with_b)]:
            shares = [number // 10 + (place < number % 10) for place in range(10)]
            rows += [(a, b, s, share, bucket) for s, share in zip(values, shares, strict=True)]
    a, b, s, counts, bucket_of = np.array(rows).T
    # The rows of 10^8 - 1 and of 10^8 + 1 are not multiples of ten; the odd ones must not tip the balance.
    if more:
        counts[1:5] = [eight // 10] * 4
        counts[10] += (eight - 1) - counts[1:11].sum()
        counts[11:15] = [eight // 10] * 4
        counts[20] += (eight + 1) - counts[11:21].sum()
    known = np.stack([a, b, np.zeros_like(a)], axis=1).astype(np.int32)
    slices = Slices(known, (Secret(2, s.astype(np.int32)),), counts)
    published = np.arange(1, len(rows))
    found = guess(slices, Buckets(published, counts[1:], bucket_of[1:]), 5)
    in_first = first[0] * first[1]
    exact = Fraction(4, 10) * Fraction(in_first, in_first + second[0] * second[1])
    assert (exact * 5 <= 1) == diverse
    assert 0 < abs(exact * 5 - 1) < Fraction(1, 10**16)
    assert found.probability[0, found.person_of[0]] == pytest.approx(0.2)
    assert found.exceeds[0, found.person_of[0]] == (not diverse)


@pytest.mark.parametrize("sizes", [(200, 10), (10, 200), (200, 200)])
def test_many_columns_do_not_sink_to_zero(sizes: tuple[int, int]) -> None:
    """A matching degree of 0.005 in each of 145 columns is far below the smallest float, and well below 0.1 in each."""
    rows = sum(sizes)
    person = [0, sizes[0]]  # the first of each bucket look alike, all others are unique
    values = [0 if row in person else row for row in range(rows)]
    secrets = [row % 2 for row in range(sizes[0])] + [2 + row % 3 for row in range(sizes[1])]
    one = tally_of(pl.DataFrame({"c": values, "s": secrets}), ["s"])
    names = [f"c{place:03}" for place in range(145)]  # the same column, many times
    codes = np.ascontiguousarray(one.codes[:, [*[0] * 145, 1]])
    tally = Tally((*names, "s"), codes, one.counts, {**dict.fromkeys(names, one.trees["c"]), "s": one.trees["s"]})
    columns = [[name] for name in tally.columns]
    slices = slice_tally(tally, columns, ["s"])
    bucket_of = (tally.trees["s"].values.to_numpy()[tally.column("s")] >= 2).astype(np.int64)
    found = guess(slices, Buckets(np.arange(len(tally)), tally.counts, bucket_of), 2)
    mine = found.person_of[int(np.flatnonzero(tally.codes[:, 0] == tally.codes[:, 0].min())[0])]
    expected = {
        (10, 200): 0.5,  # as good as certainly in the smaller bucket
        (200, 10): 0.4,  # 4 of 10
        (200, 200): 0.25,  # half of a half
    }[sizes]
    assert found.probability[0, mine] == pytest.approx(expected, rel=1e-9)


def test_no_rows_and_no_secrets() -> None:
    tally = tally_of(pl.DataFrame({"a": [1, 2, 2], "s": [1, 1, 2]}), ["s"])
    nothing = np.empty(0, dtype=np.int64)
    nobody = guess(slice_tally(tally, [["a"], ["s"]], ["s"]), Buckets(nothing, nothing, nothing), 2)
    assert nobody.diverse
    assert nobody.worst == 0.0
    assert is_diverse(slice_tally(tally, [["a"], ["s"]], ["s"]), Buckets(nothing, nothing, nothing), 2)
    everybody = Buckets(np.arange(3), tally.counts, np.zeros(3, dtype=np.int64))
    assert guess(slice_tally(tally, [["a"], ["s"]]), everybody, 9).diverse


def test_every_secret_is_looked_at_in_its_own_column() -> None:
    """The second is told by what stands beside it; beside the first one's column, it would be safe."""
    tally = tally_of(pl.DataFrame({"a": [1] * 4, "s": [1, 2, 1, 2], "b": [1, 1, 2, 2], "t": [1, 1, 2, 2]}), ["s", "t"])
    slices = slice_tally(tally, [["a", "s"], ["b", "t"]], ["s", "t"])
    buckets = Buckets(np.arange(len(tally)), tally.counts, np.zeros(len(tally), dtype=np.int64))
    assert not guess(slices, buckets, 2).diverse
    assert not is_diverse(slices, buckets, 2)
    only_first = slice_tally(tally, [["a", "s"], ["b"], ["t"]], ["s", "t"])
    assert is_diverse(only_first, buckets, 2)
