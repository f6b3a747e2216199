"""How sure counts of private releases are: intervals against the truth, noise against formulas, through files."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from benchmarks.intervals import natural_queries, true_count
from incrowd.common.randomness import randomness
from incrowd.datasets import CENSUS_TREES
from incrowd.dp.budget import Budget
from incrowd.errors import QueryError, RecipeError, SourceError
from incrowd.forms.error_factors import GUESSED, MEASURED, NOISE_ONLY, REACH, ErrorFactors
from incrowd.publishing import measuring_errors
from incrowd.publishing.measuring_errors import _Asked, _told, measure_errors

KNOWN = {
    "age": ic.Intervals(widths=(1, 5, 10), lower=14, upper=95),
    "education": ic.Categories.from_tree(CENSUS_TREES["education"]),
    "sex": ic.Categories.from_tree(CENSUS_TREES["sex"]),
    "marital": ic.Categories.from_tree(CENSUS_TREES["marital"]),
}
FRAME = ic.datasets.census(6000, seed=4).select(*KNOWN)


def published(method: Any, frame: pl.DataFrame = FRAME, seed: int = 1) -> ic.Release:
    quasi = [name for name in frame.columns if name != "marital"]
    known = {name: KNOWN[name] for name in frame.columns}
    return ic.publish(ic.read(frame, quasi=quasi, sensitive=["marital"], hierarchies=known), method=method, seed=seed)


METHODS = {
    "diffgen": ic.DiffGen(2, steps=4),
    "consistent": ic.ConsistentDiffGen(2, steps=5),
    "flat, wide": ic.FlatHistogram(2, levels={"age": 3, "education": 1}),
    "flat": ic.FlatHistogram(2),
    "marginals": ic.MarginalSynthesis(2),
    "adaptive": ic.AdaptiveSynthesis(2, delta="1e-9"),
}


@cache
def kept(name: str) -> ic.Release:
    """A release that several tests ask, and none changes."""
    return published(METHODS[name])


@cache
def asked(number: int, seed: int) -> list[tuple[dict[str, Any], int]]:
    """Questions about the table, and how many rows each is truly about."""
    return [(query, true_count(FRAME, query)) for query in natural_queries(FRAME, number, seed)]


def held(release: ic.Release) -> float:
    found = []
    for query, truth in asked(120, 5):
        estimate = release.estimate(query)
        assert 0 <= estimate.low <= estimate.value <= estimate.high
        assert estimate.value == release.count(query)
        found.append(estimate.low - 0.5 <= truth <= estimate.high + 0.5)
    return float(np.mean(found))


@pytest.mark.parametrize("name", METHODS)
def test_intervals_hold_the_truth_in_memory_and_from_files(name: str, tmp_path: Path) -> None:
    release = kept(name)
    assert held(release) >= 0.88
    release.save(tmp_path / "out", format="csv")
    again = ic.open_release(tmp_path / "out")
    for query, _ in asked(30, 9):
        assert again.estimate(query) == release.estimate(query)
    assert release.guarantees[0].achieved == 2


def test_wide_boxes_of_a_model_answer_alike_from_files_to_the_last_digit(tmp_path: Path) -> None:
    # Few rows: some classes have none in the files. Boxes of several values: shares are no whole numbers.
    for number, made in enumerate((ic.AdaptiveSynthesis, ic.MarginalSynthesis)):
        release = published(made("1/4", levels={"age": 3, "education": 1}), FRAME.head(150))
        release.save(tmp_path / str(number), format="csv")
        again = ic.open_release(tmp_path / str(number))
        for query, _ in asked(30, 9):
            assert again.estimate(query) == release.estimate(query)


def test_intervals_of_one_column() -> None:
    ages = FRAME.select("age")
    release = ic.publish(
        ic.read(ages, quasi=["age"], hierarchies={"age": KNOWN["age"]}), method=ic.HierarchicalHistogram(1), seed=1
    )
    found = []
    for low in range(15, 60, 3):
        for width in (0, 4, 15):
            query = {"age": (low, low + width)}
            estimate = release.estimate(query)
            found.append(estimate.low - 0.5 <= true_count(ages, query) <= estimate.high + 0.5)
    assert np.mean(found) >= 0.85
    assert release.estimate({"age": (30, 40)}).assumes == NOISE_ONLY


def test_noise_alone_would_not_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant it: with a factor of nothing, what spreading gets wrong is left out."""
    assert held(kept("diffgen")) > 0.88
    release = published(METHODS["diffgen"])
    measured = release.form.measured  # type: ignore[attr-defined]
    object.__setattr__(measured, "errors", ErrorFactors((0.0, 0.0, 0.0), measured=True))
    assert held(release) < 0.75


def test_what_it_assumes_is_said() -> None:
    assert kept("diffgen").estimate({"age": 30}).assumes == MEASURED
    assert published(ic.DiffGen(2, steps=4, error_share=0)).estimate({"age": 30}).assumes == GUESSED
    assert kept("flat").estimate({"age": 30}).assumes == NOISE_ONLY


def test_a_share_of_the_budget_pays_for_it() -> None:
    release = published(ic.DiffGen(2, steps=4, error_share="1/10"))
    spent = release.form.accountant  # type: ignore[attr-defined]
    assert spent.entries[-1].what == "how wrong counts are"
    assert spent.entries[-1].price == Budget("1/5")
    assert spent.total() == Budget(2)
    for method in (ic.DiffGen(2, error_share=0), METHODS["flat"], ic.HierarchicalHistogram(1)):
        assert not method.for_counting()[1]
    for wrong in (1, -0.1, "2"):
        with pytest.raises(RecipeError, match="error_share"):
            ic.DiffGen(1, error_share=wrong)
    per_person = ic.FlatHistogram(1, levels={"age": 1}, most_rows=4).for_rows.for_counting()
    assert per_person[1] == Budget("1/80")


def test_one_row_changes_what_is_told_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force over all rows of a small domain: a root mean square moves by no more than noise is made for."""
    rng = np.random.default_rng(1)
    told: list[tuple[int, Fraction]] = []
    nearest = 0.0

    def without_noise(_: Any, counts: Any, *, epsilon: Any, sensitivity: Fraction) -> Any:
        told.append((int(counts[0]), sensitivity))
        return counts

    monkeypatch.setattr(measuring_errors, "noisy_counts", without_noise)
    sizes = {"a": 4, "b": 3, "c": 2}
    for _ in range(30):
        number = int(rng.integers(1, 30))
        names = [rng.permutation(list(sizes))[: rng.integers(1, 4)].tolist() for _ in range(number)]
        questions = [{name: rng.random(sizes[name]) < 0.5 for name in some} for some in names]
        scales, offset = rng.uniform(0.5, 50, number), float(rng.uniform(0, 20))
        wrong = rng.choice([-1, 1], number) * rng.exponential(20, number) * (rng.random() < 0.8)
        for row in product(*map(range, sizes.values())):
            codes = dict(zip(sizes, row, strict=True))
            matched = [all(asked[codes[name]] for name, asked in question.items()) for question in questions]
            told.clear()
            for errors in (wrong, wrong + np.array(matched)):
                _told(_Asked(questions, np.abs(errors), scales), offset, Fraction(1, 10), randomness(1))
            (before, allowed), (later, _) = told
            assert abs(before - later) <= allowed
            nearest = max(nearest, abs(before - later) / float(allowed))
    assert nearest > 0.9  # and it is no larger than it has to be


def test_factors_are_found_where_errors_are_large() -> None:
    release = kept("flat, wide")
    measured = release.form.measured  # type: ignore[attr-defined]
    people = _people(release)
    found = [measure_errors(measured, people, epsilon=Fraction(1, 20), rng=randomness(seed)) for seed in range(3)]
    exact = measure_errors(measured, people, epsilon=Fraction(1000), rng=randomness(9))
    for one in found:
        assert one.factors == pytest.approx(exact.factors, rel=0.5)


def _people(release: ic.Release) -> Any:
    from incrowd.methods.private import public_table
    from incrowd.publishing.private_table import count_people

    quasi = [name for name in FRAME.columns if name != "marital"]
    table = ic.read(FRAME, quasi=quasi, sensitive=["marital"], hierarchies=KNOWN)
    return public_table(count_people(table, "refuse", None, randomness(1)), release.schema, ()).people


def test_flat_counts_have_exactly_the_noise_of_their_cells() -> None:
    release = published(ic.FlatHistogram(1))
    found = release.estimate({"age": (30, 39), "sex": "Female"})
    ratio = math.exp(-1)
    each = 2 * ratio / (1 - ratio) ** 2
    trees = release.form.measured.trees  # type: ignore[attr-defined]
    cells = 10 * (trees["education"].size - 1) * (trees["marital"].size - 1)
    assert found.error == pytest.approx(math.sqrt(cells * each))
    assert found.high - found.value == pytest.approx(REACH * found.error)
    assert release.estimate({"age": (30, 39)}, confidence=0.5).error == release.estimate({"age": (30, 39)}).error


def test_damaged_factors_are_refused() -> None:
    for wrong in (
        {},
        {"factors": [1, 2], "offsets": [1, 2, 3]},
        {"factors": [1, 2, True], "offsets": [0, 0, 0]},
        [1],
        5,
    ):
        with pytest.raises(SourceError, match="errors of counts"):
            ErrorFactors.read(wrong)
    assert ErrorFactors.read(None) == ErrorFactors()
    made = ErrorFactors((0.5, 1.5, 2.5), (3.0, 0.0, 1.0), measured=True)
    assert ErrorFactors.read(made.as_dict()) == made


def test_empty_and_tiny_tables() -> None:
    for rows in (0, 1):
        method = ic.DiffGen(1, steps=2, undeclared="missing", missing=("age", "education", "sex", "marital"))
        release = published(method, FRAME.head(rows))
        found = release.estimate({"age": (20, 60), "sex": "Female"})
        assert math.isfinite(found.error)
        assert 0 <= found.low <= found.value <= found.high
    with pytest.raises(QueryError, match="confidence"):
        release.estimate({}, confidence=2)


@pytest.mark.parametrize("made", [ic.DiffGen, ic.FlatHistogram])
def test_rows_add_up_to_what_was_counted(made: Any, tmp_path: Path) -> None:
    """What is below 0 is taken off the others: as printed in the papers, the rows are far too many."""
    ours, printed = published(made("1/4")), published(made("1/4", adjust="as-printed"))
    assert abs(ours.rows - ours.count({})) < 1
    assert ours.count({}) == printed.count({})
    assert printed.rows > 1.05 * ours.rows
    assert printed.rows == int(np.maximum(printed.form.measured.tree.noisy, 0).sum())  # type: ignore[attr-defined]
    with pytest.raises(RecipeError, match="as-printed"):
        made(1, adjust="clip")
