"""The tables and releases that pictures share. Each is made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

import incrowd as ic

WARDS = {
    "A": ["flu", "flu", "flu", "flu"],
    "B": ["flu", "flu", "gout", "asthma"],
    "C": ["flu", "gout", "asthma", "eczema", "HIV"],
    "D": ["HIV", "HIV", "HIV", "flu", "gout", "asthma"],
    "E": ["flu", "gout"],
    "F": ["flu", "flu", "flu", "gout", "gout", "asthma", "asthma", "eczema"],
}
"""Six groups of patients that differ in just what models look at: sizes, and which diseases they have."""
_PAY = {"A": (30, 1), "B": (30, 5), "C": (20, 10), "D": (35, 1), "E": (28, 20), "F": (20, 8)}
_POPULATION = {"A": 4, "B": 12, "C": 40, "D": 6, "E": 30, "F": 24}
KS = (2, 5, 10, 25)
"""The k of the releases that attacks and metrics are shown on."""


@cache
def patients() -> pl.DataFrame:
    """Return the patients of the wards, with what some models look at besides: salary, home, survey weight."""
    return pl.DataFrame(
        {
            "ward": ward,
            "disease": disease,
            "salary": _PAY[ward][0] + place * _PAY[ward][1],
            "weight": _POPULATION[ward] / len(diseases),
            "home": f"{ward}{place // 2}" if ward in "BD" else f"{ward}{place}",
        }
        for ward, diseases in WARDS.items()
        for place, disease in enumerate(diseases)
    )


@cache
def population() -> pl.DataFrame:
    """Return everybody who might be in a ward."""
    return pl.DataFrame({"ward": [ward for ward, people in _POPULATION.items() for _ in range(people)]})


@cache
def census(rows: int = 600) -> pl.DataFrame:
    return ic.datasets.census(rows, seed=3)


@cache
def plane() -> Any:
    """Return a table of two quasi-identifiers, which a picture can show: age and salary, with an occupation."""
    hierarchies = {
        "age": ic.Intervals(widths=[5, 10, 20, 40], lower=0, upper=120),
        "salary": ic.Intervals(widths=[10_000, 20_000, 40_000, 80_000], lower=0, upper=320_000),
    }
    frame = people_of_plane()
    return ic.read(frame, quasi=["age", "salary"], sensitive=["occupation"], hierarchies=hierarchies, others="drop")


@cache
def people_of_plane() -> pl.DataFrame:
    """Return 400 people whose occupations are five kinds, so that models of diversity can be satisfied."""
    frame = ic.datasets.census(400, seed=7).select("age", "salary", "occupation")
    kinds = sorted(frame["occupation"].unique())
    names = ("office", "craft", "health", "school", "trade")
    renamed = {kind: names[place % len(names)] for place, kind in enumerate(kinds)}
    return frame.with_columns(pl.col("occupation").replace_strict(renamed))


@cache
def many() -> pl.DataFrame:
    return ic.datasets.census(4000, seed=7)


@cache
def declared(*, alone: bool) -> Any:
    """Return a table whose values are declared, as differential privacy needs; `alone` has no column but age."""
    hierarchies: dict[str, Any] = {"age": ic.Intervals(widths=[5, 10, 20, 40], lower=15, upper=95)}
    if alone:
        return ic.read(many(), quasi=["age"], others="drop", hierarchies=hierarchies)
    hierarchies["sex"] = ic.Categories.from_tree(["Female", "Male"])
    hierarchies["marital"] = ic.Categories.from_tree(sorted(many()["marital"].unique()))
    return ic.read(many(), quasi=["age", "sex"], sensitive=["marital"], others="drop", hierarchies=hierarchies)


@cache
def attacked(k: int) -> Any:
    """Return a release of the census that is k-anonymous and 2-diverse: what attacks and metrics are shown on."""
    return ic.publish(_census_table(), [ic.KAnonymity(k), ic.LDiversity(2)], seed=1)


@cache
def _census_table() -> Any:
    jobs = ic.Categories.from_tree(_kinds_of_work(census()["occupation"]))
    return ic.read(
        census(), quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop",
        hierarchies={"occupation": jobs},
    )  # fmt: skip


def _kinds_of_work(values: pl.Series) -> dict[str, list[str]]:
    """Return a tree of occupations in four kinds, by name: what makes two of them alike."""
    found: dict[str, list[str]] = {"kind 1": [], "kind 2": [], "kind 3": [], "kind 4": []}
    for place, name in enumerate(sorted(values.unique())):
        found[f"kind {place % 4 + 1}"].append(name)
    return found


@cache
def alike(k: int) -> Any:
    """Return a release without diversity, of a column with few values: groups in which all have the same one."""
    table = ic.read(census(), quasi=["age", "sex", "education"], sensitive=["race"], others="drop")
    return ic.publish(table, ic.KAnonymity(k), seed=1)


@cache
def tight(k: int) -> Any:
    """Return a release whose ranges end at somebody's own value."""
    table = ic.read(census(), quasi=["age", "salary"], sensitive=["occupation"], others="drop")
    return ic.publish(table, ic.KAnonymity(k), method=ic.Mondrian(labels="tight"), seed=1)


@cache
def second_release(k: int) -> Any:
    """Return another release of the same people, by other columns: what composition joins with the first."""
    table = ic.read(census(), quasi=["age", "marital"], sensitive=["occupation"], others="drop")
    return ic.publish(table, [ic.KAnonymity(k), ic.LDiversity(2)], seed=2)


@cache
def visits() -> pl.DataFrame:
    """Return visits of 150 patients, one to three each, with a date, a ward and a diagnosis."""
    from datetime import date, timedelta

    return pl.DataFrame(
        {
            "patient": person,
            "age": 20 + person * 7 % 60,
            "sex": "FM"[person % 2],
            "visit": date(2026, 1, 1) + timedelta(days=(person * 17 + one * 41) % 300),
            "ward": f"ward {(person * 5 + one * 3) % 8}",
            "diagnosis": ("flu", "gout", "asthma", "migraine")[(person * 3 + one * one) % 4],
        }
        for person in range(150)
        for one in range(1 + person % 3)
    )


@cache
def visit_release(k: int) -> Any:
    table = ic.read(
        visits(), person="patient", quasi=["age", "sex"], sensitive=["diagnosis"], keep=["ward"],
        dates={"visit": ic.TruncateDates("month")},
    )  # fmt: skip
    return ic.publish(table, ic.KAnonymity(k), seed=1)


@cache
def families() -> pl.DataFrame:
    return census(300).with_row_index("person").with_columns(home=pl.col("person") // 3)


@cache
def family_release(k: int) -> Any:
    table = ic.read(families(), household="home", quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    return ic.publish(table, ic.KAnonymity(k), seed=1)


@cache
def baskets() -> pl.DataFrame:
    """Return what 200 people bought, as sets, with an age."""
    bought = ic.datasets.baskets(200, 12, mean_length=3, seed=5)
    person, item = bought.columns
    sets = bought.group_by(person, maintain_order=True).agg(pl.col(item)).rename({person: "person", item: "bought"})
    return sets.with_columns(
        age=20 + pl.col("person") * 7 % 50, zip=pl.lit("101") + (pl.col("person") % 3).cast(pl.String)
    )


@cache
def basket_release(k: int) -> Any:
    table = ic.read(
        baskets(), quasi=["zip"], items=["bought"], others="drop",
        hierarchies={"bought": ic.Categories.from_tree(ic.datasets.basket_tree(12))},
    )  # fmt: skip
    return ic.publish(table, [ic.KAnonymity(k), ic.KmAnonymity(k, 2)], seed=1)
