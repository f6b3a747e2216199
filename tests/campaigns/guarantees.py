"""Random tables, methods, forms and models: what a release claims is judged again by its files alone.

Two judges who know nothing of how it was made: `incrowd.check` on the saved directory, and plain Python that counts the
lines of the CSV files. Both read the claims from summary.json.
"""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from tests.campaigns.campaign import Campaign
from tests.forms.naive_slices import worst_guess

Row = dict[str, str]


class Guarantees(Campaign):
    """What is claimed holds of what is written."""

    name: ClassVar[str] = "guarantees"
    share: ClassVar[int] = 10

    def trial(self, number: int, place: Path) -> str | None:
        """Publish a random table in a random way, and judge what comes out."""
        chance = random.Random(number)
        frame, quasi, sensitive = random_table(chance)
        frame.write_csv(place / "table.csv")
        population = None
        if chance.random() < 0.2:
            population = pl.concat([frame, frame.sample(fraction=1.0, with_replacement=True, seed=number)]).select(
                quasi
            )
        table = ic.read(place / "table.csv", quasi=quasi, sensitive=sensitive, population=population)
        method, form = chance.choice(METHODS)(), chance.choice(FORMS)(chance, quasi, sensitive)
        models = MODELS if population is None else [*MODELS, *POPULATION_MODELS]
        require = [chance.choice(models)(chance, len(frame)) for _ in range(chance.choice([1, 1, 2]))]
        sample = chance.choice([1, 1, 1, 0.5, 0.9])
        told = f"{method} {form} {[str(model) for model in require]} sample={sample}"
        try:
            release = ic.publish(table, require, method=method, form=form, sample=sample)
        except (Unsatisfiable, SchemaError, RecipeError):
            return None
        release.save(place / "out", format="csv")
        found = self._judged(place / "out", table, frame, quasi, sensitive)
        return None if found is None else f"{told}: {found}"

    def _judged(
        self, directory: Path, table: ic.Table, frame: pl.DataFrame, quasi: list[str], sensitive: list[str]
    ) -> str | None:
        claims = json.loads((directory / "summary.json").read_text())["guarantees"]
        verdicts = ic.check(directory, original=table).models
        if [verdict.statement for verdict in verdicts] != [claim["statement"] for claim in claims]:
            return f"check speaks of {[verdict.statement for verdict in verdicts]}, the release of {claims}"
        for verdict, claim in zip(verdicts, claims, strict=True):
            if verdict.satisfied is not True:
                return f"check does not find {claim['statement']}: {verdict.note}"
            if claim["achieved"] is not None and not math.isclose(
                verdict.achieved or 0, claim["achieved"], rel_tol=1e-9
            ):
                return f"{claim['statement']}: {claim['achieved']} is claimed, check finds {verdict.achieved}"
        alone = ic.check(directory).models
        if any(verdict.satisfied is False for verdict in alone):
            return f"check without the table does not find {[one for one in alone if one.satisfied is False]}"
        original = [{name: text(value) for name, value in row.items()} for row in frame.to_dicts()]
        files = Files.of(directory, quasi, sensitive)
        for claim in claims:
            definition = DEFINITIONS.get(claim["model"])
            if definition is not None and not definition(claim["parameters"], claim.get("note", ""), files, original):
                return f"by counting lines, {claim['statement']} ({claim.get('note', '')}) does not hold"
        return None


def random_table(chance: random.Random) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Make a small table with ties, missing values, skewed and even columns."""
    rows = chance.choice([1, 2, 5, 12, 30, 30, 60, 60, 120])
    quasi = chance.sample(["age", "city", "born", "sex", "zip"], chance.randint(1, 4))
    sensitive = ["ill"] if chance.random() < 0.85 else ["ill", "dose"]
    spread = chance.choice([2, 4, 12, 60])
    makers: dict[str, Callable[[], object]] = {
        "age": lambda: chance.randint(20, 20 + spread),
        "city": lambda: chance.choice(["Rome", "Oslo", "Bern", "New York, NY", "Łódź", 'the "old" one'][: spread + 1]),
        "born": lambda: f"19{chance.randint(50, 50 + min(spread, 40)):02}-0{chance.randint(1, 3)}-11",
        "sex": lambda: chance.choice("fm"),
        "zip": lambda: f"{chance.randint(0, spread * 37):05}",
        "ill": lambda: min(chance.choice(ILL), chance.choice(ILL)),
        "dose": lambda: chance.choice([0.5, 1.0, 2.5, 5.0]),
    }
    missing = chance.choice([0, 0, 0.1])
    columns = {
        name: [None if name != "ill" and chance.random() < missing else makers[name]() for _ in range(rows)]
        for name in (*quasi, *sensitive)
    }
    for name, values in columns.items():  # a column in which nothing is there has no kind
        if all(value is None for value in values):
            columns[name][0] = makers[name]()
    return pl.DataFrame(columns), sorted(quasi), sensitive


ILL = ["angina", "cold", "diabetes", "flu", "gout", "HIV"]

METHODS: Sequence[Callable[[], Any]] = (
    ic.Mondrian,
    lambda: ic.Mondrian(cuts="relaxed"),
    lambda: ic.Mondrian(labels="hierarchy"),
    lambda: ic.Mondrian(labels="tight"),
    lambda: ic.FullDomain(max_withheld=0.2),
    lambda: ic.FullDomain(max_withheld=0.3, leftovers="recode"),
    ic.LocalRecoding,
    ic.LevelSweep,
    ic.Microaggregation,
    ic.KMember,
    ic.TopDownSpecialization,
    ic.BottomUpGeneralization,
    ic.InfoGainMondrian,
    ic.Anatomy,
    lambda: ic.Anatomy("one"),
    ic.Slicing,
    lambda: ic.Slicing(min_bucket_size=4),
)

FORMS: Sequence[Callable[[random.Random, list[str], list[str]], Any]] = (
    lambda chance, quasi, sensitive: None,
    lambda chance, quasi, sensitive: None,
    lambda chance, quasi, sensitive: ic.ShowBuckets(chance.choice(["one", "two"])),
    lambda chance, quasi, sensitive: ic.ShowSlices(),
    lambda chance, quasi, sensitive: ic.ShowSlices((tuple(quasi),)),
    lambda chance, quasi, sensitive: ic.ShowSlices(((quasi[0], sensitive[0]),)),
    lambda chance, quasi, sensitive: ic.ShowMultisets(),
)

MODELS: Sequence[Callable[[random.Random, int], Any]] = (
    lambda chance, rows: ic.KAnonymity(chance.choice([1, 2, 3, 5, max(rows, 1)])),
    lambda chance, rows: ic.BucketSize(chance.choice([1, 2, 3, 5, max(rows, 1)])),
    lambda chance, rows: ic.ProsecutorRisk(chance.choice([0.5, 0.2])),
    lambda chance, rows: ic.MarketerRisk(chance.choice([0.5, 0.2])),
    lambda chance, rows: ic.PopulationUniqueness(0.1, fraction=0.1),
    lambda chance, rows: ic.FullKAnonymity(chance.choice([1, 2])),
    lambda chance, rows: ic.AlphaKAnonymity(chance.choice([0.5, 0.9]), 2),
    lambda chance, rows: ic.LDiversity(chance.choice([1, 2, 3])),
    lambda chance, rows: ic.EntropyLDiversity(chance.choice([1.5, 2.0])),
    lambda chance, rows: ic.ProbabilisticLDiversity(chance.choice([1.5, 2.0, 3.0])),
    lambda chance, rows: ic.RecursiveLDiversity(chance.choice([1.0, 3.0]), 2),
    lambda chance, rows: ic.SlicedDiversity(chance.choice([1.5, 2.0])),
    lambda chance, rows: ic.TCloseness(chance.choice([0.2, 0.5])),
    lambda chance, rows: ic.BasicBetaLikeness(chance.choice([1.0, 4.0])),
    lambda chance, rows: ic.DeltaDisclosure(chance.choice([1.0, 3.0])),
    lambda chance, rows: ic.ConfidenceBounds({"HIV": 0.3}, column="ill"),
    lambda chance, rows: ic.ExpectedConfidence(),
)

POPULATION_MODELS: Sequence[Callable[[random.Random, int], Any]] = (
    lambda chance, rows: ic.JournalistRisk(chance.choice([0.5, 0.2])),
    lambda chance, rows: ic.KMap(chance.choice([1, 2, 5])),
    lambda chance, rows: ic.DeltaPresence(chance.choice([0.5, 1.0])),
    lambda chance, rows: ic.PopulationUniqueness(0.1),
)


@dataclass(frozen=True)
class Files:
    """The lines of a release's files, as texts."""

    rows: list[Row]
    quasi: list[str]
    sensitive: list[str]
    columns: list[list[str]]
    """Which attributes were permuted together, where that is said."""

    @classmethod
    def of(cls, directory: Path, quasi: list[str], sensitive: list[str]) -> Files:
        """Read them; where sensitive values are a table of their own, deal them to the rows of their bucket."""
        rows = lines(directory / "data.csv")
        if (directory / "sensitive.csv").exists():
            values: dict[str, list[Row]] = {}
            for line in lines(directory / "sensitive.csv"):
                values.setdefault(line["bucket"], []).extend([line] * int(line["count"]))
            for row in rows:
                row.update({name: value for name, value in values[row["bucket"]].pop().items() if name in sensitive})
            assert not any(values.values()), "sensitive values are left for nobody"
        said = json.loads((directory / "summary.json").read_text())["loss"]
        return cls(rows, quasi, sensitive, said.get("columns", []))

    def groups(self, note: str) -> list[list[Row]]:
        """Return rows that hide together, by what a claim says that it holds of."""
        return self._alike(["bucket"] if note.startswith("in each bucket") else self.quasi)

    def people_alike(self) -> list[list[Row]]:
        """Return rows that show the same quasi-identifiers, whatever a claim says."""
        return self._alike(self.quasi)

    def _alike(self, keys: list[str]) -> list[list[Row]]:
        found: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row[name] for name in keys), []).append(row)
        return list(found.values())


def lines(path: Path) -> list[Row]:
    """Read a CSV file as texts."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text(value: object) -> str:
    """Write a value as CSV files do."""
    return "" if value is None else str(value)


Parameters = Mapping[str, Any]
Definition = Callable[[Parameters, str, Files, list[Row]], bool]


def _of_people(holds: Callable[[Parameters, list[int]], bool]) -> Definition:
    return lambda asked, note, files, original: holds(asked, [len(group) for group in files.people_alike()])


def _bucket_size(asked: Parameters, note: str, files: Files, original: list[Row]) -> bool:
    return all(len(group) >= asked["rows"] for group in files.groups(note))


def _of_values(holds: Callable[[Parameters, Counter[str], Counter[str]], bool]) -> Definition:
    """Judge each sensitive column of each group, next to the whole table's."""

    def judged(asked: Parameters, note: str, files: Files, original: list[Row]) -> bool:
        columns = files.sensitive if asked.get("column") is None else [asked["column"]]
        return all(
            len(group) >= asked.get("k", 1)
            and holds(asked, _counted(asked, name, group), _counted(asked, name, original))
            for name in columns
            for group in files.groups(note)
        )

    return judged


def _counted(asked: Parameters, name: str, rows: Sequence[Row]) -> Counter[str]:
    """Count values; missing ones only if they are said to count, or if there are no others."""
    counts = Counter(row[name] for row in rows)
    recorded = Counter({value: count for value, count in counts.items() if value not in (None, "")})
    return counts if asked.get("missing") == "counts" or not recorded else recorded


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _entropy(counts: Counter[str]) -> float:
    total = counts.total()
    return -math.fsum(count / total * math.log(count / total) for count in counts.values())


def _recursive(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    counts = sorted(found.values(), reverse=True)
    return counts[0] < _exact(asked["c"]) * sum(counts[asked["l"] - 1 :])


def _shares(found: Counter[str], table: Counter[str]) -> dict[str, tuple[float, float]]:
    if not found.keys() <= table.keys():  # a group in which no value is recorded, in a table where some are
        return {"": (1.0, 1e-300)}
    return {value: (found[value] / found.total(), table[value] / table.total()) for value in table}


def _close(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    numbers = all(re.fullmatch(r"[-+.0-9e]+", value) for value in table)
    if asked["distance"] not in (None, "equal") or (asked["distance"] is None and numbers):
        return True
    return sum(max(here - there, 0) for here, there in _shares(found, table).values()) <= asked["t"] + 1e-9


def _beta_like(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    return all((here - there) / there <= asked["beta"] + 1e-9 for here, there in _shares(found, table).values())


def _undisclosed(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    shares = _shares(found, table).values()
    return all(here > 0 and abs(math.log(here / there)) < asked["delta"] + 1e-9 for here, there in shares)


def _bounded(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    bounds, rest = asked["bounds"], asked["default"]
    return all(count <= _exact(bounds.get(value, rest)) * found.total() for value, count in found.items())


def _alpha(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    return max(found.values()) <= _exact(asked["alpha"]) * found.total()


def _probable(asked: Parameters, found: Counter[str], table: Counter[str]) -> bool:
    return max(found.values()) * _exact(asked["l"]) <= found.total()


def _sliced(asked: Parameters, note: str, files: Files, original: list[Row]) -> bool:
    if not files.columns:
        return _of_values(_probable)(asked, note, files, original)
    if len(files.sensitive) > 1 or any(name.endswith(")") for name in files.rows[0]):
        return True  # told from the written rows by the tests of the form
    (sensitive,) = files.sensitive
    if any(row[name] not in {row[name] for row in original} for row in files.rows for name in files.quasi):
        return True  # shown at a level, or as a multiset
    return worst_guess(files.rows, original, files.columns, sensitive) <= 1 / _exact(asked["l"])


DEFINITIONS: Mapping[str, Definition] = {
    "k-anonymity": _of_people(lambda asked, sizes: min(sizes) >= asked["k"]),
    "bucket-size": _bucket_size,
    "prosecutor-risk": _of_people(lambda asked, sizes: all(size * _exact(asked["risk"]) >= 1 for size in sizes)),
    "marketer-risk": _of_people(lambda asked, sizes: len(sizes) <= _exact(asked["risk"]) * sum(sizes)),
    "distinct-l-diversity": _of_values(lambda asked, found, table: len(found) >= asked["l"]),
    "entropy-l-diversity": _of_values(lambda asked, found, table: _entropy(found) >= math.log(asked["l"]) - 1e-9),
    "probabilistic-l-diversity": _of_values(_probable),
    "recursive-l-diversity": _of_values(_recursive),
    "alpha-k-anonymity": _of_values(_alpha),
    "confidence-bounds": _of_values(_bounded),
    "t-closeness": _of_values(_close),
    "basic-beta-likeness": _of_values(_beta_like),
    "delta-disclosure": _of_values(_undisclosed),
    "sliced-diversity": _sliced,
}
"""Models by their definitions. All others are judged by `check` alone."""
