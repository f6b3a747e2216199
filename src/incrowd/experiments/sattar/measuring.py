"""Figures 2-4 and 6-8, table by table: rows withheld, rows unprotected, errors of answers, distances of histograms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.dp.discrete_laplace import noisy_counts
from incrowd.errors import Unsatisfiable
from incrowd.experiments.distances import city_block, kullback_leibler
from incrowd.experiments.equivalent_k import unsatisfied_share
from incrowd.experiments.results import Results
from incrowd.experiments.sattar.releases import Releases
from incrowd.experiments.sattar.settings import AS_THEY_ARE, BREAKS, LAPLACE, LAPLACE_IN_ALL, OURS, Settings
from incrowd.metrics.workload.cells import Cells
from incrowd.metrics.workload.queries import draw_queries
from incrowd.metrics.workload.sized import SHARES, draw_workload, relative_errors
from incrowd.models.expected_confidence import ExpectedConfidence

_NOISE_PER_QUERY = 10


def measure_withheld(results: Results, releases: Releases, settings: Settings, rng: np.random.Generator) -> None:
    """Figure 2: which share of the sample is withheld at each distortion limit.

    At the paper's limit also which share of what is published breaks the criterion, and of the rows as they are: a
    method that withholds nobody and protects nobody is not what the paper claims.
    """
    subject = releases.subject
    for limit in settings.limits:
        try:
            release = releases.ours if limit == settings.limit else releases.recoded(limit)
        except Unsatisfiable:  # every row would have to be distorted more
            results.add("2", subject.name, subject.rows, OURS, limit, "withheld", 1.0)
            continue
        results.add("2", subject.name, subject.rows, OURS, limit, "withheld", release.withheld / release.rows_in)
        if limit == settings.limit:
            for method, shown in ((OURS, release), (AS_THEY_ARE, releases.as_they_are())):
                broken = releases.broken_share(shown)
                results.add("2", subject.name, subject.rows, method, limit, BREAKS, broken)


def measure_unsatisfied(results: Results, releases: Releases, settings: Settings, rng: np.random.Generator) -> None:
    """Figure 3 and Table 5: which share of rows breaks the criterion under Mondrian; Max.k and Avg.k."""
    subject = releases.subject
    for k in settings.ks:
        release = releases.cut(min(k, subject.rows)).generalized
        share = unsatisfied_share(subject.tally, release, [ExpectedConfidence()])
        results.add("3", subject.name, subject.rows, "Mondrian", k, "unsatisfied", share)
    results.add("table 5", subject.name, subject.rows, "Mondrian", "", "Max.k", releases.max_k)
    results.add("table 5", subject.name, subject.rows, "Mondrian, node labels", "", "Max.k", releases.max_k_nodes)
    results.add("table 5", subject.name, subject.rows, OURS, "", "Avg.k", releases.avg_k)


def measure_queries(results: Results, releases: Releases, settings: Settings, rng: np.random.Generator) -> None:
    """Figures 4 and 7: how far answers are off, those of releases and those with noise."""
    subject, epsilon = releases.subject, Fraction(settings.epsilon)
    for size in SHARES:
        workload, actual = draw_workload(subject.tally, subject.quasi, subject.sensitive, size, settings.queries, rng)

        def write(figure: str, method: str, answers: Floats, *, actual: Floats = actual, size: str = size) -> None:
            errors = relative_errors(actual, answers)
            results.add(figure, subject.name, subject.rows, method, size, "mean error", float(errors.mean()))
            results.add(figure, subject.name, subject.rows, method, size, "median error", float(np.median(errors)))

        if settings.wants("4"):
            for method, cells in releases.cells.items():
                write("4", method, cells.answers(workload))
        if settings.wants("7"):
            ours = Cells.of_release(releases.ours.generalized, rate=float(releases.ours.rate))
            write("7", OURS, ours.answers(workload))
            counts = actual.astype(np.int64)
            write("7", LAPLACE, noisy_counts(rng, counts, epsilon=epsilon).astype(np.float64))
            shared = epsilon / len(workload)
            write("7", LAPLACE_IN_ALL, noisy_counts(rng, counts, epsilon=shared).astype(np.float64))


def measure_unchanged(results: Results, releases: Releases, settings: Settings, rng: np.random.Generator) -> None:
    """Figure 6: which share of noisy answers is the true one, for queries whose answers may be 0 as well."""
    subject = releases.subject
    workload = draw_queries(
        subject.tally.trees, subject.quasi, subject.sensitive, _NOISE_PER_QUERY * settings.queries, rng
    )
    actual = np.repeat(Cells.of_tally(subject.tally).answers(workload).astype(np.int64), _NOISE_PER_QUERY)
    for epsilon in settings.epsilons:
        noisy = noisy_counts(rng, actual, epsilon=Fraction(epsilon))
        for measure, shown in (("unchanged", noisy), ("unchanged, no answer below 0", np.maximum(noisy, 0))):
            results.add("6", subject.name, subject.rows, "Laplace", epsilon, measure, (shown == actual).mean())


def measure_histograms(results: Results, releases: Releases, settings: Settings, rng: np.random.Generator) -> None:
    """Figure 8: how far the sensitive histograms of random groups of people are from the true ones."""
    subject = releases.subject
    workload, _ = draw_workload(subject.tally, subject.quasi, None, "unbounded", settings.queries, rng)
    size = subject.tally.trees[subject.sensitive].size
    ours = Cells.of_release(releases.ours.generalized, rate=float(releases.ours.rate))
    # Missing, code 0, is in nobody's domain here.
    true = Cells.of_tally(subject.tally).histograms(workload, subject.sensitive, size)[:, 1:]
    # One person is in one bar of a histogram: all bars together cost ε once.
    noisy = noisy_counts(rng, true.astype(np.int64), epsilon=Fraction(settings.epsilon)).astype(np.float64)
    for method, found in (
        (OURS, ours.histograms(workload, subject.sensitive, size)[:, 1:]),
        (LAPLACE, noisy),
    ):
        for measure, distance in (("Kullback-Leibler", kullback_leibler), ("city-block", city_block)):
            results.add("8", subject.name, subject.rows, method, "", measure, distance(true, found).mean())
