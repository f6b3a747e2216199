"""Li, Li, Zhang & Molloy (2012), as retold by Wanjari, as one experiment: generalization, bucketization and slicing.

One criterion for all three: a person's sensitive value is guessed with a probability of at most 1/ℓ. Measured are the
error of counting queries by how many attributes they ask about, classifiers of the sensitive attribute and of a
quasi-identifier, whether the release tells who is in it, and time. Cost: some minutes at the default sizes.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.experiments.report import Findings
from incrowd.experiments.results import Results
from incrowd.experiments.slicing.claims import CLAIMS
from incrowd.experiments.slicing.figures import sections
from incrowd.experiments.slicing.measuring import measure_classifiers, measure_queries, measure_times
from incrowd.experiments.slicing.membership import measure_membership, measure_presence
from incrowd.experiments.slicing.ways import Case, publish_all
from incrowd.experiments.tables import ADULT_IS_ABSENT, Subject, adult_folder, adult_subject, census_subject

__all__ = ["Settings", "run"]

PAPER = "T. Li, N. Li, J. Zhang & I. Molloy: Slicing: A New Approach for Privacy Preserving Data Publishing (TKDE 2012)"


@dataclass(frozen=True)
class Settings:
    """What to measure: the ℓs, the census' rows, queries per number of attributes, rows for times."""

    l: tuple[int, ...] = (5, 8, 10)
    rows: int = 50_000
    queries: int = 500
    time_rows: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    adult: bool = True
    seed: int = 0

    @classmethod
    def quick(cls, **changes: Any) -> Settings:
        """Return settings for a run of a minute or so."""
        return replace(cls(l=(5,), rows=8_000, queries=100, time_rows=(20_000, 50_000)), **changes)


def run(settings: Settings, progress: Progress = silent) -> Findings:
    """Measure everything."""
    start = time.perf_counter()
    results = Results()
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
    measure_times(results, settings.time_rows, settings.l[0], settings.seed, progress)
    frame = results.frame()
    seconds = time.perf_counter() - start
    return Findings(
        "slicing", PAPER, asdict(settings), frame, tuple(sections(frame)), CLAIMS, tuple(results.notes), seconds
    )


def _subjects(results: Results, settings: Settings) -> list[Subject]:
    found = [census_subject("occupation", settings.rows, settings.seed)]
    folder = adult_folder() if settings.adult else None
    if folder is None:
        results.note(ADULT_IS_ABSENT)
    else:
        found.append(adult_subject(folder, "occupation"))
    return found
