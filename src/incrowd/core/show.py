"""What is published in place of a label of numbers or dates: a middle, two bounds or a mean, each a number of its own.

The published values define the groups: whoever shows the same numbers is one group, whatever labels were behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from incrowd.common.surface import option
from incrowd.errors import RecipeError, did_you_mean

Show = Literal["label", "midpoint", "bounds", "mean"]
"""`label` is the range or name itself, `midpoint` the middle of what it stands for, `bounds` its two ends in two
columns, and `mean` that of the people of the group."""

SHOWS: tuple[Show, ...] = get_args(Show)
Asked = Show | Mapping[str, Show] | None
"""One for all columns of numbers, or one for each of some columns, of which `*` are all others."""
ALL = "*"
FROM, TO = "_from", "_to"


def written_as(name: str, show: str | None) -> tuple[str, ...]:
    """Return the names of the columns that a quasi-identifier is written to."""
    return (name + FROM, name + TO) if show == "bounds" else (name,)


def require_show(where: str, show: object) -> Show:
    """Refuse anything but a way to show a column; `where` begins the message."""
    for known in SHOWS:
        if show == known:
            return known
    hint = did_you_mean(str(show), SHOWS)
    raise RecipeError(f"{where}{option('show')} is one of {', '.join(SHOWS)}, not {show!r}.{hint}")


def require_asked(asked: object, quasi: Iterable[str]) -> tuple[Show | None, dict[str, Show]]:
    """Return what is asked of all columns, and of some of them by name."""
    if asked is None:
        return None, {}
    if not isinstance(asked, Mapping):
        return require_show("", asked), {}
    known = tuple(quasi)
    found: dict[str, Show] = {}
    for_all = None
    for name, show in asked.items():
        if name == ALL and name not in known:
            for_all = require_show("", show)
            continue
        if name not in known:
            raise RecipeError(
                f"{option('show')} names '{name}', which is no quasi-identifier.{did_you_mean(str(name), known)}"
            )
        found[name] = require_show(f"column '{name}': ", show)
    return for_all, found


def asked_of(text: str) -> tuple[str, str]:
    """Read `midpoint`, or `age=mean`, as the command line takes them.

    >>> asked_of("age=mean"), asked_of("bounds")
    (('age', 'mean'), ('*', 'bounds'))
    """
    name, equals, show = text.rpartition("=")
    return (name, show) if equals else (ALL, show)
