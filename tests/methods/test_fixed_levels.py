"""Levels that are stated beforehand: what is refused, by every method that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import incrowd as ic
from incrowd.errors import IncrowdError

METHODS: dict[str, Callable[[Any], Any]] = {
    "k-dgs": lambda levels: ic.KDGS(5, levels=levels),
    "flat-histogram": lambda levels: ic.FlatHistogram(1, levels=levels),
    "adaptive": lambda levels: ic.AdaptiveSynthesis(1, levels=levels),
    "marginals": lambda levels: ic.MarginalSynthesis(1, levels=levels),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("levels", "said"),
    [({"age": -1}, "the level of age"), ({"age": 1.5}, "the level of age"), ([1, 2], "a number for each")],
)
def test_what_is_no_level_is_refused(name: str, levels: Any, said: str) -> None:
    with pytest.raises(IncrowdError, match=said):
        METHODS[name](levels)


@pytest.mark.parametrize("name", METHODS)
def test_levels_from_0_on_are_taken(name: str) -> None:
    assert METHODS[name]({"age": 0, "zip": 3}).levels == {"age": 0, "zip": 3}
