"""Bind the loopback, say where, answer until somebody ends it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn

from incrowd.common import systems
from incrowd.core.families import registered
from incrowd.errors import OutputError
from incrowd.studio.catalogue import catalogue
from incrowd.studio.routes import application
from incrowd.studio.security import Access, App, Guard
from incrowd.studio.studio import Studio

LOOPBACK = "127.0.0.1"


def bound(port: int) -> socket.socket:
    """Return a socket on this machine's own address, at a port of the system's choice where it is 0."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # On Windows, an address that may be used again may be taken away by any other program.
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None) if systems.WINDOWS else None
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if alone is None else alone, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise OutputError(f"port {port} cannot be used: {error.strerror}.  Hint: leave --port out.") from None
    return listening


def guarded(studio: Studio, access: Access, first: Path | None = None) -> App:
    """Return the application behind its guard; a first table is opened when it starts."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if first is not None:
            studio.open(str(first), {})
        if studio.eager:
            # All parts are imported now: that would hold up whoever is answered meanwhile.
            await asyncio.to_thread(_import_parts)
        yield
        await studio.end()

    studio.new_link = access.new_link
    return Guard(application(studio, lifespan), access)


def _import_parts() -> None:
    catalogue()
    registered("sources")


def settings(app: App) -> uvicorn.Config:
    """Return how the server runs: it writes no log, since what is asked may quote the table."""
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        access_log=False,
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def serve(studio: Studio, listening: socket.socket, *, first: Path | None, ready: Callable[[str], None]) -> None:
    """Answer until somebody ends it; `ready` is told the link when it can be opened."""
    access = Access(listening.getsockname()[1])
    server = uvicorn.Server(settings(guarded(studio, access, first)))

    def stop() -> None:
        server.should_exit = True

    studio.stop = stop
    listening.listen(128)  # from now on a browser that is quick waits, and is not refused
    ready(access.new_link())
    server.run(sockets=[listening])
