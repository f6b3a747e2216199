"""What is made of a case once, for all parts that are tried on it: forgotten when one of them has written into it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_forgetting: list[Callable[[], None]] = []


def kept(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep what a function makes of the last cases, `most` of them at most."""

    def keeping(make: Callable[P, T]) -> Callable[P, T]:
        keeps = lru_cache(maxsize=most)(make)
        _forgetting.append(keeps.cache_clear)
        return cast("Callable[P, T]", keeps)

    return keeping


def forget() -> None:
    """Forget all of it: what one function keeps is made of what another does."""
    for forgetting in _forgetting:
        forgetting()
