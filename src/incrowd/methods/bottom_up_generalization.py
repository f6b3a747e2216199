"""Bottom-up generalization: from the values up, what tells least first (Wang, Yu & Chakraborty 2004).

Every column has one cut through its hierarchy. A step replaces all children of one node by that node, in all rows; it
is the one with the least information loss per anonymity gain, until all groups satisfy the models. The loss is about a
class attribute, the gain is how much larger the smallest group becomes. Cost: steps × columns × distinct tuples; there
is at most one step per node of the hierarchies. All nodes of a column are tried in one pass, since a tuple is under one
of them only. Several steps that gain nothing take a few passes together, and tuples that show the same are one line
from then on, so that it is mostly far less.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import islice
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Counts, Ints
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
from incrowd.methods.shown_lines import ShownLines
from incrowd.methods.steps_up import ColumnCut, TableCuts
from incrowd.methods.taxonomy import Cuts, group_values, least_elsewhere, least_within, number_groups

_AT_ONCE = 8
"""So many steps are tried at once at first."""
_MOST_CODES = 2**22
"""Cuts are held for no more codes than this: some 70 MB."""


@dataclass(frozen=True)
class BottomUpGeneralization(Method):
    """Generalize from the bottom up, one cut per hierarchy, and keep what a classifier of `target` needs.

    Parameters
    ----------
    target : a sensitive column or quasi-identifier (default: the combination of all sensitive columns).
    max_seconds : ends a long search: all columns then go up together until groups are safe (default: None).

    Steps that make the smallest group larger come first; among them, the one with the least loss / gain. If no step
    does, the one with the least loss is taken. Ties go to the step that widens the fewest rows by the least.

    Reference: Wang, Yu & Chakraborty (2004).
    """

    target: str | None = None
    max_seconds: float | None = None
    name: ClassVar[str] = "bottom-up-generalization"

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
        """Generalize until all groups satisfy the models. Deterministic: `rng` is not used."""
        grouper = Grouper(tally, tuple(sorted(schema.sensitive)))
        require_possible(require, grouper.whole())
        space = Cuts(tally, tuple(sorted(schema.quasi)), *classes_of(tally, schema, self.target))
        search = _Search(space, grouper, tally.counts, require)
        return space.recode(search.generalize(Deadline(self.max_seconds), progress))


class _Search:
    """The cuts so far, and what they show.

    Most steps make the smallest group no larger, and which of these come next is known without a look at the table. So
    several are tried at once. They are the next ones if no step from the cuts before the last of them would make the
    smallest group larger: groups only grow, so none did from any of the cuts before.
    """

    def __init__(self, space: Cuts, grouper: Grouper, counts: Counts, require: Sequence[Model]) -> None:
        self._space, self._grouper, self._require = space, grouper, require
        self._cuts = TableCuts.of(space.taxonomies, [taxonomy.cut_at(None) for taxonomy in space.taxonomies])
        self._lines = ShownLines(space, self._cuts.shown, counts)
        self._at_once = _AT_ONCE
        self._most_at_once = max(_MOST_CODES // sum(map(len, self._cuts.shown)), _AT_ONCE)

    def generalize(self, deadline: Deadline, progress: Progress) -> list[Ints]:
        """Take the best step as long as some group fails a model; return the node of each code, by column."""
        steps = sum(int((taxonomy.levels > 0).sum()) for taxonomy in self._space.taxonomies)
        least, taken = max((model.min_group for model in self._require), default=1), 0
        # All rows in one group are safe, so that there is always a column that can go up.
        while self._lines.smallest < least or not self._safe(self._cuts):
            if deadline.passed():
                cuts, number = TableCuts.of(self._space.taxonomies, self._cuts.above(self._cuts.open)), 1
            else:
                ahead = self._ahead()
                # As long as a group has too few rows, nobody else is asked.
                number = len(ahead) if self._lines.smallest < least else self._until_safe(ahead)
                cuts = ahead[number - 1]
            self._cuts = cuts
            self._lines.show(cuts.shown)
            taken += number
            progress("generalizing", min(taken / steps, 1.0))
        return self._cuts.shown

    def _safe(self, cuts: TableCuts) -> bool:
        """Whether all groups satisfy the models."""
        groups = number_groups(self._lines.keys_of(cuts.shown, self._space.codes))
        return bool(satisfies_all(self._require, self._grouper.groups(*groups)).all())

    def _until_safe(self, ahead: Sequence[TableCuts]) -> int:
        """Return how many of the next steps to take: until all groups are safe, or all of them."""
        number = len(ahead)
        if not self._stays_safe:
            return next((place for place, cuts in enumerate(ahead, start=1) if self._safe(cuts)), number)
        # Where all of them are not enough, fewer are not either.
        return 1 + bisect_left(ahead[:-1], True, key=self._safe) if number > 1 and self._safe(ahead[-1]) else number

    @cached_property
    def _stays_safe(self) -> bool:
        return stay_safe_joined(self._require, self._grouper.trees)

    def _ahead(self) -> Sequence[TableCuts]:
        """Return the cuts after the next steps: several if all of these gain nothing, else one."""
        while self._at_once > 1:
            cuts = [self._cuts, *islice(self._cuts.if_nothing_gains(), self._at_once)]
            if self._nothing_gained(cuts[-2]):
                self._at_once = min(2 * self._at_once, self._most_at_once)
                return cuts[1:]
            self._at_once //= 4
        self._at_once = 2
        columns, groups = self._cuts.open, (np.arange(len(self._lines)), self._lines.counts)
        larger = do_together(
            [partial(self._larger, self._cuts, column, groups) for column in columns],
            steps=len(self._lines) * len(columns),
        )
        return [self._cuts.after(min(map(ColumnCut.best, columns, larger)))]

    def _nothing_gained(self, cuts: TableCuts) -> bool:
        """Whether no step from some cuts makes the smallest group larger than it is now."""
        columns = cuts.open
        if self._lines.grouped(cuts.above(columns))[1].min() == self._lines.smallest:
            return True  # not even all steps at once do
        groups = self._lines.grouped(cuts.shown)
        return not any(self._larger(cuts, column, groups).any() for column in columns)

    def _larger(self, cuts: TableCuts, column: ColumnCut, groups: tuple[Ints, Counts]) -> Ints:
        """Return by how much the smallest group is larger after a step to each of the nodes that a column may go to.

        `groups` are those of the cuts: the group of each line, and the rows of each group.
        """
        lines, count = self._lines, len(column.taxonomy)
        nodes = column.above[lines.codes[column.place]]
        joint_of, joint_sizes = lines.grouped(cuts.above([column]))
        group_of, sizes = groups
        after = np.minimum(
            least_within(joint_sizes, group_values(joint_of, len(joint_sizes), nodes), count),
            least_elsewhere(sizes, group_values(group_of, len(sizes), nodes), count),
        )
        return np.asarray(after - lines.smallest)[column.nodes]
