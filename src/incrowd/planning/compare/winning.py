"""What to look at first in a comparison: least risk, best of both, least loss; each candidate once.

A candidate that some attack always beats wins nothing while there is another one. Where all are beaten so, the verdict
says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd.common.records import dataclass

ALWAYS = 0.999
"""An attack that adds this much of all that guessing leaves open succeeds always, to a reader."""


@dataclass(frozen=True)
class Point:
    """A candidate: its name, its risk and its loss as they are compared, and the advantage of its worst attack."""

    name: str
    risk: float
    loss: float
    worst: float
    attack: str = ""
    """Which attack that is."""

    @property
    def always_beaten(self) -> bool:
        """Whether an attack always succeeds."""
        return self.worst >= ALWAYS


def beaten(points: Sequence[Point]) -> set[str]:
    """Return the names of those that another one is at least as good as on both, and better on one."""
    return {
        one.name
        for one in points
        if any(
            other.risk <= one.risk and other.loss <= one.loss and (other.risk < one.risk or other.loss < one.loss)
            for other in points
        )
    }


def winners(points: Sequence[Point]) -> dict[str, list[str]]:
    """Return what each winner is best at, by name.

    >>> a, b = Point("a", 0.1, 0.4, worst=0.3), Point("b", 0.2, 0.1, worst=1.0)
    >>> winners([a, b])
    {'a': ['least risk', 'best of both', 'least loss']}
    """
    chosen = [one for one in points if not one.always_beaten] or list(points)
    lost = beaten(chosen)
    chosen = [one for one in chosen if one.name not in lost]
    if not chosen:
        return {}
    most_risk, most_loss = (max(values) or 1.0 for values in zip(*((p.risk, p.loss) for p in points), strict=True))
    found: dict[str, list[str]] = {}
    for title, first in (
        ("least risk", min(chosen, key=lambda one: (one.risk, one.loss, one.name))),
        ("best of both", min(chosen, key=lambda one: (one.risk / most_risk + one.loss / most_loss, one.name))),
        ("least loss", min(chosen, key=lambda one: (one.loss, one.risk, one.name))),
    ):
        found.setdefault(first.name, []).append(title)
    return found


def verdict(points: Sequence[Point]) -> Iterator[str]:
    """Say who wins, in sentences."""
    won = winners(points)
    if len(won) == 1 and len(points) > 1:
        (name,) = won
        safe = [one for one in points if not one.always_beaten]
        of = "all" if len(safe) in (0, len(points)) else "those that no attack always beats"
        yield f"{name} is best in everything: of {of}, it has the least risk and the least loss."
    elif len(won) == 1:
        yield f"{next(iter(won))} is the only candidate: there is nothing to compare it with."
    else:
        for name, titles in won.items():
            yield f"{_listed(titles)}: {name}."
    always = [one for one in points if one.always_beaten]
    if not always:
        return
    by = ", ".join(sorted({one.attack for one in always} - {""}))
    attack = f"An attack ({by}) always succeeds against " if by else "An attack always succeeds against "
    if len(always) == len(points):
        yield attack + ("it" if len(points) == 1 else "each of them") + ": audit it before you publish any."
    else:
        yield attack + ", ".join(one.name for one in always) + ": not among the winners."


def _listed(titles: Sequence[str]) -> str:
    text = titles[0] if len(titles) == 1 else ", ".join(titles[:-1]) + " and " + titles[-1]
    return text[0].upper() + text[1:]
