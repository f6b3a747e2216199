"""The whole path: count, search, show, check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from incrowd.errors import RecipeError, SchemaError, TallyTooLarge
from incrowd.forms import ShowGeneralized, Showing
from incrowd.hierarchies import Categories
from incrowd.hierarchies.flat import AsWritten
from incrowd.methods import Method, Mondrian
from incrowd.methods.private import PrivateMethod
from incrowd.models import Model
from incrowd.models.whole_table import for_each_group
from incrowd.parameters import require_whole
from incrowd.private_publishing import SEEDED, is_private, publish_private
from incrowd.progress import Progress, silent
from incrowd.pseudonyms import PseudonymKey
from incrowd.randomness import is_secure, randomness, words
from incrowd.releases.release import Release
from incrowd.sampling import as_rate, draw_sample
from incrowd.schema import Schema
from incrowd.table import Table


def publish(
    table: Table,
    require: Model | Sequence[Model] = (),
    *,
    method: Method | PrivateMethod | None = None,
    form: Showing | None = None,
    sample: float | Fraction = 1,
    seed: int | None = None,
    pseudonym_key: PseudonymKey | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a release of a table that satisfies every required model, or raise `Unsatisfiable`.

    The `method` finds who hides together, and the `form` is how they are shown: unless it is given, the method's own,
    which is generalized values for most. With a `sample` below 1, each row is taken with that probability, by a throw
    of its own, and the rest is not published. Without a `seed`, chance comes from the operating system; with one, the
    same table gives the same release.
    Without a `pseudonym_key`, pseudonyms are made under a key that is drawn now and forgotten.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)])
    >>> release.rows_in == release.rows + release.withheld
    True
    """
    models = tuple(require) if isinstance(require, Sequence) else (require,)
    method = method or Mondrian()
    if not models and not is_private(method) and not getattr(method, "guarantees", ()):
        raise RecipeError("nothing is required of the release.  Hint: ask for a model, such as KAnonymity(5).")
    if seed is not None:
        require_whole("publish", "seed", seed, at_least=0)
    if is_private(method):
        if form is not None:
            raise RecipeError(f"{method.name} publishes noisy counts, and no other form.")
        return publish_private(table, models, method, rate=as_rate(sample), seed=seed, progress=progress)
    models += tuple(model for model in getattr(method, "guarantees", ()) if model not in models)
    rate, method = as_rate(sample), cast("Method", method)
    refuse_uncovered(models, table.schema)
    rng = randomness(seed)
    promise = None
    if hasattr(method, "promise"):  # made before anybody looks, and refused where it could not be kept
        if form is not None and form != ShowGeneralized():
            raise RecipeError(f"{method.name} publishes generalized values, and no other form.")
        promise = method.promise(rate, note="" if is_secure(rng) else SEEDED)
    progress("reading", 0.0)
    try:
        counted = table.engine.count(table.schema if promise is None else _as_written(table.schema), table.population)
    except TallyTooLarge as found:
        from incrowd.engines.spark.large import publish_in_parts

        return publish_in_parts(
            table, models, method, form, found, rate=rate, seed=seed, key=pseudonym_key, progress=progress
        )
    progress("reading", 1.0)
    drawn = None if rate == 1 else draw_sample(counted.tally, rate, rng)
    tally = counted.tally if drawn is None else drawn.tally
    # Only some methods make all groups at once, and can tell what holds of all of them together.
    searched = models if getattr(method, "judges_all_groups", False) else for_each_group(models)
    recoding = method.search(tally, table.schema, searched, rng=rng, progress=progress)
    if drawn is not None:
        recoding = drawn.extend(recoding)
    shown = (form or recoding.form or ShowGeneralized()).show(
        counted.tally, table.schema, recoding, rows_in=tally.rows, rng=rng
    )
    guarantees = shown.verify(models, tally)
    key = pseudonym_key or (PseudonymKey.new() if table.schema.pseudonyms else None)
    shuffle = None if drawn is None else int(words(rng, 1)[0])
    return Release(
        form=shown,
        guarantees=(*guarantees, *(() if promise is None else (promise.guarantee,))),
        method=method,
        seed=seed,
        source=table.engine.source,
        make_batches=lambda: table.engine.apply(counted, recoding, shown, key, shuffle=shuffle),
        make_frame=lambda: table.engine.frame(counted, recoding, shown, key, shuffle=shuffle),
        pseudonym_key=None if key is None else key.path,
        rate=rate,
        asked_form=form,
        population=table.population,
        promise=promise,
        solutions=None if recoding.explored is None else recoding.explored.table(),
    )


def _as_written(schema: Schema) -> Schema:
    """Return a schema by which no row changes how another one's sensitive values are spelled or ordered."""
    kept = {name: one if isinstance(one, Categories) else AsWritten() for name, one in schema.sensitive.items()}
    return replace(schema, sensitive=kept)


def refuse_uncovered(models: Sequence[Model], schema: Schema) -> None:
    """Refuse columns that are published as they are where a model speaks of all that is published."""
    uncovered = (*schema.kept, *schema.pseudonyms)
    for model in models:
        if uncovered and getattr(model, "covers_all_columns", False):
            raise SchemaError(
                f"{model} speaks of every published column, and '{uncovered[0]}' would be published outside of it.  "
                "Hint: make it sensitive or a quasi-identifier, or drop it."
            )
