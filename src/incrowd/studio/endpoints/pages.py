"""The page itself, its files, what it begins with, and what happens."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from incrowd.studio.asking import Endpoint
from incrowd.studio.catalogue import catalogue
from incrowd.studio.events import as_event
from incrowd.studio.page import page, static_file
from incrowd.studio.refusing import Refused
from incrowd.studio.studio import Studio

Body = dict[str, Any]


async def shell(studio: Studio, request: Request, body: Body) -> Response:
    """Return the page."""
    wanted = request.path_params
    try:
        state = studio.state(wanted.get("project"), wanted.get("screen"))
    except Refused:
        state = studio.state()
    return HTMLResponse(page(studio.with_text({**state, "room": request.scope.get("room", "")})))


async def file(studio: Studio, request: Request, body: Body) -> Response:
    """Return a file of the page."""
    found = static_file(request.path_params["name"])
    if found is None:
        raise Refused(404, "there is no such file.")
    return Response(found[0], media_type=found[1])


async def no_icon(studio: Studio, request: Request, body: Body) -> Response:
    """Browsers ask for it; there is none."""
    found = static_file("icon.svg")
    return Response(status_code=204) if found is None else Response(found[0], media_type=found[1])


async def state(studio: Studio, request: Request, body: Body) -> Body:
    """Return what a page begins with."""
    return studio.state()


async def events(studio: Studio, request: Request, body: Body) -> Response:
    """Tell what happens."""
    hello = as_event("hello", {"state": studio.state()})
    return StreamingResponse(studio.events.listen(hello), media_type="text/event-stream")


async def parts(studio: Studio, request: Request, body: Body) -> Body:
    """Return all parts by family."""
    return catalogue()


async def link(studio: Studio, request: Request, body: Body) -> Body:
    """Return a link for another browser."""
    return {"url": studio.new_link()}


async def stop(studio: Studio, request: Request, body: Body) -> Body:
    """End the studio."""
    studio.stop()
    return {}


ENDPOINTS = (
    Endpoint("GET", "/", shell, "The page.", "HTML"),
    Endpoint("GET", "/project/{project}", shell, "The page, at a project.", "HTML"),
    Endpoint("GET", "/project/{project}/{screen}", shell, "The page, at a screen of a project.", "HTML"),
    Endpoint("GET", "/static/{name:path}", file, "A file of the page.", "script, style or picture", refuses=(404,)),
    Endpoint("GET", "/favicon.ico", no_icon, "The page's icon, if there is one.", "picture"),
    Endpoint("GET", "/api/state", state, "What a page begins with.", "State"),
    Endpoint("GET", "/api/events", events, "Server-sent events: hello, project, job, bye.", "text/event-stream"),
    Endpoint("GET", "/api/catalogue", parts, "Models, methods, forms …: all that a recipe may name.", "Catalogue"),
    Endpoint("POST", "/api/links", link, "A link that opens the studio in another browser, once.", "url", body={}),
    Endpoint("POST", "/api/stop", stop, "End the studio.", "nothing", body={}),
)
