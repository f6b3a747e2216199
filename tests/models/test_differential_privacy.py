"""Differential privacy as a model: it is told, and never checked."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SchemaError
from incrowd.models.differential_privacy import DifferentialPrivacy


def test_it_says_what_is_promised() -> None:
    assert str(DifferentialPrivacy("1/3")) == "differential privacy (ε = 0.333333)"
    assert str(DifferentialPrivacy("1", "1e-6")) == "differential privacy (ε = 1, δ = 1e-06)"


def test_no_table_is_checked_for_it() -> None:
    table = ic.read(pl.DataFrame({"age": [1, 2, 3]}), quasi=["age"])
    with pytest.raises(SchemaError, match=r"cannot be checked on a table.*DiffGen"):
        ic.publish(table, DifferentialPrivacy("1"))
