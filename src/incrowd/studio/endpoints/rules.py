"""Rules as recipes, and the ledger that a recipe names."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from incrowd.ledger import Ledger
from incrowd.studio.asking import Endpoint
from incrowd.studio.refusing import Refused
from incrowd.studio.studio import Studio

Body = dict[str, Any]
PROPOSAL = "none"
"""The name that stands for no rule."""
_STAYS = ("source", "output", "ledger", "pseudonyms", "population", "seed")
"""What a rule says nothing about."""


async def by_rule(studio: Studio, request: Request, body: Body) -> Body:
    """Return the recipe that a rule asks for."""
    project = studio.project(request.path_params["project"])
    name = request.path_params["rule"]
    asked = {"rule": None if name == PROPOSAL else name, "recipe": str(project.recipe_path)}
    found = await studio.on_desk(project, "rule", asked)
    now = project.recipe
    return {**found, "recipe": {**found["recipe"], **{key: now[key] for key in _STAYS if key in now}}}


async def ledger(studio: Studio, request: Request, body: Body) -> Body:
    """Return what a ledger has written down."""
    project = studio.project(request.path_params["project"])
    named = project.recipe.get("ledger")
    if not isinstance(named, str):
        raise Refused(404, "the recipe names no ledger.")
    book = Ledger(studio.folders.require(project.base / named))
    entries = [
        {
            "number": entry.number,
            "time": entry.time,
            "kind": entry.kind,
            "about": entry.about,
            "method": entry.told.get("method"),
            "price": None if entry.price is None else str(entry.price),
        }
        for entry in book.entries
    ]
    return {
        "ledger": named,
        "spent": str(book.spent),
        "cap": None if book.cap is None else str(book.cap),
        "keeps_people": book.keeps_people,
        "entries": entries,
    }


P = "/api/projects/{project}"

ENDPOINTS = (
    Endpoint(
        "GET",
        P + "/rules/{rule}",
        by_rule,
        f"The recipe that a rule asks for ({PROPOSAL}: the proposal); it is not applied.",
        "Rule",
        refuses=(409, 422),
    ),
    Endpoint("GET", P + "/ledger", ledger, "What the recipe's ledger has written down.", "Ledger", refuses=(404, 422)),
)
