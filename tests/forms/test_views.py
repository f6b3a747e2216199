"""What views say of people, against loops over the published rows that are written from the definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.attacks.beliefs import beliefs_about
from incrowd.core.form import Form
from incrowd.core.tally import Tally
from incrowd.core.target import Target, draw_people
from incrowd.forms.sliced import SlicedTable
from incrowd.forms.slices.diversity import guess
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.kernels.boxes_and_points_pairs import boxes_of_points
from incrowd.testing.reading import covers
from tests.attacks import attacking
from tests.attacks.attacking import census, grouped, one_group

PLACES = ("oslo", "bergen", "rome", "milan", "pisa")
REGIONS = {name: "north" if name in PLACES[:2] else "south" for name in PLACES}
HIERARCHIES: dict[str, Hierarchy] = {
    "place": Categories(tuple(REGIONS.items())),
    "kind": Flat(),
}


_counted: list[tuple[ic.Table, Tally]] = []


def count(table: ic.Table) -> Tally:
    """Return a table's tally, counted once for as long as a test looks at the same table."""
    if not _counted or _counted[0][0] is not table:
        _counted[:] = [(table, attacking.count(table))]
    return _counted[0][1]


@st.composite
def tables(draw: st.DrawFn, sensitive: int = 1) -> ic.Table:
    """Draw people of few kinds, some of whom miss values."""
    rows = draw(st.integers(1, 25))
    dice = Random(draw(st.integers(0, 2**16)))
    missing = draw(st.booleans())
    pools: dict[str, list[Any]] = {"age": [1, 2, 3, 7, 8, 20], "place": list(PLACES), "kind": ["x", "y", "z"]}
    pools |= {f"s{place}": ["flu", "gout", "mumps"] for place in range(sensitive)}
    frame = pl.DataFrame(
        {name: dice.choices([*pool, None] if missing else pool, k=rows) for name, pool in pools.items()},
        schema_overrides={"age": pl.Int64, **{name: pl.String for name in pools if name != "age"}},
    )
    return ic.read(
        frame, quasi=["age", "place", "kind"], sensitive=[f"s{place}" for place in range(sensitive)],
        hierarchies=HIERARCHIES,
    )  # fmt: skip


@st.composite
def in_groups(draw: st.DrawFn, table: ic.Table) -> list[int]:
    """Put the distinct rows of a table into any groups, some of them nowhere."""
    dice = Random(draw(st.integers(0, 2**16)))
    withheld = draw(st.booleans())
    most = draw(st.integers(1, 6))
    return [dice.randrange(-1 if withheld else 0, most) for _ in range(len(count(table)))]


def rows_of(form: Form) -> list[dict[str, Any]]:
    return [row for batch in form.batches(1000) for row in batch.iter_rows(named=True)]


def people_of(target: Target) -> list[dict[str, Any]]:
    """Return what is known of each distinct person, as values."""
    columns = target.view.columns
    values = {name: target.view.trees[name].values.to_list() for name in columns}
    return [
        {name: values[name][code] for name, code in zip(columns, person, strict=True)}
        for person in target.people.tuples.tolist()
    ]


def believed(target: Target, column: str) -> list[dict[Any, float]]:
    """Return the package's own beliefs about each distinct person."""
    found = beliefs_about(target, column)
    values = target.view.trees[column].values.to_list()
    return [{value: share for value, share in zip(values, row, strict=True) if share > 0} for row in found.shares]


def prior_of(truth: ic.Table, column: str) -> dict[Any, Fraction]:
    values = count(truth)
    counts = values.value_counts(column)
    return {
        value: Fraction(int(number), values.rows)
        for value, number in zip(values.trees[column].values.to_list(), counts, strict=True)
        if number
    }


def same(one: dict[Any, float], other: dict[Any, Any]) -> bool:
    return set(one) == {value for value, share in other.items() if share} and all(
        abs(one[value] - float(other[value])) < 1e-9 for value in one
    )


# --- groups with labels ---


@given(data=st.data(), shown=st.sampled_from(["tight", "region", "hierarchy"]))
@settings(max_examples=8)
def test_whoever_fits_a_label_could_be_any_row_with_it(data: st.DataObject, shown: Any) -> None:
    table = data.draw(tables())
    form = grouped(table, data.draw(in_groups(table)), shown=shown)  # labels overlap as they like
    target = Target(form, count(table))
    published = rows_of(form)
    prior = prior_of(table, "s0")
    matches = target.matches("s0")
    candidates = matches.total(form.group_sizes)
    for person, (known, mine) in enumerate(zip(people_of(target), believed(target, "s0"), strict=True)):
        fitting = [
            row
            for row in published
            if all(
                covers(row[name], known[name], HIERARCHIES.get(name, ic.Automatic()), ordered=name == "age")
                for name in known
            )
        ]
        assert candidates[person] == len(fitting)
        values = Counter(row["s0"] for row in fitting)
        shares = {value: Fraction(number, len(fitting)) for value, number in values.items()}
        assert same(mine, shares or prior)


METHODS = [
    ic.Mondrian(),
    ic.Mondrian(cuts="relaxed", labels="tight"),
    ic.LocalRecoding(max_distortion=1.0),
    ic.KMember(),
    ic.FullDomain(max_withheld=0.3),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{getattr(method, 'labels', '')}")
def test_everybody_who_is_published_fits_their_own_group(method: Any) -> None:
    frame = ic.datasets.census(600).with_columns(
        age=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("age"))
    )
    table = ic.read(frame, quasi=["age", "sex", "marital"], sensitive=["occupation"], others="drop")
    release = ic.publish(table, [ic.KAnonymity(4)], method=method, seed=0)
    target = Target(release.form, count(table))
    matches = target.matches("occupation")
    candidates = matches.total(release.form.group_sizes)
    assert (candidates[matches.matched] >= 4).all()
    assert target.people.tuple_counts[candidates == 0].sum() <= release.withheld
    assert np.allclose(np.bincount(matches.person_of, matches.weights, minlength=len(matches)), matches.matched)


@given(data=st.data())
@settings(max_examples=10)
def test_expected_rows_are_those_spread_evenly_over_a_label(data: st.DataObject) -> None:
    table = data.draw(tables())
    form = grouped(table, data.draw(in_groups(table)))
    target = Target(form, count(table))
    fits = target.view.fits(target.people.tuples)
    regions = form.group_regions()
    for person, expected in zip(target.people.tuples, fits, strict=True):
        total = Fraction(0)
        for group, size in enumerate(form.group_sizes):
            runs = list(zip(regions.lows[group], regions.highs[group], strict=True))
            if all(low <= code < high for code, (low, high) in zip(person, runs, strict=True)):
                total += Fraction(int(size), int(np.prod([high - low for low, high in runs])))
        assert float(total) == pytest.approx(expected, abs=1e-9)


@given(
    points=st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=60),
    ends=st.lists(st.tuples(*[st.tuples(st.integers(0, 9), st.integers(1, 9))] * 3), max_size=60),
    repeat=st.integers(1, 40),
)
@settings(max_examples=10)
def test_boxes_of_points_are_those_that_hold_them(points: list[Any], ends: list[Any], repeat: int) -> None:
    places = np.array(points * repeat, dtype=np.int32).reshape(-1, 3)
    lows = np.array([[low for low, _ in box] for box in ends], dtype=np.int32).reshape(-1, 3)
    highs = np.array([[low + width for low, width in box] for box in ends], dtype=np.int32).reshape(-1, 3)
    offsets, boxes = boxes_of_points(lows, highs, places)
    holding = ((lows[None] <= places[:, None]) & (places[:, None] < highs[None])).all(axis=2)
    assert offsets.tolist() == [0, *np.cumsum(holding.sum(axis=1))]
    assert boxes.tolist() == np.nonzero(holding)[1].tolist()


# --- buckets ---


def guesses_from_buckets(
    known: dict[str, Any], buckets: dict[int, list[list[dict[str, Any]]]], secret: str
) -> dict[Any, Fraction]:
    """Return p(t,s) by its definition; a bucket is a list of columns, each a list of what its rows show."""
    degrees: dict[int, Fraction] = {}
    hidden: dict[int, list[Any]] = {}
    for number, columns in buckets.items():
        degree = Fraction(1)
        for entries in columns:
            fitting = [row for row in entries if all(row[name] == known[name] for name in row if name in known)]
            degree *= Fraction(len(fitting), len(entries))
            if entries and secret in entries[0]:
                hidden[number] = [row[secret] for row in fitting]
        if degree:
            degrees[number] = degree
    found: dict[Any, Fraction] = defaultdict(Fraction)
    for number, degree in degrees.items():
        for value, times in Counter(hidden[number]).items():
            found[value] += degree / sum(degrees.values()) * Fraction(times, len(hidden[number]))
    return found


def buckets_of(form: SlicedTable) -> dict[int, list[list[dict[str, Any]]]]:
    """Read the published rows bucket by bucket, in the columns that stay together."""
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(form):
        rows[row[form.bucket_name]].append(row)

    def shown(row: dict[str, Any], name: str, place: int) -> Any:
        return row.get(f"{name} (column {place + 1})", row[name])  # where an attribute is written a second time

    return {
        number: [
            [{name: shown(row, name, place) for name in column} for row in members]
            for place, column in enumerate(form.columns)
        ]
        for number, members in rows.items()
    }


def bucketized_buckets_of(form: SlicedTable) -> dict[int, list[list[dict[str, Any]]]]:
    """Read both tables of a bucketized release."""
    found: dict[int, list[list[dict[str, Any]]]] = defaultdict(lambda: [[], []])
    for row in rows_of(form):
        found[row.pop(form.bucket_name)][0].append(row)
    for row in form.tables()["sensitive"].iter_rows(named=True):
        number, times = row.pop(form.bucket_name), row.pop("count")
        found[number][1].extend([row] * times)
    return found


def multisets_of(form: SlicedTable) -> dict[int, list[list[dict[str, Any]]]]:
    """Read labels such as `1:2, 3:1`."""
    found: dict[int, list[list[dict[str, Any]]]] = {}
    for row in rows_of(form):
        number = row.pop(form.bucket_name)
        if number not in found:
            found[number] = []
            for name in form.schema.quasi:
                entries: list[dict[str, Any]] = []
                for entry in row[name].split(", "):
                    value, times = entry.split(":")
                    known = None if value == "" else int(value) if name == "age" else value
                    entries += [{name: known}] * int(times)
                found[number].append(entries)
            found[number].append([])
        found[number][-1].append({name: row[name] for name in form.schema.sensitive})
    return found


SLICES = [
    ic.ShowSlices(columns=(("age", "place"), ("kind", "s0"))),
    ic.ShowSlices(columns=(("age",), ("place", "kind"), ("s0",))),
    ic.ShowSlices(),
    ic.ShowSlices(columns=(("age", "kind"), ("kind", "s0")), overlapping=True),
    ic.ShowSlices(columns=(("age", "kind"), ("place", "s0")), levels={"place": 1}),
    ic.ShowBuckets(),
    ic.ShowMultisets(),
]


@given(data=st.data())
@settings(max_examples=10)
def test_beliefs_about_people_in_buckets_follow_the_definition(data: st.DataObject) -> None:
    table = data.draw(tables())
    tally, recoding, prior = count(table), _recoding(table, data.draw(in_groups(table))), prior_of(table, "s0")
    for showing in SLICES:
        form = showing.show(tally, table.schema, recoding, rows_in=tally.rows, rng=np.random.default_rng(0))
        _beliefs_follow_the_definition(form, tally, prior)


def _beliefs_follow_the_definition(form: Any, tally: Any, prior: Any) -> None:
    readers: dict[str, Any] = {"bucketized": bucketized_buckets_of, "multisets": multisets_of}
    buckets = readers.get(form.name, buckets_of)(form)
    target = Target(form, tally)
    for known, mine in zip(people_of(target), believed(target, "s0"), strict=True):
        if form.levels:
            known |= {"place": REGIONS.get(known["place"])}
        assert same(mine, guesses_from_buckets(known, buckets, "s0") or prior)
    if form.name == "sliced":
        largest = guess(form.slices, form.buckets)
        kind_of = _kinds(tally, form)
        found = beliefs_about(target, "s0").shares.max(axis=1)
        published = target.matches("s0").matched
        for kind, person in kind_of:
            if published[kind]:
                assert found[kind] == pytest.approx(largest.probability[0, person], abs=1e-9)


def _recoding(table: ic.Table, groups: Sequence[int]) -> Any:
    from incrowd.core.recoding import Recoding

    columns = tuple(sorted(table.schema.quasi))
    tally = count(table)
    some = sorted({group for group in groups if group >= 0})
    numbered = np.array([some.index(group) if group >= 0 else -1 for group in groups], dtype=np.int64)
    lows = np.zeros((len(some), len(columns)), dtype=np.int32)
    highs = np.tile(np.array([tally.trees[name].size for name in columns], dtype=np.int32), (len(some), 1))
    return Recoding(np.arange(len(tally)), tally.counts, numbered, columns, lows, highs)


def _kinds(tally: Any, form: SlicedTable) -> set[tuple[int, int]]:
    """Pair the distinct people of a target with those of `guess`, by way of the tally's tuples."""
    people = Target(form, tally).people
    return set(zip(people.tuple_of.tolist(), guess(form.slices, form.buckets).person_of.tolist(), strict=True))


@given(data=st.data())
@settings(max_examples=10)
def test_expected_rows_of_a_bucket_are_a_product_over_columns(data: st.DataObject) -> None:
    table = data.draw(tables())
    tally = count(table)
    form = SLICES[0].show(
        tally, table.schema, _recoding(table, data.draw(in_groups(table))), rows_in=tally.rows,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    target = Target(form, tally)
    buckets = buckets_of(form)
    for known, expected in zip(people_of(target), target.view.fits(target.people.tuples), strict=True):
        total = Fraction(0)
        for columns in buckets.values():
            rows = Fraction(len(columns[0]))
            for entries in columns:
                fitting = [row for row in entries if all(row[name] == known[name] for name in row if name in known)]
                rows *= Fraction(len(fitting), len(entries))
            total += rows
        assert float(total) == pytest.approx(expected, abs=1e-9)


def test_each_of_two_sensitive_columns_has_beliefs_of_its_own() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "s": ["a", "a", "b", "c"], "r": ["x", "y", "x", "x"]})
    table = ic.read(frame, quasi=["age"], sensitive=["s", "r"])
    form = grouped(table, [0, 0, 1, 1])
    target = Target(form, count(table))
    assert believed(target, "s") == [{"a": 1.0}, {"b": 0.5, "c": 0.5}]
    assert believed(target, "r") == [{"x": 0.5, "y": 0.5}, {"x": 1.0}]


def test_without_the_table_before_every_published_row_is_somebody_in_its_group() -> None:
    table = census(400)
    release = ic.publish(table, [ic.KAnonymity(5)], seed=0)
    found = beliefs_about(Target(release.form), "occupation")
    assert found.people == release.rows
    assert np.allclose(found.shares.sum(axis=1), 1)
    crowds = release.form.view().crowds("occupation")
    own = crowds.values.counts / crowds.sizes[crowds.values.group_of]
    assert found.own.tolist() == pytest.approx(own.tolist())


def test_people_are_drawn_without_putting_them_back() -> None:
    counts = np.array([5, 0, 7, 1], dtype=np.int64)
    chosen, drawn = draw_people(counts, 100, np.random.default_rng(0))
    assert (chosen.tolist(), drawn.tolist()) == ([0, 2, 3], [5, 7, 1])
    for seed in range(20):
        chosen, drawn = draw_people(counts, 12, np.random.default_rng(seed))
        assert drawn.sum() == 12
        assert (drawn <= counts[chosen]).all()


def test_fewer_people_are_attacked_where_a_target_says_so() -> None:
    table = census(500)
    target = Target(one_group(table), count(table), most_people=60)
    assert target.people.number == 60
    assert beliefs_about(target, "occupation").people == 60
