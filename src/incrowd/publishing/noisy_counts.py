"""What differs where a method publishes noisy counts: what may be asked of it, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction

import numpy as np

from incrowd.common.progress import Progress
from incrowd.common.randomness import is_secure
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model
from incrowd.core.recoding import Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.amplification import amplified
from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.noisy import NoisyCounts
from incrowd.methods.private import PrivateMethod, public_table
from incrowd.models.differential_privacy import DifferentialPrivacy

SEEDED = "made with a seed, so not for publication"


def refuse_for_noisy_counts(method: AnyMethod, require: Sequence[Model], form: Showing | None, schema: Schema) -> None:
    """Refuse, before anybody looks at the table, what noisy counts cannot be, satisfy or hold."""
    if form is not None:
        raise RecipeError(f"{method.name} publishes noisy counts, and no other form.")
    for name in (*schema.kept, *schema.pseudonyms):
        raise SchemaError(
            f"column '{name}' cannot be published beside noisy counts.  Hint: drop it, or make it a quasi-identifier."
        )
    if require:
        raise SchemaError(
            f"{require[0]} cannot be asked of noisy counts: differential privacy is what {method.name} promises.  "
            "Hint: ask for no model, or use another method."
        )


def noisy_counts_of(
    tally: Tally, schema: Schema, method: PrivateMethod, rate: Fraction, rng: np.random.Generator, progress: Progress
) -> NoisyCounts:
    """Measure a table, or a sample of it that costs less privacy, with noise; nothing of the table is kept."""
    public = public_table(tally, schema, method.missing, method.undeclared)
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
    return NoisyCounts.of(public.public, schema, tree, counts, public.class_codes, accountant, promise)
