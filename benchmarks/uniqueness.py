"""Estimates of population uniqueness against tables whose population is known: `python -m benchmarks.uniqueness`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.models.uniqueness_estimates import uniqueness_estimates

PEOPLE = 100_000
FRACTIONS = (0.02, 0.1, 0.3)


@dataclass(frozen=True)
class Case:
    """A sample, what is true of it, and what is estimated."""

    population: str
    fraction: float
    truth: float
    estimates: dict[str, float]


def populations(rng: np.random.Generator, people: int = PEOPLE) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield populations: the class of each person."""
    yield "uniform, 4 a class", rng.integers(0, people // 4, people)
    yield "Zipf, exponent 1.3", np.unique(np.minimum(rng.zipf(1.3, people), 10**6), return_inverse=True)[1]
    weights = rng.lognormal(0, 2, people // 2)
    yield "log-normal classes", rng.choice(people // 2, people, p=weights / weights.sum())
    key = np.zeros(people, dtype=np.int64)
    for values in (70, 2, 10, 15, 5):
        key = key * values + rng.choice(values, people, p=rng.dirichlet(np.ones(values)))
    yield "five independent columns", np.unique(key, return_inverse=True)[1]


def cases(people: int = PEOPLE, seed: int = 0) -> Iterator[Case]:
    """Sample each population at each rate; count who is unique, and estimate it."""
    rng = np.random.default_rng(seed)
    for name, class_of in populations(rng, people):
        everybody = np.bincount(class_of)
        for fraction in FRACTIONS:
            sample = np.bincount(class_of[rng.random(people) < fraction], minlength=len(everybody))
            truth = int(((sample == 1) & (everybody == 1)).sum()) / int(sample.sum())
            yield Case(name, fraction, truth, uniqueness_estimates(sample[sample > 0], fraction))


def main() -> None:
    """Print estimates against the truth."""
    for number, case in enumerate(cases()):
        if not number:
            print(f"{'population':26}{'sample':>8}{'truth':>8}", *(f"{name:>8}" for name in case.estimates), sep="")
        shares = (f"{share:8.3f}" for share in (case.truth, *case.estimates.values()))
        print(f"{case.population:26}{case.fraction:8.2f}", *shares, sep="")


if __name__ == "__main__":
    main()
