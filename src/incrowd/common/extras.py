"""Libraries that only experiments need are an extra; who lacks them is told how to get them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from incrowd.errors import RecipeError

_NEEDED = ("altair", "vl_convert", "sklearn")


@contextmanager
def needing_extras() -> Iterator[None]:
    """Turn a failed import into a message."""
    try:
        yield
    except ImportError as error:
        raise RecipeError(_message(str(error.name))) from error


def require_extras() -> None:
    """Refuse to start what could not be finished."""
    for name in _NEEDED:
        with needing_extras():
            if find_spec(name) is None:
                raise ModuleNotFoundError(name=name)


def _message(name: str) -> str:
    return f"experiments and charts need {name}, which is not installed.  Hint: pip install 'incrowd[experiments]'."
