"""A release of noisy counts: boxes that were chosen, and counted, under differential privacy.

Nothing in it, not even the number of rows, is the table's own. A box's label and counts are all that is published; an
analyst may use them as a contingency table, as so many generalized rows, or as a weighted training set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.estimate import NoisyCount
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import PlacedPeople
from incrowd.core.query import Query
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.core.view import View
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.forms.error_factors import ErrorFactors
from incrowd.forms.generalized import Generalized
from incrowd.forms.measured_boxes import MeasuredBoxes
from incrowd.forms.reading.labels import tally_of_nobody
from incrowd.forms.verify import COUNT
from incrowd.hierarchies.public import public_tree


@dataclass(frozen=True, eq=False)
class NoisyCounts(Form):
    """Boxes of public codes with whole, non-negative noisy counts of each class.

    `boxes` holds the published ones as generalized lines; `measured` is what was counted, which answers questions.
    """

    boxes: Generalized
    measured: MeasuredBoxes
    accountant: Accountant
    promise: Guarantee
    schema: Schema = field(init=False)
    tally: Tally = field(init=False)
    """What is published: the table's own is not kept."""
    rows_in: int = field(init=False)
    """The rows that are published: how many the table has is a secret."""
    name: ClassVar[str] = "noisy counts"
    private: ClassVar[bool] = True
    other_tables: ClassVar[tuple[str, ...]] = ("counts", "measured", "margins")

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
        measured: MeasuredBoxes | None = None,
    ) -> NoisyCounts:
        """Show the leaves of a tree; `leaf_counts[i]` are the published counts of leaf i by class.

        `measured` answers questions; without it, what is known of the tree.
        """
        some = leaf_counts.sum(axis=1) > 0
        leaves = tree.leaves[some]
        leaf, kind = np.nonzero(leaf_counts > 0)  # boxes times classes may be very many: they are not copied
        leaf, kind = leaf[some[leaf]], kind[some[leaf]]
        counts, box = leaf_counts[leaf, kind], (np.cumsum(some) - 1)[leaf]
        # The lines are tuples of a table that nobody was in: class codes, and the box they are in.
        columns = tuple(sorted(schema.quasi))
        recoding = Recoding(np.arange(len(box)), counts, box, columns, tree.lows[leaves], tree.highs[leaves], "region")
        names = (*columns, *sorted(schema.sensitive))
        codes = np.zeros((len(box), len(names)), dtype=np.int32)
        codes[:, len(columns) :] = class_codes[kind]
        order = np.argsort(names)
        lines = Tally(tuple(sorted(names)), codes[:, order], counts, public.trees)
        boxes = Generalized.of(lines, schema, recoding, declared=True)
        measured = measured or MeasuredBoxes.of(schema, public.trees, tree, class_codes)
        return cls(boxes, measured, accountant, promise)

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
        """Estimate how many rows satisfy every condition, by what was counted."""
        return self.measured.count(query)

    def estimated(self, query: Query) -> NoisyCount:
        """Return the same with its error and interval."""
        return self.measured.estimated(query)

    @property
    def errors_assume(self) -> str:
        """What errors rest on, in words."""
        return self.measured.errors_assume

    def error(self, query: Query) -> float:
        """Return the standard deviation that noise alone gives to an answer, at most."""
        return self.measured.error(query)

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield as many generalized rows as the counts say; a frame without rows where they all are 0."""
        yield from self.boxes.batches(rows_per_batch)
        if not self.rows:
            yield self.boxes.lines().drop(COUNT)

    def runs(self, lines_per_batch: int) -> Iterator[pl.DataFrame] | None:
        """Yield the same, equal rows once."""
        return self.boxes.runs(lines_per_batch) if self.rows else None

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
        return self.measured.rows_of(self.boxes.lines(), rng)

    @classmethod
    def needed_tables(cls, summary: Mapping[str, Any]) -> tuple[str, ...]:
        """Return those that it tells of: only the counts where the boxes come from a model."""
        loss = summary.get("loss", {})
        if loss.get("counted") == 0:
            return ("counts",)
        return cls.other_tables if loss.get("margins") else cls.other_tables[:2]

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read the published rows, and what was counted."""
        hierarchies = {**files.schema.quasi, **files.schema.sensitive}
        trees = {name: public_tree(name, hierarchy) for name, hierarchy in hierarchies.items()}
        known = tally_of_nobody(trees) if files.known is None else files.known
        form, notes = NoisyLines.read_back(replace(files, known=known))
        if "measured" in files.others:
            found = MeasuredBoxes.read(files.others["measured"].frame.collect(), files.schema, trees)
            if "margins" in files.others:
                found = found.with_margins(files.others["margins"].frame.collect())
        else:
            missing = files.asked.get("missing", ())
            found = MeasuredBoxes.of_rows(form.lines(), files.schema, trees, may_be_missing=missing)
        loss = files.summary.get("loss", {})
        errors = ErrorFactors.read(loss.get("errors") if isinstance(loss, Mapping) else None)
        return replace(form, measured=replace(found, errors=errors)), notes

    @cached_property
    def counts(self) -> pl.DataFrame:
        """The contingency table: labels, sensitive values and noisy counts, without those that are 0."""
        return self.boxes.lines().rename({COUNT: self._count_name})

    @property
    def _count_name(self) -> str:
        return "count" if "count" not in self.schema.tallied else "noisy count"

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the contingency table, which is shorter than the rows; and what was counted, if anything was."""
        found = {} if self.measured.from_model else {"measured": self.measured.frame()}
        margins = self.measured.margins_frame()
        return {"counts": self.counts, **found, **({} if margins is None else {"margins": margins})}

    def losses(self) -> dict[str, Any]:
        """Return how much there is of what was counted."""
        counted = 0 if self.measured.from_model else len(self.measured.tree.parents)
        found = {"boxes": len(self.boxes.shown), "counted": counted, "errors": self.measured.errors.as_dict()}
        margins = self.measured.margins_frame()
        told = {} if margins is None else {"margins": margins.height}
        return {**found, **told, "budget": self.accountant.as_dict()}


@dataclass(frozen=True, eq=False)
class NoisyLines(Generalized):
    """Noisy counts that were read from a file: none of the rows is anybody's."""

    name: ClassVar[str] = "noisy counts"
    listed: ClassVar[bool] = False
    private: ClassVar[bool] = True
    measured: MeasuredBoxes | None = None

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition, by what was counted."""
        assert self.measured is not None  # only while it is read
        return self.measured.count(query)

    def estimated(self, query: Query) -> NoisyCount:
        """Return the same with its error and interval."""
        assert self.measured is not None
        return self.measured.estimated(query)

    @property
    def errors_assume(self) -> str:
        """What errors rest on, in words."""
        assert self.measured is not None
        return self.measured.errors_assume

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return as many rows as the counts say, each value drawn evenly from its box."""
        assert self.measured is not None
        return self.measured.rows_of(self.lines(), rng)

    @property
    def labelled(self) -> None:
        """Labels of noisy counts are no losses of anybody's: there is nothing to measure."""

    @property
    def spread(self) -> Generalized:
        """The boxes."""
        return self
