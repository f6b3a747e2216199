"""`effort` and `seconds`: better groups than the method's own, where they are better as they are published."""

from __future__ import annotations

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.method import AnyMethod
from incrowd.core.recoding import Showing
from incrowd.errors import RecipeError
from incrowd.forms.generalized import ShowGeneralized


@dataclass(frozen=True)
class Effort:
    """How much more is to be done for less loss: passes over all people, or seconds, whichever is over first."""

    passes: int = 0
    seconds: float | None = None

    def __post_init__(self) -> None:
        require_whole("publish", "effort", self.passes, at_least=0)
        if self.seconds is not None:
            require_number("publish", "seconds", self.seconds, above=0)

    def __bool__(self) -> bool:
        return bool(self.passes) or self.seconds is not None


def refuse_effort(effort: Effort, method: AnyMethod, form: Showing | None) -> None:
    """Refuse, before any work, to improve groups that are not to be changed."""
    if not effort:
        return
    asked = option("effort") if effort.passes else option("seconds")
    if method.moves is None:
        hint = (
            option("leftovers", "recode", section="method") + " gives up the levels that all groups share."
            if method.name == "full-domain"
            else f"leave out {asked}, or use a method such as mondrian, k-member or local-recoding."
        )
        raise RecipeError(f"{asked} moves people between groups, and {_why_not(method)}.  Hint: {hint}")
    if form is not None and form != ShowGeneralized():
        raise RecipeError(f"{asked} makes labels narrower, and the form {form.name} has none.  Hint: leave it out.")


def _why_not(method: AnyMethod) -> str:
    """Say why nobody may move between the groups of a method."""
    if method.private:
        return f"{method.name} publishes noisy counts, which have none"
    if method.one_row_each:
        return f"{method.name} publishes values as they are, in buckets: no label could become narrower"
    if method.promises_privacy:
        return f"{method.name} promises what holds only of groups that nobody chose by looking at the table"
    return f"{method.name} shows a value alike wherever it occurs, so that nobody can be shown by other labels"
