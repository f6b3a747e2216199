"""Small tables and recipes for them, as chance makes and damages them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import tomli_w

from tests.odd_values import IN_RECIPES, good_parts

Tables = dict[str, Any]

_ODD_NAMES = ("", "x", "agee", "a,b", "é", "count", "\0", "n" * 3000, "group", "age ")
_JUNK = (b"", b"\0", b"\xff", b"[", b"]", b'"', b"=", b"\n", b"[" * 3000, b"9" * 5000, b"1e999", b"'''")
_PRIVATE = ("consistent-diffgen", "diffgen", "flat-histogram", "hierarchical-histogram", "marginals", "adaptive")


def make_people(dice: random.Random) -> str:
    """Return a table of a few kinds of columns, as CSV."""
    rows = dice.choice((1, 2, 5, 12, 30, 60))
    kinds = {
        "age": lambda: str(dice.randint(18, 60)),
        "sex": lambda: dice.choice("FM"),
        "zip": lambda: f"{dice.randint(100, 129):05}",
        "born": lambda: f"19{dice.randint(60, 99)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}",
        "pay": lambda: f"{dice.randint(100, 400) / 4}",
        "ill": lambda: dice.choice(("flu", "cold", "gout", "ague")),
        "job": lambda: dice.choice(("cook", "nurse")),
        "name": lambda: f"person {dice.random()}",
    }
    missing = dice.choice((0, 0, 0.1))
    lines = [",".join("" if dice.random() < missing else make() for make in kinds.values()) for _ in range(rows)]
    return "\n".join([",".join(kinds), *lines, ""])


_HIERARCHIES: dict[str, tuple[Any, ...]] = {
    "age": (
        {"kind": "intervals", "widths": [5, 10], "lower": 0, "upper": 100},
        {"kind": "intervals", "cuts": [[20, 30, 40], [30]]},
        {"kind": "intervals", "widths": [2.5, 5]},
        {"kind": "automatic"},
    ),
    "sex": ({"kind": "categories", "tree": ["F", "M"]}, {"kind": "flat"}),
    "zip": ({"kind": "masking"}, {"kind": "masking", "steps": [2, 4], "mask": "#"}, {"kind": "exact"}),
    "born": ({"kind": "dates"}, {"kind": "dates", "units": ["year", "decade"]}),
    "pay": ({"kind": "intervals", "widths": [10, 50], "lower": 0, "upper": 200}, {"kind": "automatic"}),
    "ill": ({"kind": "categories", "tree": {"a": ["flu", "cold"], "b": ["gout", "ague"]}},),
    "job": ({"kind": "categories", "tree": ["cook", "nurse"]},),
}  # fmt: skip


def _good_recipe(dice: random.Random, columns: list[str]) -> Tables:
    """Make a recipe without a mistake; what it asks for may still be out of reach."""
    method, given = dice.choice(list(good_parts("methods")))
    private = method.name in _PRIVATE
    recipe: Tables = {"incrowd": 1, "source": {"path": "people.csv"}, "method": {"name": method.name, **given}}
    recipe["columns"] = {name: _column(dice, name, private=private) for name in columns}
    if not private:
        models = [{"name": kind.name, **keys} for kind, keys in good_parts("models")]
        recipe["models"] = dice.sample(models, dice.choice((1, 1, 2, 3)))
        if dice.random() < 0.3:
            kind, keys = dice.choice(list(good_parts("forms")))
            recipe["form"] = {"name": kind.name, **keys}
    if dice.random() < 0.5:
        recipe["seed"] = dice.randrange(1000)
    if dice.random() < 0.2 or method.name == "sdgs":
        recipe["sample"] = dice.choice((0.5, 0.9, "2/3", 0.2))
    if dice.random() < 0.4:
        recipe["population"] = {"path": "people.csv"}
    recipe["output"] = {"directory": "out", "format": dice.choice(("csv", "csv", "parquet", "arrow"))}
    return recipe


def _column(dice: random.Random, name: str, *, private: bool) -> Any:
    if name == "name":
        return dice.choice(("identifier", "drop", "identifier" if private else "pseudonym"))
    usual = "sensitive" if name == "ill" else "drop" if name == "job" else "quasi"
    role = usual if dice.random() < 0.8 else dice.choice(("quasi", "sensitive", "drop", "drop" if private else "keep"))
    if private and name in ("zip", "born", "pay"):
        return "drop"
    told = private or dice.random() < 0.4
    if not told or role not in ("quasi", "sensitive"):
        return role
    return {"role": role, "hierarchy": _HIERARCHIES[name][0] if private else dice.choice(_HIERARCHIES[name])}


def make_recipe(dice: random.Random, columns: list[str]) -> bytes:
    """Return a recipe for a table with these columns: a good one, damaged now and then."""
    recipe = deepcopy(_good_recipe(dice, columns))
    for _ in range(dice.choice((0, 0, 1, 1, 1, 2, 3))):
        _damage(dice, recipe)
    text = tomli_w.dumps(recipe).encode()
    return _damaged_text(dice, text) if dice.random() < 0.1 else text


def _damage(dice: random.Random, recipe: Tables) -> None:
    """Change one place of a recipe: another value, a key that lacks or is too much, a part of another place."""
    places = list(_places(recipe))
    holder, key = dice.choice(places)
    how = dice.random()
    if how < 0.15:
        del holder[key]
    elif how < 0.25 and isinstance(holder, dict):
        holder[dice.choice(_ODD_NAMES)] = deepcopy(dice.choice(IN_RECIPES))
    elif how < 0.4:
        family = dice.choice(("models", "methods", "forms", "hierarchies"))
        kind, keys = dice.choice(list(good_parts(family)))
        holder[key] = {"kind" if family == "hierarchies" else "name": kind.name, **deepcopy(keys)}
        optional = [name for name in kind.recipe_keys() if name not in keys]
        if optional:
            holder[key][dice.choice(optional)] = deepcopy(dice.choice(IN_RECIPES))
    elif how < 0.5:
        there, other = dice.choice(places)
        holder[key] = deepcopy(there[other])
    else:
        holder[key] = deepcopy(dice.choice(IN_RECIPES))


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place inside of nested tables and lists."""
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], (dict, list)):
            yield from _places(holder[key])


def _damaged_text(dice: random.Random, text: bytes) -> bytes:
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text) + 1)
        junk = dice.choice(_JUNK)
        text = text[:at] + junk + text[at + dice.choice((0, 1, 5)) :]
    return text
