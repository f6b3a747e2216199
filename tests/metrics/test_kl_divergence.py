from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import incrowd as ic
from incrowd.metrics.kl_divergence import KLDivergence
from incrowd.testing import Case
from incrowd.testing.reading import covers
from tests.metrics.recoded import (
    AGES,
    CHECKED,
    ODD,
    Recoded,
    all_withheld,
    recode,
    recodings,
    starred,
    torn_labels,
    untouched,
)

Combination = tuple[Any, ...]


def naive(recoded: Recoded) -> float:
    """Spread every row over each combination that it may stand for, one by one."""
    sensitive = recoded.case.sensitive
    names = (*recoded.quasi, *sensitive)
    rows = len(recoded.rows)
    expected: Counter[Combination] = Counter()
    for values, shown in recoded.rows:
        if shown is None:
            region = [recoded.domain(name) for name in names]
        else:
            region = [recoded.may_be(name, shown[name]) for name in recoded.quasi]
            region += [[values[name]] for name in sensitive]
        share = Fraction(1, rows * math.prod(map(len, region)))
        for combination in itertools.product(*region):
            expected[combination] += share
    assert sum(expected.values()) == 1
    original = Counter(tuple(values[name] for name in names) for values, _ in recoded.rows)
    return math.fsum(
        count / rows * math.log2(Fraction(count, rows) / expected[combination])
        for combination, count in original.items()
    )


@CHECKED
@given(recoded=recodings(most_rows=12, most_quasi=3, most_sensitive=1))
def test_agrees_with_its_definition(recoded: Recoded) -> None:
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-9)


def test_names_that_are_no_neighbours_stand_for_themselves() -> None:
    """What is withheld is not named: a label may leave out values that lie between."""
    for recoded in torn_labels():
        assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-9)


def spread(recoded: Recoded) -> float:
    """The same over the original combinations only, in logarithms and with no count of the domain's combinations."""
    rows = recoded.rows
    names = (*recoded.quasi, *recoded.case.sensitive)
    original = Counter(tuple(values[name] for name in names) for values, _ in rows)
    everywhere = sum(math.log2(len(recoded.domain(name))) for name in names)
    total = 0.0
    for combination, count in original.items():
        here = dict(zip(names, combination, strict=True))
        expected = 0.0
        for values, shown in rows:
            if shown is None:
                expected += 2**-everywhere
            elif all(values[name] == here[name] for name in recoded.case.sensitive) and all(
                covers(shown[name], here[name], recoded.case.hierarchy(name), ordered=recoded.tree(name).ordered)
                for name in recoded.quasi
            ):
                expected += 1 / math.prod(len(recoded.may_be(name, shown[name])) for name in recoded.quasi)
        total += count / len(rows) * math.log2(count / expected)
    return total


@CHECKED
@given(recoded=recodings(most_rows=25, most_quasi=4, most_sensitive=2))
def test_agrees_with_its_definition_on_wider_tables(recoded: Recoded) -> None:
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(spread(recoded), abs=1e-9)


LETTERS = Case(pl.DataFrame({"a": list("wwwxyyzz")}), quasi=("a",), hierarchies={"a": ic.Flat()})


def test_by_hand() -> None:
    recoded = recode(LETTERS, [0, 0, 1, 2])  # {w, x}: 4 rows, 2 expected of each
    expected = 3 / 8 * math.log2(3 / 2) + 1 / 8 * math.log2(1 / 2)
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(expected)


def test_groups_that_overlap_add_up() -> None:
    # two of three w with x, the third with x and y: of w, x and y they expect 1.5 + 4/3, 1.5 + 4/3 and 4/3 rows
    recoded = recode(LETTERS, [0, 1, 0, 1, 1, 2], tuples=[0, 0, 1, 1, 2, 3], counts=[2, 1, 1, 0, 2, 2])
    assert recoded.release.shown.labels["a"].to_list() == ["{w, x}", "{w, x, y}", "z"]
    parts = {3: 1.5 + 1, 1: 1.5 + 1, 2: 1}
    expected = sum(count / 8 * math.log2(count / part) for count, part in parts.items())
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(expected)


def test_withheld_rows_may_be_anything() -> None:
    recoded = recode(LETTERS, [0, 1, 2, -1])  # the two z are expected to be half a row of each letter
    expected = sum(count / 8 * math.log2(count / (count + 0.5)) for count in (3, 1, 2)) + 2 / 8 * math.log2(2 / 0.5)
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(expected)


def test_sensitive_values_count_too() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", "flu", "cold", "cold"]})
    apart = Case(frame, quasi=("a",), sensitive=("s",))
    recoded = recode(apart, [0, 0])  # a and s went together; now each a has either s
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(1)
    alone = Case(frame.drop("s"), quasi=("a",))
    recoded = recode(alone, [0, 0])
    assert KLDivergence().measure(recoded.tally, recoded.release) == pytest.approx(0)


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, hidden, gone = untouched(case), starred(case), all_withheld(case)
    assert KLDivergence().measure(raw.tally, raw.release) == 0
    names = (*case.quasi, *case.sensitive)
    rows = [tuple(values[name] for name in names) for values, _ in gone.rows]
    domain = math.prod(len(gone.domain(name)) for name in names)
    anything = sum(math.log2(rows.count(row) / len(rows) * domain) for row in rows) / len(rows)
    assert KLDivergence().measure(gone.tally, gone.release) == pytest.approx(anything, abs=1e-12)
    assert KLDivergence().measure(hidden.tally, hidden.release) == pytest.approx(naive(hidden), abs=1e-12)


def test_shares_too_small_for_a_float() -> None:
    dice = np.random.default_rng(0)
    names = np.array([f"v{place}" for place in range(400)])
    frame = pl.DataFrame({f"c{place}": dice.permutation(names) for place in range(120)})  # 400 ** 120 combinations
    case = Case(frame, quasi=tuple(frame.columns))
    hidden = starred(case)
    all_bits = 120 * math.log2(400)
    assert KLDivergence().measure(hidden.tally, hidden.release) == pytest.approx(all_bits - math.log2(400))
    half = recode(case, [-1] * 200 + list(range(200)))
    assert KLDivergence().measure(half.tally, half.release) == pytest.approx((all_bits - math.log2(200)) / 2)


def test_of_a_sample_it_is_finite_and_larger_the_less_is_taken() -> None:
    table = ic.read(ic.datasets.census(3000), quasi=["age", "sex", "education"], others="drop")
    found = []
    for rate in (1, 0.5, 0.05):
        release = ic.publish(table, [ic.KAnonymity(2)], sample=rate, seed=3)
        found.append(KLDivergence().measure(release.form.tally, release.form))
    assert 0 < found[0] < found[1] < found[2] < math.inf
