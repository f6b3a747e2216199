"""The stages of an audit, which do not need each other: they run together, and are told of one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any

from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together


@dataclass(frozen=True)
class Stage:
    """Work that is told of by a name; several may have the same."""

    name: str
    work: Callable[[Progress], Any]


def run_stages(stages: Sequence[Stage], progress: Progress) -> list[Any]:
    """Do all of it, with as many threads as there may be; return what came of it, in its order.

    Progress is that of the first stage that has not ended: whoever looks sees one after the other, as with one thread.
    """
    ended, telling = 0, Lock()  # who is told need not be able to listen to two threads at once

    def tell(place: int, stage: str, done: float) -> None:
        with telling:
            if place == ended and done < 1.0:
                progress(stage, done)

    def end(place: int, result: object) -> None:
        nonlocal ended
        name = stages[place].name
        same = [at for at, stage in enumerate(stages) if stage.name == name]
        with telling:
            ended = place + 1
            progress(name, (same.index(place) + 1) / len(same))

    return do_together([partial(stage.work, partial(tell, place)) for place, stage in enumerate(stages)], end)
