"""The tuple partition: as the oracle cuts, diverse to the last person, and as small as can be."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.slices.diversity import as_bound, guess
from incrowd.forms.slices.slices import Buckets, slice_tally
from incrowd.methods.slicing_parts.buckets import largest_l, make_buckets, too_certain
from tests.forms.slices.naive_slicing import Row, largest_probability
from tests.forms.slices.slicing_cases import Case, cases, rows_in, rows_of, tally_of
from tests.methods.slicing_parts.naive_buckets import cut, diverse

QUASI = ["age", "birth_place", "education", "marital", "race", "sex"]
COLUMNS = [["age", "marital"], ["education", "birth_place", "race"], ["sex", "occupation"]]
EACH_L = (1, 1.5, 2, Fraction(7, 3), 3)
ELLS = st.sampled_from(EACH_L)


def quasi_of(case: Case) -> list[str]:
    return [name for name in case.tally.columns if name not in case.sensitive]


def places(tally: Tally, name: str) -> dict[int, float]:
    tree = tally.trees[name]
    lines = tree.positions / (tree.span or 1.0)
    return {code: float(lines[code]) for code in range(tree.size)}


def as_sets(buckets: list[list[Row]]) -> Counter[tuple[tuple[tuple[str, int], ...], ...]]:
    return Counter(tuple(sorted(tuple(sorted(row.items())) for row in bucket)) for bucket in buckets)


@settings(max_examples=50)  # of which some can have more than l = 1
@given(cases(withheld=False), ELLS, st.integers(1, 4))
def test_cuts_as_the_oracle(case: Case, l: float | Fraction, least: int) -> None:
    everyone = [row for row, count in zip(case.rows, case.tally.counts, strict=True) for _ in range(count)]
    # The largest that can be had, up to the one that was drawn: most tables cannot have that.
    possible = [one for one in EACH_L if diverse(everyone, case.columns, case.sensitive, as_bound(one, 1))]
    assume(possible)
    l = max((one for one in possible if one <= l), default=min(possible))
    bound = as_bound(l, 1)
    least = max(min(least, len(everyone)), int(np.ceil(float(bound))))
    assume(len(everyone) >= least)
    found = make_buckets(
        case.tally, case.slices, quasi_of(case), l, rng=np.random.default_rng(0), min_bucket_size=least, dealing=False
    )
    attributes = {name: places(case.tally, name) for name in quasi_of(case)}
    naive = cut(everyone, attributes, case.columns, case.sensitive, bound, least)
    assert as_sets(rows_in(case.tally, found.buckets)) == as_sets(naive)


@given(cases(withheld=False), ELLS, st.integers(1, 5), st.integers(0, 3))
def test_everybody_is_in_a_diverse_bucket_once(case: Case, l: float | Fraction, least: int, seed: int) -> None:
    bound = as_bound(l, 1)
    rng = np.random.default_rng(seed)
    if (largest_l(case.slices) or 0) < bound or case.tally.rows < least:
        with pytest.raises(Unsatisfiable):
            make_buckets(case.tally, case.slices, quasi_of(case), l, rng=rng, min_bucket_size=least)
        return
    found = make_buckets(case.tally, case.slices, quasi_of(case), l, rng=rng, min_bucket_size=least)
    in_buckets = np.bincount(found.buckets.tuples, weights=found.buckets.counts, minlength=len(case.tally))
    assert in_buckets.tolist() == case.tally.counts.tolist()
    assert found.buckets.sizes.min() >= max(least, bound)
    assert found.guesses.diverse
    buckets = rows_in(case.tally, found.buckets)
    assert all(diverse(bucket, case.columns, case.sensitive, bound) for bucket in buckets)
    for secret in case.sensitive:
        assert all(
            largest_probability(row, buckets, case.columns, case.sensitive, secret) * bound <= 1 for row in case.rows
        )


@given(cases(withheld=False), ELLS)
def test_who_makes_l_impossible(case: Case, l: float | Fraction) -> None:
    """Without the people who are too certain there are buckets for the rest."""
    bound = as_bound(l, 1)
    certain = too_certain(case.slices, l)
    everyone = list(zip(case.rows, case.tally.counts.tolist(), strict=True))
    whole = [row for row, count in everyone for _ in range(count)]
    assert diverse(whole, case.columns, case.sensitive, bound) == (not certain.any())
    assert (largest_l(case.slices) >= bound) == (not certain.any())  # type: ignore[operator]
    assume(not certain.all())
    rng = np.random.default_rng(0)
    found = make_buckets(case.tally, case.slices, quasi_of(case), l, rng=rng, published=~certain)
    assert found.guesses.diverse
    assert not certain[found.buckets.tuples].any()
    assert found.buckets.counts.sum() == case.tally.counts[~certain].sum()


def census_case(rows: int, seed: int = 0) -> tuple[Tally, pl.DataFrame]:
    people = ic.datasets.census(rows, seed=seed).drop("salary")
    return tally_of(people, ["occupation"]), people


def test_census_buckets_are_small() -> None:
    """Mondrian's cuts leave buckets of about 14; dealing them out leaves hardly more than ℓ rows in each."""
    tally, _ = census_case(5_000)
    slices = slice_tally(tally, COLUMNS, ["occupation"])
    rng = np.random.default_rng(0)
    cuts_only = make_buckets(tally, slices, QUASI, 5, rng=rng, dealing=False)
    dealt = make_buckets(tally, slices, QUASI, 5, rng=rng)
    assert 12 < cuts_only.buckets.sizes.mean() < 16
    assert 5 < dealt.buckets.sizes.mean() < 6
    assert dealt.guesses.worst == 0.2


def test_rows_that_look_alike_stay_together() -> None:
    """Smaller buckets of people who differ in nothing but the secret would show no more."""
    frame = pl.DataFrame({"a": ["x"] * 50, "s": [row % 10 for row in range(50)]})
    tally = tally_of(frame, ["s"])
    found = make_buckets(tally, slice_tally(tally, [["a"], ["s"]], ["s"]), ["a"], 5, rng=np.random.default_rng(0))
    assert found.buckets.sizes.tolist() == [50]


def test_larger_buckets_on_request() -> None:
    """A bucket that holds both sexes is dealt out sex by sex."""
    tally, _ = census_case(5_000)
    slices = slice_tally(tally, COLUMNS, ["occupation"])
    rng = np.random.default_rng(0)
    cuts_only = make_buckets(tally, slices, QUASI, 5, rng=rng, min_bucket_size=20, dealing=False)
    dealt = make_buckets(tally, slices, QUASI, 5, rng=rng, min_bucket_size=20)
    assert dealt.buckets.sizes.min() >= 20
    assert len(dealt.buckets) > 1.1 * len(cuts_only.buckets)
    assert dealt.guesses.diverse


def test_one_seed_one_partition_whatever_the_order_of_rows() -> None:
    _, people = census_case(3_000)
    found = []
    for frame, seed in ((people, 1), (people.sample(fraction=1, shuffle=True, seed=3), 1), (people, 2)):
        tally = tally_of(frame, ["occupation"])
        slices = slice_tally(tally, COLUMNS, ["occupation"])
        buckets = make_buckets(tally, slices, QUASI, 4, rng=np.random.default_rng(seed)).buckets
        found.append((buckets.tuples.tolist(), buckets.counts.tolist(), buckets.bucket_of.tolist()))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_several_sensitive_attributes() -> None:
    people = ic.datasets.census(5_000)
    tally = tally_of(people, ["occupation", "salary"])
    columns = [["age", "marital"], ["education", "birth_place"], ["race", "salary"], ["sex", "occupation"]]
    slices = slice_tally(tally, columns, ["occupation", "salary"])
    certain = too_certain(slices, 4)
    found = make_buckets(tally, slices, QUASI, 4, rng=np.random.default_rng(0), published=~certain)
    assert found.guesses.diverse
    assert found.guesses.probability.shape[0] == 2
    assert len(found.buckets) > 20


def test_no_sensitive_attribute() -> None:
    """Columns are permuted for the sake of membership alone: only sizes matter."""
    tally, _ = census_case(2_000)
    slices = slice_tally(tally, [["age", "sex"], ["occupation", "education"]])
    found = make_buckets(
        tally, slices, ["age", "education", "occupation", "sex"], 1, rng=np.random.default_rng(0), min_bucket_size=10
    )
    assert found.buckets.sizes.min() >= 10
    assert found.buckets.sizes.mean() < 25
    assert found.guesses.diverse


def test_missing_values() -> None:
    frame = pl.DataFrame({"a": [None, 1, 2, None] * 6, "b": [None, "x", None, "y"] * 6, "s": ["p", None, "q", "r"] * 6})
    tally = tally_of(frame, ["s"])
    slices = slice_tally(tally, [["a"], ["b"], ["s"]], ["s"])
    found = make_buckets(tally, slices, ["a", "b"], 3, rng=np.random.default_rng(0))
    assert found.guesses.diverse


def test_nothing_to_cut() -> None:
    tally = tally_of(pl.DataFrame({"a": [1] * 6, "s": [*"pqrpqr"]}), ["s"])
    slices = slice_tally(tally, [["s"]], ["s"])
    assert make_buckets(tally, slices, [], 3, rng=np.random.default_rng(0)).buckets.sizes.tolist() == [6]


def test_nobody_published() -> None:
    tally, _ = census_case(100)
    slices = slice_tally(tally, COLUMNS, ["occupation"])
    nobody = np.zeros(len(tally), dtype=bool)
    found = make_buckets(tally, slices, QUASI, 5, rng=np.random.default_rng(0), published=nobody)
    assert len(found.buckets) == 0


def test_the_error_names_the_largest_l_and_no_value() -> None:
    frame = pl.DataFrame({"a": ["Zwickau"] * 4 + ["Bautzen"] * 6, "s": [*"ppqr", *"pppqqr"]})
    tally = tally_of(frame, ["s"])
    slices = slice_tally(tally, [["a", "s"]], ["s"])
    with pytest.raises(Unsatisfiable, match="largest l that is possible is 2") as error:
        make_buckets(tally, slices, ["a"], 3, rng=np.random.default_rng(0))
    assert not re.search("Zwickau|Bautzen|'p'", str(error.value))
    assert largest_l(slices) == 2
    assert make_buckets(tally, slices, ["a"], 2, rng=np.random.default_rng(0)).guesses.diverse


def test_the_error_where_the_sensitive_attribute_is_alone() -> None:
    tally = tally_of(pl.DataFrame({"a": [*range(10)], "s": [*"pppqqrrstu"]}), ["s"])
    slices = slice_tally(tally, [["a"], ["s"]], ["s"])
    with pytest.raises(Unsatisfiable, match=r"value is more than 1/4 of the 10 rows; the largest .* is 3"):
        make_buckets(tally, slices, ["a"], 4, rng=np.random.default_rng(0))
    assert make_buckets(tally, slices, ["a"], 3, rng=np.random.default_rng(0)).guesses.diverse


def test_fewer_rows_than_a_bucket() -> None:
    tally, _ = census_case(100)
    slices = slice_tally(tally, [["age"], ["occupation"]], ["occupation"])
    with pytest.raises(Unsatisfiable, match="100 rows"):
        make_buckets(tally, slices, ["age"], 2, rng=np.random.default_rng(0), min_bucket_size=101)


@pytest.mark.parametrize(("l", "least"), [(0.5, 1), (float("nan"), 1), (2, 0), (2, 1.5)])
def test_parameters(l: float, least: int) -> None:
    tally, _ = census_case(100)
    slices = slice_tally(tally, [["age"], ["occupation"]], ["occupation"])
    with pytest.raises(RecipeError):
        make_buckets(tally, slices, ["age"], l, rng=np.random.default_rng(0), min_bucket_size=least)


def test_a_cut_too_many_is_found() -> None:
    """The exact check refuses buckets that the search would never make."""
    tally, _ = census_case(2_000)
    slices = slice_tally(tally, COLUMNS, ["occupation"])
    buckets = make_buckets(tally, slices, QUASI, 3, rng=np.random.default_rng(0)).buckets
    assert guess(slices, buckets, 3).diverse
    alone = Buckets(buckets.tuples, buckets.counts, np.arange(len(buckets.tuples)))
    assert not guess(slices, alone, 3).diverse
    assert len(rows_of(tally)) == len(tally)
