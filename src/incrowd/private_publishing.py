"""The path of methods under differential privacy: count, measure with noise, show; nothing of the table is kept.

The promise is about adding or removing one row: whoever has several rows is promised that much less. Refusals are not
part of it: that a table holds a value which its hierarchy lacks, or a missing one that was not announced, is told to
whoever publishes, and nothing is published. This is the default because a wrong hierarchy would otherwise publish an
empty table without a word. Where outsiders can see whether there is a release, `undeclared="missing"` refuses no rows:
such values count as missing, rows that may not have missing values are left out, and a table without rows is one like
any other. What is left is what cannot be read (a damaged file) or does not fit the memory, and columns of mixed types,
which pandas and SQLite allow: one row makes them text, and 1.0 is then not spelled as the category `1` any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

import numpy as np
import polars as pl

from incrowd.dp.accountant import Accountant
from incrowd.dp.amplification import amplified
from incrowd.engines.local import ROWS_PER_BATCH
from incrowd.errors import EmptyTable, SchemaError
from incrowd.hierarchies.public import Undeclared, tolerant
from incrowd.methods.private import PrivateMethod, public_table
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.models.model import Guarantee, Model
from incrowd.progress import Progress
from incrowd.randomness import is_secure, randomness, sample_counts
from incrowd.releases.noisy import NoisyCounts
from incrowd.releases.release import Release
from incrowd.schema import Schema
from incrowd.table import Table
from incrowd.tally import Tally, code_table

SEEDED = "made with a seed, so not for publication"


def is_private(method: object) -> TypeGuard[PrivateMethod]:
    """Whether a method's promise is differential privacy."""
    return bool(getattr(method, "private", False))


def publish_private(
    table: Table,
    require: Sequence[Model],
    method: PrivateMethod,
    *,
    rate: Fraction,
    seed: int | None,
    progress: Progress,
) -> Release:
    """Make a release of noisy counts; a sample makes it cost less privacy."""
    refuse_linked_columns(table.schema)
    refuse_models(require, method)
    rng = randomness(seed)
    progress("reading", 0.0)
    tally = count_people(table, method.undeclared)
    progress("reading", 1.0)
    if rate < 1:  # a sample may be empty, which is nobody's business either
        tally = replace(tally, counts=sample_counts(rng, rate, tally.counts))
    public = public_table(tally, table.schema, method.missing, method.undeclared)
    # What is promised was said before anybody looked; what a run comes to spend of it may depend on the table.
    promised = amplified(method.budget, rate) if rate < 1 else method.budget
    accountant = Accountant(limit=promised)
    with accountant.sampled(rate) if rate < 1 else nullcontext():
        tree, counts = method.measure(public, rng=rng, progress=progress, accountant=accountant)
    promise = Guarantee(
        DifferentialPrivacy(str(promised.epsilon), str(promised.delta)),
        "by construction",
        float(promised.epsilon),
        note="" if is_secure(rng) else SEEDED,
    )
    form = NoisyCounts.of(public.public, table.schema, tree, counts, public.class_codes, accountant, promise)
    return Release(
        form=form,
        guarantees=(promise,),
        method=method,  # type: ignore[arg-type]
        seed=seed,
        source=table.engine.source,
        make_batches=lambda: form.batches(ROWS_PER_BATCH),
        rate=rate,
    )


def count_people(table: Table, undeclared: Undeclared) -> Tally:
    """Count the distinct tuples of a table; with `undeclared="missing"`, also where there are none."""
    if undeclared == "refuse":
        return table.engine.count(table.schema).tally
    schema = tolerant(table.schema)
    try:
        return table.engine.count(schema).tally
    except EmptyTable:  # a refusal would tell the first person's presence from their absence
        nobody = pl.DataFrame(schema=dict.fromkeys(schema.tallied, pl.String))
        return code_table(nobody, np.empty(0, dtype=np.int64), {**schema.quasi, **schema.sensitive})[0]


def refuse_models(require: Sequence[Model], method: PrivateMethod) -> None:
    """Refuse, before anybody looks at the table, models that judge groups of people."""
    if require:
        raise SchemaError(
            f"{require[0]} cannot be asked of noisy counts: differential privacy is what {method.name} promises.  "
            "Hint: ask for no model, or use another method."
        )


def refuse_linked_columns(schema: Schema) -> None:
    """Refuse columns that would be published as they are beside noisy counts."""
    for name in (*schema.kept, *schema.pseudonyms):
        raise SchemaError(
            f"column '{name}' cannot be published beside noisy counts.  Hint: drop it, or make it a quasi-identifier."
        )
