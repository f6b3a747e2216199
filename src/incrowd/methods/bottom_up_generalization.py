"""Bottom-up generalization: from the values up, what tells least first (Wang, Yu & Chakraborty 2004).

Every column has one cut through its hierarchy. A step replaces all children of one node by that node, in all rows; it
is the one with the least information loss per anonymity gain, until all groups satisfy the models. The loss is about a
class attribute, the gain is how much larger the smallest group becomes. Cost: steps × columns × distinct tuples; there
is at most one step per node of the hierarchies. All nodes of a column are tried in one pass, since a tuple is under one
of them only. Where one tuple proves that no step of a column gains anything, the pass is a comparison of keys; and
tuples that show the same are one line from then on (`shown_lines.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.threads import do_together
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.methods.class_column import classes_of, require_target
from incrowd.methods.deadline import Deadline
from incrowd.methods.grouping import Grouper, sum_up
from incrowd.methods.shown_lines import ShownLines
from incrowd.methods.taxonomy import NOBODY, Cuts, Taxonomy, group_values, least_elsewhere, least_within, number_groups


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
        search = _Search(space, grouper, tally.counts)
        search.generalize(require, Deadline(self.max_seconds), progress)
        return space.recode(search.cuts)


_Step = tuple[bool, float, float, int, int]
"""What a step is ranked by, less is better; its column; and the node that it leads to."""


@dataclass(frozen=True, eq=False)
class _Ahead:
    """Where a column may go from its cut: `above` is each code's next node, `step` what that adds to keys."""

    place: int
    above: Ints
    step: Ints
    nodes: Ints
    losses: Floats
    costs: Floats

    @classmethod
    def of(cls, taxonomy: Taxonomy, place: int, cut: Ints, lines: ShownLines) -> _Ahead:
        """Look up from a cut."""
        above = taxonomy.above(cut)
        nodes = np.unique(above[above != cut])
        return cls(place, above, lines.step(place, cut, above), nodes, taxonomy.gains[nodes], taxonomy.costs[nodes])

    def best(self, larger: Ints) -> _Step:
        """Return the best step, if the smallest group becomes so much larger by each."""
        ratios = self.losses / np.maximum(larger, 1)
        best = np.lexsort((self.nodes, self.costs, ratios, larger == 0))[0]
        return bool(larger[best] == 0), float(ratios[best]), float(self.costs[best]), self.place, int(self.nodes[best])

    @cached_property
    def if_nothing_gains(self) -> _Step:
        """The best step where none makes the smallest group larger; asked for again and again."""
        return self.best(np.zeros(len(self.nodes), dtype=np.int64))


class _Search:
    """The cuts so far, and what they show.

    For each column, a witness is known where possible: a line of a smallest group which is no larger with the column
    one level up. As long as that is so, no step in this column makes the smallest group larger, and nobody else is
    looked at.
    """

    def __init__(self, space: Cuts, grouper: Grouper, counts: Counts) -> None:
        self._space, self._grouper = space, grouper
        self.cuts = [taxonomy.cut_at(None) for taxonomy in space.taxonomies]
        self._lines = ShownLines(space, self.cuts, counts)
        self._ahead = [self._look_up(place) for place in range(len(self.cuts))]
        self._witnesses: list[int | None] = [None] * len(self.cuts)
        self._merge()

    def generalize(self, require: Sequence[Model], deadline: Deadline, progress: Progress) -> None:
        """Take the best step as long as some group fails a model."""
        steps = sum(int((taxonomy.levels > 0).sum()) for taxonomy in self._space.taxonomies)
        least, taken = max((model.min_group for model in require), default=1), 0
        while not self._safe(require, least):
            if deadline.passed():
                for place, ahead in enumerate(self._ahead):
                    self._move(place, ahead.above)
                self._merge()
            else:
                nothing_gained, *_, place, node = min(self._tried())
                self._move(place, np.where(self._ahead[place].above == node, node, self.cuts[place]))
                if not nothing_gained:
                    self._merge()
            taken += 1
            progress("generalizing", taken / steps)

    def _look_up(self, place: int) -> _Ahead:
        """See where a column may go from its cut."""
        return _Ahead.of(self._space.taxonomies[place], place, self.cuts[place], self._lines)

    def _move(self, place: int, cut: Ints) -> None:
        """Show another cut of a column."""
        self._lines.keys = self._lines.moved_keys(place, self._lines.step(place, self.cuts[place], cut))
        self.cuts[place] = cut
        self._ahead[place] = self._look_up(place)
        self._merged = False

    def _merge(self) -> None:
        """Make every group one line."""
        line_of = self._lines.merge()
        self._witnesses = [None if line is None else int(line_of[line]) for line in self._witnesses]
        self._smallest = int(self._lines.counts.min(initial=NOBODY))
        self._merged = True

    def _safe(self, require: Sequence[Model], least: int) -> bool:
        """Whether all groups satisfy the models; where one has too few rows, nobody else is asked."""
        if self._smallest < least:
            return False
        groups = number_groups(self._lines.keys_of(self.cuts, self._space.codes))
        return bool(satisfies_all(require, self._grouper.groups(*groups)).all())

    def _tried(self) -> Iterator[_Step]:
        """Yield the best step of each column that can go up."""
        can = [ahead for ahead in self._ahead if ahead.nodes.size]
        known = {ahead.place: line for ahead in can if (line := self._witnesses[ahead.place]) is not None}
        as_many = self._lines.as_many({place: self._ahead[place].step for place in known}, list(known.values()))
        hopeless = {place for place, rows in zip(known, as_many.tolist(), strict=True) if rows == self._smallest}
        unknown = [ahead for ahead in can if ahead.place not in hopeless]
        if unknown and not self._merged:
            self._merge()
        found = do_together([partial(self._larger, ahead) for ahead in unknown], steps=len(self._lines) * len(unknown))
        yield from (ahead.best(larger) for ahead, larger in zip(unknown, found, strict=True))
        yield from (ahead.if_nothing_gains for ahead in can if ahead.place in hopeless)

    def _larger(self, ahead: _Ahead) -> Ints:
        """Return by how much the smallest group is larger after a step to each of the nodes that a column may go to."""
        lines, place, count = self._lines, ahead.place, len(self._space.taxonomies[ahead.place])
        joint_of, joints = number_groups(lines.moved_keys(place, ahead.step))
        sizes, shown = sum_up(joint_of, joints, lines.counts), ahead.above[lines.codes[:, place]]
        small = sizes == self._smallest
        self._witnesses[place] = int(np.argmax(small[joint_of])) if small.any() else None
        after = np.minimum(
            least_within(sizes, group_values(joint_of, joints, shown), count),
            least_elsewhere(lines.counts, shown, count),
        )
        return np.asarray(after - self._smallest)[ahead.nodes]
