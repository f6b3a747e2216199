"""A project: one opened table, the recipe to publish it with, and what was tried and published so far."""

from __future__ import annotations

import hashlib
import time
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from incrowd.errors import IncrowdError
from incrowd.publishing.recipe import Recipe
from incrowd.publishing.recipe_format import SQLITE
from incrowd.publishing.recipe_lines import python_lines
from incrowd.studio.history import History
from incrowd.studio.refusing import Refused, error_of
from incrowd.studio.worker import Worker

PARTS = ("models", "method", "form", "sample")
BENCH = 2
"""How nice processes that try and publish are to the server, and to the process that shows the table."""


class Project:
    """A table, its recipe's history, and the two processes that hold the table: one to look at it, one to try."""

    def __init__(self, id: str, name: str, location: str, *, uploaded: bool, history: History) -> None:
        self.id = id
        self.name = name
        self.location = location
        self.uploaded = uploaded
        self.history = history
        self.state = "opening"
        self.error: dict[str, Any] | None = None
        self.opened: dict[str, Any] | None = None
        self.profile: dict[str, Any] | None = None
        self.tries: list[dict[str, Any]] = []
        self.published: list[dict[str, Any]] = []
        self.desk, self.bench = Worker(), Worker(nice=BENCH)
        self.opened_by: int | None = None
        """Which of the desk's processes has the table; None while it is read."""
        self._number = 0
        self._problems: tuple[int, list[dict[str, Any]]] = (-1, [])

    @property
    def is_url(self) -> bool:
        """Whether the table is in a database."""
        return "://" in self.location

    @property
    def base(self) -> Path:
        """The folder that paths of the recipe start from: that of the table."""
        if self.location.startswith(SQLITE):
            return Path(self.location.removeprefix(SQLITE)).parent
        return Path.cwd() if self.is_url else Path(self.location).parent

    @property
    def own_folder(self) -> Path | None:
        """The private folder of a file that was dropped: its recipe may name what is there."""
        return self.base if self.uploaded else None

    @property
    def stem(self) -> str:
        """The name of the table without its suffixes."""
        return self.name.partition(".")[0] or "table"

    @property
    def recipe_path(self) -> Path:
        """Where the recipe's file would be."""
        return self.base / f"{self.stem}.recipe.toml"

    @property
    def recipe(self) -> dict[str, Any]:
        """The recipe as it is now."""
        found = self.history.recipe
        if found is None:
            raise Refused(409, "the table is not open yet.", hint="wait until it is", kind="NotOpen")
        return found

    @property
    def read_options(self) -> dict[str, Any]:
        """How the table is read, as the recipe says."""
        source = (self.history.recipe or {}).get("source", {})
        return {key: value for key, value in source.items() if key not in ("path", "url", "table")}

    def problems(self) -> list[dict[str, Any]]:
        """Return what keeps the recipe from being run."""
        if self._problems[0] != self.history.version:
            found: list[dict[str, Any]] = []
            if self.history.recipe is not None:
                try:
                    self.loaded()
                except IncrowdError as error:
                    found = [error_of(error)]
            self._problems = self.history.version, found
        return self._problems[1]

    def loaded(self) -> Recipe:
        """Return the recipe as the library has it."""
        return Recipe.from_dict(self.recipe, base=self.base)

    def asked(self, **more: Any) -> dict[str, Any]:
        """Return what a task needs to know."""
        return {
            "location": self.location,
            "options": self.read_options,
            "recipe": self.recipe,
            "base": str(self.base),
            **more,
        }

    def next_id(self, letter: str) -> str:
        """Return a new name for a try or a release."""
        self._number += 1
        return f"{letter}{self._number}"

    def one_try(self, name: str) -> dict[str, Any]:
        """Return a try by its name."""
        for tried in self.tries:
            if tried["id"] == name:
                return tried
        raise Refused(404, "there is no such try.")

    def one_published(self, name: str) -> dict[str, Any]:
        """Return a release by its name."""
        for release in self.published:
            if release["id"] == name:
                return release
        raise Refused(404, "there is no such release.")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        history = self.history
        return {
            "id": self.id,
            "name": self.name,
            "path": None if self.uploaded else shown_location(self.location),
            "uploaded": self.uploaded,
            "state": self.state,
            "error": self.error,
            "version": history.version,
            "recipe": history.recipe,
            "problems": self.problems(),
            "can_undo": history.can_undo,
            "can_redo": history.can_redo,
            "tries": self.tries,
            "published": self.published,
        }

    def brief(self) -> dict[str, Any]:
        """Return what a list of projects shows."""
        steps = self.history.steps
        changed = steps[self.history.now].at if steps else time.time()
        return {"id": self.id, "name": self.name, "changed": changed, "state": self.state}

    def texts(self) -> dict[str, Any]:
        """Return the recipe as a file, and the Python lines and the command that do the same."""
        toml = tomli_w.dumps(self.recipe, indent=2)
        try:
            python = python_lines(self.loaded())
        except IncrowdError as error:
            python = f"# {error}\n"
        return {
            "version": self.history.version,
            "toml": toml,
            "python": python,
            "command": f"incrowd publish {self.recipe_path.name}",
        }

    def with_source(self, proposed: dict[str, Any], label: str) -> None:
        """Take over how the table is read now. Columns that are still there keep their roles, new ones are proposed."""
        before = self.history.recipe
        if before is None:
            self.history.add(proposed, label)
            return
        columns = {name: before["columns"].get(name, told) for name, told in proposed["columns"].items()}
        self.history.add({**before, "source": proposed["source"], "columns": columns}, label)

    def end(self) -> None:
        """End its processes, and let go of its file."""
        self.desk.end()
        self.bench.end()
        self.history.close()


def shown_location(location: str) -> str:
    """Return a location without a password."""
    scheme, mark, rest = location.partition("://")
    if not mark or "@" not in rest:
        return location
    user, _, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}@{place}"


def project_id(location: str, query: str | None) -> str:
    """Return the name of a table's project: the same each time it is opened."""
    return hashlib.sha256(f"{shown_location(location)}\0{query or ''}".encode()).hexdigest()[:16]


def recipe_of_toml(text: str) -> dict[str, Any]:
    """Return the recipe that a file holds."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Refused(422, f"this is not TOML: {error}.", kind="RecipeError") from None
    except RecursionError:
        raise Refused(422, "tables stand in one another without end.", kind="RecipeError") from None
