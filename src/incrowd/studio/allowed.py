"""Which files may be touched: those in the folders that were named when the studio was started, and what was dropped.

A recipe can name many files. Whoever sends one here may name none outside these folders, not even to find out whether
it is there.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incrowd.common.names import is_device
from incrowd.common.systems import is_running
from incrowd.publishing.recipe_format import SQLITE, is_remote
from incrowd.studio.refusing import Refused

DATABASES = ("sqlite", "postgresql", "postgres", "duckdb")
_IN_FILES = (SQLITE, "duckdb:///")
"""Databases that are files: what follows is a path."""
UPLOAD_LIMIT = 2 << 30
_FILE_KEYS = {"path", "file", "directory", "key", "url", "ledger", "last", "release"}
_KEY_OF_LEDGER = ".key"
_MEMORY = Path("/dev/shm")


class Folders:
    """The folders that a person may open files from and publish to, with everything below them."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = [folder.resolve() for folder in folders]

    def require(self, path: str | Path) -> Path:
        """Return a path without links and dots, or refuse it."""
        text = str(path)
        if "\0" in text or not text:
            raise Refused(400, "a path is a text.", kind="PathError")
        found = Path(os.path.realpath(Path(text).expanduser()))
        if not any(found.is_relative_to(folder) for folder in self.folders):
            raise Refused(
                403,
                "this path is outside of the folders that the studio may touch.",
                hint="start it with --folder and the path of the folder, or drop the file into the page",
                kind="PathError",
            )
        return found

    def also(self, folder: Path) -> None:
        """Let one more folder be touched."""
        if folder.resolve() not in self.folders:
            self.folders.append(folder.resolve())

    def require_location(self, url: str, base: Path | None = None) -> str:
        """Return the address of a database, or refuse it; one that is a file is held to the folders."""
        scheme = url.partition("://")[0].lower()
        if scheme not in DATABASES:
            raise Refused(
                403,
                "only databases are opened by their address.",
                hint="sqlite:///path or postgresql://…",
                kind="PathError",
            )
        for prefix in _IN_FILES:
            if url.lower().startswith(prefix):
                path = url[len(prefix) :]
                return prefix + str(self.require(path if base is None else base / path))
        if scheme in (prefix.partition("://")[0] for prefix in _IN_FILES):
            raise Refused(400, "the address of this database is no path.", hint="sqlite:///path", kind="PathError")
        return url

    def require_recipe(self, recipe: Mapping[str, Any], base: Path, own: Path | None = None) -> None:
        """Refuse a recipe that names a file outside of the folders, and of its `own` where it has one."""
        if own is not None:
            Folders([*self.folders, own]).require_recipe(recipe, base)
            return
        for text in _named_files(recipe):
            if "://" in text:
                self.require_location(text, base)
            elif is_remote(text):
                raise Refused(403, "what is piped in cannot be opened here.", kind="PathError")
            else:
                self.require(base / text)
        if isinstance(recipe.get("ledger"), str):
            ledger = self.require(base / recipe["ledger"])
            self.require(ledger.with_name(ledger.name + _KEY_OF_LEDGER))  # where it lies by itself


def _named_files(recipe: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of a recipe that may name a file: by its key, wherever it is, or as a parameter of a part."""
    yield from _by_key(recipe)
    # What is compared replaces these parts, with what a grid lists in their places.
    for part in ("method", "form", "items", "models", "compare"):
        yield from _like_paths(recipe.get(part))


def _by_key(node: Any) -> Iterator[str]:
    """Yield what stands under keys that name files. Keys of a tree are categories, and name none."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            if isinstance(value, str) and key in _FILE_KEYS:
                yield value
            elif key != "tree":
                yield from _by_key(value)
    elif isinstance(node, list):
        for item in node:
            yield from _by_key(item)


def _like_paths(node: Any) -> Iterator[str]:
    """Yield all texts that lead somewhere."""
    if isinstance(node, str):
        if re.search(r"[/\\]|^\.\.?$", node):
            yield node
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _like_paths(value)
    elif isinstance(node, list):
        for item in node:
            yield from _like_paths(item)


class PrivatePlace:
    """A folder for dropped files that only this user may look into: in memory where the system has such a place.

    It goes when the studio ends. What a killed one left is taken away by the next.
    """

    def __init__(self) -> None:
        self._place: Path | None = None

    @property
    def path(self) -> Path:
        """The folder, made when it is first needed."""
        if self._place is None:
            root = _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
            _clear_abandoned(root)
            self._place = Path(tempfile.mkdtemp(prefix=f"incrowd-studio-{os.getpid()}-", dir=root))
        return self._place

    def new_file(self, name: str) -> Path:
        """Return a path for a dropped file, in a folder of its own: a release of it goes beside it."""
        folder = self.path / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder / safe_name(name)

    def remove(self, path: Path) -> None:
        """Take away the folder of a dropped file."""
        if self._place is not None and path.is_relative_to(self._place):
            shutil.rmtree(path.parent, ignore_errors=True)

    def close(self) -> None:
        """Take all of it away."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
            self._place = None


def safe_name(name: str) -> str:
    """Return the last part of a name, with nothing in it that a file system would obey.

    >>> safe_name("../../etc/passwd"), safe_name("a b.csv"), safe_name(".."), safe_name("con.csv")
    ('passwd', 'a b.csv', 'table', '_con.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(character for character in last if character.isprintable() and character not in '<>:"|?*').strip(
        ". "
    )
    return f"{'_' if is_device(kept) else ''}{kept[:120]}" or "table"


def _clear_abandoned(root: Path) -> None:
    """Take away the places of studios that no longer run, of this user alone."""
    for found in root.glob("incrowd-studio-*"):
        number = re.match(r"incrowd-studio-(\d+)-", found.name)
        if number is None or found.is_symlink() or not _is_ours(found) or is_running(int(number[1])):
            continue
        shutil.rmtree(found, ignore_errors=True)


def _is_ours(found: Path) -> bool:
    return not hasattr(os, "geteuid") or found.lstat().st_uid == os.geteuid()
