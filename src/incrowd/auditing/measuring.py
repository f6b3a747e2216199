"""What is measured of a release against the table before, as stages that do not need each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from incrowd.auditing import usefulness
from incrowd.auditing.audit import Skipped
from incrowd.auditing.query_file import file_errors
from incrowd.auditing.stages import Stage
from incrowd.common.progress import Progress
from incrowd.core.families import registered
from incrowd.core.query import Query
from incrowd.core.tally import Tally
from incrowd.core.target import Target
from incrowd.metrics.expected_tables import ExpectedTables

_STREAM = 10_000
"""Chance of queries and of learning starts here, that of what is seen of columns and pairs at the next number."""


class Measuring:
    """What the release is still good for, as far as the table before is known; all `metrics`, or few."""

    def __init__(
        self,
        target: Target,
        rate: float,
        asked: Sequence[Query] | None = None,
        *,
        count: Callable[[Query], float],
        learn: bool,
        seed: int,
        metrics: bool = True,
    ) -> None:
        self._target, self._rate, self._asked, self._count = target, rate, asked, count
        self._seed, self._metrics = seed, metrics
        self._can_learn = learn and usefulness.can_learn()
        self.skipped: list[Skipped] = []
        if target.truth is None:
            self.skipped.append(Skipped("usefulness", "the table before is needed"))
        elif not self._can_learn:
            why = "not asked for" if not learn else "scikit-learn is not installed (pip install 'incrowd[experiments]')"
            self.skipped.append(Skipped("learning", why))

    def stages(self) -> list[Stage]:
        """Return what there is to do, in the order in which `found` takes it."""
        truth, form = self._target.truth, self._target.form
        if truth is None:
            return []
        weighed = form.labelled is not None and form.labelled.weighted is not None
        totals = self._target.totals if weighed else None
        rng = np.random.default_rng([self._seed, _STREAM])
        queries = usefulness.Queries(truth, form, self._rate, rng, totals=totals)
        stages = [Stage("measuring", lambda progress: self._seen(truth, progress))]
        if self._metrics:
            stages.append(Stage("measuring", lambda progress: usefulness.losses_of_labels(truth, form)))
        stages += [Stage("queries", lambda progress, size=size: queries.errors(size)) for size in usefulness.SIZES]  # type: ignore[misc]
        if self._asked is not None:
            asked = self._asked
            stages.append(Stage("queries", lambda progress: file_errors(truth, form, self._count, asked, totals)))
        if self._can_learn:
            # Chance goes on from where the queries leave it.
            stages.append(
                Stage("learning", lambda progress: usefulness.learning(truth, form, queries.drawn()[1], progress))
            )
        return stages

    def found(self, results: Sequence[Any]) -> dict[str, Any]:
        """Put together what came of the stages."""
        if self._target.truth is None:
            return {}
        left = list(results)
        columns, pairs = left.pop(0)
        losses = {}
        if self._metrics and self._target.form.labelled is not None:
            losses = usefulness.with_averages(left[0], columns, pairs)
        if self._metrics:
            left.pop(0)
        kinds = registered("metrics")
        named = {name: kinds[name].plain_name for name in losses if name in kinds}
        number = len(usefulness.SIZES) + (self._asked is not None)
        found: dict[str, Any] = {"losses": losses, "names of losses": named, "columns": columns, "pairs": pairs}
        found["queries"] = [one for one in left[:number] if one is not None]
        if self._can_learn:
            found["learning"] = left[number]
        return found

    def _seen(self, truth: Tally, progress: Progress) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        progress("measuring", 0.0)
        rng = np.random.default_rng([self._seed, _STREAM + 1])
        seen = ExpectedTables.of(truth, self._target.form, rng)
        columns = usefulness.columns_before_and_after(truth, self._target.form, seen)
        progress("measuring", 0.3)
        return columns, usefulness.pairs_before_and_after(truth, self._target.form, seen)
