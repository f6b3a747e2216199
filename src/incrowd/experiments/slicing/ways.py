"""The ways that are compared: three to the same protection of the sensitive value, and other settings of slicing.

The paper's slicing is `PAPER`: buckets as its tuple partition leaves them. `SLICED` is what `Slicing()` does without
being asked for more: it deals these buckets down to ℓ rows. `RECOMMENDED` is what its documentation recommends to those
who have to hide who is in the table.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from incrowd.common.progress import silent
from incrowd.common.records import dataclass
from incrowd.core.form import Form
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.experiments.results import Results
from incrowd.experiments.tables import Subject
from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.sliced import as_sliced
from incrowd.methods.anatomy import Anatomy
from incrowd.methods.mondrian import Mondrian
from incrowd.methods.slicing import Slicing
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.sliced_diversity import SlicedDiversity
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release

GENERALIZED, BUCKETIZED, SLICED = "generalization", "bucketization", "slicing"
PAPER, RECOMMENDED = "slicing, the paper's buckets", "slicing, recommended setting"
WIDE, COARSE = "slicing, buckets of 50", "slicing, 50, one level up"
SETTINGS = (
    f"Slicing is judged in several settings. *{PAPER}*: buckets as the paper's tuple partition leaves them "
    f'(tuple_partition = "cuts"). *{SLICED}*: the default, which deals these buckets down to ℓ rows. *{RECOMMENDED}*: '
    "buckets of 50 rows or more as the cuts leave them, each attribute a column of its own (min_bucket_size = 50, "
    'column_count = the number of attributes, tuple_partition = "cuts"); it is not the default.'
)


@dataclass(frozen=True, eq=False)
class Case:
    """A table, what was published of it at one ℓ, and what there is to measure with."""

    subject: Subject
    l: int
    releases: Mapping[str, Release]
    queries: int
    rng: np.random.Generator

    def add(self, results: Results, figure: str, method: str, measure: str, value: float, detail: str = "") -> None:
        """Write down a number."""
        parameter = f"l = {self.l}, {detail}" if detail else f"l = {self.l}"
        results.add(figure, self.subject.name, self.subject.rows, method, parameter, measure, value)


def ways(subject: Subject, l: int) -> dict[str, tuple[Method, Model]]:
    """Return what is compared; the last three are what `Slicing` offers to hide who is in the table."""
    trees, attributes = subject.tally.trees, len(subject.schema.tallied)
    levels = {name: 1 for name in subject.quasi if trees[name].height > 1}
    return {
        GENERALIZED: (Mondrian(), ProbabilisticLDiversity(l)),
        BUCKETIZED: (Anatomy(tables="one"), ProbabilisticLDiversity(l)),
        SLICED: (Slicing(), SlicedDiversity(l)),
        PAPER: (Slicing(tuple_partition="cuts"), SlicedDiversity(l)),
        WIDE: (Slicing(min_bucket_size=50), SlicedDiversity(l)),
        RECOMMENDED: (
            Slicing(min_bucket_size=50, column_count=attributes, tuple_partition="cuts"),
            SlicedDiversity(l),
        ),
        COARSE: (Slicing(min_bucket_size=50, levels=levels), SlicedDiversity(l)),
    }


def publish_all(results: Results, subject: Subject, l: int, seed: int) -> dict[str, Release]:
    """Publish a table in all ways; what cannot be had is noted and left out."""
    releases, impossible = {}, []
    for name, (method, model) in ways(subject, l).items():
        try:
            releases[name] = publish(subject.table, model, method=method, seed=seed)
        except Unsatisfiable:
            impossible.append(name)
    if impossible:
        results.note(
            f"At l = {l}, {subject.name} is impossible, since a value is too frequent: {'; '.join(impossible)}."
        )
    note_columns(results, subject, l, releases.get(SLICED))
    return releases


def note_columns(results: Results, subject: Subject, l: int, sliced: Release | None) -> None:
    """Write down which attributes share a column."""
    form = None if sliced is None else as_sliced(sliced.form)
    if form is not None:
        shown = "; ".join(", ".join(column) for column in form.columns)
        results.note(f"Columns of {subject.name} at l = {l}: {shown}.")


def show_training(subject: Subject, training: Tally, l: int, rng: np.random.Generator) -> dict[str, Form]:
    """Return what would be published of a part of a table, in all ways that can be had."""
    forms: dict[str, Form] = {}
    for name, (method, model) in ways(subject, l).items():
        try:
            recoding = method.search(training, subject.schema, [model], rng=rng, progress=silent)
        except Unsatisfiable:
            continue
        showing = recoding.form or ShowGeneralized()
        forms[name] = showing.show(training, subject.schema, recoding, rows_in=training.rows, rng=rng)
        forms[name].verify([model], training)
    return forms
