"""What a mean tells beside its label: who can be in the group, and nothing of one person alone."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.forms.stand_ins import narrowed_by_mean
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Flat


@settings(max_examples=10, deadline=None)
@given(
    values=st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True),
    chosen=st.lists(st.integers(0, 40), min_size=2, max_size=4),
)
def test_nobody_is_ruled_out_who_could_be_in_the_group_and_others_are(values: list[int], chosen: list[int]) -> None:
    every = sorted({*values, *chosen})
    tree = Automatic().build("age", pl.Series(every))[0]
    low, high = every.index(min(chosen)) + 1, every.index(max(chosen)) + 2
    mean, size = sum(chosen) / len(chosen), len(chosen)
    lows, highs = narrowed_by_mean(
        tree, np.array([low], np.int32), np.array([high], np.int32), np.array([size]), pl.Series([mean])
    )
    between = every[low - 1 : high - 1]
    # Everybody who is in any group of so many with this mean, the others being anywhere from end to end.
    possible = {
        value
        for value in between
        if between[0] * (size - 1) - 1e-9 <= mean * size - value <= between[-1] * (size - 1) + 1e-9
    }
    assert set(every[int(lows[0]) - 1 : int(highs[0]) - 1]) == possible
    assert set(chosen) <= possible


def test_days_are_rounded_and_missing_is_left_alone() -> None:
    days = [date(1950, 1, 1) + timedelta(days=100 * place) for place in range(20)]
    tree = Flat().build("born", pl.Series(days))[0]
    mean = pl.Series([days[1]])
    lows, highs, sizes = np.array([1], np.int32), np.array([21], np.int32), np.array([3])
    low, high = narrowed_by_mean(tree, lows, highs, sizes, mean)
    assert (int(low[0]), int(high[0])) == (1, 5)  # 3 × 100 days at most, from the first one on
    nothing = pl.Series([None], dtype=pl.Date)
    assert narrowed_by_mean(tree, lows, highs, sizes, nothing)[1].tolist() == [21]
    assert narrowed_by_mean(tree, np.array([0], np.int32), highs, sizes, mean)[1].tolist() == [21]


SKEWED = pl.DataFrame(
    {
        "age": [20, 20, 20, 20, 39, 60, 61, 62, 63, 79],
        "sex": ["F"] * 10,
        "ill": ["flu", "cold"] * 5,
    }
)


def shown(frame: pl.DataFrame, models: Any, show: Any, **more: Any) -> Any:
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], **more)
    return ic.publish(table, models, method=ic.Mondrian(), show=show, seed=1)


def test_an_adversary_who_sees_the_mean_knows_more_than_the_label_says(tmp_path: Path) -> None:
    frame = SKEWED.with_columns(pl.Series("age", [20, 20, 20, 20, 21, 60, 61, 62, 63, 79]))
    by_label, by_mean = shown(frame, ic.KAnonymity(5), "label"), shown(frame, ic.KAnonymity(5), "mean")
    widths = [
        (release.form.group_regions().highs - release.form.group_regions().lows)[:, 0].sum()
        for release in (by_label, by_mean)
    ]
    assert widths[1] <= widths[0]
    by_mean.save(tmp_path / "r", format="csv")
    opened = ic.open_release(tmp_path / "r", original=frame)
    assert (opened.form.group_regions().lows == by_mean.form.group_regions().lows).all()
    assert (opened.form.group_regions().highs == by_mean.form.group_regions().highs).all()


def test_a_population_is_counted_beside_the_mean() -> None:
    """Everybody from 20 to 39 fits the label; at a mean of 20.2, who is older than 21 cannot be one of five."""
    people = pl.DataFrame({"age": [20] * 4 + [30] * 20 + [60] * 40, "sex": ["F"] * 64})
    frame = pl.DataFrame({"age": [20] * 4 + [30] + [60] * 5, "sex": ["F"] * 10, "ill": ["flu", "cold"] * 5})
    label, mean = (shown(frame, ic.KAnonymity(5), show, population=people) for show in ("label", "mean"))
    found = []
    for release in (label, mean):
        groups, known = release.form.group_regions(), release.form.tally.population
        codes = known.codes[:, known.columns.index("age")].repeat(known.counts)
        runs = zip(groups.lows[:, 0], groups.highs[:, 0], strict=True)
        found.append(min(sum(low <= code < high for code in codes) for low, high in runs))
    assert found[1] <= found[0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_mean_of_one_or_two_among_more_is_not_shown(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [37, None, None, None, None, 60, 61, 62, 63, 79],
            "sex": ["F"] * 5 + ["M"] * 5,
            "ill": ["flu", "cold"] * 5,
        }
    )
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies={"sex": ic.Flat()})
    release = ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0), show="mean", seed=1)
    release.save(tmp_path / "r", format=kind)
    for found in (release.to_polars(), ic.open_release(tmp_path / "r").to_polars()):
        ages = found.filter(pl.col("sex") == "F")["age"].unique().to_list()
        assert ages != [37.0], "the age of the only woman whose age is known"
    assert release.guarantees[0].achieved >= 5


def means_in_plain_python(frame: pl.DataFrame, release: Any) -> None:
    """Every mean that is shown is that of three people or more, or of a whole group."""
    rows = release.to_polars()
    sizes = dict(rows.group_by("age").len().iter_rows())
    ages = [age for age in frame["age"].to_list() if age is not None]
    for value, number in sizes.items():
        if value is None:
            continue
        alone = any(abs(value - age) < 1e-9 for age in ages)
        pairs = any(abs(value - (one + two) / 2) < 1e-9 for one, two in product(ages, ages))
        assert number >= 3 or alone or pairs


def test_warnings_tell_the_smallest_group() -> None:
    release = shown(SKEWED, ic.KAnonymity(5), "mean")
    means_in_plain_python(SKEWED, release)
    assert any("The smallest group has 5 rows" in warning for warning in release.warnings)
