"""Where a person writes options: in Python, in a recipe or on the command line. Messages name them as written there.

A message is made by code that serves all three. It asks here how an option is spelled (`option`), or how a column gets
its role (`as_role`); recipes and the command line say `written_in` while they work. What a command has no option for is
named as a recipe has it, since a recipe has all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

Surface = Literal["python", "recipe", "command line"]

_surface: ContextVar[Surface] = ContextVar("surface", default="python")
_options: ContextVar[Callable[[], Collection[str]]] = ContextVar("options", default=tuple)
_throughout: ContextVar[bool] = ContextVar("throughout", default=False)
_NOT_GIVEN: Any = object()
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_WORD = re.compile(r"[\w./:,=-]+")


@contextmanager
def written_in(surface: Surface, options: Callable[[], Collection[str]] = tuple) -> Iterator[None]:
    """While this lasts, messages name options as they are written there; `options` are those that a command has."""
    if surface == "recipe" and _throughout.get():
        yield
        return
    before, had = _surface.set(surface), _options.set(options)
    try:
        yield
    finally:
        _surface.reset(before)
        _options.reset(had)


@contextmanager
def not_by_recipe() -> Iterator[None]:
    """While this lasts, recipes that are run are not the person's own, so that messages do not speak of them."""
    before = _throughout.set(True)
    try:
        yield
    finally:
        _throughout.reset(before)


def option(name: str, value: object = _NOT_GIVEN, *, section: str = "", recipe: str = "", typed: str = "") -> str:
    """Return how an option is written here, with a value or without.

    `section` is where a recipe has it; `recipe` is how a recipe has it where it is not by the same name, and `typed`
    what is typed on the command line where that is not the value. A mapping tells something of each column.

    >>> option("query"), option("missing", ["?", "NA"])
    ('query=', 'missing=["?", "NA"]')
    >>> with written_in("recipe"):
    ...     option("query", section="source"), option("each_row_a_person", True)
    ('query in [source]', 'each_row_a_person = true')
    >>> with written_in("command line", lambda: ["--missing", "--exact-text"]):
    ...     option("missing", ["?", "NA"]), option("exact_text", True), option("weight", "w")
    ('--missing ? --missing NA', '--exact-text', 'weight = "w" in a recipe')
    >>> option("written", {"born": "dd.mm.yyyy"})
    'written={"born": "dd.mm.yyyy"}'
    >>> with written_in("recipe"):
    ...     option("written", {"born": "dd.mm.yyyy"}, section="source")
    'born = "dd.mm.yyyy" in [source.written]'
    >>> with written_in("command line", lambda: ["--written", "--header"]):
    ...     option("written", {"born": "dd.mm.yyyy"}, section="source"), option("header", False, typed="no")
    ('--written born=dd.mm.yyyy', '--header no')
    """
    where = _surface.get()
    if where == "python":
        return f"{name}=" + ("" if value is _NOT_GIVEN else _python(value))
    asked = "--" + name.replace("_", "-")
    if where == "command line" and asked in _options.get()():
        if typed:
            return f"{asked} {typed}"
        if value is _NOT_GIVEN or value is True:
            return asked
        if isinstance(value, Mapping):
            value = [f"{column}={what}" for column, what in value.items()]
        return " ".join(f"{asked} {_word(item)}" for item in (value if isinstance(value, list) else [value]))
    if recipe:
        return recipe + _place("")
    if isinstance(value, Mapping):
        told = ", ".join(f"{_key(column)} = {json.dumps(what, ensure_ascii=False)}" for column, what in value.items())
        return told + _place(f"[{section}.{name}]" if section else f"[{name}]")
    stated = name if value is _NOT_GIVEN else f"{name} = {json.dumps(value, ensure_ascii=False)}"
    return stated + _place(f"[{section}]" if section else "")


def as_role(name: str, column: str | None = None, *, or_in_recipe: str = "") -> str:
    """Return how a column gets a role here; without a column, how any does.

    `or_in_recipe` is a role that says two things at once, which only recipes have.

    >>> as_role("person", "patient")
    'person="patient"'
    >>> with written_in("recipe"):
    ...     as_role("person", "patient no"), as_role("weight")
    ('role = "person" in [columns."patient no"]', 'role = "weight"')
    >>> with written_in("command line", lambda: ["--person"]):
    ...     as_role("person", "patient"), as_role("weight", "w")
    ('--person patient', 'role = "weight" in [columns.w] of a recipe')
    """
    where = _surface.get()
    if where == "python" or (where == "command line" and f"--{name}" in _options.get()()):
        return option(name, "…" if column is None else column)
    key = "" if column is None else _key(column)
    other = f' or "{or_in_recipe}"' if or_in_recipe else ""
    return f'role = "{name}"{other}' + _place(f"[columns.{key}]" if key else "")


def _key(column: str) -> str:
    """Return a column's name as a key of a recipe."""
    return column if _BARE_KEY.fullmatch(column) else json.dumps(column, ensure_ascii=False)


def _place(section: str) -> str:
    """Say where a recipe has an option, and, on the command line, that a recipe has it."""
    places = [*([section] if section else []), *(["a recipe"] if _surface.get() == "command line" else [])]
    return " in " + " of ".join(places) if places else ""


def _python(value: object) -> str:
    """Return a value as Python has it, with the quotes of the documents."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(_python(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_python(key)}: {_python(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _word(value: object) -> str:
    """Return a value as a shell takes it."""
    text = str(value)
    return text if _PLAIN_WORD.fullmatch(text) or text in ("…", "?") else json.dumps(text, ensure_ascii=False)
