"""Open: files, uploads, databases; what was found out about a table, and reading it in another way."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from incrowd.core.families import registered
from incrowd.studio.asking import VERSION, Endpoint, Field, require_length, too_large
from incrowd.studio.refusing import Refused
from incrowd.studio.source_options import as_read_options
from incrowd.studio.studio import Studio

Body = dict[str, Any]
_MOST_LISTED = 1000
_MOST_WAITING = 4
"""So many dropped files are held that were not opened yet."""


async def files(studio: Studio, request: Request, body: Body) -> Body:
    """List a folder."""
    asked = request.query_params.get("folder") or str(studio.folders.folders[0])
    return await asyncio.to_thread(_listed, studio, studio.folders.require(asked))


def _listed(studio: Studio, folder: Path) -> Body:
    if not folder.is_dir():
        raise Refused(404, "there is no such folder.")
    suffixes = {suffix: name for name, kind in registered("sources").items() for suffix in kind.suffixes}
    folders, found = [], []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name.lower()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.is_file():
                kind = suffixes.get(Path(entry.name).suffix.lower(), "")
                found.append({"name": entry.name, "path": entry.path, "size": entry.stat().st_size, "kind": kind})
    parent = folder.parent if any(folder.parent.is_relative_to(one) for one in studio.folders.folders) else None
    return {
        "folder": str(folder),
        "parent": None if parent is None else str(parent),
        "folders": folders[:_MOST_LISTED],
        "files": found[:_MOST_LISTED],
    }


async def upload(studio: Studio, request: Request, body: Body) -> Response:
    """Take a file that was dropped into the page."""
    path = await _taken(studio, request)
    while len(studio.uploads) >= _MOST_WAITING:  # dropped, and never opened
        studio.place.remove(studio.uploads.pop(next(iter(studio.uploads))))
    name = secrets.token_hex(8)
    studio.uploads[name] = path
    told = {"upload": name, "name": path.name, "size": path.stat().st_size}
    return JSONResponse(told, status_code=201)


async def _taken(studio: Studio, request: Request) -> Path:
    """Write a body into a private place; nothing of it stays where it is too large or breaks off."""
    most = studio.upload_limit
    require_length(request, most)
    path = studio.place.new_file(request.query_params.get("name", "table.csv"))
    size = 0
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise too_large(most)
                file.write(chunk)
    except BaseException:
        studio.place.remove(path)
        raise
    return path


async def open_table(studio: Studio, request: Request, body: Body) -> Response:
    """Open a table."""
    given = [key for key in ("path", "upload", "url") if body.get(key)]
    if len(given) != 1:
        raise Refused(400, "name one of path, upload and url.")
    options = dict(body.get("options") or {})
    if body.get("query"):
        options["query"] = body["query"]
    as_read_options(options)
    if given == ["path"]:
        location = studio.folders.require(body["path"])
        if not location.exists():
            raise Refused(404, "there is no such file.")
        project = studio.open(str(location), options)
    elif given == ["url"]:
        project = studio.open(studio.folders.require_location(body["url"]), options)
    else:
        path = studio.uploads.pop(body["upload"], None)
        if path is None:
            raise Refused(404, "there is no such upload.", hint="drop the file again")
        project = studio.open(str(path), options, uploaded=path)
    return JSONResponse(studio.described(project), status_code=201)


async def file_again(studio: Studio, request: Request, body: Body) -> Body:
    """Take a dropped file again, for a project that remembers its recipe but not its rows."""
    project = studio.project(request.path_params["project"])
    if not project.uploaded or project.state != "needs file":
        raise Refused(409, "this project has its table.", kind="Stale")
    project.location = str(await _taken(studio, request))
    studio.begin_open(project, project.read_options)
    return studio.described(project)


async def project_now(studio: Studio, request: Request, body: Body) -> Body:
    """Return a project."""
    return studio.described(studio.project(request.path_params["project"]))


async def forget(studio: Studio, request: Request, body: Body) -> Body:
    """Close a project, and remove what is remembered of it."""
    await studio.forget(studio.project(request.path_params["project"]))
    return {}


async def opened(studio: Studio, request: Request, body: Body) -> Body:
    """Return what was found out about a table."""
    found = studio.project(request.path_params["project"]).opened
    if found is None:
        raise Refused(404, "the table is not open yet.", hint="wait for the job")
    return found


async def read_again(studio: Studio, request: Request, body: Body) -> Response:
    """Read a table in another way."""
    project = studio.project(request.path_params["project"])
    project.history.require(body["version"])
    as_read_options(body["options"])
    job = studio.begin_open(project, body["options"], label="read in another way")
    return JSONResponse(job.to_dict(), status_code=202)


_OPTIONS = Field("object", "how the table is read; what is left out is found out", needed=False)
P = "/api/projects/{project}"

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/files",
        files,
        "A folder's files.",
        "Folder",
        query={"folder": Field("string", "its path", needed=False)},
        refuses=(403, 404),
    ),
    Endpoint(
        "POST",
        "/api/uploads",
        upload,
        "A file that was dropped into the page.",
        "Upload",
        query={"name": Field("string", "its name", needed=False)},
        raw_body="application/octet-stream",
        status=201,
        refuses=(413, 507),
    ),
    Endpoint(
        "POST",
        "/api/projects",
        open_table,
        "Open a table: one of path, upload and url.",
        "Project",
        body={
            "path": Field("string", "a file in one of the folders", needed=False),
            "upload": Field("string", "what was dropped", needed=False),
            "url": Field("string", "the address of a database", needed=False),
            "query": Field("string", "a SELECT, or a table's name", needed=False),
            "options": _OPTIONS,
        },
        status=201,
        refuses=(403, 404, 409),
    ),
    Endpoint("GET", P, project_now, "A project.", "Project", refuses=(404,)),
    Endpoint(
        "DELETE", P, forget, "Close a project and forget its history; the table stays.", "nothing", refuses=(404,)
    ),
    Endpoint(
        "POST",
        P + "/file",
        file_again,
        "Drop the same file again, after the studio was started again.",
        "Project",
        query={"name": Field("string", "its name", needed=False)},
        raw_body="application/octet-stream",
        refuses=(409, 413),
    ),
    Endpoint(
        "GET",
        P + "/opened",
        opened,
        "What was found out about the table, and its first rows.",
        "Opened",
        refuses=(404,),
    ),
    Endpoint(
        "POST",
        P + "/reading",
        read_again,
        "Read the table in another way.",
        "Job",
        body={**VERSION, "options": Field("object", "how the table is read")},
        status=202,
        refuses=(409,),
    ),
)
