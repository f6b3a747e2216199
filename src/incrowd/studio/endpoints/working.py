"""Long work, and what came of it: tries, comparisons, audits, releases."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse

from incrowd.core.describing import described
from incrowd.core.families import registered
from incrowd.studio.asking import VERSION, Endpoint, Field, whole_number
from incrowd.studio.endpoints.recipes import as_download, download
from incrowd.studio.projects import Project
from incrowd.studio.refusing import Refused
from incrowd.studio.security import REPORT_POLICY
from incrowd.studio.studio import Studio, on_other_axes, tries_on

Body = dict[str, Any]
_MOST_ROWS = 500
_PIECE = 1 << 20
_SHOWN = ("all", "changed", "withheld")


async def begin(studio: Studio, request: Request, body: Body) -> Response:
    """Begin a job."""
    project = studio.project(request.path_params["project"])
    try:
        job = studio.begin(project, body["kind"], body)
    except Refused as refused:
        if refused.status == 409:
            refused.more = {"project": studio.described(project)}
        raise
    return JSONResponse(job.to_dict(), status_code=202)


async def job_now(studio: Studio, request: Request, body: Body) -> Body:
    """Return a job with what it has found."""
    return studio.jobs.get(request.path_params["job"]).to_dict(whole=True)


async def cancel(studio: Studio, request: Request, body: Body) -> Body:
    """Call a job off."""
    job = studio.jobs.get(request.path_params["job"])
    studio.jobs.cancel(job)
    return job.to_dict()


async def job_page(studio: Studio, request: Request, body: Body) -> Response:
    """Return the library's own page of what a job found."""
    job = studio.jobs.get(request.path_params["job"])
    if job.page is None:
        raise Refused(404, "this job has no page.")
    if request.query_params.get("download"):
        return download(job.page.encode(), f"{job.kind}.html", "text/html; charset=utf-8")
    return HTMLResponse(job.page, headers={"content-security-policy": REPORT_POLICY})


async def other_axes(studio: Studio, request: Request, body: Body) -> Body:
    """Return a comparison on other axes."""
    job = studio.jobs.get(request.path_params["job"])
    if job.kind != "compare" or job.result is None:
        raise Refused(404, "this job has no comparison.")
    risk, loss = (request.query_params.get(name, usual) for name, usual in (("risk", "mean"), ("loss", "queries")))
    project = studio.project(job.project)
    return {"comparison": on_other_axes(job.result["outcomes"], risk, loss), "tries": tries_on(project, risk, loss)}


async def tries(studio: Studio, request: Request, body: Body) -> Body:
    """Return all tries."""
    return {"tries": studio.project(request.path_params["project"]).tries}


async def forget_try(studio: Studio, request: Request, body: Body) -> Body:
    """Forget a try."""
    project = studio.project(request.path_params["project"])
    project.tries.remove(project.one_try(request.path_params["one"]))
    studio.tell(project)
    return {"tries": project.tries}


def _tried(studio: Studio, request: Request) -> tuple[Project, Body]:
    project = studio.project(request.path_params["project"])
    found = project.one_try(request.path_params["one"])
    if not found["rows_here"]:
        raise Refused(410, "the rows of this try are gone.", hint="try it again", kind="Gone")
    return project, found


def _whole(request: Request, name: str, usual: int, most: int | None = None) -> int:
    found = whole_number(request.query_params.get(name, str(usual)), name)
    return found if most is None else min(found, most)


async def rows(studio: Studio, request: Request, body: Body) -> Body:
    """Return some rows before and after."""
    project, tried = _tried(studio, request)
    show = request.query_params.get("show", "all")
    if show not in _SHOWN:
        raise Refused(400, "there is no such choice of rows.", hint=f"it is one of {', '.join(_SHOWN)}")
    asked = {
        "try": tried["id"],
        "offset": _whole(request, "offset", 0),
        "limit": _whole(request, "limit", 50, _MOST_ROWS),
        "show": show,
    }
    found: Body = await studio.on_bench(project, "rows", asked)
    return found


async def why(studio: Studio, request: Request, body: Body) -> Body:
    """Explain a row."""
    project, tried = _tried(studio, request)
    asked = {"try": tried["id"], "row": request.path_params["row"]}
    found: Body = await studio.on_bench(project, "why", asked)
    return found


async def solutions(studio: Studio, request: Request, body: Body) -> Body:
    """List what else a search looked at."""
    project, tried = _tried(studio, request)
    asked = {
        "try": tried["id"],
        "offset": _whole(request, "offset", 0),
        "limit": _whole(request, "limit", 200, 1000),
        "method": tried["recipe_parts"].get("method", {"name": "mondrian"}),
    }
    found: Body = await studio.on_bench(project, "solutions", asked)
    return found


async def places(studio: Studio, request: Request, body: Body) -> Body:
    """Tell where a release may go."""
    project = studio.project(request.path_params["project"])
    output = project.recipe.get("output", {})
    usual = project.base / str(output.get("directory", f"{project.stem}-release"))
    suffix = Path(project.name).suffix.lower()
    sinks = registered("sinks")
    own = next((name for name, sink in sinks.items() if suffix in sink.suffixes), "csv")
    return {
        "directory": None if project.uploaded else str(usual),
        "formats": [described(sink) for sink in sinks.values()],
        "format": output.get("format", own),
        "exists": not project.uploaded and usual.exists(),
    }


async def as_zip(studio: Studio, request: Request, body: Body) -> Response:
    """Return a release's files as one."""
    project = studio.project(request.path_params["project"])
    release = project.one_published(request.path_params["one"])
    folder = _folder(release)
    pieces = _zipped(folder, [file["name"] for file in release["files"]])
    return StreamingResponse(pieces, media_type="application/zip", headers=as_download(f"{folder.name}.zip"))


class _Pieces(io.RawIOBase):
    """Takes what an archive writes, until somebody fetches it."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._written += piece
        return len(piece)

    def taken(self) -> bytes:
        """Return what was written since it was last asked for."""
        found = bytes(self._written)
        self._written.clear()
        return found


def _zipped(folder: Path, names: list[str]) -> Iterator[bytes]:
    """Yield an archive piece by piece, as fast as it is fetched: a release may be larger than the memory."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w") as archive:
        for name in names:
            about = zipfile.ZipInfo.from_file(folder / name, f"{folder.name}/{name}")
            about.compress_type = zipfile.ZIP_DEFLATED
            with (folder / name).open("rb") as source, archive.open(about, "w") as target:
                while piece := source.read(_PIECE):
                    target.write(piece)
                    yield pieces.taken()
    yield pieces.taken()


async def one_file(studio: Studio, request: Request, body: Body) -> Response:
    """Return one file of a release."""
    project = studio.project(request.path_params["project"])
    release = project.one_published(request.path_params["one"])
    name = request.path_params["name"]
    if name not in [file["name"] for file in release["files"]]:
        raise Refused(404, "there is no such file.")
    path = _folder(release) / name
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _folder(release: Body) -> Path:
    folder = Path(release["directory"])
    if not folder.is_dir():
        raise Refused(410, "the release is no longer where it was written.", kind="Gone")
    return folder


P = "/api/projects/{project}"
T = P + "/tries/{one}"
_PAGED = {
    "offset": Field("integer", "where to begin", needed=False),
    "limit": Field("integer", "how many at most", needed=False),
}
_JOB = {
    **VERSION,
    "kind": Field("string", "try, compare, audit, ladder, publish or evidence"),
    "risk": Field("string", "compare: which risk", needed=False),
    "loss": Field("string", "compare: which loss", needed=False),
    "learn": Field("boolean", "audit: also teach classifiers", needed=False),
    "remedies": Field("boolean", "audit: also measure what to do", needed=False),
    "published": Field("string", "audit, evidence: a release that was published, by its id", needed=False, empty=True),
    "directory": Field("string", "publish: where to", needed=False, empty=True),
    "format": Field("string", "publish: which kind of file", needed=False, empty=True),
    "force": Field("boolean", "publish: replace a release", needed=False),
    "spreadsheet_safe": Field("boolean", "publish: make formulas plain text", needed=False),
}

ENDPOINTS = (
    Endpoint("POST", P + "/jobs", begin, "Begin long work.", "Job", body=_JOB, status=202, refuses=(403, 409, 422)),
    Endpoint("GET", "/api/jobs/{job}", job_now, "A job, its parts and its result.", "Job", refuses=(404,)),
    Endpoint("DELETE", "/api/jobs/{job}", cancel, "Call a job off.", "Job", refuses=(404,)),
    Endpoint(
        "GET",
        "/api/jobs/{job}/page",
        job_page,
        "The library's own page of an audit or a comparison.",
        "HTML",
        query={"download": Field("boolean", "as a file", needed=False)},
        refuses=(404,),
    ),
    Endpoint(
        "GET",
        "/api/jobs/{job}/comparison",
        other_axes,
        "A finished comparison on other axes.",
        "Comparison",
        query={
            "risk": Field("string", "which risk", needed=False),
            "loss": Field("string", "which loss", needed=False),
        },
        refuses=(400, 404),
    ),
    Endpoint("GET", P + "/tries", tries, "All tries.", "Tries"),
    Endpoint("DELETE", T, forget_try, "Forget a try.", "Tries", refuses=(404,)),
    Endpoint(
        "GET",
        T + "/rows",
        rows,
        "Rows before and after, side by side.",
        "Rows",
        query={**_PAGED, "show": Field("string", "all, changed or withheld", needed=False)},
        refuses=(404, 410),
    ),
    Endpoint(
        "GET", T + "/rows/{row:int}/why", why, "Why a row looks as it does, or is not there.", "Why", refuses=(404, 410)
    ),
    Endpoint(
        "GET",
        T + "/solutions",
        solutions,
        "What else a search over levels looked at.",
        "Solutions",
        query=_PAGED,
        refuses=(404, 410),
    ),
    Endpoint("GET", P + "/places", places, "Where a release may go, and as which kind of file.", "Places"),
    Endpoint("GET", P + "/published/{one}/zip", as_zip, "The files of a release as one.", "zip", refuses=(404, 410)),
    Endpoint(
        "GET",
        P + "/published/{one}/files/{name:path}",
        one_file,
        "One file of a release.",
        "a file",
        refuses=(404, 410),
    ),
)
