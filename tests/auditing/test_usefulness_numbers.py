"""What a release is still good for, against naive computations."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import incrowd as ic
from incrowd.core.families import registered
from incrowd.forms.spreading import expected_counts, expected_pairs
from incrowd.hierarchies.automatic import Automatic
from incrowd.metrics.association_kept import AssociationKept
from incrowd.metrics.distributions import association, column_distances, distances
from incrowd.metrics.expected_tables import ExpectedTables
from incrowd.metrics.total_variation import PairwiseTotalVariation, TotalVariation
from tests.auditing.audit_cases import inhabitants, opened

HISTOGRAMS = st.integers(1, 8).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 9), min_size=size, max_size=size) for _ in range(2)))
)


@given(HISTOGRAMS)
def test_distances_are_their_definitions(pair: tuple[list[int], list[int]]) -> None:
    before, after = pair
    found = distances(np.array(before, dtype=np.float64), np.array(after, dtype=np.float64))
    if not sum(before) or not sum(after):
        return
    p = [count / sum(before) for count in before]
    q = [count / sum(after) for count in after]
    assert found.total_variation == pytest.approx(sum(abs(x - y) for x, y in zip(p, q, strict=True)) / 2)
    affinity = sum(math.sqrt(x * y) for x, y in zip(p, q, strict=True))
    assert found.hellinger == pytest.approx(math.sqrt(max(1 - affinity, 0)), abs=1e-7)
    there = [index for index in range(len(p)) if before[index] or after[index]]
    smoothed = [after[index] + 0.5 if index in there else 0.0 for index in range(len(p))]
    kl = sum(p[index] * math.log(p[index] / (smoothed[index] / sum(smoothed))) for index in there if p[index])
    assert found.kl == pytest.approx(kl, abs=1e-9)


@given(st.lists(st.integers(-20, 40), min_size=2, max_size=40), st.lists(st.integers(0, 39), min_size=1, max_size=40))
def test_wasserstein_is_that_of_scipy_over_the_span(values: list[int], chosen: list[int]) -> None:
    tree, codes = Automatic().build("c", pl.Series([*values, None]))
    other = codes[:-1][[place % len(values) for place in chosen]]
    before, after = (np.bincount(each, minlength=tree.size).astype(np.float64) for each in (codes, other))
    found = column_distances(before, after, tree).wasserstein
    span = max(values) - min(values)
    if not span:
        assert found is None
        return
    expected = wasserstein_distance(values, [values[place % len(values)] for place in chosen]) / span
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=0, max_size=60))
def test_association_is_the_corrected_v_by_its_formula(pairs: list[tuple[int, int]]) -> None:
    joint = np.zeros((4, 5))
    for one, two in pairs:
        joint[one, two] += 1
    assert association(joint) == pytest.approx(_naive_association(pairs), abs=1e-9)


def test_association_at_its_ends() -> None:
    assert association(np.diag([50.0, 50.0, 50.0])) == pytest.approx(1.0)
    assert association(np.full((3, 3), 20.0)) == 0.0
    assert association(np.zeros((0, 0))) == 0.0
    assert association(np.array([[5.0, 7.0]])) == 0.0


def _naive_association(pairs: Sequence[tuple[int, int]]) -> float:
    number = len(pairs)
    ones, twos = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    if min(len(ones), len(twos)) < 2 or number <= 1:
        return 0.0
    both = Counter(pairs)
    chi2 = sum(
        (both[one, two] - ones[one] * twos[two] / number) ** 2 / (ones[one] * twos[two] / number)
        for one in ones
        for two in twos
    )
    phi2 = max(0.0, chi2 / number - (len(ones) - 1) * (len(twos) - 1) / (number - 1))
    rows = len(ones) - (len(ones) - 1) ** 2 / (number - 1)
    columns = len(twos) - (len(twos) - 1) ** 2 / (number - 1)
    if phi2 < 1e-9 or min(rows, columns) - 1 < 1e-9:
        return 0.0
    return min(math.sqrt(phi2 / (min(rows, columns) - 1)), 1.0)


@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Mondrian(labels="tight"), ic.FullDomain()], ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_labels_are_spread_over_what_they_may_stand_for(method: Any, missing: bool) -> None:
    release = ic.publish(opened(inhabitants(120, missing=missing)), ic.KAnonymity(4), method=method, seed=0)
    form, truth = release.generalized, release.form.tally
    columns: dict[str, dict[int, float]] = {name: defaultdict(float) for name in ("age", "town", "ill")}
    joint: dict[tuple[int, int], float] = defaultdict(float)
    for line, count in enumerate(form.counts.tolist()):
        group = form.groups[line]
        runs = {}
        for name in ("age", "town"):
            place = form.shown.columns.index(name)
            low, high = int(form.shown.lows[group, place]), int(form.shown.highs[group, place])
            if form.shown.labels[name][int(group)] == "*":
                low, high = 0 if truth.value_counts(name)[0] else 1, truth.trees[name].size
            runs[name] = range(low, high)
        runs["ill"] = range(form.sensitive[line, 0], form.sensitive[line, 0] + 1)
        for name, run in runs.items():
            for code in run:
                columns[name][code] += count / len(run)
        for one in runs["age"]:
            for two in runs["town"]:
                joint[one, two] += count / len(runs["age"]) / len(runs["town"])
    for name, counts in columns.items():
        expected = [counts[code] for code in range(truth.trees[name].size)]
        assert expected_counts(truth, form, name) == pytest.approx(expected, abs=1e-9)
    matrix = expected_pairs(truth, form, "age", "town")
    expected_matrix = [[joint[one, two] for two in range(matrix.shape[1])] for one in range(matrix.shape[0])]
    assert matrix == pytest.approx(np.array(expected_matrix), abs=1e-6)
    seen = ExpectedTables.of(truth, form, np.random.default_rng(0))
    assert seen.pair("town", "age") == pytest.approx(matrix.T, abs=1e-6)
    assert seen.column("age").sum() == pytest.approx(form.rows)


def test_metrics_are_registered_and_agree_with_the_audit() -> None:
    assert {"total-variation", "pairwise-total-variation", "association-kept"} <= set(registered("metrics"))
    release = ic.publish(opened(inhabitants()), ic.KAnonymity(5), seed=0)
    useful = release.audit(remedies=False, learn=False).usefulness
    truth, form = release.form.tally, release.generalized
    columns = [column["total variation"] for column in useful["columns"]]
    pairs = useful["pairs"]
    assert TotalVariation().measure(truth, form) == pytest.approx(sum(columns) / len(columns))
    assert PairwiseTotalVariation().measure(truth, form) == pytest.approx(
        sum(pair["total variation"] for pair in pairs) / len(pairs)
    )
    both = [(pair["association before"], pair["association after"]) for pair in pairs]
    kept = sum(min(pair) for pair in both) / sum(max(pair) for pair in both)
    assert AssociationKept().measure(truth, form) == pytest.approx(kept)
    assert useful["losses"]["total-variation"] == pytest.approx(sum(columns) / len(columns))


def test_slices_are_counted_as_written() -> None:
    release = ic.publish(opened(inhabitants()), ic.SlicedDiversity(2), method=ic.Slicing(), seed=0)
    for column in release.audit(remedies=False, learn=False).usefulness["columns"]:
        assert column["total variation"] == pytest.approx(0, abs=1e-12)


def _drawn_rows(release: ic.Release, one: str, two: str, seed: int) -> list[tuple[str, str]]:
    """Draw whole rows of two columns of names from labels, label by label."""
    rng, found = np.random.default_rng(seed), []
    for labels in release.to_polars().select(one, two).iter_rows():
        row = []
        for name, label in zip((one, two), labels, strict=True):
            members = (
                label.strip("{}").split(", ") if label != "*" else release.label_meanings["columns"][name]["assumed"]
            )
            row.append(members[rng.integers(len(members))])
        found.append((row[0], row[1]))
    return found


def _goes_together(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    one = rng.integers(0, 12, rows)
    two = np.where(rng.random(rows) < 0.5, one, rng.integers(0, 12, rows))
    return pl.DataFrame({"one": [f"a{code:02}" for code in one], "two": [f"b{code:02}" for code in two]})


def test_associations_are_those_of_whole_rows() -> None:
    frame = _goes_together()
    release = ic.publish(ic.read(frame, quasi=["one", "two"]), ic.KAnonymity(15), seed=1)
    (pair,) = release.audit(remedies=False, learn=False).usefulness["pairs"]
    drawn = []
    for seed in range(40):
        rows = _drawn_rows(release, "one", "two", seed)
        numbers = {text: place for place, text in enumerate(sorted({text for row in rows for text in row}))}
        drawn.append(_naive_association([(numbers[one], numbers[two]) for one, two in rows]))
    assert pair["association after"] == pytest.approx(sum(drawn) / len(drawn), abs=0.02)
    assert 0.05 < pair["association after"] < pair["association before"]
    # The planted fault: corrected for chance that a table of expected counts does not have, less is found.
    spread = expected_pairs(release.form.tally, release.generalized, "one", "two")
    assert association(spread) < pair["association after"] - 0.03


@pytest.mark.usefixtures("few_queries")
def test_independent_columns_stay_independent() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({name: rng.choice([f"{name}{code}" for code in range(8)], 2000) for name in ("one", "two")})
    release = ic.publish(ic.read(frame, quasi=["one", "two"]), ic.KAnonymity(50), seed=1)
    (pair,) = release.audit(remedies=False, learn=False).usefulness["pairs"]
    assert pair["association after"] < 0.05


def test_exact_rows_keep_their_associations() -> None:
    frame = _goes_together()
    release = ic.publish(ic.read(frame, quasi=["one", "two"]), ic.BucketSize(1), seed=1)
    (pair,) = release.audit(remedies=False, learn=False).usefulness["pairs"]
    form = release.generalized
    assert (form.shown.highs - form.shown.lows == 1).all()
    assert pair["association after"] == pytest.approx(pair["association before"])
    assert AssociationKept().measure(release.form.tally, form) == pytest.approx(1.0)
