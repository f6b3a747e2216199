"""A sliced or bucketized release as a reader sees it: a person could be in every bucket that has their value in each
column, to the degree that these values are frequent there (see `forms/slices/diversity.py`).

Whose sensitive value is looked for hides among the bucket's rows that have their known part in the sensitive column:
these are the crowd. Cost: that of the matches found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Histogram
from incrowd.core.view import Crowds, ExactView, Matches, normalized
from incrowd.forms.slices.fake_tuples import known_parts
from incrowd.forms.slices.matching import BucketIndex, Trie, search_arguments
from incrowd.forms.slices.sliced_rows import SlicedRows
from incrowd.forms.slices.slices import Secret
from incrowd.hierarchies.tree import Tree
from incrowd.kernels.slicing_cells import list_matches


@dataclass(frozen=True, eq=False)
class SlicedView(ExactView):
    """Buckets in which each column of attributes has an order of its own."""

    form: SlicedRows

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(sorted(self.form.schema.quasi))

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(sorted(self.form.schema.sensitive))

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The values of all columns."""
        return self.form.tally.trees

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return self.form.rows

    @cached_property
    def _index(self) -> BucketIndex:
        return BucketIndex(self.form.slices, self.form.buckets)

    def _secret(self, column: str) -> Secret:
        """Return where a sensitive column is published; the first place, if there are several."""
        place = next(place for place, names in enumerate(self.form.columns) if column in names)
        return Secret(place, np.ascontiguousarray(self.form.shown.column(column)))

    def crowds(self, column: str | None) -> Crowds:
        """Return the rows of each bucket that have the same known part in the sensitive column."""
        if column is None:
            sizes = self._index.sizes
            nothing = np.zeros(0, dtype=np.int64)
            return Crowds(sizes, Histogram(np.zeros(len(sizes) + 1, dtype=np.int64), nothing.astype(np.int32), nothing))
        secret = self._secret(column)
        starts, codes, counts = self._index.hidden(secret)
        bases = self._index.bases
        sizes = self._index.counts[bases[secret.column] : bases[secret.column + 1]]
        return Crowds(sizes, Histogram(starts, codes, counts))

    def match(self, people: Codes, column: str | None) -> Matches:
        """Return the crowds that each person could be in."""
        place = 0 if column is None else self._secret(column).column
        person, cells, degrees = self._degrees(people, place)
        crowds = self._buckets_of(place)[cells] if column is None else cells
        offsets = np.concatenate(([0], np.cumsum(np.bincount(person, minlength=len(people)))))
        return normalized(offsets.astype(np.int64), crowds, degrees)

    def fits(self, people: Codes) -> Floats:
        """Return how many rows are to be expected of each tuple, as if columns were independent within a bucket."""
        person, cells, degrees = self._degrees(people, 0)
        rows = self._index.sizes[self._buckets_of(0)[cells]] * degrees
        return np.bincount(person, weights=rows, minlength=len(people)).astype(np.float64)

    def rows_fitting(self, person: Codes, known: Sequence[str]) -> int:
        """Return the rows of buckets each of whose columns has a part that fits what is known."""
        form = self.form
        fitting = np.ones(len(form.group_sizes), dtype=bool)
        for column in form.columns:
            learnt = [name for name in column if name in known]
            if learnt:
                fitting &= self._has_part(person, learnt)
        return int(form.group_sizes[fitting].sum())

    def _has_part(self, person: Codes, known: Sequence[str]) -> Bools:
        form = self.form
        fits = np.ones(len(form.shown), dtype=bool)
        for name in known:
            shown = form.tally.trees[name].starts[form.levels.get(name, 0)][person[self.columns.index(name)]]
            fits &= form.shown.column(name) == shown
        there = np.bincount(form.buckets.bucket_of, fits[form.buckets.tuples], minlength=len(form.group_sizes))
        return there > 0

    @property
    def exact(self) -> SlicedView:
        """The view itself."""
        return self

    def written_rows(self, rows: Ints) -> Codes:
        """Return what rows show, which is one of the ways in which a bucket's columns may go together."""
        form = self.form
        place_of = {name: place for place, column in reversed(list(enumerate(form.columns))) for name in column}
        shown = [form.shown.column(name)[form.permuted.tuples[place_of[name], rows]] for name in self.columns]
        return np.stack(shown, axis=1)

    def as_shown(self, people: Codes) -> Codes:
        """Return people at the levels that are published."""
        trees, levels = self.form.tally.trees, self.form.levels
        shown = [trees[name].starts[levels.get(name, 0)][people[:, at]] for at, name in enumerate(self.columns)]
        return np.stack(shown, axis=1)

    def _buckets_of(self, place: int) -> Ints:
        return np.repeat(np.arange(len(self._index.sizes)), np.diff(self._index.starts[place]))

    def _degrees(self, people: Codes, place: int) -> tuple[Ints, Ints, Floats]:
        """Return every match: the person, the entry in a column (from 0 on), and the degree; people in order."""
        known = self._known(people)
        possible = np.flatnonzero((known >= 0).all(axis=1))
        if not len(possible):
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, np.zeros(0)
        trie = Trie(self._index, known[possible])
        level = np.flatnonzero(self._index.search_order == place)
        arguments = (*search_arguments(self._index, trie), level)
        leaves, cells, degrees = list_matches(*arguments)
        cells = cells - self._index.bases[place]
        # Several people may be one leaf: each gets all of its matches.
        order = np.argsort(leaves, kind="stable")
        starts = np.searchsorted(leaves[order], np.arange(len(trie) + 1))
        lengths = np.diff(starts)[trie.leaf_of]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        taken = order[np.repeat(starts[:-1][trie.leaf_of], lengths) + within]
        return np.repeat(possible, lengths), cells[taken], degrees[taken]

    def _known(self, people: Codes) -> Codes:
        """Return people's known parts in each column, as the release shows them; -1 where it has no such part."""
        form = self.form
        codes = np.zeros((len(people), len(form.shown.columns)), dtype=np.int32)
        for place, name in enumerate(self.columns):
            level = form.levels.get(name, 0)
            shown = form.tally.trees[name].starts[level][people[:, place]]
            codes[:, form.shown.columns.index(name)] = shown
        return known_parts(form.shown, form.slices, form.columns, codes, self.sensitive)
