"""Which share to sample, and how much distortion to allow: what each pair of the two would publish, and how well.

A smaller sample leaves an adversary less sure that anybody is in the release at all, and publishes fewer rows; whether
those need more or less distortion depends on the table, since both confidences fall (Sattar et al. 2013, section 5). A
higher `max_distortion` withholds fewer rows and publishes worse ones. That pair is best which keeps most: rows times
the detail that they are left with (`weighing.py`). The adversary's doubt is not weighed: choose the rate for it, and
read its lines.

Cost: one search per pair; the table is counted once, and each sample is drawn once. Searches do not share their work,
since withholding a row changes groups, save that a run in which no row was withheld and none came above a lower limit
is also the run for that limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.randomness import randomness
from incrowd.common.renaming import with_new_names
from incrowd.core.model import Model, for_each_group
from incrowd.core.sampling import as_rate, draw_sample
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.methods.local_recoding import LocalRecoding
from incrowd.metrics.distortion import Distortion, group_distortions
from incrowd.metrics.ncp import GlobalCertaintyPenalty
from incrowd.models.expected_confidence import ExpectedConfidence
from incrowd.planning.weighing import weighed
from incrowd.publishing.publish import refuse_repeated
from incrowd.publishing.table import Table

RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
MAX_DISTORTIONS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)

_ROUNDING = 1e-9


def advise_sampling(
    table: Table,
    *,
    rates: Sequence[float] = RATES,
    max_distortions: Sequence[float] = MAX_DISTORTIONS,
    require: Sequence[Model] = (),
    method: LocalRecoding | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    limits: Sequence[float] | None = None,
) -> pl.DataFrame:
    """Return one line per sampling rate and largest distortion: what that pair would publish, and how well.

    Parameters
    ----------
    table : what would be published, as `incrowd.read` opens it.
    rates : sampling rates to compare.
    max_distortions : the values of `LocalRecoding.max_distortion` to compare; column `limit` of the result.
    require : the models that a release must satisfy (default: `ExpectedConfidence()`).
    method : the method whose `max_distortion` is varied (default: `LocalRecoding()`).
    seed : makes chance repeatable (default: the operating system's chance).
    progress : is told how far the work is.
    limits : the old name of `max_distortions`.

    In the result, `published` is the share of the table's rows that a reader would see, and `withheld` the share of the
    sampled rows that would be held back. `distortion` is the mean distortion of what is published. `gcp` is the global
    certainty penalty of the sample, where a withheld row counts as a total loss. `kept` is the share of rows times the
    detail that they are left with (1 − distortion). `best` marks the pair that keeps most, and those that keep as much
    but for `weighing.TOLERANCE`; a pair that another one beats on rows and distortion is never marked. `why` says it in
    words. If a pair can publish nothing, its distortion and gcp are missing.

    Where people have several rows, all shares are shares of people, and one tuple stands for a person: labels that must
    be widened to hold all rows of a person are not in these numbers.

    >>> import incrowd as ic
    >>> people = ic.datasets.census(2000)
    >>> table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop")
    >>> advice = advise_sampling(table, rates=[0.5, 0.9], max_distortions=[0.4, 0.8], seed=1)
    >>> advice.columns
    ['rate', 'limit', 'published', 'withheld', 'distortion', 'gcp', 'kept', 'best', 'why']
    >>> advice.height, advice["best"].sum()
    (4, 1)
    """
    if limits is not None:
        given = {} if max_distortions is MAX_DISTORTIONS else {"max_distortions": max_distortions}
        given = with_new_names("advise_sampling", {**given, "limits": limits}, {"limits": "max_distortions"})
        max_distortions = given["max_distortions"]
    if not len(rates) or not len(max_distortions):
        raise RecipeError("there is nothing to compare: name at least one rate and one largest distortion.")
    if seed is not None:
        require_whole("advise", "seed", seed, at_least=0)
    models = for_each_group(tuple(require) or (ExpectedConfidence(),))
    schema = table.schema.searched
    methods = [
        replace(method or LocalRecoding(), max_distortion=most) for most in sorted(set(max_distortions), reverse=True)
    ]
    exact = sorted({as_rate(rate) for rate in rates})
    progress("reading", 0.0)
    whole = _everybody(table)
    progress("reading", 1.0)
    lines: list[dict[str, Any]] = []
    for number, rate in enumerate(exact):
        rng = randomness(seed)
        sample = whole if rate == 1 else draw_sample(whole, rate, rng).tally
        line: dict[str, Any] = {}
        most = np.inf
        for place, chosen in enumerate(methods):
            progress("comparing", (number + place / len(methods)) / len(exact))
            if not (line.get("withheld") == 0.0 and most <= chosen.max_distortion + _ROUNDING):
                line, most = _measure(sample, whole.rows, schema, models, chosen, rng)
            lines.append({"rate": float(rate), "limit": float(chosen.max_distortion), **line})
    progress("comparing", 1.0)
    found = pl.DataFrame(lines, schema_overrides={"distortion": pl.Float64, "gcp": pl.Float64}).sort("rate", "limit")
    return weighed(found)


def _everybody(table: Table) -> Tally:
    """Count the people of a table; refuse one that could not be published, as publishing does."""
    schema = table.schema
    if not schema.person and not schema.each_row_a_person:
        refuse_repeated(table.engine.repeated(schema.naming))
    counted = table.engine.count(schema, table.population)
    return counted.tally if counted.people is None else counted.people.tally


def _measure(
    sample: Tally, rows: int, schema: Schema, models: Sequence[Model], method: LocalRecoding, rng: np.random.Generator
) -> tuple[dict[str, Any], float]:
    """Return what a search would publish, and the largest distortion in it."""
    try:
        recoding = method.search(sample, schema, models, rng=rng, progress=silent)
    except Unsatisfiable:
        return {"published": 0.0, "withheld": 1.0, "distortion": None, "gcp": None}, np.inf
    release = Generalized.of(sample, schema, recoding)
    line = {
        "published": release.rows / rows,
        "withheld": release.withheld / release.rows_in,
        "distortion": Distortion(published_only=True).measure(sample, release),
        "gcp": GlobalCertaintyPenalty().measure(sample, release),
    }
    return line, float(group_distortions(sample, release).max(initial=0.0))
