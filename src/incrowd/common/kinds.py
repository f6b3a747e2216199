"""Whether the parameters of a part are of the kinds that its class declares: one check for every registered part.

What a class declares beyond numbers, texts, lists and tables of them is left to the part itself.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from incrowd.common.parameters import LARGEST_WHOLE, shown_value
from incrowd.errors import RecipeError

_WRONG = object()
_NOT_OURS = (TypeError, ValueError, ArithmeticError, AttributeError, LookupError)
_NONE = type(None)
_NAMES: dict[Any, str] = {
    int: "a whole number of at most 62 bits", float: "a number", bool: "true or false", str: "a text",
    Fraction: "a fraction", Decimal: "a decimal", _NONE: "nothing",
}  # fmt: skip
_LISTS = (tuple, list, Sequence, Collection)


def check_parameters(part: Any, own: Callable[[Any], None] | None) -> None:
    """Refuse a parameter that is not of the kind its class declares, then let the part's `own` check look at all.

    A part's own words come first: it knows more about the parameter that is wrong.
    """
    wrong = _first_wrong(part)
    if wrong is not None:
        with suppress(*_NOT_OURS):
            _run(own, part)
        raise wrong
    _run(own, part)


def _run(own: Callable[[Any], None] | None, part: Any) -> None:
    if own is not None:
        own(part)


def _first_wrong(part: Any) -> RecipeError | None:
    """Return what to say of the first parameter of another kind; what is to be a tuple becomes one."""
    cls: Any = type(part)
    for name, kind in _declared(cls):
        value = getattr(part, name)
        fitted = _fitted(value, kind)
        if fitted is _WRONG:
            return RecipeError(f"{part.name}: {name} is {_said(kind)}, not {shown_value(value)}.")
        if fitted is not value:
            object.__setattr__(part, name, fitted)
    return None


@cache
def _declared(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of a class whose kind can be told."""
    told = ((field.name, _kind_of(cls, field.name, field.type)) for field in fields(cls) if field.init)
    return tuple((name, kind) for name, kind in told if _is_told(kind))


def kind_of_parameter(cls: type, field: Field[Any]) -> Any:
    """Return what the annotation of a parameter means; `Any` where that cannot be told."""
    return _kind_of(cls, field.name, field.type)


def _kind_of(cls: type, name: str, declared: Any) -> Any:
    """Return what an annotation means in the module that it is written in."""
    if not isinstance(declared, str):
        return declared
    owner = next(base for base in cls.__mro__ if name in vars(base).get("__annotations__", {}))
    try:
        return eval(declared, vars(sys.modules[owner.__module__]))
    except NameError:  # it is imported for type checkers only
        return Any


def _is_told(kind: Any) -> bool:
    return kind in _NAMES or get_origin(kind) is not None or isinstance(kind, types.UnionType)


@cache
def _made_of(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(kind), get_args(kind)


def _fitted(value: Any, kind: Any) -> Any:
    """Return a value as its kind wants it, or `_WRONG`."""
    origin, inner = _made_of(kind)
    if kind in (int, float):
        return value if _is_number(value, whole=kind is int) else _WRONG
    if kind in _NAMES:
        return value if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) else _WRONG
    if origin is Literal:
        return value if isinstance(value, str) and value in inner else _WRONG
    if origin in (Union, types.UnionType):
        return next((made for made in (_fitted(value, one) for one in inner) if made is not _WRONG), _WRONG)
    if origin in _LISTS:
        return _fitted_list(value, inner[0] if inner else Any)
    if origin is not None and issubclass(origin, Mapping):
        return _fitted_table(value, *inner)
    return value


def _is_number(value: Any, *, whole: bool) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    if whole:
        return isinstance(value, int) and abs(value) <= LARGEST_WHOLE
    try:
        return isinstance(value, (int, float, np.integer, np.floating)) and float(value) is not None
    except OverflowError:  # a whole number that no float holds
        return False


def _fitted_list(value: Any, item: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()  # which is a number where the array has no dimension
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Collection):
        return _WRONG
    made = tuple(_fitted(each, item) for each in value)
    if any(each is _WRONG for each in made):
        return _WRONG
    same = isinstance(value, tuple) and all(new is old for new, old in zip(made, value, strict=True))
    return value if same else made


def _fitted_table(value: Any, key: Any, item: Any) -> Any:
    if not isinstance(value, Mapping):
        return _WRONG
    wrong = any(_fitted(name, key) is _WRONG or _fitted(each, item) is _WRONG for name, each in value.items())
    return _WRONG if wrong else value


def _said(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _NAMES:
        return _NAMES[kind]
    if origin is Literal:
        return _either([f'"{word}"' for word in inner])
    if origin in (Union, types.UnionType):
        return _either([_said(one) for one in inner if one is not _NONE])
    if origin in _LISTS:
        return f"a list, each of which is {_said(inner[0])}" if inner else "a list"
    if origin is not None and issubclass(origin, Mapping):
        return f"a table of names, each with {_said(inner[1])}"
    return f"a {getattr(kind, '__name__', kind)}".lower()


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
