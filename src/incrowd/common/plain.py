"""Numbers and parameters as JSON and TOML can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

_PLAIN = (str, int, float, bool, type(None))


@runtime_checkable
class Described(Protocol):
    """Anything that can write itself down as plain values."""

    def to_dict(self) -> Mapping[str, Any]:
        """Return plain values."""
        ...


def parameters(made: Any) -> dict[str, Any]:
    """Return the parameters of a dataclass as plain numbers and texts, also where NumPy's were given.

    What it does not show of itself, such as places on this machine, is left out.
    """
    return {field.name: plain(getattr(made, field.name)) for field in fields(made) if field.repr}


def plain(value: Any) -> Any:
    """Return what JSON and TOML can hold: lists for tuples, Python's numbers for NumPy's."""
    if type(value) in _PLAIN:  # to tell what has a method takes a hundred times as long
        return value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Described):
        return plain(value.to_dict())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def finite(number: float) -> float | None:
    """JSON has no infinity: None stands for it."""
    return number if np.isfinite(number) else None


def size_distribution(sizes: np.ndarray[Any, Any]) -> dict[str, int]:
    """Count groups by size: 1, 2, 3-4, 5-8, 9-16, …

    >>> size_distribution(np.array([1, 2, 3, 4, 9]))
    {'1': 1, '2': 1, '3-4': 2, '9-16': 1}
    """
    powers, counts = np.unique(np.ceil(np.log2(np.maximum(sizes, 1))).astype(int), return_counts=True)
    names = [str(2**power) if power < 2 else f"{2 ** (power - 1) + 1}-{2**power}" for power in powers.tolist()]
    return dict(zip(names, counts.tolist(), strict=True))
