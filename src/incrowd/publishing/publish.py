"""The whole path, for every method and engine: count, sample, search, show, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.randomness import is_secure, randomness, sample_counts, words
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role, option
from incrowd.common.threads import using
from incrowd.core.engine import Counted, LinkedRows, MadeInParts, PartsTask, PublishedRows, empty_tally
from incrowd.core.families import require_member
from incrowd.core.form import Form, FormOutline
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import ItemsOfPeople
from incrowd.core.method import AnyMethod, Method
from incrowd.core.model import (
    Guarantee,
    Model,
    Promise,
    any_looks_at_values,
    for_each_group,
    refuse_uncovered,
    refuse_unverifiable,
)
from incrowd.core.people import People, PeopleNumbers, PlacedPeople, lacks_beside_others
from incrowd.core.people_placing import everybody_together, place_people
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import WITHHELD, Recoding, Showing
from incrowd.core.sampling import as_rate, draw_sample
from incrowd.core.schema import HOUSEHOLD, Schema
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel, split_models
from incrowd.core.show import ALL, Asked
from incrowd.core.solutions import Solutions
from incrowd.core.tally import Tally
from incrowd.core.weights import WeightedTuples
from incrowd.engines.linked import LinkedEngine, PublishedItems
from incrowd.engines.lost import Lost, lost_of
from incrowd.errors import ConformanceError, EmptyTable, RecipeError, SchemaError, TallyTooLarge, Unsatisfiable
from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.labelled_groups import present_values
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.values import known_values
from incrowd.ledger import Ledger
from incrowd.methods.mondrian import Mondrian
from incrowd.methods.private import PrivateMethod
from incrowd.methods.scheme import Scheme
from incrowd.methods.sets.occurrence_recoding import OccurrenceRecoding
from incrowd.publishing.changes import change_table, refuse_changes
from incrowd.publishing.improving import Effort, refuse_effort
from incrowd.publishing.in_ledger import recorded
from incrowd.publishing.items import ShownItems, require_recodable, show_items
from incrowd.publishing.noisy_counts import SEEDED, noisy_counts_of, refuse_for_noisy_counts
from incrowd.publishing.people_promises import refuse_unbounded_method
from incrowd.publishing.release import Release
from incrowd.publishing.remembering import (
    IfUnsafe,
    Remembered,
    Standing,
    Together,
    end_entry,
    remembered,
    with_signatures,
)
from incrowd.publishing.scheme import with_scheme
from incrowd.publishing.showing import refuse_show, settled_show
from incrowd.publishing.table import Table
from incrowd.publishing.weights import cannot_be_weighed, refuse_weights

if TYPE_CHECKING:
    from incrowd.methods.m_invariance import MInvariance


def publish(
    table: Table,
    require: Model | SetModel | Sequence[Model | SetModel] = (),
    *,
    method: AnyMethod | None = None,
    form: Showing | None = None,
    items: SetMethod | None = None,
    show: Asked = None,
    sample: float | Fraction = 1,
    seed: int | None = None,
    pseudonym_key: PseudonymKey | None = None,
    ledger: Ledger | None = None,
    if_unsafe: IfUnsafe = "refuse",
    effort: int = 0,
    seconds: float | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a release of a table that satisfies every required model, or raise `Unsatisfiable`.

    Parameters
    ----------
    table : what to publish, as `incrowd.read` opens it.
    require : the models that the release must satisfy.
    method : finds who hides together (default: `Mondrian()`).
    form : how they are shown (default: the method's own, which is generalized values for most).
    items : how sets of items are made safe, within the groups that the method finds (default: `OccurrenceRecoding()`).
    show : what quasi-identifiers that are numbers or dates are published as: "label", "midpoint" (of what it stands
        for), "bounds" (its ends, in two columns) or "mean" (of the group); for all of them, or by column:
        `{"age": "mean"}` (default: the method's own, which is "label" for most and "mean" for microaggregation).
    sample : below 1, each row is taken with that probability, independently, and the rest is not published. Where the
        schema has a person column, people are taken, with all their rows; under differential privacy, rows.
    seed : makes chance repeatable: the same table gives the same release (default: the operating system's chance).
        Such a release is for tests: whoever knows or guesses the seed can undo what chance hides, so it is marked.
        Synthetic rows may differ on another processor, which rounds the sums that they are drawn from in another way.
    pseudonym_key : makes pseudonyms and shifts of dates that can be repeated (default: a key that is drawn now and
        forgotten).
    ledger : where releases of this data holding are written down, with what they cost. What a private method costs is
        taken from its cap before anything is drawn, and `BudgetSpent` is raised where it does not fit. A ledger that
        keeps people (`Ledger.create(…, people=True)`) judges the release together with all earlier ones.
    if_unsafe : "refuse" or "withhold": what becomes of a release that would tell too much together with earlier ones of
        the ledger (default: "refuse", `UnsafeTogether` is raised). "withhold" withholds groups until nothing does.
    effort : above 0, people then move between the groups that the method found, so many passes over all of them, and
        less is lost of what the method itself minimizes (default: 0). Every model still holds, and the release never
        loses more than without. The same effort gives the same groups, with any number of threads. For methods that
        publish labels of their own for each group.
    seconds : as `effort`, and ends after so many seconds (default: None, `effort` alone decides). What is found in a
        time cannot be repeated exactly.
    threads : how many threads loops may use (default: `INCROWD_THREADS`, or one for each core). The release is the
        same, whatever their number.
    progress : is told how far the work is.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)])
    >>> release.rows_in == release.rows + release.withheld
    True
    """
    required = tuple(require) if isinstance(require, Sequence) else (require,)
    models, of_sets = split_models(required)
    method = with_scheme(method or Mondrian())
    if isinstance(method, Scheme) and method.groups is not None and show is None:
        show = {ALL: "label", **method.groups.show}
    if seed is not None:
        require_whole("publish", "seed", seed, at_least=0)
    _refuse_impossible(table, models, method, form)
    asked_effort = Effort(effort, seconds)
    refuse_effort(asked_effort, method, form)
    if method.promises_privacy:
        table = table.as_stated()
    _refuse_impossible_households(table.schema, models, method, form)
    _refuse_impossible_sets(table, of_sets, method, items)
    refuse_show(show, table.schema, method, form)
    rate, rng = as_rate(sample), randomness(seed)
    promise = _promised(method, form, rate, rng)
    models += tuple(model for model in method.guarantees if model not in models)
    if table.schema.household:
        models += tuple(model for model in map(_of_households, models) if model is not None and model not in models)
    key = None if method.private else pseudonym_key or (PseudonymKey.new() if table.schema.keyed else None)
    population = None if method.private or table.population is None else table.population.source
    memory = remembered(ledger, method, table.schema, if_unsafe)
    if method.remembers_people and form is not None:
        raise RecipeError(f"{method.name} publishes buckets of its own.  Hint: leave out the form.")
    recoder = (items or OccurrenceRecoding()) if of_sets else None
    changed, changes = change_table(table, method, rng)
    job = _Job(changed, models, method, form, rate, rng, key, progress, of_sets, recoder, show, memory, asked_effort)
    with using(threads), recorded(ledger, table, models, method, rate, promise, seeded=seed is not None) as entry:
        made = job.run()
        release = Release(
            shown=made.form,
            guarantees=(*made.guarantees, *(() if promise is None else (promise.guarantee,))),
            method=method,
            seed=seed,
            source=table.engine.source,
            published=made.rows,
            pseudonym_key=None if key is None else key.path,
            rate=rate,
            asked_form=form,
            effort=effort,
            seconds=seconds,
            population=population,
            promise=promise,
            told=made.told,
            people=made.people,
            of_people=made.of_people,
            item_method=recoder,
            item_numbers=made.items,
            event_sets=made.event_sets,
            linked=made.linked or {},
            event_tables=table.engine.events if isinstance(table.engine, LinkedEngine) else {},
            split=table.engine.split if isinstance(table.engine, LinkedEngine) else None,
            entry=entry,
            rehearsed=ledger is not None and entry is None,
            changes=changes,
            method_numbers=made.numbers,
            solutions=None if made.explored is None else made.explored.table(),
            memory=None
            if memory is None or made.standing is None
            else memory.memory.with_one_more(made.standing.placement),
            decided=made.decided,
        )
        if entry is not None:
            end_entry(entry, release, memory, made.standing, models)
    return release


def _refuse_impossible(table: Table, models: Sequence[Model], method: AnyMethod, form: Showing | None) -> None:
    """Refuse, before any work, what cannot be had."""
    require_member("methods", method)
    if not models and not method.promises_privacy and not method.guarantees and table.schema.quasi:
        raise RecipeError("nothing is required of the release.  Hint: ask for a model, such as KAnonymity(5).")
    refuse_unverifiable(models)
    for model in models:
        require_member("models", model)
    if form is not None:
        require_member("forms", form)
    refuse_weights(method, table.schema, table.engine)
    refuse_changes(table, method)
    if method.private:
        refuse_for_noisy_counts(method, models, form, table.schema)
    refuse_uncovered((*models, *method.guarantees), table.schema)
    refuse_unbounded_method(method, table.schema)
    if table.schema.dates and not table.engine.treats_dates:
        raise SchemaError(
            f"the engine {table.engine.name} publishes no dates with a treatment, and column "
            f"'{next(iter(table.schema.dates))}' has one.  Hint: treat dates before, or publish on one machine."
        )


def _of_households(model: Model) -> Model | None:
    return model.of_households


def _refuse_impossible_households(
    schema: Schema, models: Sequence[Model], method: AnyMethod, form: Showing | None
) -> None:
    """Refuse, before any work, what cannot be had where it is known who lives together."""
    if not schema.household:
        for model in models:
            if model.counts_households:
                raise SchemaError(
                    f"{model} counts households, and no column tells who lives together.  Hint: name it when the table "
                    f"is read, {as_role('household', 'hid')}."
                )
        return
    if method.promises_privacy:
        raise SchemaError(
            f"{method.name} promises privacy to people, not to households.  Hint: say {as_role('person')} of the "
            "column that tells the household, with most_rows: the promise is then one to households; or leave out "
            "household."
        )
    for part in (method, form):
        if part is not None and part.one_row_each:
            raise SchemaError(
                f"{part.name} publishes quasi-identifiers as they are, so that nobody hides among other households.  "
                "Hint: publish generalized values, or leave out household."
            )
    again = (*schema.found_again, *schema.weights)
    if again and not schema.person:
        raise SchemaError(
            f"column '{again[0]}' is looked up row by row, and nothing tells whose a row is.  Hint: where "
            f"households are known, name also the column that tells the person, {as_role('person', 'pid')}."
        )


def _refuse_impossible_sets(
    table: Table, models: Sequence[SetModel], method: AnyMethod, items: SetMethod | None
) -> None:
    """Refuse, before any work, what cannot be had of sets of items."""
    require_recodable(models, (*table.schema.items, *table.schema.event_items))
    if table.schema.items and not table.engine.reads_sets:
        raise SchemaError(
            f"the engine {table.engine.name} reads no sets of items.  Hint: read the table on one machine."
        )
    for model in models:
        require_member("set_models", model)
    if items is not None:
        require_member("set_methods", items)
        if not models:
            raise RecipeError(f"{option('items')} is for tables with a column of items.  Hint: leave it out.")
    if models and (method.private or method.promise(Fraction(1, 2)) is not None):
        raise RecipeError(f"{method.name} publishes no sets of items.  Hint: use another method, such as Mondrian.")


def _promised(method: AnyMethod, form: Showing | None, rate: Fraction, rng: np.random.Generator) -> Promise | None:
    """Return what a method promises by construction: made before anybody looks, and refused if it cannot be kept."""
    promise = method.promise(rate, note="" if is_secure(rng) else SEEDED)
    if promise is not None and form is not None and form != ShowGeneralized():
        raise RecipeError(f"{method.name} publishes generalized values, and no other form.")
    return promise


@dataclass(frozen=True)
class _Made:
    """What came of it all."""

    form: FormOutline
    guarantees: Sequence[Guarantee]
    rows: PublishedRows
    told: Mapping[str, Hierarchy] = field(default_factory=dict)
    people: PeopleNumbers | None = None
    items: Mapping[str, Any] | None = None
    linked: Mapping[str, LinkedRows] | None = None
    event_sets: ItemSets | None = None
    explored: Solutions | None = None
    of_people: Callable[[], tuple[Form, tuple[str, ...]] | None] | None = None
    numbers: Mapping[str, int] | None = None
    standing: Standing | None = None
    decided: Recoding | None = None


@dataclass(frozen=True, eq=False)
class _Job:
    """One release in the making."""

    table: Table
    models: tuple[Model, ...]
    method: AnyMethod
    form: Showing | None
    rate: Fraction
    rng: np.random.Generator
    key: PseudonymKey | None
    progress: Progress
    set_models: tuple[SetModel, ...] = ()
    set_method: SetMethod | None = None
    show: Asked = None
    remembered: Remembered | None = None
    effort: Effort = field(default_factory=Effort)

    def run(self) -> _Made:
        """Count the table and make the release of it; a table that is too large is left to its engine."""
        self._refuse_unknown_people()
        with self.table.engine.keeping_counts():
            try:
                counted = self._count()
            except TallyTooLarge as found:
                if self.remembered is not None:
                    raise
                return self._made_in_parts(found)
        most = self.table.engine.most_rows
        by_row = self.method.one_row_each or (self.form is not None and self.form.one_row_each)
        if most is not None and by_row and counted.tally.rows > most and self.remembered is None:
            with suppress(TallyTooLarge):  # what cannot be made in parts is made of all rows here
                return self._made_in_parts(TallyTooLarge(len(counted.tally), most))
        return self._noisy(counted) if self.method.private else self._grouped(counted)

    def _count(self) -> Counted:
        schema, population = self.method.counted_as(self.table.schema), self.table.population
        self.progress("reading", 0.0)
        self.table.engine.require_dates(schema.dates)
        if self.method.private:
            population = None
        try:
            if self.method.promises_privacy and self.method.most_rows is not None:
                counted = self.table.engine.count_kept(
                    schema, self.method.most_rows, self.rng, population, allow_nameless=self.method.allows_empty
                )
            else:
                by_name = {} if self.remembered is None else {"by_name": True}
                counted = self.table.engine.count(schema, population, values=self._looks_at_values, **by_name)
        except EmptyTable:
            if not self.method.allows_empty:
                raise
            counted = nobody(schema)
        self.progress("reading", 1.0)
        return counted

    @property
    def _looks_at_values(self) -> bool:
        """Whether anybody looks at sensitive values."""
        return self.method.looks_at_values or any_looks_at_values(self.models) or self.remembered is not None

    def _refuse_unknown_people(self) -> None:
        """Refuse a table in which somebody seems to have several rows and nobody said who is who."""
        schema = self.table.schema
        if schema.person or schema.each_row_a_person:
            return
        refuse_repeated(self.table.engine.repeated(schema.naming))

    def _grouped(self, counted: Counted) -> _Made:
        """Search for groups, show them, and check what is shown."""
        method, schema, people = cast("Method", self.method), self.table.schema, counted.people
        if people is not None and len(people) < counted.tally.rows:
            self._refuse_several_rows(people)
        if self.form is None or self.form == ShowGeneralized():
            schema = replace(schema, show=settled_show(self.show, schema, method, counted.tally.trees))
        known_as = None
        if self.remembered is not None and people is not None and counted.names is not None:
            known_as = self.remembered.memory.known_as(counted.names)
            if method.remembers_people:
                remembers = cast("MInvariance", method)
                people = with_signatures(people, known_as, self.remembered.memory, remembers, schema)
        everybody = counted.tally if people is None else people.tally
        drawn = None if self.rate == 1 else draw_sample(everybody, self.rate, self.rng)
        tally = everybody if drawn is None else drawn.tally
        # Only some methods make all groups at once, and can tell what holds of all of them together.
        searched = self.models if method.judges_all_groups else for_each_group(self.models)
        seen = schema.searched
        if people is not None and not self._looks_at_values:
            seen = replace(seen, sensitive={})
        if schema.quasi:
            recoding = method.search(tally, seen, searched, rng=self.rng, progress=self.progress)
        else:
            recoding = everybody_together(tally)
        weighted = counted.weighted
        found_again = bool(schema.found_again or schema.items or weighted is not None)
        if weighted is not None and people is None:
            rows_tally = weighted.tally
        else:
            rows_tally = people.each_entry if people is not None and found_again else counted.tally

        def of_rows(found: Recoding) -> tuple[Recoding, PlacedPeople | None, int]:
            """Return what becomes of rows, of people, and how many rows there were to publish."""
            drawn_parts, placed, rows_in = len(found.tuples), None, tally.rows
            if drawn is not None:
                found = drawn.extend(found)
            if weighted is not None and people is None:
                found = weighted.spread(found, self.rng)
            if people is not None:
                placed, found = place_people(people, found, self.rng, apart=found_again)
                rows_in = int(people.rows_each[placed.part_of < drawn_parts].sum())
            return found, placed, rows_in

        method_found = recoding
        recoding, placed, rows_in = of_rows(method_found)
        showing = self.form or recoding.form or ShowGeneralized()
        own = recoding.form or ShowGeneralized()
        if schema.show and showing.name != ShowGeneralized.name:
            refuse_show(self.show, schema, method, showing)
            schema = replace(schema, show={})

        def shown(recoding: Recoding, placed: PlacedPeople | None) -> tuple[Form, Sequence[Guarantee]]:
            form = showing.show(rows_tally, schema, recoding, rows_in=rows_in, rng=self.rng)
            try:
                return form, self._verified(form, tally, placed, own=own)
            except (ConformanceError, Unsatisfiable):
                wider = showing.show_wider(rows_tally, schema, recoding, rows_in=rows_in, rng=self.rng)
                if wider is None:
                    raise
                return wider, self._verified(wider, tally, placed, own=own)

        if self.effort and schema.quasi:
            better = self._improved(tally, seen, searched, method_found)
            if better is not method_found:
                own_rows, own_groups = rows_in, (recoding, placed)
                own_loss = self._lost(shown, *own_groups)
                recoding, placed, rows_in = of_rows(better)  # `shown` counts the rows of these people from here on
                if not self._lost(shown, recoding, placed).less_than(own_loss):
                    (recoding, placed), rows_in = own_groups, own_rows
        standing = None
        if self.remembered is None or placed is None or known_as is None:
            form, guarantees = shown(recoding, placed)
        else:
            together = Together(self.remembered, known_as, schema, self.models, method.name, self.key, shown)
            form, guarantees, recoding, placed, standing = together.made(recoding, placed)
        shown_items = None
        if counted.items is not None and placed is not None:
            shown_items = self._shown_items(form, counted.items, placed)
            guarantees = (*guarantees, *shown_items.guarantees)
            if schema.items:
                form = self._with_items(form, shown_items, placed)
        if weighted is not None:
            form, guarantees = self._with_weights(form, guarantees, recoding, weighted, tally, placed, own=own)
        shuffle = None if drawn is None else int(words(self.rng, 1)[0])
        engine = self.table.engine
        if schema.found_again:
            if form.labelled is None:
                raise SchemaError(
                    f"the form {form.name} has no labels that columns could be kept beside.  Hint: drop "
                    f"'{schema.found_again[0]}', or make it a quasi-identifier."
                )
            rows = engine.joined(counted, recoding, form, self.key, shuffle=shuffle)
        else:
            rows = engine.rows_of(form)
        present = present_values(rows_tally, recoding)
        values = {name: counted.tally.trees[name].values.filter(pl.Series(codes)) for name, codes in present.items()}
        if placed is not None:
            values |= _of_events(placed, counted.items)
        told = _told(schema, values)
        lost = None if shown_items is None else shown_items.told
        linked = None
        if isinstance(engine, LinkedEngine) and placed is not None and self.key is not None:
            published = None if shown_items is None else PublishedItems(shown_items.list_of, shown_items.lists)
            linked = engine.linked(counted, placed, schema, self.key, published)
        numbers = None
        if placed is not None and (linked is not None or len(placed.people) < counted.tally.rows):
            numbers = PeopleNumbers(tally.rows, form.people_in_groups(placed))
        of_people = None
        if numbers is not None and placed is not None:
            of_people = partial(form.of_people, placed, people_in=tally.rows)  # made when it is attacked
        event_sets = None if linked is None or shown_items is None else shown_items.sets.sets
        return _Made(
            form, guarantees, rows, told, numbers, lost, linked, event_sets, recoding.explored, of_people,
            recoding.told, standing, recoding,
        )  # fmt: skip

    def _improved(self, tally: Tally, seen: Schema, searched: Sequence[Model], found: Recoding) -> Recoding:
        """Let people move between the groups that the method found."""
        from incrowd.methods.improving import improve

        moves = self.method.moves
        assert moves is not None
        passes, seconds = self.effort.passes, self.effort.seconds
        better = improve(tally, seen, searched, found, moves, effort=passes, seconds=seconds, progress=self.progress)
        return better if better is found else cast("Method", self.method).retold(better)

    def _lost(
        self,
        shown: Callable[[Recoding, PlacedPeople | None], tuple[Form, Sequence[Guarantee]]],
        recoding: Recoding,
        placed: PlacedPeople | None,
    ) -> Lost:
        """Return what groups lose as they are published; infinity where they do not satisfy the models.

        What holds of all groups together, or of labels, may be lost by moves that keep every group safe.
        """
        moves = self.method.moves
        assert moves is not None
        try:
            return lost_of(shown(recoding, placed)[0], recoding, moves)
        except (ConformanceError, Unsatisfiable):
            return Lost()

    def _shown_items(self, form: Form, items: ItemsOfPeople, people: PlacedPeople) -> ShownItems:
        """Recode people's sets within the groups that a reader sees."""
        seen = form.seen(people)
        if seen is None:
            raise SchemaError(f"the form {form.name} takes no sets of items.  Hint: publish generalized values.")
        assert self.set_method is not None
        return show_items(items, seen, self._watched(people.people), self.set_models, self.set_method, self.progress)

    def _with_items(self, form: Form, shown: ShownItems, people: PlacedPeople) -> Form:
        """Put the people's sets beside their labels."""
        (column,) = self.table.schema.items
        return form.with_items(people, column, shown.list_of, shown.lists, shown.sets)

    def _with_weights(
        self,
        form: Form,
        guarantees: Sequence[Guarantee],
        recoding: Recoding,
        weighted: WeightedTuples,
        tally: Tally,
        people: PlacedPeople | None,
        *,
        own: Showing,
    ) -> tuple[Form, Sequence[Guarantee]]:
        """Put weights beside the labels, and check everything again for whoever looks at these, too."""
        # What is promised of sets of items holds within groups, and not within classes of weights.
        one_each = bool(self.set_models)
        made = form.with_weights(recoding, weighted, self.models, tally, people, one_each=one_each)
        if made is None:
            raise cannot_be_weighed(form.name, str(self.table.schema.weight))
        of_sets = guarantees[len(self.models) :]
        return made, (*self._verified(made, tally, people, own=own), *of_sets)

    def _watched(self, people: People) -> Codes | None:
        """Return the sensitive value of each person, where a model of sets bounds how sure one may be of it."""
        if all(model.max_share >= 1 for model in self.set_models):
            return None
        sensitive = tuple(name for name in self.table.schema.searched.sensitive if name != HOUSEHOLD)
        if len(sensitive) != 1:
            raise SchemaError(f"{self.set_models[0]} is about one sensitive column, and there are {len(sensitive)}.")
        return people.tally.column(sensitive[0])[people.tuple_of]

    def _refuse_several_rows(self, people: People) -> None:
        """Refuse what makes no sense, or would tell too much, where somebody has several rows."""
        if any(model.covers_all_columns for model in self.models):
            refuse_missing_beside_others(people, self.table.schema)
        for part in (self.method, self.form):
            if part is not None and part.one_row_each:
                raise SchemaError(
                    f"{part.name} publishes quasi-identifiers row by row as they are, so that a reader sees how many "
                    f"rows somebody has, and some of the {len(people):,} people have several.  Hint: publish "
                    "generalized values, or a table with one row for each person."
                )

    def _verified(self, form: Form, tally: Tally, people: PlacedPeople | None, *, own: Showing) -> Sequence[Guarantee]:
        """Check every model on what is shown. A method answers for the form it is made for; another one may show more
        of its groups than it judged, or other groups.
        """
        try:
            if people is None:  # forms of other packages need not know of people
                return form.verify(self.models, tally)
            return form.verify(self.models, tally, people)
        except ConformanceError as error:
            if self.form is None or self.form == own:
                raise
            names = ", ".join(str(model) for model in self.models)
            raise Unsatisfiable(
                f"the groups that {self.method.name} finds do not satisfy {names} when they are shown as {form.name}.  "
                f"Hint: ask for less, or for the form {own.name}, which the method is made for."
            ) from error

    def _noisy(self, counted: Counted) -> _Made:
        """Measure a table with noise; what is published is a promise of the method, and nothing to check."""
        tally, method = counted.tally, cast("PrivateMethod", self.method)
        if self.rate < 1:  # a sample may be empty, which is a secret too
            tally = replace(tally, counts=sample_counts(self.rng, self.rate, tally.counts))
        form: Form = noisy_counts_of(tally, self.table.schema, method, self.rate, self.rng, self.progress)
        return _Made(form, form.verify(self.models, tally), self.table.engine.rows_of(form))

    def _made_in_parts(self, found: TallyTooLarge) -> _Made:
        made = self._in_parts(found)
        told = _told(self.table.schema, made.values)
        return _Made(made.form, made.guarantees, made.rows, told, made.people)

    def _in_parts(self, found: TallyTooLarge) -> MadeInParts:
        table = self.table
        # Parts are counted in people who all weigh the same.
        if table.schema.household or table.schema.weight:
            raise found
        secret = tuple(int(word) for word in words(self.rng, 2))
        show = partial(settled_show, self.show, table.schema, self.method)
        task = PartsTask(
            table.schema, self.models, self.method, self.form, self.rate, table.population is not None, self.key,
            self.progress, found.tuples, found.limit, secret, show, self.effort.passes, self.effort.seconds,
        )  # fmt: skip
        made = table.engine.in_parts(task)
        if made is None:
            raise found
        return made


def _told(schema: Schema, values: Mapping[str, pl.Series]) -> dict[str, Hierarchy]:
    """Return the hierarchies that a recipe must tell otherwise, since they list values that no published row has."""
    found = {}
    for name, hierarchy in schema.hierarchies.items():
        if name in schema.banded:  # these name no values but declared ones: others were refused
            continue
        told = hierarchy.as_published(known_values(values[name]))
        if told is not hierarchy:
            found[name] = told
    return found


def _of_events(placed: PlacedPeople, items: ItemsOfPeople | None) -> dict[str, pl.Series]:
    """Return the values of linked tables, and the items, that published people have."""
    people, published = placed.people, placed.group_of != WITHHELD
    found = {}
    for name in people.events:
        _, codes = people.values_of(name, published)
        found[name] = people.rows.trees[name].values.gather(np.unique(codes))
    if items is not None:
        found[items.column] = items.tree.values.gather(np.unique(items.codes[published[items.owner]]))
    return found


def refuse_missing_beside_others(people: People, schema: Schema) -> None:
    """Refuse people who lack a value in one row and have one in another, where a missing value is one by itself."""
    for name in schema.sensitive:
        codes = people.rows.column(name)[people.tuples]
        if lacks_beside_others(people.owner, codes, people.rows.trees[name].size):
            raise SchemaError(
                f"somebody lacks a value of '{name}' in one row and has one in another, and full k-anonymity takes a "
                "missing value for one by itself.  Hint: leave such rows out, or fill them in."
            )


def refuse_repeated(repeated: Mapping[str, tuple[int, int]]) -> None:
    """Refuse columns that name people and have a value twice."""
    for name, (different, rows) in repeated.items():
        raise SchemaError(
            f"column '{name}' names people and repeats: {rows:,} rows have {different:,} different values. A guarantee "
            f"is about people, so say whose a row is.  Hint: "
            f"{as_role('person', name, or_in_recipe='person-pseudonym')} if each value is one person; "
            f"{option('each_row_a_person', True)} if each row is one, although names repeat."
        )


def nobody(schema: Schema) -> Counted:
    """Return a table without rows, counted."""
    return Counted(empty_tally(schema), pl.DataFrame(), np.empty(0, dtype=np.int64))
