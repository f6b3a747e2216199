"""Uniqueness in the population from the sample alone (after Rocher, Hendrickx & de Montjoye 2019).

A row that nobody else in the release looks like is a person's own for certain only if nobody else in the population
looks like it, either. No table of the population is needed to say how probable that is: a model of how frequent labels
are is fitted to the release (`label_forest.py`), and of the N − n people who are not in it nobody has a row's labels
with (1 − p)^(N − n). Where others of the release look the same, it is 0. Rocher et al. fit a Gaussian copula; here it
is a forest of pairs of columns, which takes names as well as numbers. Cost: that of the model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.label_forest import row_probabilities
from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.groups import Regions
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.errors import RecipeError

_LIKELY = 0.8
"""A person of whom it is this probable counts as unique in `details`."""


@dataclass(frozen=True)
class UniqueInPopulation(Attack):
    """Estimate for whom nobody else in the population has the same labels, from the release alone.

    Parameters
    ----------
    fraction : the share of the population that the table is, above 0 and at most 1 (default: that of a
        `PopulationUniqueness` which the release was made to satisfy; without either, the attack is left out).

    The value is an estimate: the mean, over all rows, of the probability that the person is unique; `worst` is the
    largest of these. It supposes that the table is a random sample of the population, and that columns go together in
    pairs. On samples of tables whose population is known it is near the truth, and so are the probabilities of single
    people (docs/audit.md has the numbers); of a single column with a few frequent and many rare values it says too
    little, where Pitman's estimate does better. It needs labels.

    Without the release nobody's row can be found, so that the baseline is 0.

    Reference: Rocher, Hendrickx & de Montjoye (2019).
    """

    fraction: float | None = None
    name: ClassVar[str] = "unique-in-population"
    plain_name: ClassVar[str] = "being the only one in the population"
    threat: ClassVar[Threat] = "singling out"

    def __post_init__(self) -> None:
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise RecipeError(f"{self.name}: fraction is a share above 0 and at most 1, not {self.fraction!r}.")

    def lacks(self, target: Target) -> str | None:
        """Labels, and the share of the population that the table is, are needed."""
        if target.view.labels is None or target.form.private:
            return "the release has no groups with labels"
        if self._fraction(target) is None:
            return "the share of the population that the table is has to be given (fraction)"
        return None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return the expected share of rows whose people are unique in the population."""
        view, fraction = target.view.labels, self._fraction(target)
        assert view is not None
        assert fraction is not None
        sizes = view.form.group_sizes
        chances = unique_chances(view.regions, sizes, fraction)
        rows = int(sizes.sum())
        alone = sizes == 1
        value = float(chances.sum() / max(rows, 1))
        worst = float(chances.max(initial=0.0))
        return risk_of(
            self,
            value=value,
            baseline=0.0,
            people=rows,
            worst=worst,
            says=f"By a model fitted to the release, {value:.2%} of its people are unique in a population of which it "
            f"is {fraction:.3g}, and the surest is so with {worst:.1%}. This is an estimate, and no bound."
            if alone.any()
            else "Nobody is alone in the release, so that nobody is unique in the population.",
            details={
                "alone in the release": float(alone.sum() / max(rows, 1)),
                "likely to be unique": float((chances > _LIKELY).sum() / max(rows, 1)),
            },
        )

    def _fraction(self, target: Target) -> float | None:
        if self.fraction is not None:
            return self.fraction
        from incrowd.models.population_uniqueness import PopulationUniqueness

        given = (model.fraction for model in target.require if isinstance(model, PopulationUniqueness))
        return next((fraction for fraction in given if fraction is not None), None)


def unique_chances(regions: Regions, sizes: Ints, fraction: float) -> Floats:
    """Return, for each group, how probable it is that its person is unique in the population; 0 for several people."""
    if not len(sizes):
        return np.zeros(0)
    labels = np.stack(
        [_numbered(regions.lows[:, place], regions.highs[:, place]) for place in range(len(regions.columns))], axis=1
    )
    probability = np.minimum(row_probabilities(labels, np.asarray(sizes, dtype=np.int64)), 1.0)
    outside = float(sizes.sum()) * (1 / fraction - 1)
    with np.errstate(divide="ignore"):
        chances = np.exp(outside * np.log1p(-probability)) if outside else np.ones(len(sizes))
    return np.where(sizes == 1, chances, 0.0)


def _numbered(lows: Codes, highs: Codes) -> Ints:
    """Number the labels of a column by what they stand for."""
    pairs = lows.astype(np.int64) * (int(highs.max()) + 1) + highs
    return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int64)
