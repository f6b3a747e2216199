"""Cutting a tally into columns: numbers of known parts, secrets, overlapping columns."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given

from incrowd.forms.slices.slices import Slices, slice_tally, whole_values
from tests.forms.slices.slicing_cases import Case, cases, tally_of


def same_partition(numbers: list[int], keys: list[tuple[int, ...]]) -> bool:
    return len(set(zip(numbers, keys, strict=True))) == len(set(numbers)) == len(set(keys))


def check(slices: Slices, rows: list[dict[str, int]], columns: list[list[str]], sensitive: list[str]) -> None:
    for place, column in enumerate(columns):
        keys = [tuple(row[name] for name in column if name not in sensitive) for row in rows]
        numbers = slices.known[:, place].tolist()
        assert same_partition(numbers, keys)
        assert set(numbers) == set(range(len(set(keys))))


@given(cases())
def test_known_parts_are_numbered(case: Case) -> None:
    check(case.slices, case.rows, case.columns, case.sensitive)  # type: ignore[arg-type]
    for secret, name in zip(case.slices.secrets, case.secrets, strict=True):
        assert name in case.columns[secret.column]
        assert secret.codes.tolist() == case.tally.column(name).tolist()


@given(cases())
def test_whole_values(case: Case) -> None:
    whole = whole_values(case.slices)
    check(whole, case.rows, case.columns, [])  # type: ignore[arg-type]
    assert whole.secrets == ()


def test_many_combinations() -> None:
    """More combinations are possible than a lookup table should hold."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.integers(0, 60, 300) for name in "abcde"})
    tally = tally_of(frame)
    rows = [dict(zip(tally.columns, codes, strict=True)) for codes in tally.codes.tolist()]
    columns = [["a", "b"], ["a", "b", "c", "d", "e"]]
    check(slice_tally(tally, columns), rows, columns, [])


def test_columns_may_overlap() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "s": [1, 2, 3, 4]})
    tally = tally_of(frame, ["s"])
    slices = slice_tally(tally, [["a", "b"], ["b", "s"], ["a", "s"]], ["s"])
    assert [len(set(column)) for column in slices.known.T.tolist()] == [4, 2, 2]
    assert [secret.column for secret in slices.secrets] == [1, 2]
