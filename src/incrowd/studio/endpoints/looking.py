"""Roles and hierarchies: the profile, what singles people out, and hierarchies level by level."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from incrowd.studio.asking import MOST_BYTES, VERSION, Endpoint, Field, read_bytes
from incrowd.studio.endpoints.recipes import change, download
from incrowd.studio.history import at_path, without_path
from incrowd.studio.projects import Project
from incrowd.studio.refusing import Refused
from incrowd.studio.studio import Studio

Body = dict[str, Any]


async def profile(studio: Studio, request: Request, body: Body) -> Body:
    """Return the profile."""
    found = studio.project(request.path_params["project"]).profile
    if found is None:
        raise Refused(404, "the table is not read yet.", hint="wait for the job")
    return found


async def single_out(studio: Studio, request: Request, body: Body) -> Body:
    """Tell how many rows some columns single out."""
    project = studio.project(request.path_params["project"])
    found: Body = await studio.on_desk(
        project, "single out", {"fewest": body.get("fewest"), "columns": body["columns"]}
    )
    return found


def _column(project: Project, request: Request) -> tuple[str, Body]:
    """Return a column's name and what the recipe says of it."""
    name = request.path_params["column"]
    columns = project.recipe.get("columns", {})
    if name not in columns:
        raise Refused(404, "there is no such column.")
    told = columns[name]
    return name, {"role": told} if isinstance(told, str) else told


def _asked(studio: Studio, project: Project, name: str, told: Body, hierarchy: Body | None, **more: Any) -> Body:
    recipe = {"columns": {name: {"hierarchy": hierarchy}}} if hierarchy else {}
    studio.folders.require_recipe(recipe, project.base, project.own_folder)
    return {"column": name, "role": told.get("role"), "hierarchy": hierarchy, "base": str(project.base), **more}


def _with_proposal(project: Project, name: str, found: Body) -> Body:
    columns = {} if project.profile is None else {one["name"]: one for one in project.profile["columns"]}
    return {**found, "proposed": columns.get(name, {}).get("hierarchy")}


async def hierarchy(studio: Studio, request: Request, body: Body) -> Body:
    """Show a column's hierarchy."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    asked = _asked(studio, project, name, told, told.get("hierarchy"))
    return _with_proposal(project, name, await studio.on_desk(project, "hierarchy", asked))


async def preview(studio: Studio, request: Request, body: Body) -> Body:
    """Show another hierarchy of a column."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    asked = _asked(studio, project, name, told, body["hierarchy"])
    return _with_proposal(project, name, await studio.on_desk(project, "hierarchy", asked))


async def put(studio: Studio, request: Request, body: Body) -> Body:
    """Replace a column's hierarchy; one that does not cover the column replaces nothing."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    project.history.require(body["version"])
    new = body["hierarchy"]
    if new is not None:
        found = await studio.on_desk(project, "hierarchy", _asked(studio, project, name, told, new))
        if not found["covered"]:
            lacking = found["uncovered"]
            refused = Refused(
                422,
                f"column '{name}': {lacking['count']} values are not in this hierarchy: nothing was replaced.",
                hint="add them to the hierarchy",
                kind="UncoveredValue",
            )
            refused.error |= {"column": name, "values": lacking["values"]}
            raise refused
    path = ["columns", name, "hierarchy"]
    recipe = without_path(project.recipe, path) if new is None else at_path(project.recipe, path, new)
    return change(studio, project, body, recipe, body.get("label") or f"the hierarchy of {name}")


async def edit(studio: Studio, request: Request, body: Body) -> Body:
    """Show a hierarchy with one change."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    current = body.get("hierarchy") or told.get("hierarchy")
    asked = _asked(studio, project, name, told, current, edit=body["edit"])
    return _with_proposal(project, name, await studio.on_desk(project, "edit hierarchy", asked))


async def to_file(studio: Studio, request: Request, body: Body) -> Response:
    """Return a hierarchy as a file."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    text = await studio.on_desk(
        project, "hierarchy to file", _asked(studio, project, name, told, told.get("hierarchy"))
    )
    return download(text.encode(), f"{name}.hierarchy.csv", "text/csv")


async def from_file(studio: Studio, request: Request, body: Body) -> Body:
    """Show the hierarchy that a file holds."""
    project = studio.project(request.path_params["project"])
    name, told = _column(project, request)
    try:
        text = (await read_bytes(request, MOST_BYTES)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(422, "the hierarchy's file is not UTF-8.", kind="HierarchyError") from None
    separator = request.query_params.get("separator", ";")
    asked = _asked(studio, project, name, told, None, text=text, separator=separator)
    return _with_proposal(project, name, await studio.on_desk(project, "hierarchy from file", asked))


P = "/api/projects/{project}"
H = P + "/hierarchies/{column:path}"
_HIERARCHY = Field("object", "a hierarchy as recipes have it", empty=True)

ENDPOINTS = (
    Endpoint(
        "GET",
        P + "/profile",
        profile,
        "Proposed roles, distributions, what singles people out.",
        "Profile",
        refuses=(404,),
    ),
    Endpoint(
        "POST",
        P + "/singling",
        single_out,
        "How many people some columns single out together.",
        "Singling",
        body={
            "columns": Field("array", "names of columns"),
            "fewest": Field(
                "boolean", "also the best few of them (default: of tables up to 200,000 rows)", needed=False
            ),
        },
        refuses=(400, 409),
    ),
    Endpoint("GET", H + "/file", to_file, "A hierarchy as a file, to download.", "CSV", refuses=(404,)),
    Endpoint(
        "POST",
        H + "/file",
        from_file,
        "What a hierarchy's file holds; it is not applied.",
        "Hierarchy",
        raw_body="text/csv",
        query={"separator": Field("string", "of the file", needed=False)},
        refuses=(404, 422),
    ),
    Endpoint(
        "POST",
        H + "/preview",
        preview,
        "Another hierarchy over the column; it is not applied.",
        "Hierarchy",
        body={"hierarchy": _HIERARCHY},
        refuses=(403, 404, 422),
    ),
    Endpoint(
        "POST",
        H + "/edit",
        edit,
        "A hierarchy with one change; it is not applied.",
        "Hierarchy",
        body={
            "hierarchy": Field("object", "null for the recipe's own", needed=False, empty=True),
            "edit": Field("object", "action, level, and what it takes"),
        },
        refuses=(404, 422),
    ),
    Endpoint("GET", H, hierarchy, "A column's hierarchy, level by level.", "Hierarchy", refuses=(404,)),
    Endpoint(
        "PUT",
        H,
        put,
        "Replace a column's hierarchy, if it covers the column.",
        "Project",
        body={**VERSION, "hierarchy": _HIERARCHY, "label": Field("string", "for the history", needed=False)},
        refuses=(404, 409, 422),
    ),
)
