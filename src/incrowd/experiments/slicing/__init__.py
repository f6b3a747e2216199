"""Li, Li, Zhang & Molloy (2012), as retold by Wanjari, as one experiment: generalization, bucketization and slicing.

One criterion for all three: a person's sensitive value is guessed with a probability of at most 1/ℓ. Measured are the
error of counting queries by how many attributes they ask about, classifiers of the sensitive attribute and of a
quasi-identifier, whether the release tells who is in it, ratings of films that a wide and sparse table predicts, and
time; all in several runs (`repeats`), with other people each time. Cost: some minutes for each run at the default
sizes.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.experiments.repeating import several_runs
from incrowd.experiments.report import Findings
from incrowd.experiments.results import Results, mean_of_runs
from incrowd.experiments.slicing.claims import CLAIMS
from incrowd.experiments.slicing.figures import sections
from incrowd.experiments.slicing.measuring import measure_classifiers, measure_queries, measure_times
from incrowd.experiments.slicing.membership import measure_membership, measure_presence
from incrowd.experiments.slicing.ratings import measure_ratings
from incrowd.experiments.slicing.ways import SETTINGS, Case, publish_all
from incrowd.experiments.tables import ADULT_IS_ABSENT, Subject, adult_folder, adult_subject, census_subject

__all__ = ["Settings", "run"]

PAPER = "T. Li, N. Li, J. Zhang & I. Molloy: Slicing: A New Approach for Privacy Preserving Data Publishing (TKDE 2012)"


@dataclass(frozen=True)
class Settings:
    """What to measure: the ℓs, the census' rows, queries per number of attributes, rows for times, rows and items of
    the ratings, runs with different seeds.
    """

    l: tuple[int, ...] = (5, 8, 10)
    rows: int = 50_000
    queries: int = 500
    time_rows: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    rating_rows: int = 6_000
    rating_items: int = 48
    repeats: int = 3
    adult: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("repeats", "rating_rows", "rating_items"):
            require_whole("the experiment", name, getattr(self, name), at_least=1)

    @classmethod
    def quick(cls, **changes: Any) -> Settings:
        """Return settings for a run of a minute or so."""
        small = cls(l=(5,), rows=8_000, queries=100, time_rows=(20_000, 80_000), rating_rows=2_000, rating_items=24)
        return replace(small, **{"repeats": 2, **changes})


def run(settings: Settings, progress: Progress = silent) -> Findings:
    """Measure everything."""
    start = time.perf_counter()
    results = Results()
    results.note(SETTINGS)
    for seed, tell in several_runs(results, settings.repeats, settings.seed, progress):
        _measure(results, replace(settings, seed=seed), tell)
    frame = results.frame()
    shown = tuple(sections(mean_of_runs(frame)))
    seconds = time.perf_counter() - start
    return Findings("slicing", PAPER, asdict(settings), frame, shown, CLAIMS, tuple(results.notes), seconds)


def _measure(results: Results, settings: Settings, progress: Progress) -> None:
    subjects = list(_subjects(results, settings))
    total = len(subjects) * len(settings.l)
    for number, (subject, l) in enumerate((subject, l) for subject in subjects for l in settings.l):
        rng = np.random.default_rng([settings.seed, number])
        releases = publish_all(results, subject, l, settings.seed)
        case = Case(subject, l, releases, settings.queries, rng)
        for step, measure in enumerate((measure_queries, measure_classifiers, measure_membership)):
            progress("tables", (number + step / 3) / total)
            measure(results, case)
    progress("tables", 1.0)
    for l in settings.l:
        measure_presence(results, settings.rows, l, settings.seed)
    measure_ratings(results, settings.rating_rows, settings.rating_items, settings.seed, progress)
    measure_times(results, settings.time_rows, settings.l[0], settings.seed, progress)


def _subjects(results: Results, settings: Settings) -> list[Subject]:
    found = [census_subject("occupation", settings.rows, settings.seed)]
    folder = adult_folder() if settings.adult else None
    if folder is None:
        results.note(ADULT_IS_ABSENT)
    else:
        found.append(adult_subject(folder, "occupation"))
    return found
