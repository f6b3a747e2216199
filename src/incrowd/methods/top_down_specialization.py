"""Top-down specialization: from "anything" to as much as is safe, what tells most first (Fung, Wang & Yu 2005).

Every column has one cut through its hierarchy. A step replaces one node of one cut by its children, in all rows; of the
steps that keep every model, it is the one with the best score, information gain / (anonymity loss + 1). The gain is
about a class attribute, the loss is how much smaller the smallest group becomes. After a step, only tuples of groups
that it has split are grouped again, for every column. Cost: levels × columns² × distinct tuples, and where models are
not monotone steps × columns × distinct tuples. There is at most one step per node of the hierarchies, and each also
looks at the scores of all nodes (`steps_down.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model, satisfies_all, stay_safe_joined
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.methods.class_column import classes_of, require_target
from incrowd.methods.deadline import Deadline
from incrowd.methods.grouping import Grouper
from incrowd.methods.steps_down import ColumnSteps
from incrowd.methods.taxonomy import Cuts, group_values, number_groups


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


class _Search:
    """The cuts so far, and the groups that they make."""

    def __init__(self, space: Cuts, grouper: Grouper, require: Sequence[Model]) -> None:
        self._grouper, self._require = grouper, require
        self._columns = [
            ColumnSteps(place, *each) for place, each in enumerate(zip(space.taxonomies, space.codes, strict=True))
        ]
        self._smallest = int(grouper.whole().sizes.min())
        self._group_of, self._groups = np.zeros(len(space), dtype=np.int64), 1
        # Where joining safe groups is always safe, a step that is unsafe now is so for good: groups only get smaller.
        self._for_good = stay_safe_joined(require, grouper.trees)

    @property
    def cuts(self) -> list[Ints]:
        """The cut of each column."""
        return [column.cut for column in self._columns]

    def specialize(self, deadline: Deadline, progress: Progress) -> None:
        """Take the best safe step as long as there is one, and time."""
        steps, taken = sum(int((column.taxonomy.levels > 0).sum()) for column in self._columns), 0
        tuples = np.arange(len(self._group_of))
        while not deadline.passed():
            do_together(
                [partial(self._look, column, tuples) for column in self._columns],
                steps=len(tuples) * len(self._columns),
            )
            tried = [column.best(self._smallest) for column in self._columns]
            best = max((step for step in tried if step), default=None)
            if best is None:
                return
            changed = self._take(self._columns[-best[3]], -best[4])
            tuples = changed if self._for_good else tuples
            taken += 1
            progress("specializing", taken / steps)

    def _look(self, column: ColumnSteps, tuples: Ints) -> None:
        """See how small groups become by each step of a column, and whether they are safe.

        All nodes are tried in one pass, since a tuple is under one of them only. Where what is unsafe is so for good,
        these are the tuples whose groups have changed: their parts are smaller than before, and others are the same.
        """
        codes = column.codes[tuples]
        nodes = column.cut[codes]
        if self._for_good:
            may = column.open[nodes]
            tuples, codes, nodes = tuples[may], codes[may], nodes[may]
        else:
            column.forget()
        if not len(tuples):
            return
        part_of, parts = self._split(column, column.below(codes, nodes), tuples)
        judged = self._grouper.groups(part_of, parts, tuples)
        safe = satisfies_all(self._require, judged)
        unsafe = column.learn(group_values(part_of, parts, nodes), judged.sizes, safe)
        if self._for_good:
            column.close(unsafe)

    def _split(self, column: ColumnSteps, shown: Ints, tuples: Ints) -> tuple[Ints, int]:
        """Split groups by what a column shows; return the part of each tuple, and how many there are."""
        return number_groups(self._group_of[tuples] * len(column.taxonomy) + shown)

    def _take(self, column: ColumnSteps, node: int) -> Ints:
        """Specialize a node; return the tuples whose groups have changed."""
        tuples = column.tuples_under(node)
        column.specialize(node)
        part_of, parts = self._split(column, column.cut[column.codes[tuples]], tuples)
        # Groups only get smaller: who was not split has more rows than the smallest, or is it.
        self._smallest = min(self._smallest, int(self._grouper.sizes(part_of, parts, tuples).min()))
        self._group_of[tuples] = self._groups + part_of
        self._groups += parts
        return tuples
