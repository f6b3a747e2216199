"""What a rule makes of the table that is open: its recipe, and what no program can say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from incrowd.planning.profile.writing import recipe_text
from incrowd.planning.rules import rule_named
from incrowd.studio.tasks.opening import opened_of
from incrowd.studio.working import Task, Teller


def by_rule(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Return the recipe that a rule asks for, or the proposal where none is named."""
    opened_of(memory)
    profile, path = memory["profile"], Path(asked["recipe"])
    if asked["rule"] is None:
        return {"recipe": tomllib.loads(recipe_text(profile, recipe_path=path)), "not_established": [], "questions": []}
    rule = rule_named(asked["rule"])
    plan = rule.plan(profile)
    return {
        "recipe": tomllib.loads(recipe_text(profile, recipe_path=path, rule=rule)),
        "not_established": list(plan.not_established),
        "questions": list(plan.questions),
    }


TASKS: dict[str, Task] = {"rule": by_rule}
