"""Figure 9: a decision tree of Adult's income, trained on local recoding's release and on DiffGen's noisy counts.

DiffGen (Max and InfoGain) makes 10 specializations at ε = 0.1, as in the paper. It may not look at the data for its
domains, so age gets bounds here; income's two values are declared. Both are tested on the same held-out rows, in the
public codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.core.model import Guarantee
from incrowd.core.sampling import as_rate, draw_sample
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.experiments.results import Results
from incrowd.experiments.sattar.releases import LOWEST
from incrowd.experiments.sattar.settings import DIFFGEN_GAIN, DIFFGEN_MAX, OURS, Settings
from incrowd.experiments.tables import ADULT_AGE_WIDTHS, Subject
from incrowd.forms.generalized import Generalized
from incrowd.forms.noisy import NoisyCounts
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.intervals import Intervals
from incrowd.methods.diffgen import DiffGen
from incrowd.methods.local_recoding import LocalRecoding
from incrowd.methods.private import public_table
from incrowd.metrics.learning import Examples, classifier, encode, examples_of_release, stratified_folds
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.models.expected_confidence import ExpectedConfidence

_STEPS = 10
_YOUNGEST, _OLDEST = 15, 95


def measure_diffgen(results: Results, subject: Subject, settings: Settings, progress: Progress) -> None:
    """Write down the mean accuracy over folds of a decision tree on each release."""
    rng = np.random.default_rng([settings.seed, 9])
    found: dict[str, list[float]] = {}
    schema = _declared(subject)
    folds = stratified_folds(subject.tally, subject.sensitive, settings.folds, rng)
    for fold, (training, held_out) in enumerate(folds):
        progress("DiffGen", fold / settings.folds)
        test = public_table(held_out, schema, ()).people
        public = public_table(training, schema, ())
        trees = {name: public.public.trees[name] for name in sorted(subject.quasi)}
        for name, codes, classes in _training_sets(subject, schema, training, settings, rng):
            seen = Examples(tuple(trees), codes, classes.astype(np.int32), np.ones(len(classes), dtype=np.int64))
            unseen = Examples(tuple(trees), test.codes, test.classes.astype(np.int32), test.counts)
            fitted = classifier("decision tree", len(classes)).fit(encode(seen, trees), seen.classes)
            right = test.counts[fitted.predict(encode(unseen, trees)) == unseen.classes].sum() / test.counts.sum()
            found.setdefault(name, []).append(float(right))
    for name, each in found.items():
        results.add("9", subject.name, subject.rows, name, "decision tree", "accuracy", float(np.mean(each)))
        results.add("9", subject.name, subject.rows, name, "decision tree", "standard deviation", float(np.std(each)))
    progress("DiffGen", 1.0)


def _declared(subject: Subject) -> Schema:
    """Return the schema with domains that everybody knows."""
    values = [str(value) for value in subject.tally.trees[subject.sensitive].values.to_list()[1:]]
    ages = Intervals(widths=ADULT_AGE_WIDTHS, lower=_YOUNGEST, upper=_OLDEST)
    quasi = {**subject.schema.quasi, "age": ages}
    return replace(subject.schema, quasi=quasi, sensitive={subject.sensitive: Categories.from_tree(values)})


def _training_sets(
    subject: Subject, schema: Schema, training: Tally, settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield public codes and classes of rows to learn from."""
    quasi = sorted(subject.quasi)
    sample = draw_sample(training, as_rate(settings.rate), rng).tally
    method = LocalRecoding(max_distortion=settings.limit, min_levels=LOWEST)
    recoding = method.search(sample, subject.schema, [ExpectedConfidence()], rng=rng, progress=silent)
    release = Generalized.of(sample, subject.schema, recoding)
    drawn = examples_of_release(release, quasi, subject.sensitive, rng)
    rows = Tally(
        tuple(sorted((*quasi, subject.sensitive))),
        _sorted_codes(drawn, subject.sensitive),
        drawn.counts,
        training.trees,
    )
    people = public_table(rows, schema, ()).people
    times = people.counts
    yield OURS, np.repeat(people.codes, times, axis=0), np.repeat(people.classes, times)
    public = public_table(training, schema, ())
    promise = Guarantee(DifferentialPrivacy(settings.epsilon), "by construction", float(settings.epsilon))
    for name, utility in ((DIFFGEN_MAX, "max"), (DIFFGEN_GAIN, "infogain")):
        mechanism = DiffGen(settings.epsilon, steps=_STEPS, utility=utility)  # type: ignore[arg-type]
        accountant = Accountant()
        tree, counts = mechanism.measure(public, rng=rng, progress=silent, accountant=accountant)
        noisy = NoisyCounts.of(public.public, schema, tree, counts, public.class_codes, accountant, promise)
        codes, _ = noisy.reconstruct(rng)
        yield name, np.stack([codes[column] for column in quasi], axis=1), codes[subject.sensitive] - 1


def _sorted_codes(drawn: Examples, target: str) -> np.ndarray:
    names = [*drawn.columns, target]
    codes = np.concatenate([drawn.codes, drawn.classes[:, None]], axis=1)
    return codes[:, np.argsort(names)].astype(np.int32)
