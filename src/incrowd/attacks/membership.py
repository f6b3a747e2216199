"""Membership: is somebody in the table at all? Being in a table of patients is a diagnosis of its own.

The adversary is shown people who are in the table and as many who are not, and says which is which by how many rows the
release lets one expect of each. The baseline tells them apart by how plausible each is in the population (a tree of
pairs of attributes, `plausibility.py`), since whoever is not in the table may also be an unlikely person.

Those who are not in the table are people of the external table whose like is not in this one, and the external table is
the population. Where there are none, they are near misses: people of the table with one attribute changed, to what
somebody else has who is like them in another attribute; and one half of the table teaches what is plausible, the other
half is tried. Cost: that of matching both (see `core/view.py`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.plausibility import Plausibility
from incrowd.common.arrays import Codes, Floats
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target, draw_people
from incrowd.core.tuple_lookup import TupleLookup

_ATTEMPTS = 20


@dataclass(frozen=True)
class Membership(Attack):
    """Tell people who are in the table from others, by the best threshold that half of them teach.

    It needs the table before.
    """

    name: ClassVar[str] = "membership"
    plain_name: ClassVar[str] = "telling who is in the table"
    threat: ClassVar[Threat] = "linkability"
    stream: ClassVar[int | None] = 2

    def lacks(self, target: Target) -> str | None:
        """The table before is needed, to know who is in it, and something by which people are known."""
        if target.truth is None:
            return "the table before is needed"
        return None if target.view.columns else "there is no quasi-identifier"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the verdict is right; a coin has one half."""
        target = target.with_outsiders
        members = np.repeat(target.people.tuples, target.people.tuple_counts, axis=0)
        members = members[rng.permutation(len(members))]
        population = population_of(target, rng)
        others = population[~_table_of(target).has(population + 1)]
        kind = "people of the external table"
        if not len(others):
            kind = "near misses"
            others = near_outsiders(target, members, rng)
            half = len(members) // 2
            population, members = members[:half], members[half:]
        # A value that the trees lack has the code -1: it is plausible, and fits nothing.
        shift = int((population < 0).any())
        sizes = [target.view.trees[name].size + shift for name in target.view.columns]
        plausible = Plausibility.of(population + shift, sizes)
        number = min(len(members), len(others))
        members, others = members[:number], others[rng.permutation(len(others))[:number]]
        inside, outside = target.view.fits(members), _fits(target, others)
        tried = 2 * (number - number // 2)
        value = _share_right(inside, outside) if tried else 0.5
        baseline = max(_share_right(plausible.scores(members + shift), plausible.scores(others + shift)), 0.5)
        matched = float((outside > 0).mean()) if number else 0.0
        return risk_of(
            self,
            value=value,
            baseline=baseline,
            people=tried,
            against="how plausible a person is",
            says=f"Whether somebody is in the table is told right in {percent(value)} of the cases. Of those who are "
            f"not ({kind}), {percent(matched)} fit the release."
            if tried
            else "There is nobody to tell from the people of the table.",
            details={"insiders who fit": float((inside > 0).mean()) if number else 0.0, "outsiders who fit": matched},
        )


def _fits(target: Target, people: Codes) -> Floats:
    listed = (people >= 0).all(axis=1)
    found = np.zeros(len(people))
    found[listed] = target.view.fits(np.ascontiguousarray(people[listed]))
    return found


def _share_right(inside: Floats, outside: Floats) -> float:
    """Return how often a threshold that the first half teaches is right about the second."""
    half = len(inside) // 2
    threshold = _best_threshold(inside[:half], outside[:half])
    right = (inside[half:] >= threshold).sum() + (outside[half:] < threshold).sum()
    return float(right / max(2 * (len(inside) - half), 1))


def _best_threshold(inside: Floats, outside: Floats) -> float:
    """Return the score from which on one should say that somebody is in the table."""
    scores = np.concatenate([inside, outside])
    signs = np.concatenate([np.ones(len(inside)), -np.ones(len(outside))])
    if not len(scores):
        return np.inf
    order = np.argsort(-scores, kind="stable")
    gains = np.cumsum(signs[order])
    last_of_kind = np.append(np.diff(scores[order]) != 0, True)
    best = int(np.argmax(np.where(last_of_kind, gains, -np.inf)))
    return float(scores[order][best]) if gains[best] > 0 else np.inf


def population_of(target: Target, rng: np.random.Generator) -> Codes:
    """Return people of the external table, if there is one that has all quasi-identifiers."""
    columns, external = target.view.columns, target.external
    if external is None or not set(columns) <= set(external.columns):
        return np.zeros((0, len(columns)), dtype=np.int32)
    chosen, counts = draw_people(external.counts, target.most_people, rng)
    places = [external.columns.index(name) for name in columns]
    return np.repeat(external.codes[chosen][:, places], counts, axis=0)


def near_outsiders(target: Target, members: Codes, rng: np.random.Generator) -> Codes:
    """Return near misses who are not in the table, as many as there are of it, or as can be found."""
    found = np.zeros((0, members.shape[1]), dtype=members.dtype)
    table = _table_of(target)
    for _ in range(_ATTEMPTS):
        changed = near_misses(members[: len(members) - len(found)], members, rng)
        found = np.concatenate([found, changed[~table.has(changed + 1)]])
        if len(found) >= len(members):
            break
    return found


def near_misses(people: Codes, donors: Codes, rng: np.random.Generator) -> Codes:
    """Change one attribute of each person to that of somebody else, who shares another attribute with them."""
    changed = people.copy()
    width = people.shape[1]
    shared = rng.integers(0, width, len(people))
    moved = (shared + rng.integers(1, width, len(people))) % width if width > 1 else shared
    for place in range(width):
        mine = np.flatnonzero(shared == place)
        if not len(mine):
            continue
        # Donors sorted by the shared attribute: each person takes one at random from the run of their own code.
        order = np.argsort(donors[:, place], kind="stable")
        sorted_codes = donors[order, place]
        lows = np.searchsorted(sorted_codes, people[mine, place], side="left")
        highs = np.searchsorted(sorted_codes, people[mine, place], side="right")
        if width == 1:
            lows, highs = np.zeros_like(lows), np.full_like(highs, len(donors))
        donor = order[rng.integers(lows, np.maximum(highs, lows + 1))]
        changed[mine, moved[mine]] = donors[donor, moved[mine]]
    return changed


def _table_of(target: Target) -> TupleLookup:
    """Return what is known of the people of the table, to be looked up; codes are one more, since -1 is no value."""
    assert target.truth is not None
    columns = target.view.columns
    known = target.truth.codes_of(columns)
    return TupleLookup.of(known + 1, [target.view.trees[name].size + 1 for name in columns])
