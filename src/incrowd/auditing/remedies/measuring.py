"""Measure what would change the findings of an audit: make the release again in other ways, and attack it again.

Where the table and the method are known, the release is made again of at most `MOST_ROWS` rows, drawn at random; where
they are not, columns of the release are left aside. Cost: that of publishing and attacking so many rows, once for each
change; no change is begun after `MOST_SECONDS`.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.auditing.recommendation import gravity
from incrowd.auditing.remedies.changes import Change, Way, drop, ladders, without_kept
from incrowd.auditing.remedies.remedy import Key, Outcome, Remedies, Remedy, key_of
from incrowd.auditing.suppression import FEW
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model
from incrowd.core.risk import LEVELS, Risk
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable
from incrowd.errors import IncrowdError
from incrowd.sources import reading

MOST_ROWS = 5_000
"""Changes are measured on so many rows at most, drawn at random from larger tables."""
MOST_ROWS_OF_FILES = 200_000
"""Columns are left aside of releases with so many rows at most."""
MOST_SECONDS = 10.0
"""No change is begun after so many seconds."""
MOST_COLUMNS = 8
"""So many columns are left aside at most, each by itself."""

_SMALL_GROUPS = (2, 5, 10, 20)
"""Rows of groups smaller than these are withheld in turn."""

STAGE = "measuring what to do"
NO_TABLE = (
    "the table and the recipe are needed to try options such as a larger k.  Hint: give the table with --original, of "
    "a release that carries its recipe."
)
SKIPPED = "What would change the findings was not measured: it was not asked for."


class Remade(Protocol):
    """What is needed of a release to make it again, or to look at it without some of its columns."""

    @property
    def method(self) -> AnyMethod:
        """How it was made."""
        ...

    @property
    def rows(self) -> int:
        """How many rows are published."""
        ...

    @property
    def kept_beside(self) -> tuple[str, ...]:
        """Columns that are published as they are beside the labels."""
        ...

    @property
    def schema(self) -> Schema:
        """The role of every column."""
        ...

    @property
    def not_remade(self) -> str | None:
        """Why it cannot be made again of its table; None if it can."""
        ...

    def made_again(
        self,
        before: OpenedTable,
        *,
        models: Sequence[Model],
        method: AnyMethod,
        kept: Sequence[str],
        seed: int,
    ) -> Remade:
        """Publish a table as this one was, with other options."""
        ...

    def without(self, columns: Sequence[str], *, smaller_than: int = 0) -> Remade | None:
        """Return the same release as if some columns, or rows of groups smaller than that, were not published; None
        where that cannot be told.
        """
        ...


Attacking = Callable[[Remade], Sequence[Risk]]
"""Tries the attacks that found something on another release."""


@dataclass(eq=False)
class _Trial:
    """Changes that were tried, and what attacks found after each."""

    attacking: Attacking
    progress: Progress
    started: float = field(default_factory=time.monotonic)
    tried: dict[str, Mapping[Key, Risk]] = field(default_factory=dict)
    stopped: bool = False

    def run(self, says: str, make: Callable[[], Remade | None]) -> Mapping[Key, Risk]:
        """Make a release and attack it; nothing is found where it cannot be had."""
        if time.monotonic() - self.started > MOST_SECONDS:
            self.stopped = True
            return {}
        self.progress(STAGE, min(0.95, 1 - 0.85 ** (len(self.tried) + 1)))  # how many it will be is not known
        try:
            made = make()
            found = {} if made is None else {key_of(risk): risk for risk in self.attacking(made)}
        except IncrowdError:  # it cannot be had: too few rows, a value that is too frequent
            found = {}
        self.tried[says] = found
        return found


def measure_remedies(
    release: Remade,
    findings: Sequence[Risk],
    attacking: Attacking,
    *,
    models: Sequence[Model],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    labelled: bool,
    before: OpenedTable | None,
    total: int,
    seed: int,
    progress: Progress = silent,
) -> Remedies:
    """Return what would change findings above the lowest level; `before` is the table that it was made of, of `total`
    rows.
    """
    findings = sorted((risk for risk in findings if risk.level != LEVELS[0]), key=gravity, reverse=True)
    if not findings:
        return Remedies(note="Nothing is above the lowest level: there is nothing to do.")
    progress(STAGE, 0.0)
    trial = _Trial(attacking, progress)
    why = release.not_remade if before is not None else NO_TABLE
    if why is None and before is not None:
        found, rows, most = _by_remaking(
            release, findings, trial, models, (*quasi, *sensitive), sensitive, labelled, before, total, seed
        )
        note = f"Measured on {rows:,} of {total:,} rows, drawn at random: " if rows < total else "Measured: "
        note += "the release was made again with each change, and attacked again."
        note += f" {most}" if most else ""
    else:
        found, rows, note = _by_leaving_aside(release, findings, trial, quasi, why or "")
    progress(STAGE, 1.0)
    if trial.stopped:
        note += f" Stopped after {MOST_SECONDS:.0f} seconds: {len(trial.tried)} changes were measured."
    return Remedies(tuple(found), rows, note)


def _by_remaking(
    release: Remade,
    findings: Sequence[Risk],
    trial: _Trial,
    models: Sequence[Model],
    names: Sequence[str],
    sensitive: Sequence[str],
    labelled: bool,
    before: OpenedTable,
    total: int,
    seed: int,
) -> tuple[list[Remedy], int, str]:
    kept = tuple(name for name in release.kept_beside if name in before.columns)
    drawn, rows = draw_rows(before, (*names, *release.schema.weights, *kept), total, seed)

    def make(way: Way) -> Callable[[], Remade]:
        return lambda: release.made_again(drawn, models=way.models, method=way.method, kept=way.kept, seed=seed)

    way = Way(tuple(models), release.method, kept)
    now = {key_of(risk): risk for risk in findings}
    if rows < total:  # fewer rows hide worse: changes are held against the same rows
        now = dict(trial.run("", make(way)))
        trial.tried.pop("", None)
    remedies = {key_of(risk): _remedy(risk, now.get(key_of(risk))) for risk in findings}
    open_ones = {key: one for key, one in remedies.items() if not one.why_not}
    first: Mapping[Key, Outcome] = {}
    if kept:
        way, first, now = _dropped(trial, way, make, open_ones, now)
        open_ones = {key: _with_best(one, [first[key]] if key in first else []) for key, one in open_ones.items()}
    changes, begun = list[str](), open_ones
    for ladder in ladders(way, sensitive, labelled=labelled):
        _climb(trial, ladder, make, {key: now[key] for key, one in open_ones.items() if one.reaches != LEVELS[0]})
        changes += [change.says for change in ladder if change.says in trial.tried]
        open_ones = {
            key: _with_best(one, _of(_outcomes(trial, key), changes), first.get(key)) for key, one in begun.items()
        }
    for key, one in open_ones.items():
        remedies[key] = replace(one, tried=tuple(_outcomes(trial, key).values()))
    dropped = next((f"{one.change}, and " for one in first.values()), "")
    return list(remedies.values()), rows, _does_most(trial, changes, open_ones, dropped)


def _with_best(remedy: Remedy, outcomes: Sequence[Outcome], first: Outcome | None = None) -> Remedy:
    """Add the first of the changes that lower the level most, if any does; all were measured on top of the `first`."""
    best = min(outcomes, key=lambda outcome: LEVELS.index(outcome.level), default=None)
    if best is None or LEVELS.index(best.level) >= LEVELS.index(remedy.reaches):
        return remedy
    return replace(remedy, steps=(best,) if first is None else (first, best))


def _does_most(trial: _Trial, changes: Sequence[str], remedies: Mapping[Key, Remedy], dropped: str) -> str:
    """Say which single change brings most findings to the lowest level, on top of columns that are dropped."""

    def lowered(says: str) -> int:
        found = trial.tried[says]
        return sum(key in found and found[key].level == LEVELS[0] for key in remedies)

    best = max(changes, key=lowered, default=None)
    if best is None or lowered(best) < 2:
        return ""
    return f"What does most: {dropped}{best}. {lowered(best)} of {len(remedies)} findings are then low."


def _dropped(
    trial: _Trial,
    way: Way,
    make: Callable[[Way], Callable[[], Remade]],
    remedies: dict[Key, Remedy],
    now: dict[Key, Risk],
) -> tuple[Way, Mapping[Key, Outcome], dict[Key, Risk]]:
    """Leave out kept columns where that lowers a level: one, if it does what all of them do.

    Returns how to go on from there, how far each attack gets then, and what else is known of them.
    """
    changes = [without_kept(way, way.kept)]
    if len(way.kept) > 1:
        changes += [without_kept(way, [name]) for name in way.kept[:MOST_COLUMNS]]
    results = {change.says: trial.run(change.says, make(change.way)) for change in changes}

    def levels(change: Change) -> list[int]:
        found = results[change.says]
        return [LEVELS.index(found[key].level) if key in found else len(LEVELS) for key in remedies]

    least, own = levels(changes[0]), [LEVELS.index(now[key].level) for key in remedies]
    if not any(new < old for new, old in zip(least, own, strict=True)):
        return way, {}, now
    as_good = (change for change in changes[1:] if all(map(operator.le, levels(change), least)))
    chosen = next(as_good, changes[0])
    found = {**now, **results[chosen.says]}
    first = {key: Outcome(chosen.says, found[key].value, found[key].level) for key in remedies}
    return chosen.way, first, found


def _climb(
    trial: _Trial,
    ladder: Sequence[Change],
    make: Callable[[Way], Callable[[], Remade]],
    now: Mapping[Key, Risk],
) -> None:
    """Try the strictest that can be had, and, where it lowers any level, milder ones up to those that do as well."""
    waiting = dict(now)
    strict = list(ladder)
    goal: Mapping[Key, Risk] = {}
    while strict and waiting and not goal:
        change = strict.pop()
        goal = trial.run(change.says, make(change.way))
    waiting = {
        key: risk
        for key, risk in waiting.items()
        if key in goal and LEVELS.index(goal[key].level) < LEVELS.index(risk.level)
    }
    for change in strict:
        if not waiting:
            return
        found = trial.run(change.says, make(change.way))
        waiting = {
            key: risk
            for key, risk in waiting.items()
            if key not in found or LEVELS.index(found[key].level) > LEVELS.index(goal[key].level)
        }


def _by_leaving_aside(
    release: Remade, findings: Sequence[Risk], trial: _Trial, quasi: Sequence[str], why: str
) -> tuple[list[Remedy], int, str]:
    """Look at the release without rows of small groups, or without one of its columns."""
    note = f"Measured from the release alone, without some of its rows or columns; {why}"
    remedies = {key_of(risk): _remedy(risk, risk) for risk in findings}
    ways: list[tuple[str, tuple[str, ...]]] = [(drop([name]), (name,)) for name in release.kept_beside[:MOST_COLUMNS]]
    if len(ways) > 1:
        ways.insert(0, (drop(release.kept_beside), release.kept_beside))
    ways += [(f"publish without '{name}'", (name,)) for name in quasi[:MOST_COLUMNS] if len(quasi) > 1]
    if release.rows > MOST_ROWS_OF_FILES:
        ways, note = [], f"Nothing was measured: the release has more than {MOST_ROWS_OF_FILES:,} rows, and {why}"
    else:
        for size in _SMALL_GROUPS:
            _withhold(release, trial, size)
    for says, columns in ways:
        trial.run(says, lambda columns=columns: release.without(columns))  # type: ignore[misc]
    found = []
    for key, remedy in remedies.items():
        tried = _outcomes(trial, key)
        if not tried or remedy.why_not:
            found.append(replace(remedy, why_not=remedy.why_not or why))
            continue
        best = min(tried.values(), key=lambda one: LEVELS.index(one.level))
        steps = (best,) if LEVELS.index(best.level) < LEVELS.index(remedy.level) else ()
        found.append(replace(remedy, steps=steps, tried=tuple(tried.values())))
    if ways and not any(remedy.tried for remedy in found):
        note = f"Nothing was measured: {why}"
    return found, release.rows if ways else 0, note


def _withhold(release: Remade, trial: _Trial, size: int) -> None:
    """Try the release without rows of groups smaller than that, if there are any, and others."""
    try:
        left = release.without((), smaller_than=size)
    except IncrowdError:  # nothing would be left
        return
    gone = 0 if left is None else release.rows - left.rows
    if left is None or not gone or not left.rows:
        return
    some = f"{gone:,} rows" if gone >= FEW else f"fewer than {FEW} rows"
    trial.run(f"withhold the rows of groups smaller than {size} ({some})", lambda: left)


def draw_rows(before: OpenedTable, names: Sequence[str], total: int, seed: int) -> tuple[OpenedTable, int]:
    """Return a table with at most `MOST_ROWS` of the rows, drawn at random, and how many these are."""
    if total <= MOST_ROWS:
        return before, total
    chosen = np.sort(np.random.default_rng([seed, 40_000]).choice(total, size=MOST_ROWS, replace=False))
    wanted = pl.LazyFrame({_PLACE: chosen.astype(np.uint32)})
    with reading(before):
        rows = (
            before.frame.select(cs.by_name(*names))
            .with_row_index(_PLACE)
            .join(wanted, on=_PLACE, how="semi")
            .drop(_PLACE)
            .collect(engine="streaming")
        )
    drawn = OpenedTable(rows.lazy(), tuple(rows.columns), "polars", {}, in_memory=True, texts=before.texts)
    return drawn, rows.height


_PLACE = "\0place"


def _remedy(risk: Risk, now: Risk | None) -> Remedy:
    """Return a finding that nothing is known to change yet; `now` is what it is on the rows that are measured."""
    why = ""
    if risk.joined_by:
        why = "it needs other releases, which were not made again.  Hint: use a new key for pseudonyms in each release."
    elif now is None:
        why = "the attack cannot be tried on a release that is made again."
    elif now.level == LEVELS[0]:
        why = "it does not show on the rows that were drawn."
    return Remedy(
        attack=risk.attack,
        plain_name=risk.plain_name,
        column=risk.column,
        before=(now or risk).value,
        level=(now or risk).level,
        why_not=why,
    )


def _outcomes(trial: _Trial, key: Key) -> dict[str, Outcome]:
    """Return what an attack achieves after each change that was tried."""
    return {
        says: Outcome(says, found[key].value, found[key].level) for says, found in trial.tried.items() if key in found
    }


def _of(outcomes: Mapping[str, Outcome], changes: Sequence[str]) -> list[Outcome]:
    return [outcomes[says] for says in changes if says in outcomes]
