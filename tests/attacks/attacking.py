"""What tests of attacks share: tables that are made up, releases that are made by hand, and their targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.core.form import Form
from incrowd.core.groups import own_regions
from incrowd.core.recoding import WITHHELD, Recoding, Shown
from incrowd.core.risk import Risk
from incrowd.core.tally import Tally
from incrowd.core.target import Target
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.public import public_codes


def count(table: ic.Table) -> Tally:
    """Return a table's tally."""
    return table.engine.count(table.schema, table.population).tally


def attack(attacker: Any, form: Form, truth: Tally | None = None, *, seed: int = 0, **given: Any) -> Risk:
    """Run an attack, once it has been made sure that it can be tried."""
    target = Target(form, truth, **given)
    assert attacker.lacks(target) is None
    risk: Risk = attacker.run(target, rng=np.random.default_rng(seed))
    assert 0 <= risk.low <= risk.value <= risk.high <= 1
    assert 0 <= risk.baseline <= 1
    return risk


def grouped(
    table: ic.Table, groups: Sequence[int] | np.ndarray[Any, Any], *, shown: Shown = "tight", times: Any = 1
) -> Generalized:
    """Publish the tally's tuples in these groups (-1: withheld), each row so many `times`."""
    tally = count(table)
    columns = tuple(sorted(table.schema.quasi))
    codes = np.stack([tally.column(name) for name in columns], axis=1)
    group_of = np.asarray(groups, dtype=np.int64)
    group_of = np.where(tally.counts * times > 0, group_of, WITHHELD)
    some = group_of >= 0
    _, numbered = np.unique(group_of[some], return_inverse=True)
    group_of[some] = numbered
    regions = own_regions(columns, codes[some], group_of[some], int(group_of.max(initial=-1)) + 1)
    lows, highs = regions.lows, regions.highs
    if shown == "hierarchy":
        for place, name in enumerate(columns):
            lows[:, place], highs[:, place] = tally.trees[name].common_nodes(lows[:, place], highs[:, place])
    counts = (tally.counts * times).astype(np.int64)
    recoding = Recoding(np.arange(len(tally)), counts, group_of, columns, lows, highs, shown)
    return Generalized.of(tally, table.schema, recoding, rows_in=int(counts.sum()))


def raw(table: ic.Table, *, times: Any = 1) -> Generalized:
    """Publish every row as it is."""
    tally = count(table)
    quasi = np.stack([tally.column(name) for name in sorted(table.schema.quasi)], axis=1)
    return grouped(table, np.unique(quasi, axis=0, return_inverse=True)[1].ravel(), times=times)


def one_group(table: ic.Table) -> Generalized:
    """Publish everybody in one group, with labels that say nothing."""
    tally = count(table)
    columns = tuple(sorted(table.schema.quasi))
    lows = np.zeros((1, len(columns)), dtype=np.int32)
    highs = np.array([[tally.trees[name].size for name in columns]], dtype=np.int32)
    tuples = np.arange(len(tally))
    return Generalized.of(
        tally, table.schema, Recoding(tuples, tally.counts, np.zeros_like(tuples), columns, lows, highs)
    )


def census(
    rows: int = 3000, *, quasi: Sequence[str] = ("age", "sex", "education", "marital"), seed: int = 0
) -> ic.Table:
    """Read some people of the made-up census, with their occupation as the secret."""
    return ic.read(ic.datasets.census(rows, seed=seed), quasi=list(quasi), sensitive=["occupation"], others="drop")


CITIES = ("Bergen", "Oslo", "Turku", "Visby", "Malmo", "Lund", "Narvik", "Alta")
DISEASES = ("angina", "bronchitis", "cancer", "diabetes", "epilepsy", "flu")
DECLARED = {
    "age": ic.Intervals(widths=(5, 10, 20), lower=20, upper=80),
    "city": ic.Categories(tuple((name, "north" if place % 2 else "south") for place, name in enumerate(CITIES))),
    "sex": ic.Categories((("F",), ("M",))),
    "sick": ic.Categories(tuple((name,) for name in DISEASES)),
}


def people(number: int, seed: int = 0, *, dependence: float = 0.0) -> pl.DataFrame:
    """Draw people whose disease follows from their city and sex with a probability, and else is any."""
    rng = np.random.default_rng(seed)
    city, sex = rng.integers(0, len(CITIES), number), rng.integers(0, 2, number)
    bound = (2 * city + 3 * sex) % len(DISEASES)
    sick = np.where(rng.random(number) < dependence, bound, rng.integers(0, len(DISEASES), number))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, number),
            "city": [CITIES[place] for place in city],
            "sex": ["FM"[place] for place in sex],
            "sick": [DISEASES[place] for place in sick],
        }
    )


def declared(frame: pl.DataFrame, **given: Any) -> ic.Table:
    """Read such people, with hierarchies that do not depend on them."""
    return ic.read(frame, quasi=["age", "city", "sex"], sensitive=["sick"], hierarchies=DECLARED, **given)


def public_truth(table: ic.Table, form: Form) -> Tally:
    """Return a table's tally in the codes of a release of noisy counts."""
    tally, trees = count(table), form.tally.trees
    codes = [public_codes(name, tally.trees[name], trees[name])[tally.column(name)] for name in tally.columns]
    return Tally(tally.columns, np.stack(codes, axis=1), tally.counts, trees)


def read(columns: dict[str, Any], quasi: Sequence[str], sensitive: Sequence[str] = (), **given: Any) -> ic.Table:
    """Read a table that is given by its columns."""
    return ic.read(pl.DataFrame(columns), quasi=list(quasi), sensitive=list(sensitive), **given)
