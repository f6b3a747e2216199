"""The recipe of a project and all that it ever was: undo without end, and nothing that was confirmed gets lost.

Steps are appended to a file that only this user may read, as what they change: recipes may name values of the table
(categories that a profile listed). A step is in the file before it is answered for; where it cannot be written, it did
not happen. A line that a killed studio left half-written is left out when the file is read.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from incrowd.common.locks import Lock
from incrowd.common.records import dataclass
from incrowd.common.secrecy import keep_private
from incrowd.studio.refusing import Refused

Recipe = dict[str, Any]
_COLUMNS = "columns"


_OF_COLUMNS = ("role", "hierarchy", "date", "show", "change")
"""What a recipe says of a column, where it says more than the role."""


@dataclass(frozen=True)
class Step:
    """A recipe, and what made it so."""

    label: str
    at: float
    recipe: Recipe


class History:
    """Steps of a recipe and where one is among them. `version` grows with every change, also with an undo."""

    def __init__(self, file: Path | None = None) -> None:
        self.steps: list[Step] = []
        self.now = -1
        self.version = 0
        self.about: dict[str, Any] = {}
        self._file = file
        self._lock: Lock | None = None
        if file is not None:
            self._open(file)

    @property
    def recipe(self) -> Recipe | None:
        """The recipe as it is now."""
        return None if self.now < 0 else self.steps[self.now].recipe

    @property
    def can_undo(self) -> str | None:
        """What an undo would take back."""
        return self.steps[self.now].label if self.now > 0 else None

    @property
    def can_redo(self) -> str | None:
        """What a redo would do again."""
        return self.steps[self.now + 1].label if self.now + 1 < len(self.steps) else None

    def require(self, version: object) -> None:
        """Refuse a change of a recipe that is another one meanwhile."""
        if version != self.version:
            raise Refused(
                409,
                "the recipe was changed meanwhile, in another tab or by another program.",
                hint="look at it as it is now, and change it again",
                kind="Stale",
            )

    def describe(self, about: Mapping[str, Any]) -> None:
        """Note what table this is the history of."""
        if dict(about) != self.about:
            self._append({"about": dict(about)})
            self.about = dict(about)

    def add(self, recipe: Recipe, label: str) -> None:
        """Go one step on; steps that were undone are gone then."""
        before = self.recipe
        if before == recipe:
            return
        at = time.time()
        entry = {"after": self.now, "label": label, "at": at, **_difference(before or {}, recipe)}
        self._append(entry)
        self._take(Step(label, at, recipe), self.now)

    def go(self, place: int) -> None:
        """Go to another step."""
        if not 0 <= place < len(self.steps):
            raise Refused(409, "there is no such step.", kind="Stale")
        if place != self.now:
            self._append({"now": place})
            self.now = place
            self.version += 1

    def close(self) -> None:
        """Let go of the file."""
        if self._lock is not None:
            self._lock.end()
            self._lock = None

    def forget(self) -> None:
        """Remove the file."""
        self.close()
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()
            self._file = None

    def _take(self, step: Step, after: int) -> None:
        self.steps = [*self.steps[: after + 1], step]
        self.now = len(self.steps) - 1
        self.version += 1

    def _open(self, file: Path) -> None:
        if not file.parent.is_dir():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            keep_private(file.parent)
        lock = Lock(file, os.O_CREAT | os.O_APPEND)
        taken = False
        with suppress(OSError):  # where this file system has no locks, nobody can tell
            taken = not lock.take()
        if taken:
            lock.end()
            raise Refused(409, "this table is open in another studio.", hint="close that one first", kind="InUse")
        self._lock = lock
        content = file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # a step that nobody was told of
            os.ftruncate(lock.handle, len(whole))
        for line in whole.splitlines():
            self._replay(line)

    def _replay(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if "about" in entry:
            self.about = entry["about"]
        elif "now" in entry:
            self.now = entry["now"] if 0 <= entry["now"] < len(self.steps) else self.now
            self.version += 1
        else:
            after = entry["after"]
            before = self.steps[after].recipe if 0 <= after < len(self.steps) else {}
            self._take(Step(entry["label"], entry["at"], _changed(before, entry)), after)

    def _append(self, entry: Mapping[str, Any]) -> None:
        """Write a line, all of it or nothing, and to the disk."""
        if self._lock is None:
            return
        handle = self._lock.handle
        line = json.dumps(entry, ensure_ascii=False, default=str).encode() + b"\n"
        length = os.fstat(handle).st_size
        try:
            written = os.write(handle, line)
            if written < len(line):
                raise OSError(28, os.strerror(28))
            os.fsync(handle)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, length)
            raise


def _difference(before: Recipe, after: Recipe) -> dict[str, Any]:
    """Return what changes: whole sections, and of the columns those that do."""
    old, new = before.get(_COLUMNS, {}), after.get(_COLUMNS, {})
    sections = {key: value for key, value in after.items() if key != _COLUMNS and before.get(key) != value}
    return {
        "set": sections,
        "gone": [key for key in before if key not in after],
        "columns": {name: told for name, told in new.items() if old.get(name) != told},
        "columns gone": [name for name in old if name not in new],
        "order": list(new)
        if list(new) != [*(name for name in old if name in new), *(n for n in new if n not in old)]
        else None,
    }


def _changed(before: Recipe, entry: Mapping[str, Any]) -> Recipe:
    columns = {**before.get(_COLUMNS, {}), **entry["columns"]}
    columns = {name: told for name, told in columns.items() if name not in entry["columns gone"]}
    if entry.get("order"):
        columns = {name: columns[name] for name in entry["order"]}
    made = {**before, **entry["set"], _COLUMNS: columns}
    gone = set(entry["gone"])
    return {key: value for key, value in made.items() if key not in gone}


def at_path(recipe: Recipe, path: list[Any], value: Any) -> Recipe:
    """Return a recipe with another value at a path of keys and places in lists; the place after the last appends."""
    made: Recipe = _set(recipe, path, value)
    return made


def _set(node: Any, path: list[Any], value: Any) -> Any:
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int) and not isinstance(key, bool):
        items = list(node) if isinstance(node, list) else []
        if not 0 <= key <= len(items):
            raise Refused(400, "a path leads to a place that is not there.")
        inner = items[key] if key < len(items) else None
        return [*items[:key], _set(inner, rest, value), *items[key + 1 :]]
    if not isinstance(key, str):
        raise Refused(400, "a path is a list of keys and places.")
    if isinstance(node, str):  # a part may be written as its name alone
        node = {"role" if key in _OF_COLUMNS else "name": node}
    table = dict(node) if isinstance(node, Mapping) else {}
    return {**table, key: _set(table.get(key), rest, value)}


def without_path(recipe: Recipe, path: list[Any]) -> Recipe:
    """Return a recipe without what is at a path; nothing changes where nothing is there."""
    made: Recipe = _unset(recipe, path)
    return made


def _unset(node: Any, path: list[Any]) -> Any:
    if not path:
        raise Refused(400, "a path names at least one key.")
    key, rest = path[0], path[1:]
    if isinstance(node, list):
        if not isinstance(key, int) or not 0 <= key < len(node):
            return node
        return [*node[:key], *([_unset(node[key], rest)] if rest else []), *node[key + 1 :]]
    if not isinstance(node, Mapping) or key not in node:
        return node
    if rest:
        return {**node, key: _unset(node[key], rest)}
    return {other: value for other, value in node.items() if other != key}
