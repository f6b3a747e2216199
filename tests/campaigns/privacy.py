"""Private methods end to end, many times on two tables that differ by one row: only what is written is looked at.

An adversary who knows everybody but one, and reads the files of a release alone: estimates of the boxes that hold this
one, rows that are hers, how many rows there are, and what the summary says. Methods as they are stay below the ε that
they promise; with a planted fault, the same adversary proves that the promise is broken.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.core.families import registered
from incrowd.dp import discrete_laplace
from incrowd.errors import Unsatisfiable
from incrowd.methods import diffgen
from incrowd.publishing.release import Release
from incrowd.testing.mechanism_audit import audit
from tests.campaigns.campaign import Campaign

EPSILON = 2
KNOWN = {
    "age": ic.Intervals(widths=(1, 2), lower=1, upper=3),
    "sex": ic.Categories.from_tree(["F", "M"]),
    "ill": ic.Categories.from_tree(["flu", "cold"]),
}
TARGET, CODES = (3, "M", "cold"), (3, 2)
"""The one whom the adversary looks for, and the codes of her quasi-identifiers."""
OTHERS = [(1, "F", "flu"), (3, "M", "flu"), (1, "M", "cold")]
OPTIONS: dict[str, dict[str, Any]] = {
    "diffgen": {"steps": 1, "structure_share": "1/20"},
    "consistent-diffgen": {"steps": 1, "structure_share": "1/20", "patience": 0},
}
ONE_COLUMN = ("hierarchical-histogram",)
RUNS = 200


@contextmanager
def third_of_the_noise() -> Iterator[None]:
    true = discrete_laplace.noise_scale
    with mock.patch.object(discrete_laplace, "noise_scale", lambda *asked: true(*asked) / 3):
        yield


@contextmanager
def every_level_spends_all() -> Iterator[None]:
    true = diffgen.grow_by_levels

    def overspent(*given: Any, epsilon: Fraction, **others: Any) -> Any:
        return true(*given, epsilon=3 * epsilon, **others)

    with mock.patch.object(diffgen, "grow_by_levels", overspent):
        yield


@contextmanager
def rows_are_told() -> Iterator[None]:
    true = Release.save

    def told(self: Release, directory: Path, **others: Any) -> Any:
        saved = true(self, directory, **others)
        summary = json.loads((directory / "summary.json").read_text())
        (directory / "summary.json").write_text(json.dumps({**summary, "rows_in": NOW["rows"]}))
        return saved

    with mock.patch.object(Release, "save", told):
        yield


NOW: dict[str, int] = {}
FAULTS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "a third of the noise": (third_of_the_noise, ("flat-histogram", "diffgen", "hierarchical-histogram")),
    "every level spends all": (every_level_spends_all, ("consistent-diffgen",)),
    "rows are told": (rows_are_told, ("flat-histogram", "marginals")),
}
METHODS = [name for name, kind in sorted(registered("methods").items()) if kind.private] + ["sdgs"]
CASES: list[tuple[str, str | None]] = [(method, None) for method in METHODS] + [
    (method, fault) for fault, (_, methods) in FAULTS.items() for method in methods
]


@dataclass(frozen=True)
class Adversary:
    """Publishes either table, and reads what was written."""

    method: str
    place: Path

    def __call__(self, with_row: bool, rng: np.random.Generator) -> tuple[float, float, int]:
        rows = [*OTHERS, TARGET] if with_row else OTHERS
        NOW["rows"] = len(rows)
        frame = pl.DataFrame(rows, schema=["age", "sex", "ill"], orient="row")
        quasi = ["age"] if self.method in ONE_COLUMN else ["age", "sex"]
        known = {name: KNOWN[name] for name in (*quasi, "ill")}
        table = ic.read(frame, quasi=quasi, sensitive=["ill"], others="drop", hierarchies=known)
        seed = int(rng.integers(2**60))
        try:
            if self.method == "sdgs":
                made = ic.publish(table, method=ic.SDGS(2, {"age": 2}, epsilon=EPSILON), sample=0.5, seed=seed)
            else:
                kind: Any = registered("methods")[self.method]
                made = ic.publish(table, method=kind(EPSILON, **OPTIONS.get(self.method, {})), seed=seed)
        except Unsatisfiable:
            return (-1.0, -1.0, -1)
        made.save(self.place / "out", force=True)
        return self.read(self.place / "out", len(quasi))

    def read(self, release: Path, quasi: int) -> tuple[float, float, int]:
        """Return what the estimates say of her, how many rows could be hers, and what the summary tells of rows."""
        with (release / "data.csv").open(newline="") as file:
            lines = list(csv.reader(file))[1:]
        hers = sum(line[-1] == TARGET[-1] for line in lines)
        told = json.loads((release / "summary.json").read_text()).get("rows_in") or 0
        estimate = 0.0
        if (release / "measured.csv").exists():
            with (release / "measured.csv").open(newline="") as file:
                for box in csv.DictReader(file):
                    ends = [tuple(map(int, run.split("-"))) for run in box["places"].split()]
                    if box["ill"] == TARGET[-1] and all(
                        low <= code <= high for (low, high), code in zip(ends, CODES[:quasi], strict=True)
                    ):
                        estimate += float(box["estimate"]) / float(box["variance"])
        return round(estimate, 1), hers, int(told)


class Privacy(Campaign):
    """Every private method through files, honest and with planted faults."""

    name: ClassVar[str] = "privacy"
    share: ClassVar[int] = 1

    def trial(self, number: int, place: Path) -> str | None:
        """Audit one case; each number is another one, and after all of them the same with other chance."""
        method, fault = CASES[number % len(CASES)]
        adversary, rng = Adversary(method, place), np.random.default_rng(number)
        delta = float(ic.SDGS(2, {"age": 2}, epsilon=EPSILON).promise(Fraction(1, 2)).price.delta)
        events = [_at_least(at, bound) for at in (0, 1, 2) for bound in np.arange(-4, 12, 0.5)]
        asked: dict[str, Any] = {"runs": RUNS, "rng": rng, "events": events, "delta": delta if method == "sdgs" else 0}
        if fault is None:
            found = audit(adversary, confidence=0.9999, **asked)
            return f"{method} promises {EPSILON}: {found}" if found.contradicts(EPSILON) else None
        with FAULTS[fault][0]():
            found = audit(adversary, **asked)
        return None if found.contradicts(EPSILON) else f"{method}, {fault}: not found out ({found})"


def _at_least(at: int, bound: float) -> Callable[[Any], bool]:
    return lambda outcome: bool(outcome[at] >= bound)
