"""What is compared: whole recipes, or one recipe with a grid of methods and parameters.

    [[compare]]
    method = { name = "mondrian" }
    models = [{ name = "k-anonymity", k = "$k" }]
    grid = { k = [2, 5, 10] }

Each entry replaces the recipe's own models, method, form and sample by what it names; `"$k"` stands for each value of
the grid in turn, and several names for all their combinations. A single recipe without such entries is compared with
what suits its table (`suited.py`).
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from stat import S_ISREG
from typing import Any

from incrowd.common.records import dataclass
from incrowd.common.version import __version__
from incrowd.errors import RecipeError
from incrowd.planning.compare.suited import suited

_REPLACED = ("models", "method", "form", "sample")
_USUAL = {"name": "mondrian"}
_ENTRY_KEYS = {*_REPLACED, "grid", "name"}


@dataclass(frozen=True)
class Candidate:
    """One way to publish: a name, and a recipe as nested tables, with paths relative to `base`."""

    name: str
    recipe: Mapping[str, Any]
    base: Path
    asked_for: bool = True
    """Whether the recipe says that this is to be compared; one that says nothing is compared with others."""

    def key(self, *, seed: int, learn: bool) -> str:
        """Return a name for its result that changes when anything does that the result depends on."""
        files = {text: state for text in _texts(self.recipe) if (state := _state(self.base, text))}
        told = json.dumps([__version__, self.recipe, files, seed, learn], sort_keys=True, default=str)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def candidates_of(paths: Sequence[Path]) -> list[Candidate]:
    """Return all that recipes ask to be compared, each name once."""
    found: list[Candidate] = [candidate for path in paths for candidate in _read(path)]
    if len(paths) == 1 and len(found) == 1 and not found[0].asked_for:
        found = _beside_others(found[0])
    return _each_once(found)


def candidates_in(recipe: Mapping[str, Any], base: Path) -> list[Candidate]:
    """Return what one recipe, as nested tables, asks to be compared; one that names nothing, what suits its table."""
    found = list(_described(dict(recipe), "the recipe", base))
    return _each_once(_beside_others(found[0]) if len(found) == 1 and not found[0].asked_for else found)


def candidate_of(recipe: Mapping[str, Any], base: Path) -> Candidate:
    """Return one recipe, as nested tables, as a candidate that is named by what it does."""
    data = {key: value for key, value in recipe.items() if key not in ("compare", "output")}
    return Candidate(_name(data), data, base)


def _beside_others(own: Candidate) -> list[Candidate]:
    # By what it does, as the others are: beside methods, the name of a file says nothing.
    return [replace(own, name=f"{_said(own.recipe.get('method', _USUAL))} (the recipe)"), *_suited(own)]


def _each_once(found: list[Candidate]) -> list[Candidate]:
    if not found:
        raise RecipeError("there is nothing to compare.  Hint: add [[compare]] with a method and models.")
    refuse_same_names(found)
    return found


def _suited(given: Candidate) -> Iterator[Candidate]:
    """Yield other ways to publish a recipe that names none, each once; models are named where they are others."""
    taken = {_name(given.recipe)}
    for entry in suited(given.recipe):
        for candidate in _expanded(entry, given.recipe, given.base):
            if candidate.name not in taken:
                taken.add(candidate.name)
                same = candidate.recipe.get("models") == given.recipe.get("models")
                yield replace(candidate, name=_said(candidate.recipe["method"])) if same else candidate


def refuse_same_names(candidates: Sequence[Candidate]) -> None:
    """Raise `RecipeError` if two candidates have one name."""
    for name, times in Counter(candidate.name for candidate in candidates).items():
        if times > 1:
            raise RecipeError(f"two candidates are called '{name}'.  Hint: give them names of their own.")


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a recipe: some of them name files."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _state(base: Path, text: str) -> list[int] | None:
    """Return the size and time of the file that a text names, if it names one."""
    try:
        found = (base / text).stat()
    except (OSError, ValueError):
        return None
    return [found.st_size, found.st_mtime_ns] if S_ISREG(found.st_mode) else None


def _read(path: Path) -> Iterator[Candidate]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not TOML: {error}.") from error
    yield from _described(data, path.name.removesuffix(".toml").removesuffix(".recipe"), path.parent)


def _described(data: dict[str, Any], name: str, base: Path) -> Iterator[Candidate]:
    entries = data.pop("compare", None)
    data.pop("output", None)
    if entries is None:
        yield Candidate(name, data, base, asked_for=False)
        return
    if not isinstance(entries, list):
        raise RecipeError("[[compare]] is a list of ways to publish.")
    for entry in entries:
        yield from _expanded(entry, data, base)


def _expanded(entry: Any, recipe: Mapping[str, Any], base: Path) -> Iterator[Candidate]:
    if not isinstance(entry, Mapping) or not set(entry) <= _ENTRY_KEYS:
        raise RecipeError(f"an entry of [[compare]] names some of {', '.join(sorted(_ENTRY_KEYS))}.")
    grid = entry.get("grid", {})
    if not isinstance(grid, Mapping) or not all(isinstance(values, list) and values for values in grid.values()):
        raise RecipeError("the grid of [[compare]] gives each name a list of values: grid = { k = [2, 5] }.")
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        replaced = {key: _filled(entry[key], chosen) for key in _REPLACED if key in entry}
        rest = {key: value for key, value in recipe.items() if key not in _REPLACED or not ({"method"} & set(entry))}
        made = {**rest, **replaced}
        yield Candidate(str(_filled(entry["name"], chosen)) if "name" in entry else _name(made), made, base)


def _filled(value: Any, chosen: Mapping[str, Any]) -> Any:
    """Replace what stands for a value of the grid."""
    if isinstance(value, str) and value.startswith("$") and value[1:] in chosen:
        return chosen[value[1:]]
    if isinstance(value, str):
        for name, given in chosen.items():
            value = value.replace(f"${name}", str(given))
        return value
    if isinstance(value, Mapping):
        return {key: _filled(item, chosen) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, chosen) for item in value]
    return value


def _name(recipe: Mapping[str, Any]) -> str:
    """Describe a candidate by what makes it: `mondrian: k-anonymity k=5`."""
    method = recipe.get("method", _USUAL)
    models = recipe.get("models", [])
    parts = [_said(method), *(_said(model) for model in models)]
    sample = f", sample {recipe['sample']}" if "sample" in recipe else ""
    return (": ".join([parts[0], ", ".join(parts[1:])]) if parts[1:] else parts[0]) + sample


def _said(described: Any) -> str:
    if isinstance(described, str):
        return described
    rest = " ".join(f"{key}={value}" for key, value in described.items() if key != "name")
    return f"{described.get('name', '')} {rest}".strip()
