"""Mondrian: the lecture's example, what strict and relaxed cuts promise, and a naive Mondrian as oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.testing import naive
from tests.methods import naive_mondrian

STRICT, RELAXED = ic.Mondrian(cuts="strict"), ic.Mondrian(cuts="relaxed")
NAMES = "dacb"  # not in the order of the alphabet
Group = Counter[tuple[Any, ...]]


def search(
    frame: pl.DataFrame,
    models: Sequence[ic.Model],
    method: ic.Mondrian = STRICT,
    *,
    quasi: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> tuple[Tally, Recoding]:
    """Search a frame of quasi-identifiers; columns that `quasi` leaves out are sensitive."""
    quasi = frame.columns if quasi is None else quasi
    sensitive = [name for name in frame.columns if name not in quasi]
    table = ic.read(frame, quasi=quasi, sensitive=sensitive, hierarchies=hierarchies)
    tally = table.engine.count(table.schema).tally
    return tally, method.search(tally, table.schema, models, rng=np.random.default_rng(0), progress=silent)


def members(tally: Tally, recoding: Recoding) -> list[Group]:
    """Return how often each tuple, columns in the order of their names, is in each group, smallest tuples first."""
    values = [tally.trees[name].values.to_list() for name in tally.columns]
    groups: dict[int, Group] = {}
    for place, count, group in zip(recoding.tuples, recoding.counts, recoding.groups, strict=True):
        row = tuple(own[code] for own, code in zip(values, tally.codes[place], strict=True))
        groups.setdefault(int(group), Counter())[row] += int(count)
    return sorted(groups.values(), key=lambda group: sorted(map(repr, group)))


def groups_of(
    frame: pl.DataFrame, models: Sequence[ic.Model], method: ic.Mondrian = STRICT, **options: Any
) -> list[Group]:
    return members(*search(frame, models, method, **options))


def column(*values: Any) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series(values)})


# --- the lecture ---


def test_senellart_splits_the_zip_codes_at_the_median() -> None:
    # Either column spans all of its own range; of two columns as wide the one with more values is cut: the zip code.
    patients = ic.datasets.senellart_patients().select("zip", "age")
    assert groups_of(patients, [ic.KAnonymity(2)]) == [
        Counter({(22, 75001): 1, (29, 75002): 1}),  # Bob and Bill
        Counter({(22, 75003): 1, (28, 75010): 1}),  # Don and Sue
    ]


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ("tight", ["[75001, 75002]", "[75003, 75010]"]),  # the slide's
        ("region", ["<75003", ">=75003"]),
    ],
)
def test_senellart_by_zip_code_alone(labels: Any, shown: list[str]) -> None:
    table = ic.read(ic.datasets.senellart_patients(), quasi=["zip"], sensitive=["disease"], others="drop")
    release = ic.publish(table, ic.KAnonymity(2), method=ic.Mondrian(labels=labels))
    published = release.to_polars()
    assert published.rows() == [(shown[0], "Cold"), (shown[0], "Flu"), (shown[1], "Cold"), (shown[1], "HIV")]


# --- sizes of groups ---


@settings(max_examples=10)
@given(st.sets(st.integers(-1000, 1000), min_size=1, max_size=80), st.integers(1, 10))
def test_distinct_values_give_groups_from_k_to_2k_minus_1(values: set[int], k: int) -> None:
    if k <= len(values):
        for method in (STRICT, RELAXED):
            sizes = [group.total() for group in groups_of(column(*values), [ic.KAnonymity(k)], method)]
            assert all(k <= size <= 2 * k - 1 for size in sizes)


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from([None, "a", "b", "c"])), min_size=1, max_size=60), st.data()
)
def test_relaxed_groups_are_below_2k_unless_nothing_can_be_told_apart(rows: list[Any], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rows)))
    frame = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.String}, orient="row")
    for group in groups_of(frame, [ic.KAnonymity(k)], RELAXED):
        assert group.total() >= k
        assert group.total() < 2 * k or len(group) == 1


@settings(max_examples=10)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 6))
def test_strict_cuts_keep_equal_values_together(values: list[int], k: int) -> None:
    if k <= len(values):
        groups = groups_of(column(*values), [ic.KAnonymity(k)])
        places = [value for group in groups for value in group]
        assert len(places) == len(set(values))
        assert sum(group.total() for group in groups) == len(values)


def test_relaxed_cuts_share_out_the_median() -> None:
    assert [group.total() for group in groups_of(column(1, 5, 5, 5, 5, 9), [ic.KAnonymity(3)], STRICT)] == [6]
    assert groups_of(column(1, 5, 5, 5, 5, 9), [ic.KAnonymity(3)], RELAXED) == [
        Counter({(1,): 1, (5,): 2}),
        Counter({(5,): 2, (9,): 1}),
    ]


def test_of_two_cuts_as_near_to_the_median_the_lower_one_is_made() -> None:
    # 1 | 2 2 | 3: cuts after one and after three of the four rows are equally uneven.
    assert groups_of(column(1, 2, 2, 3), [ic.KAnonymity(1)])[0] == Counter({(1,): 1})
    assert groups_of(column(1, 2, 2, 2, 3), [ic.KAnonymity(2)]) == [Counter({(1,): 1, (2,): 3, (3,): 1})]


@pytest.mark.parametrize("method", [STRICT, RELAXED], ids=["strict", "relaxed"])
@pytest.mark.parametrize(
    ("values", "k", "groups"),
    [
        ([1, 2, 3], 2, 1),  # fewer than 2k rows
        ([1, 2, 3], 3, 1),  # k = n
        ([7], 1, 1),  # one row
        ([7, 7, 7, 7], 1, 1),  # all equal
        ([1, 2, 3, 4], 2, 2),
        ([1, 2, 3, 4], 1, 4),
    ],
)
def test_number_of_groups(method: ic.Mondrian, values: list[int], k: int, groups: int) -> None:
    assert len(groups_of(column(*values), [ic.KAnonymity(k)], method)) == groups


@settings(max_examples=10)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_in_one_column_a_larger_k_never_gives_more_groups(values: list[int]) -> None:
    # Where to cut does not depend on k, only whether: a larger k prunes the tree of cuts. With more columns a refused
    # cut is followed by one of another column, and the trees are not comparable.
    found = [len(groups_of(column(*values), [ic.KAnonymity(k)])) for k in range(1, min(len(values), 8) + 1)]
    assert all(larger <= smaller for smaller, larger in pairwise(found))


# --- what is required ---


def test_more_than_there_are_rows_is_unsatisfiable_and_says_so() -> None:
    with pytest.raises(Unsatisfiable, match=r"10-anonymity: all 4 rows together reach 4\b"):
        groups_of(column(1, 2, 3, 4), [ic.KAnonymity(10)])


def test_more_diversity_than_there_are_values_is_unsatisfiable() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "s": ["a", "b", "a", "b"]})
    with pytest.raises(Unsatisfiable, match=r"distinct 3-diversity: all 4 rows together reach 2\b"):
        groups_of(frame, [ic.KAnonymity(2), ic.LDiversity(3)], quasi=["x"])


def test_all_models_hold_in_every_group() -> None:
    # The median cut leaves {a, a} on the left: 2-anonymous, and not 2-diverse.
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "s": ["a", "a", "b", "a"]})
    assert len(groups_of(frame, [ic.KAnonymity(2)], quasi=["x"])) == 2
    assert len(groups_of(frame, [ic.KAnonymity(2), ic.LDiversity(2)], quasi=["x"])) == 1


def test_where_one_column_breaks_a_model_the_next_is_cut() -> None:
    frame = pl.DataFrame({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "s": ["a", "a", "b", "b"]})
    assert groups_of(frame, [ic.LDiversity(2)], quasi=["x", "y"]) == [
        Counter({("a", 1, 1): 1, ("b", 2, 1): 1}),
        Counter({("a", 1, 2): 1, ("b", 2, 2): 1}),
    ]


@pytest.mark.parametrize(("cuts", "labels"), [("loose", "region"), ("strict", "wide")])
def test_unknown_variants_are_refused(cuts: Any, labels: Any) -> None:
    with pytest.raises(RecipeError, match="mondrian"):
        ic.Mondrian(cuts=cuts, labels=labels)


# --- missing values ---


def test_missing_values_are_cut_off_first() -> None:
    assert groups_of(column(1, None, 2, None, 9), [ic.KAnonymity(2)]) == [
        Counter({(1,): 1, (2,): 1, (9,): 1}),
        Counter({(None,): 2}),
    ]


def test_too_few_missing_values_hide_among_the_lowest() -> None:
    frame = column(1, None, 2, 3, 9)
    assert groups_of(frame, [ic.KAnonymity(2)]) == [
        Counter({(1,): 1, (None,): 1}),
        Counter({(2,): 1, (3,): 1, (9,): 1}),
    ]
    published = ic.publish(ic.read(frame, quasi=["x"]), ic.KAnonymity(2)).to_polars()
    assert published["x"].to_list() == ["*", "*", ">=2", ">=2", ">=2"]


def test_a_column_of_nothing_but_missing_values_is_shown_as_missing() -> None:
    frame = pl.DataFrame({"x": pl.Series([None] * 4, dtype=pl.Int64), "y": [1, 2, 3, 4]})
    published = ic.publish(ic.read(frame, quasi=["x", "y"]), ic.KAnonymity(2)).to_polars()
    assert published["x"].to_list() == [None] * 4
    assert published["y"].to_list() == ["<3", "<3", ">=3", ">=3"]


# --- regions ---


def test_no_border_of_a_relaxed_cut_shows_the_largest_value() -> None:
    # The cut is made among the people of 2.5, so that their range ends where the only larger value begins.
    frame = column(0.5, 1.0, 2.5, 2.5, 2.5, 2.5, 2.6)
    published = ic.publish(ic.read(frame, quasi=["x"]), ic.KAnonymity(3), method=RELAXED).to_polars()
    assert not published["x"].str.contains("2.6", literal=True).any()


def test_ranges_of_a_relaxed_cut_overlap_in_the_median() -> None:
    table = ic.read(column(1, 1, 1, 5, 5, 9, 9, 9), quasi=["x"], hierarchies={"x": ic.Flat()})
    published = ic.publish(table, ic.KAnonymity(3), method=RELAXED).to_polars()
    assert published["x"].to_list() == ["<9"] * 4 + [">=5"] * 4


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.sampled_from("abcd")), min_size=4, max_size=60),
    st.integers(1, 4),
)
def test_strict_regions_hold_their_own_people_and_touch_no_other_group(rows: list[Any], k: int) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.Int64, "z": pl.String}, orient="row")
    tally, recoding = search(frame, [ic.KAnonymity(k)])
    for place, group in zip(recoding.tuples, recoding.groups, strict=True):
        codes = tally.codes[place]
        assert (recoding.lows[group] <= codes).all()
        assert (codes < recoding.highs[group]).all()
    for one, other in combinations(range(len(recoding.lows)), 2):
        apart = (recoding.highs[one] <= recoding.lows[other]) | (recoding.highs[other] <= recoding.lows[one])
        assert apart.any()


# --- order, size ---


def test_neither_the_order_of_rows_nor_that_of_columns_matters() -> None:
    frame = ic.datasets.census(400).select("age", "sex", "education", "race")
    for method in (STRICT, RELAXED):
        found = groups_of(frame, [ic.KAnonymity(5)], method)
        assert groups_of(frame.reverse(), [ic.KAnonymity(5)], method) == found
        assert groups_of(frame.select(frame.columns[::-1]), [ic.KAnonymity(5)], method) == found


def test_moving_or_stretching_a_column_of_numbers_changes_no_group() -> None:
    frame = ic.datasets.census(400).select("age", "salary", "sex")
    sizes = [group.total() for group in groups_of(frame, [ic.KAnonymity(5)])]
    moved = frame.with_columns(pl.col("age") * 3 + 1_000_000)
    assert [group.total() for group in groups_of(moved, [ic.KAnonymity(5)])] == sizes


def test_values_too_close_to_tell_apart_on_a_line_are_still_cut() -> None:
    # Next to infinity, or to each other at 2**60, their distance is nothing; the constant column comes first by name.
    for values in ([1.0, 1.0, float("inf"), float("inf")], [2**60, 2**60, 2**60 + 1, 2**60 + 1]):
        frame = pl.DataFrame({"a": ["same"] * 4, "b": values})
        assert [group.total() for group in groups_of(frame, [ic.KAnonymity(2)])] == [2, 2]


@pytest.mark.parametrize(
    ("method", "in_millions"),
    [
        (STRICT, [[(1, 3000)], [(2, 3000)], [(3, 2), (4, 3000)]]),
        (RELAXED, [[(1, 3000), (2, 1501)], [(2, 1499), (3, 2), (4, 3000)]]),
    ],
    ids=["strict", "relaxed"],
)
def test_rows_are_counted_not_listed(method: ic.Mondrian, in_millions: list[list[tuple[int, int]]]) -> None:
    million = 1_000_000
    counts = np.array([3000, 3000, 2, 3000]) * million
    tally, _ = code_table(pl.DataFrame({"x": [1, 2, 3, 4]}), counts, {"x": ic.Flat()})
    schema = ic.Schema.of(["x"], quasi=["x"])
    models = [ic.KAnonymity(3000 * million)]
    recoding = method.search(tally, schema, models, rng=np.random.default_rng(0), progress=silent)
    expected = [Counter({(value,): count * million for value, count in group}) for group in in_millions]
    assert members(tally, recoding) == expected


# --- the oracle ---

Draw = Callable[[random.Random, int], tuple[pl.Series, naive_mondrian.Column, Hierarchy]]


def draw_numbers(dice: random.Random, rows: int) -> tuple[pl.Series, naive_mondrian.Column, Hierarchy]:
    reach, step = dice.choice([2, 5, 30, 1000]), dice.choice([1, 0.25])
    values = with_missing(dice, [dice.randint(-reach, reach) * step for _ in range(rows)])
    return pl.Series(values, dtype=pl.Float64), naive_mondrian.numbers(values), dice.choice([ic.Flat(), ic.Automatic()])


def draw_intervals(dice: random.Random, rows: int) -> tuple[pl.Series, naive_mondrian.Column, Hierarchy]:
    values = with_missing(dice, [dice.randint(-30, 30) for _ in range(rows)])
    flat = naive_mondrian.numbers(values)
    nested = naive_mondrian.Column(
        flat.order, flat.position, lambda value: (value, value // 3, (value // 12, "wide"), "*")
    )
    return pl.Series(values, dtype=pl.Int64), nested, ic.Intervals(widths=(3, 12))


def draw_names(dice: random.Random, rows: int) -> tuple[pl.Series, naive_mondrian.Column, Hierarchy]:
    values = with_missing(dice, [f"name {dice.randint(1, 40):02}" for _ in range(rows)])
    return pl.Series(values, dtype=pl.String), naive_mondrian.names(sorted(set(values) - {None})), ic.Flat()


def draw_categories(dice: random.Random, rows: int) -> tuple[pl.Series, naive_mondrian.Column, Hierarchy]:
    leaves = [f"leaf {number:02}" for number in range(41)]
    above = {leaf: (f"twig {number // 4}", f"branch {number // 12}") for number, leaf in enumerate(leaves)}
    values = with_missing(dice, [dice.choice(leaves) for _ in range(rows)])
    tree = ic.Categories(tuple((leaf, *above[leaf]) for leaf in leaves))
    return pl.Series(values, dtype=pl.String), naive_mondrian.names(leaves, above), tree


def with_missing(dice: random.Random, values: list[Any]) -> list[Any]:
    share = dice.choice([0, 0, 0.1, 0.5])
    return [None if dice.random() < share else value for value in values]


MODELS: list[list[ic.Model]] = [
    [],
    [ic.LDiversity(2)],
    [ic.EntropyLDiversity(1.7)],
    [ic.RecursiveLDiversity(2, 2)],
    [ic.ProbabilisticLDiversity(1.5)],
]


def compare_with_oracle(tables: int, seed: int) -> int:
    """Compare groups on random tables; return how many were compared."""
    dice = random.Random(seed)
    compared = 0
    for _ in range(tables):
        rows = dice.choice([1, 5, 12, 30, 80, 200])
        drawn = {
            name: dice.choice([draw_numbers, draw_intervals, draw_names, draw_categories])(dice, rows)
            for name in NAMES[: dice.randint(1, 4)]
        }
        sensitive = pl.Series([dice.choice("xyz") for _ in range(rows)])
        frame = pl.DataFrame({**{name: series for name, (series, _, _) in drawn.items()}, "s": sensitive})
        models = [ic.KAnonymity(dice.choice([1, 2, 3, 5, 10])), *dice.choice(MODELS)]

        def safe(some: Sequence[Mapping[str, Any]], models: Sequence[ic.Model] = models) -> bool:
            group = [{"s": row["s"]} for row in some]
            return all(naive.DEFINITIONS[type(model)](model, group, group) for model in models)

        if not safe(frame.to_dicts()):
            continue
        compared += 1
        expected = naive_mondrian.partition(
            frame.to_dicts(),
            {name: column for name, (_, column, _) in drawn.items()},
            safe,
            max(model.min_group for model in models),
        )
        columns = sorted(frame.columns)
        found = groups_of(
            frame, models, quasi=list(drawn), hierarchies={name: hierarchy for name, (_, _, hierarchy) in drawn.items()}
        )
        as_counters = [Counter(tuple(row[name] for name in columns) for row in group) for group in expected]
        assert found == sorted(as_counters, key=lambda group: sorted(map(repr, group))), (frame, models, drawn)
    return compared


def test_the_same_groups_as_a_naive_mondrian() -> None:
    assert compare_with_oracle(tables=40, seed=0) > 25


@pytest.mark.slow
def test_the_same_groups_as_a_naive_mondrian_on_many_tables() -> None:
    assert compare_with_oracle(tables=80, seed=1) > 50
