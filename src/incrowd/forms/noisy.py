"""A release of noisy counts: boxes that were chosen, and counted, under differential privacy.

Nothing in it, not even the number of rows, is the table's own. A box's label and counts are all that is published; an
analyst may use them as a contingency table, as so many generalized rows, or as a weighted training set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import PlacedPeople
from incrowd.core.query import Query, matching_codes
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.core.view import View
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.consistency import pooled_variances
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.generalized import Generalized
from incrowd.forms.verify import COUNT


@dataclass(frozen=True, eq=False)
class NoisyCounts(Form):
    """Boxes of public codes with whole, non-negative noisy counts of each class.

    `boxes` holds the published ones as generalized lines; `tree` is what was counted, for the error of an answer.
    `class_codes[c]` are the sensitive codes that class c stands for.
    """

    boxes: Generalized
    tree: NoisyTree
    class_codes: Codes
    accountant: Accountant
    promise: Guarantee
    schema: Schema = field(init=False)
    tally: Tally = field(init=False)
    """What is published: the table's own is not kept."""
    rows_in: int = field(init=False)
    """The rows that are published: how many the table has is a secret."""
    name: ClassVar[str] = "noisy counts"
    private: ClassVar[bool] = True
    other_tables: ClassVar[tuple[str, ...]] = ("counts",)

    def __post_init__(self) -> None:
        for name, value in (("schema", self.boxes.schema), ("tally", self.boxes.tally), ("rows_in", self.boxes.rows)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        public: Tally,
        schema: Schema,
        tree: NoisyTree,
        leaf_counts: Ints,
        class_codes: Codes,
        accountant: Accountant,
        promise: Guarantee,
    ) -> NoisyCounts:
        """Show the leaves of a tree; `leaf_counts[i]` are the published counts of leaf i by class."""
        some = leaf_counts.sum(axis=1) > 0
        leaves, leaf_counts = tree.leaves[some], leaf_counts[some]
        box, kind = np.nonzero(leaf_counts > 0)
        counts = leaf_counts[box, kind]
        # The lines are tuples of a table that nobody was in: class codes, and the box they are in.
        columns = tuple(sorted(schema.quasi))
        recoding = Recoding(np.arange(len(box)), counts, box, columns, tree.lows[leaves], tree.highs[leaves], "region")
        names = (*columns, *sorted(schema.sensitive))
        codes = np.zeros((len(box), len(names)), dtype=np.int32)
        codes[:, len(columns) :] = class_codes[kind]
        order = np.argsort(names)
        lines = Tally(tuple(sorted(names)), codes[:, order], counts, public.trees)
        return cls(Generalized.of(lines, schema, recoding, declared=True), tree, class_codes, accountant, promise)

    @property
    def rows(self) -> int:
        """The sum of all counts."""
        return self.boxes.rows

    @property
    def withheld(self) -> int:
        """Nothing that could be told."""
        return 0

    @property
    def group_sizes(self) -> Counts:
        """The sum of each box's counts."""
        return self.boxes.group_sizes

    def verify(
        self, require: Sequence[Model], before: Tally | None, people: PlacedPeople | None = None
    ) -> list[Guarantee]:
        """Return the promise of the method; other models are refused before anything is counted."""
        return [self.promise]

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition, as if a box's rows were spread evenly.

        Noise above and below 0 cancels out over many boxes, so this adds up what was counted; in the published table no
        count is below 0, and what that adds to empty boxes adds up too.
        """
        shares, classes = self._asked(query)
        leaves = self.tree.leaves
        return max(0.0, float(shares[leaves] @ self.tree.estimates[leaves][:, classes].sum(axis=1)))

    def error(self, query: Query) -> float:
        """Return the standard deviation that noise alone gives to an answer, at most.

        It is that of the fewest counted boxes, of any size, that cover the question, each with what was counted inside
        it; the counts around them only lower it. How rows are spread within a box that is only partly asked about adds
        an error of its own, which nobody can know. Infinite if the boxes were not counted but come from a model.
        """
        shares, classes = self._asked(query)
        if np.isinf(self.tree.variances).all():
            return np.inf
        covering = covering_boxes(self.tree, shares)
        variances = pooled_variances(self.tree.parents, self.tree.variances)
        return float(np.sqrt((shares[covering] ** 2 * variances[covering]).sum() * classes.sum()))

    def _asked(self, query: Query) -> tuple[Floats, Bools]:
        """Return the share of each box that a question is about, and which classes."""
        shares = np.ones(len(self.tree.parents))
        classes = np.ones(len(self.class_codes), dtype=bool)
        for name, condition in query.items():
            if name not in self.schema.tallied:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the release."
                    + did_you_mean(name, self.schema.tallied)
                )
            matches = matching_codes(name, self.tally.trees[name], condition, unknown_names="suggested")
            if name in self.schema.sensitive:
                classes &= matches[self.class_codes[:, sorted(self.schema.sensitive).index(name)]]
                continue
            place = sorted(self.schema.quasi).index(name)
            before = np.concatenate(([0], np.cumsum(matches)))
            lows, highs = self.tree.lows[:, place], self.tree.highs[:, place]
            shares *= (before[highs] - before[lows]) / (highs - lows)
        return shares, classes

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield as many generalized rows as the counts say; a frame without rows where they all are 0."""
        yield from self.boxes.batches(rows_per_batch)
        if not self.rows:
            yield self.boxes.lines().drop(COUNT)

    @property
    def knows_table(self) -> bool:
        """Never: only what is published is kept."""
        return False

    @property
    def spread(self) -> Generalized:
        """The boxes."""
        return self.boxes

    def view(self) -> View:
        """Return the boxes as groups with labels."""
        return self.boxes.view()

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return as many rows as the counts say, each value drawn evenly from its box."""
        return self.boxes.reconstruct(rng)

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read the published rows, which are counts of boxes; what was counted besides them is not in the files."""
        return NoisyLines.read_back(files)

    @cached_property
    def counts(self) -> pl.DataFrame:
        """The contingency table: labels, sensitive values and noisy counts, without those that are 0."""
        return self.boxes.lines().rename({COUNT: self._count_name})

    @property
    def _count_name(self) -> str:
        return "count" if "count" not in self.schema.tallied else "noisy count"

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the contingency table, which is shorter than the rows."""
        return {"counts": self.counts}

    def losses(self) -> dict[str, Any]:
        """Return how much there is of what was counted."""
        return {"boxes": len(self.boxes.shown), "counted": len(self.tree.parents), "budget": self.accountant.as_dict()}


@dataclass(frozen=True, eq=False)
class NoisyLines(Generalized):
    """Noisy counts that were read from a file: none of the rows is anybody's."""

    name: ClassVar[str] = "noisy counts"
    listed: ClassVar[bool] = False
    private: ClassVar[bool] = True

    @property
    def labelled(self) -> None:
        """Labels of noisy counts are no losses of anybody's: there is nothing to measure."""

    @property
    def spread(self) -> Generalized:
        """The boxes."""
        return self


def covering_boxes(tree: NoisyTree, shares: Floats) -> Ints:
    """Return the fewest boxes that cover a question, of which `shares` says how much of each box it is about.

    They are the largest boxes that are wholly asked about, and the leaves that are partly (Qian et al., Algorithm 1).
    """
    whole = shares >= 1
    inside = np.zeros(len(shares), dtype=bool)
    has_parent = tree.parents >= 0
    inside[has_parent] = whole[tree.parents[has_parent]]
    leaf = np.zeros(len(shares), dtype=bool)
    leaf[tree.leaves] = True
    return np.flatnonzero((whole & ~inside) | (leaf & ~whole & (shares > 0)))
