"""Where rows live: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.core.engine import Engine
from incrowd.core.families import registered
from incrowd.core.source import Origin, ReadOptions
from incrowd.errors import SourceError


def open_engine(given: object, options: ReadOptions | None = None) -> Engine:
    """Open a table with the engine that its rows belong to."""
    return engine_for(given).open(given, options or ReadOptions())


def open_in_session(session: object, described: Mapping[str, Any], *, only_stated: bool = False) -> Origin:
    """Open what a recipe's [source] describes in a session of an engine that has sessions."""
    opened = engine_for(session).open_described(session, described, only_stated=only_stated)
    if opened is None:
        raise SourceError(f"a {type(session).__name__} is no session that tables can be opened in.")
    return opened


def engine_for(given: object) -> type[Engine]:
    """Return the engine that takes what was given."""
    kinds: list[type[Engine]] = list(registered("engines").values())
    by_itself = next((kind for kind in kinds if not kind.fallback and kind.takes(given)), None)
    return by_itself or next(kind for kind in kinds if kind.fallback)
