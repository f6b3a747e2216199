from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from incrowd.metrics.ambiguity import Ambiguity, mean_combinations_bits
from incrowd.testing import Case
from tests.metrics.recoded import (
    AGES,
    ODD,
    Recoded,
    all_withheld,
    drawn_recodings,
    recode,
    starred,
    torn_labels,
    untouched,
)


def naive(recoded: Recoded) -> tuple[Fraction, int]:
    """Return the mean number of combinations, and how many there are in all."""
    total = 0
    for _, shown in recoded.rows:
        total += math.prod(len(recoded.may_be(name, "*" if shown is None else shown[name])) for name in recoded.quasi)
    return Fraction(total, len(recoded.rows)), math.prod(len(recoded.domain(name)) for name in recoded.quasi)


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        mean, all_of_them = naive(recoded)
        assert 2 ** mean_combinations_bits(recoded.tally, recoded.release) == pytest.approx(float(mean))
        expected = math.log2(mean) / math.log2(all_of_them) if all_of_them > 1 else 0
        assert Ambiguity().measure(recoded.tally, recoded.release) == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    # missing writer | 20 lawyer, 20 lawyer, 21 clerk | 22 writer, withheld | 80 dancer
    recoded = recode(AGES, [0, 1, 1, 1, -1, 2])
    # The range of 20 and 21 ends between 21 and 80, the next age that is published: it stands for 22, too.
    mean = (1 + 3 * (3 * 2) + 5 * 5 + 1) / 6  # four ages or missing, five jobs
    assert 2 ** mean_combinations_bits(recoded.tally, recoded.release) == pytest.approx(mean)
    assert Ambiguity().measure(recoded.tally, recoded.release) == pytest.approx(math.log(mean) / math.log(25))


def test_more_combinations_than_a_float_can_count() -> None:
    dice = np.random.default_rng(0)
    names = np.array([f"v{place}" for place in range(400)])
    frame = pl.DataFrame({f"c{place}": dice.permutation(names) for place in range(120)})  # 400 ** 120
    case = Case(frame, quasi=tuple(frame.columns))
    half = recode(case, [-1] * 200 + list(range(200)))
    bits = mean_combinations_bits(half.tally, half.release)
    assert bits == pytest.approx(120 * math.log2(400) - 1)
    assert Ambiguity().measure(half.tally, half.release) == pytest.approx(bits / (bits + 1))


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, hidden, gone = untouched(case), starred(case), all_withheld(case)
    assert Ambiguity().measure(raw.tally, raw.release) == 0
    something = any(len(raw.domain(name)) > 1 for name in case.quasi)
    assert Ambiguity().measure(hidden.tally, hidden.release) == pytest.approx(float(something))
    assert Ambiguity().measure(gone.tally, gone.release) == pytest.approx(float(something))


def test_names_that_are_no_neighbours_stand_for_themselves() -> None:
    for recoded in torn_labels():
        mean, _ = naive(recoded)
        assert 2 ** mean_combinations_bits(recoded.tally, recoded.release) == pytest.approx(float(mean))
