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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.core.families import make_registered
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.core.show import Show
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import RecipeError
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.publishing.recipe_format import make_model, read_changes, read_columns, read_show

_READING = ("separator", "quote", "encoding", "missing", "exact_text")
_CELLS = ("header", "decimal", "written")


@dataclass(frozen=True)
class LinkedColumns:
    """The columns of a linked table that guarantees speak of."""

    sensitive: tuple[str, ...]
    items: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """Roles and hierarchies of a published table's columns, and what is claimed of it."""

    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    method: Any = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the published file is to be read."""
    original_reading: Mapping[str, Any] = field(default_factory=dict)
    """How the table before is to be read."""
    labelled: Mapping[str, Any] = field(default_factory=dict)
    """How values of a statistics program's file are shown."""
    sheet: Mapping[str, Any] = field(default_factory=dict)
    """Which sheet of a workbook the table before is."""
    slices: Sequence[Sequence[str]] | None = None
    form: Any = None
    """The form that was asked for, where the release says so."""
    effort: int = 0
    seconds: float | None = None
    """How long groups were improved."""
    item_separator: str | None = None
    tables: Mapping[str, LinkedColumns] = field(default_factory=dict)
    """Linked tables of events, by name."""
    split: str | None = None
    """What the table of events is called, where a flat table was split into people and events."""
    is_recipe: bool = False
    """Whether this is a recipe, as every release of our own carries one."""
    spreadsheet_safe: bool = False
    """Whether cells that a spreadsheet would run were made plain text."""
    dates: Mapping[str, DateTreatment] = field(default_factory=dict)
    """What became of columns of dates."""
    show: Mapping[str, Show] = field(default_factory=dict)
    """What columns show in place of labels."""
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    """What became of sensitive and kept columns before they were published."""

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
        reading, cells = ({key: source[key] for key in keys if key in source} for keys in (_READING, _CELLS))
        if not isinstance(models, list):
            raise RecipeError(f"[[models]] is a list of tables, not {type(models).__name__}.")
        if slices is not None and not _is_slices(slices):
            raise RecipeError("slices are lists of columns' names.")
        return cls(
            roles=roles,
            hierarchies=hierarchies,
            models=tuple(make_model(model, base=base) for model in models),
            method=make_registered("methods", data["method"], base=base) if "method" in data else None,
            reading=reading if "incrowd" in data else {**reading, **cells},
            original_reading={**reading, **cells},
            labelled={key: source[key] for key in ("value_labels", "missing_codes") if key in source},
            sheet={key: source[key] for key in ("sheet", "header_row") if key in source},
            slices=slices,
            form=make_registered("forms", data["form"], base=base) if "form" in data else None,
            effort=_number(data, "effort", int) or 0,
            seconds=_number(data, "seconds", (int, float)),
            item_separator=_separator(data.get("items", {})),
            tables=_linked(data.get("tables", {}), base),
            split=data.get("split") if isinstance(data.get("split"), str) else None,
            is_recipe="incrowd" in data,
            dates=dates,
            show={name: show for name, show in read_show(columns).items() if show != "label"},
            changes=read_changes(columns, base),
            spreadsheet_safe=bool(_output(data.get("output", {})).get("spreadsheet_safe", False)),
        )

    @property
    def asked(self) -> dict[str, Any]:
        """Parameters of the method, and of the form that was asked for."""
        return {
            key: value for made in (self.method, self.form) if made is not None for key, value in vars(made).items()
        }

    def settled(self, columns: Collection[str]) -> Description:
        """Return it as files tell it: of a table that was split, what people's `columns` lack is that of events."""
        if self.split is None:
            return self
        elsewhere = {name: role for name, role in self.roles.items() if name not in columns}
        linked = LinkedColumns(
            tuple(name for name, role in elsewhere.items() if role == "sensitive"),
            tuple(name for name, role in elsewhere.items() if role == "items"),
        )
        roles = {name: role for name, role in self.roles.items() if name in columns}
        return replace(self, roles=roles, tables={self.split: linked})

    @property
    def event_items(self) -> tuple[str, str] | None:
        """The linked table with a column of items, and that column, if there is one."""
        found = ((name, column) for name, table in self.tables.items() for column in table.items)
        return next(found, None)

    @property
    def items(self) -> str | None:
        """The column of sets of items, if there is one."""
        return next((name for name, role in self.roles.items() if role == "items"), None)

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that tell whose a row is, in the table before."""
        return tuple(name for name, role in self.roles.items() if role.startswith("person"))

    @property
    def household(self) -> tuple[str, ...]:
        """The columns that tell who lives together, in the table before."""
        return tuple(name for name, role in self.roles.items() if role in ("household", "person-household"))

    @property
    def person_pseudonyms(self) -> tuple[str, ...]:
        """The same in what is published; nothing unless all of them are."""
        return self.person if all(self.roles[name] == "person-pseudonym" for name in self.person) else ()

    @property
    def banded(self) -> dict[str, Hierarchy]:
        """The hierarchies by which columns were banded: their nodes are what is published."""
        return {
            name: self.hierarchies[name]
            for name, changes in self.changes.items()
            if name in self.hierarchies and any(change.uses_hierarchy for change in changes)
        }

    @property
    def schema(self) -> Schema:
        """The roles, as everything else takes them; columns that hide nobody and tell nothing are left out."""
        named: dict[str, list[str]] = {"quasi": [], "sensitive": []}
        for name, role in self.roles.items():
            if role in named:
                named[role].append(name)
        if not named["quasi"] and self.items is None:
            raise RecipeError("no column is a quasi-identifier.  Hint: describe those that outsiders may know.")
        given = {name: hierarchy for name, hierarchy in self.hierarchies.items() if name not in self.banded}
        return Schema(
            {name: given.get(name, Automatic()) for name in named["quasi"]},
            {name: given.get(name, Exact()) for name in named["sensitive"]},
            weight=next((name for name, role in self.roles.items() if role == "weight"), None),
            show={name: show for name, show in self.show.items() if name in named["quasi"]},
        )


def _linked(tables: object, base: Path) -> dict[str, LinkedColumns]:
    if not isinstance(tables, Mapping):
        raise RecipeError(f"[tables] is a table, not {type(tables).__name__}.")
    found = {}
    for name, described in tables.items():
        columns = described.get("columns", {}) if isinstance(described, Mapping) else {}
        roles, _, _ = read_columns(columns if isinstance(columns, Mapping) else {}, base)
        found[name] = LinkedColumns(
            tuple(column for column, role in roles.items() if role == "sensitive"),
            tuple(column for column, role in roles.items() if role == "items"),
        )
    return found


def _output(output: object) -> Mapping[str, Any]:
    if not isinstance(output, Mapping):
        raise RecipeError(f"[output] is a table, not {type(output).__name__}.")
    return output


def _separator(items: object) -> str | None:
    found = items.get("separator") if isinstance(items, Mapping) else None
    if found is not None and not isinstance(found, str):
        raise RecipeError("[items]: separator is a text.")
    return found


def _is_slices(value: object) -> bool:
    return isinstance(value, list) and all(_is_texts(column) for column in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _number(data: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a number of a recipe, if it is one."""
    value = data.get(name)
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
