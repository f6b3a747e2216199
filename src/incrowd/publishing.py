"""The whole path: count, search, show, check."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.errors import RecipeError
from incrowd.methods import Method, Mondrian
from incrowd.models import Model
from incrowd.models.parameters import require_whole
from incrowd.progress import Progress, silent
from incrowd.pseudonyms import PseudonymKey
from incrowd.releases.generalized import Generalized
from incrowd.releases.release import Release
from incrowd.table import Table
from incrowd.verification import verify


def publish(
    table: Table,
    require: Model | Sequence[Model],
    *,
    method: Method | None = None,
    seed: int | None = None,
    pseudonym_key: PseudonymKey | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a release of a table that satisfies every required model, or raise `Unsatisfiable`.

    Without a `seed`, chance comes from the operating system; with one, the same table gives the same release.
    Without a `pseudonym_key`, pseudonyms are made under a key that is drawn now and forgotten.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)])
    >>> release.rows_in == release.rows + release.withheld
    True
    """
    models = tuple(require) if isinstance(require, Sequence) else (require,)
    if not models:
        raise RecipeError("nothing is required of the release.  Hint: ask for a model, such as KAnonymity(5).")
    if seed is not None:
        require_whole("publish", "seed", seed, at_least=0)
    method = method or Mondrian()
    progress("reading", 0.0)
    counted = table.engine.count(table.schema)
    progress("reading", 1.0)
    recoding = method.search(counted.tally, table.schema, models, rng=np.random.default_rng(seed), progress=progress)
    form = Generalized.of(counted.tally, table.schema, recoding)
    guarantees = verify(
        form.lines(), tuple(table.schema.quasi), tuple(table.schema.sensitive), models, before=counted.tally
    )
    key = pseudonym_key or (PseudonymKey.new() if table.schema.pseudonyms else None)
    return Release(
        form=form,
        guarantees=tuple(guarantees),
        method=method,
        seed=seed,
        source=table.engine.source,
        make_batches=lambda: table.engine.apply(counted, recoding, form, key),
        shown=recoding.shown,
        pseudonym_key=None if key is None else key.path,
    )
