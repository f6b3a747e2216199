from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.methods.local_suppression import SUPPRESSED, LocalSuppression


def opened(frame: pl.DataFrame, quasi: tuple[str, ...] = ("a", "b", "c")) -> Any:
    return ic.read(frame, quasi=quasi, sensitive=["ill"])


def people(rows: int, seed: int, columns: str = "abc", values: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    made = {name: rng.integers(0, values, rows).tolist() for name in columns}
    return pl.DataFrame({**made, "ill": [["flu", "cold", "gout"][row % 3] for row in range(rows)]})


def fewest(rows: list[tuple[int, ...]], k: int, costs: tuple[float, ...]) -> float:
    """Return the least cost of suppressed cells by trying all ways, with `*` as a value of its own."""
    ways = list(product([False, True], repeat=len(costs)))
    best = len(rows) * sum(costs)
    for chosen in product(ways, repeat=len(rows)):
        cost = sum(c for way in chosen for c, gone in zip(costs, way, strict=True) if gone)
        if cost < best:
            shown = Counter(
                tuple("*" if gone else value for value, gone in zip(row, way, strict=True))
                for row, way in zip(rows, chosen, strict=True)
            )
            if min(shown.values()) >= k:
                best = cost
    return best


@pytest.mark.parametrize("seed", range(12))
def test_few_cells_are_suppressed_next_to_the_fewest_possible(seed: int) -> None:
    frame = people(6, seed, "ab")
    release = ic.publish(opened(frame, ("a", "b")), ic.KAnonymity(2), method=LocalSuppression())
    cells = sum(value == "*" for row in release.to_polars().select("a", "b").rows() for value in row)
    best = fewest(frame.select("a", "b").rows(), 2, (1, 1))
    assert best <= cells <= max(2 * best, best + 3)
    assert release.summary["method tells"][SUPPRESSED] == cells


@pytest.mark.parametrize("models", [[ic.KAnonymity(3)], [ic.KAnonymity(2), ic.DistinctLDiversity(2)]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_groups_with_star_as_a_value_of_its_own_satisfy_the_models(models: Any, seed: int, tmp_path: Path) -> None:
    frame = people(80, seed)
    release = ic.publish(opened(frame), models, method=LocalSuppression())
    rows = release.to_polars()
    groups = rows.group_by("a", "b", "c").agg(pl.len(), pl.col("ill").n_unique().alias("l"))
    assert groups["len"].min() >= models[0].k
    if len(models) > 1:
        assert groups["l"].min() >= 2
    shown = {name: set(rows[name]) for name in "abc"}
    assert all(values <= {"0", "1", "2", "*"} for values in shown.values())
    release.save(tmp_path / "r", format="csv")
    assert ic.check(tmp_path / "r").k == groups["len"].min()


def test_important_columns_are_suppressed_less() -> None:
    frame = people(60, 3, values=4)
    counts = []
    for important in "abc":
        method = LocalSuppression(importance={important: 50.0})
        rows = ic.publish(opened(frame), ic.KAnonymity(4), method=method).to_polars()
        counts.append(((rows[important] == "*").sum(), sum((rows[name] == "*").sum() for name in "abc") / 3))
    assert all(own < mean for own, mean in counts)


def test_edges() -> None:
    one = pl.DataFrame({"a": [1], "b": [2], "c": [None], "ill": ["x"]}, schema_overrides={"c": pl.Int64})
    assert ic.publish(opened(one), ic.KAnonymity(1), method=LocalSuppression()).rows == 1
    with pytest.raises(Unsatisfiable):
        ic.publish(opened(one), ic.KAnonymity(2), method=LocalSuppression())
    same = pl.concat([one] * 5)
    rows = ic.publish(opened(same), ic.KAnonymity(5), method=LocalSuppression()).to_polars()
    assert rows["a"].to_list() == ["1"] * 5
    assert rows["c"].to_list() == [None] * 5  # missing is a value like any other
    half = ic.publish(opened(people(30, 1, values=9)), ic.KAnonymity(3), method=LocalSuppression(max_withheld=0.5))
    assert half.withheld <= 15
    for wrong in ({"importance": {"a": 0}}, {"max_withheld": 2}):
        with pytest.raises(RecipeError):
            LocalSuppression(**wrong)
