"""A release in generalized form: every row shows its group's labels, its own sensitive values, and what was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Floats, Ints, pick
from incrowd.common.records import dataclass
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.groups import Regions, TornRegions
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import ShownSets
from incrowd.core.labelled import Labelled, Shown, ShownGroups
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import PlacedPeople
from incrowd.core.query import Query, matching_codes
from incrowd.core.recoding import WITHHELD, Recoding, Showing
from incrowd.core.runs import TIMES
from incrowd.core.schema import HOUSEHOLD, Schema
from incrowd.core.shown_weights import ShownWeights, WeightedLines
from incrowd.core.tally import Tally, group_tuples
from incrowd.core.weights import WeightedTuples, read_weights
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.generalized_view import GeneralizedView
from incrowd.forms.held_out import first_of_each, taken_rows
from incrowd.forms.label_reader import LabelReader
from incrowd.forms.labelled_groups import present_values, show_groups
from incrowd.forms.people_form import one_line_each
from incrowd.forms.people_groups import groups_of_people, require_all_rows_inside
from incrowd.forms.reach import reach
from incrowd.forms.reading.labels import count_lines, read_labels, tally_of_nobody, trees_of_labels
from incrowd.forms.reading.stand_ins import with_labels
from incrowd.forms.shown_weights import show_weights
from incrowd.forms.stand_ins import as_keys, narrowed_by_mean
from incrowd.forms.verify import COUNT, verify, verify_groups, weights_included
from incrowd.forms.weight_classes import WeightClasses
from incrowd.hierarchies import labels
from incrowd.hierarchies.tree import MISSING, Tree


@dataclass(frozen=True)
class ShowGeneralized(Showing):
    """Show labels that hold for all people of the group, and sensitive values as they are."""

    name: ClassVar[str] = "generalized"

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> Generalized:
        """Label every group. Deterministic: `rng` is not used."""
        return Generalized.of(tally, schema, recoding, rows_in=rows_in)

    def show_wider(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> Generalized | None:
        """Write sets that leave names out as the nodes that hold them all, ranges to the next cuts, and means of all
        who have the same labels.
        """
        found = Generalized.of(tally, schema, recoding, rows_in=rows_in)
        more = found.shown.less or found.shown.split
        return Generalized.of(tally, schema, recoding, rows_in=rows_in, wider=True) if more else None


@dataclass(frozen=True, eq=False)
class Generalized(Form):
    """What a recoding publishes, as counts of distinct published rows.

    Line i of the published tally is `counts[i]` rows of group `groups[i]` with the sensitive codes `sensitive[i]`;
    lines are sorted by what they show.
    """

    schema: Schema
    tally: Tally
    shown: ShownGroups
    groups: Ints
    sensitive: Codes
    counts: Counts
    rows_in: int
    written: Shown = "region"
    sets: ShownSets | None = None
    """What the lists of a column of items stand for, where there is one."""
    weights: ShownWeights | None = None
    """What rows show as their weights, where there are any, and the table before is known."""
    weighted: WeightedLines | None = None
    """What the rows of each line weigh, as published."""
    name: ClassVar[str] = "generalized"

    @classmethod
    def of(
        cls,
        tally: Tally,
        schema: Schema,
        recoding: Recoding,
        *,
        rows_in: int | None = None,
        wider: bool = False,
        declared: bool = False,
    ) -> Generalized:
        """Count what a recoding of a tally publishes; `rows_in` is how many rows there were to publish, if not all.

        No label names a value that only people have who are not published: a set leaves it out, or, where labels are
        to be `wider`, is written as the node that holds it. Where all values were `declared`, labels may name each.
        """
        present = None if declared else present_values(tally, recoding)
        shown = show_groups(tally, recoding, present=present, wider=wider, schema=schema)
        return cls.shown_as(tally, schema, recoding, shown, rows_in=rows_in)

    @classmethod
    def shown_as(
        cls, tally: Tally, schema: Schema, recoding: Recoding, shown: ShownGroups, *, rows_in: int | None = None
    ) -> Generalized:
        """Count what a recoding publishes whose groups are shown in this way."""
        published = recoding.published
        group_of = shown.group_of[published]
        names = tuple(name for name in schema.written_values if name in tally.columns)
        sensitive = np.stack(
            [group_of, *(tally.column(name)[recoding.tuples[published]] for name in names)], axis=1
        ).astype(np.int32)
        index, first = group_tuples(sensitive, [max(len(shown), 1), *(tally.trees[name].size for name in names)])
        counts = np.bincount(index, weights=recoding.counts[published], minlength=len(first)).astype(np.int64)
        lines = sensitive[first]
        rows = tally.rows if rows_in is None else rows_in
        groups = lines[:, 0].astype(np.int64)
        return cls(schema, tally, shown, groups, lines[:, 1:], counts, rows, recoding.shown)

    @property
    def rows(self) -> int:
        """Number of rows that are published."""
        return int(self.counts.sum())

    @property
    def withheld(self) -> int:
        """Number of rows that are not."""
        return self.rows_in - self.rows

    @cached_property
    def group_sizes(self) -> Counts:
        """Rows in each published group."""
        return np.bincount(self.groups, weights=self.counts, minlength=len(self.shown)).astype(np.int64)

    def verify(
        self, require: Sequence[Model], before: Tally | None, people: PlacedPeople | None = None
    ) -> list[Guarantee]:
        """Check every model on the labels that are published; return the guarantees, or refuse the release."""
        if people is not None and before is not None:
            return self._verify_people(require, before, people)
        quasi, sensitive = self.schema.written_quasi, tuple(self.schema.sensitive)
        found = verify(self.lines(), quasi, sensitive, require, before=before, stands_for=self.stands_for())
        if self.weighted is None:
            return found
        # Whoever looks at weights, too, must find no less.
        lines, regions = self.written_lines(), self.group_regions().of(self.groups[self.weighted.line_of])
        seen = (*quasi, *self.schema.weights)
        finer = verify(lines, seen, sensitive, require, before=before, stands_for=regions)
        return weights_included(found, finer)

    def with_weights(
        self,
        recoding: Recoding,
        weighted: WeightedTuples,
        require: Sequence[Model],
        before: Tally,
        people: PlacedPeople | None = None,
        *,
        one_each: bool = False,
    ) -> Generalized:
        """Put a weight beside each row: within each group, one that enough people show."""
        shown = show_weights(self, recoding, weighted, require, before, people, one_each=one_each)
        published = self.shown.group_of != WITHHELD
        groups, tuples = self.shown.group_of[published], recoding.tuples[published]
        names = tuple(name for name in self.schema.written_values if name in self.tally.columns)
        lines = np.stack([groups, *(self.tally.column(name)[tuples] for name in names)], axis=1).astype(np.int32)
        index, _ = group_tuples(lines, [max(len(self.shown), 1), *(self.tally.trees[name].size for name in names)])
        on_lines = WeightedLines.of(index, shown.of(groups, tuples), recoding.counts[published])
        return replace(self, weights=shown, weighted=on_lines)

    @property
    def true_totals(self) -> Floats | None:
        """What the rows of each tuple of `tally` weigh together, where that is known."""
        return None if self.weights is None else self.weights.true * self.tally.counts

    def with_items(
        self, people: PlacedPeople, column: str, list_of: Ints, lists: pl.Series, sets: ShownSets
    ) -> Generalized:
        """Return the same with a set of items beside each row: person p shows the list `list_of[p]`."""
        rows, owner = people.people, people.people.owner
        entries = rows.each_entry
        groups = self.seen(people)[owner]
        codes = np.maximum(list_of, 0).astype(np.int32)[owner] + np.int32(1)  # the code 0 is the missing value
        tally = replace(
            entries,
            columns=(*entries.columns, column),
            codes=np.ascontiguousarray(np.concatenate([entries.codes, codes[:, None]], axis=1)),
            trees={**entries.trees, column: tree_of_lists(lists)},
        )
        published = groups != WITHHELD
        names = (*self.schema.sensitive, column)
        lines = np.stack([groups, *(tally.column(name) for name in names)], axis=1)[published].astype(np.int32)
        index, first = group_tuples(lines, [max(len(self.shown), 1), *(tally.trees[name].size for name in names)])
        counts = np.bincount(index, weights=tally.counts[published], minlength=len(first)).astype(np.int64)
        return replace(
            self,
            tally=tally,
            shown=replace(self.shown, group_of=groups),
            groups=lines[first][:, 0].astype(np.int64),
            sensitive=lines[first][:, 1:],
            counts=counts,
            sets=sets,
        )

    def of_people(self, people: PlacedPeople, *, people_in: int) -> tuple[Form, tuple[str, ...]] | None:
        """Return what is published as one line for each person, and the sensitive columns that this leaves out."""
        tally, single, tuple_of = one_line_each(people.people, tuple(self.schema.quasi))
        seen = self.seen(people)
        lines = np.stack([seen, *single.values()], axis=1)[seen != WITHHELD].astype(np.int32)
        sizes = [max(len(self.shown), 1), *(tally.trees[name].size for name in single)]
        index, first = group_tuples(lines, sizes)
        hierarchies = self.schema.searched.sensitive
        made = replace(
            self,
            schema=replace(self.schema, sensitive={name: hierarchies[name] for name in single}, items={}, events={}),
            tally=tally,
            shown=replace(self.shown, group_of=np.zeros(0, dtype=np.int64)),
            groups=lines[first][:, 0].astype(np.int64),
            sensitive=lines[first][:, 1:],
            counts=np.bincount(index, minlength=len(first)).astype(np.int64),
            rows_in=people_in,
            sets=None,
            weights=None,
            weighted=None,
        )
        if self.weights is not None and self.weights.of_people is not None:
            shown = self.weights.of_people[seen != WITHHELD]
            made = replace(
                made,
                weights=self.weights.by_tuple(tuple_of, len(tally)),
                weighted=WeightedLines.of(index, shown, np.ones(len(index), dtype=np.int64)),
            )
        return made, tuple(name for name in people.people.sensitive if name not in (*single, HOUSEHOLD))

    def published_sets(self) -> ItemSets | None:
        """Return the sets of items that people show, in parts by their groups."""
        if self.sets is None:
            return None
        shown = self.sets.sets.take(self.sensitive[:, -1].astype(np.int64) - 1)
        return replace(shown, counts=self.counts, parts=self.groups, sensitive=None)

    def people_in_groups(self, people: PlacedPeople) -> Counts:
        """Return how many people are in each group, where somebody has several rows."""
        seen = self.seen(people)
        return np.bincount(seen[seen != WITHHELD], minlength=len(self.shown)).astype(np.int64)

    def seen(self, people: PlacedPeople) -> Ints:
        """Return each person's group as a reader sees it."""
        group_of = self.shown.group_of
        return people.seen_in(group_of[group_of != WITHHELD])

    def _verify_people(self, require: Sequence[Model], before: Tally, placed: PlacedPeople) -> list[Guarantee]:
        seen, regions = self.seen(placed), self.group_regions()
        require_all_rows_inside(placed.people, seen, regions)
        if self.weights is not None and self.weights.of_people is not None:
            # Whoever looks at weights, too, must find no less.
            there = np.flatnonzero(seen != WITHHELD)
            apart = WeightClasses(np.arange(len(there)), seen[there], self.weights.of_people[there]).as_seen()
            by_weight = np.full(len(seen), WITHHELD, dtype=np.int64)
            by_weight[there] = apart.class_of
            finer = regions.of(apart.group_of)
            classes = groups_of_people(
                placed.people, by_weight, len(apart.group_of), before=before, regions=lambda: finer
            )
            return weights_included(self._by_labels(require, before, placed), verify_groups(classes, require))
        return self._by_labels(require, before, placed)

    def _by_labels(self, require: Sequence[Model], before: Tally, placed: PlacedPeople) -> list[Guarantee]:
        seen, regions = self.seen(placed), self.group_regions()
        groups = groups_of_people(placed.people, seen, len(self.shown), before=before, regions=lambda: regions)
        return verify_groups(groups, require)

    @property
    def labelled(self) -> Labelled | None:
        """The form itself."""
        return self

    def shown_labels(self) -> Mapping[str, tuple[Tree, pl.Series]]:
        """Return what groups show, and the labels of items."""
        found = {name: (self.tally.trees[name], self.shown.labels[name]) for name in self.shown.columns}
        if self.sets is not None:
            lists = {name: self.tally.trees[name].values.drop_nulls() for name in self.schema.items}
            found |= {name: (self.sets.tree, shown.explode().drop_nulls()) for name, shown in lists.items()}
        return found

    def reader(self, meanings: Mapping[str, Any] | None) -> LabelReader | None:
        """Return who reads its labels."""
        return None if self.private or meanings is None else LabelReader.of(self, meanings)

    def view(self) -> GeneralizedView:
        """Return the groups whose labels hold a person."""
        return GeneralizedView(self)

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return one row for each published one, each value drawn evenly from those that its label may stand for."""
        lines = np.repeat(np.arange(len(self.counts)), self.counts)
        groups = self.groups[lines]
        found: dict[str, Codes] = {}
        for place, name in enumerate(self.shown.columns):
            lows, highs = self.shown.lows[groups, place], self.shown.highs[groups, place]
            found[name] = rng.integers(lows, highs).astype(np.int32)
        for place, name in enumerate(self.schema.sensitive):
            found[name] = self.sensitive[lines, place]
        return found, np.ones(self.rows)

    def without(self, people: Tally) -> Self | None:
        """Take a row out for each of some people: one that shows their sensitive values, and the tightest labels."""
        if self.private:
            return None
        view, names = self.view(), tuple(self.schema.sensitive)
        held = view.match(people.codes_of(view.columns), None)
        person_of, groups = held.person_of, held.crowds
        secrets = [people.column(name)[person_of] for name in names]
        theirs = np.stack([groups, *secrets], axis=1).astype(np.int32)
        lines = np.concatenate([self.groups[:, None].astype(np.int32), self.sensitive[:, : len(names)]], axis=1)
        sizes = [max(len(self.shown), 1), *(self.tally.trees[name].size for name in names)]
        numbers, first = group_tuples(np.concatenate([lines, theirs]), sizes)
        left = np.bincount(numbers[: len(lines)], weights=self.counts, minlength=len(first)).astype(np.int64)
        place = numbers[len(lines) :]
        (taken,) = taken_rows(people.counts, person_of, (place,), view.log_room[groups], (left,))
        rows = np.repeat(np.arange(len(lines)), self.counts)
        gone = first_of_each(numbers[: len(lines)][rows], taken)
        kept = np.bincount(rows[~gone], minlength=len(lines)).astype(np.int64)
        return replace(self, counts=kept, weights=None, weighted=None)

    def canonical(self, before: Tally) -> Self:
        """Let `*` stand for whatever the column may hold: the method may know that nobody in a group misses it.

        Groups and lines get an order that depends on nothing but what they stand for, so that an audit of a release and
        of its file pick the same ones where several are as good.
        """
        if not len(self.shown) or not self.shown.columns:  # nothing is shown that could be read in two ways
            return self
        shown = self.shown
        runs = [reach(before, self, name) for name in shown.columns]
        lows, highs = (np.stack([run[side] for run in runs], axis=1) for side in (0, 1))
        values = [column.rank("dense").fill_null(0).to_numpy() for column in as_keys(shown.written(shown.stand_ins))]
        order = np.lexsort([*values[::-1], *highs.T[::-1], *lows.T[::-1]])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        groups = place[self.groups]
        lines = np.lexsort([*self.sensitive.T[::-1], groups])
        return replace(
            self,
            shown=replace(
                shown,
                labels={name: pick(shown.labels[name], order) for name in shown.columns},
                stand_ins={name: values[order] for name, values in shown.stand_ins.items()},
                lows=lows[order],
                highs=highs[order],
                group_of=np.where(shown.group_of == WITHHELD, WITHHELD, place[shown.group_of]),
                torn={name: (label_of[order], pieces) for name, (label_of, pieces) in shown.torn.items()},
            ),
            groups=groups[lines],
            sensitive=self.sensitive[lines],
            counts=self.counts[lines],
            weighted=None if self.weighted is None else self.weighted.reordered(lines),
        )

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Self, list[str]]:
        """Read groups as what shows the same labels; sets of names that are no neighbours are read as all between."""
        counted = with_labels(count_lines(files.data, files.schema), files.schema, files.meanings)
        tally = files.known if files.known is not None else tally_of_nobody(trees_of_labels(files, counted))
        known = files.known is not None
        lines = read_labels(counted, files.schema, tally, known=known, ours=known and bool(files.summary))
        written: Shown = "tight" if files.asked.get("labels") == "tight" or not files.summary else "region"
        told = files.summary.get("labels")
        written = next((one for one in get_args(Shown) if one == told), written)
        rows = int(lines.counts.sum()) if files.rows_in is None else files.rows_in
        lines = replace(lines, shown=replace(lines.shown, levels=shared_levels(files.summary, lines.shown.columns)))
        form = cls(files.schema, tally, lines.shown, lines.groups, lines.sensitive, lines.counts, rows, written)
        for name in files.schema.weights:
            shown = read_weights(name, counted[name], files.data.texts)
            form = replace(form, weighted=WeightedLines.of(lines.line_of, shown, counted[COUNT].to_numpy()))
        if not lines.widened:
            return form, []
        named = ", ".join(lines.widened)
        return form, [f"Sets of names that are no neighbours are read as everything between them: {named}."]

    def warnings(self) -> list[str]:
        """Return what the labels show beyond their groups."""
        found = []
        if self.written == "tight":
            found.append(
                "Labels are tight ranges: a range's bounds are values of people in the group, which shows extreme ones."
            )
        of_people = sorted(name for name, show in self.schema.show.items() if show == "mean")
        if of_people:
            found.append(
                "Means of groups tell their sums: whoever knows all people of a group but one can work out the last "
                f"one's value: {', '.join(of_people)}. The smallest group has {int(self.group_sizes.min()):,} rows."
            )
        made_up = sorted(name for name in self.schema.quasi if self.tally.trees[name].from_data)
        if made_up and self.written in ("hierarchy", "level"):
            found.append(f"Hierarchies made from the data itself: {', '.join(made_up)}.")
        return found

    def group_regions(self) -> Regions:
        """Return the codes that the labels of each group stand for, beside its mean where it shows one."""
        lows, highs = self.shown.lows.copy(), self.shown.highs.copy()
        for place, name in enumerate(self.shown.columns):
            anything = self.shown.stands_for_anything(name)  # missing included, for all one sees
            lows[anything, place], highs[anything, place] = MISSING, self.tally.trees[name].size
            tree = self.tally.trees[name]
            if self.schema.show.get(name) == "mean" and tree.ordered and name not in self.shown.torn:
                means = self.shown.stand_ins[name][name]
                lows[:, place], highs[:, place] = narrowed_by_mean(
                    tree, lows[:, place], highs[:, place], self.group_sizes, means
                )
        if self.shown.torn:
            return TornRegions(self.shown.columns, lows, highs, self.shown.torn)
        return Regions(self.shown.columns, lows, highs)

    def stands_for(self) -> Regions:
        """Return the codes that the labels of each distinct published row stand for."""
        return self.group_regions().of(self.groups)

    def lines(self) -> pl.DataFrame:
        """Return the distinct published rows (what they show, and sensitive values) with their counts."""
        return self.lines_at(np.arange(len(self.counts)))

    def lines_at(self, places: Ints) -> pl.DataFrame:
        """Return some of them."""
        return self._rows_of(places).hstack([pl.Series(COUNT, self.counts[places])])

    def written_lines(self) -> pl.DataFrame:
        """Return the same with weights, where there are any: all that is written of what the form counts."""
        found = self.weighted
        if found is None:
            return self.lines()
        shown = [pl.Series(name, found.weights) for name in self.schema.weights]
        return self._rows_of(found.line_of).with_columns(*shown, pl.Series(COUNT, found.counts))

    def _rows_of(self, lines: Ints) -> pl.DataFrame:
        groups = self.groups[lines]
        written = self.shown.written(self.schema.quasi)
        quasi = written[groups].to_dict() if written.width else {}
        sensitive = {
            name: pick(self.tally.trees[name].values, self.sensitive[lines, place])
            for place, name in enumerate(self.schema.written_values)
        }
        return pl.DataFrame({**quasi, **sensitive})

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the published rows, quasi-identifiers and sensitive values only, sorted by what they show."""
        counts = self.counts if self.weighted is None else self.weighted.counts
        ends = np.cumsum(counts)
        for first in range(0, self.rows, rows_per_batch):
            last = min(first + rows_per_batch, self.rows)
            lines = np.arange(np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last, side="left") + 1)
            repeats = np.minimum(ends[lines], last) - np.maximum(ends[lines] - counts[lines], first)
            rows = np.repeat(lines, repeats)
            if self.weighted is None:
                yield self._rows_of(rows)
                continue
            shown = [pl.Series(name, self.weighted.weights[rows]) for name in self.schema.weights]
            yield self._rows_of(self.weighted.line_of[rows]).with_columns(shown)

    def runs(self, lines_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the same rows in the same order, equal ones once."""
        weighted = self.weighted
        counts = self.counts if weighted is None else weighted.counts
        for first in range(0, len(counts), lines_per_batch):
            some = np.arange(first, min(first + lines_per_batch, len(counts)))
            times = pl.Series(TIMES, counts[some])
            if weighted is None:
                yield self._rows_of(some).hstack([times])
                continue
            shown = [pl.Series(name, weighted.weights[some]) for name in self.schema.weights]
            yield self._rows_of(weighted.line_of[some]).with_columns(*shown, times)

    def count(self, query: Query) -> float:
        """Estimate how many published rows satisfy every condition, as if a group's members were spread evenly."""
        return float((self.counts * self._shares(query)).sum())

    def row_weights(self) -> Floats | None:
        """Return the published weight of each row that `reconstruct` makes, which come line by line."""
        return None if self.weighted is None else np.repeat(self.weighted.weights, self.weighted.counts)

    def weighted_count(self, query: Query) -> float | None:
        """Estimate what these rows weigh together; None without weights."""
        if self.weighted is None:
            return None
        return float((self.weighted.totals(len(self.counts)) * self._shares(query)).sum())

    def _shares(self, query: Query) -> Floats:
        """Return the share of each line that satisfies every condition."""
        share = np.ones(len(self.shown))
        exact = np.ones(len(self.counts))
        for name, condition in query.items():
            if name in self.schema.quasi:
                share *= self._matching_share(name, condition)
            elif name in self.schema.sensitive:
                matches = matching_codes(name, self.tally.trees[name], condition)
                exact *= matches[self.sensitive[:, list(self.schema.sensitive).index(name)]]
            elif name in self.schema.items and self.sets is not None:
                # The code 0 is that of nobody's list.
                exact *= np.append(0.0, self.sets.shares(name, condition))[self.sensitive[:, -1]]
            else:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the release."
                    + did_you_mean(name, self.schema.tallied)
                )
        return exact * share[self.groups] if len(self.shown) else exact

    def _matching_share(self, name: str, condition: object) -> Floats:
        matches = matching_codes(name, self.tally.trees[name], condition)
        before = np.concatenate(([0], np.cumsum(matches)))
        place = self.shown.columns.index(name)
        lows, highs = self.shown.lows[:, place], self.shown.highs[:, place]
        return np.asarray((before[highs] - before[lows]) / (highs - lows))


def shared_levels(summary: Mapping[str, Any], columns: Sequence[str]) -> tuple[int, ...] | None:
    """Return the level of each column that all groups share, as a release tells it."""
    told = summary.get("scheme", {}).get("columns", {})
    levels = [told.get(name, {}).get("level") for name in columns]
    return tuple(levels) if levels and all(isinstance(level, int) for level in levels) else None


def tree_of_lists(lists: pl.Series) -> Tree:
    """Return a tree whose values are lists, for a column that is written and never generalized."""
    values = pl.concat([pl.Series([None], dtype=lists.dtype), lists.alias("")], rechunk=True)
    size = len(values)
    nodes = np.stack([np.arange(size), np.zeros(size)]).astype(np.int32)
    names = pl.Series([None] * size, dtype=pl.String)
    return Tree(values, "text", nodes, (names, pl.Series([labels.ANY])), np.arange(size, dtype=np.float64), True)
