"""Sattar, Li, Ding, Liu & Vincent (2013), section 6, as one experiment: figures 2-10 and Table 5.

The census generator stands in for the paper's two samples of the US census (its domains have the same sizes); Adult is
the paper's own and is measured where it is at hand. Everything is measured in several runs (`repeats`), with other
people and other queries each time. Cost: some twenty minutes of two cores for each run at the paper's sizes, most of
it for Max.k, queries and classifiers; one or two with `Settings.quick()`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.experiments.repeating import several_runs
from incrowd.experiments.report import Findings
from incrowd.experiments.results import Results, mean_of_runs
from incrowd.experiments.sattar.against_diffgen import measure_diffgen
from incrowd.experiments.sattar.claims import CLAIMS
from incrowd.experiments.sattar.classifying import measure_accuracies
from incrowd.experiments.sattar.figures import sections
from incrowd.experiments.sattar.measuring import (
    measure_histograms,
    measure_queries,
    measure_unchanged,
    measure_unsatisfied,
    measure_withheld,
)
from incrowd.experiments.sattar.releases import Releases
from incrowd.experiments.sattar.settings import PAPER, Settings
from incrowd.experiments.sattar.timing import measure_times
from incrowd.experiments.tables import ADULT_IS_ABSENT, Subject, adult_folder, adult_subject, census_subject

__all__ = ["Settings", "run"]

_DATA = (
    "The census is generated: its domains have the sizes of the paper's Table 4, its frequencies are made up. "
    "Absolute numbers therefore differ from the paper's; the claims are about comparisons."
)


def run(settings: Settings, progress: Progress = silent) -> Findings:
    """Measure everything that is asked for."""
    start = time.perf_counter()
    results = Results()
    results.note(_DATA)
    for seed, tell in several_runs(results, settings.repeats, settings.seed, progress):
        _measure(results, replace(settings, seed=seed), tell)
    frame = results.frame()
    shown = tuple(sections(mean_of_runs(frame)))
    seconds = time.perf_counter() - start
    return Findings("sattar", PAPER, settings.to_dict(), frame, shown, CLAIMS, tuple(results.notes), seconds)


def _measure(results: Results, settings: Settings, progress: Progress) -> None:
    if settings.wants("2", "3", "4", "6", "7", "8"):
        _measure_tables(results, settings, progress)
    if settings.wants("5", "9"):
        folder = adult_folder() if settings.adult else None
        if folder is None:
            results.note(ADULT_IS_ABSENT)
        elif settings.wants("5"):
            measure_accuracies(results, adult_subject(folder, "income"), settings, progress)
        if folder is not None and settings.wants("9"):
            measure_diffgen(results, adult_subject(folder, "income"), settings, progress)
    if settings.wants("10"):
        measure_times(results, settings, progress)


def _measure_tables(results: Results, settings: Settings, progress: Progress) -> None:
    total = 2 * len(settings.rows) + 2
    for number, (subject, first) in enumerate(_subjects(results, settings)):
        rng = np.random.default_rng([settings.seed, number])
        releases = Releases(subject, settings)
        steps = (
            (settings.wants("2"), measure_withheld),
            (settings.wants("3"), measure_unsatisfied),
            (settings.wants("4", "7"), measure_queries),
            (settings.wants("6") and first, measure_unchanged),
            (settings.wants("8"), measure_histograms),
        )
        for step, (wanted, measure) in enumerate(steps):
            progress("tables", (number + step / len(steps)) / total)
            if wanted:
                measure(results, releases, settings, rng)
    progress("tables", 1.0)


def _subjects(results: Results, settings: Settings) -> Iterator[tuple[Subject, bool]]:
    """Yield the tables, and whether each is the first of its kind."""
    for place, rows in enumerate(settings.rows):
        for sensitive in ("occupation", "salary"):
            # Disjoint samples of one population, as in the paper: other people each time.
            yield census_subject(sensitive, rows, settings.seed + place), place == 0
    folder = adult_folder() if settings.adult else None
    if folder is None:
        results.note(ADULT_IS_ABSENT)
        return
    for sensitive in ("occupation", "income"):
        yield adult_subject(folder, sensitive), False
