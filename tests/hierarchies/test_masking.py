"""Masking: codes lose characters from one end, and every masked code says what it stands for."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError
from incrowd.hierarchies.masking import Masking
from tests.hierarchies.grown import CHECKED, node_runs

codes_of_any_length = st.lists(st.text("01aß東", min_size=2, max_size=5), max_size=8, unique=True)


@CHECKED
@given(codes_of_any_length, st.sampled_from(["right", "left"]), st.sampled_from([(), (1,), (2, 3), (1, 9)]))
def test_each_level_hides_as_many_characters_as_it_says(found: list[str], side: str, steps: tuple[int, ...]) -> None:
    tree, codes = Masking(side=side, steps=steps, mask="#").build("zip", pl.Series(found, dtype=pl.String))  # type: ignore[arg-type]
    assert len(node_runs(tree)) >= 1  # every node is in one piece
    longest = max(map(len, found), default=1)
    levels = [step for step in steps or range(1, longest) if step < longest]
    assert tree.height == len(levels) + 1
    for value, code in zip(found, codes, strict=True):
        for step, level, names in zip(levels, tree.nodes[1:], tree.names[1:], strict=False):
            hidden = min(step, len(value))
            kept = value[: len(value) - hidden] if side == "right" else value[hidden:]
            expected = kept + "#" * hidden if side == "right" else "#" * hidden + kept
            assert names[int(level[code])] == expected


def test_zip_codes_by_hand() -> None:
    tree, codes = Masking(steps=(2, 3)).build("zip", pl.Series(["75001", "75002", "75110", "13001", None]))
    assert [names.to_list()[1:] for names in tree.names[1:3]] == [["130**", "750**", "751**"], ["13***", "75***"]]
    assert codes.tolist() == [2, 3, 4, 1, 0]


def test_from_the_left() -> None:
    tree, _ = Masking(side="left", steps=(3,)).build("plate", pl.Series(["AB-12", "CD-12", "AB-34"]))
    assert tree.names[1].to_list() == [None, "***12", "***34"]


def test_whole_numbers_and_leading_zeros_keep_their_digits() -> None:
    assert Masking().build("zip", pl.Series([75001, 75002]))[0].names[1].to_list() == [None, "7500*"]
    assert Masking().build("zip", pl.Series(["01234"]))[0].names[0].to_list() == [None, "01234"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64])
@pytest.mark.parametrize("steps", [(), (1, 2)])
def test_a_column_without_values(dtype: pl.DataType, steps: tuple[int, ...]) -> None:
    tree, codes = Masking(steps=steps).build("zip", pl.Series([None], dtype=dtype))
    assert (tree.size, codes.tolist()) == (1, [0])


def test_one_value_and_empty_text() -> None:
    assert Masking().build("zip", pl.Series(["7"]))[0].height == 1
    assert Masking().build("zip", pl.Series(["", "75"]))[0].names[1].to_list() == [None, "", "7*"]


def test_a_mask_that_would_read_as_anything_is_refused() -> None:
    house_numbers = pl.Series(["7", "12", "105"])
    with pytest.raises(HierarchyError, match=r"column 'no': a value of one character.*Hint: choose another mask"):
        Masking().build("no", house_numbers)
    assert Masking(mask="#").build("no", house_numbers)[0].names[1].to_list() == [None, "#", "1#", "10#"]


def test_a_value_that_looks_like_a_masked_one_is_refused() -> None:
    with pytest.raises(HierarchyError, match="column 'zip': a value looks like the masked form of others") as caught:
        Masking().build("zip", pl.Series(["75*", "751", "752"]))
    assert "75*" not in str(caught.value)


def test_long_values_need_their_steps_stated() -> None:
    value = "x" * 33
    with pytest.raises(HierarchyError, match=r"up to 33 characters.*Hint: give masking its steps"):
        Masking().build("id", pl.Series([value]))
    assert Masking(steps=(30,)).build("id", pl.Series([value]))[0].height == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"side": "middle"}, "side is 'right' or 'left', not 'middle'"),
        ({"mask": ""}, "one character"),
        ({"mask": "**"}, "one character"),
        ({"steps": (0, 1)}, "ascending"),
        ({"steps": (2, 2)}, "ascending"),
    ],
)
def test_parameters_that_contradict_themselves(parameters: dict, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Masking(**parameters)
