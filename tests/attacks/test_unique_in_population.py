"""Uniqueness from the sample alone: the model by its formulas, and calibration on populations that are known."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.attacks.label_forest import _BORROWED, _EVEN, row_probabilities
from incrowd.attacks.unique_in_population import UniqueInPopulation, unique_chances
from incrowd.core.groups import Regions
from incrowd.core.target import Target
from incrowd.errors import RecipeError


def naive(rows: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """The forest by its formulas, row by row."""
    n, columns = len(rows), range(len(rows[0]))
    single: list[dict[int, float]] = []
    for column in columns:
        counts = Counter(row[column] for row in rows)
        once, twice = (sum(value == times for value in counts.values()) for times in (1, 2))
        seen = len(counts) + once * (once - 1) / (2 * (twice + 1))
        tried = [{v: math.log((c - 1 + a) / (n - 1 + a * seen)) for v, c in counts.items()} for a in _EVEN]
        single.append(max(tried, key=lambda logs: round(sum(logs[row[column]] for row in rows), 9)))
    edges = []
    for i, j in combinations(columns, 2):
        pairs = Counter((row[i], row[j]) for row in rows)
        best: tuple[float, dict[tuple[int, int], float]] = (-math.inf, {})
        for borrowed in _BORROWED:
            m = borrowed * len(pairs)
            logs = {}
            for (a, b), c in pairs.items():
                apart = single[i][a] + single[j][b]
                logs[a, b] = math.log((c - 1 + m * math.exp(apart)) / (n - 1 + m)) - apart
            gain = sum(logs[row[i], row[j]] for row in rows)
            if gain > best[0] + 1e-9:
                best = gain, logs
        edges.append((best[0], i, j, best[1]))
    group = {column: {column} for column in columns}
    used = []
    for gain, i, j, logs in sorted(edges, key=lambda edge: -edge[0]):
        if gain > 0 and group[i] is not group[j]:
            both = group[i] | group[j]
            for column in both:
                group[column] = both
            used.append((i, j, logs))
    found = {}
    for row in set(rows):
        log = sum(single[column][row[column]] for column in columns)
        log += sum(logs[row[i], row[j]] for i, j, logs in used)
        found[row] = math.exp(min(log, 0.0))
    return found


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=2, max_size=30))
def test_the_forest_is_that_of_the_formulas(rows: list[tuple[int, ...]]) -> None:
    expected = naive(rows)
    counts = Counter(rows)
    found = row_probabilities(np.array(list(counts)), np.array(list(counts.values())))
    assert found == pytest.approx([expected[row] for row in counts], rel=1e-6)


@cache
def populations() -> list[tuple[str, tuple[Any, Any, Any], float]]:
    """Populations: the classes, that of each person and how many are in each; by how much the estimate may be off."""
    rng = np.random.default_rng(0)
    people = 60_000
    census = ic.datasets.census(people).select("age", "sex", "education", "marital", "race", "birth_place")
    coded = np.stack([census[name].cast(pl.String).rank("dense").to_numpy() for name in census.columns], axis=1)
    columns = [rng.choice(k, people, p=rng.dirichlet(np.ones(k))) for k in (70, 2, 10, 15, 5)]
    found = [
        ("census", coded, 0.25),
        ("independent columns", np.stack(columns, axis=1), 0.25),
        ("uniform, two columns", np.stack([rng.integers(0, 122, people) for _ in range(2)], axis=1), 0.5),
    ]
    return [
        (name, np.unique(population, axis=0, return_inverse=True, return_counts=True), off)
        for name, population, off in found
    ]


@pytest.mark.parametrize("fraction", [0.02, 0.1])
def test_calibration_on_known_populations(fraction: float) -> None:
    rng = np.random.default_rng(1)
    for name, (distinct, class_of, everybody), off in populations():
        sample = np.bincount(class_of.ravel()[rng.random(everybody.sum()) < fraction], minlength=len(distinct))
        seen = np.flatnonzero(sample)
        codes = distinct[seen].astype(np.int32)
        regions = Regions(tuple(map(str, range(codes.shape[1]))), codes, codes + 1)
        chances = unique_chances(regions, sample[seen], fraction)
        unique = (everybody[seen] == 1) & (sample[seen] == 1)
        truth, estimate = unique.sum() / sample.sum(), chances.sum() / sample.sum()
        print(f"{name}, {fraction}: truth {truth:.4f}, estimate {estimate:.4f}")
        assert estimate == pytest.approx(truth, rel=off)
        for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.01)):  # person by person, too
            some = (sample[seen] == 1) & (chances >= low) & (chances < high)
            if some.sum() >= 150:
                print(f"  said {chances[some].mean():.2f}, true {unique[some].mean():.2f} of {some.sum()}")
                assert unique[some].mean() == pytest.approx(chances[some].mean(), abs=0.16)


def test_through_files_and_next_to_counting(tmp_path: Path) -> None:
    population = ic.datasets.census(20_000)
    sample = population.sample(fraction=0.1, seed=1)
    names = ["age", "sex", "education", "birth_place"]
    table = ic.read(sample, quasi=names, sensitive=["occupation"], others="drop")
    ic.publish(table, ic.KAnonymity(1), method=ic.FullDomain()).save(tmp_path / "raw")
    raw = ic.open_release(tmp_path / "raw")
    risk = UniqueInPopulation(0.1).run(Target(raw.form), rng=np.random.default_rng(0))
    counts = Counter(population.select(names).iter_rows())
    truth = sum(counts[row] == 1 for row in sample.select(names).iter_rows()) / sample.height
    assert risk.value == pytest.approx(truth, rel=0.3)
    assert risk.got_through
    assert "an estimate" in risk.says
    ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0.1)).save(tmp_path / "safe")
    safe = UniqueInPopulation(0.1).run(Target(ic.open_release(tmp_path / "safe").form), rng=np.random.default_rng(0))
    assert (safe.value, safe.worst) == (0, 0)


def test_the_fraction_is_needed_and_may_come_from_the_model() -> None:
    table = ic.read(ic.datasets.census(300), quasi=["age", "sex"], others="drop")
    form = ic.publish(table, ic.KAnonymity(2), method=ic.FullDomain()).form
    assert "fraction" in str(UniqueInPopulation().lacks(Target(form)))
    asked = (ic.PopulationUniqueness(0.5, fraction=0.2),)
    assert UniqueInPopulation().lacks(Target(form, require=asked)) is None
    with pytest.raises(RecipeError):
        UniqueInPopulation(0.0)
    codes = np.array([[1], [2]], dtype=np.int32)
    whole = unique_chances(Regions(("a",), codes, codes + 1), np.array([1, 2]), 1.0)
    assert whole.tolist() == [1.0, 0.0]
