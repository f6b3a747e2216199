"""Where people were published, as the ledger keeps it, from what is shown in plain Python."""

from __future__ import annotations

import numpy as np

from incrowd.core.people_memory import PlacedValues, Placement, placed
from tests.ledger.naive_adversary import Shown

VALUES = ("a", "b", "c", "d")


def placement(shown: Shown, links: tuple[str, ...] = ()) -> Placement:
    people = np.array(list(shown.people), dtype=np.int64)
    codes = np.array([VALUES.index(value) for value, _ in shown.people.values()], dtype=np.int32)
    groups = np.array([group for _, group in shown.people.values()], dtype=np.int64)
    fakes = [(group, VALUES.index(value)) for group, values in shown.fakes.items() for value in values]
    made_up = (
        np.array([group for group, _ in fakes], dtype=np.int64),
        np.array([code for _, code in fakes], dtype=np.int32),
        np.ones(len(fakes), dtype=np.int64),
    )
    values = PlacedValues(np.arange(len(people)), codes, VALUES, made_up)
    return placed(people, groups, {"s": values}, "test", links)
