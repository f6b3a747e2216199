"""Better groups after methods with measures of their own: squared errors, suppressed cells, what classes are told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.method import Moves
from incrowd.engines.lost import Lost, lost_of
from incrowd.errors import Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.kernels.improving import Items, near_items
from incrowd.methods.clusters import on_line
from incrowd.methods.improving import improve
from incrowd.methods.improving_labels import ShownAs

MODELS: list[list[ic.Model]] = [
    [ic.KAnonymity(3)],
    [ic.KAnonymity(2), ic.LDiversity(2)],
    [ic.KAnonymity(2), ic.EntropyLDiversity(1.4)],  # which judges moves one by one
]
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(20, 40)), st.integers(0, 30), st.sampled_from("ab"), st.sampled_from("fgh")
    ),
    min_size=1,
    max_size=40,
)
NAMES = {"age": pl.Int64, "size": pl.Int64, "sex": pl.String, "ill": pl.String}


def opened(rows: Sequence[tuple[Any, ...]], quasi: Sequence[str], **more: Any) -> ic.Table:
    frame = pl.DataFrame(rows, schema=NAMES, orient="row").with_row_index("row")
    return ic.read(frame, quasi=quasi, sensitive=["ill"], others="drop", **more)


def both(table: ic.Table, models: list[ic.Model], method: ic.Method) -> list[Any]:
    """Return the release without effort and with some, or nothing where there is none."""
    try:
        return [ic.publish(table, models, method=method, seed=1, effort=effort) for effort in (0, 2)]
    except Unsatisfiable:
        return []


def is_safe(release: Any, quasi: Sequence[str], models: list[ic.Model]) -> bool:
    """Judge what is published by hand."""
    crowds = defaultdict(list)
    for *shown, ill in release.data.select(*quasi, "ill").iter_rows():
        crowds[tuple(shown)].append(ill)
    least: int = models[0].k  # type: ignore[attr-defined]
    for values in crowds.values():
        shares = [count / len(values) for count in Counter(values).values()]
        entropy = -sum(share * log(share) for share in shares)
        if len(values) < least or (len(models) > 1 and len(shares) < 2):
            return False
        if models[-1].name == "entropy-l-diversity" and entropy < log(1.4) - 1e-9:
            return False
    return True


def squares(release: Any, rows: Sequence[tuple[Any, ...]]) -> float:
    """Return the squared errors of what is shown of two numbers, in shares of their range, row by row."""
    total = 0.0
    for place, name in enumerate(("age", "size")):
        known = [row[place] for row in rows if row[place] is not None]
        span = (max(known) - min(known)) if known else 0
        for row, shown in release.data.select("row", name).iter_rows():
            true = rows[row][place]
            if true is None or shown is None:
                total += (true is None) != (shown is None)
            elif span:
                total += ((true - shown) / span) ** 2
    return total


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, models=st.sampled_from(MODELS))
def test_microaggregation_is_off_by_no_more(rows: list[tuple[Any, ...]], models: list[ic.Model]) -> None:
    table = opened(rows, ["age", "size"], keep=["row"])
    for plain, better in zip(*[iter(both(table, models, ic.Microaggregation()))] * 2, strict=True):
        assert squares(better, rows) <= squares(plain, rows) + 1e-9
        assert better.rows == len(rows)
        assert is_safe(better, ["age", "size"], models)


def stars(release: Any, weights: dict[str, float]) -> float:
    """Return what suppressed cells and withheld rows cost."""
    cells = sum(weights[name] * (release.data[name].cast(pl.String) == "*").sum() for name in weights)
    return float(cells + sum(weights.values()) * release.withheld)


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, models=st.sampled_from(MODELS), weight=st.sampled_from([1.0, 3.0]), share=st.sampled_from([0, 0.2]))
def test_local_suppression_suppresses_no_more(
    rows: list[tuple[Any, ...]], models: list[ic.Model], weight: float, share: float
) -> None:
    rows = [(age and age // 4, size // 8, sex, ill) for age, size, sex, ill in rows]
    method = ic.LocalSuppression(importance={"size": weight}, max_withheld=share)
    weights = {"age": 1.0, "size": weight, "sex": 1.0}
    for plain, better in zip(*[iter(both(opened(rows, [*weights]), models, method))] * 2, strict=True):
        assert stars(better, weights) <= stars(plain, weights) + 1e-9
        assert better.withheld <= plain.withheld
        assert better.method_numbers == {
            "cells suppressed": stars(better, dict.fromkeys(weights, 1.0)) - 3 * better.withheld
        }
        assert is_safe(better, [*weights], models)
        known = {
            name: {None if row[place] is None else str(row[place]) for row in rows}
            for place, name in enumerate(weights)
        }
        assert all(set(better.data[name].cast(pl.String)) <= {*known[name], "*"} for name in weights), (
            "values are as they were"
        )


def unsure(release: Any, quasi: Sequence[str]) -> float:
    """Return how much is not known of a class by those who see labels: entropy, row by row."""
    crowds = defaultdict(Counter)  # type: ignore[var-annotated]
    for *shown, ill in release.data.select(*quasi, "ill").iter_rows():
        crowds[tuple(shown)][ill] += 1
    return -sum(count * log(count / crowd.total()) for crowd in crowds.values() for count in crowd.values())


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, models=st.sampled_from(MODELS[:2]), labels=st.sampled_from(["region", "tight", "hierarchy"]))
def test_infogain_mondrian_tells_no_less_of_classes(
    rows: list[tuple[Any, ...]], models: list[ic.Model], labels: Any
) -> None:
    quasi = ["age", "size", "sex"]
    for plain, better in zip(
        *[iter(both(opened(rows, quasi), models, ic.InfoGainMondrian("ill", labels)))] * 2, strict=True
    ):
        assert unsure(better, quasi) <= unsure(plain, quasi) + 1e-9
        assert better.summary["loss"]["gcp"] <= plain.summary["loss"]["gcp"] + 1e-9
        assert better.rows == len(rows)
        assert is_safe(better, quasi, models)


def test_each_of_them_gains_by_effort() -> None:
    """The properties above hold of methods that refuse every move, too."""
    people = ic.datasets.census(500)
    table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop")
    tally, schema = table.engine.count(table.schema).tally, table.schema
    for method in (ic.InfoGainMondrian(), ic.Microaggregation(), ic.LocalSuppression(), ic.Mondrian(fixed=("sex",))):
        rng = np.random.default_rng(0)
        found = method.search(tally, schema, [ic.KAnonymity(3)], rng=rng, progress=silent)
        assert method.moves is not None
        better = improve(tally, schema, [ic.KAnonymity(3)], found, method.moves, effort=2, progress=silent)
        assert better is not found, method.name
    plain, better = both(table, [ic.KAnonymity(3)], ic.LocalSuppression())
    cells = stars(better, dict.fromkeys(["age", "sex", "education"], 1.0))
    assert cells == better.method_numbers["cells suppressed"] < plain.method_numbers["cells suppressed"]
    assert min(Counter(better.data.select("age", "sex", "education").iter_rows()).values()) >= 3


def test_microaggregation_keeps_its_size() -> None:
    people = ic.datasets.census(300)
    table = ic.read(people, quasi=["age", "education"], sensitive=["occupation"], others="drop")
    release = ic.publish(table, ic.KAnonymity(2), method=ic.Microaggregation(group_size=9), effort=3)
    assert min(Counter(release.data.select("age", "education").iter_rows()).values()) >= 9


@pytest.mark.parametrize("method", [ic.Microaggregation(), ic.LocalSuppression(), ic.InfoGainMondrian()])
@pytest.mark.parametrize(
    ("rows", "k"),
    [
        ([(20, 1, "a", "f"), (21, 2, "b", "g"), (22, 3, "a", "h")], 3),  # everybody together: k = n
        ([(20, 1, "a", "f")] * 7, 2),  # all equal
        ([(None, 1, "a", "f")] * 4, 2),
        ([(20, 1, "a", "f")], 1),
    ],
)
def test_where_nothing_can_be_improved_nothing_changes(method: Any, rows: list[tuple[Any, ...]], k: int) -> None:
    plain, better = both(opened(rows, ["age", "size", "sex"]), [ic.KAnonymity(k)], method)
    assert better.data.equals(plain.data)


def off(numbers: Any, counts: Any, groups: Any) -> float:
    """Return the squared errors of means, in plain Python; a mean of one or two among others is not shown."""
    total = 0.0
    for group in set(groups.tolist()):
        rows = [
            (number, int(count))
            for number, count in zip(numbers[groups == group], counts[groups == group], strict=True)
        ]
        size = sum(count for _, count in rows)
        known = [number for number, count in rows if not np.isnan(number) for _ in range(count)]
        if 0 < len(known) < min(3, size):
            total += size
        elif known:
            mean = sum(known) / len(known)
            total += sum((number - mean) ** 2 for number in known) + size - len(known)
    return total


def test_a_move_changes_squared_errors_by_what_it_is_said_to() -> None:
    rng = np.random.default_rng(5)
    ages = [None if rng.random() < 0.1 else int(rng.integers(20, 60)) for _ in range(90)]
    rows = [(age, int(rng.integers(0, 6)), "ab"[rng.integers(2)], "f") for age in ages]
    table = opened(rows, ["age", "size"])
    tally = table.engine.count(table.schema).tally
    found = ic.Mondrian(labels="tight").search(tally, table.schema, [ic.KAnonymity(4)], rng=rng, progress=silent)
    ways = ShownAs(tally, found, Moves(loss="squared-error"), ["age"])
    codes = np.ascontiguousarray(np.stack([tally.column(name)[found.tuples] for name in found.columns], axis=1))
    numbers = on_line(tally.trees["age"], codes[:, 0])
    near = near_items(codes, ways.distances(), 12, 10_000)
    items = Items(codes, found.counts, near, ways.losses(), np.inf, 2.0, 2, numbers[:, None])
    nothing = np.empty((len(codes), 0), dtype=np.int32), np.empty(0, dtype=np.int64)

    def naive(groups: Any) -> float:
        total = off(numbers, found.counts, groups)
        for group in set(groups.tolist()):
            sizes, inside = codes[:, 1][groups == group], found.counts[groups == group]
            known = tally.trees["size"].positions[sizes]
            total += inside.sum() * ((known.max() - known.min()) / tally.trees["size"].span) ** 2
        return float(total)

    before = naive(found.groups)
    assert items.anneal(*nothing, 0, 0.0, 1.0, 0, found.groups.copy()) == pytest.approx(before)
    targets, partners, changes = items.propose(np.arange(len(codes)), 4, 3, 7, found.groups)
    for item, place in zip(*np.nonzero(changes), strict=True):
        moved = found.groups.copy()
        if partners[item, place] >= 0:
            moved[partners[item, place]] = found.groups[item]
        moved[item] = targets[item, place]
        assert changes[item, place] == pytest.approx(naive(moved) - before)
    assert np.count_nonzero(changes) > 20
    now = found.groups.copy()
    assert items.anneal(*nothing, 3000, 0.0, 1.0, 3, now) == pytest.approx(naive(now))
    assert naive(now) < 0.9 * before


def test_what_is_compared_is_what_is_published() -> None:
    """Better groups are taken by `lost_of`: it must say what a reader of the rows would."""
    rng = np.random.default_rng(2)
    rows = [
        (int(rng.integers(20, 60)), int(rng.integers(0, 9)), "ab"[rng.integers(2)], "fg"[rng.integers(2)])
        for _ in range(60)
    ]
    table = opened(rows, ["age", "size"])
    tally = table.engine.count(table.schema).tally
    means = replace(table.schema, show={"age": "mean", "size": "mean"})
    found = ic.Microaggregation().search(tally, means, [ic.KAnonymity(3)], rng=rng, progress=silent)
    form = Generalized.of(tally, means, found)
    each = [on_line(tally.trees[name], tally.column(name)[found.tuples]) for name in ("age", "size")]
    expected = sum(off(numbers, found.counts, found.groups) for numbers in each) / len(rows)
    assert lost_of(form, found, Moves(loss="squared-error")).loss == pytest.approx(expected)
    weights = {"age": 1.0, "size": 2.5}
    release = ic.publish(table, ic.KAnonymity(3), method=ic.LocalSuppression())
    assert release.method_numbers is not None
    cells = ic.LocalSuppression().search(tally, table.schema, [ic.KAnonymity(3)], rng=rng, progress=silent)
    lost = lost_of(Generalized.of(tally, table.schema, cells), cells, Moves(loss="cells", weights=weights))
    assert lost.loss * len(rows) == pytest.approx(stars(release, weights))
    assert release.method_numbers["cells suppressed"] > 0
    gain = ic.InfoGainMondrian("ill")
    release = ic.publish(table, ic.KAnonymity(3), method=gain)
    boxes = gain.search(tally, table.schema, [ic.KAnonymity(3)], rng=rng, progress=silent)
    lost = lost_of(Generalized.of(tally, table.schema, boxes), boxes, gain.moves)
    assert lost.unsure == pytest.approx(unsure(release, ["age", "size"]))
    assert not Lost(1.0, 3.0).less_than(Lost(2.0, 2.0))
    assert Lost(1.0, 2.0).less_than(Lost(2.0, 2.0))
    assert not Lost().less_than(Lost())
