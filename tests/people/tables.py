"""Tables in which people have several rows, ways to publish them, and what is asked of these: by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

import incrowd as ic
from tests.people.trial import ROW, Case

ILL = ["angina", "cold", "diabetes", "flu", "gout", "HIV"]
CITY_NAMES = ["Oslo", "Bergen", "Rome", "Bari", "Lecce", "Bern"]
CITY_NODES: dict[str, set[object]] = {"north": {"Oslo", "Bergen"}, "south": {"Rome", "Bari", "Lecce"}}
CITY_TREE = ic.Categories.from_tree({"north": ["Oslo", "Bergen"], "south": ["Rome", "Bari", "Lecce"], "alps": ["Bern"]})

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
    lambda: ic.Microaggregation(labels="hierarchy"),
    ic.KMember,
    ic.TopDownSpecialization,
    ic.BottomUpGeneralization,
    ic.InfoGainMondrian,
    lambda: ic.InfoGainMondrian(labels="tight"),
)

MODELS: Sequence[Callable[[random.Random, int], Any]] = (
    lambda chance, people: ic.KAnonymity(chance.choice([1, 2, 3, 5, people])),
    lambda chance, people: ic.KAnonymity(chance.choice([2, 3, 4])),
    lambda chance, people: ic.BucketSize(chance.choice([2, 3])),
    lambda chance, people: ic.ProsecutorRisk(chance.choice([0.5, 0.2])),
    lambda chance, people: ic.MarketerRisk(chance.choice([0.5, 0.2])),
    lambda chance, people: ic.AlphaKAnonymity(chance.choice([0.5, 0.9]), 2),
    lambda chance, people: ic.LDiversity(chance.choice([1, 2, 3])),
    lambda chance, people: ic.EntropyLDiversity(chance.choice([1.2, 1.5, 2.0])),
    lambda chance, people: ic.ProbabilisticLDiversity(chance.choice([1.2, 1.5, 2.0])),
    lambda chance, people: ic.RecursiveLDiversity(chance.choice([1.0, 3.0]), 2),
    lambda chance, people: ic.TCloseness(chance.choice([0.3, 0.6, 1.0])),
    lambda chance, people: ic.TCloseness(chance.choice([0.2, 0.5]), distance="ordered"),
    lambda chance, people: ic.BasicBetaLikeness(chance.choice([1.0, 4.0])),
    lambda chance, people: ic.EnhancedBetaLikeness(chance.choice([1.0, 4.0])),
    lambda chance, people: ic.DeltaDisclosure(chance.choice([1.0, 3.0])),
    lambda chance, people: ic.ConfidenceBounds({"HIV": 0.5}, column="ill"),
    lambda chance, people: ic.ExpectedConfidence(),
    lambda chance, people: ic.PopulationUniqueness(0.2, fraction=0.1),
)


def random_frame(chance: random.Random, *, most_rows: int = 6) -> tuple[pl.DataFrame, list[str], list[str], list[str]]:
    """Return a table of 1 to 40 people, the columns that tell who is who, quasi-identifiers and sensitive columns."""
    people = chance.choice([1, 2, 5, 12, 25, 25, 40])
    spread = chance.choice([1, 4, 12, 60])
    varying = chance.choice([0, 0.1, 0.5])
    missing = chance.choice([0, 0, 0.1])
    name_of = chance.choice(NAMES)
    person = ["pid", "site"] if chance.random() < 0.2 else ["pid"]
    quasi = chance.sample(["age", "city", "sex", "zip"], chance.randint(1, 3))
    sensitive = ["ill"] if chance.random() < 0.8 else ["ill", "dose"]
    makers: dict[str, Callable[[], object]] = {
        "age": lambda: chance.randint(20, 20 + spread),
        "city": lambda: chance.choice(CITY_NAMES[: spread + 1]),
        "sex": lambda: chance.choice("fm"),
        "zip": lambda: f"{chance.randint(0, spread * 7):04}",
        "ill": lambda: min(chance.choice(ILL), chance.choice(ILL)),
        "dose": lambda: chance.choice([1, 2, 5, 7]),
    }
    rows: list[dict[str, object]] = []
    for number in range(people):
        whose: dict[str, object] = {"pid": name_of(number)}
        if len(person) > 1:
            whose = {"pid": name_of(number // 2), "site": "AB"[number % 2]}
        constant = {name: makers[name]() for name in ("age", "city", "sex", "zip")}
        same_ill = chance.random() < 0.3
        ill = makers["ill"]()
        for _ in range(chance.randint(1, most_rows)):
            row = {
                name: None
                if chance.random() < missing
                else makers[name]()
                if chance.random() < varying
                else constant[name]
                for name in quasi
            }
            row |= {name: makers[name]() for name in sensitive}
            if same_ill:
                row["ill"] = ill
            rows.append({**{name: _spelled(chance, value) for name, value in whose.items()}, **row})
    for name in quasi:  # a column in which nothing is there has no kind
        if all(row[name] is None for row in rows):
            rows[0][name] = makers[name]()
    chance.shuffle(rows)
    frame = pl.DataFrame(rows, infer_schema_length=None).with_row_index(ROW)
    return frame, person, sorted(quasi), sensitive


NAMES: Sequence[Callable[[int], object]] = (
    lambda number: number,
    lambda number: f"P{number}",
    lambda number: f"Zo\u00eb {number}",
    lambda number: 10_000_000_000 + number,
)


def _spelled(chance: random.Random, name: object) -> object:
    """Write a name with a space behind it now and then: it is the same person."""
    return f"{name} " if isinstance(name, str) and chance.random() < 0.2 else name


def random_case(chance: random.Random, *, most_rows: int = 6) -> Case:
    """Return a table and a way to publish it."""
    frame, person, quasi, sensitive = random_frame(chance, most_rows=most_rows)
    people = frame.select(person).n_unique()
    hierarchies: dict[str, Any] = {}
    nodes: dict[str, dict[str, set[object]]] = {}
    if "city" in quasi and chance.random() < 0.5:
        hierarchies["city"] = CITY_TREE
        nodes["city"] = {**CITY_NODES, "alps": {"Bern"}}
    if "age" in quasi and chance.random() < 0.3:
        hierarchies["age"] = ic.Intervals(widths=(5, 10, 20, 40))
    if "zip" in quasi:
        hierarchies["zip"] = ic.Masking()
    return Case(
        frame,
        person,
        quasi,
        sensitive,
        chance.choice(METHODS)(),
        [chance.choice(MODELS)(chance, people) for _ in range(chance.choice([1, 1, 2]))],
        chance.choice([1, 1, 1, 0.5, 0.9]),
        hierarchies,
        nodes,
    )
