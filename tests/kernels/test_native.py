"""Loops refuse what they are not made for, give back what they make, and are built where they can be."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from incrowd.kernels.histograms import count_values
from incrowd.kernels.keys import number_keys
from incrowd.kernels.native import building
from incrowd.kernels.native.calling import call
from incrowd.kernels.partition import sort_by_piece

FOUR = np.arange(4)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((FOUR,), "1 arguments in place of 2"),
        ((FOUR, FOUR, FOUR), "3 arguments in place of 2"),
        ((FOUR.astype(np.int32), FOUR), "type 4 in 1 dimensions in place of type 5 in 1"),
        ((FOUR.reshape(2, 2), FOUR), "in 2 dimensions in place of type 5 in 1"),
        ((FOUR, 3), "type 1 in 0 dimensions"),
        ((FOUR, 3.0), "type 2 in 0 dimensions"),
    ],
)
def test_what_a_loop_is_not_made_for_is_refused(arguments: tuple[object, ...], told: str) -> None:
    with pytest.raises(RuntimeError, match=told):
        call("number_keys", *arguments)


def test_arrays_that_are_not_in_one_piece_are_refused() -> None:
    with pytest.raises(TypeError, match="not in C order"):
        call("number_keys", np.arange(8)[::2], FOUR)
    with pytest.raises(KeyError):
        call("number_keys", FOUR.astype(">i8"), FOUR)


def test_a_loop_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(AttributeError):
        call("no_such_loop")


def test_loops_agree_with_python() -> None:
    rng = np.random.default_rng(5)
    for size in (0, 1, 7, 500):
        keys = rng.integers(-3, 60, size)
        numbers, found = number_keys(keys)
        first: dict[int, int] = {}
        assert numbers.tolist() == [first.setdefault(key, len(first)) for key in keys.tolist()]
        assert found == len(first)
        order, starts = sort_by_piece(np.arange(size), numbers, found)
        assert order.tolist() == sorted(range(size), key=lambda place: numbers[place])
        assert np.diff(starts).tolist() == np.bincount(numbers, minlength=found).tolist()
        codes, counts = rng.integers(0, 90, size).astype(np.int32), rng.integers(1, 9, size)
        offsets, values, totals = count_values(numbers, codes, counts, found)
        for group in range(found):
            there = numbers == group
            here = slice(offsets[group], offsets[group + 1])
            assert values[here].tolist() == sorted(set(codes[there].tolist()))
            assert totals[here].tolist() == [int(counts[there & (codes == value)].sum()) for value in values[here]]


@pytest.mark.parametrize("most", [3, 10_000, 2**62])
def test_many_keys_are_numbered_in_the_order_in_which_they_are_met(most: int) -> None:
    """Few or many different ones: the table of those that were met becomes longer twice."""
    keys = np.random.default_rng(1).integers(-most, most, 90_000)
    first: dict[int, int] = {}
    expected = [first.setdefault(key, len(first)) for key in keys.tolist()]
    numbers, found = number_keys(keys)
    assert numbers.tolist() == expected
    assert found == len(first)


def test_threads_do_not_disturb_each_other() -> None:
    keys = [np.random.default_rng(seed).integers(0, 5000, 40_000) for seed in range(8)]
    alone = [number_keys(one) for one in keys]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(number_keys, keys))
    for (ours, number), (theirs, other) in zip(alone, together, strict=True):
        assert number == other
        assert np.array_equal(ours, theirs)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library's source in a folder of its own."""
    here = building.HERE
    shutil.copy(here / "arguments.hpp", tmp_path)
    (tmp_path / "all.cpp").write_text('#include "arguments.hpp"\n', encoding="utf-8", newline="\n")
    monkeypatch.setattr(building, "HERE", tmp_path)
    return tmp_path


def test_a_change_of_the_source_builds_the_library_again(copied: Path) -> None:
    if not building.compiler():
        pytest.skip("there is no C++ compiler here")
    assert building.library() is None
    first = building.build()
    assert building.library() == first
    with (copied / "all.cpp").open("a", encoding="utf-8", newline="\n") as file:
        file.write("// changed\n")
    assert building.library() is None
    second = building.build()
    assert second != first
    assert sorted(copied.glob(f"*{building.ENDING}")) == [second]
    for source in building.source_files():
        source.unlink()
    assert building.library() == second  # as it is installed


def test_what_a_killed_build_left_is_removed(copied: Path) -> None:
    if not building.compiler():
        pytest.skip("there is no C++ compiler here")
    left, other = (copied / f"building-{number}{building.ENDING}" for number in (1, 2))
    left.touch()
    other.touch()
    os.utime(left, (0, 0))
    made = building.build()
    assert sorted(copied.glob(f"*{building.ENDING}")) == sorted([made, other])  # that one may still be built


def test_what_cannot_be_built_says_why(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "compiler", list)
    with pytest.raises(building.BuildError, match="pip install ziglang, or set CXX"):
        building.build()
    monkeypatch.undo()
    monkeypatch.setattr(building, "HERE", copied)
    if building.compiler():
        (copied / "all.cpp").write_text("this is no C++\n", encoding="utf-8", newline="\n")
        with pytest.raises(building.BuildError, match="could not be built"):
            building.build()
        assert not list(copied.glob(f"*{building.ENDING}"))


def test_the_compiler_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "some-compiler --fast")
    assert building.compiler() == ["some-compiler", "--fast"]
