"""Recipes: a release's making as a TOML file that reads like the API and makes the same release again.

Relative paths in a recipe are relative to the recipe.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from incrowd.engines.engine import Origin
from incrowd.engines.sources import open_source
from incrowd.errors import IncrowdError, RecipeError, did_you_mean
from incrowd.forms import Showing
from incrowd.hierarchies import Automatic, Categories, Exact, Hierarchy
from incrowd.methods import Method, Mondrian
from incrowd.models import Model
from incrowd.parameters import require_whole
from incrowd.progress import Progress, silent
from incrowd.pseudonyms import PseudonymKey
from incrowd.registry import registered
from incrowd.releases.release import parameters
from incrowd.releases.saving import FORMATS
from incrowd.sampling import as_rate
from incrowd.table import Table, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from incrowd.releases.release import Release

VERSION = 1
ROLES = ("quasi", "sensitive", "identifier", "pseudonym", "keep", "drop")
_KEYS = (
    "source", "population", "columns", "others", "models", "method", "form", "output", "seed", "sample", "pseudonyms",
    "compare",  # other ways to publish the same table: see comparing/candidates.py
)  # fmt: skip
_SOURCE_KEYS = ("path", "url", "table", "query", "separator", "quote", "encoding", "missing")
_OUTPUT_KEYS = ("directory", "format")
_DEFAULT_HIERARCHY = {"quasi": Automatic(), "sensitive": Exact()}
_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Recipe:
    """Everything that makes a release: the source, the columns' roles, the models, the method, the output."""

    source: Mapping[str, Any]
    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy]
    models: tuple[Model, ...]
    method: Method = field(default_factory=Mondrian)
    form: Showing | None = None
    others: str | None = None
    seed: int | None = None
    sample: str | int | float = 1
    output: Mapping[str, Any] = field(default_factory=dict)
    pseudonym_key: str | None = None
    population: Mapping[str, Any] = field(default_factory=dict)
    base: Path = field(default_factory=Path)
    """The directory that relative paths start from."""

    @classmethod
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise RecipeError(f"recipe {path} cannot be read: {reason}.") from error
        try:
            return cls.from_dict(tomllib.loads(text), base=path.parent)
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"recipe {path} is not TOML: {error}.") from error
        except RecipeError as error:
            raise RecipeError(f"recipe {path}: {error}") from error

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, base: Path = Path()) -> Recipe:
        """Read a recipe from nested tables."""
        data = dict(data)
        version = data.pop("incrowd", None)
        if version != VERSION:
            raise RecipeError(f"a recipe starts with `incrowd = {VERSION}`; this one says {version!r}.")
        _refuse_unknown("the recipe", data, _KEYS)
        source, population = _read_source("source", data), _read_source("population", data)
        output = _table("output", data.get("output", {}))
        _refuse_unknown("[output]", output, _OUTPUT_KEYS)
        _require_texts("[output]", output)
        if output.get("format", "csv") not in FORMATS:
            raise RecipeError(f"[output] format is one of {', '.join(FORMATS)}, not {output['format']!r}.")
        pseudonyms = _table("pseudonyms", data.get("pseudonyms", {}))
        _refuse_unknown("[pseudonyms]", pseudonyms, ("key",))
        _require_texts("[pseudonyms]", pseudonyms)
        if "seed" in data:
            require_whole("the recipe", "seed", data["seed"], at_least=0)
        as_rate(data.get("sample", 1))
        roles, hierarchies = read_columns(_table("columns", data.get("columns", {})), base)
        models = data.get("models", [])
        method = make_registered("methods", data["method"], base=base) if "method" in data else Mondrian()
        promises = getattr(method, "private", False) or getattr(method, "guarantees", ())
        if not isinstance(models, list) or not (models or promises):
            raise RecipeError('no model is required.  Hint: add [[models]] with name = "k-anonymity" and k = 5.')
        return cls(
            source=source,
            roles=roles,
            hierarchies=hierarchies,
            models=tuple(make_registered("models", model, base=base) for model in models),
            method=method,
            form=make_registered("forms", data["form"], base=base) if "form" in data else None,
            others=data.get("others"),
            seed=data.get("seed"),
            sample=data.get("sample", 1),
            output=output,
            pseudonym_key=pseudonyms.get("key"),
            population=population,
            base=base,
        )

    @classmethod
    def of(cls, release: Release, *, format: str | None = None) -> Recipe:
        """Write down how a release was made."""
        schema = release.form.schema
        roles = {
            **dict.fromkeys(schema.quasi, "quasi"),
            **dict.fromkeys(schema.sensitive, "sensitive"),
            **dict.fromkeys(schema.pseudonyms, "pseudonym"),
            **dict.fromkeys(schema.kept, "keep"),
            **dict.fromkeys(schema.removed, "drop"),
        }
        return cls(
            source=_described(release.source, stated_only=release.hides_rows),
            roles={name: roles[name] for name in release.source.columns},
            hierarchies={**schema.quasi, **schema.sensitive},
            models=tuple(guarantee.model for guarantee in release.guarantees if guarantee.basis == "verified"),
            method=release.method,
            form=release.asked_form,
            seed=release.seed,
            sample=_written_rate(release.rate),
            output={} if format is None else {"format": format},
            pseudonym_key=None if release.pseudonym_key is None else str(release.pseudonym_key),
            population={} if release.population is None else _described(release.population),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as nested tables."""
        columns: dict[str, Any] = {}
        for name, role in self.roles.items():
            columns[name] = {"role": role}
            hierarchy = self.hierarchies.get(name)
            if hierarchy is not None and hierarchy != _DEFAULT_HIERARCHY.get(role):
                columns[name]["hierarchy"] = hierarchy_to_dict(hierarchy)
        data: dict[str, Any] = {"incrowd": VERSION}
        if self.others is not None:
            data["others"] = self.others
        if self.seed is not None:
            data["seed"] = self.seed
        if self.sample != 1:
            data["sample"] = self.sample
        data["source"] = dict(self.source)
        if self.population:
            data["population"] = dict(self.population)
        if self.models:
            data["models"] = [{"name": model.name, **_parameters(model)} for model in self.models]
        data["method"] = {"name": self.method.name, **_parameters(self.method)}
        if self.form is not None:
            data["form"] = {"name": self.form.name, **_parameters(self.form)}
        if self.pseudonym_key is not None:
            data["pseudonyms"] = {"key": self.pseudonym_key}
        if self.output:
            data["output"] = dict(self.output)
        data["columns"] = columns
        return data

    def to_toml(self) -> str:
        """Return the recipe as the text of a TOML file."""
        return tomli_w.dumps(self.to_dict(), indent=2)

    def relative_to(self, directory: Path) -> Recipe:
        """Return the recipe as it reads from another directory."""

        def moved(path: object) -> str:
            if _is_remote(path):
                return str(path)
            # Resolved, since a step up from behind a symbolic link leads elsewhere.
            there = self.base / str(path)
            return Path(os.path.relpath(there.parent.resolve() / there.name, directory.resolve())).as_posix()

        def moved_source(source: Mapping[str, Any]) -> dict[str, Any]:
            source = dict(source)
            if "path" in source:
                source["path"] = moved(source["path"])
            if _is_relative_sqlite(str(source.get("url", ""))):
                source["url"] = _SQLITE + moved(source["url"].removeprefix(_SQLITE))
            return source

        output = dict(self.output)
        if "directory" in output:
            output["directory"] = moved(output["directory"])
        key = None if self.pseudonym_key is None else moved(self.pseudonym_key)
        return replace(
            self,
            source=moved_source(self.source),
            population=moved_source(self.population),
            output=output,
            pseudonym_key=key,
            base=directory,
        )

    def table(self, session: SparkSession | None = None) -> Table:
        """Open the source, on this machine or in a Spark session, and give its columns their roles."""
        location, options, population = self._opened(session)
        named: dict[str, list[str]] = {role: [] for role in ROLES}
        for name, role in self.roles.items():
            named[role].append(name)
        return read(
            location,
            quasi=named["quasi"],
            sensitive=named["sensitive"],
            identifiers=named["identifier"],
            pseudonyms=named["pseudonym"],
            keep=named["keep"],
            drop=named["drop"],
            others=self.others,  # type: ignore[arg-type]
            hierarchies=self.hierarchies,
            population=population,
            **options,
        )

    def _opened(self, session: SparkSession | None) -> tuple[object, dict[str, Any], object]:
        """Return where the table is, how it is to be read, and its population."""
        if session is not None:
            from incrowd.engines.spark.opening import open_described

            people = open_described(session, self._on_spark(self.population)) if self.population else None
            return open_described(session, self._on_spark(self.source)), {}, people
        location, options = self._located("source", self.source)
        if not self.population:
            return location, options, None
        there, how = self._located("population", self.population)
        return location, options, open_source(there, **how)

    def _on_spark(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Return a source as Spark finds it: files of this machine by their whole path."""
        options = dict(described)
        if "path" in options and not _is_remote(options["path"]):
            options["path"] = str((self.base / options["path"]).absolute())
        return options

    def _located(self, name: str, described: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
        """Return where a table is, seen from the recipe, and how it is to be read."""
        options = dict(described)
        if "table" in options:
            raise RecipeError(f"[{name}] names a table of Spark's catalogue.  Hint: publish it with --engine spark.")
        if ("path" in options) == ("url" in options):
            raise RecipeError(f'[{name}] names either a path or a url.  Hint: path = "patients.csv".')
        if "path" in options:
            return str(self.base / options.pop("path")), options
        return self._url(options.pop("url")), options

    def _url(self, url: str) -> str:
        """A SQLite file is named relative to the recipe like any other."""
        return _SQLITE + str(self.base / url.removeprefix(_SQLITE)) if _is_relative_sqlite(url) else url

    def run(
        self, *, seed: int | None = None, progress: Progress = silent, session: SparkSession | None = None
    ) -> Release:
        """Make the release, with Spark where a session is given."""
        from incrowd.publishing import publish

        table = self.table(session)  # first: where it cannot be opened, no key is made
        wants_key = self.pseudonym_key and table.schema.pseudonyms
        key = PseudonymKey.load_or_create(self.base / str(self.pseudonym_key)) if wants_key else None
        return publish(
            table,
            self.models,
            method=self.method,
            form=self.form,
            sample=as_rate(self.sample),
            seed=self.seed if seed is None else seed,
            pseudonym_key=key,
            progress=progress,
        )


def _read_source(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    source = _table(name, data.get(name, {}))
    _refuse_unknown(f"[{name}]", source, _SOURCE_KEYS)
    _require_texts(f"[{name}]", {key: value for key, value in source.items() if key != "missing"})
    return source


def _described(source: Origin, *, stated_only: bool = False) -> dict[str, Any]:
    """Return what opens a table again; of a private release's, nothing that only its rows told (an encoding, say)."""
    untold = getattr(source, "found_out", ()) if stated_only else ()
    return {key: value for key, value in source.description.items() if key in _SOURCE_KEYS and key not in untold}


def _written_rate(rate: Fraction) -> str | int | float:
    """Return a rate as TOML can hold it, and as it reads back exactly."""
    if rate == 1:
        return 1
    return float(rate) if Fraction(str(float(rate))) == rate else str(rate)


def hierarchy_to_dict(hierarchy: Hierarchy) -> dict[str, Any]:
    """Write a hierarchy as a table of a recipe."""
    if isinstance(hierarchy, Categories):
        return {"kind": hierarchy.name, "tree": hierarchy.to_tree()}
    return {"kind": hierarchy.name, **_parameters(hierarchy)}


def hierarchy_from_dict(data: Mapping[str, Any], *, base: Path = Path()) -> Hierarchy:
    """Read a hierarchy from a table of a recipe: categories come as a tree or from a file."""
    data = dict(data)
    kind = data.get("kind")
    if kind == Categories.name:
        data.pop("kind")
        _refuse_unknown("a hierarchy of categories", data, ("tree", "file", "separator"))
        if ("tree" in data) == ("file" in data):
            raise RecipeError("a hierarchy of categories needs either a tree or a file.")
        if "tree" in data:
            return Categories.from_tree(data["tree"])
        _require_texts("a hierarchy of categories", data)
        return Categories.read_csv(base / data["file"], separator=data.get("separator", ";"))
    made: Hierarchy = make_registered("hierarchies", data, key="kind")
    return made


def read_columns(columns: Mapping[str, Any], base: Path) -> tuple[dict[str, str], dict[str, Hierarchy]]:
    """Read the role of every column, and the hierarchy of those that have one."""
    roles: dict[str, str] = {}
    hierarchies: dict[str, Hierarchy] = {}
    for name, described in columns.items():
        column = {"role": described} if isinstance(described, str) else _table(f"columns.{name}", described)
        _refuse_unknown(f"column '{name}'", column, ("role", "hierarchy"))
        role = column.get("role")
        if role not in ROLES:
            raise RecipeError(f"column '{name}': its role is one of {', '.join(ROLES)}, not {role!r}.")
        roles[name] = role
        if "hierarchy" in column:
            try:
                hierarchies[name] = hierarchy_from_dict(_table("hierarchy", column["hierarchy"]), base=base)
            except IncrowdError as error:
                raise RecipeError(f"column '{name}': {error}") from error
    return roles, hierarchies


def _table(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RecipeError(f"[{name}] is a table, not {type(value).__name__}.")
    return dict(value)


def _require_texts(where: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if not isinstance(value, str):
            raise RecipeError(f"{where}: {key} is a text, not {value!r}.")


def _is_remote(path: object) -> bool:
    return "://" in str(path)


def _is_relative_sqlite(url: str) -> bool:
    return url.startswith(_SQLITE) and not url.startswith(_SQLITE + "/")


def make_registered(family: str, described: Any, *, key: str = "name", base: Path = Path()) -> Any:
    """Build a registered object from its name and parameters."""
    noun = "hierarchy" if family == "hierarchies" else family.removesuffix("s")
    described = {key: described} if isinstance(described, str) else _table(noun, described)
    name = described.pop(key, None)
    known = registered(family)
    if not isinstance(name, str) or name not in known:
        said = f"without a {key}" if name is None else f"called {name!r}"
        raise RecipeError(f"there is no {noun} {said}.{did_you_mean(str(name), known)}")
    cls = known[name]
    parameters = {f.name: f for f in fields(cls)}
    _refuse_unknown(f"{noun} '{name}'", described, parameters)
    needed = [f.name for f in parameters.values() if f.default is MISSING and f.default_factory is MISSING]
    lacking = [parameter for parameter in needed if parameter not in described]
    if lacking:
        raise RecipeError(f"{noun} '{name}' needs {' and '.join(lacking)}.")
    try:
        return cls.from_recipe(described, base) if hasattr(cls, "from_recipe") else cls(**described)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"{noun} '{name}': a parameter is of the wrong kind ({error}).") from error


def _parameters(made: Any) -> dict[str, Any]:
    """Return the parameters of a dataclass as TOML can hold them; TOML has no null, so None is left out."""
    return {name: value for name, value in parameters(made).items() if value is not None and value != []}


def _refuse_unknown(where: str, given: Mapping[str, Any], known: Any) -> None:
    for key in given:
        if key not in known:
            raise RecipeError(f"{where} has no '{key}'.{did_you_mean(str(key), known)}")
