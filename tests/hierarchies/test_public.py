"""Trees that everybody knows: the same whatever the table holds, and refused where only the table can tell."""

from __future__ import annotations

import gc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.core.schema import Schema
from incrowd.errors import SchemaError, UncoveredValue
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Exact, Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.public import _KNOWN, UndeclaredIsMissing, public_codes, public_tree
from incrowd.methods.private import tolerant
from tests.any_text import any_text

PLACES = Categories.from_tree({"Asia": ["China", "Korea"], "America": ["Canada", "USA"]})


def test_categories_list_their_values() -> None:
    tree = public_tree("place", PLACES)
    assert tree.values.to_list() == [None, "China", "Korea", "Canada", "USA"]
    assert not tree.from_data


@pytest.mark.parametrize(
    ("intervals", "values"),
    [
        (Intervals(widths=(5, 10), lower=15, upper=19), [15, 16, 17, 18, 19]),
        (Intervals(cuts=((5,),)), [4, 5]),
        (Intervals(cuts=((1, 3, 5), (3,))), [0, 1, 2, 3, 4, 5]),
        (Intervals(cuts=((0.5, 2, 7),)), [-1.0, 0.5, 2.0, 7.0]),
        (Intervals(widths=(0.1,), lower=0.25, upper=0.7), [0.25, 0.3, 0.4, 0.5, 0.6, 0.7]),
        (Intervals(widths=(0.5,), lower=0, upper=1.5), [0.0, 0.5, 1.0, 1.5]),
        (Intervals(widths=(250_000,), lower=0, upper=500_000), [0.0, 250_000.0, 500_000.0]),
    ],
    ids=str,
)
def test_numbers_are_those_between_the_bounds(intervals: Intervals, values: list[float]) -> None:
    tree = public_tree("number", intervals)
    assert tree.values.to_list()[1:] == pytest.approx(values)
    assert not tree.from_data


def test_values_in_a_table_find_their_place_and_none_is_lost() -> None:
    intervals = Intervals(widths=(5,), lower=15, upper=40)
    public = public_tree("age", intervals)
    raw = pl.Series([-1e9, 14.99, 15.0, 15.5, 20.0, 39.9, 40.0, 1e9, None])
    tree, codes = intervals.build("age", raw)
    found = public_codes("age", tree, public)[codes]
    assert public.values.gather(found).to_list() == [15, 15, 15, 15, 20, 39, 40, 40, None]


def test_decimal_steps_are_not_put_one_too_low() -> None:
    intervals = Intervals(widths=(0.1,), lower=0, upper=1)
    public = public_tree("share", intervals)
    raw = pl.Series([0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    tree, codes = intervals.build("share", raw)
    assert public.values.gather(public_codes("share", tree, public)[codes]).to_list() == raw.to_list()


def test_a_value_has_one_code_whoever_else_is_there() -> None:
    intervals = Intervals(widths=(2,), lower=0, upper=20)
    public = public_tree("age", intervals)
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = rng.integers(-5, 30, size=rng.integers(1, 10))
        tree, codes = intervals.build("age", pl.Series(values))
        assert public_codes("age", tree, public)[codes].tolist() == (np.clip(values, 0, 20) + 1).tolist()


def test_names_keep_their_codes() -> None:
    public = public_tree("place", PLACES)
    tree, codes = PLACES.build("place", pl.Series(["USA", None, "China"]))
    assert public_codes("place", tree, public)[codes].tolist() == [4, 0, 1]
    with pytest.raises(SchemaError, match="not those of its hierarchy"):
        public_codes("place", Flat().build("place", pl.Series(["USA"]))[0], public)


def test_a_name_that_the_tree_lacks_is_refused() -> None:
    """This is told to whoever publishes; nothing is published."""
    with pytest.raises(UncoveredValue):
        PLACES.build("place", pl.Series(["Atlantis"]))


@pytest.mark.parametrize("hierarchy", [Flat(), Automatic(), Exact(), Masking(), Dates()], ids=lambda one: one.name)
def test_what_only_the_data_can_tell_is_refused(hierarchy: Hierarchy) -> None:
    with pytest.raises(SchemaError, match=r"known from the data only.*Hint: declare them"):
        public_tree("zip", hierarchy)


@pytest.mark.parametrize("intervals", [Intervals(widths=(5,)), Intervals(widths=(5,), lower=0)], ids=str)
def test_open_ends_are_refused(intervals: Intervals) -> None:
    with pytest.raises(SchemaError, match="a lower and an upper bound"):
        public_tree("age", intervals)


def test_too_many_intervals_are_refused() -> None:
    with pytest.raises(SchemaError, match="finest ones wider"):
        public_tree("x", Intervals(widths=(0.001,), lower=0, upper=1000))


def codes_of(hierarchy: Categories | Intervals, values: pl.Series) -> list[int]:
    tree, codes = UndeclaredIsMissing(hierarchy).build("column", values)
    return [int(code) for code in public_codes("column", tree, public_tree("column", hierarchy))[codes]]


def test_undeclared_names_are_missing() -> None:
    assert codes_of(PLACES, pl.Series(["USA", "Atlantis", None, "China", ""])) == [4, 0, 0, 1, 0]
    assert codes_of(PLACES, pl.Series([1, 2])) == [0, 0]


def test_numbers_beyond_the_bounds_are_the_last_ones_and_text_is_missing() -> None:
    ages = Intervals(widths=(1,), lower=0, upper=3)
    raw = pl.Series(["2", " 1.5 ", "x", None, "-7", "1e300", "inf", "nan", "9007199254740993"])
    assert codes_of(ages, raw) == [3, 2, 0, 0, 1, 4, 4, 0, 4]
    assert codes_of(ages, pl.Series([2**62, -(2**62), 1])) == [4, 1, 2]
    assert codes_of(ages, pl.Series([float("inf"), float("nan"), 0.5])) == [4, 0, 1]
    assert codes_of(ages, pl.Series([], dtype=pl.String)) == []
    assert codes_of(ages, pl.Series([None, None])) == [0, 0]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.one_of(st.none(), any_text(4), st.sampled_from(["China", "USA", "3", "-1", "2.5"])), max_size=8))
def test_no_table_is_refused_and_a_value_means_the_same_whoever_else_is_there(values: list[str | None]) -> None:
    for hierarchy in (PLACES, Intervals(widths=(0.5,), lower=0, upper=4)):
        together = codes_of(hierarchy, pl.Series(values, dtype=pl.String))
        assert together == [codes_of(hierarchy, pl.Series([value], dtype=pl.String))[0] for value in values]


def test_only_public_hierarchies_are_tolerant() -> None:
    schema = Schema(quasi={"place": PLACES, "zip": Flat()}, sensitive={"age": Intervals(widths=(5,), lower=0, upper=9)})
    found = tolerant(schema)
    assert found.quasi["place"] == UndeclaredIsMissing(PLACES)
    assert found.quasi["zip"] == Flat()
    assert isinstance(found.sensitive["age"], UndeclaredIsMissing)


def test_a_tree_is_built_once_as_long_as_its_hierarchy_is_in_use() -> None:
    def made() -> Intervals:
        return Intervals(widths=(5,), lower=0, upper=20)

    hierarchy = made()
    tree = public_tree("age", hierarchy)
    assert public_tree("age", hierarchy) is tree
    assert public_tree("pay", hierarchy) is not tree
    assert public_tree("age", made()) is not tree
    its_own = [key for key in _KNOWN if key[1] == id(hierarchy)]
    assert len(its_own) == 2
    del hierarchy
    gc.collect()
    assert not any(key in _KNOWN for key in its_own)  # its two columns are forgotten with it
    for upper in (10, 30, 50):  # another hierarchy may stand where the last one stood in memory
        assert public_tree("age", Intervals(widths=(5,), lower=0, upper=upper)).values[-1] == upper
