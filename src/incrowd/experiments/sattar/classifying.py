"""Figure 5: four classifiers of Adult's income, trained on releases of a training part and tested on the raw rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.sampling import as_rate, draw_sample
from incrowd.core.tally import Tally
from incrowd.experiments.equivalent_k import avg_k, max_k
from incrowd.experiments.results import Results
from incrowd.experiments.sattar.releases import LOWEST
from incrowd.experiments.sattar.settings import (
    AVG_K,
    GAIN_AVG_K,
    GAIN_MAX_K,
    LEAST_LOSS,
    MAJORITY,
    MAX_K,
    OURS,
    RAW,
    Settings,
)
from incrowd.experiments.tables import Subject
from incrowd.forms.generalized import Generalized
from incrowd.methods.infogain_mondrian import InfoGainMondrian
from incrowd.methods.local_recoding import LocalRecoding
from incrowd.methods.mondrian import Mondrian
from incrowd.metrics.learning import (
    Examples,
    accuracies,
    examples_of_release,
    examples_of_tally,
    majority_accuracy,
    stratified_folds,
)
from incrowd.models.expected_confidence import ExpectedConfidence
from incrowd.models.k_anonymity import KAnonymity


def measure_accuracies(results: Results, subject: Subject, settings: Settings, progress: Progress) -> None:
    """Write down the mean accuracy over folds of each classifier on each release."""
    rng = np.random.default_rng([settings.seed, 5])
    found: dict[tuple[str, str], list[float]] = {}
    folds = stratified_folds(subject.tally, subject.sensitive, settings.folds, rng)
    for fold, (training, held_out) in enumerate(folds):
        test = examples_of_tally(held_out, subject.quasi, subject.sensitive)
        for number, (method, examples) in enumerate(_training_sets(subject, training, settings, rng)):
            progress("classifiers", (fold + number / 7) / settings.folds)
            if method == RAW:
                found.setdefault((MAJORITY, "any"), []).append(majority_accuracy(examples, test))
            for classifier, accuracy in accuracies(examples, test, subject.tally.trees).items():
                found.setdefault((method, classifier), []).append(accuracy)
    for (method, classifier), each in found.items():
        results.add("5", subject.name, subject.rows, method, classifier, "accuracy", float(np.mean(each)))
        results.add("5", subject.name, subject.rows, method, classifier, "standard deviation", float(np.std(each)))
    progress("classifiers", 1.0)


def _training_sets(
    subject: Subject, training: Tally, settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[str, Examples]]:
    """Yield what classifiers are trained on: the training part itself, and releases learnt on it alone."""

    def rebuilt(release: Generalized) -> Examples:
        return examples_of_release(release, subject.quasi, subject.sensitive, rng)

    def released(tally: Tally, method: Method, model: Model) -> Generalized:
        recoding = method.search(tally, subject.schema, [model], rng=rng, progress=silent)
        return Generalized.of(tally, subject.schema, recoding)

    yield RAW, examples_of_tally(training, subject.quasi, subject.sensitive)
    sample = draw_sample(training, as_rate(settings.rate), rng).tally
    ours = released(sample, LocalRecoding(max_distortion=settings.limit, min_levels=LOWEST), ExpectedConfidence())
    yield OURS, rebuilt(ours)
    least_loss = LocalRecoding(max_distortion=settings.limit, min_levels=LOWEST, column_choice="least-loss")
    yield LEAST_LOSS, rebuilt(released(sample, least_loss, ExpectedConfidence()))
    average = avg_k(ours)
    cutters: tuple[tuple[Method, str, str], ...] = (
        (Mondrian(), MAX_K, AVG_K),
        (InfoGainMondrian(target=subject.sensitive), GAIN_MAX_K, GAIN_AVG_K),
    )
    for method, at_max, at_average in cutters:
        largest = max_k(training, subject.schema, [ExpectedConfidence()], method=method)
        yield at_max, rebuilt(released(training, method, KAnonymity(largest)))
        yield at_average, rebuilt(released(training, method, KAnonymity(average)))
