"""The recipe: changed, undone, written as text and as a file."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import tomli_w
from starlette.requests import Request
from starlette.responses import Response

from incrowd.common.writing import write_text
from incrowd.errors import OutputError
from incrowd.studio.asking import DEEPEST, VERSION, Endpoint, Field, require_shallow
from incrowd.studio.history import at_path, without_path
from incrowd.studio.projects import Project, recipe_of_toml
from incrowd.studio.refusing import Refused
from incrowd.studio.studio import Studio

Body = dict[str, Any]
_LONGEST_LABEL = 200


def change(studio: Studio, project: Project, body: Body, recipe: Any, label: str) -> Body:
    """Make a recipe the project's own, or refuse it; another version than the page knows is refused first."""
    _require_now(studio, project, body)
    if not isinstance(recipe, dict) or not isinstance(recipe.get("columns", {}), dict):
        raise Refused(422, "a recipe is a table of tables.", kind="RecipeError")
    require_shallow(recipe)
    try:
        tomli_w.dumps(recipe)
    except (TypeError, ValueError, AttributeError):
        raise Refused(
            422, "a recipe holds texts, numbers, lists and tables, and no null.", kind="RecipeError"
        ) from None
    _require_same_source(project, recipe)
    studio.folders.require_recipe(recipe, project.base, project.own_folder)
    project.history.add(recipe, label[:_LONGEST_LABEL] or "changed")
    studio.tell(project)
    return studio.described(project)


def _require_now(studio: Studio, project: Project, body: Body) -> None:
    try:
        project.history.require(body.get("version"))
    except Refused as refused:
        refused.more = {"project": studio.described(project)}
        raise
    _ = project.recipe  # one that is not open yet has none to change


def _require_same_source(project: Project, recipe: Body) -> None:
    """Refuse another table: what is open is what is published."""
    before, after = project.recipe.get("source", {}), recipe.get("source", {})
    if not isinstance(after, dict) or any(before.get(key) != after.get(key) for key in ("path", "url", "table")):
        raise Refused(
            403,
            "a recipe of this project is about the table that is open.",
            hint="open the other table",
            kind="PathError",
        )


async def put(studio: Studio, request: Request, body: Body) -> Body:
    """Put another recipe in its place."""
    project = studio.project(request.path_params["project"])
    return change(studio, project, body, body["recipe"], body.get("label", ""))


async def patch(studio: Studio, request: Request, body: Body) -> Body:
    """Change single values."""
    project = studio.project(request.path_params["project"])
    _require_now(studio, project, body)
    recipe = project.recipe
    for pair in body.get("set", []):
        if not isinstance(pair, list) or len(pair) != 2 or not _is_path(pair[0]):
            raise Refused(400, "set is a list of pairs: a path and a value.")
        recipe = at_path(recipe, pair[0], pair[1])
    for path in body.get("remove", []):
        if not _is_path(path):
            raise Refused(400, "remove is a list of paths.")
        recipe = without_path(recipe, path)
    return change(studio, project, body, recipe, body.get("label", ""))


def _is_path(given: Any) -> bool:
    return isinstance(given, list) and 0 < len(given) <= DEEPEST


def _walk(studio: Studio, request: Request, body: Body, place: Any) -> Body:
    project = studio.project(request.path_params["project"])
    _require_now(studio, project, body)
    project.history.go(place(project.history))
    studio.tell(project)
    return studio.described(project)


async def undo(studio: Studio, request: Request, body: Body) -> Body:
    """Take the last step back."""
    return _walk(studio, request, body, lambda history: history.now - 1)


async def redo(studio: Studio, request: Request, body: Body) -> Body:
    """Do again what was taken back."""
    return _walk(studio, request, body, lambda history: history.now + 1)


async def go(studio: Studio, request: Request, body: Body) -> Body:
    """Go to a step."""
    return _walk(studio, request, body, lambda history: body["place"])


async def steps(studio: Studio, request: Request, body: Body) -> Body:
    """Return all steps."""
    history = studio.project(request.path_params["project"]).history
    listed = [{"place": place, "label": step.label, "at": step.at} for place, step in enumerate(history.steps)]
    return {"now": history.now, "steps": listed}


async def texts(studio: Studio, request: Request, body: Body) -> Body:
    """Return the recipe as texts."""
    return studio.project(request.path_params["project"]).texts()


async def toml(studio: Studio, request: Request, body: Body) -> Response:
    """Return the recipe's file."""
    project = studio.project(request.path_params["project"])
    return download(project.texts()["toml"].encode(), project.recipe_path.name, "application/toml")


async def save(studio: Studio, request: Request, body: Body) -> Body:
    """Write the recipe's file."""
    project = studio.project(request.path_params["project"])
    path = studio.folders.require(body["path"])
    if path.suffix != ".toml":
        raise OutputError("a recipe is a file that ends in .toml.")
    recipe = project.loaded().relative_to(path.parent) if path.parent != project.base else None
    text = project.texts()["toml"] if recipe is None else recipe.to_toml()
    write_text(path, text, force=bool(body.get("force")))
    return {"path": str(path)}


async def load(studio: Studio, request: Request, body: Body) -> Body:
    """Take over a recipe's file; the table stays the one that is open."""
    project = studio.project(request.path_params["project"])
    _require_now(studio, project, body)
    recipe = recipe_of_toml(body["toml"])
    where = {key: value for key, value in project.recipe["source"].items() if key in ("path", "url", "table")}
    given = recipe.get("source", {})
    reading = (
        {key: value for key, value in given.items() if key not in ("path", "url", "table")}
        if isinstance(given, dict)
        else {}
    )
    return change(studio, project, body, {**recipe, "source": {**where, **reading}}, "a recipe was loaded")


def download(content: bytes, name: str, kind: str) -> Response:
    """Return a file to be saved."""
    return Response(content, media_type=kind, headers=as_download(name))


def as_download(name: str) -> dict[str, str]:
    """Return what tells a browser to save an answer under a name, whatever characters it has."""
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


P = "/api/projects/{project}"
_LABEL = {"label": Field("string", "what changed, for the history", needed=False)}

ENDPOINTS = (
    Endpoint(
        "PUT",
        P + "/recipe",
        put,
        "Another recipe.",
        "Project",
        body={**VERSION, **_LABEL, "recipe": Field("object", "all of it")},
        refuses=(403, 409, 422, 507),
    ),
    Endpoint(
        "PATCH",
        P + "/recipe",
        patch,
        "Single values of the recipe.",
        "Project",
        body={
            **VERSION,
            **_LABEL,
            "set": Field("array", "pairs of a path and a value", needed=False),
            "remove": Field("array", "paths", needed=False),
        },
        refuses=(403, 409, 422, 507),
    ),
    Endpoint("POST", P + "/undo", undo, "Take the last step back.", "Project", body=VERSION, refuses=(409, 507)),
    Endpoint("POST", P + "/redo", redo, "Do again what was taken back.", "Project", body=VERSION, refuses=(409, 507)),
    Endpoint("GET", P + "/history", steps, "All steps of the recipe.", "History"),
    Endpoint(
        "POST",
        P + "/history",
        go,
        "Go to a step.",
        "Project",
        body={**VERSION, "place": Field("integer", "which")},
        refuses=(409, 507),
    ),
    Endpoint("GET", P + "/text", texts, "The recipe as TOML, as Python, and the command that publishes it.", "Texts"),
    Endpoint("GET", P + "/recipe.toml", toml, "The recipe's file, to download.", "TOML"),
    Endpoint(
        "POST",
        P + "/recipe/save",
        save,
        "Write the recipe's file into a folder.",
        "path",
        body={"path": Field("string", "where to"), "force": Field("boolean", "replace a file", needed=False)},
        refuses=(403, 422, 507),
    ),
    Endpoint(
        "POST",
        P + "/recipe/load",
        load,
        "A recipe's file in place of this recipe.",
        "Project",
        body={**VERSION, "toml": Field("string", "its text")},
        refuses=(403, 409, 422),
    ),
)
