"""Boxes that were counted with noise, and answers from them: the same in memory and from the files of a release.

The published rows are whole and never fewer than none, which adds up to too many people. What was counted, before it
was made so, costs no more privacy, and is published beside the rows (`measured`): one line for each box and class.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.core.estimate import NoisyCount
from incrowd.core.query import Query, matching_codes
from incrowd.core.schema import Schema
from incrowd.core.tally import group_tuples
from incrowd.dp.boxes.consistency import SumsOfLeaves, pooled_variances
from incrowd.dp.boxes.flat_boxes import FlatBoxes, added_up
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.boxes.spreading import Spreading
from incrowd.dp.marginals.told_variance import ColumnNoise
from incrowd.errors import QueryError, SourceError, did_you_mean
from incrowd.forms.error_factors import GUESSED, MEASURED, NOISE_ONLY, OF_A_MODEL, ErrorFactors
from incrowd.forms.margin_files import margins_frame, read_margins
from incrowd.forms.model_errors import several_conditions, usual_dependence
from incrowd.forms.reading.labels import codes_of_labels, number_labels, runs_of_labels
from incrowd.forms.verify import COUNT
from incrowd.hierarchies.naming import name_runs
from incrowd.hierarchies.tree import Tree
from incrowd.kernels.keys import rank_keys
from incrowd.kernels.questions import count_questions

_MODEL = 1000.0
"""What a model gets wrong is in the order of a thousandth of the squared number of rows, before it is measured."""
STEPS_OF_ONE = 1024
"""Estimates are written as so many parts of one person: every kind of file holds such a number exactly."""


@dataclass(frozen=True, eq=False)
class MeasuredBoxes:
    """What was counted: a tree of boxes over the quasi-identifiers, in the codes of public trees, by class.

    Quasi-identifiers and sensitive columns are in the order of their names; `class_codes[c]` are the sensitive codes
    that class c stands for.
    """

    schema: Schema
    trees: Mapping[str, Tree]
    tree: NoisyTree
    class_codes: Codes
    errors: ErrorFactors = field(default_factory=ErrorFactors)
    """How wrong it is to spread a box's rows evenly."""
    may_be_missing: tuple[str, ...] | None = None
    """Columns that may have missing values, where it takes more than the classes to tell: not all have rows."""

    @classmethod
    def of(cls, schema: Schema, trees: Mapping[str, Tree], tree: NoisyTree, class_codes: Codes) -> MeasuredBoxes:
        """Return boxes whose estimates can be written without a loss."""
        agreed = None if tree.agreed is None else np.round(tree.agreed * STEPS_OF_ONE) / STEPS_OF_ONE
        columns = dict.fromkeys(sorted(schema.sensitive), tree.column_noise[-1]) if tree.column_noise else {}
        columns |= dict(zip(sorted(schema.quasi), tree.column_noise, strict=False))
        known = tree.column_noise if tree.margins is None else tree.margins.singles
        variances = [one.variance for one in known]
        rows = float(tree.of_leaves.sum())
        dependence = usual_dependence(variances, rows, tree.dependence) if variances else 0.0
        errors = ErrorFactors(
            columns={name: one.variance for name, one in columns.items()},
            widths={name: one.width for name, one in columns.items() if one.width > 0},
            rows=tree.rows_noise,
            dependence=dependence,
            by_class=tree.by_class,
        )
        return cls(schema, trees, replace(tree, agreed=agreed), class_codes, errors)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(sorted(self.schema.quasi))

    @cached_property
    def from_model(self) -> bool:
        """Whether nothing was counted: the boxes and their counts come from a model."""
        return bool(np.isinf(self.tree.variances).all())

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition.

        Noise above and below 0 cancels out over many boxes, so this adds up what was counted; in the published table no
        count is below 0, and what that adds to empty boxes adds up too. The sum is exact, whatever the order of boxes.
        """
        return self.sure(self.asked(query)).value

    def estimated(self, query: Query) -> NoisyCount:
        """Return the same with its error and interval."""
        return self.sure(self.asked(query))

    def sure(self, asked: Mapping[str, Bools]) -> NoisyCount:
        """Answer a question that says of each column which codes it is about."""
        return self.errors.count(*self.parts(asked), len(asked))

    def parts(self, asked: Mapping[str, Bools]) -> tuple[float, float, float]:
        """Return an answer, the variance of its noise, and how wrong it is if rows were spread by tossing coins."""
        if self.spreading is not None:
            return self._parts_of_margins(self.spreading, asked)
        by_column = self._by_column(asked)
        if self._flat is not None and self._flat.pays(by_column):
            return self._flat.parts(by_column, self._classes(asked))
        shares, classes = self._shares(asked)
        leaves = self._leaves[shares[self._leaves] > 0]
        parts = shares[leaves]
        counts = self.tree.best[leaves[:, None], classes.nonzero()[0]].sum(axis=1).astype(np.float64)
        center = added_up(parts, counts)
        if self.from_model:
            return self._parts_of_model(center, asked)
        each = self._sums.variances(shares[:, None])[0]
        spread = max(0.0, math.fsum((np.sqrt(parts * (1 - parts)) * counts).tolist()))
        return center, float(each) * int(classes.sum()), spread

    def parts_of(self, questions: Sequence[Mapping[str, Bools]]) -> Floats:
        """Return the same for many questions, one a line; where boxes are single values, in one pass over them."""
        boxes = self.tree
        if not self.from_model or boxes.margins is not None or not self._single_values:
            _ = self._flat  # before threads ask for it, each for itself
            steps = len(questions) * len(boxes.parents)
            return np.array(do_together([partial(self.parts, asked) for asked in questions], steps=steps))
        box, kind = np.nonzero(boxes.noisy)
        counts = self.rows_asked(boxes.lows, box, kind, boxes.noisy[box, kind], questions)
        return np.array([self._parts_of_model(float(one), asked) for one, asked in zip(counts, questions, strict=True)])

    def rows_asked(
        self, codes: Codes, line_of: Ints, classes: Ints, counts: Ints, questions: Sequence[Mapping[str, Bools]]
    ) -> Ints:
        """Return how many rows each question is about: there are `counts[i]` with codes of a line, and of a class."""
        places = {name: place for place, name in enumerate(self.columns)}
        asked: list[Mapping[int, Bools]] = [
            {places[name]: matches for name, matches in one.items() if name in places}
            | {len(places): self._classes(one)}
            for one in questions
        ]
        sizes = [*(self.trees[name].size for name in self.columns), len(self.class_codes)]
        return count_questions(codes, line_of, classes, counts, sizes, asked)

    @cached_property
    def _single_values(self) -> bool:
        """Whether no box holds more than one value of each column."""
        return not (self.tree.highs - self.tree.lows > 1).any()

    @cached_property
    def _all_rows(self) -> float:
        return float(self.tree.noisy.sum())

    def _parts_of_model(self, center: float, asked: Mapping[str, Bools]) -> tuple[float, float, float]:
        """Return an answer with what is known of its error, where rows come from a model."""
        if not asked:
            return center, self.errors.rows, 0.0
        noise = [self._noise_of_column(name, matches) for name, matches in asked.items()]
        if len(noise) == 1 and noise[0] is not None:
            return center, noise[0], 0.0
        known = [one for one in noise if one is not None]
        if len(known) < len(noise) or not self.errors.dependence:
            return center, 0.0, _of_model(center, self._all_rows)
        of_class = [place for place, name in enumerate(asked) if self.errors.by_class and name in self.schema.sensitive]
        if of_class and len(asked) - len(of_class) <= 1:
            # Classes are counted one by one, so that a question has its part of a column's noise, or of all classes'.
            of_column = next((one for place, one in enumerate(known) if place not in of_class), self._noise_of_classes)
            return center, max(of_column * self._part_of_classes(asked), 1.0), 0.0
        shares = [self._share_of_rows(name, matches) for name, matches in asked.items()]
        return center, *several_conditions(shares, known, self._all_rows, self.errors.dependence, of_class)

    def _noise_of_column(self, name: str, matches: Bools) -> float | None:
        """Return the variance of a count of one condition, where rows come from a model that has a column's counts."""
        each = self.errors.columns.get(name)
        number, of_all = int(matches.sum()), len(matches)
        if name in self.schema.sensitive:  # of all classes, whether there are rows of them or not
            starts = self._class_starts
            others = math.prod(self.trees[one].size - start for one, start in starts.items() if one != name)
            number, of_all = int(matches[starts[name] :].sum()) * others, (of_all - starts[name]) * others
        if each is None:
            return None
        if not self.errors.rows:
            return each * number * max(1 - number / of_all, 1 / of_all)
        if name in self.schema.quasi:
            start = self._starts[self.columns.index(name)]
            number, of_all = int(matches[start:].sum()), of_all - start
        own = ColumnNoise(each, self.errors.widths.get(name, 0.0)).of(number, of_all)
        return own + self.errors.rows * (number / of_all) ** 2

    @cached_property
    def _starts(self) -> list[int]:
        """The first code of each column that boxes have: 1 where no value is missing."""
        return [int(start) for start in self.tree.lows.min(axis=0, initial=1)]

    def _share_of_rows(self, name: str, matches: Bools) -> float:
        """Return the share of all rows that satisfy a condition: the same from files, so sums are of whole numbers."""
        lows, highs, rows = self._runs(name)
        before = np.concatenate(([0], np.cumsum(matches)))
        found = math.fsum(((before[highs] - before[lows]) / (highs - lows) * rows).tolist())
        return min(max(found / max(self._all_rows, 1.0), 0.0), 1.0)

    def _runs(self, name: str) -> tuple[Ints, Ints, Ints]:
        """Return the runs of codes that rows of a model have in a column, and how many rows have each."""
        if name not in self._known_runs:
            size = self.trees[name].size + 1
            if name in self.schema.sensitive:
                lows = self._classes_codes(name).astype(np.int64)
                highs, rows = lows + 1, self.tree.noisy.sum(axis=0)
            else:
                place = self.columns.index(name)
                lows, highs = (one[:, place].astype(np.int64) for one in (self.tree.lows, self.tree.highs))
                rows = self._rows_of_boxes
            key = lows * size + highs
            run_of, first = rank_keys(key, size * size)
            runs = key[first]
            sums = np.bincount(run_of, weights=rows, minlength=len(runs)).astype(np.int64)
            some = sums > 0
            found = runs[some] // size, runs[some] % size, sums[some]
            self._known_runs[name] = found
            return found  # and not what is kept: other threads may ask for the first time, too
        return self._known_runs[name]

    @cached_property
    def _rows_of_boxes(self) -> Ints:
        return np.asarray(self.tree.noisy.sum(axis=1))

    @cached_property
    def _known_runs(self) -> dict[str, tuple[Ints, Ints, Ints]]:
        return {}

    @property
    def _noise_of_classes(self) -> float:
        """The variance of all classes' counts, one by one: more than that of their sum, which is known better."""
        classes = math.prod(self.trees[name].size - start for name, start in self._class_starts.items())
        return classes * self.errors.columns[min(self.schema.sensitive)]

    def _part_of_classes(self, asked: Mapping[str, Bools]) -> float:
        """Return which part of all classes a question is about, whether there are rows of them or not."""
        found = 1.0
        for name, start in self._class_starts.items():
            if name in asked:
                found *= float(asked[name][start:].mean())
        return found

    @cached_property
    def _class_starts(self) -> dict[str, int]:
        """The first code of each sensitive column that classes have: 1 where no value may be missing."""
        if self.may_be_missing is not None:
            return {name: int(name not in self.may_be_missing) for name in sorted(self.schema.sensitive)}
        return {name: int(self._classes_codes(name).min(initial=1)) for name in sorted(self.schema.sensitive)}

    def _parts_of_margins(self, spreading: Spreading, asked: Mapping[str, Bools]) -> tuple[float, float, float]:
        """Return the same where single columns and pairs tell how rows are spread."""
        classes = self._classes(asked)
        by_column = self._by_column(asked)
        center = spreading.count(by_column, classes)
        noise = [spreading.noise(column, matches) for column, matches in by_column.items()]
        shares = [spreading.share_of_rows(column, matches) for column, matches in by_column.items()]
        if not classes.all() or not by_column:
            noise.append(self._noise_of_all * int(classes.sum()))
            shares.append(spreading.share_of_classes(classes))
        if len(noise) == 1:
            return center, noise[0], 0.0
        if not self.errors.dependence:
            return center, several_conditions(shares, noise, 0.0, 0.0)[0], _of_model(center, spreading.total)
        return center, *several_conditions(shares, noise, spreading.total, self.errors.dependence)

    @cached_property
    def _noise_of_all(self) -> float:
        """The variance of all rows of one class."""
        shares = np.ones((len(self.tree.parents), 1))
        return float(self._sums.variances(shares)[0])

    def _by_column(self, asked: Mapping[str, Bools]) -> dict[int, Bools]:
        return {self.columns.index(name): matches for name, matches in asked.items() if name in self.schema.quasi}

    @cached_property
    def _flat(self) -> FlatBoxes | None:
        return FlatBoxes.of(self.tree)

    @cached_property
    def _sums(self) -> SumsOfLeaves:
        return SumsOfLeaves.of(self.tree.parents, self.tree.variances)

    @cached_property
    def spreading(self) -> Spreading | None:
        """How rows are spread inside of boxes, where single columns and pairs were counted."""
        margins = self.tree.margins
        return None if margins is None else Spreading.of_margins(self.tree, self.tree.lows[0].tolist(), margins)

    @property
    def errors_assume(self) -> str:
        """What errors rest on, in words."""
        if not self.from_model and (self.tree.highs - self.tree.lows)[self._leaves].max(initial=1) == 1:
            return NOISE_ONLY
        if self.errors.measured:
            return MEASURED
        return OF_A_MODEL if self.from_model else GUESSED

    @property
    def knows_values(self) -> bool:
        """Whether it tells how frequent single values are: rows come from a model, or columns were counted."""
        return self.from_model or self.tree.margins is not None

    def single(self, name: str) -> Floats:
        """Return about how many rows have each code of a column."""
        if self.spreading is not None and name in self.schema.quasi:
            return self.spreading.singles[self.columns.index(name)]
        tree, (of_boxes, of_classes) = self.trees[name], self._sums_of_leaves
        if name in self.schema.sensitive:
            codes = self.class_codes[:, sorted(self.schema.sensitive).index(name)]
            return np.asarray(np.bincount(codes, weights=of_classes, minlength=tree.size), dtype=np.float64)
        place = self.columns.index(name)
        if self.from_model:
            lows, highs, rows = self._runs(name)
            each = rows / (highs - lows)
        else:
            lows, highs = (one[self._leaves, place].astype(np.int64) for one in (self.tree.lows, self.tree.highs))
            each = of_boxes / (highs - lows)
        opens = np.bincount(lows, weights=each, minlength=tree.size + 1)
        return np.cumsum(opens - np.bincount(highs, weights=each, minlength=tree.size + 1))[:-1]

    @cached_property
    def _sums_of_leaves(self) -> tuple[Floats, Floats]:
        """About how many rows each box without children has, and each class in all of them."""
        best = self.tree.of_leaves
        return best.sum(axis=1).astype(np.float64), best.sum(axis=0).astype(np.float64)

    def error(self, query: Query) -> float:
        """Return the standard deviation that noise alone gives to an answer, at most.

        It is that of the fewest counted boxes, of any size, that cover the question, each with what was counted inside
        it; the counts around them only lower it. Infinite if the boxes were not counted but come from a model.
        """
        shares, classes = self._shares(self.asked(query))
        if self.from_model:
            return np.inf
        covering = covering_boxes(self.tree, shares)
        variances = pooled_variances(self.tree.parents, self.tree.variances)
        return float(np.sqrt((shares[covering] ** 2 * variances[covering]).sum() * classes.sum()))

    def asked(self, query: Query) -> dict[str, Bools]:
        """Return which codes of each column a question is about."""
        found = {}
        for name, condition in query.items():
            if name not in self.schema.tallied:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the release."
                    + did_you_mean(name, self.schema.tallied)
                )
            found[name] = matching_codes(name, self.trees[name], condition, unknown_names="suggested")
        return found

    def _shares(self, asked: Mapping[str, Bools]) -> tuple[Floats, Bools]:
        """Return the share of each box that a question is about, and which classes."""
        shares = np.ones(len(self.tree.parents))
        for name, matches in asked.items():
            if name in self.schema.sensitive:
                continue
            place = self.columns.index(name)
            before = np.concatenate(([0], np.cumsum(matches)))
            lows, highs = self.tree.lows[:, place], self.tree.highs[:, place]
            shares *= (before[highs] - before[lows]) / (highs - lows)
        return shares, self._classes(asked)

    def _class_of(self, values: Codes) -> Ints:
        """Return the class of each combination of sensitive codes."""
        sizes = [self.trees[name].size for name in sorted(self.schema.sensitive)]
        keys, wanted = np.zeros(len(self.class_codes), dtype=np.int64), np.zeros(len(values), dtype=np.int64)
        for place, size in enumerate(sizes):
            keys, wanted = keys * size + self.class_codes[:, place], wanted * size + values[:, place]
        order = np.argsort(keys)
        return np.asarray(order[np.searchsorted(keys[order], wanted)])

    def _classes_codes(self, name: str) -> Codes:
        """Return the code of a sensitive column that each class has."""
        return np.asarray(self.class_codes[:, sorted(self.schema.sensitive).index(name)])

    def _classes(self, asked: Mapping[str, Bools]) -> Bools:
        """Return which classes a question is about."""
        classes = np.ones(len(self.class_codes), dtype=bool)
        for place, name in enumerate(sorted(self.schema.sensitive)):
            if name in asked:
                classes &= asked[name][self.class_codes[:, place]]
        return classes

    @cached_property
    def _leaves(self) -> Ints:
        return self.tree.leaves

    def frame(self) -> pl.DataFrame:
        """Return one line for each box and class: what is asked about, which box holds it, estimate and variance."""
        names = _Names.of(self.schema)
        boxes, classes = len(self.tree.parents), len(self.class_codes)
        labels = {
            name: name_runs(self.trees[name], self.tree.lows[:, place], self.tree.highs[:, place]).labels
            for place, name in enumerate(self.columns)
        }
        values = {
            name: self.trees[name].values.gather(self.class_codes[:, place])
            for place, name in enumerate(sorted(self.schema.sensitive))
        }
        box_of, class_of = np.repeat(np.arange(boxes), classes), np.tile(np.arange(classes), boxes)
        above, spread = pl.Series(self.tree.parents), pl.Series(self.tree.variances, dtype=pl.Float64)
        return pl.DataFrame(
            {
                **{name: series.gather(box_of) for name, series in labels.items()},
                **{name: series.gather(class_of) for name, series in values.items()},
                names.box: box_of,
                names.places: _written_places(self.tree.lows, self.tree.highs).gather(box_of),
                names.within: above.set(above < 0, None).gather(box_of),
                names.estimate: self.tree.estimates.ravel(),
                names.variance: spread.set(spread.is_infinite(), None).gather(box_of),
            }
        )

    @classmethod
    def read(cls, lines: pl.DataFrame, schema: Schema, trees: Mapping[str, Tree]) -> MeasuredBoxes:
        """Read what `frame` returned, from a file."""
        names = _Names.of(schema)
        _require_columns(lines, (*schema.sensitive, *names.all))
        # A file of texts holds numbers as texts; what is no number becomes nothing, and is refused below.
        lines = lines.with_columns(
            pl.col(names.box, names.within).cast(pl.Float64, strict=False).cast(pl.Int64, strict=False),
            pl.col(names.estimate, names.variance).cast(pl.Float64, strict=False),
        )
        box_of = lines[names.box]
        boxes = 0 if box_of.is_empty() or box_of.null_count() else int(box_of.to_numpy().max()) + 1
        classes = lines.height // boxes if boxes else 0
        lines = lines.sort(names.box, maintain_order=True)
        if lines[names.estimate].null_count() or boxes * classes != lines.height:
            raise SourceError(_TORN)
        if not np.array_equal(lines[names.box].to_numpy(), np.repeat(np.arange(boxes), classes)):
            raise SourceError(_TORN)
        secrets = sorted(schema.sensitive)
        codes = [codes_of_labels(name, trees[name], _as_text(lines[name])) for name in secrets]
        class_of = np.stack(codes, axis=1) if codes else np.zeros((lines.height, 0), dtype=np.int32)
        order = np.lexsort((*class_of.T[::-1], lines[names.box].to_numpy()))
        lines, class_of = lines[order], class_of[order]
        first = class_of[:classes]
        if not (class_of.reshape(boxes, classes, -1) == first).all() or len(np.unique(first, axis=0)) != classes:
            raise SourceError(_TORN)
        each = lines.gather_every(max(classes, 1))
        parents = each[names.within].fill_null(-1).to_numpy()
        if (parents >= np.arange(boxes)).any():
            raise SourceError(_TORN)
        lows, highs = _read_places(each[names.places], schema, trees)
        estimates = lines[names.estimate].to_numpy().reshape(boxes, classes)
        tree = NoisyTree(
            parents,
            lows,
            highs,
            np.rint(estimates).astype(np.int64),
            each[names.variance].fill_null(np.inf).to_numpy(),
            estimates,
        )
        return cls(schema, trees, tree, first)

    def margins_frame(self) -> pl.DataFrame | None:
        """Return single columns and pairs that were counted beside the boxes; None where none were."""
        margins = self.tree.margins
        return None if margins is None else margins_frame(margins, self.columns, self.trees, len(self.class_codes))

    def with_margins(self, lines: pl.DataFrame) -> MeasuredBoxes:
        """Return the same with what `margins_frame` returned, from a file."""
        margins = read_margins(lines, self.columns, self.trees, len(self.class_codes))
        return replace(self, tree=replace(self.tree, margins=margins))

    @classmethod
    def of_rows(
        cls, lines: pl.DataFrame, schema: Schema, trees: Mapping[str, Tree], *, may_be_missing: Collection[str]
    ) -> MeasuredBoxes:
        """Return published rows as boxes that come from a model; `*` holds the missing value where there may be one."""
        boxes = _Lines.of(lines, schema, trees, may_be_missing)
        sizes = [trees[name].size for name in sorted(schema.sensitive)]
        class_of, first = group_tuples(boxes.values, sizes)
        noisy = np.zeros((lines.height, len(first)), dtype=np.int64)
        noisy[np.arange(lines.height), class_of] = boxes.counts
        nowhere, unknown = np.full(lines.height, -1, dtype=np.int64), np.full(lines.height, np.inf)
        tree = NoisyTree(nowhere, boxes.lows, boxes.highs, noisy, unknown)
        return cls(schema, trees, tree, boxes.values[first], may_be_missing=tuple(may_be_missing))

    def rows_of(self, lines: pl.DataFrame, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return as many rows as published lines say, each value drawn evenly from its box; their order is nothing."""
        missing = [name for place, name in enumerate(self.columns) if not self.tree.lows[:, place].all()]
        boxes = _Lines.of(lines, self.schema, self.trees, missing)
        line_of = np.repeat(np.arange(lines.height), boxes.counts)
        lows, highs = boxes.lows[line_of], boxes.highs[line_of]
        if self.spreading is None:
            drawn = [rng.integers(lows[:, place], highs[:, place]) for place in range(len(self.columns))]
            codes = np.stack(drawn, axis=1).astype(np.int32)
        else:
            codes = self.spreading.draw(lows, highs, self._class_of(boxes.values)[line_of], rng)
        found: dict[str, Codes] = {name: codes[:, place] for place, name in enumerate(self.columns)}
        for place, name in enumerate(sorted(self.schema.sensitive)):
            found[name] = boxes.values[line_of, place]
        return found, np.ones(len(line_of))


@dataclass(frozen=True, eq=False)
class _Lines:
    """Published lines in public codes, sorted: the run of each quasi-identifier, sensitive codes, and rows."""

    lows: Codes
    highs: Codes
    values: Codes
    counts: Counts

    @classmethod
    def of(
        cls, lines: pl.DataFrame, schema: Schema, trees: Mapping[str, Tree], may_be_missing: Collection[str]
    ) -> _Lines:
        secrets, columns = sorted(schema.sensitive), sorted(schema.quasi)
        lows, highs = np.empty((2, lines.height, len(columns)), dtype=np.int32)
        for place, name in enumerate(columns):
            label_of, labels = number_labels(lines[name])
            low, high, _ = runs_of_labels(name, trees[name], labels, ours=True)
            if name not in may_be_missing:
                low = np.where(high - low > 1, np.maximum(low, 1), low).astype(np.int32)
            lows[:, place], highs[:, place] = low[label_of], high[label_of]
        codes = [codes_of_labels(name, trees[name], lines[name]) for name in secrets]
        values = np.stack(codes, axis=1) if codes else np.zeros((lines.height, 0), dtype=np.int32)
        order = np.lexsort((*values.T, *highs.T, *lows.T))
        return cls(lows[order], highs[order], values[order], lines[COUNT].to_numpy()[order].astype(np.int64))


@dataclass(frozen=True)
class _Names:
    """How the columns are called that the table has besides labels and values; no column of the table is."""

    box: str
    places: str
    within: str
    estimate: str
    variance: str

    @classmethod
    def of(cls, schema: Schema) -> _Names:
        def free(name: str) -> str:
            while name in schema.tallied:
                name = f"noisy {name}"
            return name

        return cls(free("box"), free("places"), free("within"), free("estimate"), free("variance"))

    @property
    def all(self) -> tuple[str, ...]:
        return self.box, self.places, self.within, self.estimate, self.variance


_TORN = "the table 'measured' of this release is not as it was written: boxes, classes or numbers are missing in it."


def _require_columns(lines: pl.DataFrame, names: Collection[str]) -> None:
    for name in names:
        if name not in lines.columns:
            raise SourceError(f"the table 'measured' of this release has no column '{name}'.")


def _as_text(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if values.dtype == pl.Categorical else values


def _written_places(lows: Codes, highs: Codes) -> pl.Series:
    """Write the first and the last place of each box in each column: labels alone may be those of several runs."""
    columns = [pl.format("{}-{}", pl.lit(low), pl.lit(last)) for low, last in _column_pairs(lows, highs - 1)]
    if not columns:
        return pl.Series([""] * len(lows), dtype=pl.String)
    return pl.select(pl.concat_str(columns, separator=" ")).to_series()


def _column_pairs(one: Codes, other: Codes) -> Iterator[tuple[pl.Series, pl.Series]]:
    for place in range(one.shape[1]):
        yield pl.Series(one[:, place]), pl.Series(other[:, place])


def _read_places(written: pl.Series, schema: Schema, trees: Mapping[str, Tree]) -> tuple[Codes, Codes]:
    """Return the run of codes of each box in each column."""
    pattern = r"^" + " ".join([r"(\d{1,9})-(\d{1,9})"] * len(schema.quasi)) + "$"
    found = written.cast(pl.String).str.extract_groups(pattern).struct.unnest()
    if sum(found.null_count().row(0)):
        raise SourceError(_TORN)
    codes = found.cast(pl.Int32).to_numpy()
    lows, highs = codes[:, ::2], codes[:, 1::2] + 1
    if (lows >= highs).any() or (highs > [trees[name].size for name in sorted(schema.quasi)]).any():
        raise SourceError(_TORN)
    return lows, highs


def _of_model(count: float, total: float) -> float:
    """Return how wrong a count may be that a model answers: it grows with the rows on either side."""
    return max(math.sqrt(max(count, 0.0) * max(total - count, 0.0) / _MODEL), 1.0)


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
