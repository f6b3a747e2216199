"""Publish a table in which people have several rows, in each way to tell whose a row is, and let the adversary judge.

Published are: the table with the number of each row kept beside it, so that nobody can be mistaken; the same with the
person under a pseudonym; and the same with neither. With one seed, all three must show the same.
"""

from __future__ import annotations

import csv
import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from tests.people.adversary import Person, Published, Row, bounds, judge, label_holds

ROW = "row"
"""The column that numbers rows."""


@dataclass(frozen=True)
class Case:
    """A table, the roles of its columns, and how it is to be published."""

    frame: pl.DataFrame
    person: Sequence[str]
    quasi: Sequence[str]
    sensitive: Sequence[str]
    method: Any
    require: Sequence[Any]
    sample: float = 1
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, set[object]]] = field(default_factory=dict)
    """What the named nodes of hierarchies stand for."""

    def read(self, **roles: Any) -> ic.Table:
        """Open it; what is neither kept nor a pseudonym is dropped."""
        return ic.read(
            self.frame,
            quasi=self.quasi,
            sensitive=self.sensitive,
            person=self.person,
            others="drop",
            hierarchies=self.hierarchies,
            **roles,
        )

    def publish(self, *, seed: int = 7, **roles: Any) -> ic.Release:
        """Publish it, with a seed."""
        show = "label" if isinstance(self.method, ic.Microaggregation) else None  # or it would show means
        table = self.read(**roles)
        return ic.publish(table, self.require, method=self.method, sample=self.sample, seed=seed, show=show)

    def whose(self, row: Row) -> Person:
        """Return who has a row of the table; texts that look alike are one person."""
        return tuple(
            unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else value
            for value in (row[name] for name in self.person)
        )

    def told(self) -> str:
        """Return how it is published, for a message."""
        return f"{self.method} {[str(model) for model in self.require]} sample={self.sample}"


def try_all(case: Case, place: Path, *, format: str = "csv") -> str | None:
    """Publish a case in each way; return what is wrong, or nothing. What cannot be published is not wrong."""
    try:
        kept = case.publish(keep=[ROW])
    except (Unsatisfiable, SchemaError, RecipeError):
        return None
    found, rows = judge_numbered(case, kept, place, format=format)
    if found is None:
        found = _without_numbers(case, rows, place, format)
    if found is None:
        found = _pseudonyms(case, rows, place, format)
    return None if found is None else f"{case.told()}: {found}"


def judge_numbered(
    case: Case, kept: ic.Release, place: Path, *, format: str = "csv"
) -> tuple[str | None, Sequence[Row]]:
    """Save a release with the number of each row; return what is wrong, or nothing, and the published rows."""
    kept.save(place / "kept", format=format)
    rows = lines(place / "kept", format)
    by_number = {str(row[ROW]): row for row in case.frame.to_dicts()}
    return judge_rows(case, rows, [by_number[str(row[ROW])] for row in rows], place / "kept"), rows


def judge_rows(case: Case, rows: Sequence[Row], before: Sequence[Row], directory: Path) -> str | None:
    """Judge published rows, each of which is known to be a row of the table `before`."""
    summary = json.loads((directory / "summary.json").read_text())
    whose = [case.whose(row) for row in before]
    for row, own in zip(rows, before, strict=True):
        for name in case.quasi:
            if not label_holds(row[name], own[name], case.nodes.get(name)):
                return f"the label {row[name]} of {name} does not hold for {own[name]}"
        if any(text(row[name]) != text(own[name]) for name in case.sensitive):
            return "a sensitive value is another one"
    shown = [{**row, **{name: own[name] for name in case.sensitive}} for row, own in zip(rows, before, strict=True)]
    seen = Published(shown, whose, case.quasi, case.sensitive)
    table = [(row, case.whose(row)) for row in case.frame.to_dicts()]
    if any(len(history) > 1 for history in seen.histories.values()):
        return "rows of one person are in two groups"
    all_rows, published = Counter(person for _, person in table), Counter(whose)
    if any(published[person] != all_rows[person] for person in published):
        return "some rows of a person are published, and others are not"
    several = any(number > 1 for number in all_rows.values())
    if several != ("people" in summary):
        return "the summary does not say that people have several rows, or says so where nobody has"
    if several:
        told, sizes = summary["people"], [len(crowd) for crowd in seen.groups.values()]
        counted = (len(published), min(sizes, default=0), max(sizes, default=0))
        if (told["published"], told["in the smallest group"], told["in the largest group"]) != counted:
            return f"the summary tells {told}, and {counted} were counted"
        if case.sample == 1 and (told["in"], told["withheld"]) != (len(all_rows), len(all_rows) - len(published)):
            return f"the summary tells {told} of {len(all_rows)} people"
    found = _own_bounds(case, seen)
    for claim in summary["guarantees"]:
        found = found or judge(claim, list(seen.groups.values()), seen, table)
    return found


def _own_bounds(case: Case, seen: Published) -> str | None:
    """Refuse bounds of ranges that only one person has: nobody else's values lie beyond."""
    if getattr(case.method, "labels", None) != "region" or all(model.min_group < 2 for model in case.require):
        return None
    before = {case.whose(row): [] for row in case.frame.to_dicts()}
    for row in case.frame.to_dicts():
        before[case.whose(row)].append(row)
    for name in case.quasi:
        if not case.frame[name].dtype.is_numeric() or name in case.hierarchies:
            continue
        for bound in {bound for row in seen.rows for bound in bounds(row[name])}:
            below, above = set(), set()
            for person in set(seen.whose):
                values = [row[name] for row in before[person]]
                # A missing value is on the side of the small ones: whoever reads `>=21` may be missing below.
                below |= {person} if any(value is None or value < bound for value in values) else set()
                above |= {person} if any(value is not None and value >= bound for value in values) else set()
            if min(len(below), len(above)) < 2:
                return f"only one person has values beyond the bound {bound} of {name}"
    return None


def _without_numbers(case: Case, rows: Sequence[Row], place: Path, format: str) -> str | None:
    """Publish neither number nor pseudonym: the same must be shown, from counts alone."""
    release = case.publish()
    release.save(place / "plain", format=format)
    found = Counter(tuple(text(row[name]) for name in _shown(case)) for row in lines(place / "plain", format))
    if found != Counter(tuple(text(row[name]) for name in _shown(case)) for row in rows):
        return "without a kept column, other rows are published"
    claims = [json.loads((place / where / "summary.json").read_text())["guarantees"] for where in ("plain", "kept")]
    if claims[0] != claims[1]:
        return f"without a kept column, other claims are made: {claims}"
    if release.people is None:
        return None
    checked = ic.check(place / "plain", original=case.read())
    if checked.k is not None or any(model.satisfied is not None for model in checked.models):
        return "check judges people whom the files do not tell apart"
    return None


def _pseudonyms(case: Case, rows: Sequence[Row], place: Path, format: str) -> str | None:
    """Publish the person under a pseudonym: whoever counts the pseudonyms in the files must come to the same."""
    release = case.publish(keep=[ROW], pseudonyms=case.person)
    release.save(place / "pseudonyms", format=format)
    named = lines(place / "pseudonyms", format)
    by_number = {str(row[ROW]): row for row in case.frame.to_dicts()}
    known: dict[Person, Person] = {}
    for row in named:
        person, pseudonym = case.whose(by_number[str(row[ROW])]), tuple(row[name] for name in case.person)
        if known.setdefault(person, pseudonym) != pseudonym:
            return "one person has two pseudonyms"
    if len(set(known.values())) != len(known):
        return "two people have one pseudonym"
    if _labels(case, named) != _labels(case, rows):
        return "with pseudonyms, other rows are published"
    if release.people is None:
        return None
    claims = json.loads((place / "pseudonyms" / "summary.json").read_text())["guarantees"]
    beside_the_table = ic.check(place / "pseudonyms", original=case.read())
    for checked in (beside_the_table, ic.check(place / "pseudonyms")):
        if checked.people != len(known):
            return f"check counts {checked.people} people, there are {len(known)}"
        for verdict, claim in zip(checked.models, claims, strict=True):
            if verdict.satisfied is False:
                return f"check does not find {claim['statement']}: {verdict.note}"
    for verdict, claim in zip(beside_the_table.models, claims, strict=True):
        if verdict.satisfied is not True:
            return f"check with the table cannot judge {claim['statement']}: {verdict.note}"
        if claim["achieved"] is not None and abs((verdict.achieved or 0) - claim["achieved"]) > 1e-9 * max(
            1, abs(claim["achieved"])
        ):
            return f"{claim['statement']}: {claim['achieved']} is claimed, check finds {verdict.achieved}"
    return None


def _shown(case: Case) -> tuple[str, ...]:
    return (*case.quasi, *case.sensitive)


def _labels(case: Case, rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    return {str(row[ROW]): tuple(text(row[name]) for name in _shown(case)) for row in rows}


def lines(directory: Path, format: str) -> list[dict[str, Any]]:
    """Read the data of a release; an empty text is a missing value."""
    if format == "csv":
        with (directory / "data.csv").open(encoding="utf-8", newline="") as file:
            return [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]
    (path,) = directory.glob("data.*")
    rows = pl.read_parquet(path).to_dicts()
    return [{name: value if name == ROW else _text(value) for name, value in row.items()} for row in rows]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def text(value: object) -> str:
    """Write a value as CSV files do."""
    return "" if value is None else str(value)
