"""Counting questions: the estimate equals the one worked out row by row."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core import query as query_module
from incrowd.core.query import matching_codes, spelled_alone
from incrowd.errors import QueryError
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.values import spelled, spelling_of, spellings_of

CHECKED = settings(deadline=None, derandomize=True, database=None, max_examples=10)

tables = st.lists(
    st.tuples(
        st.none() | st.integers(18, 40), st.sampled_from(["F", "M", None]), st.sampled_from(["flu", "hiv", "ok", None])
    ),
    min_size=4,
    max_size=40,
).map(lambda rows: pl.DataFrame(rows, schema={"age": pl.Int64, "sex": pl.String, "ill": pl.String}, orient="row"))
ages = st.none() | st.integers(15, 42)
conditions = st.fixed_dictionaries(
    {},
    optional={
        "age": ages | st.lists(ages, max_size=4) | st.sets(ages, max_size=4) | st.tuples(ages, ages),
        "sex": st.sampled_from(["F", "M", "X", None, ["F", None], {"M", "F"}]),
        "ill": st.sampled_from(["flu", None, ["flu", "hiv"], []]),
    },
)


def published(table: pl.DataFrame) -> ic.Release:
    return ic.publish(ic.read(table, quasi=["age", "sex"], sensitive=["ill"]), ic.KAnonymity(2))


def satisfies(value: Any, condition: Any) -> bool:
    if isinstance(condition, tuple):
        low, high = condition
        return value is not None and (low is None or value >= low) and (high is None or value <= high)
    return value in condition if isinstance(condition, (list, set)) else value == condition


def asks_for_others(table: pl.DataFrame, query: dict[str, Any]) -> bool:
    """Whether a question names a value that nobody has, in a column of names."""
    asked = {name: query[name] if isinstance(query[name], (list, set)) else [query[name]] for name in query}
    named = ((name, value) for name in ("sex", "ill") for value in asked.get(name, []))
    return any(value is not None and value not in table[name].to_list() for name, value in named)


def naive_count(release: ic.Release, query: dict[str, Any]) -> float:
    """Spread each published row evenly over the values that its label may stand for."""
    form, total = release.form, 0.0
    for group, (ill_code,), rows in zip(form.groups, form.sensitive, form.counts, strict=True):
        weight = float(rows)
        for name, condition in query.items():
            values = form.tally.trees[name].values.to_list()
            if name == "ill":
                weight *= satisfies(values[ill_code], condition)
                continue
            place = form.shown.columns.index(name)
            held = values[form.shown.lows[group, place] : form.shown.highs[group, place]]
            weight *= sum(satisfies(value, condition) for value in held) / len(held)
        total += weight
    return total


@CHECKED
@given(tables, conditions)
def test_a_count_equals_the_naive_one(table: pl.DataFrame, query: dict[str, Any]) -> None:
    release = published(table)
    if asks_for_others(table, query):
        with pytest.raises(QueryError, match="has no value"):
            release.form.count(query)
        return
    assert release.form.count(query) == pytest.approx(naive_count(release, query))


@CHECKED
@given(tables, conditions, st.integers(18, 40))
def test_counts_add_up(table: pl.DataFrame, query: dict[str, Any], age: int) -> None:
    release = published(table).form
    rest = {name: condition for name, condition in query.items() if name != "age"}
    assume(not asks_for_others(table, rest))
    young, old, unknown = ({**rest, "age": condition} for condition in ((None, age), (age + 1, None), None))
    assert sum(map(release.count, (young, old, unknown))) == pytest.approx(release.count(rest))
    one_by_one = sum(release.count({**rest, "age": value}) for value in {*range(18, 41), None})
    assert one_by_one == pytest.approx(release.count(rest))


@CHECKED
@given(tables)
def test_everything_is_every_row(table: pl.DataFrame) -> None:
    release = published(table)
    assert release.count({}) == release.rows == table.height
    for ill in ("flu", "hiv", "ok", None):  # sensitive values are published as they are
        there = table["ill"].to_list().count(ill)
        if there or ill is None:
            assert release.count({"ill": ill}) == there
        else:
            with pytest.raises(QueryError, match=f"no value '{ill}'"):
                release.count({"ill": ill})


def test_a_group_s_members_are_spread_evenly_over_its_values() -> None:
    table = pl.DataFrame({"age": [20, 21, 22, 23], "sex": ["F"] * 4, "ill": ["flu", "flu", "ok", "ok"]})
    ranges = {"age": ic.Intervals(widths=(4,))}
    read = ic.read(table, quasi=["age", "sex"], sensitive=["ill"], hierarchies=ranges)
    release = ic.publish(read, ic.KAnonymity(4), method=ic.FullDomain())
    assert set(release.to_polars()["age"]) == {"[20, 24)"}
    assert release.count({"age": 20}) == 1.0
    assert release.count({"age": (20, 21), "ill": "flu"}) == 1.0  # two of four values, two rows with flu
    assert release.count({"age": [19, 20, 22]}) == 2.0
    assert release.count({"sex": "F"}) == 4.0
    with pytest.raises(QueryError, match="no value 'M'"):
        release.count({"sex": "M"})


def chosen(values: Any, condition: Any, hierarchy: Any = None) -> list[Any]:
    tree, _ = (hierarchy or ic.Flat()).build("x", values if isinstance(values, pl.Series) else pl.Series(values))
    matches = matching_codes("x", tree, condition)
    return [value for value, match in zip(tree.values.to_list(), matches, strict=True) if match]


@pytest.mark.parametrize(
    ("values", "condition", "found"),
    [
        ([1, 2, 3, None], (2, None), [2, 3]),
        ([1, 2, 3, None], ("2", None), [2, 3]),
        ([1, 2, 3, None], (None, None), [1, 2, 3]),
        ([1, 2, 3, None], (1.5, 2.5), [2]),
        ([1, 2, 3, None], None, [None]),
        ([1, 2, 3, None], [None, 3], [None, 3]),
        ([1, 2, 3], range(2, 9), [2, 3]),
        ([1, 2, 3], "2", [2]),
        ([1.0, 2.5], 1, [1.0]),
        (["39", "39.0", "40"], 39, [39.0]),
        ([True, False], True, ["true"]),
        ([2**53, 2**53 + 1, 2**53 + 2], (2**53 + 1, None), [2**53 + 1, 2**53 + 2]),  # beyond what floats tell apart
        ([date(1969, 1, 1), date(1971, 1, 1)], (None, date(1970, 1, 1)), [date(1969, 1, 1)]),
        ([date(1969, 1, 1), date(1971, 1, 1)], ("1970-01-01", None), [date(1971, 1, 1)]),
        ([date(1969, 1, 1), date(1971, 1, 1)], date(1971, 1, 1), [date(1971, 1, 1)]),
        ([1, 2, 3, None], (1, 2), [1, 2]),
        ([0, 2, None], (-1, 1), [0]),  # and not what is missing
        ([2**53, 2**53 + 1], (2**53, 2**53), [2**53]),
        ([1, 2], (-(2**70), 2**70), [1, 2]),
        ([-0.5, 0.0, 1.5, None], (-0.0, 1.5), [0.0, 1.5]),
        ([0.5, 1.5], (1, 2), [1.5]),
        ([0.5, 1.5], (1.0, float("inf")), [1.5]),
        ([date(1969, 1, 1), date(1971, 1, 1), None], (date(1969, 1, 1), date(1970, 1, 1)), [date(1969, 1, 1)]),
        ([datetime(1969, 1, 1, 5), datetime(1971, 1, 1)], (date(1970, 1, 1), None), [datetime(1971, 1, 1)]),
    ],
)
def test_conditions(values: list, condition: Any, found: list) -> None:
    assert chosen(values, condition) == found


@CHECKED
@given(
    value=st.floats(allow_nan=False)
    | st.floats(-1e16, 1e16)
    | st.integers(-(2**60), 2**60)
    | st.dates(date(1000, 1, 1))
    | st.sampled_from([0.0, -0.0, 0.001, 0.00099, 1e15, 1e15 - 0.125, 123456789.123456, True, "5", " 5.0", "05", "a"])
)
def test_one_value_is_spelled_as_many_are(value: Any) -> None:
    assert spelled_alone(value) == spelled(pl.Series([value]))[0]
    text = str(value)
    assert spellings_of([text]) == spelling_of(pl.Series([text, "1"]))[:1].to_list()


@CHECKED
@given(
    values=st.lists(st.integers(-9, 9), min_size=1)
    | st.lists(st.floats(-2, 2, width=16), min_size=1)
    | st.lists(st.dates(date(1969, 12, 25), date(1970, 1, 5)), min_size=1),
    data=st.data(),
)
def test_ranges_are_those_that_the_longer_way_finds(values: list, data: st.DataObject) -> None:
    bounds = tuple(data.draw(st.tuples(*[st.sampled_from(values)] * 2)))
    quick = chosen([*values, None], bounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_module, "_quick_bound", lambda *_: None)
        assert chosen([*values, None], bounds) == quick
    assert quick == sorted({value for value in values if bounds[0] <= value <= bounds[1]})


def test_conditions_on_sensitive_columns_that_keep_their_type() -> None:
    money = [Decimal("1.10"), Decimal("2.00")]
    assert chosen(money, 1.1, Exact()) == [Decimal("1.10")]
    assert chosen(money, (1.5, 3), Exact()) == [Decimal("2.00")]
    assert chosen(["5", "7.50"], (6, None), Exact()) == ["7.50"]
    assert chosen(["1969-01-01", "1971-01-01"], (date(1970, 1, 1), None), Exact()) == ["1971-01-01"]
    milliseconds = pl.Series([datetime(1971, 1, 1)]).cast(pl.Datetime("ms"))
    assert chosen(milliseconds, datetime(1971, 1, 1), Exact()) == [datetime(1971, 1, 1)]


@pytest.mark.parametrize(
    ("values", "condition", "message"),
    [
        ([1, 2], (1, 2, 3), r"column 'x': a range is a pair \(low, high\)"),
        ([1, 2], ("young", None), r"bounds are not of the column's kind \(number\)"),
        ([1, 2], (date(1970, 1, 1), None), r"bounds are not of the column's kind \(number\)"),
        ([date(1970, 1, 1)], (5, None), r"bounds are not of the column's kind \(date\)"),
        (["a", "b"], ("a", None), r"column 'x' holds names.  Hint: ask with a list|column 'x' holds names: a range"),
        ([True], (0, 1), "column 'x' holds names"),
        ([1, 2], [[1]], "a condition is a value, a list of values, or a pair of bounds"),
        ([1, 2], object(), "a condition is a value"),
    ],
)
def test_conditions_without_a_meaning(values: list, condition: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        chosen(values, condition)


def test_an_unknown_column_is_told_with_a_hint() -> None:
    release = published(pl.DataFrame({"age": [1, 1], "sex": ["F", "F"], "ill": ["a", "b"]}))
    with pytest.raises(QueryError, match=r"'agee' is not a quasi-identifier or sensitive column.*did you mean 'age'"):
        release.count({"agee": 1})
