"""All that a recipe may name, with its parameters: read from the registry, so that no page holds a list."""

from __future__ import annotations

from functools import cache
from typing import Any

from incrowd.common.registry import members
from incrowd.core.describing import described
from incrowd.core.families import registered
from incrowd.core.show import SHOWS
from incrowd.methods.mondrian import Mondrian
from incrowd.planning.compare.comparison import LOSS_MEANING, RISK_MEANING
from incrowd.planning.rules import RULES
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
_COMMON = (
    "k-anonymity", "distinct-l-diversity", "t-closeness", "mondrian", "full-domain", "local-recoding",
)  # fmt: skip
"""What most people ask for: a list of choices begins with these."""


def _value(name: str, kind: str, default: Any, about: str, choices: tuple[str, ...] | None = None) -> dict[str, Any]:
    listed = None if choices is None else list(choices)
    return {
        "name": name,
        "kind": kind,
        "choices": listed,
        "needed": False,
        "default": default,
        "about": about,
        "empty": True,
    }


_RECIPE = [
    _value("sample", "number", 1, "the share of the rows that chance draws, and that alone is published: 0.5 is half"),
    _value("effort", "whole", 0, "passes in which people move between the method's groups, so that labels lose less"),
    _value("seconds", "number", None, "after how many seconds such moves end, if they do"),
    _value("show", "choice", None, "what columns of numbers show in place of labels, unless one says more", SHOWS),
    _value("seed", "whole", None, "makes chance repeatable, for tests. Whoever knows it can undo what chance hides"),
    _value(
        "if_unsafe",
        "choice",
        "refuse",
        "what becomes of a release that would tell too much together with earlier ones of its ledger",
        ("refuse", "withhold"),
    ),
]
"""What a recipe says of the whole release by single values."""


@cache
def catalogue() -> dict[str, Any]:
    """Return everything that there is by name."""
    return {
        **{family: [_part(family, cls) for cls in registered(family).values()] for family in FAMILIES},
        "roles": [{"name": role, "plain_name": _ROLES[role][0], "about": _ROLES[role][1]} for role in ROLES],
        "shows": [{"name": show, "about": _SHOWS[show]} for show in SHOWS],
        "rules": [{**described(cls), "title": cls.title} for cls in members(RULES).values()],
        "recipe": _RECIPE,
        "source_options": [{"name": name, **told} for name, told in OPTIONS.items()],
        "risks": [{"name": name, "about": about} for name, about in RISK_MEANING.items()],
        "losses": [{"name": name, "about": about} for name, about in LOSS_MEANING.items()],
    }


def _part(family: str, cls: Any) -> dict[str, Any]:
    told = {**described(cls), "common": cls.name in _COMMON}
    if family == "methods":
        return {**told, "private": cls.promises_privacy, "form": None, "usual": cls is Mondrian}
    if family == "dates":
        return {**told, "needs_person": cls.needs_person}
    if family == "changes":
        return {**told, "uses_hierarchy": cls.uses_hierarchy}
    return told
