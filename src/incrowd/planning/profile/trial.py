"""A proposed recipe, tried: what it publishes of some of the rows, and what an audit says of that.

A proposal that looks careful may still be easy to attack, and its reader should know before it is run. Cost: one pass
of the file for the rows, then a release and an audit of at most `TRIED_ROWS` of them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from incrowd.core.source import ReadOptions
from incrowd.errors import IncrowdError
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.profile.readable import count, plain
from incrowd.planning.profile.survey import sampled_rows
from incrowd.publishing.publish import publish
from incrowd.publishing.recipe import Recipe
from incrowd.sources import open_table

TRIED_ROWS = 3_000
FEWEST_ROWS = 100
"""Fewer rows are not tried: what an audit says of them means little."""


def try_recipe(found: Profile, recipe: str, source: object, options: ReadOptions) -> tuple[str, ...]:
    """Return what a recipe's release is found to risk, in sentences; those that must be read begin with "Warning"."""
    from incrowd.auditing.run import audit

    if found.rows < FEWEST_ROWS:
        return ()
    described = Recipe.from_dict(tomllib.loads(recipe), base=Path())
    rows = sampled_rows(open_table(source, options), found.rows, TRIED_ROWS)
    tried = "Tried on all rows" if rows.height == found.rows else f"Tried on {count(rows.height, 'row')}"
    try:
        table = described.table(rows=rows)
        release = publish(table, described.models, method=described.method)
        audited = audit(release, learn=False)
    except IncrowdError as error:
        return (f"Warning: {tried.lower()}, the recipe does not run as it is: {plain(str(error))}",)
    threats = audited.threats
    levels = ", ".join(f"{threat} {told['level']}" for threat, told in threats.items())
    said = [f"{tried}, an audit of what this recipe publishes finds: {levels}."]
    said += [
        f"Warning: the risk of {threat} is high. {plain(told['says'])}"
        for threat, told in threats.items()
        if told["level"] == "high"
    ]
    return tuple(said)
