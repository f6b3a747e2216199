"""What to say when no table is good enough: which models fail, and how far the best attempt got."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.core.groups import Groups
from incrowd.core.model import Model


def describe_shortfall(
    nothing: str, require: Sequence[Model], attempt: Groups, *, withheld: int, most_withheld: int, rows: int
) -> str:
    """Say that `nothing` satisfies the models; the best `attempt` would withhold too many of all rows."""
    names = ", ".join(str(model) for model in require)
    failing = [
        f"{model} (reaches {model.achieved(attempt):.4g})" for model in require if not model.satisfied(attempt).all()
    ]
    return (
        f"{nothing} {names} with at most {most_withheld:,} of {rows:,} rows withheld; the best attempt would withhold "
        f"{withheld:,}, and with them fails {', '.join(failing)}.  Hint: raise the limit, or ask for less."
    )
