"""Where nearly all of the counts is noise, rows are refused before they are made; tiny ε are no fault."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.families import registered
from incrowd.errors import IncrowdError, RecipeError

pytestmark = pytest.mark.usefixtures("few_questions")

KNOWN = {
    "age": ic.Intervals(widths=(5, 10), lower=0, upper=100),
    "sex": ic.Categories((("F",), ("M",))),
    "ill": ic.Categories((("flu",), ("cold",))),
}
PRIVATE = [kind for kind in registered("methods").values() if kind.private]


def table() -> ic.Table:
    """Return twelve people in columns whose values are declared."""
    frame = pl.DataFrame({"age": [20, 30, 40] * 4, "sex": ["F", "M"] * 6, "ill": ["flu", "cold"] * 6})
    return ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies=KNOWN)


BOTH_ENDS = [1e-300, 1e-4, 1e300]
BETWEEN = ["1e-300", 1e-30, "1/7000000000000", 1e-9, 1e9, "1e30"]
# Each method at both ends; what lies between is read and compared by the same code, so each for one method.
TRIED = [(kind, one) for place, kind in enumerate(PRIVATE) for one in (*BOTH_ENDS, BETWEEN[place % len(BETWEEN)])]


@pytest.mark.parametrize(("kind", "epsilon"), TRIED, ids=lambda value: getattr(value, "name", str(value)))
def test_no_epsilon_is_a_fault_or_makes_rows_without_end(kind: Any, epsilon: float | str) -> None:
    try:
        release = ic.publish(table(), method=kind(epsilon), seed=1)
    except IncrowdError:
        return
    assert release.rows <= 1_000_000_000


def test_noise_that_would_be_billions_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    method = ic.FlatHistogram("1e-9")
    with pytest.raises(RecipeError, match=r"flat-histogram: at ε = 1e-09, noise makes up some .* rows.*Hint: "):
        ic.publish(table(), method=method, seed=1)
    monkeypatch.setenv("INCROWD_MAX_NOISY_ROWS", str(10**15))
    assert ic.publish(table(), method=method, seed=1).rows > 1_000_000_000
    monkeypatch.setenv("INCROWD_MAX_NOISY_ROWS", "many")
    with pytest.raises(RecipeError, match="INCROWD_MAX_NOISY_ROWS is a whole number, not 'many'"):
        ic.publish(table(), method=method, seed=1)
