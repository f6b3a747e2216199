"""The check of a written sliced table: the paper's numbers, the naive check on drawn tables, and what is refused."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
import incrowd as ic
from incrowd.common.arrays import Bools, Counts, Floats
from incrowd.core.method import Method
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import ConformanceError
from incrowd.forms.sliced import ShowSlices, SlicedTable
from incrowd.forms.slices import verify_matches as module
from incrowd.forms.slices import written_matches
from incrowd.forms.slices.diversity import guess
from incrowd.forms.slices.permutation import Permuted, permute_columns
from incrowd.forms.slices.slices import Buckets, Secret, Slices, slice_tally
from incrowd.forms.slices.verify_matches import Verdict, verify_matches
from incrowd.methods.anatomy import bucket_recoding
from tests.forms.slices.naive_slicing import Row, candidates, matching_degree
from tests.forms.slices.slicing_cases import Case, cases, paper_case, rows_of, tally_of

SLICED = [["age", "sex"], ["zip", "disease"]]
ELLS = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(7, 3), Fraction(3), Fraction(5)]
HAIR = Fraction(1, 10**18)


def written(case: Case, seed: int = 0) -> Permuted:
    """Write the rows of a case, every column in an order of its own."""
    return permute_columns(np.random.default_rng(seed), case.buckets, len(case.columns))


def naive_worst(
    people: Sequence[Row], buckets: Sequence[Sequence[Row]], columns: Sequence[Sequence[str]], sensitive: Sequence[str]
) -> Fraction:
    """Return the largest p(t,s) of all people; a secret that is in several columns is one in each."""
    worst = Fraction(0)
    for row in people:
        degrees = [matching_degree(row, bucket, columns, sensitive) for bucket in buckets]
        for column, secret in ((names, name) for names in columns for name in names if name in sensitive):
            found: dict[int, Fraction] = {}
            for degree, bucket in zip(degrees, buckets, strict=True):
                if degree:
                    for value, share in candidates(row, bucket, column, sensitive, secret).items():
                        found[value] = found.get(value, Fraction(0)) + degree * share
            worst = max(worst, max(found.values(), default=Fraction(0)) / (sum(degrees) or 1))
    return worst


def read_rows(people: Sequence[Row], columns: Sequence[Sequence[str]], rows: Permuted) -> list[list[Row]]:
    """Return the rows of every bucket as they are written, for columns that do not overlap."""
    buckets: list[list[Row]] = [[] for _ in range(int(rows.bucket_of.max()) + 1)]
    for row, bucket in enumerate(rows.bucket_of.tolist()):
        shown = zip(columns, rows.tuples[:, row].tolist(), strict=True)
        buckets[bucket].append({name: people[place][name] for column, place in shown for name in column})
    return buckets


def naive(case: Case) -> Fraction:
    return naive_worst(case.rows, case.bucket_rows, case.columns, case.sensitive)


def check(verdict: Verdict, worst: Fraction, l: Fraction) -> None:
    assert verdict.holds == (worst * l <= 1)
    assert verdict.worst == pytest.approx(float(worst), rel=1e-12, abs=0)


def only(people: Sequence[int], slices: Slices, rows: Permuted) -> tuple[Slices, Permuted]:
    """Return the same table with nobody to be judged but these: whoever is the worst of all would hide the others.

    A column is added in which all written rows show what these people have there, and nobody else.
    """
    place = np.concatenate([np.arange(len(slices.known)), np.array(people)])
    is_judged = np.arange(len(place)) >= len(slices.known)
    known = np.column_stack([slices.known[place], np.where(is_judged, 0, 1)]).astype(np.int32)
    secrets = tuple(Secret(secret.column, secret.codes[place]) for secret in slices.secrets)
    shown = np.full((1, rows.tuples.shape[1]), len(slices.known))
    return Slices(known, secrets, slices.counts[place]), Permuted(rows.bucket_of, np.concatenate([rows.tuples, shown]))


def check_each(case: Case, l: Fraction | None, at_once: int = 1) -> None:
    """Hold the check against the naive one for few people at a time, at l or else where the bound is met exactly."""
    slices, rows, people, buckets = case.slices, written(case), case.rows, case.bucket_rows
    for first in range(len(people)):
        chosen = list(range(first, len(people), -(-len(people) // at_once)))[:at_once]
        worst = naive_worst([people[place] for place in chosen], buckets, case.columns, case.sensitive)
        table = only(chosen, slices, rows)
        if l is not None:
            check(verify_matches(*table, l), worst, l)
        elif worst:  # whoever is withheld may match nothing
            for bound in (1 / worst, 1 / worst + HAIR):
                check(verify_matches(*table, bound), worst, bound)


def everyone_matters(judge: Any, at_most: Floats, risky: Bools, doubt: Floats) -> Bools:
    """In place of the judge's own rule about who is skipped."""
    return np.ones(len(at_most), dtype=bool)


@st.composite
def overlapping_cases(draw: st.DrawFn) -> Case:
    """Draw a table in which some attributes, sensitive ones too, are in two columns."""
    case = draw(cases())
    again = draw(st.lists(st.sampled_from(case.tally.columns), min_size=1, max_size=3, unique=True))
    return replace(case, columns=[*case.columns, again])


def case_of(rows: Sequence[Sequence[int | None]], bucket_of: Sequence[int], columns: Sequence[Sequence[str]]) -> Case:
    """Return a table of rows in buckets; its attributes are a, b and the sensitive s."""
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abs", pl.Int64), orient="row")
    tally = tally_of(frame, ["s"])
    codes = {name: {value: code for code, value in enumerate(tally.trees[name].values.to_list())} for name in "abs"}
    place_of = {tuple(tuple_codes): place for place, tuple_codes in enumerate(tally.codes.tolist())}
    tuples = [place_of[tuple(codes[name][value] for name, value in zip("abs", row, strict=True))] for row in rows]
    return Case(
        tally, columns, ["s"], Buckets(np.array(tuples), np.ones(len(rows), dtype=np.int64), np.array(bucket_of))
    )


@pytest.mark.parametrize(
    "columns",
    [SLICED, [["age", "sex", "zip"], ["disease"]], [["age"], ["sex"], ["zip"], ["disease"]]],
    ids=["sliced", "bucketized", "one attribute per column"],
)
def test_the_paper_s_tables_are_2_diverse(columns: list[list[str]]) -> None:
    case = paper_case(columns)
    assert verify_matches(case.slices, written(case), Fraction(2)) == Verdict(holds=True, worst=0.5)
    assert verify_matches(case.slices, written(case), 2 + HAIR) == Verdict(holds=False, worst=0.5)


@given(cases() | overlapping_cases(), st.sampled_from(ELLS), st.integers(0, 3))
def test_as_the_naive_check(case: Case, l: Fraction, seed: int) -> None:
    check(verify_matches(case.slices, written(case, seed), l), naive(case), l)


@given(cases() | overlapping_cases(), st.sampled_from(ELLS), st.integers(1, 4))
def test_few_people_as_the_naive_check(case: Case, l: Fraction, at_once: int) -> None:
    check_each(case, l, at_once)


@given(cases() | overlapping_cases(), st.integers(1, 4))
def test_the_bound_at_the_worst_guess_itself(case: Case, at_once: int) -> None:
    """1/ℓ is exactly the largest probability, where rounding would decide: fine. A hair more is too much."""
    check_each(case, None, at_once)


@settings(max_examples=40)
@given(cases() | overlapping_cases(), st.sampled_from(ELLS), st.integers(1, 5), st.sampled_from([1, 3, 50]))
def test_blocks_and_portions_change_nothing(case: Case, l: Fraction, most_pairs: int, at_once: int) -> None:
    few = {"_PEOPLE_AT_FIRST": max(at_once - 1, 1), "_PEOPLE_AT_ONCE": at_once}
    with patch.multiple(written_matches, **few):
        check(verify_matches(case.slices, written(case), l, most_pairs=most_pairs), naive(case), l)


def test_many_buckets_are_no_reason_to_look_at_people_one_by_one() -> None:
    """More buckets than pairs may be held: each of 900 people is in one of them, and few looks are enough."""
    rows, l = 900, Fraction(2)
    frame = pl.DataFrame({"id": range(rows), "other": [place // 2 for place in range(rows)], "ill": ["a", "b"] * 450})
    tally = tally_of(frame, ["ill"])
    slices = slice_tally(tally, [["id"], ["other"], ["ill"]], ("ill",))
    pairs = tally.codes[:, tally.columns.index("other")].astype(np.int64)
    buckets = Buckets(np.arange(rows), tally.counts, pairs - pairs.min())
    looks = []

    def look(*asked: Any) -> Any:
        looks.append(len(asked[0]))
        return written_matches.match_people(*asked)

    all_of_them = {"MOST_PAIRS": 100, "match_people": look}
    with patch.multiple(module, **all_of_them), patch.object(module._Judge, "nothing_worse", False):
        found = verify_matches(slices, permute_columns(np.random.default_rng(1), buckets, 3), l)
    assert found == Verdict(holds=True, worst=0.5)
    assert len(looks) < 10


@settings(max_examples=8)
@given(cases() | overlapping_cases(), st.sampled_from(ELLS), st.sampled_from([0, 10**9]))
def test_sorting_adds_up_what_matrices_add_up(case: Case, l: Fraction, crowded: int) -> None:
    with patch.object(module, "_CROWDED", crowded), patch.object(module._Judge, "_matters", everyone_matters):
        check_each(case, l)


@settings(max_examples=8)
@given(cases() | overlapping_cases(), st.sampled_from(ELLS))
def test_bisection_finds_what_slots_find(case: Case, l: Fraction) -> None:
    with patch.object(written_matches, "_MOST_SLOTS", 0):
        check_each(case, l)


@settings(max_examples=8)
@given(cases() | overlapping_cases(), st.sampled_from(ELLS))
def test_whole_numbers_decide_what_floats_leave_open(case: Case, l: Fraction) -> None:
    """If floats are trusted in nothing, verdicts are the same."""
    with patch.object(module, "_EPSILON", 1.0):
        check_each(case, l)
        check_each(case, None)


@settings(max_examples=8)
@given(cases(), st.sampled_from(ELLS))
def test_looking_at_everybody_finds_nothing_worse(case: Case, l: Fraction) -> None:
    """Ending the search early, and skipping who cannot be the worst, changes nothing."""
    with (
        patch.object(module._Judge, "nothing_worse", False),
        patch.object(module._Judge, "_matters", everyone_matters),
    ):
        check(verify_matches(case.slices, written(case), l), naive(case), l)


@settings(max_examples=8)
@given(cases(), st.sampled_from(ELLS))
def test_rows_may_be_counted_and_in_any_order(case: Case, l: Fraction) -> None:
    order = np.random.default_rng(0).permutation(len(case.buckets.tuples))
    distinct, counts = np.unique(
        np.stack([case.buckets.bucket_of, case.buckets.tuples])[:, order], axis=1, return_counts=True
    )
    counted = Permuted(distinct[0], np.tile(distinct[1], (len(case.columns), 1)))
    check(verify_matches(case.slices, counted, l, counts=counts), naive(case), l)


@given(cases(), st.sampled_from(ELLS), st.data())
def test_what_is_written_counts_and_not_what_was_meant(case: Case, l: Fraction, data: st.DataObject) -> None:
    """Parts that are written in other rows, perhaps of other buckets, are judged where they are written."""
    rows = written(case)
    tuples = rows.tuples.copy()
    for _ in range(data.draw(st.integers(1, 4))):
        column = data.draw(st.integers(0, len(tuples) - 1))
        one, other = (data.draw(st.integers(0, tuples.shape[1] - 1)) for _ in range(2))
        tuples[column, [one, other]] = tuples[column, [other, one]]
    swapped = Permuted(rows.bucket_of, tuples)
    worst = naive_worst(case.rows, read_rows(case.rows, case.columns, swapped), case.columns, case.sensitive)
    check(verify_matches(case.slices, swapped, l), worst, l)


@pytest.mark.parametrize(
    ("rows", "bucket_of", "worst"),
    [
        ([(1, 1, 1)], [0], Fraction(1)),  # one row
        ([(None, None, None)], [0], Fraction(1)),
        ([(1, 1, 1), (1, 1, 2), (2, 1, 3)], [0, 0, 0], Fraction(1, 3)),  # one bucket
        ([(1, 1, s) for s in (1, 1, 1, 2, 3, 4)], [0, 0, 0, 1, 1, 1], Fraction(1, 2)),  # everyone the same
        ([(None, 1, None), (None, 1, 1), (0, 1, None)], [0, 0, 0], Fraction(2, 3)),  # missing is a value like others
        ([(1, 1, 1), (1, 2, 2), (2, 1, 1), (1, 1, 3)], [0, 0, 1, 1], Fraction(1, 2)),
    ],
)
def test_small_tables(rows: list[tuple[int | None, ...]], bucket_of: list[int], worst: Fraction) -> None:
    case = case_of(rows, bucket_of, [["a"], ["b"], ["s"]])
    assert naive(case) == worst
    assert verify_matches(case.slices, written(case), 1 / worst) == Verdict(holds=True, worst=float(worst))
    assert verify_matches(case.slices, written(case), 1 / worst + HAIR) == Verdict(holds=False, worst=float(worst))


def test_a_tie_that_no_single_bucket_has() -> None:
    """Shares of 2/5, 0 and 0 of three buckets that match alike: the mean is 2/15, exactly, though 2/5 is too much."""
    secrets = [1, 1, 2, 3, 4, *range(5, 15)]
    case = case_of([(0, 0, s) for s in secrets], np.repeat([0, 1, 2], 5).tolist(), [["a", "b"], ["s"]])
    assert verify_matches(case.slices, written(case), Fraction(15, 2)) == Verdict(holds=True, worst=2 / 15)
    assert not verify_matches(case.slices, written(case), Fraction(15, 2) + HAIR).holds


Runs = Sequence[tuple[int, int]]


def write_bucket(bucket: int, columns: Sequence[Runs]) -> tuple[Permuted, Counts]:
    """Write so many rows of each tuple in each column, as rows with counts."""
    ends = [np.cumsum([number for _, number in runs]) for runs in columns]
    cuts = np.unique(np.concatenate([[0], *ends]))
    tuples = [
        np.array([place for place, _ in runs])[np.searchsorted(end, cuts[:-1], side="right")]
        for runs, end in zip(columns, ends, strict=True)
    ]
    return Permuted(np.full(len(cuts) - 1, bucket), np.stack(tuples)), np.diff(cuts)


def one_person(columns: int, values: int, buckets: Sequence[tuple[Sequence[int], int, Runs]], l: Fraction) -> Verdict:
    """Judge a table in which one person matches buckets and nobody else matches any.

    A bucket is how many rows fit the person in each column, how many rows it has, and how many have each secret value.
    """
    # Tuple 0 is the person. Of the others, each is the filler of one column, or has one of the secret values, and has
    # parts that are written nowhere in all other columns.
    known = np.full((1 + columns + values, columns + 1), 2, dtype=np.int32)
    known[0], known[:, columns] = 0, 0
    known[np.arange(1, columns + 1), np.arange(columns)] = 1
    secret = np.zeros(len(known), dtype=np.int32)
    secret[1 + columns :] = np.arange(values)
    slices = Slices(known, (Secret(columns, secret),), np.ones(len(known), dtype=np.int64))
    parts = []
    for bucket, (fits, size, shown) in enumerate(buckets):
        fillers = [[(0, rows), (1 + column, size - rows)] for column, rows in enumerate(fits)]
        parts.append(write_bucket(bucket, [*fillers, [(1 + columns + value, number) for value, number in shown]]))
    everything = Permuted(
        np.concatenate([rows.bucket_of for rows, _ in parts]),
        np.concatenate([rows.tuples for rows, _ in parts], axis=1),
    )
    return verify_matches(slices, everything, l, counts=np.concatenate([counts for _, counts in parts]))


@pytest.mark.parametrize("diverse", [False, True])
def test_a_hair_above_or_below_the_bound(diverse: bool) -> None:
    """Two buckets match to degrees that differ by one part in 10^16; the likelier one decides, which floats cannot see.

    A person meets 10^8 times 10^8 rows in one bucket, and 10^8 - 1 times 10^8 + 1 in the other. In one of them, two
    fifths of the rows have the same sensitive value.
    """
    many = 10**8
    even, uneven = (many, many), (many - 1, many + 1)
    telling, other = (uneven, even) if diverse else (even, uneven)
    tenth = 2 * many // 10
    buckets = [
        (telling, 2 * many, [(0, 4 * tenth), *((value, tenth) for value in range(1, 7))]),
        (other, 2 * many, [(value, tenth) for value in range(7, 17)]),
    ]
    verdict = one_person(2, 17, buckets, Fraction(5))
    assert verdict.holds == diverse
    assert verdict.worst == pytest.approx(0.2)


def test_sums_that_rounding_puts_on_the_wrong_side() -> None:
    """1/ℓ is exactly what a person's shares in several buckets add up to, and floats are often a last place off."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        buckets = []
        for _ in range(int(rng.integers(2, 6))):
            size = int(rng.integers(20, 90))
            telling = int(rng.integers(1, size // 3))
            rest = (size - telling) // 3
            shown = [(0, telling), (1, rest), (2, rest), (3, size - telling - 2 * rest)]
            buckets.append((rng.integers(1, size, 3).tolist(), size, shown))
        degrees = [Fraction(math.prod(fits), size**3) for fits, size, _ in buckets]
        sums = [
            sum(
                degree * Fraction(shown[value][1], size)
                for degree, (_, size, shown) in zip(degrees, buckets, strict=True)
            )
            for value in range(4)
        ]
        worst = max(sums) / sum(degrees)
        check(one_person(3, 4, buckets, 1 / worst), worst, 1 / worst)
        check(one_person(3, 4, buckets, 1 / worst + HAIR), worst, 1 / worst + HAIR)


@given(st.lists(st.integers(1, 9)), st.integers(1, 200))
def test_portions_are_everybody_once(costs: list[int], most: int) -> None:
    items = np.arange(len(costs)) + 100
    portions = list(module._portions(items, np.array(costs, dtype=np.int64), most))
    assert [item for portion in portions for item in portion.tolist()] == items.tolist()
    assert all(len(portion) == 1 or sum(costs[item - 100] for item in portion) <= most for portion in portions)


def test_who_may_be_a_hair_above_the_bound_is_not_skipped() -> None:
    """Somebody else is exactly at 1/ℓ; rounding must not make a second one look no worse."""
    judge = module._Judge([], [], [], Fraction(5), 1, worst=0.2)
    at_most, doubt = np.array([0.2, 0.2, 0.19]), np.full(3, 1e-15)
    assert judge._matters(at_most, np.array([True, False, True]), doubt).tolist() == [True, False, False]
    judge.holds = False
    assert not judge._matters(at_most, np.array([True, False, True]), doubt).any()


@pytest.mark.parametrize(("sizes", "expected"), [((1000, 10), 0.4), ((10, 1000), 0.5), ((1000, 1000), 0.25)])
def test_many_columns_do_not_sink_to_zero(sizes: tuple[int, int], expected: float) -> None:
    """A matching degree of 0.001 in each of 202 columns is far below the smallest float, and well below 0.1 in each."""
    one, other = sizes
    thirds = [-(-other * 2 // 5), other // 5 * 2, other - -(-other * 2 // 5) - other // 5 * 2]
    buckets = [
        ([1] * 202, one, [(0, one // 2), (1, one // 2)]),
        ([1] * 202, other, [(2 + value, number) for value, number in enumerate(thirds)]),
    ]
    # As good as certainly in the smaller bucket; or in either, as likely.
    assert one_person(202, 5, buckets, Fraction(1)).worst == pytest.approx(expected, rel=1e-9)


def test_no_rows_and_no_secrets() -> None:
    tally = tally_of(pl.DataFrame({"a": [1, 2, 2], "s": [1, 1, 2]}), ["s"])
    nothing = np.empty(0, dtype=np.int64)
    nobody = Permuted(nothing, np.empty((2, 0), dtype=np.int64))
    assert verify_matches(slice_tally(tally, [["a"], ["s"]], ["s"]), nobody, Fraction(2)) == Verdict(True, 0.0)
    everybody = Permuted(np.zeros(3, dtype=np.int64), np.tile(np.arange(3), (2, 1)))
    assert verify_matches(slice_tally(tally, [["a"], ["s"]]), everybody, Fraction(9)) == Verdict(True, 0.0)


@pytest.mark.parametrize("l", [10**300, Fraction(10**40 + 1, 10**39), Fraction(str(2.2))])
def test_bounds_of_any_size(l: float | Fraction) -> None:
    case = paper_case(SLICED)
    assert not verify_matches(case.slices, written(case), Fraction(l)).holds


@pytest.fixture(scope="module")
def good() -> SlicedTable:
    """A sliced table that is 4-diverse and not more, in buckets of a few rows."""
    frame = ic.datasets.census(200).drop("salary")
    quasi = [name for name in frame.columns if name != "occupation"]
    release = ic.publish(
        ic.read(frame, quasi=quasi, sensitive=["occupation"]), ic.SlicedDiversity(4), method=ic.Slicing(), seed=1
    )
    assert isinstance(release.form, SlicedTable)
    return release.form


def test_a_little_more_than_was_made_is_refused(good: SlicedTable) -> None:
    assert verify_matches(good.slices, good.permuted, Fraction(4)) == Verdict(holds=True, worst=0.25)
    assert not verify_matches(good.slices, good.permuted, 4 + HAIR).holds
    assert good.verify([ic.SlicedDiversity(4)], good.tally)[0].achieved == 4
    with pytest.raises(ConformanceError, match=r"does not satisfy sliced 4\.001-diversity; nothing was published"):
        good.verify([ic.SlicedDiversity(4.001)], good.tally)


def swapped_parts(form: SlicedTable, one: int) -> SlicedTable:
    """Give a row's bucket the row's sensitive value once more, from another bucket, in exchange for a different one."""
    column = next(place for place, names in enumerate(form.columns) if "occupation" in names)
    bucket_of, tuples = form.permuted.bucket_of, form.permuted.tuples.copy()
    values = form.slices.secrets[0].codes[tuples[column]]
    other = int(np.flatnonzero((values == values[one]) & (bucket_of != bucket_of[one]))[0])
    mate = int(np.flatnonzero((values != values[one]) & (bucket_of == bucket_of[one]))[0])
    tuples[column, [mate, other]] = tuples[column, [other, mate]]
    return replace(form, permuted=Permuted(bucket_of, tuples))


def test_two_rows_parts_swapped_between_buckets_are_refused(good: SlicedTable) -> None:
    people, refused = rows_of(good.shown), 0
    for one in range(0, good.rows, 40):
        broken = swapped_parts(good, one)
        assert guess(broken.slices, broken.buckets, 4).diverse  # which is what was meant, not what is written
        worst = naive_worst(people, read_rows(people, good.columns, broken.permuted), good.columns, ["occupation"])
        check(verify_matches(broken.slices, broken.permuted, Fraction(4)), worst, Fraction(4))
        if worst > Fraction(1, 4):
            refused += 1
            with pytest.raises(ConformanceError, match="does not satisfy sliced 4-diversity; nothing was published"):
                broken.verify([ic.SlicedDiversity(4)], broken.tally)
    assert refused > 1


@dataclass(frozen=True)
class Careless(Method):
    """A method that puts rows into buckets of so many tuples as they come, whatever is required."""

    tuples: int
    name: ClassVar[str] = "careless slicing"

    def search(
        self, tally: Tally, schema: Schema, require: Sequence[Any], *, rng: np.random.Generator, progress: Any
    ) -> Recoding:
        """Return buckets of neighbours."""
        bucket_of = np.arange(len(tally)) // self.tuples
        buckets = Buckets(np.arange(len(tally)), tally.counts, bucket_of)
        return bucket_recoding(tally, schema, buckets, ShowSlices((("age", "sex"), ("zip", "disease"))))


def test_a_careless_method_publishes_nothing() -> None:
    table = ic.read(ic.datasets.slicing_patients(), quasi=["age", "sex", "zip"], sensitive=["disease"])
    with pytest.raises(ConformanceError, match="does not satisfy sliced 2-diversity; nothing was published"):
        ic.publish(table, ic.SlicedDiversity(2), method=Careless(1), seed=0)
    with pytest.raises(ConformanceError, match="nothing was published"):
        ic.publish(table, ic.SlicedDiversity(3), method=Careless(8), seed=0)
    assert ic.publish(table, ic.SlicedDiversity(2), method=Careless(4), seed=0).guarantees[0].achieved == 2


def test_it_shares_nothing_with_what_methods_search_with() -> None:
    trees = [ast.parse(Path(one.__file__).read_text(encoding="utf-8")) for one in (module, written_matches)]
    imported = {node.module for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name and name.startswith("incrowd")} == {
        "incrowd.common.arrays",
        "incrowd.common.records",  # when the methods of a dataclass are made decides nothing
        "incrowd.common.threads",  # that columns are read at the same time decides nothing
        "incrowd.core.tally",
        "incrowd.forms.slices.permutation",
        "incrowd.forms.slices.slices",
        "incrowd.forms.slices.written_matches",
        "incrowd.kernels.run_counts",
    }
    source = Path(incrowd.__file__).parent
    users = {path.name for path in source.rglob("*.py") if "import count_in_runs" in path.read_text(encoding="utf-8")}
    assert users == {"written_matches.py"}
