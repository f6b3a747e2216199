"""Top-down specialization: from "anything" to as much as is safe, what tells most first (Fung, Wang & Yu 2005).

Every column has one cut through its hierarchy. A step replaces one node of one cut by its children, in all rows; of the
steps that keep every model, it is the one with the best score, information gain / (anonymity loss + 1). The gain is
about a class attribute, the loss is how much smaller the smallest group becomes. After a step, only tuples of groups
that it has split are grouped again, for every column. Cost: levels × columns² × distinct tuples, and where models are
not monotone steps × columns × distinct tuples. Each step also looks once at all tuples of one column and at the sizes
of all groups; there is at most one step per node of the hierarchies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.threads import do_together
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model, satisfies_all, stay_safe_joined
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.methods.class_column import classes_of, require_target
from incrowd.methods.deadline import Deadline
from incrowd.methods.grouping import Grouper
from incrowd.methods.taxonomy import Cuts, Taxonomy, group_values, least_elsewhere, least_within, nobody, number_groups


@dataclass(frozen=True)
class TopDownSpecialization(Method):
    """Specialize from the top down, one cut per hierarchy, and keep what a classifier of `target` needs.

    Parameters
    ----------
    target : a sensitive column or quasi-identifier (default: the combination of all sensitive columns).
    max_seconds : ends a long search: what was safe by then is published (default: None, search to the end).

    Numbers are specialized along their hierarchy's intervals too, where the paper looks for a best threshold. Steps
    that gain nothing are taken when no other is left, as in the paper. Equal scores go to the smaller anonymity loss,
    then to what narrows the most rows.

    Reference: Fung, Wang & Yu (2005).
    """

    target: str | None = None
    max_seconds: float | None = None
    name: ClassVar[str] = "top-down-specialization"

    def __post_init__(self) -> None:
        require_target(self.name, self.target)
        if self.max_seconds is not None:
            require_number(self.name, "max_seconds", self.max_seconds, above=0)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Specialize until no step is safe. Deterministic: `rng` is not used."""
        grouper = Grouper(tally, tuple(sorted(schema.sensitive)))
        require_possible(require, grouper.whole())
        space = Cuts(tally, tuple(sorted(schema.quasi)), *classes_of(tally, schema, self.target))
        search = _Search(space, grouper, require)
        search.specialize(Deadline(self.max_seconds), progress)
        return space.recode(search.cuts)


_Step = tuple[float, int, float, int, int]
"""What a step is ranked by, more is better; and minus its column and the node that it specializes."""


class _Column:
    """One column's cut, and what is known of the steps from it."""

    def __init__(self, place: int, taxonomy: Taxonomy, codes: Codes) -> None:
        self.place, self.taxonomy, self.codes = place, taxonomy, codes
        self.cut = taxonomy.cut_at(len(taxonomy) - 1)
        self.shown = np.full(1, len(taxonomy) - 1)
        """The node of each group."""
        self.closed = taxonomy.levels == 0
        """Nodes that have no children, or are not to be specialized any more."""
        self.forget()

    def forget(self) -> None:
        """Know nothing of any step."""
        self.unsafe = np.zeros(len(self.taxonomy), dtype=bool)
        self.least = nobody(len(self.taxonomy))
        """The size of the smallest part of a group, if a node is specialized."""

    def open(self) -> Bools:
        """Return whether the node of each code may be specialized."""
        return np.asarray((self.cut >= 0) & ~self.closed[self.cut])

    def below(self) -> Ints:
        """Return the node of each code, if all that may be specialized were."""
        return np.where(self.open(), self.taxonomy.below(self.cut), self.cut)

    def specialized(self, node: int) -> Ints:
        """Return the node of each code, if one were specialized."""
        return np.where(self.cut == node, self.taxonomy.below(self.cut), self.cut)

    def candidates(self) -> Ints:
        """Return the nodes that may be specialized, as far as is known."""
        nodes = np.unique(self.cut[self.open()])
        return np.asarray(nodes[~self.unsafe[nodes]])

    def learn(self, nodes: Ints, sizes: Ints, unsafe: Ints, *, for_good: bool) -> None:
        """Note the sizes of groups' parts, if the nodes of these groups are specialized, and which ones cannot be."""
        self.least = np.minimum(self.least, least_within(sizes, nodes, len(self.taxonomy)))
        self.unsafe[unsafe] = True
        if for_good:
            self.closed |= self.unsafe

    def best(self, sizes: Ints, smallest: int) -> _Step | None:
        """Return the best safe step, where groups have these sizes."""
        candidates = self.candidates()
        if not candidates.size:
            return None
        elsewhere = least_elsewhere(sizes, self.shown, len(self.taxonomy))
        losses = smallest - np.minimum(self.least, elsewhere)[candidates]
        scores = self.taxonomy.gains[candidates] / (losses + 1)
        costs = self.taxonomy.costs[candidates]
        best = np.lexsort((candidates, -costs, losses, -scores))[0]
        return float(scores[best]), -int(losses[best]), float(costs[best]), -self.place, -int(candidates[best])


class _Search:
    """The cuts so far, and the groups that they make."""

    def __init__(self, space: Cuts, grouper: Grouper, require: Sequence[Model]) -> None:
        self._grouper, self._require = grouper, require
        self._columns = [
            _Column(place, *each) for place, each in enumerate(zip(space.taxonomies, space.codes, strict=True))
        ]
        self._sizes = grouper.whole().sizes
        self._group_of = np.zeros(len(space), dtype=np.int64)
        # Where joining safe groups is always safe, a step that is unsafe now is so for good: groups only get smaller.
        self._for_good = stay_safe_joined(require, grouper.trees)

    @property
    def cuts(self) -> list[Ints]:
        """The cut of each column."""
        return [column.cut for column in self._columns]

    def specialize(self, deadline: Deadline, progress: Progress) -> None:
        """Take the best safe step as long as there is one, and time."""
        steps, taken = sum(int((~column.closed).sum()) for column in self._columns), 0
        tuples = np.arange(len(self._group_of))
        while not deadline.passed():
            do_together(
                [partial(self._look, column, tuples) for column in self._columns],
                steps=len(tuples) * len(self._columns),
            )
            smallest = int(self._sizes.min())
            tried = [column.best(self._sizes, smallest) for column in self._columns]
            best = max((step for step in tried if step), default=None)
            if best is None:
                return
            changed = self._take(self._columns[-best[3]], -best[4])
            tuples = changed if self._for_good else tuples
            taken += 1
            progress("specializing", taken / steps)

    def _look(self, column: _Column, tuples: Ints) -> None:
        """See how small groups become by each step of a column, and whether they are safe.

        All nodes are tried in one pass, since a tuple is under one of them only. Where what is unsafe is so for good,
        these are the tuples whose groups have changed: their parts are smaller than before, and others are the same.
        """
        if self._for_good:
            tuples = tuples[column.open()[column.codes[tuples]]]
        else:
            column.forget()
        if not len(tuples):
            return
        part_of, parts = self._split(column, column.below(), tuples)
        judged = self._grouper.groups(part_of, parts, tuples)
        nodes = group_values(part_of, parts, column.cut[column.codes[tuples]])
        unsafe = np.unique(nodes[~satisfies_all(self._require, judged)])
        column.learn(nodes, judged.sizes, unsafe, for_good=self._for_good)

    def _split(self, column: _Column, cut: Ints, tuples: Ints) -> tuple[Ints, int]:
        """Split groups by another cut of a column; return the part of each tuple, and how many there are."""
        return number_groups(self._group_of[tuples] * len(column.taxonomy) + cut[column.codes[tuples]])

    def _take(self, column: _Column, node: int) -> Ints:
        """Specialize a node; return the tuples whose groups have changed."""
        tuples = np.flatnonzero((column.cut == node)[column.codes])
        column.cut = column.specialized(node)
        column.closed[node] = True
        part_of, parts = self._split(column, column.cut, tuples)
        group_of_part = group_values(part_of, parts, self._group_of[tuples])
        # A group's first part has its number from now on; the others have new ones.
        others = np.ones(parts, dtype=bool)
        others[np.unique(group_of_part, return_index=True)[1]] = False
        origins, groups = group_of_part[others], len(self._sizes)
        numbers = group_of_part.copy()
        numbers[others] = groups + np.arange(len(origins))
        for each in self._columns:
            each.shown = np.concatenate([each.shown, each.shown[origins]])
        column.shown[numbers] = group_values(part_of, parts, column.cut[column.codes[tuples]])
        self._sizes = np.concatenate([self._sizes, np.zeros(len(origins), dtype=np.int64)])
        self._sizes[numbers] = self._grouper.sizes(part_of, parts, tuples)
        self._group_of[tuples] = numbers[part_of]
        return tuples
