"""A release: what is published, what it guarantees, and where it can be saved."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Floats
from incrowd.common.plain import finite, parameters, size_distribution
from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.changed import ChangeFacts
from incrowd.core.dated import DateFacts
from incrowd.core.engine import LinkedRows, PublishedRows
from incrowd.core.estimate import CountEstimate, SureCount
from incrowd.core.form import Form, FormOutline
from incrowd.core.groups import Groups
from incrowd.core.households import HouseholdFacts
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import read_lists
from incrowd.core.labelled import Labelled
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model, Promise
from incrowd.core.people import PeopleNumbers
from incrowd.core.people_memory import PeopleMemory
from incrowd.core.query import Query
from incrowd.core.reader import Reader
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.risk import Risk
from incrowd.core.rows_beside import KeptTable
from incrowd.core.runs import rows_in
from incrowd.core.schema import Schema
from incrowd.core.set_method import SetMethod
from incrowd.core.source import OpenedTable, Origin, ReadOptions
from incrowd.core.tally import Tally
from incrowd.engines.changing import without_chance
from incrowd.errors import ConformanceError, OutputError, QueryError, did_you_mean, escaped
from incrowd.forms.label_meanings import describe_items, describe_labels
from incrowd.forms.label_reader import LabelReader
from incrowd.forms.told_scheme import told_scheme
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.values import as_text, natural_kind
from incrowd.ledger import OpenEntry
from incrowd.metrics.in_summary import label_losses
from incrowd.publishing.beside_truth import beside_truth
from incrowd.publishing.changes import change_warnings, unused_hierarchies
from incrowd.publishing.features import FeatureEncoder
from incrowd.publishing.in_ledger import record_saved
from incrowd.publishing.notebook import release_html
from incrowd.publishing.one_of_a_kind import MOST_ROWS, KindsOfRows, OneOfAKind
from incrowd.publishing.opening.claims import Claim
from incrowd.publishing.recipe_format import LinkedSource, reading_of, recipe_of, roles_in
from incrowd.publishing.remaking import made_again, why_not_remade, without
from incrowd.publishing.saving import Format, save, save_recipe
from incrowd.publishing.scheme import ReleaseScheme
from incrowd.publishing.spoken_of import what_is_left_out
from incrowd.publishing.types import Cast, casts_of, typed
from incrowd.publishing.weights import weight_warnings
from incrowd.report.numbers import number
from incrowd.sources import open_table, reading
from incrowd.sources.frames import as_native

if TYPE_CHECKING:
    from incrowd.auditing.audit import Audit

FrameKind = Literal["polars", "pandas", "pyarrow"]
"""Kinds of frames that rows to learn from may come as."""
ROWS_ARE_ATTACKED = (
    "Attacks count rows here, since the files do not tell whose a row is: somebody with several rows hides among fewer "
    "people than it seems."
)
SEVERAL_ROWS = (
    "Some people have several rows: guarantees count people. They do not cover an adversary who knows how many rows a "
    "person has."
)
MIXED_DATES = "Columns of dates are treated in different ways: what one of them hides of an event, another may tell."
SEEDED_RELEASE = (
    "Made with a seed: whoever knows or guesses it can undo what chance hides. For tests, not for publication."
)


@dataclass(frozen=True, eq=False)
class Release:
    """A table that can be published, and the evidence for it."""

    shown: FormOutline
    """What is published, as far as it is known here; `form` is all of it."""
    guarantees: tuple[Guarantee, ...]
    method: AnyMethod
    seed: int | None
    """What chance came from, for the publisher alone: whoever has it can undo what chance hides."""
    source: Origin
    published: PublishedRows
    """The published rows, made when they are asked for."""
    pseudonym_key: Path | None = None
    """The file of the key, never the key itself."""
    rate: Fraction = Fraction(1)
    """The probability with which each row of the table was taken into the sample that is published."""
    population: Origin | None = None
    asked_form: Showing | None = None
    """The form that was asked for, where it is not the method's own."""
    effort: int = 0
    """How many passes people moved between the method's groups, so that labels lose less."""
    seconds: float | None = None
    """After how many seconds that was to end, if it was."""
    promise: Promise | None = None
    """What the method promises by its construction; how many rows the table has is then a secret."""
    foreign: bool = False
    """Whether it was read from a file: what its labels stand for is known, and not the table that it was made of."""
    notes: tuple[str, ...] = ()
    """What is to be said about how it was read."""
    claims: tuple[Claim, ...] = ()
    """What it was said to satisfy, where it was read from files: judged on what is in them."""
    outside: tuple[str, ...] = ()
    """Columns of its files that no guarantee speaks of, where it was read from files: kept ones, pseudonyms, others."""
    outside_as_it_is: tuple[str, ...] = ()
    """Those of them that are neither pseudonyms nor treated dates, and so may be in other tables as they are here."""
    marked_as_seeded: bool = False
    """Whether it was read from files that say so."""
    told: Mapping[str, Hierarchy] = field(default_factory=dict)
    """Hierarchies as its recipe tells them, where they are others: without values of people who are not published."""
    counts_people: bool = False
    """Whether it was read from files that say that some people have several rows."""
    crowds: Groups | None = None
    """The crowds that hide people, where it was read from files that tell whose a row is."""
    people: PeopleNumbers | None = None
    """How many people are in it, where somebody has several rows: guarantees then count people."""
    of_people: Callable[[], tuple[Form, tuple[str, ...]] | None] | None = None
    """Returns the same with one line for each person, and the columns that this leaves out, where somebody has several
    rows."""
    written_rows: int | None = None
    """Rows that are written, where these are not the lines of the form."""
    item_method: SetMethod | None = None
    """How sets of items were made safe, where there are any."""
    item_numbers: Mapping[str, Any] | None = None
    """What was lost of them."""
    event_sets: ItemSets | None = None
    """The items that people show in a table of events, in parts by their groups."""
    linked: Mapping[str, LinkedRows] = field(default_factory=dict)
    """Tables of events that its keys link to the people, by name."""
    event_tables: Mapping[str, LinkedSource] = field(default_factory=dict)
    """Where these come from."""
    split: str | None = None
    """What the events are called, where a flat table was split into people and events."""
    told_warnings: tuple[str, ...] | None = None
    """What it warned of when it was made, where it was read from files that say so."""
    told_labels: Mapping[str, Any] | None = None
    """What its labels stand for, where it was read from files that say so."""
    told_items: tuple[str, ...] = ()
    """Its column of sets of items, where it was read from files that say so."""
    item_separator: str | None = None
    """What stands between items there."""
    told_sets: ItemSets | None = None
    """The items that people show, where it was read from files that have any."""
    told_dates: DateFacts | None = None
    """What became of its dates, where it was read from files that say so."""
    told_households: HouseholdFacts | None = None
    """What tells who lives together in the table before, where it was read from files that say so."""
    told_tables: tuple[KeptTable, ...] = ()
    """Its tables of events and the originals of these, where it was read from files and they were given."""
    told_rows: OpenedTable | None = None
    """The rows that it was made of, where it was read from files and they were given."""
    told_weights: Mapping[str, Any] | None = None
    """What became of its weights, where it was read from files that say so."""
    told_totals: Floats | None = None
    """What the rows of each tuple of the table before weigh, where it was read from files and that table was given."""
    entry: OpenEntry | None = None
    """Its entry in a ledger, where it was made under one."""
    rehearsed: bool = False
    """Whether it was made to be looked at, beside the releases of a ledger that knows nothing of it."""
    reopen: Callable[..., Release] | None = None
    """Reads its files again, where it was read from files."""
    files: tuple[Path, ...] = ()
    """The files that it was read from."""
    told_recipe: str | None = None
    """The recipe or the description that came with them, as it is written."""
    left_aside: tuple[str, ...] = ()
    """Columns that are taken not to be published, to tell what they change."""
    passed: list[KindsOfRows] = field(default_factory=list, repr=False)
    """What was noted of its rows when all of them passed by, to be written or attacked."""
    method_numbers: Mapping[str, int] | None = None
    """What the method has to tell of what it did, such as why rows are withheld."""
    told_roles: Mapping[str, Any] | None = None
    """How tables like the one before are read, where it was read from files that say so."""
    changes: ChangeFacts = field(default_factory=ChangeFacts)
    """What was done to sensitive and kept columns before they were published."""
    truth_known: bool = False
    """Whether it reads beside what people truly have, where chance changed what is published of them."""
    place: str = ""
    """The directory that it was read from, if any."""
    memory: PeopleMemory | None = field(default=None, repr=False)
    """Who is published where in this release and in those before it, where that is kept: as secret as the table."""
    solutions: pl.DataFrame | None = None
    """What else a search over level vectors looked at, the best first: to compare, and to pick another from."""
    decided: Recoding | None = field(default=None, repr=False)
    """Which rows hide together, for the publisher alone, where it was made in this session: to explain single rows."""

    @property
    def form(self) -> Form:
        """What is published, as counts: to ask, to check and to attack."""
        form = self.shown.counted
        if form is None:
            raise QueryError(
                "this release is too large for this machine.  Hint: ask the engine that holds it, with `release.data`."
            )
        return form

    @property
    def generalized(self) -> Labelled:
        """The release's form where it is generalized values: groups with labels."""
        labelled = self.form.labelled
        if labelled is None:
            raise QueryError(f"this release is {self.shown.name}: its groups have no labels.")
        return labelled

    @property
    def table_before(self) -> Tally | None:
        """The table that it was made of, where that is known."""
        if self.foreign or not self.form.knows_table:
            return None
        seen = self.to_attack if self._hides_truth else self
        return seen.form.tally

    @property
    def table_weights(self) -> Floats | None:
        """What the rows of each tuple of that table weigh together, where there are survey weights."""
        return self.form.true_totals if self.told_totals is None else self.told_totals

    @property
    def seeded(self) -> bool:
        """Whether chance came from a seed, so that it can be replayed."""
        return self.seed is not None or self.marked_as_seeded

    @property
    def schema(self) -> Schema:
        """The role of every column."""
        return self.shown.schema

    @property
    def dates(self) -> DateFacts:
        """What became of its dates, and whether its rows are linked."""
        return DateFacts.of(self.schema) if self.told_dates is None else self.told_dates

    @property
    def households(self) -> HouseholdFacts:
        """What tells who lives together, in the table before."""
        told = self.told_households
        return HouseholdFacts(self.schema.household, self.schema.person) if told is None else told

    @property
    def item_sets(self) -> ItemSets | None:
        """The items that people show, in parts by their groups."""
        found = self.event_sets if self.told_sets is None else self.told_sets
        return self.form.published_sets() if found is None else found

    @cached_property
    def rows_before(self) -> OpenedTable | None:
        """The rows that it was made of, where they are at hand; in changed columns, as far as that took no chance."""
        rows = self.unchanged_rows
        return None if rows is None else without_chance(rows, self.changes, private=self.hides_rows)

    @property
    def unchanged_rows(self) -> OpenedTable | None:
        """The same rows before any column was changed."""
        if self.told_rows is not None or self.told_dates is not None:
            return self.told_rows
        return self.source if isinstance(self.source, OpenedTable) else None

    @property
    def _hides_truth(self) -> bool:
        """Whether chance changed sensitive values, and it was not read beside the true ones yet."""
        drawn = [name for name in self.changes.by_chance if name in self.schema.sensitive]
        return bool(drawn) and not self.truth_known and not self.foreign and self.reopen is None

    def opened(self, original: object) -> OpenedTable:
        """Open the table that it was made of, in the words of the release: changed as far as that takes no chance."""
        return without_chance(open_table(original, ReadOptions(lists=None)), self.changes, private=self.hides_rows)

    @property
    def kept_beside(self) -> tuple[str, ...]:
        """Columns that are published as they are beside the labels, where each row is a person's."""
        if self.people is not None or self.counts_people:
            return ()
        aside = {*self.left_aside, *self.changes.by_chance}
        return tuple(name for name in (*self.schema.kept, *self.outside_as_it_is) if name not in aside)

    def beside(self, original: object) -> Release | None:
        """Return it as it reads beside the table that it was made of, where it was read from files without that."""
        return None if self.reopen is None or not self.foreign else self.reopen(original=original)

    @property
    def recipe_text(self) -> str | None:
        """How it was made, as a recipe without a seed, or what describes its columns, where it was read from files."""
        if self.files or self.foreign:
            return self.told_recipe
        return recipe_of(self, seen_from=None)

    @property
    def not_remade(self) -> str | None:
        """Why it cannot be made again of its table, to see what other options change; None if it can."""
        return why_not_remade(self)

    def made_again(
        self,
        before: OpenedTable,
        *,
        models: Sequence[Model],
        method: AnyMethod,
        kept: Sequence[str],
        seed: int,
    ) -> Release:
        """Publish a table as this one was, with other options."""
        return made_again(self, before, models=models, method=method, kept=kept, seed=seed)

    def without(self, columns: Sequence[str], *, smaller_than: int = 0) -> Release | None:
        """Return the same release as if some columns, or rows of groups smaller than that, were not published; None
        where that cannot be told.
        """
        return without(self, columns, smaller_than)

    @property
    def kept_tables(self) -> list[KeptTable]:
        """Published tables in which people may have several rows, the people first; what is kept of each."""
        several = self.people is not None or self.counts_people
        kept = (*self.schema.kept, *self.outside_as_it_is) if several else ()
        kept = tuple(name for name in kept if name not in self.changes.by_chance)
        tables = [KeptTable(kept, self.batches)]
        for name, table in self.event_tables.items():
            before = table.source
            if name in self.linked and isinstance(before, OpenedTable):
                tables.append(KeptTable(tuple(table.schema.kept), self.linked[name].rows.batches, before, name))
        return [*tables, *self.told_tables]

    @property
    def linking(self) -> tuple[str, ...]:
        """Columns beside the labels that may link rows to those of other releases: pseudonyms and kept ones."""
        if self.people is not None or self.counts_people:
            return ()
        treated = self.dates.treatments
        outside = tuple(name for name in self.outside if name in self.source.columns and name not in treated)
        found = dict.fromkeys((*self.schema.pseudonyms, *self.schema.kept, *outside))
        return tuple(name for name in found if name not in {*self.left_aside, *self.changes.by_chance})

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies as its recipe tells them."""
        return {**self.schema.hierarchies, **self.told}

    @property
    def roles(self) -> Mapping[str, Any]:
        """How tables like the one before are read: keywords of `incrowd.read`."""
        if self.told_roles is not None:
            return self.told_roles
        return reading_of(
            roles_in(self.schema),
            self.hierarchies,
            self.schema.dates,
            self.schema.changes,
            each_row_a_person=self.schema.each_row_a_person,
            item_separator=self.schema.item_separator,
        )

    @property
    def scheme(self) -> ReleaseScheme:
        """Which levels or cuts each column got; `scheme.apply` gives the rows of another table the same labels."""
        return ReleaseScheme.of(self)

    @property
    def rows_in(self) -> int:
        """Rows of the table, or of the sample of it that was taken."""
        return self.shown.rows_in

    @property
    def left_out(self) -> int:
        """Rows of the table that the sample left out."""
        return self.form.tally.rows - self.rows_in

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return self.shown.rows

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        return self.shown.withheld

    @property
    def counterfeits(self) -> int:
        """Published rows that are nobody's."""
        return self.shown.counterfeits

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the published rows batch by batch, in an order that says nothing about the table's."""
        yield from map(_own_texts, self._batches_as_shown())

    def batches_to_write(self, *, runs: bool = False) -> Iterator[pl.DataFrame]:
        """Yield the same for a sink, in the types of the table where values allow that; a sink writes what is shown
        and nothing else that lies in the frames' buffers. With `runs`, equal rows may come once (`core/runs.py`).
        """
        yield from (typed(batch, self._casts) for batch in self._batches_as_shown(runs=runs))

    @cached_property
    def _casts(self) -> Mapping[str, Cast]:
        """How columns become what they were; nothing where it was read from files, which have them as they are."""
        form = self.shown.counted
        if self.place or form is None or form.private or form.labelled is None:
            return {}
        return casts_of(form.labelled, self.source) if isinstance(self.source, OpenedTable) else {}

    @property
    def values_of_columns(self) -> Mapping[str, pl.Series]:
        """All values that some columns may have as they are written: those that were counted, or stand for labels."""
        form = self.shown.counted
        if form is None or form.private:
            return {}
        stand_ins = {} if form.labelled is None else form.labelled.shown.stand_ins
        shown = {column.name: column for frame in stand_ins.values() for column in frame.get_columns()}
        return {**{name: tree.values for name, tree in form.tally.trees.items()}, **shown}

    def _batches_as_shown(self, *, runs: bool = False) -> Iterator[pl.DataFrame]:
        """Yield the published rows with labels as texts, and check that they are as many as were verified."""
        published = 0
        kinds = self._kinds_to_note if not self.passed else None
        once = self.published.runs() if runs and kinds is None else None
        for batch in self.published.batches() if once is None else once:
            published += rows_in(batch)
            if kinds is not None:
                kinds.add(batch)
            yield batch
        if kinds is not None:
            self.passed.append(kinds)
        if published != (self.rows if self.written_rows is None else self.written_rows):
            raise ConformanceError(
                f"{published} rows came out where {self.rows} were checked; has the source changed meanwhile?"
            )

    def to_polars(self) -> pl.DataFrame:
        """Return the published rows as a Polars frame, labels as texts; `data` has the table's own types."""
        rows = pl.concat(list(self._batches_as_shown()))
        # Files may have numbers where every label is one.
        typed_labels = [name for name in self.schema.quasi if name in rows.columns and name not in self.schema.show]
        if self.reopen is not None and self.form.labelled is not None:
            rows = rows.with_columns([as_text(rows[name]) for name in typed_labels])
        return _own_texts(rows)

    @cached_property
    def data(self) -> Any:
        """The published rows as the kind of frame that was handed in (Polars where it was a file or a database)."""
        frame = self.published.frame()
        return as_native(typed(self.to_polars(), self._casts), self.source.native) if frame is None else frame

    def count(self, query: Query, *, weighted: bool | None = None) -> float:
        """Estimate how many rows satisfy every condition of a query, spreading each group's members evenly.

        A condition is a value, a list of values, or a pair `(low, high)`, both included:
        `{"age": (30, 39), "sex": "F"}`. Of a sample, it estimates the rows of the table that it was taken from.

        A release with survey weights estimates how many people of the population they are; `weighted=False` asks for
        rows of the table.
        """
        reader = self._reader_of(query, weighted=weighted)
        if reader is None:
            found = None if weighted is False else self.form.weighted_count(query)
            return (self.form.count(query) if found is None else found) / float(self.rate)
        return reader.count(query, weighted=weighted is not False) / float(self.rate)

    def estimate(self, query: Query, *, confidence: float = 0.95, weighted: bool | None = None) -> CountEstimate:
        """Return what `count` returns, and how sure that is: a standard error, an interval, and bounds.

        Parameters
        ----------
        query : conditions, as `count` takes them.
        confidence : the probability with which the interval is to hold the true number (default: 0.95).
        weighted : False counts rows where the release has survey weights (default: weights are added up).

        `least` and `most` hold whatever is behind the labels. Error and interval rest on what the result `assumes`.

        >>> import incrowd as ic
        >>> table = ic.read(ic.datasets.census(2000), quasi=["age", "sex"], others="drop")
        >>> found = ic.publish(table, ic.KAnonymity(20)).estimate({"age": (30, 39)})
        >>> found.least <= found.low <= found.value <= found.high <= found.most
        True
        """
        reader = self._reader_of(query, weighted=weighted)
        if reader is not None:
            found: SureCount | None = reader.bounded(query, weighted=weighted is not False)
            assumes = reader.assumes
        else:
            found, assumes = self.form.estimated(query), self.form.errors_assume
        if found is None:
            raise QueryError("the files of this release do not tell how sure its counts are.")
        return CountEstimate.of(found, rate=float(self.rate), confidence=confidence, assumes=assumes)

    def _reader_of(self, query: Query, *, weighted: bool | None) -> Reader | None:
        if weighted is not None and not isinstance(weighted, bool):
            raise QueryError(f"weighted is True or False, not {type(weighted).__name__}.")
        reader: Reader | None = self.item_reader if set(query) & set(self.item_columns) else self.reader
        if weighted and (reader is None or reader.weighted is None):
            raise QueryError(f"this release has no weights.  Hint: leave out {option('weighted', True)}.")
        return reader

    @property
    def item_columns(self) -> tuple[str, ...]:
        """Columns of sets of items that are beside the labels."""
        return (*self.schema.items, *self.told_items)

    @property
    def label_meanings(self) -> dict[str, Any] | None:
        """What its labels stand for, as plain values: `labels.json`; None where it has none."""
        form = self.shown.counted
        if form is None or form.private or (form.labelled is None and not form.shown_labels()):
            return None
        return dict(self.told_labels) if self.told_labels is not None else describe_labels(form, self.hierarchies)

    @cached_property
    def reader(self) -> Reader | None:
        """The release as whoever has its files reads it; None where its files do not tell all."""
        found = self.form.reader(self.label_meanings)
        return None if found is None else found.corrected_for(self.changes)

    @cached_property
    def item_reader(self) -> Reader | None:
        """The same with sets of items, which are read row by row."""
        meanings, (items, *_) = self.label_meanings, self.item_columns
        if meanings is None:
            return None
        quasi, weights = tuple(self.schema.quasi), self.schema.weights
        names = (*quasi, *self.schema.sensitive, items, *weights)
        rows = pl.concat([batch.select(cs.by_name(*names)) for batch in self.batches()])
        lists = read_lists(items, rows[items], self.item_separator)
        columns = {**meanings["columns"]}
        if items not in columns:  # files that do not say what labels of items stand for
            columns[items] = describe_items(items, lists.explode().drop_nulls(), self.hierarchies.get(items))
        described = {**meanings, "columns": columns}
        weight = self.schema.weight
        return LabelReader.of_rows(rows.with_columns(lists.alias(items)), quasi, items, weight, described)

    def training_set(
        self,
        target: str,
        *,
        seed: int | None = None,
        weights: bool = False,
        encode: bool = True,
        frame: FrameKind | None = None,
    ) -> tuple[Any, Any, Floats]:
        """Return features, classes and weights to learn `target` from, as scikit-learn takes them.

        Parameters
        ----------
        target : the column to predict.
        seed : where chance starts from (default: the operating system's randomness).
        weights : True gives each row its published survey weight (default: False, every row weighs 1).
        encode : False leaves features as they were drawn (default: True, they are numbers; `features` does the same to
            another table).
        frame : "polars", "pandas" or "pyarrow" (default: the kind that was handed in, Polars where it was a file).

        Rows are made that could be behind the release, one for each published row that has a class: labels and boxes of
        noisy counts become values drawn evenly from what they stand for, and the columns of a bucket are paired by
        chance. Nothing but what is published goes into them, so that files give the same rows.
        """
        names = self.schema.tallied
        if target not in names:
            raise QueryError(f"'{target}' is not a published column.{did_you_mean(target, names)}")
        if weights and (self.reader is None or self.reader.weighted is None):
            raise QueryError(f"this release has no weights.  Hint: leave out {option('weights', True)}.")
        native = self.source.native if frame is None else _native(frame)
        drawn, of_rows = self._drawn_rows(np.random.default_rng(seed))
        if not weights:
            of_rows = np.ones(drawn.height)
        classes = drawn[target]
        there = classes.alias("").is_not_null()
        rows = drawn.filter(there)
        features = self._encoder.encode(rows, without=target) if encode else rows.drop(cs.by_name(target))
        given = as_native(classes.filter(there).to_frame(), native)
        one = given if native in ("pyarrow", "polars-lazy") else given[target]
        return as_native(features, native), one, of_rows[there.to_numpy()]

    def features(self, table: Any, *, target: str | None = None, frame: FrameKind | None = None) -> Any:
        """Return the columns of another table as numbers, in the way in which `training_set` does it.

        So a model that was learnt from the release can be tried on other people. `target` is left out. `frame` is the
        kind of frame to return (default: that of the table, Polars where it is a file).
        """
        opened = open_table(table, ReadOptions(lists=None))
        wanted = [name for name in self.schema.tallied if name != target]
        for name in wanted:
            if name not in opened.columns:
                raise QueryError(f"the table has no column '{name}', which the release has.")
        with reading(opened):
            rows = opened.frame.select(cs.by_name(*wanted)).collect(engine="streaming")
        kinds = {name: natural_kind(opened.texts.read(rows[name].alias(""))) for name in wanted}
        native = opened.native if frame is None else _native(frame)
        return as_native(self._encoder.encode(pl.DataFrame(kinds), without=target), native)

    @cached_property
    def _encoder(self) -> FeatureEncoder:
        """How columns become numbers: by rows that are drawn alike whenever this is asked."""
        return FeatureEncoder.of(self._drawn_rows(np.random.default_rng(0))[0])

    def _drawn_rows(self, rng: np.random.Generator) -> tuple[pl.DataFrame, Floats]:
        """Return rows that could be behind the release, and what each weighs."""
        if self.reader is not None:
            shown, frame = self.reader.row_weights(), self.reader.rows(rng)
            return frame, np.ones(frame.height) if shown is None else shown
        names = self.schema.tallied
        codes, of_rows = self.form.reconstruct(rng)
        frame = pl.DataFrame({name: self.form.tally.trees[name].values.gather(codes[name]) for name in names})
        # Names of their own: `*` would be taken for all columns.
        numbered = pl.DataFrame({f"c{place}": frame[name] for place, name in enumerate(sorted(names))})
        order = numbered.select(pl.struct(numbered.columns).arg_sort()).to_series()
        return frame[order], of_rows[order.to_numpy()]

    @property
    def stated_guarantees(self) -> list[dict[str, Any]]:
        """The guarantees as plain numbers and texts."""
        return [
            {
                "model": guarantee.model.name,
                "parameters": parameters(guarantee.model),
                "statement": str(guarantee.model),
                "basis": guarantee.basis,
                "achieved": finite(guarantee.achieved),
                **({"note": guarantee.note} if guarantee.note else {}),
            }
            for guarantee in self.guarantees
        ]

    @property
    def promises(self) -> list[dict[str, Any]]:
        """The old name of `stated_guarantees`."""
        warnings.warn("`promises` is now called `stated_guarantees`.", FutureWarning, stacklevel=2)
        return self.stated_guarantees

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What a machine may want to know about the release; holds no value of any row."""
        sizes = np.sort(self.shown.group_sizes)
        return {
            "format": 1,
            "rows": self.row_numbers,
            **({} if self.people is None else {"people": self._people_numbers(self.people)}),
            "guarantees": self.stated_guarantees,
            "method": {"name": self.method.name, "parameters": parameters(self.method)},
            "groups": {
                "number": len(sizes),
                "smallest": int(sizes[0]) if len(sizes) else 0,
                "median": float(np.median(sizes)) if len(sizes) else 0.0,
                "largest": int(sizes[-1]) if len(sizes) else 0,
                "by size": size_distribution(sizes),
            },
            **({"tables": {name: table.height for name, table in self.linked.items()}} if self.linked else {}),
            **({} if self.item_numbers is None else {"items": dict(self.item_numbers)}),
            **({} if self.weight_numbers is None else {"weights": dict(self.weight_numbers)}),
            **(
                {"changes": {name: list(told) for name, told in self.changes.told.items()}} if self.changes.told else {}
            ),
            "form": self.shown.name,
            **({} if (written := self._labels_written) is None else {"labels": written}),
            **({} if (scheme := self._told_scheme) is None else {"scheme": scheme}),
            **({} if self.method_numbers is None else {"method tells": dict(self.method_numbers)}),
            "seeded": self.seeded,
            **({} if self.entry is None else {"ledger": self.entry.mark}),
            "loss": self._losses() if self.promise is None else {},  # losses tell of rows that are not published
            **({} if self.promise is None else {"privacy": dict(self.promise.told)}),
            "warnings": self.warnings,
        }

    @property
    def _labels_written(self) -> str | None:
        """How its labels are written, where it has any."""
        form = self.shown.counted
        return None if form is None or form.private or form.labelled is None else form.labelled.written

    @property
    def _told_scheme(self) -> dict[str, Any] | None:
        """The levels or cuts of each column, where it has labels."""
        form = self.shown.counted
        return None if form is None or form.private or form.labelled is None else told_scheme(form.labelled)

    def _people_numbers(self, people: PeopleNumbers) -> dict[str, Any]:
        sizes = people.group_sizes
        return {
            **({"published": people.published} if self.hides_rows else people.told),
            "in the smallest group": int(sizes.min(initial=people.published)),
            "in the largest group": int(sizes.max(initial=0)),
        }

    def _losses(self) -> dict[str, Any]:
        found = self.shown.losses()
        return found if found or self.form.spread is None else label_losses(self.form.tally, self.form.spread)

    @property
    def tables(self) -> Mapping[str, Any]:
        """What is published besides the rows, by name: some forms need more than one table.

        Tables of events are frames of Polars, or of the cluster that the rows are on.
        """
        return {
            **self.shown.tables(),
            **self.published.tables(),
            **{name: table.data for name, table in self.linked.items()},
        }

    @property
    def tables_of_form(self) -> Mapping[str, pl.DataFrame]:
        """What the form needs besides the rows."""
        return self.shown.tables()

    @property
    def false_claims(self) -> list[str]:
        """What it is said to satisfy, and does not, with the reason."""
        return [f"{claim.model} ({claim.reason})" for claim in self.claims if claim.verdict == "does not hold"]

    @property
    def hides_rows(self) -> bool:
        """Whether the number of the table's rows must not be told."""
        return self.promise is not None or self.shown.private

    @property
    def row_numbers(self) -> dict[str, Any]:
        """How many rows there are, as far as that may be told."""
        if self.foreign:
            return {"published": self.rows}
        if self.hides_rows:  # how many rows there were would give somebody away
            return {"published": self.rows, "sampling rate": float(self.rate)}
        numbers: dict[str, Any] = {"in": self.rows_in, "published": self.rows, "withheld": self.withheld}
        if self.counterfeits:
            numbers["counterfeits"] = self.counterfeits
        if self.rate < 1:
            numbers |= {"left out by sampling": self.left_out, "sampling rate": float(self.rate)}
        return numbers

    @property
    def _sensitive(self) -> list[str]:
        """The sensitive columns of all tables."""
        of_events = [name for table in self.event_tables.values() for name in table.schema.sensitive]
        of_files = [] if self.crowds is None else list(self.crowds.sensitive)
        return sorted({*self.schema.sensitive, *of_events, *of_files})

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know before signing."""
        found = list(self.told_warnings or ())
        found += [text for text in map(escaped, self._own_warnings()) if text not in found]
        return found

    def _own_warnings(self) -> list[str]:
        """What is seen of it now, also where it was read from files that tell less."""
        found = [SEEDED_RELEASE] if self.seeded else []
        found += self.notes
        if self.told_warnings is None:  # or its labels were looked at when it was made
            found += self.shown.warnings()
        found += what_is_left_out(self._sensitive, self.guarantees, (claim.model for claim in self.claims))
        if self.promise is not None:
            found += self.promise.warnings(self.rows, self.rate)
        said = {*self.dates.treatments, *_listed_in(self.told_warnings or ())}
        if unsaid := [name for name in self.outside if escaped(name) not in said]:
            found.append(f"Columns that no guarantee speaks of: {', '.join(unsaid)}.")
        models = [guarantee.model for guarantee in self.guarantees if Model in type(guarantee.model).__mro__]
        if self.told_warnings is None:
            found += change_warnings(self.changes, self.schema, cast("list[Model]", models))
            if not self.hides_rows:  # private methods take the values that a hierarchy declares
                found += unused_hierarchies(self.schema, cast("list[Model]", models))
        kept = [name for name in self.schema.kept if name not in self.changes.columns]
        for name, table in self.event_tables.items():
            kept += [f"{column} of {name}" for column in table.schema.kept]
            told = [f"{column} ({given.still_tells()})" for column, given in table.schema.dates.items()]
            if told:
                found.append(f"Dates of {name}, outside of every guarantee: {'; '.join(told)}.")
        if kept:
            found.append(f"Columns published as they are, outside of every guarantee: {', '.join(kept)}.")
        if self.singled_out is not None:
            found.append(self.singled_out.says())
        if self.dates.treatments:
            told = [f"{name} ({treatment.still_tells()})" for name, treatment in self.dates.treatments.items()]
            found.append(f"Dates, outside of every guarantee: {'; '.join(told)}.")
        if len(set(self.dates.treatments.values())) > 1:
            found.append(MIXED_DATES)
        if self.schema.pseudonyms:
            found.append(f"Pseudonyms link the rows of one person to each other: {', '.join(self.schema.pseudonyms)}.")
        if self.people is not None or self.counts_people:
            found.append(SEVERAL_ROWS)
        if self.weight_numbers is not None and self.schema.weight is not None:
            found += weight_warnings(self.schema.weight, self.weight_numbers, sampled=self.rate < 1)
        return found

    @property
    def weight_numbers(self) -> Mapping[str, Any] | None:
        """What became of survey weights, where there are any."""
        if self.told_weights is not None:
            return self.told_weights
        shown = None if self.shown.counted is None else self.shown.counted.weights
        return None if shown is None else shown.told

    @cached_property
    def singled_out(self) -> OneOfAKind | None:
        """What columns that are kept beside the labels single out; None where there are none, or too many rows."""
        kinds = self._kinds_to_note
        if kinds is None:
            return None
        if not self.passed:
            for batch in self.published.batches():
                kinds.add(batch)
            self.passed.append(kinds)
        return self.passed[0].count()

    @property
    def _kinds_to_note(self) -> KindsOfRows | None:
        """What to note of rows that pass by, so that they need not be made again for what is told of them."""
        aside = {*self.left_aside, *self.changes.by_chance}
        kept = tuple(name for name in (*self.schema.kept, *self.outside_as_it_is) if name not in aside)
        if not kept or not self.rows or self.rows > MOST_ROWS or not self.published.shown_at_once:
            return None
        return KindsOfRows(self.schema.written_quasi, kept)

    def save(
        self,
        directory: str | Path,
        *,
        format: Format | None = None,
        force: bool = False,
        spreadsheet_safe: bool = False,
        progress: Progress = silent,
    ) -> Path:
        """Write data, recipe and summary into a new directory, all or nothing; return the path of the data file.

        Parameters
        ----------
        directory : a place that is free; for rows on a cluster also one of its own file systems (`hdfs://…`).
        format : "csv", "parquet", "arrow", "xlsx", "sav", "dta", "xpt" or that of a plugin (default: as the source;
            `incrowd list sinks`).
        force : replace a release that is there already.
        spreadsheet_safe : put an apostrophe before cells of a CSV file that a spreadsheet would run as formulas
            (default: False, they are written as they are, with a warning). `open_release` takes it away again.
        progress : is told how far the work is.

        Rows that are on a cluster are written by it: the data are then a directory of parts.
        """
        if self.rehearsed:
            raise OutputError(
                "this release was a rehearsal: its ledger knows nothing of it.  Hint: publish it under the ledger."
            )
        data = save(self, directory, format=format, force=force, spreadsheet_safe=spreadsheet_safe, progress=progress)
        if self.entry is not None:
            record_saved(self.entry, data)
        return data

    def save_recipe(self, path: str | Path) -> Path:
        """Write the recipe that makes this release again, seed included, into a file of your own; return its path.

        Keep the file like a key, apart from the release: whoever has the seed can undo what chance hides. The recipe
        that `save` puts beside the data holds no seed.
        """
        return save_recipe(self, path)

    @property
    def to_attack(self) -> Release:
        """The release as an adversary sees it who looks for a person: one line for each."""
        if self._hides_truth:
            return beside_truth(self, ROWS_ARE_ATTACKED)
        people = None if self.of_people is None else self.of_people()
        if people is None:
            said = (ROWS_ARE_ATTACKED,) if self.counts_people else ()
            return replace(self, notes=(*self.notes, *said)) if said else self
        form, left_out = people
        several = f" Not guessed, since somebody has several values: {', '.join(left_out)}." if left_out else ""
        said = (f"People are attacked, not rows.{several}",)
        return replace(
            self,
            shown=form,
            of_people=None,
            written_rows=self.rows if self.written_rows is None else self.written_rows,
            notes=(*self.notes, *said),
        )

    def audit(
        self,
        *,
        original: object = None,
        external: object = None,
        earlier: Sequence[Release] = (),
        queries: str | Path | None = None,
        learn: bool = True,
        remedies: bool = True,
        seed: int = 0,
        threads: int | None = None,
        progress: Progress = silent,
        finished: Callable[[Risk], None] | None = None,
    ) -> Audit:
        """Attack the release in every way and measure what it is still good for; see `incrowd.audit`."""
        from incrowd.auditing.run import audit  # which is of no use to those who only publish

        return audit(
            self,
            original=original,
            external=external,
            earlier=earlier,
            queries=queries,
            learn=learn,
            remedies=remedies,
            seed=seed,
            threads=threads,
            progress=progress,
            finished=finished,
        )

    def _repr_html_(self) -> str:
        sizes = np.sort(self.shown.group_sizes)
        told = f"{number(self.rows)} rows in {number(len(sizes))} groups"
        if len(sizes) and not self.hides_rows:
            told += f" of {number(int(sizes[0]))} to {number(int(sizes[-1]))}"
        if "withheld" in self.row_numbers:
            told += f"; {number(self.withheld)} rows withheld"
        first = next(iter(self.published.batches()), None) if self.published.shown_at_once else None
        stated = [f"{guarantee.model}, {guarantee.basis}" for guarantee in self.guarantees]
        return release_html(f"Release: {self.shown.name}, by {self.method.name}", told, stated, self.warnings, first)

    def __repr__(self) -> str:
        stated = ", ".join(str(guarantee.model) for guarantee in self.guarantees)
        withheld = "" if self.hides_rows else f", {self.withheld} withheld"
        people = "" if self.people is None else f" of {self.people.published} people"
        return f"Release({self.rows} rows{people} in {len(self.shown.group_sizes)} groups{withheld}; {stated})"


def _native(frame: str) -> str:
    if frame not in get_args(FrameKind):
        raise QueryError(f'frame is "polars", "pandas" or "pyarrow", not {frame!r}.')
    return frame


def _listed_in(told: Sequence[str]) -> set[str]:
    """Return the columns that warnings list; only whole names count, since a short one is in many words."""
    lists = (text.partition(": ")[2].removesuffix(".") for text in told if text.startswith(("Columns ", "Pseudonyms ")))
    return {name for names in lists for name in names.split(", ")}


def _own_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a frame texts of its own: those of withheld rows may lie in the same buffers, and would be written out."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    if not texts:
        return frame
    # Arrow's older texts hold what they show; written and read again, so do the frame's.
    copied = BytesIO()
    frame.select(cs.by_name(*texts)).write_ipc(copied, compat_level=pl.CompatLevel.oldest())
    copied.seek(0)
    return frame.with_columns(pl.read_ipc(copied).get_columns())
