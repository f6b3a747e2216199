from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.infogain_mondrian import InfoGainMondrian
from tests.methods.naive_groups import found_groups, members

Row = tuple[Any, ...]
ANIMALS = (("cat", "mammal"), ("dog", "mammal"), ("eagle", "bird"), ("owl", "bird"))


def bits(rows: Sequence[Row]) -> float:
    """Rows × entropy of their class, which is their last value."""
    return -sum(n * log2(n / len(rows)) for n in Counter(row[-1] for row in rows).values())


def partition(rows: list[Row], spans: list[int], k: int, safe: Callable[[list[Row]], bool]) -> list[list[Row]]:
    """InfoGain Mondrian once more, over rows of numbers: by gain, one cut per column, then by Mondrian's median."""
    by_gain, by_median = [], []
    for place, span in enumerate(spans):
        cuts = sorted({row[place] for row in rows})[1:]
        width = (max(row[place] for row in rows) - min(row[place] for row in rows)) / span
        proposals = []
        for cut in cuts:
            left, right = [r for r in rows if r[place] < cut], [r for r in rows if r[place] >= cut]
            if min(len(left), len(right)) >= k:
                gain = round((bits(rows) - bits(left) - bits(right)) / len(rows), 8)
                proposals.append((-gain, abs(len(left) - len(right)), cut, left, right))
        if proposals:
            best = min(proposals, key=lambda proposal: proposal[:3])
            if best[0] < 0:
                by_gain.append((best[0], -width, place, best[3], best[4]))
            middle = min(proposals, key=lambda proposal: proposal[1:3])
            by_median.append((-width, place, middle[3], middle[4]))
    ranked = [*sorted(by_gain, key=lambda cut: cut[:3]), *sorted(by_median, key=lambda cut: cut[:2])]
    for *_, left, right in ranked:
        if safe(left) and safe(right):
            return [*partition(left, spans, k, safe), *partition(right, spans, k, safe)]
    return [rows]


def numbers(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 40, rows), rng.integers(0, 12, rows)
    flu = np.where((x > 13) ^ (rng.random(rows) < 0.2), "yes", "no")
    return pl.DataFrame({"x": x, "y": y, "flu": flu})


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize(("rows", "k"), [(60, 3), (120, 7), (10, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_of_the_definition(rows: int, k: int, seed: int, diverse: bool) -> None:
    frame = numbers(rows, seed)
    table = ic.read(frame, quasi=["x", "y"], sensitive=["flu"])
    models = [ic.KAnonymity(k), *([ic.DistinctLDiversity(2)] if diverse else [])]
    spans = [int(frame[name].max() - frame[name].min()) for name in ("x", "y")]  # type: ignore[operator]

    def safe(group: list[Row]) -> bool:
        return len(group) >= k and (not diverse or len({row[-1] for row in group}) > 1)

    expected = partition(list(frame.iter_rows()), spans, k, safe)
    found = found_groups(table, InfoGainMondrian("flu"), models)
    assert found == Counter(frozenset(Counter(row[:-1] for row in group).items()) for group in expected)


def test_the_cut_is_where_the_class_changes() -> None:
    frame = pl.DataFrame({"x": range(1, 9), "flu": ["yes"] * 2 + ["no"] * 6})
    table = ic.read(frame, quasi=["x"], sensitive=["flu"])
    release = ic.publish(table, ic.KAnonymity(2), method=InfoGainMondrian("flu", labels="tight"))
    # 2|3 gains 0.811 bits, all there is; the rest is of one class and cut at its median
    assert Counter(release.to_polars()["x"]) == {"[1, 2]": 2, "[3, 5]": 3, "[6, 8]": 3}


def test_the_column_is_the_one_that_tells_most() -> None:
    frame = pl.DataFrame({"far": range(0, 80, 10), "near": [4, 5] * 4, "flu": ["yes", "no"] * 4})
    table = ic.read(frame, quasi=["far", "near"], sensitive=["flu"])
    shown = ic.publish(table, ic.KAnonymity(4), method=InfoGainMondrian("flu", labels="tight")).to_polars()
    assert Counter(shown["near"]) == {"4": 4, "5": 4}
    assert Counter(shown["far"]) == {"[0, 60]": 4, "[10, 70]": 4}
    # For far itself, either column is worth one bit: of columns as wide, the first by name is cut.
    other = ic.publish(table, ic.KAnonymity(4), method=InfoGainMondrian("far", labels="tight")).to_polars()
    assert Counter(other["far"]) == {"[0, 30]": 4, "[40, 70]": 4}


def test_branches_come_before_what_is_inside_them() -> None:
    # Between cats and all others tells most, and would leave 4 and 8; but it is inside the mammals.
    names = ["cat"] * 4 + ["dog"] * 3 + ["eagle"] * 2 + ["owl"] * 3
    frame = pl.DataFrame({"animal": names, "flu": ["yes"] * 4 + ["no"] * 8})
    table = ic.read(frame, quasi=["animal"], sensitive=["flu"], hierarchies={"animal": ic.Categories(ANIMALS)})
    shown = ic.publish(table, ic.KAnonymity(4), method=InfoGainMondrian("flu", labels="hierarchy")).to_polars()
    assert Counter(shown["animal"]) == {"mammal": 7, "bird": 5}
    # Where branches will not do, because one is too small, the cut may be inside.
    frame = pl.DataFrame({"animal": ["cat"] * 3 + ["dog"] * 4 + ["owl"], "flu": ["yes"] * 3 + ["no"] * 5})
    table = ic.read(frame, quasi=["animal"], sensitive=["flu"], hierarchies={"animal": ic.Categories(ANIMALS)})
    shown = ic.publish(table, ic.KAnonymity(3), method=InfoGainMondrian("flu", labels="hierarchy")).to_polars()
    assert Counter(shown["animal"]) == {"cat": 3, "*": 5}


@pytest.mark.parametrize("labels", ["region", "hierarchy", "tight"])
@pytest.mark.parametrize("target", [None, "flu", "animal"])
def test_published_groups_satisfy_the_models(labels: Any, target: str | None) -> None:
    rng = np.random.default_rng(7)
    frame = numbers(200, 7).with_columns(
        x=pl.when(pl.int_range(200) % 11 == 0).then(None).otherwise("x"),
        animal=pl.Series(rng.choice([*(row[0] for row in ANIMALS)], 200)),
    )
    quasi = ["x", "y", "animal"]
    table = ic.read(frame, quasi=quasi, sensitive=["flu"], hierarchies={"animal": ic.Categories(ANIMALS)})
    models = [ic.KAnonymity(4), ic.DistinctLDiversity(2)]
    release = ic.publish(table, models, method=InfoGainMondrian(target, labels=labels))
    groups = members(release, quasi)
    assert release.rows == 200 == sum(map(len, groups.values()))
    assert all(len(rows) >= 4 and len({row["flu"] for row in rows}) == 2 for rows in groups.values())
    assert len(groups) > 10


def test_order_of_rows_and_columns_says_nothing() -> None:
    frame = numbers(80, 4)
    first = ic.publish(ic.read(frame, quasi=["x", "y"], sensitive=["flu"]), ic.KAnonymity(3), method=InfoGainMondrian())
    turned = frame.sample(fraction=1, shuffle=True, seed=2).select("flu", "y", "x")
    table = ic.read(turned, quasi=["y", "x"], sensitive=["flu"])
    second = ic.publish(table, ic.KAnonymity(3), method=InfoGainMondrian())
    columns = ["x", "y", "flu"]
    assert first.to_polars().select(columns).sort(columns).equals(second.to_polars().select(columns).sort(columns))


@pytest.mark.parametrize(
    ("values", "k", "expected"),
    [
        ([7], 1, {"7": 1}),  # one row
        ([1, 2, 3], 3, {"[1, 3]": 3}),  # k = n
        ([5] * 6, 3, {"5": 6}),  # all equal
        ([None, None, 1, 2], 2, {None: 2, "[1, 2]": 2}),  # missing is a value
        ([None, 1, 2], 2, {"*": 3}),  # missing beside values
    ],
)
def test_small_tables(values: list[int | None], k: int, expected: dict[str | None, int]) -> None:
    flu = ["yes" if value == 1 else "no" for value in values]
    table = ic.read(pl.DataFrame({"x": values, "flu": flu}), quasi=["x"], sensitive=["flu"])
    release = ic.publish(table, ic.KAnonymity(k), method=InfoGainMondrian("flu", labels="tight"))
    assert Counter(release.to_polars()["x"]) == expected


def test_of_one_class_it_is_mondrian() -> None:
    frame = numbers(100, 5).select("x", "y")
    table = ic.read(frame, quasi=["x", "y"])
    gain = ic.publish(table, ic.KAnonymity(4), method=InfoGainMondrian()).to_polars()
    assert gain.equals(ic.publish(table, ic.KAnonymity(4), method=ic.Mondrian()).to_polars())


def test_far_apart_codes_are_sorted_too() -> None:
    """A small box in a column of many values is not counted code by code."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": rng.permutation(5000), "flu": rng.choice(["yes", "no"], 5000)})
    table = ic.read(frame, quasi=["x"], sensitive=["flu"])
    groups = found_groups(table, InfoGainMondrian("flu"), [ic.KAnonymity(2)])
    runs = sorted(sorted(value for (value,), _ in group) for group in groups)
    assert [value for run in runs for value in run] == list(range(5000))  # neighbours, and nobody is lost
    assert max(map(len, runs)) == 3


def test_too_few_rows() -> None:
    table = ic.read(numbers(10, 0), quasi=["x", "y"], sensitive=["flu"])
    with pytest.raises(Unsatisfiable, match="all 10 rows together reach 10"):
        ic.publish(table, ic.KAnonymity(11), method=InfoGainMondrian())


def test_wrong_parameters() -> None:
    with pytest.raises(RecipeError, match="labels is"):
        InfoGainMondrian("flu", labels="wide")  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match="target is a column's name"):
        InfoGainMondrian(3)  # type: ignore[arg-type]
    table = ic.read(numbers(10, 0), quasi=["x", "y"], sensitive=["flu"])
    with pytest.raises(SchemaError, match=r"target 'flue' is not .* did you mean 'flu'"):
        ic.publish(table, ic.KAnonymity(2), method=InfoGainMondrian("flue"))


@pytest.mark.adult
def test_groups_of_adult_tell_more_about_income_than_mondrians(adult: Path) -> None:
    frame = pl.read_csv(adult / "adult.csv", infer_schema=False).head(6000)
    quasi = ["age", "sex", "marital-status", "education", "occupation"]
    table = ic.read(frame, quasi=quasi, sensitive=["income"], others="drop")
    unknown = {}
    for method in (ic.Mondrian(), InfoGainMondrian("income")):
        groups = members(ic.publish(table, ic.KAnonymity(20), method=method), quasi)
        assert min(map(len, groups.values())) >= 20
        unknown[method.name] = sum(bits([(row["income"],) for row in rows]) for rows in groups.values()) / 6000
    assert unknown["infogain-mondrian"] < unknown["mondrian"] - 0.03
