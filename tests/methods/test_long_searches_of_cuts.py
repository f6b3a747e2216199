"""Searches with many steps, against the oracle: what is known from the steps before must be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.methods.bottom_up_generalization import BottomUpGeneralization
from incrowd.methods.steps_up import TableCuts
from incrowd.methods.top_down_specialization import TopDownSpecialization
from tests.methods import naive_cuts
from tests.methods.cuts_cases import LARGER_TREES, naive_columns, opened, people_of_larger_trees, shown
from tests.methods.naive_cuts import Row, Safe

METHODS = [
    pytest.param(TopDownSpecialization, naive_cuts.specialize, id="top-down"),
    pytest.param(BottomUpGeneralization, naive_cuts.generalize, id="bottom-up"),
]


def at_least(k: int, incomes: int = 1) -> Callable[[Sequence[Row]], Safe]:
    return lambda _: lambda group: len(group) >= k and len({row[-1] for row in group}) >= incomes


def like_the_table(delta: float) -> Callable[[Sequence[Row]], Safe]:
    def of(rows: Sequence[Row]) -> Safe:
        whole = Counter(row[-1] for row in rows)

        def safe(group: Sequence[Row]) -> bool:
            own = Counter(row[-1] for row in group)
            return all(abs(log(own[value] / len(group) / (whole[value] / len(rows)))) < delta for value in own)

        return safe

    return of


@pytest.mark.parametrize(("method", "naive"), METHODS)
@pytest.mark.parametrize(
    ("model", "safe", "rows", "skew", "seed", "times"),
    [
        (ic.KAnonymity(2), at_least(2), 400, 0, 2, 1),
        (ic.KAnonymity(2), at_least(2), 400, 2, 3, 1),
        (ic.KAnonymity(3), at_least(3), 150, 1, 0, 1),
        (ic.KAnonymity(12), at_least(12), 150, 1, 1, 1),
        (ic.DistinctLDiversity(2), at_least(1, 2), 150, 1, 4, 1),
        (ic.DistinctLDiversity(2), at_least(1, 2), 150, 2, 3, 2),
        # Joining two groups that satisfy the next ones may give one that does not.
        (ic.DeltaDisclosure(1.0, absent="ignored"), like_the_table(1.0), 150, 2, 3, 1),
        (ic.DeltaDisclosure(1.0, absent="ignored"), like_the_table(1.0), 400, 1, 0, 1),
        (ic.DeltaDisclosure(1.6, absent="ignored"), like_the_table(1.6), 150, 2, 4, 1),
    ],
)
def test_cuts_are_those_of_the_definition(
    method: Any,
    naive: Callable[..., Any],
    model: Any,
    safe: Callable[[Sequence[Row]], Safe],
    rows: int,
    skew: float,
    seed: int,
    times: int,
) -> None:
    frame = pl.concat([people_of_larger_trees(rows, seed, skew)] * times)
    release = ic.publish(opened(frame, tuple(LARGER_TREES), LARGER_TREES), model, method=method("income"))
    naive_rows, columns = naive_columns(frame, LARGER_TREES)
    expected = shown(naive_rows, columns, naive(naive_rows, columns, safe(naive_rows)))
    assert sorted(release.to_polars().select(*LARGER_TREES, "income").iter_rows()) == expected


def test_steps_end_where_groups_are_safe() -> None:
    # Everybody has the same incomes but those born in 7: they are joined with 6 after all that loses nothing, and many
    # steps before the smallest group, two women, becomes larger.
    trees = {name: LARGER_TREES[name] for name in ("born", "sex")}
    incomes = {year: ("poor", "poor" if year == "7" else "rich") for year, *_ in trees["born"]}
    frame = pl.DataFrame(
        [(year, "m", income) for year, both in incomes.items() for income in both]
        + [("0", "f", "very rich"), ("0", "f", "very poor")],
        schema=["born", "sex", "income"],
        orient="row",
    )
    table = opened(frame, tuple(trees), trees)
    release = ic.publish(table, ic.DistinctLDiversity(2), method=BottomUpGeneralization("income"))
    rows, columns = naive_columns(frame, trees)
    cuts = naive_cuts.generalize(rows, columns, at_least(1, 2)(rows))
    assert sorted(release.to_polars().select(*trees, "income").iter_rows()) == shown(rows, columns, cuts)
    assert "6s" in cuts[0]
    assert {"f", "m"} == cuts[1]


def test_people_with_several_values_are_safe_as_soon_as_their_groups_are() -> None:
    # Safe groups of A and B are joined to an unsafe one where people have several values: the search ends before.
    tree = (("c0", "C", "CD"), ("c1", "C", "CD"), ("A", "D", "CD"), ("B", "D", "CD"), ("e", "e", "e"))
    people = {"c0": [[0], [0]], "c1": [[20], [20]], "e": [[0], [10]], "A": [[-5, 15], [5]], "B": [[0]] * 10 + [[17.5]]}
    rows = [(value, numbers) for value, everybody in people.items() for numbers in everybody]
    frame = pl.DataFrame(
        [(person, value, "x", float(one)) for person, (value, numbers) in enumerate(rows) for one in numbers],
        schema=["person", "value", "same", "number"],
        orient="row",
    )
    table = ic.read(
        frame,
        quasi=["value", "same"],
        sensitive=["number"],
        person="person",
        hierarchies={"value": ic.Categories(tree)},
    )
    release = ic.publish(table, ic.MinimumVariance(variance=24.9), method=BottomUpGeneralization("same"))
    assert Counter(release.to_polars()["value"]) == {"A": 3, "B": 11, "C": 4, "e": 2}


@pytest.mark.parametrize(("most", "expected"), [(2**22, 16), (1, 8)])
def test_few_cuts_are_held_where_columns_have_many_values(
    most: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bound, what is held grows with the square of a column's values."""
    monkeypatch.setattr("incrowd.methods.bottom_up_generalization._MOST_CODES", most)
    steps, held = TableCuts.if_nothing_gains, list[int]()

    def counted(cuts: TableCuts) -> Iterator[TableCuts]:
        held.append(0)
        for after in steps(cuts):
            held[-1] += 1
            yield after

    monkeypatch.setattr(TableCuts, "if_nothing_gains", counted)
    frame = people_of_larger_trees(400, 2, 0)
    ic.publish(opened(frame, tuple(LARGER_TREES), LARGER_TREES), ic.KAnonymity(2), method=BottomUpGeneralization())
    assert max(held) == expected
