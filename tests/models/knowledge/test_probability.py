"""The probability of a record: products of shares where columns are independent, and what rules and a fit change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.groups import Groups, Histogram, Regions
from incrowd.core.tally import Tally
from incrowd.errors import SchemaError
from incrowd.models.knowledge import Rule, fitted_shares, record_probabilities

FRAME = pl.DataFrame(
    {
        "age": [20, 20, 20, 40, 40, 40, 40, None],
        "sex": ["F", "F", "M", "F", "M", "M", "M", "M"],
        "ill": ["flu", "flu", "cold", "flu", "cold", "cold", "cold", "cold"],
    }
)
"""Shares: 20 3/8, 40 4/8, missing 1/8; F 3/8, M 5/8; flu 3/8, cold 5/8."""


def tally() -> Tally:
    table = ic.read(FRAME, quasi=["age", "sex"], sensitive=["ill"])
    return table.engine.count(table.schema).tally


def code(tally: Tally, column: str, value: object) -> int:
    return tally.trees[column].values.to_list().index(value)


def probabilities(boxes: list[dict[str, tuple[int, int]]], values: list[list[Any]], **known: Any) -> list[float]:
    """Return the probability of each group's values; a group shows a run of codes in each column."""
    counted = tally()
    columns = ("age", "sex")
    lows, highs = (np.array([[box[name][end] for name in columns] for box in boxes], dtype=np.int32) for end in (0, 1))
    codes = [code(counted, "ill", value) for group in values for value in group]
    offsets = np.cumsum([0, *map(len, values)])
    histogram = Histogram(offsets, np.array(codes, dtype=np.int32), np.ones(len(codes), dtype=np.int64))
    groups = Groups(
        np.array([len(group) for group in values]),
        {"ill": histogram},
        trees=counted.trees,
        table=counted,
        regions=lambda: Regions(columns, lows, highs),
    )
    return record_probabilities(groups, "ill", histogram, marginals=known.pop("marginals", {}), **known).tolist()


ALL = {"age": (0, 3), "sex": (0, 3)}
YOUNG = {"age": (1, 2), "sex": (0, 3)}
OLD_MEN = {"age": (2, 3), "sex": (2, 3)}


def test_columns_are_independent_and_frequencies_those_of_the_table() -> None:
    found = probabilities([ALL, YOUNG, OLD_MEN], [["flu", "cold"], ["flu"], ["flu", "cold"]])
    assert found == pytest.approx([3 / 8, 5 / 8, 3 / 8 * 3 / 8, 4 / 8 * 5 / 8 * 3 / 8, 4 / 8 * 5 / 8 * 5 / 8])


def test_no_group_has_no_probability() -> None:
    columns = ("age", "sex")
    nothing = Histogram(np.array([0]), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
    empty = Regions(columns, *(np.zeros((0, 2), dtype=np.int32) for _ in range(2)))
    groups = Groups(np.zeros(0, dtype=np.int64), {"ill": nothing}, table=tally(), regions=lambda: empty)
    assert record_probabilities(groups, "ill", nothing, marginals={}).tolist() == []


def test_what_somebody_knows_replaces_the_table_s_frequencies() -> None:
    known = {"age": {"20": 0.1, "40": 0.9}, "ill": {"flu": 0.01}}
    found = probabilities([YOUNG, OLD_MEN], [["flu"], ["flu", "cold"]], marginals=known)
    assert found == pytest.approx([0.1 * 0.01, 0.9 * 5 / 8 * 0.01, 0.0])


def test_a_rule_replaces_the_product_for_the_people_and_the_value_it_speaks_of() -> None:
    rules = [Rule({"sex": "F"}, "flu", 0.5)]
    everybody, women = 3 / 8, 3 / 8
    found = probabilities([ALL, OLD_MEN], [["flu", "cold"], ["flu"]], rules=rules)
    # Of everybody with the flu, those who are women are not 3/8 of women, but half of them.
    assert found == pytest.approx([everybody - women * 3 / 8 + women * 0.5, 5 / 8, 4 / 8 * 5 / 8 * 3 / 8])
    assert probabilities([ALL], [["cold"]], rules=[Rule({"sex": "F"}, "plague", 1)]) == pytest.approx([5 / 8])


def test_a_rule_about_nobody_changes_nothing_and_a_certain_one_is_no_more_than_certain() -> None:
    assert probabilities([ALL], [["flu"]], rules=[Rule({"age": 99}, "flu", 1)]) == pytest.approx([3 / 8])
    assert probabilities([ALL], [["flu"]], rules=[Rule({"age": (0, 99), "sex": ["F", "M"]}, "flu", 1)])[0] <= 1
    assert probabilities([ALL], [["flu"]], rules=[Rule({"sex": ["F", "M"]}, "flu", 0)]) == pytest.approx([0.0])


def test_fitted_shares_are_smoothed_by_one_person_who_is_like_everybody() -> None:
    counted = tally()
    shares = fitted_shares(counted, "sex", "ill")
    women, men = code(counted, "sex", "F"), code(counted, "sex", "M")
    flu, cold = code(counted, "ill", "flu"), code(counted, "ill", "cold")
    assert shares[women, flu] == pytest.approx((3 + 3 / 8) / 4)
    assert shares[men, flu] == pytest.approx((0 + 5 / 8) / 4)
    assert shares[men, cold] == pytest.approx((5 + 5 / 8) / 6)
    assert shares[:, 0] == pytest.approx(np.array([0, 3 / 8, 5 / 8]))  # nobody misses it: as everybody
    assert shares.sum(axis=0) == pytest.approx(np.ones(shares.shape[1]))


def test_a_fit_knows_that_no_man_has_the_flu() -> None:
    counted = tally()
    found = probabilities([OLD_MEN], [["flu", "cold"]], dependence="fitted")
    ages, sexes = fitted_shares(counted, "age", "ill"), fitted_shares(counted, "sex", "ill")
    old, men = code(counted, "age", 40), code(counted, "sex", "M")
    expected = [
        share * ages[old, value] * sexes[men, value]
        for value, share in ((code(counted, "ill", "flu"), 3 / 8), (code(counted, "ill", "cold"), 5 / 8))
    ]
    assert found == pytest.approx(expected)
    assert found[0] < probabilities([OLD_MEN], [["flu"]])[0] < probabilities([OLD_MEN], [["cold"]])[0] < found[1]


def test_a_rule_replaces_a_fit_too() -> None:
    ruled = probabilities([ALL], [["flu"]], rules=[Rule({"sex": "M"}, "flu", 0.0)], dependence="fitted")
    counted = tally()
    women = fitted_shares(counted, "sex", "ill")[code(counted, "sex", "F"), code(counted, "ill", "flu")]
    assert ruled == pytest.approx([3 / 8 * women])


def test_labels_without_the_table_they_were_made_from_have_no_probability() -> None:
    counted = tally()
    nothing = Histogram(np.array([0]), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
    bare = Groups(np.zeros(0, dtype=np.int64), {"ill": nothing})
    for groups in (bare, replace(bare, table=counted)):
        with pytest.raises(SchemaError, match="needs the table that they were made from"):
            record_probabilities(groups, "ill", nothing, marginals={})
