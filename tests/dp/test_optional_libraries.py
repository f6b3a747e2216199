"""What is not installed is named, with how to install it."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest
from incrowd.dp.opendp_source import opendp_discrete_laplace
from incrowd.dp.tight_composition import tight_epsilon

from incrowd.dp.budget import Budget
from incrowd.errors import RecipeError


def test_opendp_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(RecipeError, match=r"pip install 'incrowd\[opendp\]'"):
        opendp_discrete_laplace(Fraction(1), 1)


def test_dp_accounting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(RecipeError, match=r"pip install 'incrowd\[accounting\]'"):
        tight_epsilon([Budget(1)], "1e-6")
