"""Recipes as files: what they may say, read from TOML and written to it. Nothing here runs anything.

Relative paths in a recipe are relative to the recipe.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import tomli_w

from incrowd.changes.change import Change
from incrowd.common.parameters import require_number, require_whole
from incrowd.common.records import dataclass
from incrowd.common.surface import written_in
from incrowd.core.families import make_registered, registered
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model, verified_models
from incrowd.core.recoding import Showing
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.core.set_method import SetMethod
from incrowd.core.show import ALL, Show, require_show
from incrowd.core.source import Origin
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import IncrowdError, RecipeError, did_you_mean
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.methods.mondrian import Mondrian
from incrowd.sources.piped import PIPE

VERSION = 1
ROLES = (
    "quasi", "sensitive", "items", "person", "person-pseudonym", "person-household", "household", "identifier",
    "pseudonym", "date", "keep", "drop", "weight",
)  # fmt: skip
_KEYS = (
    "source", "population", "columns", "others", "models", "method", "form", "output", "seed", "sample", "pseudonyms",
    "each_row_a_person", "items", "tables", "split", "ledger", "if_unsafe", "show", "effort",
    "seconds",
    "compare",  # other ways to publish the same table: see planning/compare/candidates.py
)  # fmt: skip
_SOURCE_KEYS = (
    "path", "url", "table", "query", "separator", "quote", "encoding", "missing", "exact_text", "header", "decimal",
    "written", "sheet", "header_row", "value_labels", "missing_codes",
)  # fmt: skip
_NOT_TEXTS = ("missing", "exact_text", "header", "written", "sheet", "header_row")  # checked when a table is opened
_OUTPUT_KEYS = ("directory", "format", "spreadsheet_safe")
_DEFAULT_HIERARCHY = {"quasi": Automatic(), "sensitive": Exact()}
SQLITE = "sqlite:///"


class Publication(Protocol):
    """What a recipe is written down from: a release, as far as it says how it was made."""

    @property
    def schema(self) -> Schema:
        """The role of every column."""
        ...

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """The columns' hierarchies, without values of people who are not published."""
        ...

    @property
    def source(self) -> Origin:
        """Where the table was."""
        ...

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What it satisfies."""
        ...

    @property
    def method(self) -> AnyMethod:
        """How it was made."""
        ...

    @property
    def asked_form(self) -> Showing | None:
        """The form that was asked for, where it is not the method's own."""
        ...

    @property
    def seed(self) -> int | None:
        """The seed that chance came from, if any."""
        ...

    @property
    def rate(self) -> Fraction:
        """The share of the rows that was sampled."""
        ...

    @property
    def effort(self) -> int:
        """How many passes groups were improved for."""
        ...

    @property
    def seconds(self) -> float | None:
        """How many seconds groups were improved for at most, if that was bounded."""
        ...

    @property
    def pseudonym_key(self) -> Path | None:
        """The file of the pseudonyms' key."""
        ...

    @property
    def population(self) -> Origin | None:
        """Where the population was, if there is one."""
        ...

    @property
    def hides_rows(self) -> bool:
        """Whether the number of the table's rows must not be told."""
        ...

    @property
    def split(self) -> str | None:
        """What the events are called, where a flat table was split."""
        ...

    @property
    def event_tables(self) -> Mapping[str, LinkedSource]:
        """Tables of events, by name."""
        ...

    @property
    def item_method(self) -> SetMethod | None:
        """How sets of items were made safe, if there are any."""
        ...


class LinkedSource(Protocol):
    """A table of events, as far as a recipe tells of it."""

    @property
    def source(self) -> Origin:
        """Where it was."""
        ...

    @property
    def schema(self) -> Schema:
        """The role of every column."""
        ...


@dataclass(frozen=True)
class TableFields:
    """What a recipe says of a table of events: where it is, and its columns' roles."""

    source: Mapping[str, Any]
    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy]
    others: str | None = None
    dates: Mapping[str, DateTreatment] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, name: str, described: object, base: Path) -> Self:
        """Read the table `[tables.NAME]`."""
        data = _table(f"tables.{name}", described)
        _refuse_unknown(f"[tables.{name}]", data, (*_SOURCE_KEYS, "columns", "others"))
        source = _read_source(
            f"tables.{name}", {f"tables.{name}": {key: data[key] for key in data if key in _SOURCE_KEYS}}
        )
        columns = _table(f"tables.{name}.columns", data.get("columns", {}))
        roles, hierarchies, dates = read_columns(columns, base)
        if read_changes(columns, base):
            raise RecipeError(f"[tables.{name}]: columns of linked tables are not changed.  Hint: change them before.")
        return cls(source, roles, hierarchies, data.get("others"), dates)

    @classmethod
    def of(cls, table: LinkedSource, told: Mapping[str, Hierarchy]) -> Self:
        """Write down a table of events, with hierarchies as they are `told` where these name too much."""
        roles = roles_in(table.schema)
        own = table.schema.hierarchies
        return cls(
            _described(table.source, stated_only=False),
            {name: roles[name] for name in table.source.columns},
            {name: told.get(name, hierarchy) for name, hierarchy in own.items()},
            dates=table.schema.dates,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as a table of a recipe."""
        others = {} if self.others is None else {"others": self.others}
        return {**self.source, **others, "columns": columns_to_dict(self.roles, self.hierarchies, self.dates)}


def roles_in(schema: Schema) -> dict[str, str]:
    """Return the role of every column, as recipes call them."""
    return {
        **dict.fromkeys(schema.quasi, "quasi"),
        **dict.fromkeys(schema.sensitive, "sensitive"),
        **dict.fromkeys(schema.items, "items"),
        **dict.fromkeys(schema.pseudonyms, "pseudonym"),
        **dict.fromkeys(schema.kept, "keep"),
        **dict.fromkeys(schema.dates, "date"),
        **dict.fromkeys(schema.weights, "weight"),
        **dict.fromkeys(schema.removed, "drop"),
        **dict.fromkeys(schema.identifiers, "identifier"),
        **dict.fromkeys(schema.household, "household"),
        **{name: _role_of_person(name, schema) for name in schema.person},
    }


def by_role(roles: Mapping[str, str]) -> dict[str, Any]:
    """Return columns by role, as `read` takes them."""
    named: dict[str, list[str]] = {role: [] for role in ROLES}
    for name, role in roles.items():
        named[role].append(name)
    return {
        "quasi": named["quasi"],
        "sensitive": named["sensitive"],
        "items": named["items"],
        "person": [*named["person"], *named["person-pseudonym"], *named["person-household"]],
        "household": [*named["household"], *named["person-household"]],
        "identifiers": named["identifier"],
        "pseudonyms": [*named["person-pseudonym"], *named["pseudonym"]],
        "keep": named["keep"],
        "drop": named["drop"],
        "weight": next(iter(named["weight"]), None),
    }


def reading_of(
    roles: Mapping[str, str],
    hierarchies: Mapping[str, Hierarchy],
    dates: Mapping[str, DateTreatment],
    changes: Mapping[str, tuple[Change, ...]],
    **others: Any,
) -> dict[str, Any]:
    """Return the keywords of `read` for tables with these columns; columns that are not named are dropped."""
    read_alike = {name: role for name, role in roles.items() if role != "drop"}
    return {
        **by_role(read_alike),
        "hierarchies": dict(hierarchies),
        "dates": dict(dates),
        "changes": dict(changes),
        "others": "drop",
        **others,
    }


def _role_of_person(name: str, schema: Schema) -> str:
    if name in schema.household:
        return "person-household"
    return "person-pseudonym" if name in schema.pseudonyms else "person"


def columns_to_dict(
    roles: Mapping[str, str],
    hierarchies: Mapping[str, Hierarchy],
    dates: Mapping[str, DateTreatment],
    show: Mapping[str, str] | None = None,
    changes: Mapping[str, tuple[Change, ...]] | None = None,
) -> dict[str, Any]:
    """Return columns with their roles, hierarchies, treatments of dates, what they show and how they are changed, as
    tables of a recipe.
    """
    columns: dict[str, Any] = {}
    for name, role in roles.items():
        columns[name] = {"role": role}
        hierarchy = hierarchies.get(name)
        if hierarchy is not None and hierarchy != _DEFAULT_HIERARCHY.get(role):
            columns[name]["hierarchy"] = hierarchy_to_dict(hierarchy)
        if name in dates:
            columns[name]["date"] = {"kind": dates[name].name, **dates[name].to_recipe()}
        if show is not None and name in show:
            columns[name]["show"] = show[name]
        if changes is not None and name in changes:
            made = [{"name": change.name, **change.to_recipe()} for change in changes[name]]
            columns[name]["change"] = made[0] if len(made) == 1 else made
    return columns


@dataclass(frozen=True)
class RecipeFields:
    """What a recipe says: the source, the columns' roles, the models, the method, the output. `Recipe` also runs it."""

    source: Mapping[str, Any]
    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy]
    models: tuple[Model, ...]
    method: AnyMethod = field(default_factory=Mondrian)
    form: Showing | None = None
    others: str | None = None
    seed: int | None = None
    sample: str | int | float = 1
    effort: int = 0
    """How many passes people move between the method's groups, so that labels lose less."""
    seconds: float | None = None
    """After how many seconds that ends, if it does."""
    output: Mapping[str, Any] = field(default_factory=dict)
    pseudonym_key: str | None = None
    population: Mapping[str, Any] = field(default_factory=dict)
    each_row_a_person: bool = False
    item_method: SetMethod | None = None
    item_separator: str | None = None
    tables: Mapping[str, TableFields] = field(default_factory=dict)
    """Tables of events that the people's key links to them."""
    split: str | None = None
    """What the events are called, where a flat table is split into people and events."""
    dates: Mapping[str, DateTreatment] = field(default_factory=dict)
    ledger: str | None = None
    """The directory of the ledger that releases are written down in."""
    if_unsafe: Literal["refuse", "withhold"] = "refuse"
    """What becomes of a release that would tell too much together with earlier ones of the ledger."""
    show: Mapping[str, Show] = field(default_factory=dict)
    """What columns of numbers show in place of labels; `*` are all that are not named."""
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    """What becomes of sensitive and kept columns before they are published, in order."""
    base: Path = field(default_factory=Path)
    """The directory that relative paths start from."""

    @classmethod
    @written_in("recipe")
    def load(cls, path: str | Path) -> Self:
        """Read a recipe file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:  # it is no text, or a name with a zero byte
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise RecipeError(f"recipe {path} cannot be read: {reason}.") from error
        try:
            data = tomllib.loads(text)
        except RecursionError as error:
            raise RecipeError(f"recipe {path} holds tables or lists that are nested too deeply.") from error
        except ValueError as error:  # it is no TOML, or has numbers of thousands of digits
            raise RecipeError(f"recipe {path} is not TOML: {error}.") from error
        try:
            return cls.from_dict(data, base=path.parent)
        except RecipeError as error:
            raise RecipeError(f"recipe {path}: {error}") from error

    @classmethod
    @written_in("recipe")
    def from_dict(cls, data: Mapping[str, Any], *, base: Path = Path()) -> Self:
        """Read a recipe from nested tables."""
        data = dict(data)
        version = data.pop("incrowd", None)
        if version != VERSION:
            raise RecipeError(f"a recipe starts with `incrowd = {VERSION}`; this one says {version!r}.")
        _refuse_unknown("the recipe", data, _KEYS)
        source, population = _read_source("source", data), _read_source("population", data)
        output = _table("output", data.get("output", {}))
        _refuse_unknown("[output]", output, _OUTPUT_KEYS)
        if not isinstance(output.get("spreadsheet_safe", False), bool):
            raise RecipeError(f"[output] spreadsheet_safe is true or false, not {output['spreadsheet_safe']!r}.")
        _require_texts("[output]", {key: value for key, value in output.items() if key != "spreadsheet_safe"})
        formats = registered("sinks")
        if output.get("format", "csv") not in formats:
            raise RecipeError(f"[output] format is one of {', '.join(formats)}, not {output['format']!r}.")
        pseudonyms = _table("pseudonyms", data.get("pseudonyms", {}))
        _refuse_unknown("[pseudonyms]", pseudonyms, ("key",))
        _require_texts("[pseudonyms]", pseudonyms)
        if "seed" in data:
            require_whole("the recipe", "seed", data["seed"], at_least=0)
        if not isinstance(data.get("each_row_a_person", False), bool):
            raise RecipeError(f"each_row_a_person is true or false, not {data['each_row_a_person']!r}.")
        for name in ("split", "ledger"):
            if name in data:
                _require_texts("the recipe", {name: data[name]})
        as_rate(data.get("sample", 1))
        require_whole("the recipe", "effort", data.get("effort", 0), at_least=0)
        if "seconds" in data:
            require_number("the recipe", "seconds", data["seconds"], above=0)
        items = _table("items", data.get("items", {}))
        separator = items.pop("separator", None)
        if separator is not None:
            _require_texts("[items]", {"separator": separator})
        columns = _table("columns", data.get("columns", {}))
        roles, hierarchies, dates = read_columns(columns, base)
        for_all = {ALL: require_show("the recipe: ", data["show"])} if "show" in data else {}
        models = data.get("models", [])
        method = make_registered("methods", data["method"], base=base) if "method" in data else Mondrian()
        if not isinstance(models, list) or not (models or method.promises_privacy or method.guarantees):
            raise RecipeError('no model is required.  Hint: add [[models]] with name = "k-anonymity" and k = 5.')
        return cls(
            source=source,
            roles=roles,
            hierarchies=hierarchies,
            models=tuple(make_model(model, base=base) for model in models),
            method=method,
            form=make_registered("forms", data["form"], base=base) if "form" in data else None,
            others=data.get("others"),
            seed=data.get("seed"),
            sample=data.get("sample", 1),
            effort=data.get("effort", 0),
            seconds=data.get("seconds"),
            output=output,
            pseudonym_key=pseudonyms.get("key"),
            population=population,
            each_row_a_person=data.get("each_row_a_person", False),
            item_method=make_registered("set_methods", items, base=base) if items else None,
            item_separator=separator,
            split=data.get("split"),
            ledger=data.get("ledger"),
            if_unsafe=_if_unsafe(data.get("if_unsafe", "refuse")),
            tables={
                name: TableFields.from_dict(name, described, base)
                for name, described in _table("tables", data.get("tables", {})).items()
            },
            dates=dates,
            show={**for_all, **read_show(columns)},
            changes=read_changes(columns, base),
            base=base,
        )

    @classmethod
    def of(cls, release: Publication, *, format: str | None = None, own: bool = False) -> Self:
        """Write down how a release was made: for its readers, or for the publisher alone.

        Only the publisher's `own` recipe has the seed, with which chance can be replayed, and values that nobody has
        who is published.
        """
        schema = release.schema
        roles, dates = roles_in(schema), dict(schema.dates)
        for table in release.event_tables.values() if release.split else ():
            dates |= table.schema.dates
            roles |= {name: role for name, role in roles_in(table.schema).items() if name not in schema.person}
        return cls(
            source=_described(release.source, stated_only=release.hides_rows),
            roles=roles if release.split else {name: roles[name] for name in release.source.columns},
            hierarchies=schema.hierarchies if own else release.hierarchies,
            models=verified_models(release.guarantees),
            method=release.method,
            form=release.asked_form,
            seed=release.seed if own else None,
            sample=_written_rate(release.rate),
            effort=release.effort,
            seconds=release.seconds,
            output={} if format is None else {"format": format},
            pseudonym_key=None if release.pseudonym_key is None else str(release.pseudonym_key),
            population=_described(release.population, stated_only=release.hides_rows),
            each_row_a_person=schema.each_row_a_person,
            item_method=release.item_method,
            item_separator=schema.item_separator,
            tables={}
            if release.split
            else {
                name: TableFields.of(table, {} if own else release.hierarchies)
                for name, table in release.event_tables.items()
            },
            split=release.split,
            others="drop" if release.split else None,  # what is dropped is in neither table
            dates=dates,
            show={**({} if release.method.shows == "label" else {ALL: "label"}), **schema.show},
            changes=schema.changes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as nested tables."""
        columns = columns_to_dict(self.roles, self.hierarchies, self.dates, self.show, self.changes)
        data: dict[str, Any] = {"incrowd": VERSION}
        if ALL in self.show and ALL not in self.roles:
            data["show"] = self.show[ALL]
        if self.others is not None:
            data["others"] = self.others
        if self.each_row_a_person:
            data["each_row_a_person"] = True
        if self.split is not None:
            data["split"] = self.split
        if self.seed is not None:
            data["seed"] = self.seed
        if self.sample != 1:
            data["sample"] = self.sample
        if self.effort:
            data["effort"] = self.effort
        if self.seconds is not None:
            data["seconds"] = self.seconds
        data["source"] = dict(self.source)
        if self.population:
            data["population"] = dict(self.population)
        if self.models:
            data["models"] = [{"name": model.name, **model.to_recipe()} for model in self.models]
        data["method"] = {"name": self.method.name, **self.method.to_recipe()}
        if self.form is not None:
            data["form"] = {"name": self.form.name, **self.form.to_recipe()}
        items = {} if self.item_method is None else {"name": self.item_method.name, **self.item_method.to_recipe()}
        if self.item_separator is not None:
            items["separator"] = self.item_separator
        if items:
            data["items"] = items
        if self.pseudonym_key is not None:
            data["pseudonyms"] = {"key": self.pseudonym_key}
        if self.output:
            data["output"] = dict(self.output)
        data["columns"] = columns
        if self.tables:
            data["tables"] = {name: table.to_dict() for name, table in self.tables.items()}
        return data

    def to_toml(self) -> str:
        """Return the recipe as the text of a TOML file."""
        return tomli_w.dumps(self.to_dict(), indent=2)

    def relative_to(self, directory: Path) -> Self:
        """Return the recipe as it reads from another directory."""

        def moved(path: object) -> str:
            if is_remote(path):
                return str(path)
            # Resolved, since a step up from behind a symbolic link leads elsewhere.
            there = self.base / str(path)
            itself = there.parent.resolve() / there.name
            try:
                return Path(os.path.relpath(itself, directory.resolve())).as_posix()
            except ValueError:  # another drive of Windows, to which no relative path leads
                return itself.as_posix()

        def moved_source(source: Mapping[str, Any]) -> dict[str, Any]:
            source = dict(source)
            if "path" in source:
                source["path"] = moved(source["path"])
            if is_relative_sqlite(str(source.get("url", ""))):
                source["url"] = SQLITE + moved(source["url"].removeprefix(SQLITE))
            return source

        output = dict(self.output)
        if "directory" in output:
            output["directory"] = moved(output["directory"])
        key = None if self.pseudonym_key is None else moved(self.pseudonym_key)
        return replace(
            self,
            source=moved_source(self.source),
            tables={name: replace(table, source=moved_source(table.source)) for name, table in self.tables.items()},
            population=moved_source(self.population),
            output=output,
            pseudonym_key=key,
            method=self.method.seen_from(moved),
            base=directory,
        )


def recipe_of(
    release: Publication,
    *,
    format: str | None = None,
    seen_from: Path | None,
    own: bool = False,
    spreadsheet_safe: bool = False,
) -> str:
    """Write down how a release was made, as it reads from a directory if one is given."""
    recipe = RecipeFields.of(release, format=format, own=own)
    if spreadsheet_safe:
        recipe = replace(recipe, output={**recipe.output, "spreadsheet_safe": True})
    return (recipe if seen_from is None else recipe.relative_to(seen_from)).to_toml()


def _read_source(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    source = _table(name, data.get(name, {}))
    _refuse_unknown(f"[{name}]", source, _SOURCE_KEYS)
    if not isinstance(source.get("exact_text", False), bool):
        raise RecipeError(f"[{name}]: exact_text is true or false, not {source['exact_text']!r}.")
    _require_texts(f"[{name}]", {key: value for key, value in source.items() if key not in _NOT_TEXTS})
    return source


def _described(source: Origin | None, *, stated_only: bool) -> dict[str, Any]:
    """Return what opens a table again; of a private release's, nothing that only its rows told (an encoding, say)."""
    if source is None:
        return {}
    untold = source.found_out if stated_only else ()
    return {key: value for key, value in source.description.items() if key in _SOURCE_KEYS and key not in untold}


def _written_rate(rate: Fraction) -> str | int | float:
    """Return a rate as TOML can hold it, and as it reads back exactly."""
    if rate == 1:
        return 1
    return float(rate) if Fraction(str(float(rate))) == rate else str(rate)


def make_model(described: Any, *, base: Path) -> Any:
    """Make a model of groups, or of sets, from what a recipe says."""
    name = described.get("name") if isinstance(described, Mapping) else described
    family = "set_models" if isinstance(name, str) and name in registered("set_models") else "models"
    return make_registered(family, described, base=base)


def hierarchy_to_dict(hierarchy: Hierarchy) -> dict[str, Any]:
    """Write a hierarchy as a table of a recipe."""
    return {"kind": hierarchy.name, **hierarchy.to_recipe()}


def hierarchy_from_dict(data: Mapping[str, Any], *, base: Path = Path()) -> Hierarchy:
    """Read a hierarchy from a table of a recipe."""
    made: Hierarchy = make_registered("hierarchies", data, key="kind", base=base)
    return made


def read_columns(
    columns: Mapping[str, Any], base: Path
) -> tuple[dict[str, str], dict[str, Hierarchy], dict[str, DateTreatment]]:
    """Read the role of every column, and the hierarchy or the treatment of dates of those that have one."""
    roles: dict[str, str] = {}
    hierarchies: dict[str, Hierarchy] = {}
    dates: dict[str, DateTreatment] = {}
    for name, described in columns.items():
        column = {"role": described} if isinstance(described, str) else _table(f"columns.{name}", described)
        _refuse_unknown(f"column '{name}'", column, ("role", "hierarchy", "date", "show", "change"))
        role = column.get("role")
        if role not in ROLES:
            raise RecipeError(f"column '{name}': its role is one of {', '.join(ROLES)}, not {role!r}.")
        if role == "weight" and "weight" in roles.values():
            raise RecipeError(f"column '{name}': a table has one column of weights.  Hint: drop the others.")
        roles[name] = role
        if (role == "date") != ("date" in column):
            raise RecipeError(
                f"column '{name}': the role \"date\" goes with what becomes of the dates.  Hint: "
                'role = "date" and date = { kind = "truncate", to = "month" }.'
            )
        try:
            if "hierarchy" in column:
                hierarchies[name] = hierarchy_from_dict(_table("hierarchy", column["hierarchy"]), base=base)
            if "date" in column:
                dates[name] = make_registered("dates", _table("date", column["date"]), key="kind", base=base)
        except IncrowdError as error:
            raise RecipeError(f"column '{name}': {error}") from error
    return roles, hierarchies, dates


def read_show(columns: Mapping[str, Any]) -> dict[str, Show]:
    """Read what columns show in place of labels, of those that say so."""
    found = {}
    for name, described in columns.items():
        if isinstance(described, Mapping) and "show" in described:
            if described.get("role") != "quasi":
                raise RecipeError(f"column '{name}': show is for quasi-identifiers, which are published as labels.")
            found[name] = require_show(f"column '{name}': ", described["show"])
    return found


def read_changes(columns: Mapping[str, Any], base: Path) -> dict[str, tuple[Change, ...]]:
    """Read what becomes of columns before they are published, of those that say so: one change, or a list."""
    found = {}
    for name, described in columns.items():
        if not isinstance(described, Mapping) or "change" not in described:
            continue
        if described.get("role") not in ("sensitive", "keep"):
            raise RecipeError(
                f"column '{name}': a change is for sensitive and kept columns.  Hint: what a quasi-identifier is "
                "published as follows from its hierarchy and from show."
            )
        given = described["change"]
        try:
            listed = given if isinstance(given, list) else [given]
            found[name] = tuple(make_registered("changes", one, base=base) for one in listed)
        except IncrowdError as error:
            raise RecipeError(f"column '{name}': {error}") from error
    return {name: listed for name, listed in sorted(found.items()) if listed}


def _table(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RecipeError(f"[{name}] is a table, not {type(value).__name__}.")
    return dict(value)


def _if_unsafe(given: object) -> Literal["refuse", "withhold"]:
    if given == "refuse":
        return "refuse"
    if given == "withhold":
        return "withhold"
    raise RecipeError(f'if_unsafe is "refuse" or "withhold", not {given!r}.')


def _require_texts(where: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if not isinstance(value, str):
            raise RecipeError(f"{where}: {key} is a text, not {value!r}.")


def is_remote(path: object) -> bool:
    """Whether a path is the address of another file system, or stands for what is piped in."""
    return "://" in str(path) or str(path) == PIPE


def is_relative_sqlite(url: str) -> bool:
    """Whether a URL names a SQLite file by a relative path."""
    return url.startswith(SQLITE) and not url.startswith(SQLITE + "/")


def _refuse_unknown(where: str, given: Mapping[str, Any], known: Any) -> None:
    for key in given:
        if key not in known:
            raise RecipeError(f"{where} has no '{key}'.{did_you_mean(str(key), known)}")
