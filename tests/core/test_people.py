"""Who has which rows, the table as counts of people, and what becomes of their rows: by dictionaries and sets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.common.arrays import Ints
from incrowd.core.people import People, count_people, number_people
from incrowd.core.people_placing import place_people
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import code_table
from incrowd.errors import SchemaError
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.texts import AS_THEY_LOOK, TextRules

rows = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from([None, 1, 2, 3, 5, 8, 13]), st.sampled_from([None, "x", "y", "z"])),
    min_size=1,
    max_size=30,
)
SCHEMA = {"pid": pl.Int64, "age": pl.Int64, "ill": pl.String}


def count(found: list[tuple]) -> tuple[People, Ints, pl.DataFrame]:
    frame = pl.DataFrame(found, schema=SCHEMA, orient="row")
    raw = frame.group_by(pl.all()).agg(pl.len().alias("count")).sort(pl.all())
    counts = raw["count"].to_numpy().astype(np.int64)
    tally, tuple_of = code_table(raw, counts, {"age": Automatic(), "ill": Exact()})
    person_of = number_people(raw, ["pid"], AS_THEY_LOOK)
    people, entry_of = count_people(tally, person_of, tuple_of, counts, ("ill",))
    return people, entry_of, raw


def decoded(people: People, name: str, codes: Any) -> list[object]:
    values = people.rows.trees[name].values.to_list()
    return [values[code] for code in codes]


@settings(deadline=None, derandomize=True, database=None)
@given(rows)
def test_people_are_counted_as_they_are(found: list[tuple]) -> None:
    people, entry_of, raw = count(found)
    names = sorted({row[0] for row in found})
    assert len(people) == len(names) == people.tally.rows
    assert people.rows_each.tolist() == [sum(row[0] == name for row in found) for name in names]
    ages, ills = (people.rows.column(name)[people.tuples] for name in ("age", "ill"))
    listed = Counter[tuple]()
    for at in range(len(people.tuples)):
        key = names[people.owner[at]], *decoded(people, "age", [ages[at]]), *decoded(people, "ill", [ills[at]])
        listed[key] += int(people.counts[at])
    assert listed == Counter(found)
    assert all(
        names[people.owner[entry]] == person for entry, person in zip(entry_of.tolist(), raw["pid"], strict=True)
    )
    tree = people.tally.trees["ill"]
    for person, name in enumerate(names):
        own = [row for row in found if row[0] == name]
        code = people.tally.column("ill")[people.tuple_of[person]]
        _, single = (None, [code]) if tree.sets is None else tree.sets.unfold(np.array([code]), tree.leaves)
        # What is missing beside a value is nothing.
        assert set(decoded(people, "ill", single)) == ({row[2] for row in own} - {None} or {None})
        (age,) = decoded(people, "age", [people.tally.column("age")[people.tuple_of[person]]])
        known = sorted({row[1] for row in own if row[1] is not None})
        # The middle of the distinct values, the lower of two; missing only where there is nothing else.
        assert age in known if known else age is None
    ill = people.tally.value_counts("ill")
    for value in {row[2] for row in found}:
        code = people.rows.trees["ill"].values.to_list().index(value)
        having = {row[0] for row in found if row[2] == value}
        if value is None:
            having -= {row[0] for row in found if row[2] is not None}
        assert ill[code] == len(having)


@settings(deadline=None, derandomize=True, database=None)
@given(rows, st.data())
def test_rows_go_where_their_owner_goes(found: list[tuple], data: st.DataObject) -> None:
    people, _, _ = count(found)
    tally = people.tally
    size = people.rows.trees["age"].size
    # A method that cuts the line of ages in some places, and withholds some of the tuples.
    cuts = sorted(data.draw(st.frozensets(st.integers(1, size), max_size=2)) | {0, size})
    group_of = np.searchsorted(cuts, tally.column("age"), side="right") - 1
    withheld = data.draw(st.frozensets(st.integers(0, len(tally) - 1), max_size=2))
    group_of[list(withheld)] = WITHHELD
    lows, highs = np.array(cuts[:-1], dtype=np.int32)[:, None], np.array(cuts[1:], dtype=np.int32)[:, None]
    shown = data.draw(st.sampled_from(["region", "tight", "hierarchy", "level"]))
    recoding = Recoding(np.arange(len(tally)), tally.counts, group_of, ("age",), lows, highs, shown, None)
    for apart in (False, True):
        placed, of_rows = place_people(people, recoding, np.random.default_rng(1), apart=apart)
        assert placed.group_of.tolist() == group_of[people.tuple_of].tolist()
        table = people.each_entry if apart else people.rows
        assert of_rows.counts.sum() == len(found)
        expected = Counter[tuple[int, int]]()
        for owner, tuple_, number in zip(people.owner, people.tuples, people.counts, strict=True):
            expected[int(tuple_), int(placed.group_of[owner])] += int(number)
        if not apart:
            listed = zip(of_rows.tuples.tolist(), of_rows.groups.tolist(), of_rows.counts.tolist(), strict=True)
            assert Counter({(tuple_, group): number for tuple_, group, number in listed}) == expected
        ages = table.column("age")[of_rows.tuples]
        kept = of_rows.groups != WITHHELD
        assert (of_rows.lows[of_rows.groups[kept], 0] <= ages[kept]).all()
        assert (ages[kept] < of_rows.highs[of_rows.groups[kept], 0]).all()
        if shown != "tight":
            assert set(of_rows.lows.ravel().tolist()) <= {*cuts, 0, 1}
            assert set(of_rows.highs.ravel().tolist()) <= {*cuts, 1, size}
        wider = (of_rows.lows != recoding.lows).any() or (of_rows.highs != recoding.highs).any()
        assert of_rows.shown == ("hierarchy" if shown == "level" and wider else shown)


def test_equal_people_are_dealt_by_chance_and_all_of_them() -> None:
    people, _, _ = count([(person, 5, ill) for person in range(8) for ill in "xy"])
    assert len(people.tally) == 1
    whole = Recoding(
        np.array([0, 0, 0]), np.array([3, 4, 1]), np.array([0, 1, WITHHELD]), ("age",),
        np.array([[0], [0]], dtype=np.int32), np.array([[2], [2]], dtype=np.int32), "region", None,
    )  # fmt: skip
    seen = set()
    for seed in range(40):
        placed, of_rows = place_people(people, whole, np.random.default_rng(seed), apart=False)
        assert Counter(placed.group_of.tolist()) == {0: 3, 1: 4, WITHHELD: 1}
        assert of_rows.counts[of_rows.groups == 0].sum() == 6
        seen.add(int(np.flatnonzero(placed.group_of == WITHHELD)[0]))
    assert len(seen) == 8  # anybody may be the one


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": [3, 1, 3]}, [1, 0, 1]),
        ({"a": ["P1", "P1 ", "p1"]}, [0, 0, 1]),
        ({"a": ["5", "5.0", "05"]}, [1, 1, 0]),
        ({"a": [1, 1, 2], "b": ["x", "y", "x"]}, [0, 1, 2]),
        ({"a": ["ab", "a"], "b": ["c", "bc"]}, [1, 0]),
    ],
)
def test_people_are_numbered_in_the_order_of_their_names(columns: dict[str, list], expected: list[int]) -> None:
    assert number_people(pl.DataFrame(columns), list(columns), AS_THEY_LOOK).tolist() == expected


@pytest.mark.parametrize("names", [[1, None], ["a", None], ["a", ""], ["a", " "], ["a", "nan"]])
def test_nobody_is_nameless(names: list) -> None:
    with pytest.raises(SchemaError, match="some rows have no value there"):
        number_people(pl.DataFrame({"a": names}), ["a"], AS_THEY_LOOK)
    with pytest.raises(SchemaError, match="some rows have no value there"):
        number_people(pl.DataFrame({"a": ["a", "NA", "b"]}), ["a"], TextRules(missing=("NA",)))
