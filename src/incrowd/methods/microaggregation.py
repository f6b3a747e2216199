"""Microaggregation by MDAV: clusters of about k records, outliers first (Domingo-Ferrer & Mateo-Sanz 2002).

The record furthest from the average and its k - 1 nearest make a cluster, then the record furthest from that one and
its nearest, again and again (maximum distance to average vector, as in Domingo-Ferrer & Torra 2005, who also bring in
categories and hierarchies). Cost: points² / k distances, where a point is a distinct tuple of quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.method import Method, Moves, require_possible
from incrowd.core.model import Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.show import Show
from incrowd.core.tally import Tally
from incrowd.kernels import clustering
from incrowd.methods.clusters import Labels, Points, recode_safe, require_labels
from incrowd.methods.grouping import Grouper


@renamed(size="group_size")
@dataclass(frozen=True)
class Microaggregation(Method):
    """Clusters of at least `group_size` rows around the most unusual people.

    Parameters
    ----------
    group_size : the smallest number of rows in a cluster; the models may ask for more (default: as many as they need).
    labels : "hierarchy" or "tight": what is published of a cluster (default: "hierarchy"). "hierarchy" shows, for each
        column, the lowest node of its hierarchy that covers the cluster. "tight" shows the range or set from the
        smallest to the largest of its own values, and so the values of extreme people: the audit flags it.

    Columns of numbers and dates are published as the mean of the cluster; `show="label"` publishes labels instead.
    Clusters that have the same labels and different means stay apart.

    Rows with the same quasi-identifiers are never split up. With `group_size` rows or more they are a cluster of their
    own; a cluster of others grows by whole points, to fewer than 2 × `group_size` rows. More than 30,000 points are
    first cut into blocks of at most 10,000 by Mondrian's relaxed cuts, and clustered block by block. A cluster that
    still fails a model joins the one with which it loses least, until none fails.

    With `effort`, people move between clusters so that squared errors fall. A mean is off by its distance from a value,
    as a share of the column's range; a label by the share of the column that it covers (its certainty penalty).

    Reference: Domingo-Ferrer & Mateo-Sanz (2002); Domingo-Ferrer & Torra (2005).
    """

    group_size: int | None = None
    labels: Labels = "hierarchy"
    name: ClassVar[str] = "microaggregation"
    shows: ClassVar[Show] = "mean"

    def __post_init__(self) -> None:
        if self.group_size is not None:
            require_whole(self.name, "group_size", self.group_size, at_least=1)
        require_labels(self.name, self.labels)

    @property
    def moves(self) -> Moves:
        """Clusters may be improved: what they show is less off, in squares, and they keep their size."""
        return Moves(loss="squared-error", min_rows=self.group_size or 1)

    @property
    def searches_parts(self) -> bool:
        """Yes: clusters are made of neighbours."""
        return True

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Cluster, then join what fails. Deterministic: `rng` is not used."""
        grouper = Grouper(tally, tuple(sorted(schema.sensitive)))
        require_possible(require, grouper.whole())
        points = Points(tally, tuple(sorted(schema.quasi)))
        size = max([self.group_size or 1, *(model.min_group for model in require)])

        def cluster_block(block: Ints, cluster_of: Ints) -> int:
            return clustering.mdav(
                points.numbers[block], points.paths[block], points.path_weights, points.scale,
                points.counts[block], size, points.nodes, cluster_of,
            )  # fmt: skip

        cluster_of = points.cluster(schema, progress, cluster_block)
        return recode_safe(
            points, cluster_of, tally, grouper, require, size=size, labels=self.labels, progress=progress,
            means=tuple(name for name, show in schema.show.items() if show == "mean"),
        )  # fmt: skip
