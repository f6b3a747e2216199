"""The one table of what may be asked: it is answered by, and documented from, the same lines."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from incrowd.common.registry import modules_of
from incrowd.common.surface import written_in
from incrowd.errors import IncrowdError
from incrowd.studio.asking import Endpoint, read_json
from incrowd.studio.events import as_json
from incrowd.studio.openapi import openapi
from incrowd.studio.refusing import Refused, error_of, status_of
from incrowd.studio.studio import Studio


def endpoints() -> list[Endpoint]:
    """Return everything that may be asked."""
    found = [one for module in modules_of("incrowd.studio.endpoints") for one in vars(module).get("ENDPOINTS", ())]
    return [*found, Endpoint("GET", "/openapi.json", _document, "This document.", "OpenAPI")]


async def _document(studio: Studio, request: Request, body: dict[str, Any]) -> dict[str, Any]:
    return openapi(endpoints())


def application(studio: Studio, lifespan: Any = None) -> Starlette:
    """Return the application, without its guard."""
    return Starlette(
        routes=[
            Route(one.path, _answering(studio, one), methods=[one.method], name=f"{one.method} {one.path}")
            for one in endpoints()
        ],
        lifespan=lifespan,
        exception_handlers={404: _not_found, 405: _not_found},
    )


def _answering(studio: Studio, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            body = {} if endpoint.body is None else await read_json(request, endpoint.body)
            with written_in("recipe"):
                found = await endpoint.handle(studio, request, body)
        except (Refused, IncrowdError, OSError, MemoryError) as error:
            return _failed(error)
        except Exception as error:  # a fault of incrowd, whose own words may quote the table
            if os.environ.get("INCROWD_DEBUG"):
                raise
            return _failed(error)
        if isinstance(found, Response):
            return found
        return Response(as_json(found), media_type="application/json", status_code=endpoint.status)

    return answer


def _failed(error: BaseException) -> Response:
    more = error.more if isinstance(error, Refused) else {}
    return Response(
        as_json({"error": error_of(error), **more}), media_type="application/json", status_code=status_of(error)
    )


async def _not_found(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": error_of(Refused(404, "there is nothing here."))}, status_code=404)
