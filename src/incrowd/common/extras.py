"""Packages that not everybody needs are extras; who lacks one is told how to get it, and nothing else goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from incrowd.errors import MissingExtra

EXTRAS = {
    "pandas": ("pandas", "pyarrow"),
    "accounting": ("dp_accounting",),
    "excel": ("fastexcel", "xlsxwriter"),
    "statistics": ("pyreadstat",),
    "duckdb": ("duckdb",),
    "zstd": ("zstandard",),
    "postgresql": ("adbc_driver_postgresql", "pyarrow"),
    "evidence": ("cryptography",),
    "experiments": ("altair", "sklearn", "vl_convert"),
    "spark": ("pyspark", "pandas", "pyarrow"),
    "studio": ("starlette", "uvicorn"),
    "testing": ("hypothesis",),
}
"""What can be imported where an extra is installed; pyproject.toml says what is installed for that."""


@contextmanager
def needing_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import into the message that `what` needs an extra."""
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtra) or (error.name or "").partition(".")[0] == "incrowd":
            raise
        raise MissingExtra(extra, what, (error.name or "").partition(".")[0] or _first_missing(extra)) from error


def require_extra(extra: str, what: str) -> None:
    """Refuse to start what could not be finished."""
    missing = _first_missing(extra)
    if missing is not None:
        raise MissingExtra(extra, what, missing)


def has_extra(extra: str) -> bool:
    """Whether all that an extra brings is installed."""
    return _first_missing(extra) is None


def _first_missing(extra: str) -> str | None:
    return next((name for name in EXTRAS[extra] if not _is_there(name)), None)


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:  # something else than a file finds packages here, and says so in its way
        return False
