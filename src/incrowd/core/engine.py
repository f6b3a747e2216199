"""What an engine is: where rows live, who counts them, and who turns them into published rows.

Methods never see rows, so that this is all that another home for rows has to bring.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Counts, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.common.surface import as_role
from incrowd.core.dated import KeyedPeople
from incrowd.core.form import Form, FormOutline
from incrowd.core.formulas import FormulaCells
from incrowd.core.items import ItemsOfPeople, code_items, split_items
from incrowd.core.kept_rows import keep_rows
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import (
    People,
    PeopleNumbers,
    count_people,
    entries_of_people,
    households_of_people,
    name_people,
    number_households,
    number_in_all,
    number_people,
    with_households,
)
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.show import Show
from incrowd.core.source import Origin, ReadOptions
from incrowd.core.tally import Tally, code_table
from incrowd.core.weights import WeightedTuples, estimated_population, read_weights
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import EmptyTable, SchemaError, SourceError
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True, eq=False)
class Counted:
    """A table's tally, and the raw tuples that each of its tuples stands for, so that rows can be found again.

    Where no row will be looked for again, `raw` has no columns.
    """

    tally: Tally
    raw: pl.DataFrame = field(repr=False)
    tuple_of: Ints
    people: People | None = None
    """Who has which rows, where that is known. `tuple_of` are then the places of pairs of a person and a tuple."""
    items: ItemsOfPeople | None = None
    """Which items people have, where there is a column of sets; `people` is then known as well."""
    names: pl.DataFrame | None = field(default=None, repr=False)
    """What people are called, in the order of `people`, where that was asked for."""
    weighted: WeightedTuples | None = None
    """The rows by what they weigh, where there is a column of weights. `tuple_of` are then places among these."""


@dataclass(frozen=True, eq=False)
class OwnedTuples:
    """Raw tuples with how many rows have each, and whose these are.

    `owner_counts[i]` rows of tuple `tuple_of[i]` are those of the person that row i of `owners` names.
    """

    raw: pl.DataFrame
    counts: Counts
    owners: pl.DataFrame
    tuple_of: Ints
    owner_counts: Counts
    sets: pl.Series | None = None
    """The set of items of each tuple, where there is a column of sets; tuples are then rows."""


@dataclass(frozen=True)
class ReleaseTexts:
    """What is written beside the published rows."""

    tables: Mapping[str, pl.DataFrame]
    linked: Mapping[str, LinkedRows]
    """Tables of events, wherever their rows are."""
    recipe: Callable[[str, Path | None], str]
    """The recipe for a format, as it reads from a directory; None for a place that is none of this machine's."""
    summary: Callable[[], str]
    """The summary; asked for after the rows are written, so that what it tells of them needs no second reading."""
    separator: str
    item_separator: str | None = None
    """What stands between items in files that hold no lists, if somebody said so."""
    labels: str | None = None
    """What its labels stand for, where it has any."""
    formulas: FormulaCells = field(default_factory=FormulaCells)
    """Cells that a spreadsheet would run, counted while they are written."""
    spreadsheet_safe: bool = False
    """Whether such cells are made plain text."""

    @property
    def full_summary(self) -> str:
        """The summary, with what was found while the rows were written."""
        warning = self.formulas.warning
        if warning is None:
            return self.summary()
        summary = json.loads(self.summary())
        summary["warnings"] = [*summary.get("warnings", []), warning]
        return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class PublishedRows(Protocol):
    """The published rows, made when they are asked for."""

    shown_at_once: ClassVar[bool] = True
    """Whether a look at the first rows starts no work elsewhere."""

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield them, batch by batch, in an order that says nothing."""
        ...

    def runs(self) -> Iterator[pl.DataFrame] | None:
        """Yield the same, equal rows once with how often they come (`core/runs.py`); None where none are made so."""
        return None

    def frame(self) -> Any:
        """Return them as a frame of the engine's own; None where they only come in batches."""
        return None

    def tables(self) -> Mapping[str, Any]:
        """Return what is published besides, where that is not with the form: frames of the engine's own, by name."""
        return {}

    def save(
        self, texts: ReleaseTexts, target: str | Path, *, format: str | None, force: bool, progress: Progress
    ) -> Path | str | None:
        """Write the release where the rows are, and return the place of its data; None where this machine writes it."""
        return None


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """The published rows of a table of events, and how many they are."""

    rows: PublishedRows
    height: int

    @property
    def data(self) -> Any:
        """The rows as a frame of the engine's own, or of Polars."""
        frame = self.rows.frame()
        return pl.concat(list(self.rows.batches())) if frame is None else frame


@dataclass(frozen=True, eq=False)
class LinkedTask:
    """What to publish of a table of events: the rows of published people, under keys of the release's own.

    Person p is called as row p of `names` says, in some spelling; `codes[p]` are the person's keys.
    """

    schema: Schema
    """That of the table of events."""
    person: tuple[str, ...]
    names: pl.DataFrame = field(repr=False)
    texts: TextRules
    codes: Mapping[str, pl.Series] = field(repr=False)
    published: Bools
    keyed: KeyedPeople | None
    """What is drawn for people, where there are dates to treat."""

    @property
    def written(self) -> tuple[str, ...]:
        """The columns that are published of it, the key apart."""
        return (*self.schema.sensitive, *self.schema.kept, *self.schema.dates)

    def owner_of(self, rows: pl.DataFrame) -> Ints:
        """Return whose each row is that names people in its own spelling; refuse rows of somebody else."""
        owner = number_in_all({"people": self.names, "events": rows}, self.person, self.texts)["events"]
        if (owner < 0).any():
            raise SourceError("the tables have changed since their rows were counted.  Hint: publish them again.")
        return owner


@dataclass(frozen=True)
class PartsTask:
    """What to publish of a table whose tally is too large for one machine."""

    schema: Schema
    require: Sequence[Model]
    method: AnyMethod
    form: Showing | None
    rate: Fraction
    has_population: bool
    key: PseudonymKey | None
    progress: Progress
    tuples: int
    """How many distinct tuples it has."""
    limit: int
    """How many one machine is to hold."""
    secret: tuple[int, ...] = ()
    """What chance in parts is made of."""
    show: Callable[[Mapping[str, Tree]], Mapping[str, Show]] = lambda trees: {}
    """What is shown in place of labels, by column, once it is known which columns are numbers."""
    effort: int = 0
    """In how many passes people move between the groups of a part."""
    seconds: float | None = None
    """How long they do at most, if that is limited."""


@dataclass(frozen=True)
class MadeInParts:
    """What came of it, verified where the rows are."""

    form: FormOutline
    guarantees: tuple[Guarantee, ...]
    rows: PublishedRows
    values: Mapping[str, pl.Series]
    """The values of published people, by column."""
    people: PeopleNumbers | None = None
    """How many people are in it, where somebody has several rows."""


class Engine(Named, Protocol):
    """Rows that can be counted, and published. Implementations are frozen dataclasses that inherit from this."""

    fallback: ClassVar[bool] = False
    """Whether it is asked only when no other engine takes what was given."""
    has_catalogue: ClassVar[bool] = False
    """Whether it knows tables by name."""
    treats_dates: ClassVar[bool] = False
    """Whether it publishes dates after a treatment."""
    changes_values: ClassVar[bool] = False
    """Whether columns may be changed before they are counted (`engines/changing.py`)."""
    carries_weights: ClassVar[bool] = False
    """Whether it counts rows by their weights, and publishes these."""
    reads_sets: ClassVar[bool] = False
    """Whether it reads columns of sets."""
    links_tables: ClassVar[bool] = False
    """Whether tables of events may be linked to a table of people, or split from one."""
    has_file_systems: ClassVar[bool] = False
    """Whether it reads and writes file systems of its own, such as `hdfs://…`."""

    source: Origin
    """Where the rows come from."""

    @classmethod
    def recipe_keys(cls) -> Mapping[str, bool]:
        """None: rows are opened, not described by parameters."""
        return {}

    @classmethod
    def takes(cls, given: object) -> bool:
        """Whether rows that are given in this way, or a session that is, are this engine's."""
        ...

    @classmethod
    def open(cls, given: Any, options: ReadOptions) -> Self:
        """Open a table."""
        ...

    @classmethod
    def start_session(cls, address: str | None) -> Any:
        """Start a session, on a cluster at an address if one is given; None where it needs none."""
        return None

    @classmethod
    def open_described(cls, session: Any, described: Mapping[str, Any], *, only_stated: bool = False) -> Origin | None:
        """Open what a recipe's [source] describes in a session of the engine's; None where it has no sessions.

        With `only_stated`, no row decides how another one is read, or whether the table is.
        """
        return None

    def as_stated(self) -> Engine:
        """Return the same rows, read by what was stated alone: nothing that was found in them decides how."""
        return self

    def distinct(self, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
        """Return the distinct tuples of some columns and how many rows have each, in one pass over the rows."""
        ...

    def keeping_counts(self) -> AbstractContextManager[None]:
        """Return what to count and publish inside of: a tally that is too large is then not counted again in parts."""
        return nullcontext()

    def count(
        self, schema: Schema, population: Engine | None = None, *, values: bool = True, by_name: bool = False
    ) -> Counted:
        """Count the distinct tuples of the quasi-identifiers and sensitive columns.

        Where nobody will look at sensitive `values`, people with several rows are told apart without them.
        `by_name` asks for people and what they are called, also where each has one row.
        Of a population that the table's people belong to, the quasi-identifiers are counted beside them.
        """
        found_again = bool(schema.found_again)
        owned = self.owned(schema, found_again=bool(found_again or schema.weight))
        tally, tuple_of = self._coded(owned, schema, population)
        found, person_of, names = None, None, None
        if schema.person:
            person_of, called = name_people(owned.owners, schema.person, self.source.texts)
            names = called if by_name else None
            several = int(person_of.max(initial=-1)) + 1 < tally.rows  # or a person is a row
            if several or (by_name and not schema.items):  # sets tell people apart as well
                found, tuple_of = count_people(
                    tally,
                    person_of,
                    tuple_of[owned.tuple_of],
                    owned.owner_counts,
                    tuple(schema.sensitive),
                    values=values,
                )
        if schema.items:
            return self._with_items(schema, tally, owned, tuple_of, found, person_of, names, values=values)
        if schema.household:
            found, tuple_of = self._with_households(schema, tally, owned, tuple_of, found, values=values)
        counted = Counted(tally, owned.raw, tuple_of, found, names=names)
        if schema.weight is not None:
            counted = self._weighed(counted, schema, schema.weight, owned)
        if found_again:
            return counted
        return replace(counted, raw=pl.DataFrame(), tuple_of=tuple_of[:0])  # no row will be looked for again

    def _weighed(self, counted: Counted, schema: Schema, column: str, owned: OwnedTuples) -> Counted:
        """Tell rows apart by what they weigh, and estimate the population where none is given."""
        tally, people, quasi = counted.tally, counted.people, tuple(schema.quasi)
        weights = read_weights(column, owned.raw[column], self.source.texts)
        estimated = tally.population is None
        if people is not None:
            found = WeightedTuples.of_owners(column, people, counted.tuple_of, weights)
            assert found.of_people is not None
            if estimated:
                ones = np.ones(len(people), dtype=np.int64)
                of_people = estimated_population(people.tally, quasi, people.tuple_of, found.of_people, ones)
                tally = replace(tally, population=of_people.population)
                people = replace(people, rows=replace(people.rows, population=tally.population), tally=of_people)
                found = replace(found, tally=people.each_entry)
            return replace(counted, tally=tally, people=people, weighted=found)
        found, place = WeightedTuples.of_rows(tally, counted.tuple_of, weights, owned.counts)
        if estimated:
            tally = estimated_population(tally, quasi, found.coarse, found.weights, found.tally.counts)
            found = replace(found, tally=replace(found.tally, population=tally.population))
        return replace(counted, tally=tally, tuple_of=place, weighted=found)

    def _with_households(
        self, schema: Schema, tally: Tally, owned: OwnedTuples, tuple_of: Ints, found: People | None, *, values: bool
    ) -> tuple[People, Ints]:
        """Find out who lives with whom. Where nothing tells whose a row is, every row is a person of its own."""
        households = number_households(owned.owners, schema.household, self.source.texts)
        if schema.person:
            person_of, rows = number_people(owned.owners, schema.person, self.source.texts), owned.owner_counts
            places = tuple_of[owned.tuple_of] if found is None else tuple_of
        else:
            households = np.repeat(households, owned.owner_counts)
            places = np.repeat(tuple_of[owned.tuple_of], owned.owner_counts)
            rows = np.ones(len(places), dtype=np.int64)
            person_of = np.empty(len(places), dtype=np.int64)
            person_of[np.lexsort((places, households))] = np.arange(len(places))
        if found is None:
            found, places = count_people(tally, person_of, places, rows, tuple(schema.sensitive), values=values)
        return with_households(found, households_of_people(person_of, households), values=values), places

    def _with_items(
        self,
        schema: Schema,
        tally: Tally,
        owned: OwnedTuples,
        tuple_of: Ints,
        found: People | None,
        person_of: Ints | None,
        names: pl.DataFrame | None,
        *,
        values: bool,
    ) -> Counted:
        """Count a table with a column of sets, in which every row is a person of its own."""
        if found is not None:
            raise SchemaError(
                "in a table with a column of sets, everybody has one row, and here some people have several.  "
                "Hint: put the items of each person into one row."
            )
        assert owned.sets is not None
        if schema.found_again and owned.raw.is_duplicated().any():
            raise SchemaError(
                "some people have the same quasi-identifiers and sensitive values, so that a row cannot be found again "
                f"to publish '{schema.found_again[0]}' beside its set of items.  Hint: say whose a row is with "
                f"{as_role('person')}, or drop the column."
            )
        ((column, hierarchy),) = schema.items.items()
        lists = split_items(column, owned.sets, schema.item_separator)
        rows = np.arange(len(tuple_of))
        items = code_items(column, lists, rows, hierarchy, self.source.texts)
        # People are numbered by what they have, and by who they are, so that the order of rows changes nothing.
        _, entry = items.sets(len(rows))
        number = np.empty(len(rows), dtype=np.int64)
        weights = [read_weights(name, owned.raw[name], self.source.texts) for name in schema.weights]
        who = rows if person_of is None else person_of
        number[np.lexsort((who, *weights, entry, tuple_of))] = rows
        people, places = count_people(
            tally, number, tuple_of, np.ones(len(rows), dtype=np.int64), tuple(schema.sensitive)
        )
        items = replace(items, owner=number[items.owner])
        if schema.household:
            households = number_households(owned.owners, schema.household, self.source.texts)
            people = with_households(people, households_of_people(number, households), values=values)
        if names is not None:
            names = names[who[np.argsort(number)]]
        counted = Counted(tally, owned.raw, places, people, items, names)
        if schema.weight is not None:
            counted = self._weighed(counted, schema, schema.weight, owned)
        return counted if schema.found_again else replace(counted, raw=pl.DataFrame(), tuple_of=places[:0])

    def count_kept(
        self,
        schema: Schema,
        most_rows: int,
        rng: np.random.Generator,
        population: Engine | None = None,
        *,
        allow_nameless: bool = False,
    ) -> Counted:
        """Count the same of at most `most_rows` rows of each person, chosen by chance: each of them is a row by itself.

        Whether anybody has several makes no difference to what is done. Rows that do not tell whose they are, are
        refused, or left out (`allow_nameless`) where a refusal would tell too much.
        """
        owned = self.owned(schema, found_again=False)
        tally, tuple_of = self._coded(owned, schema, population)
        person_of = number_people(owned.owners, schema.person, self.source.texts, allow_nameless=allow_nameless)
        named = person_of >= 0
        # Sorted by person and tuple, so that the order of rows leaves no trace.
        owner, tuples, counts, _ = entries_of_people(
            tally, person_of[named], tuple_of[owned.tuple_of][named], owned.owner_counts[named]
        )
        kept = np.bincount(tuples, weights=keep_rows(rng, owner, counts, most_rows), minlength=len(tally))
        there = np.flatnonzero(kept)
        tally = replace(tally, codes=tally.codes[there], counts=kept[there].astype(np.int64))
        return Counted(tally, pl.DataFrame(), tuple_of[:0])

    def _coded(self, owned: OwnedTuples, schema: Schema, population: Engine | None) -> tuple[Tally, Ints]:
        """Return the tally of a table's tuples, and each one's place in it."""
        if len(owned.counts) == 0:
            raise EmptyTable("the table has columns but no rows.")
        people = people_counts = None
        if population is not None:
            _refuse_several_rows_each(population, schema.person)
            people, people_counts = population.distinct(tuple(schema.quasi))
            if people.height == 0:
                raise EmptyTable("the population has columns but no rows.")
            people = _as_the_table_spells(people, owned.raw)
        return code_table(
            owned.raw,
            owned.counts,
            {**schema.quasi, **schema.sensitive},
            people=people,
            people_counts=people_counts,
            texts=self.source.texts,
        )

    def owned(self, schema: Schema, *, found_again: bool) -> OwnedTuples:
        """Return the distinct tuples of a table, and whose rows they are.

        Where rows are to be `found_again`, the tuples tell also whose they are. Engines that read sets return rows
        one by one where there is a column of sets.
        """
        raw, counts = self.distinct(schema.found_again_by)
        return OwnedTuples(raw, counts, raw, np.arange(raw.height), counts)

    def repeated(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return, of columns in which a value is there twice, how many different values how many rows have."""
        found = {}
        for name in columns:
            raw, counts = self.distinct((name,))
            names = self.source.texts.read(raw[name].alias(""))
            known = names.is_not_null().to_numpy()
            different, rows = names.drop_nulls().n_unique(), int(counts[known].sum())
            if different < rows:
                found[name] = different, rows
        return found

    def require_dates(self, dates: Mapping[str, DateTreatment]) -> None:
        """Refuse, in words that quote no value, columns that hold anything but dates that can be treated."""
        return

    def changing(self, columns: Sequence[str], person: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that are not the same in all rows of a person, where the engine links tables."""
        return ()

    def only(self, columns: Sequence[str], *, distinct: bool) -> Engine:
        """Return some of the columns, with equal rows once where only distinct ones are wanted."""
        return self

    def linked_rows(self, task: LinkedTask) -> LinkedRows | None:
        """Return the rows of published people in this table of events; None where the engine links no tables."""
        return None

    def held(self, frame: pl.DataFrame) -> LinkedRows | None:
        """Return rows of a table of events that were made here; None where the engine links no tables."""
        return None

    def rows_of(self, form: Form) -> PublishedRows:
        """Return the published rows of a form whose counts hold all there is to publish."""
        ...

    def joined(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> PublishedRows:
        """Return the published rows with columns that are kept, dates, or under a pseudonym: found again in the table.

        Of rows that only such columns tell apart, `shuffle` decides which ones a sample takes: the same each time.
        """
        ...

    @property
    def most_rows(self) -> int | None:
        """How many rows one machine is to hold, where a form holds them one by one; None where there is no limit."""
        return None

    def in_parts(self, task: PartsTask) -> MadeInParts | None:
        """Publish a table that is too large to be counted; None where the engine cannot."""
        return None


def empty_tally(schema: Schema) -> Tally:
    """Return the tally of a table without rows."""
    nobody = pl.DataFrame(schema=dict.fromkeys(schema.tallied, pl.String))
    return code_table(nobody, np.empty(0, dtype=np.int64), {**schema.quasi, **schema.sensitive})[0]


def _refuse_several_rows_each(population: Engine, person: Sequence[str]) -> None:
    """Refuse a population that is seen to have several rows of one person: models would take each for another one."""
    if not person or not set(person) <= set(population.source.columns):
        return
    raw, counts = population.distinct(tuple(person))
    if int(number_people(raw, person, population.source.texts).max(initial=-1)) + 1 < int(counts.sum()):
        raise SchemaError(
            "some people of the population have several rows, and each row of it is taken for a person.  Hint: give a "
            "population with one row for each person."
        )


def _as_the_table_spells(people: pl.DataFrame, raw: pl.DataFrame) -> pl.DataFrame:
    """Give the population's columns the table's types, so that equal values are equal."""
    columns = {}
    for name in people.columns:
        wanted = pl.String() if raw[name].dtype == pl.Enum else raw[name].dtype
        if people[name].dtype == wanted:
            columns[name] = people[name]
            continue
        try:
            columns[name] = people[name].cast(wanted)
        except pl.exceptions.PolarsError:
            raise SourceError(
                f"column '{name}' of the population holds {people[name].dtype}, that of the table {raw[name].dtype}."
            ) from None
    return pl.DataFrame(columns)
