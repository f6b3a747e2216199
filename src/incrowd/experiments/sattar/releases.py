"""The releases of one table that are compared: made when first asked for, and kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from incrowd.common.records import dataclass
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.experiments.equivalent_k import avg_k, max_k, unsatisfied_share
from incrowd.experiments.sattar.settings import (
    AVG_K,
    AVG_K_NODES,
    CRITERION,
    LEAST_LOSS,
    MAX_K,
    MAX_K_NODES,
    OURS,
    Settings,
)
from incrowd.experiments.tables import Subject
from incrowd.methods.local_recoding import LocalRecoding
from incrowd.methods.mondrian import Mondrian
from incrowd.metrics.workload.cells import Cells
from incrowd.models.expected_confidence import ExpectedConfidence
from incrowd.models.k_anonymity import KAnonymity
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release

LOWEST = {"age": 1}
"""Ages are published in steps of five years at best (the paper's minimum generalization)."""


@dataclass(frozen=True, eq=False)
class Releases:
    """Local recoding of a sample, as the paper has it, and Mondrian of all rows, with as much k as it takes."""

    subject: Subject
    settings: Settings

    def recoded(self, limit: float | None = None) -> Release:
        """Return the paper's own method at a distortion limit."""
        chosen = self.settings.limit if limit is None else limit
        method = LocalRecoding(max_distortion=chosen, min_levels=LOWEST)
        return self._publish(ExpectedConfidence(), method, sampled=True)

    def cut(self, k: int, method: Method | None = None) -> Release:
        """Return Mondrian's table of all rows."""
        return self._publish(KAnonymity(k), method or Mondrian(), sampled=False)

    def as_they_are(self) -> Release:
        """Return the rows of the same sample as they are: what would be published without any protection."""
        return self._publish(KAnonymity(1), Mondrian(labels="tight"), sampled=True)

    def broken_share(self, release: Release) -> float:
        """Return which share of a sample's published rows breaks the criterion, whatever the release promises."""
        table = self.subject.tally
        sample = replace(table, rate=release.rate, drawn_from=table)
        return unsatisfied_share(sample, release.generalized, [ExpectedConfidence()])

    def _publish(self, model: Model, method: Method, *, sampled: bool) -> Release:
        rate = self.settings.rate if sampled else 1
        return publish(self.subject.table, model, method=method, sample=rate, seed=self.settings.seed)

    @cached_property
    def ours(self) -> Release:
        """The paper's own method at its own limit."""
        return self.recoded()

    @cached_property
    def max_k(self) -> int:
        """The smallest k at which all rows of Mondrian's table meet the criterion, which knows of no sample there."""
        return max_k(self.subject.tally, self.subject.schema, [ExpectedConfidence()])

    @cached_property
    def max_k_nodes(self) -> int:
        """As `max_k`, with groups shown as nodes of the hierarchies."""
        return max_k(
            self.subject.tally, self.subject.schema, [ExpectedConfidence()], method=Mondrian(labels="hierarchy")
        )

    @property
    def avg_k(self) -> int:
        """The mean group size of the paper's own method."""
        return avg_k(self.ours.generalized)

    @cached_property
    def cells(self) -> dict[str, Cells]:
        """All releases whose answers are compared, ready to answer."""
        nodes = Mondrian(labels="hierarchy")
        least_loss = LocalRecoding(max_distortion=self.settings.limit, min_levels=LOWEST, column_choice="least-loss")
        compared = {
            OURS: self.ours,
            LEAST_LOSS: self._publish(ExpectedConfidence(), least_loss, sampled=True),
            MAX_K: self.cut(self.max_k),
            AVG_K: self.cut(self.avg_k),
            MAX_K_NODES: self.cut(self.max_k_nodes, nodes),
            AVG_K_NODES: self.cut(self.avg_k, nodes),
            CRITERION: self._publish(ExpectedConfidence(), Mondrian(), sampled=True),
        }
        return {
            name: Cells.of_release(release.generalized, rate=float(release.rate)) for name, release in compared.items()
        }
