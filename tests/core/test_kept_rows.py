"""At most so many rows of each person: every choice as likely as any other, and nobody's choice hangs on another's."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.randomness import randomness
from incrowd.core import kept_rows
from incrowd.core.kept_rows import keep_rows
from incrowd.engines.local import LocalEngine
from incrowd.errors import EmptyTable, SchemaError
from tests.goodness import SIGNIFICANT, fit

AGES = ic.Intervals(widths=(5, 10), lower=0, upper=100)


def naive(rng: np.random.Generator, person_of: list[int], counts: list[int], most: int) -> tuple[int, ...]:
    """Deal each person's rows like cards, one person after the other."""
    kept = [0] * len(counts)
    for person in set(person_of):
        rows = [entry for entry, owner in enumerate(person_of) if owner == person for _ in range(counts[entry])]
        for place in rng.permutation(len(rows))[:most]:
            kept[rows[place]] += 1
    return tuple(kept)


def table(frame: pl.DataFrame, person: str | list[str] = "who") -> ic.Table:
    return ic.read(frame, quasi=["age"], person=person, hierarchies={"age": AGES})


def kept(frame: pl.DataFrame, most: int, seed: int | None = 1, person: str | list[str] = "who") -> dict[int, int]:
    """Return how many rows of each age are kept."""
    opened = table(frame, person)
    tally = opened.engine.count_kept(opened.schema, most, randomness(seed)).tally
    ages = tally.trees["age"].values
    return {ages[int(code)]: int(count) for code, count in zip(tally.column("age"), tally.counts, strict=True)}


def test_every_set_of_rows_is_as_likely_as_any_other() -> None:
    """Five different rows of one person, three kept; and another person, whose choice is apart from it."""
    person_of, counts = np.array([0, 0, 0, 0, 0, 1, 1, 2]), np.array([1, 1, 1, 1, 1, 1, 3, 2])
    rng, runs = np.random.default_rng(5), 5000
    seen = Counter(tuple(keep_rows(rng, person_of, counts, 3).tolist()) for _ in range(runs))
    # Of the second person's 1 + 3 rows, the single one is kept three times out of four.
    chances = {
        (*(int(place in chosen) for place in range(5)), alone, 3 - alone, 2): (0.75 if alone else 0.25) / 10
        for chosen in combinations(range(5), 3)
        for alone in (0, 1)
    }
    assert set(seen) == set(chances)
    assert fit([seen[key] for key in chances], list(chances.values())) > SIGNIFICANT


def test_counts_are_chosen_as_rows_one_by_one_would_be() -> None:
    person_of, counts = [0, 0, 0, 1, 1], [4, 2, 1, 2, 5]
    rng, runs = np.random.default_rng(6), 3000
    ours = Counter(tuple(keep_rows(rng, np.array(person_of), np.array(counts), 3).tolist()) for _ in range(runs))
    theirs = Counter(naive(rng, person_of, counts, 3) for _ in range(4 * runs))
    assert set(ours) == set(theirs)
    assert fit([ours[key] for key in theirs], [number / (4 * runs) for number in theirs.values()]) > SIGNIFICANT


@pytest.mark.parametrize("most", [1, 2, 3, 7, 2**40])
def test_nobody_keeps_more_than_that_nor_loses_more_than_needed(most: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(30):
        person_of, counts = rng.integers(0, 6, 20), rng.integers(1, 6, 20)
        found = keep_rows(rng, person_of, counts, most)
        assert ((found >= 0) & (found <= counts)).all()
        each = np.bincount(person_of, weights=counts, minlength=6)
        assert np.bincount(person_of, weights=found, minlength=6).tolist() == np.minimum(each, most).tolist()


def test_nobody_has_no_rows() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert len(keep_rows(np.random.default_rng(1), nobody, nobody, 3)) == 0


def test_random_words_that_are_equal_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the order of rows would decide."""
    drawn = [np.array([3, 3, 1], dtype=np.uint64), np.array([2, 1, 3], dtype=np.uint64)]
    monkeypatch.setattr(kept_rows, "words", lambda rng, number: drawn.pop(0))
    found = keep_rows(np.random.default_rng(1), np.array([0, 0, 0]), np.array([1, 1, 1]), 1)
    assert found.tolist() == [0, 1, 0]


def test_the_operating_systems_chance_is_used_without_a_seed() -> None:
    frame = pl.DataFrame({"who": [1] * 90, "age": list(range(90))})
    assert len({tuple(kept(frame, 10, seed=None)) for _ in range(5)}) == 5


def test_one_seed_one_choice_whatever_the_order_of_rows() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"who": rng.integers(0, 40, 400), "age": rng.integers(0, 90, 400)})
    first = kept(frame, 3)
    assert sum(first.values()) <= 120
    for seed in range(4):
        assert kept(frame.sample(fraction=1, shuffle=True, seed=seed), 3) == first
    assert kept(frame.select("age", "who"), 3) == first
    assert kept(frame, 3, seed=2) != first


def test_both_ways_to_find_owners_keep_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other engines group by person and tuple; the one for this machine lists the owners of each tuple."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"who": rng.integers(0, 20, 200), "age": rng.integers(0, 30, 200)})
    first = kept(frame, 2)
    monkeypatch.delattr(LocalEngine, "owned")
    assert kept(frame, 2) == first


def test_a_person_may_be_told_by_several_columns() -> None:
    frame = pl.DataFrame({"town": ["a", "a", "a", "b", "b"], "number": [1, 1, 2, 1, 1], "age": [30] * 5})
    assert kept(frame, 1, person=["town", "number"]) == {30: 3}
    frame = frame.with_columns(pl.lit("x").alias("town"))
    assert kept(frame, 1, person=["town", "number"]) == {30: 2}


def test_names_that_look_alike_are_one_person() -> None:
    frame = pl.DataFrame({"who": ["7", " 7", "7.0", "8"], "age": [30] * 4})
    assert kept(frame, 1) == {30: 2}


def test_tuples_of_which_nothing_is_kept_are_no_tuples() -> None:
    frame = pl.DataFrame({"who": [1] * 50, "age": list(range(50))})
    assert sorted(kept(frame, 1).values()) == [1]


def test_rows_that_tell_nobody_are_refused_or_left_out() -> None:
    for who in ([1, None, 2], ["1", None, "2"]):
        opened = table(pl.DataFrame({"who": who, "age": [1, 2, 3]}))
        with pytest.raises(SchemaError, match="some rows have no value there"):
            opened.engine.count_kept(opened.schema, 1, randomness(1))
        tally = opened.engine.count_kept(opened.schema, 1, randomness(1), allow_nameless=True).tally
        assert tally.rows == 2
    both = pl.DataFrame({"a": ["x", "x", None, "x"], "b": [1, 1, 1, None], "age": [1, 1, 3, 4]})
    opened = table(both, ["a", "b"])
    assert opened.engine.count_kept(opened.schema, 9, randomness(1), allow_nameless=True).tally.rows == 2
    nobody = table(pl.DataFrame({"who": [None], "age": [3]}, schema={"who": pl.Int64, "age": pl.Int64}))
    assert nobody.engine.count_kept(nobody.schema, 1, randomness(1), allow_nameless=True).tally.rows == 0


def test_a_table_without_rows_is_refused() -> None:
    opened = table(pl.DataFrame(schema={"who": pl.Int64, "age": pl.Int64}))
    with pytest.raises(EmptyTable):
        opened.engine.count_kept(opened.schema, 1, randomness(1))
