"""What differs where a method publishes noisy counts: what may be asked of it, and what it shows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import shown_value
from incrowd.common.progress import Progress
from incrowd.common.randomness import is_secure
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model
from incrowd.core.recoding import Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.group_privacy import price_of_person
from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.measured_boxes import MeasuredBoxes
from incrowd.forms.noisy import NoisyCounts
from incrowd.methods.private import PrivateMethod, public_table
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.publishing.measuring_errors import measure_errors

MOST_ROWS = 1_000_000_000
"""Noisy counts that add up to more are not published as rows, unless `INCROWD_MAX_NOISY_ROWS` says so."""
_MOST_DIGITS = 18
SEEDED = "made with a seed, so not for publication"


def refuse_for_noisy_counts(method: AnyMethod, require: Sequence[Model], form: Showing | None, schema: Schema) -> None:
    """Refuse, before anybody looks at the table, what noisy counts cannot be, satisfy or hold."""
    if form is not None:
        raise RecipeError(f"{method.name} publishes noisy counts, and no other form.")
    for name in schema.found_again:
        raise SchemaError(
            f"column '{name}' cannot be published beside noisy counts.  Hint: drop it, or make it a quasi-identifier."
        )
    if require:
        raise SchemaError(
            f"{require[0]} cannot be asked of noisy counts: differential privacy is what {method.name} promises.  "
            "Hint: ask for no model, or use another method."
        )


def promised_price(method: PrivateMethod, rate: Fraction) -> Budget:
    """Return what is promised before anybody looks; what a run comes to spend of it may depend on the table."""
    by_itself = method.prices_people(rate)
    budget = method.budget if by_itself else method.for_rows.budget
    price = amplified(budget, rate) if rate < 1 else budget
    return price if by_itself or method.most_rows is None else price_of_person(price, method.most_rows)


def noisy_counts_of(
    tally: Tally, schema: Schema, method: PrivateMethod, rate: Fraction, rng: np.random.Generator, progress: Progress
) -> NoisyCounts:
    """Measure a table, or a sample of it that costs less privacy, with noise; nothing of the table is kept.

    Where the method has `most_rows`, the table is that of so many rows of each person; rows of it are sampled.
    """
    public = public_table(tally, schema, method.missing, method.undeclared)
    promised = promised_price(method, rate)
    accountant = Accountant(limit=promised)
    by_itself = method.prices_people(rate)
    run, most_rows = (method, None) if by_itself else (method.for_rows, method.most_rows)
    with accountant.by_person(most_rows), accountant.sampled(rate) if rate < 1 else nullcontext():
        counting, for_errors = run.for_counting()
        tree, counts = counting.measure(public, rng=rng, progress=progress, accountant=accountant)
        measured = MeasuredBoxes.of(schema, public.public.trees, tree, public.class_codes)
        if for_errors:
            accountant.spend("how wrong counts are", for_errors)
            # A person who pays by themselves pays for each of their rows.
            epsilon = for_errors.epsilon / (run.most_rows or 1)
            errors = measure_errors(measured, public.people, epsilon=epsilon, rng=rng)
            measured = replace(measured, errors=errors)
    _refuse_too_many_rows(method, counts)
    promise = Guarantee(
        DifferentialPrivacy(str(promised.epsilon), str(promised.delta), method.most_rows),
        "by construction",
        float(promised.epsilon),
        note="" if is_secure(rng) else SEEDED,
    )
    return NoisyCounts.of(public.public, schema, tree, counts, public.class_codes, accountant, promise, measured)


def _refuse_too_many_rows(method: PrivateMethod, counts: NDArray[np.int64]) -> None:
    """Refuse counts of which nearly all is noise, before rows are made of them.

    Only noisy counts are looked at, which are paid for: the refusal tells nothing else of the table.
    """
    rows, most = float(counts.sum(dtype=np.float64)), _most_rows()
    if rows > most:
        raise RecipeError(
            f"{method.name}: at {method.budget}, noise makes up some {rows:.2g} rows, and at most {most:,} are "
            "published.  Hint: choose a larger ε, or fewer and coarser columns. INCROWD_MAX_NOISY_ROWS in the "
            "environment raises the limit."
        )


def _most_rows() -> int:
    told = os.environ.get("INCROWD_MAX_NOISY_ROWS", "")
    if not told:
        return MOST_ROWS
    if not told.isdecimal() or len(told) > _MOST_DIGITS:
        raise RecipeError(f"INCROWD_MAX_NOISY_ROWS is a whole number, not {shown_value(told)}.")
    return int(told)
