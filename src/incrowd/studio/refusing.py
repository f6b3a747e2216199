"""What is said when something is refused or goes wrong: one shape for every answer, and no value of the table in it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from incrowd.errors import ConformanceError, IncrowdError, OutputError, UncoveredValue

_HINT = "  Hint: "


class Refused(Exception):
    """A request that is not answered, with the status that says why."""

    def __init__(
        self, status: int, message: str, *, hint: str | None = None, kind: str = "Refused", **more: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"kind": kind, "message": message, "hint": hint, "column": None, "values": []}
        self.more = more


class Cancelled(BaseException):
    """The work was called off; not an error, so that nothing on its way takes it for one."""


def error_of(error: BaseException) -> dict[str, Any]:
    """Return what a person reads of an error.

    Values that a hierarchy lacks are shown: only the person who opened the table sees this. Of a fault in incrowd only
    the place is told, since what other libraries say may quote the table.
    """
    if isinstance(error, Refused):
        return error.error
    lacking = _uncovered(error)
    if isinstance(error, IncrowdError):
        message, _, hint = str(lacking or error).partition(_HINT)
        return {
            "kind": type(error).__name__,
            "message": message,
            "hint": hint or None,
            "column": None if lacking is None else lacking.column,
            "values": [] if lacking is None else [str(value) for value in lacking.values],
        }
    if isinstance(error, MemoryError):
        return _plain("MemoryError", "there is not enough memory for this table.", "round or drop columns")
    if isinstance(error, OSError):
        return _plain("OutputError", f"the file system says: {error.strerror or type(error).__name__}.", None)
    found = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(found[-1].filename).name}:{found[-1].lineno}" if found else ""
    return _plain("Fault", f"a fault in incrowd itself ({type(error).__name__}{place}).", "please report it")


def status_of(error: BaseException) -> int:
    """Return the status of an answer that tells of an error."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, OutputError | OSError) and _disk_is_full(error):
        return 507
    if isinstance(error, ConformanceError) or not isinstance(error, IncrowdError | MemoryError | OSError):
        return 500
    return 422


def _disk_is_full(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (27, 28, 122):  # file too large, no space left, quota
            return True
        cause = cause.__cause__
    return False


def _uncovered(error: BaseException) -> UncoveredValue | None:
    found: BaseException | None = error
    while found is not None and not isinstance(found, UncoveredValue):
        found = found.__cause__
    return found


def _plain(kind: str, message: str, hint: str | None) -> dict[str, Any]:
    return {"kind": kind, "message": message, "hint": hint, "column": None, "values": []}
