"""What a release says of its labels in `labels.json`: checked before anything relies on it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from incrowd.core.show import SHOWS
from incrowd.errors import SourceError
from incrowd.forms.label_meanings import ALPHABETS, FORMAT, LARGEST

LABELS = "labels.json"
_KINDS = ("names", "numbers", "dates")
_BOUNDS = ("from", "below", "to", "value")


def read_meanings(place: Path, columns: Collection[str]) -> dict[str, Any] | None:
    """Read what the labels of some columns stand for; None where a release does not say."""
    path = place / LABELS
    if not place.is_dir() or not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        raise SourceError(f"{path} is damaged: it is not JSON.") from None
    if not _is_sound(found, columns):
        raise SourceError(f"{path} is damaged: it does not tell what the labels stand for.  Hint: publish it again.")
    return dict(found)


def _is_sound(found: object, columns: Collection[str]) -> bool:
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        return False
    told = found.get("columns")
    return isinstance(told, Mapping) and set(columns) <= set(told) and all(_is_column(told[name]) for name in columns)


def _is_column(told: object) -> bool:
    if not isinstance(told, Mapping) or told.get("kind") not in _KINDS or not isinstance(told.get("labels"), Mapping):
        return False
    kind, assumed = told["kind"], told.get("assumed")
    if "shown" in told and not _is_shown(told["shown"]):
        return False
    if kind == "names":
        if not isinstance(assumed, list) or not all(isinstance(name, str) for name in assumed):
            return False
    elif assumed is not None and not (_is_piece(assumed, kind) and set(assumed) == {"from", "below"}):
        return False
    mask = told.get("mask")
    masked = mask is None or (
        isinstance(mask, Mapping)
        and mask.get("stands for") in ALPHABETS
        and mask.get("side") in ("left", "right")
        and isinstance(mask.get("character"), str)
        and len(mask["character"]) == 1
    )
    return masked and all(
        isinstance(pieces, list) and all(_is_piece(piece, kind, masked=mask is not None) for piece in pieces)
        for pieces in told["labels"].values()
    )


def _is_shown(shown: object) -> bool:
    """Whether it tells what is shown in place of labels: numbers or dates, each with its label."""
    if not isinstance(shown, Mapping) or shown.get("as") not in SHOWS:
        return False
    columns, values = shown.get("columns"), shown.get("values")
    if not isinstance(columns, list) or not isinstance(values, list) or not all(isinstance(c, str) for c in columns):
        return False
    return all(
        isinstance(entry, list)
        and len(entry) == len(columns) + 1
        and all(value is None or type(value) in (int, float, str) for value in entry)
        and (entry[-1] is None or isinstance(entry[-1], str))
        for entry in values
    )


def _is_piece(piece: object, kind: str, *, masked: bool = False) -> bool:
    if not isinstance(piece, Mapping):
        return False
    if kind == "names":
        hidden = piece.get("hidden")
        is_pattern = masked and isinstance(piece.get("pattern"), str) and type(hidden) is int and 0 < hidden < 1000
        return (set(piece) <= {"value"} and isinstance(piece.get("value", ""), str)) or (
            set(piece) == {"pattern", "hidden"} and is_pattern
        )
    return set(piece) <= set(_BOUNDS) and all(_is_point(value, kind) for value in piece.values())


def _is_point(value: object, kind: str) -> bool:
    if kind == "numbers":
        return type(value) in (int, float) and math.isfinite(value) and abs(value) <= LARGEST  # type: ignore[arg-type]
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return isinstance(value, str)
