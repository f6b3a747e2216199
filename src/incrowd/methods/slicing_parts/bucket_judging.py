"""Whether buckets satisfy more than what they were dealt for: models of other kinds are asked once they are there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.core.groups import Groups, Histogram, LazyHistograms, histogram
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.forms.slices.slices import Buckets


def require_satisfied(owner: str, tally: Tally, schema: Schema, buckets: Buckets, require: Sequence[Model]) -> None:
    """Raise `Unsatisfiable` if buckets fail a model that speaks of groups and their sensitive values.

    What speaks of people who look alike, of labels, or of all matching buckets is left to the form that shows them.
    """
    groups = _as_groups(tally, schema, buckets)
    judged = [model for model in require if model.holds_in_buckets and not model.over_matches]
    failing = [model for model in judged if not model.satisfied(groups).all()]
    if failing:
        reached = ", ".join(f"{model} (reaches {model.achieved(groups):.4g})" for model in failing)
        raise Unsatisfiable(
            f"{owner} deals rows out by size and diversity alone, and its buckets do not satisfy {reached}.  "
            'Hint: ask for less, or let another method find the groups, such as "mondrian" with the form "bucketized".'
        )


def _as_groups(tally: Tally, schema: Schema, buckets: Buckets) -> Groups:
    names = tuple(sorted(schema.sensitive))
    sizes = np.bincount(buckets.bucket_of, weights=buckets.counts, minlength=len(buckets)).astype(np.int64)

    def count(name: str) -> Histogram:
        codes = np.ascontiguousarray(tally.column(name))[buckets.tuples]
        return histogram(buckets.bucket_of, codes, buckets.counts, len(buckets))

    whole = {name: tally.table_counts(name) for name in names}
    return Groups(sizes, LazyHistograms(names, count), whole, tally.trees, table=tally)
