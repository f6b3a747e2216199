"""What the conformance suite makes once and looks at several times: nothing that is wrong is missed for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.labelled import Labelled
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.risk import Risk
from incrowd.core.tally import Tally
from incrowd.core.target import Target
from incrowd.metrics.discernibility import Discernibility
from incrowd.publishing.table import Table
from incrowd.testing import Attempt, Case, measures, promises, showings, trials

WITH_ZERO_AND_NULL = pl.DataFrame({"a": [0.0, None, 5.0, 6.0, 7.0]})


def judge(attempt: Attempt) -> None:
    for promise in promises.PROMISES:
        promise(attempt)


def test_a_table_that_is_published_the_same_however_it_is_told_passes() -> None:
    judge(Attempt.of(Case(WITH_ZERO_AND_NULL, quasi=("a",)), ic.Mondrian(), [ic.KAnonymity(2)]))


@dataclass(frozen=True)
class OnceOtherwise(ic.Mondrian):
    """Mondrian whose second search withholds all groups but one."""

    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **given: Any) -> Recoding:
        found = super().search(tally, schema, require, **given)
        if next(self.numbers) != 2:
            return found
        return replace(found, groups=np.where(found.groups > 0, WITHHELD, found.groups))


@pytest.mark.parametrize("frame", [WITH_ZERO_AND_NULL, pl.DataFrame({"a": [1.5, 2.0, 5.0, 6.0]})])
def test_what_only_the_release_shows_that_promises_share_is_found(frame: pl.DataFrame) -> None:
    """A promise that then looks for itself sees nothing; and yet there was another release."""
    tried = Attempt.of(Case(frame, quasi=("a",)), OnceOtherwise(), [ic.KAnonymity(2)])
    with pytest.raises(AssertionError, match="gives another release"):
        judge(tried)


class ByRowOrder(Case):
    """A case that loses a row where another one is first."""

    def table(self) -> Table:
        return Case.table(self if self.frame["a"][0] == 0 else self.with_rows(self.frame.head(-1)))


class BySpelling(Case):
    """A case that loses a row where there is NaN."""

    def table(self) -> Table:
        return Case.table(self.with_rows(self.frame.head(-1)) if self.frame["a"].is_nan().any() else self)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [(ByRowOrder, "another order of rows"), (BySpelling, "NaN for null")],
    ids=["order", "spelling"],
)
def test_what_makes_another_release_is_told(kind: type[Case], problem: str) -> None:
    tried = Attempt.of(kind(WITH_ZERO_AND_NULL, quasi=("a",)), ic.Mondrian(), [ic.KAnonymity(2)])
    with pytest.raises(AssertionError, match=f"{problem}.* gives another release"):
        judge(tried)


@pytest.mark.parametrize(
    "promise", [showings.ignores_row_order, showings.ignores_column_order, showings.is_reproducible]
)
def test_a_form_that_shows_a_row_less_breaks_its_promise(promise: showings.Promise) -> None:
    shown = showings.Shown.of(showings.SIMPLE, ic.ShowGeneralized(), ic.Mondrian(), [ic.KAnonymity(2)])
    promise(shown)
    with pytest.raises(AssertionError):
        promise(replace(shown, rows=shown.rows.head(11)))


class ScribblingMetric(Discernibility):
    """Writes into the tally that it is given."""

    def measure(self, before: Tally, release: Labelled) -> float:
        before.counts[:] += 1
        return 0.5


@dataclass(frozen=True)
class ScribblingAttack(ic.Homogeneity):
    """Writes into what an adversary knows."""

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        if target.truth is not None:
            target.truth.counts[:] += 1
        return super().run(target, rng=rng)


@pytest.mark.parametrize(
    "check",
    [
        lambda: measures.changes_nothing(ScribblingMetric(), showings.SIMPLE),
        lambda: trials.is_reproducible(ScribblingAttack(), showings.SIMPLE),
    ],
    ids=["metric", "attack"],
)
def test_what_one_part_has_changed_is_not_shown_to_the_next(check: Callable[[], None]) -> None:
    """Metrics and attacks are tried on the same tables, which are counted and published once."""
    assert {target.truth.rows for target in trials.targets(showings.SIMPLE) if target.truth is not None} == {12}
    with pytest.raises(AssertionError, match=r"the tally was changed|changed the tally"):
        check()
    assert measures.counted(showings.SIMPLE)[1].rows == showings.SIMPLE.frame.height
    assert {target.truth.rows for target in trials.targets(showings.SIMPLE) if target.truth is not None} == {12}


def test_cases_that_hold_the_same_are_one() -> None:
    case = Case(pl.DataFrame({"x": [1, 2], "y": [0.0, 1.0]}), quasi=("x", "y"))
    again = replace(case, frame=case.frame.clone())
    others = [
        replace(case, frame=case.frame.reverse()),
        replace(case, frame=case.frame.with_columns(pl.col("x").cast(pl.Int8))),
        replace(case, frame=case.frame.with_columns(y=-pl.col("y"))),
        replace(case, quasi=("x",), kept=("y",)),
        replace(case, quasi=("x",), sensitive=("y",)),
        replace(case, hierarchies={"x": ic.Flat()}),
        replace(case, changes={"y": (ic.Rounding(10),)}),
        case.reordered(),
    ]
    assert (again, hash(again)) == (case, hash(case))
    assert len({case, again, *others}) == 1 + len(others)
