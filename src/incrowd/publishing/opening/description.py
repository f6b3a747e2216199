"""What the columns of a published table are: a small TOML file, or the recipe that a release carries.

    [columns]
    age = "quasi"
    disease = "sensitive"
    [columns.zip]
    role = "quasi"
    hierarchy = { kind = "categories", file = "zip.csv" }

`[[models]]` are what the table is said to satisfy, `[source]` how a CSV file is to be read (`separator`, `encoding`,
`missing`), and `slices` which columns of a sliced table were permuted together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.core.families import make_registered
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import RecipeError
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.publishing.recipe_format import read_columns

_READING = ("separator", "quote", "encoding", "missing", "exact_text")


@dataclass(frozen=True)
class Description:
    """Roles and hierarchies of a published table's columns, and what is claimed of it."""

    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    method: Any = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    slices: Sequence[Sequence[str]] | None = None
    form: Any = None
    """The form that was asked for, where the release says so."""
    is_recipe: bool = False
    """Whether this is a recipe, as every release of our own carries one."""
    spreadsheet_safe: bool = False
    """Whether cells that a spreadsheet would run were made plain text."""
    dates: Mapping[str, DateTreatment] = field(default_factory=dict)
    """What became of columns of dates."""

    @classmethod
    def load(cls, path: str | Path) -> Description:
        """Read a description, or a recipe, of which only what is needed is read."""
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise RecipeError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError:
            raise RecipeError(f"{path} is not TOML: it is not in UTF-8.") from None
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"{path} is not TOML: {error}.") from error
        except RecursionError:
            raise RecipeError(f"{path} is not TOML: it is nested too deeply.") from None
        return cls.from_dict(data, base=path.parent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, base: Path = Path()) -> Description:
        """Read a description from nested tables."""
        columns = data.get("columns")
        if not isinstance(columns, Mapping) or not columns:
            raise RecipeError(
                'the columns are not described.  Hint: [columns] with age = "quasi", disease = "sensitive".'
            )
        roles, hierarchies, dates = read_columns(columns, base)
        source, models, slices = data.get("source", {}), data.get("models", []), data.get("slices")
        if not isinstance(source, Mapping):
            raise RecipeError(f"[source] is a table, not {type(source).__name__}.")
        for key in ("separator", "quote", "encoding"):
            if not isinstance(source.get(key, ""), str):
                raise RecipeError(f"[source]: {key} is a text, not {type(source[key]).__name__}.")
        if not _is_texts(source.get("missing", [])):
            raise RecipeError("[source]: missing is a list of texts.")
        if not isinstance(models, list):
            raise RecipeError(f"[[models]] is a list of tables, not {type(models).__name__}.")
        if slices is not None and not _is_slices(slices):
            raise RecipeError("slices are lists of columns' names.")
        return cls(
            roles=roles,
            hierarchies=hierarchies,
            models=tuple(make_registered("models", model, base=base) for model in models),
            method=make_registered("methods", data["method"], base=base) if "method" in data else None,
            reading={key: source[key] for key in _READING if key in source},
            slices=slices,
            form=make_registered("forms", data["form"], base=base) if "form" in data else None,
            is_recipe="incrowd" in data,
            dates=dates,
            spreadsheet_safe=bool(data.get("output", {}).get("spreadsheet_safe", False)),
        )

    @property
    def asked(self) -> dict[str, Any]:
        """Parameters of the method, and of the form that was asked for."""
        return {
            key: value for made in (self.method, self.form) if made is not None for key, value in vars(made).items()
        }

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that tell whose a row is, in the table before."""
        return tuple(name for name, role in self.roles.items() if role in ("person", "person-pseudonym"))

    @property
    def person_pseudonyms(self) -> tuple[str, ...]:
        """The same in what is published; nothing unless all of them are."""
        return self.person if all(self.roles[name] == "person-pseudonym" for name in self.person) else ()

    @property
    def schema(self) -> Schema:
        """The roles, as everything else takes them; columns that hide nobody and tell nothing are left out."""
        named: dict[str, list[str]] = {"quasi": [], "sensitive": []}
        for name, role in self.roles.items():
            if role in named:
                named[role].append(name)
        if not named["quasi"]:
            raise RecipeError("no column is a quasi-identifier.  Hint: describe those that outsiders may know.")
        return Schema(
            {name: self.hierarchies.get(name, Automatic()) for name in named["quasi"]},
            {name: self.hierarchies.get(name, Exact()) for name in named["sensitive"]},
        )


def _is_slices(value: object) -> bool:
    return isinstance(value, list) and all(_is_texts(column) for column in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
