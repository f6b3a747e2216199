"""All that a recipe may name, with its parameters: read from the registry, so that no page holds a list."""

from __future__ import annotations

from functools import cache
from typing import Any

from incrowd.core.describing import described
from incrowd.core.families import registered
from incrowd.core.show import SHOWS
from incrowd.planning.compare.comparison import LOSS_MEANING, RISK_MEANING
from incrowd.publishing.recipe_format import ROLES
from incrowd.studio.source_options import OPTIONS

FAMILIES = (
    "models", "methods", "forms", "hierarchies", "dates", "changes", "attacks", "metrics", "sinks", "set_models",
    "set_methods",
)  # fmt: skip
_ROLES = {
    "quasi": ("quasi-identifier", "outsiders may know it, so it must hide in a crowd"),
    "sensitive": ("sensitive", "nobody should learn it about a person"),
    "items": ("set of items", "what somebody has, of which outsiders may know a few"),
    "person": ("person", "tells whose a row is, where somebody has several rows"),
    "person-pseudonym": ("person, under a code", "tells whose a row is, and is published under a code"),
    "person-household": ("person and household", "tells whose a row is, and who lives together"),
    "household": ("household", "tells who lives together"),
    "identifier": ("identifier", "points at one person: it is not published"),
    "pseudonym": ("pseudonym", "an identifier that is published under a code"),
    "date": ("date", "a date that is published after a treatment"),
    "keep": ("keep", "published as it is, outside of every guarantee"),
    "drop": ("drop", "not published"),
    "weight": ("weight", "a survey's weight: how many people a row stands for"),
}
_SHOWS = {
    "label": "the range or name itself",
    "midpoint": "the middle of what it stands for",
    "bounds": "its two ends, in two columns",
    "mean": "the mean of the people of the group",
}


@cache
def catalogue() -> dict[str, Any]:
    """Return everything that there is by name."""
    return {
        **{family: [_part(family, cls) for cls in registered(family).values()] for family in FAMILIES},
        "roles": [{"name": role, "plain_name": _ROLES[role][0], "about": _ROLES[role][1]} for role in ROLES],
        "shows": [{"name": show, "about": _SHOWS[show]} for show in SHOWS],
        "source_options": [{"name": name, **told} for name, told in OPTIONS.items()],
        "risks": [{"name": name, "about": about} for name, about in RISK_MEANING.items()],
        "losses": [{"name": name, "about": about} for name, about in LOSS_MEANING.items()],
    }


def _part(family: str, cls: Any) -> dict[str, Any]:
    told = described(cls)
    if family == "methods":
        return {**told, "private": cls.promises_privacy, "form": None}
    return told
