"""What nobody should give a part, and what everybody may: the same values for tests and for campaigns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.core.families import registered

IN_RECIPES: tuple[Any, ...] = (
    True, False, 0, 1, -1, 2, 3, 7,
    2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**310,
    0.0, -0.0, 0.5, 1.0, 1.5, 2.0, -0.5, 5e-324, 1e-300, 1e-9, 1e18, 1e300, math.inf, -math.inf, math.nan,
    "", "x", "*", "1", "0.5", "1/3", "1/0", "1e-300", "1e999999999", "nan", "∞", "a\0b", "z" * 5000, "two\nlines",
    "age", "ill", "refuse", "gcp",
    [], [[]], [1], [0], [-1], [1, 1], [2, 1], [10**20], [math.nan], [math.inf], [0.1, 0.2], [1e-300], [True], [{}],
    ["x"], ["age"], ["age", "age"], [["age"]], [["age"], ["age"]], [["age", "ill"]], [["age"], [1]], [[1, 2], [1]],
    {}, {"x": 1}, {"age": 1}, {"age": -1}, {"age": 10**20}, {"age": "x"}, {"age": 0.5}, {"age": math.nan},
    {"age": math.inf}, {"age": 0}, {"age": True}, {"age": []}, {"age": {}}, {"age": ["x"]}, {"": ""},
    {"x": ["a", "a"]}, {"x": {"y": {"z": ["a"]}}}, {"flu": 0.5}, {"ill": {"flu": 0.5}},
    [{"when": {"age": {"from": 20}}, "then": "flu", "confidence": 0.5}], [{"when": {"age": []}, "then": 1}],
    date(2020, 1, 1), datetime(2020, 1, 1, 1, 1), time(1, 2),
)  # fmt: skip
"""Values that a recipe can hold."""

IN_PYTHON: tuple[Any, ...] = (
    None, [None], object(), b"x", 1j, Fraction(1, 3), Fraction(1, 10**400), Fraction(10**400), 10**5000,
    Decimal("0.1"), Decimal("NaN"), Decimal("1e-999999"), np.int64(3), np.float64(0.5), np.float64("nan"),
    np.bool_(True), np.array([1, 2]), np.array(1), set(), range(3), int, len,
)  # fmt: skip
"""Values that only a program can give."""

GOOD: dict[str, dict[str, Any]] = {
    "shift": {"most_days": 30},
    "alpha-k-anonymity": {"alpha": 0.8, "k": 2},
    "basic-beta-likeness": {"beta": 3.0},
    "bayes-optimal-privacy": {"tau": 0.9},
    "confidence-bounds": {"bounds": {"flu": 0.9}},
    "delta-disclosure": {"delta": 3.0},
    "delta-presence": {"max_presence": 0.9},
    "distinct-l-diversity": {"l": 2},
    "enhanced-beta-likeness": {"beta": 3.0},
    "entropy-l-diversity": {"l": 1.5},
    "full-k-anonymity": {"k": 2},
    "individual-risk": {"risk": 0.5},
    "journalist-risk": {"risk": 0.5},
    "k-anonymity": {"k": 3},
    "k-map": {"k": 3},
    "ke-anonymity": {"k": 2, "e": 1.0},
    "marketer-risk": {"risk": 0.5},
    "minimum-variance": {"share": 0.1},
    "population-uniqueness": {"max_share": 0.5},
    "probabilistic-l-diversity": {"l": 1.5},
    "prosecutor-risk": {"risk": 0.5},
    "recursive-l-diversity": {"c": 3.0, "l": 2},
    "sliced-diversity": {"l": 2},
    "t-closeness": {"t": 0.5},
    "adaptive": {"epsilon": 1.0},
    "consistent-diffgen": {"epsilon": 1.0},
    "diffgen": {"epsilon": 1.0},
    "flat-histogram": {"epsilon": 1.0},
    "hierarchical-histogram": {"epsilon": 1.0},
    "marginals": {"epsilon": 1.0},
    "k-dgs": {"k": 2, "levels": {"age": 1, "sex": 0}},
    "sdgs": {"k": 2, "levels": {"age": 1, "sex": 0}},
}
"""Parameters of the parts that cannot do without."""


def good_parts(family: str) -> Iterator[tuple[type[Any], dict[str, Any]]]:
    """Yield every registered class with keys of a recipe that make one."""
    for name, kind in registered(family).items():
        if name in GOOD:
            yield kind, GOOD[name]
        else:
            for example in kind.examples():
                yield kind, example.to_recipe()
