"""What a part is and which parameters it takes, as plain values: for whoever shows a choice and keeps no list of parts.

Everything is read off the class: its docstring, its annotations, its defaults.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin

from incrowd.common.kinds import kind_of_parameter
from incrowd.common.plain import plain

_KINDS = {int: "whole", float: "number", Fraction: "number", Decimal: "number", bool: "truth", str: "text"}
_COLUMN = ("column", "sensitive", "target")
_COLUMNS = ("columns",)
_PARAMETER = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")
_SECTION = re.compile(r"^(Parameters|Reference:|>>>)")


def described(cls: Any) -> dict[str, Any]:
    """Return a part's name, what it is, and its parameters as recipes have them.

    >>> from incrowd.models.k_anonymity import KAnonymity
    >>> found = described(KAnonymity)
    >>> found["name"], [(one["name"], one["kind"], one["needed"]) for one in found["parameters"]]
    ('k-anonymity', [('k', 'whole', True)])
    """
    text = inspect.getdoc(cls) or ""
    return {
        "name": cls.name,
        "plain_name": cls.plain_name,
        "about": _first_sentence(text),
        "more": _rest(text),
        "class": cls.__name__,
        "from": cls.__module__.partition(".")[0],
        "parameters": parameters_of(cls),
    }


def parameters_of(cls: Any) -> list[dict[str, Any]]:
    """Return the keys that a recipe may give a part, each with its kind, its default and what it does."""
    said = _said_of_parameters(inspect.getdoc(cls) or "")
    declared = {field.name: field for field in fields(cls)}
    found = []
    for key, needed in cls.recipe_keys().items():
        field = declared.get(key)
        kind, choices, empty = ("text", None, True) if field is None else _kind(key, kind_of_parameter(cls, field))
        found.append(
            {
                "name": key,
                "kind": kind,
                "choices": choices,
                "needed": needed,
                "default": None if field is None else _default(field),
                "about": said.get(key, ""),
                "empty": empty or not needed,
            }
        )
    return found


def _kind(key: str, declared: Any) -> tuple[str, list[str] | None, bool]:
    """Return the kind of a parameter, its choices, and whether it may be nothing."""
    origin, inner = get_origin(declared), get_args(declared)
    if origin in (Union, types.UnionType):
        known = [one for one in inner if one is not type(None)]
        kind, choices, _ = _kind(key, known[0])
        for other in known[1:]:
            more = _kind(key, other)
            choices = [*choices, *more[1]] if choices and more[1] else choices or more[1]
            kind = "number" if {kind, more[0]} == {"whole", "number"} else kind
        return kind, choices, type(None) in inner
    if origin is Literal:
        return "choice", [str(one) for one in inner], False
    if declared is str and key in _COLUMN:
        return "column", None, False
    if declared in _KINDS:
        return _KINDS[declared], None, False
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return "table", None, False
    if origin is not None:
        if key in _COLUMNS:
            return "columns", None, False
        return ("texts" if inner and inner[0] is str else "list"), None, False
    return "text", None, False


def _default(field: Any) -> Any:
    if field.default is not MISSING:
        return plain(field.default)
    return None if field.default_factory is MISSING else plain(field.default_factory())


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _rest(text: str) -> str:
    """Return the paragraphs of a docstring that are neither its first, nor parameters, examples or references."""
    paragraphs = [part for part in text.split("\n\n")[1:] if not _SECTION.match(part.strip())]
    return "\n".join(" ".join(part.split()) for part in paragraphs)


def _said_of_parameters(text: str) -> dict[str, str]:
    """Return what a docstring says of each parameter, without its default."""
    found: dict[str, str] = {}
    _, _, listed = text.partition("Parameters\n----------\n")
    names: list[str] = []
    for line in listed.split("\n\n")[0].splitlines():
        told = _PARAMETER.match(line)
        if told:
            names = told[1].split(", ")
            found |= dict.fromkeys(names, told[2])
        else:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found
