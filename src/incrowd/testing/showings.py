"""What every form promises, one function each: returns if the promise is kept, raises `AssertionError` if not.

Each takes a `Shown`: a table, and the release in which a simple method's groups are shown in the form.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.families import published_forms, registered
from incrowd.core.form import Form
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.query import Query
from incrowd.core.recoding import Showing
from incrowd.errors import FormulaWarning, SourceError
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release
from incrowd.testing.case import Case
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.reading import plain

SEED = 5
FORMATS = ("csv", "parquet")
_FEW = 6
"""So many values of a column are asked for."""


SIMPLE = Case(
    pl.DataFrame(
        {
            "age": [20, 21, 22, 23, None, 41, 42, 43, 60, 61, 62, 63],
            "city": ["Rome", "Oslo", "Rome", "Oslo", "Rome", "Oslo"] * 2,
            "ill": ["flu", "cold", None, "gout"] * 3,
        }
    ),
    quasi=("age", "city"),
    sensitive=("ill",),
)
"""A table that every form must be able to show."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A case that was published in a form; `before` is what the table was before it was."""

    case: Case
    before: pl.DataFrame
    showing: Showing
    method: Method
    require: tuple[Model, ...]
    release: Release
    rows: pl.DataFrame

    @classmethod
    def of(cls, case: Case, showing: Showing, method: Method, require: Sequence[Model]) -> Shown:
        """Publish a case; raises what publishing raises."""
        before = case.frame.clone()
        release = publish(case.table(), require, method=method, form=showing, seed=SEED)
        return cls(case, before, showing, method, tuple(require), release, release.to_polars())

    def again(self, case: Case) -> Release:
        """Publish other rows, or the same ones in another order, in the same way."""
        return publish(case.table(), self.require, method=self.method, form=self.showing, seed=SEED)

    @cached_property
    def is_same_turned(self) -> bool:
        """Whether the same rows from last to first are published the same, down to the order of what is published."""
        return self.again(self.case.with_rows(self.case.frame.reverse())).to_polars().equals(self.rows)

    @property
    def form(self) -> Form:
        """What is published."""
        return self.release.form

    def __repr__(self) -> str:
        return f"Shown({self.showing}, by {self.method}, require={list(map(str, self.require))}, {self.case})"


Promise = Callable[[Shown], None]


def is_a_value(showing: Showing) -> None:
    """A form that can be asked for is a frozen dataclass with the name of a form that can be read back."""
    expect(is_frozen_dataclass(showing), "a form that is no frozen dataclass", type(showing).__name__)
    hint = "let an entry point of incrowd.forms name the module of both classes"
    expect(showing.name in registered("forms"), f"no form is registered as '{showing.name}': {hint}", showing)
    again = type(showing).from_recipe(showing.to_recipe(), Path())
    expect(again == showing, f"a recipe makes another form of it, {again}", showing)


def can_be_read_back(shown: Shown) -> None:
    """What is published names a form that files can be read as."""
    hint = "let an entry point of incrowd.forms name the module of both classes"
    expect(
        shown.form.name in published_forms(), f"'{shown.form.name}' is no form that files are read as: {hint}", shown
    )


def conserves_rows(shown: Shown) -> None:
    """Every row is published or withheld, once."""
    form, height = shown.form, shown.case.frame.height
    expect(form.rows_in == height, f"{form.rows_in} rows are said to be in, of {height}", shown)
    told = f"{form.rows} rows are said to be published, {form.withheld} withheld"
    expect(form.rows + form.withheld == height, told, shown)
    expect(shown.rows.height == form.rows, f"{told}, and {shown.rows.height} come out", shown)
    sizes = form.group_sizes
    expect(int(sizes.sum()) == form.rows and (sizes > 0).all(), f"groups of {sizes.tolist()}: {told}", shown)


def counts_every_row_once(shown: Shown) -> None:
    """All rows are counted without a condition, and by all values of a column together."""
    form = shown.form
    expect(isclose(form.count({}), form.rows, abs_tol=1e-6), f"{form.count({})} of {form.rows} rows are counted", shown)
    for name in form.schema.tallied:
        values = form.tally.trees[name].values.to_list()
        by_value = [form.count({name: [value]}) for value in values]
        expect(min(by_value) >= 0, f"a value of '{name}' is counted less than 0 times", shown)
        total = sum(by_value)
        expect(isclose(total, form.rows, abs_tol=1e-6), f"the values of '{name}' add up to {total} rows", shown)
        together = form.count({name: values})
        expect(
            isclose(together, form.rows, abs_tol=1e-6), f"all values of '{name}' are those of {together} rows", shown
        )


def shows_as_many_as_it_publishes(shown: Shown) -> None:
    """Its view has all rows in crowds, and whoever is published could be in one of them."""
    form, view = shown.form, shown.form.view()
    expect(view.rows == form.rows, f"the view has {view.rows} rows, the form {form.rows}", shown)
    expect(view.columns == tuple(sorted(form.schema.quasi)), f"the view's columns are {view.columns}", shown)
    expect(view.sensitive == tuple(sorted(form.schema.sensitive)), f"its sensitive ones {view.sensitive}", shown)
    for name in (None, *view.sensitive):
        crowds = view.crowds(name)
        expect(int(crowds.sizes.sum()) == form.rows, f"crowds of {crowds.sizes.tolist()} for '{name}'", shown)
        if name is not None:
            of_values = np.bincount(crowds.values.group_of, crowds.values.counts, minlength=len(crowds.sizes))
            expect((of_values == crowds.sizes).all(), f"crowds have more or fewer values of '{name}' than rows", shown)
    people = form.tally.project(view.columns)[0]
    matches = view.match(people.codes, None)
    sums = matches.total(np.ones(int(matches.crowds.max(initial=-1)) + 1) if len(matches.crowds) else np.ones(1))
    expect(len(matches) == len(people), f"{len(matches)} of {len(people)} people are looked for", shown)
    weights = np.bincount(matches.person_of, matches.weights, minlength=len(matches))
    expect(np.allclose(weights[sums > 0], 1), "a person's crowds do not have a probability of 1 together", shown)
    if not form.withheld:
        expect(matches.matched.all(), "somebody who is published could be in no crowd", shown)
        expect((view.fits(people.codes) > 0).all(), "somebody who is published is ruled out", shown)


def reconstructs_its_rows(shown: Shown) -> None:
    """There are rows that could be behind it: as many as are published, of values that the columns have."""
    form = shown.form
    codes, weights = form.reconstruct(np.random.default_rng(SEED))
    expect(len(weights) == form.rows, f"{len(weights)} rows are made for {form.rows} published ones", shown)
    expect((weights > 0).all(), "a row weighs nothing", shown)
    expect(set(codes) == set(form.schema.tallied), f"rows are made of {sorted(codes)}", shown)
    for name, made in codes.items():
        inside = len(made) == len(weights) and ((made >= 0) & (made < form.tally.trees[name].size)).all()
        expect(inside, f"rows are made of values that '{name}' does not have", shown)


def survives_its_files(shown: Shown) -> None:
    """Written to files and opened again with the table, it has the same rows, answers and guarantees."""
    form = shown.form.canonical(shown.form.tally)
    with tempfile.TemporaryDirectory() as place:
        for kind in FORMATS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FormulaWarning)  # a table may well hold what looks like a formula
                shown.release.save(Path(place) / kind, format=kind)
            where = f"read from {kind}"
            try:
                opened = open_release(Path(place) / kind, original=shown.case.frame)
            except SourceError as error:
                raise AssertionError(f"{where}, it is no release: {error}: {shown}") from error
            expect(opened.form.name == form.name, f"{where}, it is {opened.form.name}", shown)
            expect(opened.rows == form.rows, f"{where}, it has {opened.rows} rows of {form.rows}", shown)
            expect(opened.rows_in == form.rows_in, f"{where}, {opened.rows_in} rows were in", shown)
            expect(texts(opened.to_polars()) == texts(shown.rows), f"{where}, its rows are others", shown)
            sizes = sorted(opened.form.group_sizes.tolist())
            expect(sizes == sorted(form.group_sizes.tolist()), f"{where}, its groups have {sizes} rows", shown)
            for query in queries(form):
                answers = opened.form.count(query), form.count(query)
                same = opened.notes or isclose(*answers, rel_tol=1e-9, abs_tol=1e-6)
                expect(same, f"{where}, it answers {answers[0]}, not {answers[1]}, to {query}", shown)
            _expect_same_guarantees(opened, shown, where)


def ignores_row_order(shown: Shown) -> None:
    """The same rows in another order give the same release, down to the order of what is published."""
    expect(shown.is_same_turned, "another order of rows gives another release", shown)


def ignores_column_order(shown: Shown) -> None:
    """The same columns in another order give the same groups, values and answers; chance may pair them otherwise."""
    again = shown.again(shown.case.reordered())
    rows = again.to_polars()
    problem = "another order of columns gives another release"
    expect(set(rows.columns) == set(shown.rows.columns), problem, shown)
    for name in rows.columns:
        expect(Counter(rows[name].to_list()) == Counter(shown.rows[name].to_list()), f"{problem}: '{name}'", shown)
    sizes = sorted(again.form.group_sizes.tolist())
    expect(sizes == sorted(shown.form.group_sizes.tolist()), f"{problem}: groups of {sizes}", shown)
    for query in queries(shown.form):
        same = isclose(again.form.count(query), shown.form.count(query), rel_tol=1e-9, abs_tol=1e-6)
        expect(same, f"{problem}: {query}", shown)


def is_reproducible(shown: Shown) -> None:
    """One seed, one release, also if from rows in another order; and the same rows each time they are asked for."""
    same = shown.is_same_turned or shown.again(shown.case).to_polars().equals(shown.rows)
    expect(same, "the same seed gives another release", shown)
    expect(shown.release.to_polars().equals(shown.rows), "the rows are others when they are asked for again", shown)
    halves = list(shown.form.batches(max(shown.form.rows // 2, 1)))
    expect(not halves or pl.concat(halves).equals(shown.rows), "the rows are others in smaller batches", shown)


def leaves_caller_frame_alone(shown: Shown) -> None:
    """The caller's frame is not changed."""
    expect(shown.case.frame.equals(shown.before), "the caller's frame was changed", shown)


PROMISES: Sequence[Promise] = (
    can_be_read_back,
    conserves_rows,
    counts_every_row_once,
    shows_as_many_as_it_publishes,
    reconstructs_its_rows,
    survives_its_files,
    ignores_row_order,
    ignores_column_order,
    is_reproducible,
    leaves_caller_frame_alone,
)


def queries(form: Form) -> Iterator[Query]:
    """Yield a few questions: by one value of each column, and by values of all of them."""
    everything: dict[str, Any] = {}
    for name in form.schema.tallied:
        values = form.tally.trees[name].values.to_list()
        yield from ({name: [value]} for value in values[:_FEW])
        everything[name] = values[: len(values) // 2 + 1]
    yield everything


def texts(frame: pl.DataFrame) -> list[list[object]]:
    """Return values as what they mean, however a kind of file spells them; an empty text is missing."""
    return [[None if value == "" else plain(value) for value in frame[name].to_list()] for name in frame.columns]


def _expect_same_guarantees(opened: Release, shown: Shown, where: str) -> None:
    found, stated = opened.guarantees, shown.release.guarantees
    same = len(found) == len(stated) and all(
        one.model == two.model and one.basis == two.basis and isclose(one.achieved, two.achieved, rel_tol=1e-9)
        for one, two in zip(found, stated, strict=True)
    )
    expect(same, f"{where}, it guarantees {list(map(str, found))}, not {list(map(str, stated))}", opened.notes, shown)
