"""Calibration: estimates of population uniqueness on samples of known populations, printed next to the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from benchmarks.uniqueness import cases
from incrowd.core.groups import Groups
from incrowd.errors import RecipeError
from incrowd.models.poisson_classes import poisson_stays_alone
from incrowd.models.uniqueness_estimates import ESTIMATORS, uniqueness_estimates


def test_estimates_next_to_the_truth() -> None:
    seen = set()
    for case in cases(40_000, seed=3):
        told = ", ".join(f"{name} {share:.3f}" for name, share in case.estimates.items())
        print(f"{case.population}, {case.fraction}: truth {case.truth:.3f}; {told}")
        assert min(case.estimates.values()) <= 3 * case.truth
        assert max(case.estimates.values()) >= 0.9 * case.truth
        seen.add(min(case.estimates, key=lambda name: abs(case.estimates[name] - case.truth)))
    assert len(seen) > 1  # none of them is the best everywhere


def test_the_default_estimate_of_a_uniform_population_is_told_with_its_spread(tmp_path: Path) -> None:
    """The case that was seen: 0.17 is said where 0.018 is true, without a word on how sure that is."""
    rng = np.random.default_rng(0)
    population = rng.integers(0, 25_000, 100_000)
    sample = population[rng.random(len(population)) < 0.1]
    counts, everybody = np.bincount(sample, minlength=25_000), np.bincount(population, minlength=25_000)
    truth = ((counts == 1) & (everybody == 1)).sum() / len(sample)
    groups = Groups(counts[counts > 0])
    model = ic.PopulationUniqueness(0.5, fraction=0.1)
    print(f"truth {truth:.3f}; by default {model.achieved(groups):.3f}; {model.told(groups)}")
    assert model.achieved(groups) > 5 * truth
    assert "an estimate and no bound: between 0.0" in model.told(groups)
    assert ic.PopulationUniqueness(0.5, fraction=0.1, estimator="poisson").achieved(groups) == pytest.approx(
        truth, rel=0.5
    )
    largest = ic.PopulationUniqueness(0.5, fraction=0.1, estimator="largest").achieved(groups)
    assert largest == max(uniqueness_estimates(groups.sizes, 0.1).values()) >= model.achieved(groups)
    frame = pl.DataFrame({"q": [str(value) for value in sample[:2000]]})
    release = ic.publish(ic.read(frame, quasi=["q"]), model, method=ic.FullDomain(max_withheld=1.0))
    release.save(tmp_path / "out")
    for one in (release, ic.open_release(tmp_path / "out")):
        assert "an estimate and no bound" in str(one.guarantees[0])


@pytest.mark.parametrize("mean", [0.05, 0.5, 3.0])
def test_poisson_finds_the_mean_of_equal_classes(mean: float) -> None:
    sizes = np.random.default_rng(1).poisson(mean, 200_000)
    found = poisson_stays_alone(sizes[sizes > 0], 0.5)
    assert found == pytest.approx(np.exp(-mean), rel=0.03)


def test_edges() -> None:
    for name in ESTIMATORS:
        assert uniqueness_estimates(np.array([1, 1]), 0.5)[name] in (pytest.approx(1.0), pytest.approx(0.5, abs=0.5))
        assert uniqueness_estimates(np.array([2, 5]), 0.5)[name] == 0
        assert uniqueness_estimates(np.array([], dtype=np.int64), 0.5)[name] == 0
    with pytest.raises(RecipeError, match="largest"):
        ic.PopulationUniqueness(0.1, fraction=0.1, estimator="best")  # type: ignore[arg-type]
