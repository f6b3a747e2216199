"""A recipe as the Python lines that do the same, for whoever wants to go on in a script or a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from incrowd.core.show import ALL
from incrowd.hierarchies.categories import Categories
from incrowd.publishing.recipe_format import RecipeFields, TableFields, by_role

_WIDTH = 100
_NOTHING: tuple[Any, ...] = (None, (), [], {}, "")


def python_lines(recipe: RecipeFields, *, directory: str | None = None) -> str:
    """Return a script that makes the release of a recipe, and writes it to a directory.

    Paths in it are those of the recipe, and so relative to where it is.
    """
    lines = [
        *(["from fractions import Fraction", ""] if isinstance(recipe.sample, str) else []),
        "import incrowd as ic",
        "",
    ]
    lines += _call("table = ic.read", [_source(recipe.source)], _reading(recipe))
    if recipe.tables:
        events = {name: f"events_{place}" for place, name in enumerate(recipe.tables, start=1)}
        for name, table in recipe.tables.items():
            lines += _call(f"{events[name]} = ic.read", [_source(table.source)], _reading_events(table))
        lines += _call("table = ic.read_tables", ["table", f"**{_table(events)}"], {})
    elif recipe.split is not None:
        lines += _call("table = ic.split_rows", ["table", _text(recipe.split)], {})
    lines += _call("release = ic.publish", ["table", _models(recipe)], dict(_publishing(recipe)))
    target = directory or recipe.output.get("directory")
    if target:
        told = {key: _value(recipe.output[key]) for key in ("format", "spreadsheet_safe") if key in recipe.output}
        lines += _call("release.save", [_text(str(target))], told)
    return "\n".join(lines) + "\n"


def _source(source: Mapping[str, Any]) -> str:
    return _text(str(source.get("path") or source.get("url") or source.get("table") or ""))


def _reading(recipe: RecipeFields) -> dict[str, str]:
    """Return the keywords of `read`, as far as they say anything."""
    roles = _told(by_role(recipe.roles))
    told = {
        **{key: _value(value) for key, value in roles.items()},
        **({} if recipe.item_separator is None else {"item_separator": _text(recipe.item_separator)}),
        **({} if recipe.others is None else {"others": _text(recipe.others)}),
        **({"each_row_a_person": "True"} if recipe.each_row_a_person else {}),
        **_parts(recipe.hierarchies, recipe.dates),
        **_changes(recipe.changes),
        **_options(recipe.source),
    }
    if recipe.population:
        told["population"] = _source(recipe.population)
    return told


def _reading_events(table: TableFields) -> dict[str, str]:
    return {
        **{key: _value(value) for key, value in _told(by_role(table.roles)).items()},
        **({} if table.others is None else {"others": _text(table.others)}),
        **_parts(table.hierarchies, table.dates),
        **_options(table.source),
    }


def _told(named: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in named.items() if value not in _NOTHING}


def _parts(hierarchies: Mapping[str, Any], dates: Mapping[str, Any]) -> dict[str, str]:
    found = {"hierarchies": hierarchies, "dates": dates}
    return {key: _table({name: _part(made) for name, made in parts.items()}) for key, parts in found.items() if parts}


def _changes(changes: Mapping[str, Any]) -> dict[str, str]:
    found = {name: _value([_Code(_part(change)) for change in listed]) for name, listed in changes.items()}
    return {"changes": _table(found)} if found else {}


def _options(source: Mapping[str, Any]) -> dict[str, str]:
    return {key: _value(value) for key, value in source.items() if key not in ("path", "url", "table")}


def _models(recipe: RecipeFields) -> str:
    return _value([_Code(_part(model)) for model in recipe.models])


def _publishing(recipe: RecipeFields) -> Iterator[tuple[str, str]]:
    yield "method", _part(recipe.method)
    if recipe.form is not None:
        yield "form", _part(recipe.form)
    if recipe.item_method is not None:
        yield "items", _part(recipe.item_method)
    if recipe.show:
        only = recipe.show.get(ALL) if set(recipe.show) == {ALL} else None
        yield "show", _value(recipe.show if only is None else only)
    if recipe.sample != 1:
        yield "sample", _rate(recipe.sample)
    if recipe.effort:
        yield "effort", _value(recipe.effort)
    if recipe.seconds is not None:
        yield "seconds", _value(recipe.seconds)
    if recipe.seed is not None:
        yield "seed", _value(recipe.seed)
    if recipe.pseudonym_key is not None:
        yield "pseudonym_key", f"ic.PseudonymKey.load_or_create({_text(recipe.pseudonym_key)})"
    if recipe.ledger is not None:
        yield "ledger", f"ic.Ledger({_text(recipe.ledger)})"


def _rate(rate: str | int | float) -> str:
    # A recipe may hold an exact share as text.
    return f'Fraction("{rate}")' if isinstance(rate, str) else _value(rate)


class _Code(str):
    """A text that is Python already."""


def _part(made: Any) -> str:
    """Return the call that makes a part again, without what has its default."""
    if isinstance(made, Categories):
        kept = "" if made.taken_from is None else f", taken_from={_text(made.taken_from)}"
        return f"ic.Categories.from_tree({_value(made.to_tree())}{kept})"
    told = []
    for field in fields(made):
        value = getattr(made, field.name)
        default = field.default if field.default is not MISSING else _made_default(field)
        if field.init and field.repr and value != default:
            told.append(f"{field.name}={_value(value)}")
    return f"ic.{type(made).__name__}({', '.join(told)})"


def _made_default(field: Any) -> Any:
    return MISSING if field.default_factory is MISSING else field.default_factory()


def _value(value: Any) -> str:
    if isinstance(value, _Code):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _table({str(key): _value(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_value(item) for item in value)
        return f"[{inner}]"
    return repr(value)


def _table(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_text(key)}: {value}" for key, value in entries.items()) + "}"


def _text(text: str) -> str:
    """Return a text as Python has it, with the quotes of the documents."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else repr(text)


def _call(opening: str, given: list[str], named: Mapping[str, str]) -> list[str]:
    """Return a call on one line, or with one argument on each."""
    told = [*given, *(f"{key}={value}" for key, value in named.items())]
    line = f"{opening}({', '.join(told)})"
    return [line] if len(line) <= _WIDTH else [f"{opening}(", *(f"    {part}," for part in told), ")"]
