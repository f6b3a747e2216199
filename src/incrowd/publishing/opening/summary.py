"""What a release says of itself in `summary.json`: checked before anything relies on it, and held against its rows."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from incrowd.common.surface import option
from incrowd.core.families import published_forms
from incrowd.core.form import Form
from incrowd.core.groups import Groups
from incrowd.errors import SourceError

SUMMARY = "summary.json"


def read_summary(place: Path, *, required: bool) -> dict[str, Any]:
    """Read the summary of a release's directory; nothing where there need be none and is none."""
    path = place / SUMMARY
    if not place.is_dir() or (not required and not os.path.lexists(path)):
        return {}
    if not path.is_file():
        raise SourceError(
            f"{place} is no release, or not all of it: there is no file {SUMMARY} in it.  "
            "Hint: describe the columns of a table that was made elsewhere: "
            f"{option('description', 'columns.toml')}."
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        raise SourceError(f"{path} is damaged: it is not JSON.") from None
    _require_sound(path, found)
    return dict(found)


def require_agreement(place: Path, summary: Mapping[str, Any], form: Form, *, groups: bool) -> None:
    """Refuse rows that are not those which the summary was written about, as far as numbers tell."""
    if not summary:
        return
    sizes = form.group_sizes
    found = {"rows": form.rows}
    told = {"rows": summary["rows"]["published"]}
    if groups and "groups" in summary:
        found |= {
            "groups": len(sizes),
            "rows in the smallest group": int(sizes.min(initial=form.rows)),
            "rows in the largest group": int(sizes.max(initial=0)),
        }
        told |= {
            "groups": summary["groups"]["number"],
            "rows in the smallest group": summary["groups"]["smallest"],
            "rows in the largest group": summary["groups"]["largest"],
        }
    _require_equal(place, told, found)


def require_people(place: Path, summary: Mapping[str, Any], crowds: Groups) -> None:
    """Refuse people who are not those that the summary tells of; each of these is in one crowd."""
    sizes, people = crowds.sizes, summary.get("people")
    if people is None:
        return
    found = {
        "people": int(sizes.sum()),
        "people in the smallest group": int(sizes.min(initial=people["published"])),
        "people in the largest group": int(sizes.max(initial=0)),
    }
    told = {
        "people": people["published"],
        "people in the smallest group": people["in the smallest group"],
        "people in the largest group": people["in the largest group"],
    }
    _require_equal(place, told, found)


def _require_equal(place: Path, told: Mapping[str, int], found: Mapping[str, int]) -> None:
    for what, number in found.items():
        if told[what] != number:
            raise SourceError(
                f"{place} contradicts itself: {SUMMARY} tells of {told[what]:,} {what}, and there are {number:,} in "
                "its table.  Hint: its files were damaged or changed after it was published; publish it again."
            )


def _require_sound(path: Path, summary: object) -> None:
    told = _table(path, "the summary", summary)
    rows = _table(path, "rows", told.get("rows"))
    _whole(path, "rows: published", rows.get("published"))
    for key in ("in", "withheld", "left out by sampling"):
        _whole(path, f"rows: {key}", rows.get(key, 0))
    if "people" in told:
        people = _table(path, "people", told["people"])
        for key in ("published", "in the smallest group", "in the largest group"):
            _whole(path, f"people: {key}", people.get(key))
        for key in ("in", "withheld"):
            _whole(path, f"people: {key}", people.get(key, 0))
    rate = rows.get("sampling rate", 1)
    if not _is_number(rate) or not 0 < rate <= 1:
        _refuse(path, "rows: sampling rate", "a number above 0 and at most 1")
    if not isinstance(told.get("form"), str) or told["form"] not in published_forms():
        _refuse(path, "form", f"one of {', '.join(published_forms())}")
    if "groups" in told:
        groups = _table(path, "groups", told["groups"])
        for key in ("number", "smallest", "largest"):
            _whole(path, f"groups: {key}", groups.get(key))
    if "weights" in told:
        weights = _table(path, "weights", told["weights"])
        for key in ("kept as they are", "replaced by a mean", "fewest people of a group who show the same"):
            _whole(path, f"weights: {key}", weights.get(key))
        for key in ("total before", "total as published", "share of the total that is not published"):
            if not _is_number(weights.get(key)):
                _refuse(path, f"weights: {key}", "a number")
    _require_sound_loss(path, _table(path, "loss", told.get("loss", {})))
    warnings = told.get("warnings", [])
    if not isinstance(warnings, list) or not all(isinstance(text, str) for text in warnings):
        _refuse(path, "warnings", "a list of texts")
    guarantees = told.get("guarantees", [])
    if not isinstance(guarantees, list):
        _refuse(path, "guarantees", "a list")
    for entry in guarantees:
        promise = _table(path, "each of the guarantees", entry)
        if not isinstance(promise.get("statement"), str) or not isinstance(promise.get("basis"), str):
            _refuse(path, "each of the guarantees", "a statement with its basis")
        if promise.get("achieved") is not None and not _is_number(promise["achieved"]):
            _refuse(path, "what is achieved", "a number")


def _require_sound_loss(path: Path, loss: Mapping[str, Any]) -> None:
    columns = loss.get("columns", [])
    if not isinstance(columns, list) or not all(
        isinstance(column, list) and all(isinstance(name, str) for name in column) for column in columns
    ):
        _refuse(path, "loss: columns", "lists of names")


def _table(path: Path, what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(path, what, "a table")
    return value


def _whole(path: Path, what: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        _refuse(path, what, "a whole number")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)


def _refuse(path: Path, what: str, expected: str) -> NoReturn:
    raise SourceError(f"{path} is damaged: {what} should be {expected}, and is not.")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
