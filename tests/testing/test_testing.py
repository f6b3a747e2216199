"""The conformance suite itself: it must find what is broken, so here it is given things that are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from numpy.typing import NDArray

import incrowd as ic
from incrowd.common.arrays import Codes, Floats
from incrowd.core.attack import Attack
from incrowd.core.groups import Groups
from incrowd.core.method import Method
from incrowd.core.model import Guarantee, Model
from incrowd.core.query import Query
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.risk import Risk, Threat
from incrowd.core.sink import Sink
from incrowd.core.tally import Tally
from incrowd.core.target import Target
from incrowd.errors import UnreadableLabel
from incrowd.forms.generalized import Generalized
from incrowd.forms.generalized_view import GeneralizedView
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_text, code_among, code_values
from incrowd.metrics.discernibility import Discernibility
from incrowd.publishing.sinks.csv import CsvSink
from incrowd.publishing.sinks.parquet import ParquetSink
from incrowd.testing import (
    Attempt,
    Case,
    check_attack,
    check_form,
    check_hierarchy,
    check_method,
    check_metric,
    check_model,
    check_registered,
    check_shows,
    check_sink,
    promises,
)
from incrowd.testing.matching import unmatched
from incrowd.testing.reading import covers

# --- methods that break a promise each ---


@dataclass(frozen=True)
class Broken(Method):
    """Mondrian with a fault."""

    name: ClassVar[str] = "broken"

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **given: Any) -> Recoding:
        found = ic.Mondrian().search(tally, schema, require, **given)
        return self.spoil(found, tally, given["rng"])

    def spoil(self, found: Recoding, tally: Tally, rng: np.random.Generator) -> Recoding:
        return found


NOBODYS_CHANCE = np.random.default_rng(5)
"""Goes on from call to call, so that no seed of the caller governs it; and yet each run of these tests has the same."""


class Groundless(Broken):
    """Everybody is withheld, one row aside, and nothing is unsatisfiable."""

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **given: Any) -> Recoding:
        return super().search(tally, schema, [ic.KAnonymity(1)], **given)


class Random(Broken):
    """Chance that no seed governs."""

    def spoil(self, found: Recoding, tally: Tally, rng: np.random.Generator) -> Recoding:
        withheld = NOBODYS_CHANCE.random(len(found.groups)) < 0.5
        return replace(found, groups=np.where(withheld & (found.groups > 0), WITHHELD, found.groups))


class Narrow(Broken):
    """Labels that do not reach as far as the group's values."""

    def spoil(self, found: Recoding, tally: Tally, rng: np.random.Generator) -> Recoding:
        # Where missing is among the values, what is left would be missing alone, and another promise finds that first.
        narrowed = np.maximum(found.highs - 1, found.lows + 1)
        return replace(found, highs=np.where(found.lows == 0, found.highs, narrowed))


class Tight(Broken):
    """Closed ranges of the group's own values, passed off as regions."""

    def spoil(self, found: Recoding, tally: Tally, rng: np.random.Generator) -> Recoding:
        codes = np.stack([tally.column(name) for name in found.columns], axis=1)[found.tuples]
        lows, highs = found.lows.copy(), found.highs.copy()
        for group in range(len(lows)):
            lows[group], highs[group] = codes[found.groups == group].min(0), codes[found.groups == group].max(0) + 1
        return replace(found, lows=lows, highs=highs)


class Meddling(Broken):
    """A method that writes into the tally it was given."""

    def spoil(self, found: Recoding, tally: Tally, rng: np.random.Generator) -> Recoding:
        tally.counts[:] = tally.counts[::-1].copy()
        return found


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        (Random(), "follows chance that no seed governs|gives another release"),
        (Narrow(), "no row of the table is left"),
    ],
)
def test_a_method_that_breaks_a_promise_is_found(method: Broken, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_method(method, require=[ic.KAnonymity(2)], examples=30, shrink=False)


def test_a_bound_that_shows_an_extreme_value_is_found() -> None:
    case = Case(pl.DataFrame({"a": [1, 2, 5, 6], "x": [1, 8, 2, 9]}), quasi=("a", "x"))
    promises.shows_no_extreme_value(Attempt.of(case, ic.Mondrian(), [ic.KAnonymity(2)]))
    with pytest.raises(AssertionError, match=r"\(1\) are beyond . in 'x'"):
        promises.shows_no_extreme_value(Attempt.of(case, Tight(), [ic.KAnonymity(2)]))


def test_a_method_that_publishes_what_it_must_not_is_found() -> None:
    with pytest.raises(ic.errors.ConformanceError):
        check_method(Groundless(), examples=5, shrink=False)


CASE = Case(
    pl.DataFrame({"x": [1, 2, 3, 4, 5, 9], "s": ["a", "b", "a", "b", "a", None], "k": [1, 1, 2, 2, 3, 3]}),
    quasi=("x",),
    sensitive=("s",),
    kept=("k",),
)


def attempt(case: Case = CASE, **labels: Any) -> Attempt:
    return Attempt.of(case, ic.Mondrian(**labels), [ic.KAnonymity(2), ic.LDiversity(2)])


def test_the_case_itself_is_fine() -> None:
    for promise in promises.PROMISES:
        promise(attempt())


@pytest.mark.parametrize(
    ("promise", "published"),
    [
        (promises.satisfies_models, {"x": ["<4", "<4", "<4", "<5", ">=4", ">=4"]}),
        (promises.satisfies_models, {"s": ["a", "a", "a", "b", "a", None]}),
        (promises.labels_cover_their_rows, {"x": ["<3", "<3", "<3", ">=4", ">=4", ">=4"]}),
        (promises.labels_cover_their_rows, {"s": ["a", "b", "b", "b", "a", None]}),
        (promises.labels_cover_their_rows, {"k": [1, 1, 2, 2, 3, 4]}),
        (promises.labels_parse_back, {"x": ["[4, 1)", "[4, 1)", "[4, 1)", ">=4", ">=4", ">=4"]}),
        (promises.labels_parse_back, {"x": ["<four", "<four", "<four", ">=4", ">=4", ">=4"]}),
        (promises.missing_is_a_value, {"x": [None, "<4", "<4", ">=4", ">=4", ">=4"]}),
        (promises.withheld_rows_are_no_group, {"x": ["<4", "<4", "<4", ">=4", ">=4", "*"]}),
        (promises.orders_rows_by_what_they_show, {"x": ["<4", ">=4", "<4", ">=4", "<4", ">=4"]}),
        (promises.answers_what_it_shows, {"s": ["a", "a", "a", "a", "a", None]}),
    ],
)
def test_a_tampered_release_breaks_its_promise(promise: promises.Promise, published: dict[str, list[Any]]) -> None:
    honest = attempt()
    assert honest.published["x"].to_list() == ["<4", "<4", "<4", ">=4", ">=4", ">=4"]
    frame = honest.published.with_columns(pl.Series(name, values) for name, values in published.items())
    with pytest.raises(AssertionError):
        promise(replace(honest, published=frame))


@pytest.mark.parametrize(
    "promise",
    [promises.conserves_rows, promises.ignores_row_order, promises.ignores_column_order, promises.is_reproducible],
)
def test_a_release_with_a_row_less_breaks_its_promise(promise: promises.Promise) -> None:
    honest = attempt()
    with pytest.raises(AssertionError):
        promise(replace(honest, published=honest.published.head(5)))


def test_a_changed_frame_or_tally_is_found() -> None:
    honest = attempt()
    with pytest.raises(AssertionError, match="the caller's frame was changed"):
        promises.leaves_caller_frame_alone(replace(honest, before=CASE.frame.reverse()))
    frame = pl.DataFrame({"x": [1, 1, 1, 2, 2, 3]})
    meddled = Attempt.of(Case(frame, quasi=("x",)), ic.Mondrian(), [ic.KAnonymity(1)])
    with pytest.raises(AssertionError, match="the tally was changed"):
        promises.leaves_caller_frame_alone(replace(meddled, method=Meddling()))


def test_a_guarantee_too_few_is_found() -> None:
    honest = attempt()
    with pytest.raises(AssertionError, match="other models are guaranteed"):
        promises.guarantees_every_model(replace(honest, require=(*honest.require, ic.KAnonymity(1))))


def test_a_quoted_value_is_found() -> None:
    told = Case(CASE.frame.rename({"s": promises.TELLTALE}), quasi=("x",), sensitive=(promises.TELLTALE,), kept=("k",))
    with pytest.raises(AssertionError, match="a row's value is quoted"):
        promises.quotes_no_value(Attempt.of(told, ic.Mondrian(), [ic.LDiversity(2, column=promises.TELLTALE)]))


# --- models that claim too much ---


@dataclass(frozen=True)
class Even(Model):
    """An even number of members: neither monotone nor hereditary, and yet."""

    name: ClassVar[str] = "even"
    monotone: ClassVar[bool] = False
    hereditary: ClassVar[bool] = False
    min_group: ClassVar[int] = 2

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        return groups.sizes % 2 == 0

    def achieved(self, groups: Groups) -> float:
        return float((groups.sizes % 2 == 0).min(initial=1))


class ThreeAtLeast(Even):
    min_group: ClassVar[int] = 3


class NeverFour(Even):
    monotone: ClassVar[bool] = True

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        return (groups.sizes % 2 == 0) & (groups.sizes != 4)


class Hereditary(Even):
    hereditary: ClassVar[bool] = True


class Sociable(Even):
    """Every group gets the first one's verdict."""

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        return np.full(len(groups), len(groups) > 0 and groups.sizes[0] % 2 == 0)


class Boastful(Even):
    """What is achieved has nothing to do with the verdict."""

    def achieved(self, groups: Groups) -> float:
        return float(groups.sizes.min(initial=99))


class Picky(Even):
    """It knows a value by its code."""

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        histogram = groups.sensitive["s0"]
        found = np.ones(len(groups), dtype=bool)
        found[histogram.group_of[histogram.values == 1]] = False
        return found


class Numeric(Even):
    """Verdicts that are numbers."""

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        return groups.sizes % 2  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (ThreeAtLeast(), "it holds for fewer than 3 rows"),
        (NeverFour(), "not for both as one"),
        (Hereditary(), "not for a part of it"),
        (Sociable(), "judged otherwise in company|another order of groups"),
        (Boastful(), "does not say whether it is satisfied"),
        (Picky(), "other names of values change verdicts|fewer than 2 rows"),
        (Numeric(), "not yes or no"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Even) else "",
)
def test_a_model_that_claims_too_much_is_found(model: ic.Model, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_model(model, shrink=False)


def test_an_honest_model_of_ones_own_passes() -> None:
    check_model(Even(), definition=lambda model, members, table: len(members) % 2 == 0, examples=40)
    with pytest.raises(AssertionError, match="by definition, verdicts are"):
        check_model(Even(), definition=lambda model, members, table: True)


# --- metrics that are wrong ---


class Inverted(Discernibility):
    goal: ClassVar[Any] = "maximize"


class Unbounded(Discernibility):
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)


class Forgetful(Discernibility):
    def measure(self, before: Tally, release: Generalized) -> float:
        return float(np.random.default_rng().random())


@pytest.mark.parametrize(
    ("metric", "problem"),
    [(Inverted(), "maximize"), (Unbounded(), r"not in \[0.0, 1.0\]"), (Forgetful(), "is no function|nothing but|or")],
    ids=["inverted", "unbounded", "forgetful"],
)
def test_a_metric_that_is_wrong_is_found(metric: Any, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_metric(metric, examples=20, shrink=False)


# --- attacks that are wrong ---


@dataclass(frozen=True)
class Idle(Attack):
    """An attack that finds out nothing, and is honest about it."""

    name: ClassVar[str] = "idle"
    threat: ClassVar[Threat] = "inference"

    def lacks(self, target: Target) -> str | None:
        return None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        return Risk(self.name, self.threat, 0.5, 0.4, 0.6, 0.5, 10, "Nothing is found out.")


class Boasting(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        return replace(super().run(target, rng=rng), value=1.2, high=1.2)


class Astray(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        return replace(super().run(target, rng=rng), low=0.55)


class Sleepwalking(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        return replace(super().run(target, rng=rng), value=0.4 + np.random.default_rng().random() / 5)


class Gossiping(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        values = target.form.tally.trees[target.view.columns[0]].values.cast(pl.String)
        return replace(super().run(target, rng=rng), says=f"Somebody has {' or '.join(values.drop_nulls())}.")


class Scribbling(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        if target.truth is not None:
            target.truth.counts[:] += 1
        return super().run(target, rng=rng)


class Biased(Idle):
    """The outcome follows from which column was named first."""

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        first = next(iter(target.form.schema.quasi))
        return replace(super().run(target, rng=rng), value=0.4 if first == min(target.form.schema.quasi) else 0.6)


class Superstitious(Idle):
    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        return replace(super().run(target, rng=rng), value=0.9, low=0.8, high=1.0)


class Silent(Idle):
    def lacks(self, target: Target) -> str | None:
        return ""


class Harmless(Idle):
    threat: ClassVar[Any] = "boredom"


@pytest.mark.parametrize(
    ("attack", "problem"),
    [
        (Boasting(), "not all between 0 and 1"),
        (Astray(), "0.5 is not in 0.55 to 0.6"),
        (Sleepwalking(), "one seed, two outcomes|follows chance that no seed governs"),
        (Gossiping(), "is quoted"),
        (Scribbling(), "the tally was changed"),
        (Biased(), "columns in another order"),
        (Superstitious(), "a release that shows nothing lets it through"),
        (Silent(), "lacks ''"),
        (Harmless(), "the threat is 'boredom'"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Idle) else "",
)
def test_an_attack_that_breaks_a_promise_is_found(attack: Idle, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_attack(attack, examples=20, shrink=False)


def test_an_honest_attack_of_ones_own_passes() -> None:
    check_attack(Idle(), examples=5)


def test_an_attack_that_cannot_be_run_where_it_says_so_is_found() -> None:
    class Careless(Idle):
        def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
            return replace(super().run(target, rng=rng), people=target.people.number)

    with pytest.raises(ic.errors.AttackError, match="who is who is not known"):
        check_attack(Careless(), examples=3, shrink=False)


# --- forms that are wrong ---


@dataclass(frozen=True)
class Spoilt(ic.ShowGeneralized):
    """The generalized form, and something is wrong with what it publishes."""

    def show(self, *given: Any, **named: Any) -> Generalized:
        found = super().show(*given, **named)
        return self.kind(*(getattr(found, one.name) for one in fields(found)))

    kind: ClassVar[type[Generalized]] = Generalized


def spoilt(wrong: type[Generalized]) -> Spoilt:
    """Return a form that publishes a kind of form with a fault, under the name of the right one."""
    made = dataclass(frozen=True)(type(wrong.__name__, (Spoilt,), {"kind": wrong}))
    return made()  # type: ignore[no-any-return]


class Overstated(Generalized):
    @property
    def withheld(self) -> int:
        return super().withheld + 1


class Shortened(Generalized):
    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        for batch in super().batches(rows_per_batch):
            yield batch.with_columns(pl.Series("age", [None] * batch.height, dtype=pl.String))


class Miscounting(Generalized):
    def count(self, query: Query) -> float:
        return super().count(query) + (0.5 if query else 0)


class Blind(Generalized):
    def view(self) -> GeneralizedView:
        return HalfView(self)


class HalfView(GeneralizedView):
    @property
    def rows(self) -> int:
        return super().rows // 2


class Inventive(Generalized):
    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        codes, weights = super().reconstruct(rng)
        return {name: made + np.int32(1) for name, made in codes.items()}, weights


class Lazy(Generalized):
    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        codes, weights = super().reconstruct(rng)
        return {name: made[1:] for name, made in codes.items()}, weights[1:]


class Capricious(Generalized):
    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        for batch in super().batches(rows_per_batch):
            yield batch.sample(fraction=1, shuffle=True, seed=int(NOBODYS_CHANCE.integers(2**31)))


class Renamed(Generalized):
    name: ClassVar[str] = "renamed"


class Undersold(Generalized):
    def verify(self, require: Sequence[ic.Model], before: Tally) -> list[Guarantee]:
        return [replace(one, achieved=one.achieved - 1) for one in super().verify(require, before)]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (Overstated, "rows are said to be published, 1 withheld"),
        (Shortened, "read from csv, it is no release: .* contradicts itself"),
        (Miscounting, "add up to"),
        (Blind, "the view has 6 rows, the form 12"),
        (Inventive, "rows are made of values that"),
        (Lazy, "11 rows are made for 12"),
        (Capricious, "its rows are others|another order of rows|the same seed|asked for again"),
        (Renamed, "'renamed' is no form that files are read as: let an entry point"),
        (Undersold, "it guarantees"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_form_that_breaks_a_promise_is_found(wrong: type[Generalized], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_form(spoilt(wrong), examples=5, shrink=False)


def test_a_form_that_is_not_registered_is_told_what_to_do() -> None:
    @dataclass(frozen=True)
    class Unheard(ic.ShowGeneralized):
        name: ClassVar[str] = "unheard"

    with pytest.raises(
        AssertionError, match=r"no form is registered as 'unheard': let an entry point of incrowd\.forms"
    ):
        check_form(Unheard())


def test_an_honest_form_passes() -> None:
    check_form(spoilt(Generalized), examples=2)


# --- hierarchies that are wrong ---


@dataclass(frozen=True)
class Halves(Flat):
    """Values in two halves, as a hierarchy should be; those below have a fault each."""

    name: ClassVar[str] = "halves"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        distinct, codes = code_values(as_text(values))
        above = pl.Series(["first…" if place < 3 else "last…" for place in range(len(distinct))], dtype=pl.String)
        return grow(column, distinct, "text", [above], from_data=True), codes


class Outside(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        return tree, codes + np.int32(1)


class Forgiving(Halves):
    """Missing values become the first one."""

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        return tree, np.where((codes == 0) & (tree.size > 1), 1, codes).astype(np.int32)


class Swapped(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        return tree, np.where(codes > 0, tree.size - codes, 0).astype(np.int32)


class Rootless(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        return replace(tree, nodes=np.vstack([tree.nodes[:-1], tree.nodes[:1]])), codes


class Torn(Halves):
    """Every other value is in the first half."""

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        nodes = tree.nodes.copy()
        nodes[1, 1:] = 1 + np.arange(tree.size - 1) % 2
        return replace(tree, nodes=nodes), codes


class Ambiguous(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        names = pl.Series([None, *["half…"] * (len(tree.names[1]) - 1)], dtype=pl.String)
        return replace(tree, names=(tree.names[0], names, tree.names[2])), codes


class Impressionable(Halves):
    """The first value that is met comes first."""

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        distinct = as_text(values).drop_nulls().unique(maintain_order=True)
        return grow(column, distinct, "text", from_data=True), code_among(as_text(values), distinct)


class Wide(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        tree, codes = super().build(column, values)
        return tree, codes.astype(np.int64)  # type: ignore[return-value]


@dataclass(frozen=True)
class Refusing(Halves):
    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        raise ic.errors.HierarchyError("never")


@dataclass(frozen=True)
class Forgotten(Halves):
    letters: int = 1

    def to_recipe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_recipe(cls, given: Any, base: Path) -> Forgotten:
        return Sharing()


class Sharing(Forgotten):
    def to_recipe(self) -> dict[str, Any]:
        return {"letters": self.letters}


@pytest.mark.parametrize(
    ("hierarchy", "problem"),
    [
        (Outside(), "codes outside of the tree's|is coded as|a missing value has code"),
        (Forgiving(), "a missing value has code 1"),
        (Swapped(), "is coded as"),
        (Rootless(), "the root does not cover everything"),
        (Torn(), "a node of level 1 is in pieces"),
        (Ambiguous(), "is read as"),
        (Impressionable(), "another order of values gives"),
        (Wide(), "codes are int64, not int32"),
        (Refusing(), "not one of 30 columns could be taken"),
        (Forgotten(2), "a recipe makes another one of it"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Halves) else "",
)
def test_a_hierarchy_that_breaks_a_promise_is_found(hierarchy: Halves, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_hierarchy(hierarchy, examples=30, shrink=False)


def test_an_honest_hierarchy_of_ones_own_passes() -> None:
    check_hierarchy(Halves(), examples=30)


# --- sinks that are wrong ---


class Unquoted(CsvSink):
    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        frames = list(batches)
        lines = [frames[0].columns, *(row for frame in frames for row in frame.rows())]
        path.write_text(
            "".join(separator.join("" if one is None else str(one) for one in line) + "\n" for line in lines)
        )


class FirstOnly(CsvSink):
    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        super().write(iter([next(batches)]), path, separator=separator)


class Zealous(CsvSink):
    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        super().write(batches, path, separator=separator)
        path.with_suffix(".bak").touch()


class Rounding(CsvSink):
    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        super().write((batch.with_columns(cs.float().round(0)) for batch in batches), path, separator=separator)


@dataclass(frozen=True)
class Nameless(CsvSink):
    name: ClassVar[str] = "tsv-like"


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        (Unquoted(), "is read as|are read"),
        (FirstOnly(), "rows are read of"),
        (Zealous(), r"files are written: .*data\.bak"),
        (Rounding(), "is read as"),
        (Nameless(), "its files end in .tsv-like, which is none of"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, CsvSink) else "",
)
def test_a_sink_that_breaks_its_promise_is_found(sink: CsvSink, problem: str) -> None:
    with pytest.raises((AssertionError, ic.errors.SourceError), match=problem):
        check_sink(sink, examples=60, shrink=False)


# --- everything ---


def test_the_part_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"csv": CsvSink, "zealous": dataclass(frozen=True)(Zealous)}
    monkeypatch.setattr("incrowd.testing.everything.registered", lambda family: found)
    with pytest.raises(
        AssertionError, match=r"^sink 'zealous' of tests\.testing\.test_testing, .*: .*files are written"
    ):
        check_registered(["sinks"], examples=2)
    assert check_registered(["sinks"], examples=2, only=lambda cls: cls is CsvSink) == {"sinks": ["CsvSink()"]}


# --- reading labels ---


@pytest.mark.parametrize(
    ("label", "value", "holds"),
    [
        (None, None, True),
        (None, float("nan"), True),
        (None, 5, False),
        ("*", None, True),
        ("*", 5, True),
        ("[-5, 3)", -5, True),
        ("[-5, 3)", 3, False),
        ("[-5, 3]", 3, True),
        ("[-5, 3)", None, False),
        ("<0.3", 0.3, False),
        ("<0.3", 0.29, True),
        (">=0.3", 0.3, True),
        (">=10", "9", False),  # numbers, not text
        (">=10", "11", True),
        ("7", 7, True),
        ("7", 8, False),
    ],
)
def test_labels_of_numbers_are_read_as_written(label: str | None, value: object, holds: bool) -> None:
    assert covers(label, value, Flat(), ordered=True) is holds


@pytest.mark.parametrize(
    ("label", "value", "holds"),
    [
        ("Rome", "Rome", True),
        ("Rome", "Oslo", False),
        ("{Rome, Oslo}", "Oslo", True),
        ('{"a, b", c}', "a, b", True),
        ('{"a, b", c}', "a", False),
        ('"*"', "*", True),
        ('"*"', "x", False),
        ("12***", "12345", True),
        ("12***", "13345", False),
        ("Rome", None, False),
    ],
)
def test_labels_of_names_are_read_as_written(label: str, value: object, holds: bool) -> None:
    assert covers(label, value, Automatic(), ordered=False) is holds


def test_matching_finds_a_way_where_the_first_choice_is_wrong() -> None:
    fits = {("p", 1), ("p", 2), ("q", 1)}
    assert unmatched(["p", "q"], [1, 2], lambda a, b: (a, b) in fits) == []
    assert unmatched(["p", "q", "r"], [1, 2], lambda a, b: (a, b) in fits) == ["r"]


def test_a_model_may_need_a_column() -> None:
    @dataclass(frozen=True)
    class Named(Even):
        column: str

    assert Named("s0").column == "s0"


# --- numbers in place of labels ---


@dataclass(frozen=True)
class Careless(ic.Mondrian):
    """Mondrian that heeds no model."""

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **given: Any) -> Recoding:
        return super().search(tally, schema, (), **given)


def test_a_release_that_breaks_a_model_where_it_shows_numbers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def believes_everything(self: Generalized, require: Sequence[Model], *_: Any) -> list[Guarantee]:
        return [Guarantee(model, "verified", 1.0) for model in require]

    check_shows(ic.Mondrian(), examples=3)
    monkeypatch.setattr(Generalized, "verify", believes_everything)
    with pytest.raises(AssertionError, match="groups of what is shown break"):
        check_shows(Careless(), examples=10, shrink=False)


@pytest.mark.parametrize("sink", [CsvSink, ParquetSink])
def test_numbers_that_a_file_loses_are_noticed(monkeypatch: pytest.MonkeyPatch, sink: type[Sink]) -> None:
    written = sink.write

    def rounded(self: Sink, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        written(self, (batch.with_columns(cs.float().round()) for batch in batches), path, separator=separator)

    monkeypatch.setattr(sink, "write", rounded)
    # A number that is lost may make another label, or one that is none: then the release cannot be opened.
    with pytest.raises((AssertionError, UnreadableLabel), match=rf"read from {sink.name}|stands for no value"):
        check_shows(ic.Mondrian(), examples=10, shrink=False)


def test_rows_that_show_other_numbers_than_were_judged_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ic.Release.to_polars

    def jittered(self: ic.Release) -> pl.DataFrame:
        rows = made(self)
        floats = [name for name, dtype in rows.schema.items() if dtype.is_float() and name in self.schema.written_quasi]
        return rows.with_columns((pl.col(name) + pl.int_range(pl.len())) for name in floats)

    monkeypatch.setattr(ic.Release, "to_polars", jittered)
    with pytest.raises(AssertionError, match="groups"):
        check_shows(ic.Mondrian(), examples=10, shrink=False)
