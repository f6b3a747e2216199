"""Mean-square contingency: by the formula in fractions, at its ends, and after binning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.methods.slicing_parts.correlation import coarsen, contingency, contingency_of_codes
from tests.forms.slices.slicing_cases import tally_of


def naive(first: list[int], second: list[int]) -> Fraction:
    """φ² as it is written."""
    rows = len(first)
    one, other, both = Counter(first), Counter(second), Counter(zip(first, second, strict=True))
    smaller = min(len(one), len(other))
    if smaller == 1:
        return Fraction(0)
    total = Fraction(0)
    for a in one:
        for b in other:
            expected = Fraction(one[a], rows) * Fraction(other[b], rows)
            total += (Fraction(both[a, b], rows) - expected) ** 2 / expected
    return total / (smaller - 1)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    rows = draw(st.integers(1, 25))
    columns = draw(st.integers(1, 4))
    values = st.integers(0, draw(st.integers(0, 5)))
    return [draw(st.lists(values, min_size=rows, max_size=rows)) for _ in range(columns)]


@given(tables())
def test_as_the_formula(columns: list[list[int]]) -> None:
    distinct, counts = np.unique(np.array(columns, dtype=np.int32).T, axis=0, return_counts=True)
    phi = contingency_of_codes(np.ascontiguousarray(distinct), counts)
    for a, first in enumerate(columns):
        for b, second in enumerate(columns):
            expected = 1.0 if a == b else float(naive(first, second))
            assert phi[a, b] == pytest.approx(expected, abs=1e-12)
    assert (phi == phi.T).all()


def test_a_table_of_two_by_two() -> None:
    """(30 · 40 − 20 · 10)² / (50 · 50 · 40 · 60) = 1/6."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    phi = contingency_of_codes(codes, np.array([30, 20, 10, 40]))
    assert phi[0, 1] == pytest.approx(1 / 6)


def test_one_attribute_decides_the_other_or_tells_nothing() -> None:
    frame = pl.DataFrame({"city": [*"aabbcc"], "country": [*"xxyyyy"], "coin": [*"htthht"], "same": ["z"] * 6})
    phi = contingency(tally_of(frame), ["city", "country", "coin", "same"])
    assert phi[0, 1] == pytest.approx(1)
    assert phi[0, 2] == pytest.approx(0)
    assert phi[3].tolist() == [0, 0, 0, 1]


def test_no_rows() -> None:
    assert contingency_of_codes(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64)).tolist() == [
        [1, 0],
        [0, 1],
    ]


def binned(values: Sequence[float | None], bins: int, binning: str) -> list[int]:
    tally = tally_of(pl.DataFrame({"a": values}, strict=False))
    tree = tally.trees["a"]
    coarse = coarsen(tree, tally.value_counts("a"), bins, binning, 100)  # type: ignore[arg-type]
    place = {value: int(coarse[code]) for code, value in enumerate(tree.values.to_list())}
    return [place[value] for value in values]


def test_bins_of_equal_width() -> None:
    assert binned([0, 1, 2, 3, 50, 99, 100, None], 4, "width") == [1, 1, 1, 1, 3, 4, 4, 0]


def test_bins_of_equal_frequency() -> None:
    assert binned([0, 1, 2, 3, 50, 99, 100, 1000, None], 4, "frequency") == [1, 1, 2, 2, 3, 3, 4, 4, 0]
    # Half of the rows are one value, which is a bin; the others share two of the bins that are left.
    assert binned([7] * 6 + [1, 2, 3, 8, 9, 10], 4, "frequency") == [3] * 6 + [1, 1, 1, 4, 4, 4]


def test_few_numbers_are_not_binned() -> None:
    assert binned([5, 1000, 6, None], 3, "width") == [1, 3, 2, 0]


def test_rare_names_are_one() -> None:
    names = [*"aaabbcdefg"]
    tally = tally_of(pl.DataFrame({"a": names}))
    coarse = coarsen(tally.trees["a"], tally.value_counts("a"), 10, "width", 3)
    codes = dict(zip(tally.trees["a"].values.to_list(), coarse.tolist(), strict=True))
    assert len({codes[name] for name in "cdefg"}) == 1
    assert len({codes[name] for name in "abc"}) == 3


def test_names_without_repetition_would_seem_to_decide_everything() -> None:
    """With as many names as rows, φ² is 1 for whatever there is; with the rare ones as one it is not."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"id": [f"n{row:04}" for row in range(2000)], "coin": rng.integers(0, 2, 2000).astype(str)})
    tally = tally_of(frame)
    assert contingency(tally, ["id", "coin"], most_names=10_000)[0, 1] == pytest.approx(1)
    assert contingency(tally, ["id", "coin"])[0, 1] < 0.1


@pytest.mark.parametrize("binning", ["width", "frequency"])
def test_what_hangs_together_in_the_census(binning: str) -> None:
    tally = tally_of(ic.datasets.census(20_000))
    names = list(tally.columns)
    phi = contingency(tally, names, binning=binning)  # type: ignore[arg-type]
    strongest = {
        "age": "marital",
        "marital": "age",
        "race": "birth_place",
        "birth_place": "race",
        "sex": "occupation",
        "salary": "occupation",
    }
    np.fill_diagonal(phi, 0)
    assert {name: names[int(np.argmax(phi[names.index(name)]))] for name in strongest} == strongest
