"""k-member clustering: grow each cluster by whoever widens it least (Byun, Kamra, Bertino & Li 2007).

This is also "cluster, then publish ranges" (CLR) of Li, Qardaji & Su 2012, who show that it is unsafe with tight
ranges, k-anonymous or not: in a column where one person's value stands out, that person's cluster has a range such as
[900K, 35M], and its end is that person's value, for all to read. Where the clusters end depends on everybody's value,
so that even the other ranges tell something of who is in the table. `labels="tight"` therefore makes the release warn.

Cost: points² / 2 comparisons at most; a point is a distinct tuple of quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.method import Method, Moves, require_possible
from incrowd.core.model import Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.kernels import clustering
from incrowd.methods.clusters import Labels, Points, recode_safe, require_labels
from incrowd.methods.grouping import Grouper


@dataclass(frozen=True)
class KMember(Method):
    """Clusters of the fewest rows that the models allow, each grown from the point furthest from the last one's start.

    Parameters
    ----------
    labels : "hierarchy" or "tight": what is published of a cluster (default: "hierarchy"). "hierarchy" shows, for each
        column, the lowest node of its hierarchy that covers the cluster. "tight" shows the range or set from the
        smallest to the largest of its own values, and so the values of extreme people.

    The point that joins next is the one with which the cluster spans least: the sum over columns of a range's share of
    the column's line, or of the common node's level over the hierarchy's height. The first start is the point furthest
    from the one with the lowest codes, where the paper starts at random. Rows with the same quasi-identifiers are never
    split up, and enough of them are a cluster of their own. More than 30,000 points are first cut into blocks of at
    most 10,000 by Mondrian's relaxed cuts. What is left over at the end, and clusters that fail a model, join the
    cluster with which they lose least.

    Reference: Byun, Kamra, Bertino & Li (2007).
    """

    labels: Labels = "hierarchy"
    name: ClassVar[str] = "k-member"

    def __post_init__(self) -> None:
        require_labels(self.name, self.labels)

    @property
    def moves(self) -> Moves:
        """Clusters may be improved."""
        return Moves()

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
        size = max((model.min_group for model in require), default=1)

        def cluster_block(block: Ints, cluster_of: Ints) -> int:
            return clustering.k_member(
                points.numbers[block], points.paths[block], points.path_starts, points.counts[block], size, cluster_of
            )

        cluster_of = points.cluster(schema, progress, cluster_block)
        return recode_safe(
            points, cluster_of, tally, grouper, require, size=size, labels=self.labels, progress=progress
        )
