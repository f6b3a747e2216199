"""Rules as recipes: what a law, a regulator or a habit asks of a table, as a recipe to read, edit and run.

One file each, found like other families; other packages add theirs by the entry point `incrowd.rules`.
"""

from __future__ import annotations

from incrowd.common.registry import Family, members
from incrowd.errors import RecipeError, did_you_mean
from incrowd.planning.rules.rule import Rule

RULES = Family("rules", "incrowd.planning.rules", Rule, "rule")


def rule_named(name: str) -> Rule:
    """Return a rule by its name.

    >>> rule_named("ema-0070").title
    'EMA Policy 0070'
    """
    known = members(RULES)
    if name not in known:
        raise RecipeError(f"there is no rule called {name!r}.{did_you_mean(name, known)}")
    made: Rule = known[name]()
    return made
