"""The crowds that hide people: those who have a row in all groups of somebody, by intersecting sets."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.forms.people_crowds import crowds_of_people
from incrowd.forms.verify import COUNT
from tests.people.adversary import Crowd, Published, entropy, recursive_ratio

rows = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from([None, 1, 2, 3]), st.sampled_from([None, "a"]), st.sampled_from("xyz")
    ),
    min_size=1,
    max_size=25,
)
SCHEMA = {"pid": pl.Int64, "age": pl.Int64, "sex": pl.String, "ill": pl.String}


def published(found: list[tuple]) -> Published:
    named = [dict(zip(SCHEMA, row, strict=True)) for row in found]
    return Published(named, [row["pid"] for row in named], ["age", "sex"], ["ill"])


@settings(deadline=None, derandomize=True, database=None)
@given(rows)
def test_crowds_are_the_intersections_of_groups(found: list[tuple]) -> None:
    frame = pl.DataFrame(found, schema=SCHEMA, orient="row")
    counted = frame.group_by(pl.all()).agg(pl.len().alias(COUNT))
    numbers = {person: place for place, person in enumerate(sorted(frame["pid"].unique()))}
    person_of = np.array([numbers[person] for person in counted["pid"]], dtype=np.int64)
    groups = crowds_of_people(counted, ["age", "sex"], ["ill"], person_of)
    seen = published(found)
    assert sorted(groups.sizes.tolist()) == sorted(len(crowd) for crowd in seen.crowds)
    values = groups.sensitive["ill"]
    names = groups.trees["ill"].values.to_list()
    shown = []
    for at, size in enumerate(groups.sizes.tolist()):
        run = slice(int(values.offsets[at]), int(values.offsets[at + 1]))
        counts = {
            names[code]: count
            for code, count in zip(values.values[run].tolist(), values.counts[run].tolist(), strict=True)
        }
        shown.append((size, sorted(counts.items())))
    expected = [
        (len(crowd), sorted((value, len(people)) for value, people in seen.holders(crowd, "ill").items()))
        for crowd in seen.crowds
    ]
    assert sorted(shown) == sorted(expected)
    shares = groups.shares("ill")
    everybody = set(seen.whose)
    for value, people in seen.holders(everybody, "ill").items():
        assert shares[names.index(value)] == pytest.approx(len(people) / len(everybody))


@settings(deadline=None, derandomize=True, database=None)
@given(rows)
def test_check_counts_people(found: list[tuple]) -> None:
    frame = pl.DataFrame(found, schema=SCHEMA, orient="row")
    checked = ic.check(frame, quasi=["age", "sex"], sensitive=["ill"], person="pid")
    seen = published(found)
    everybody = set(seen.whose)
    all_have = seen.holders(everybody, "ill")
    crowds = [Crowd(len(one), seen.holders(one, "ill"), len(everybody), all_have) for one in seen.crowds]
    assert (checked.rows, checked.people) == (len(found), len(everybody))
    assert (checked.groups, checked.k) == (len(crowds), min(crowd.size for crowd in crowds))
    assert checked.unique_rows == sum(crowd.size == 1 for crowd in crowds)
    ill = checked.sensitive["ill"]
    assert ill.distinct_l == min(len(crowd.least_spread) for crowd in crowds)
    assert ill.entropy_l == pytest.approx(min(math.exp(entropy(crowd.least_spread)) for crowd in crowds))
    worst = max(recursive_ratio(crowd.least_spread, 2) for crowd in crowds)
    assert ill.recursive_c == (None if math.isinf(worst) else worst)
    largest = max(crowd.share(value) for crowd in crowds for value in crowd.have)
    assert ill.probabilistic_l == pytest.approx(float(1 / largest))


def test_two_groups_of_two_may_hide_nobody() -> None:
    frame = pl.DataFrame({"pid": ["A", "A", "B", "C"], "age": [1, 2, 1, 2]})
    assert ic.check(frame, quasi=["age"]).k == 2
    found = ic.check(frame, quasi=["age"], person="pid")
    assert (found.k, found.unique_rows, found.people, found.groups) == (1, 1, 3, 3)


@pytest.mark.parametrize("names", [["P1", "P1 ", "P2"], ["5", "5.0", "6"], ["Zo\u00eb", "Zoe\u0308", "Z"]])
def test_names_that_look_alike_are_one_person(names: list[str]) -> None:
    found = ic.check(pl.DataFrame({"pid": names, "age": [1, 1, 1]}), quasi=["age"], person="pid")
    assert (found.people, found.k) == (2, 2)
    exact = ic.check(pl.DataFrame({"pid": names, "age": [1, 1, 1]}), quasi=["age"], person="pid", exact_text=True)
    assert exact.people == (2 if names[0] == "5" else 3)
