"""Recipes: a release's making as a TOML file that reads like the API and makes the same release again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.common.surface import written_in
from incrowd.core.families import registered
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.sampling import as_rate
from incrowd.core.show import Show
from incrowd.engines import open_in_session
from incrowd.errors import RecipeError
from incrowd.ledger import Ledger
from incrowd.publishing.linked import read_tables, split_rows
from incrowd.publishing.publish import publish
from incrowd.publishing.recipe_format import (
    SQLITE,
    RecipeFields,
    TableFields,
    by_role,
    is_relative_sqlite,
    is_remote,
)
from incrowd.publishing.release import Release
from incrowd.publishing.remembering import IfUnsafe
from incrowd.publishing.table import Table, read
from incrowd.sources import open_source


@dataclass(frozen=True)
class Recipe(RecipeFields):
    """Everything that makes a release, and the making of it."""

    @written_in("recipe")
    def table(self, session: object | None = None, *, rows: object | None = None) -> Table:
        """Open the source, on this machine or in a session of another engine, and give its columns their roles.

        With `rows`, a frame or anything that `read` takes, these are taken in place of the source.
        """
        location, options, population = self._opened(session) if rows is None else (rows, {}, None)
        table = read(
            location,
            **by_role(self.roles),
            item_separator=self.item_separator,
            others=self.others,  # type: ignore[arg-type]
            hierarchies=self.hierarchies,
            dates=self.dates,
            changes=self.changes,
            population=population,
            each_row_a_person=self.each_row_a_person,
            private=self.method.promises_privacy,
            **options,
        )
        if self.split is not None:
            return split_rows(table, self.split)
        if not self.tables:
            return table
        events = {name: self._event_table(name, described, session) for name, described in self.tables.items()}
        return read_tables(table, **events)

    def _event_table(self, name: str, described: TableFields, session: object | None) -> Table:
        location: object
        options: dict[str, Any]
        if session is None:
            location, options = self._located(f"tables.{name}", described.source)
        else:
            location, options = open_in_session(session, self._located_absolutely(described.source)), {}
        return read(
            location,
            **by_role(described.roles),
            others=described.others,  # type: ignore[arg-type]
            hierarchies=described.hierarchies,
            dates=described.dates,
            **options,
        )

    def _opened(self, session: object | None) -> tuple[object, dict[str, Any], object]:
        """Return where the table is, how it is to be read, and its population."""
        if session is not None:
            people = open_in_session(session, self._located_absolutely(self.population)) if self.population else None
            private = self.method.promises_privacy
            source = open_in_session(session, self._located_absolutely(self.source), only_stated=private)
            return source, {}, people
        location, options = self._located("source", self.source)
        if not self.population:
            return location, options, None
        there, how = self._located("population", self.population)
        return location, options, open_source(there, **how)

    def _located_absolutely(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Return a source as another engine finds it: files of this machine by their whole path."""
        options = dict(described)
        if "path" in options and not is_remote(options["path"]):
            options["path"] = str((self.base / options["path"]).absolute())
        return options

    def _located(self, name: str, described: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
        """Return where a table is, seen from the recipe, and how it is to be read."""
        options = dict(described)
        if "table" in options:
            engines = [engine for engine, kind in registered("engines").items() if kind.has_catalogue]
            raise RecipeError(
                f"[{name}] names a table of a catalogue.  Hint: publish it with --engine {' or '.join(engines)}."
            )
        if ("path" in options) == ("url" in options):
            raise RecipeError(f'[{name}] names either a path or a url.  Hint: path = "patients.csv".')
        if "path" in options:
            path = options.pop("path")
            return path if is_remote(path) else str(self.base / path), options
        return self._url(options.pop("url")), options

    def _url(self, url: str) -> str:
        """A SQLite file is named relative to the recipe like any other."""
        return SQLITE + str(self.base / url.removeprefix(SQLITE)) if is_relative_sqlite(url) else url

    @written_in("recipe")
    def run(
        self,
        *,
        seed: int | None = None,
        show: Mapping[str, Show] | None = None,
        ledger: Ledger | None = None,
        if_unsafe: IfUnsafe | None = None,
        effort: int | None = None,
        seconds: float | None = None,
        progress: Progress = silent,
        session: object | None = None,
        table: Table | None = None,
    ) -> Release:
        """Make the release, in a session of another engine where one is given, under the recipe's ledger or another.

        `show` adds to what the recipe says; `effort` and `seconds` are in place of its own. A `table` that this recipe
        opened before is not opened again.
        """
        if ledger is None and self.ledger is not None:
            ledger = Ledger(self.base / self.ledger)
        if table is None:
            table = self.table(session)  # first: where it cannot be opened, no key is made
        wants_key = self.pseudonym_key and table.schema.keyed
        key = PseudonymKey.load_or_create(self.base / str(self.pseudonym_key)) if wants_key else None
        return publish(
            table,
            self.models,
            method=self.method,
            form=self.form,
            items=self.item_method,
            show={**self.show, **(show or {})} or None,
            sample=as_rate(self.sample),
            seed=self.seed if seed is None else seed,
            pseudonym_key=key,
            ledger=ledger,
            if_unsafe=if_unsafe or self.if_unsafe,
            effort=self.effort if effort is None else effort,
            seconds=self.seconds if seconds is None else seconds,
            progress=progress,
        )
