"""What every attack promises, one function each: returns if the promise is kept, raises `AssertionError` if not.

Each takes the attack and a table, and tries the attack on releases of it that are made here: the table as it is, in one
group, half withheld, and sliced; with everything that an adversary may bring along, and with the release alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import polars as pl

from incrowd.core.attack import Attack
from incrowd.core.form import Form
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.risk import Risk, Threat
from incrowd.core.tally import Population, Tally
from incrowd.core.target import Target
from incrowd.forms.sliced import ShowSlices
from incrowd.hierarchies.values import as_text
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.testing.case import Case
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.keeping import forget, kept
from incrowd.testing.measures import all_together, counted, half_withheld, nothing_hidden

Promise = Callable[[Attack, Case], None]

_SEED = 7
_REPEATED = 60
"""How often each row occurs where nobody is to stand out."""

_KEPT = 32
"""Cases whose releases are made once: most promises look at the same, and so may other attacks."""

_LONG = 4
"""Shorter values may be in a sentence by accident."""


def is_a_value(attack: Attack) -> None:
    """An attack has a name and a threat, so that any report can place it; and is a frozen dataclass."""
    expect(attack.name, "an attack without a name", type(attack).__name__)
    expect(attack.threat in get_args(Threat), f"the threat is '{attack.threat}'", attack.name)
    expect(is_frozen_dataclass(attack), "an attack that is no frozen dataclass", type(attack).__name__)


def stays_within_bounds(attack: Attack, case: Case) -> None:
    """Rates are between 0 and 1, the interval holds the value, and other numbers are numbers."""
    for risk in outcomes(attack, case):
        rates = risk.low, risk.value, risk.high, risk.baseline
        expect(all(0 <= rate <= 1 for rate in rates), f"not all between 0 and 1: {rates}", attack, case)
        expect(risk.low <= risk.value <= risk.high, f"{risk.value} is not in {rates[0]} to {rates[2]}", attack, case)
        worst = 0.0 if risk.worst is None else risk.worst
        expect(0 <= worst <= 1 + 1e-9, f"the worst is {worst}", attack, case)
        expect(all(map(math.isfinite, risk.details.values())), f"not numbers: {risk.details}", attack, case)
        expect(risk.people >= 0 and risk.says, "no people, or nothing said of them", attack, case)
        expect(risk.attack == attack.name and risk.threat == attack.threat, "somebody else's outcome", attack, case)


def is_reproducible(attack: Attack, case: Case) -> None:
    """One seed, one outcome; and neither the tally nor the release is changed."""
    tally = _tally(case)
    codes, counts = tally.codes.copy(), tally.counts.copy()
    for target in targets(case):
        expect(_run(attack, target) == _run(attack, target), "one seed, two outcomes", attack, case)
    unchanged = np.array_equal(tally.codes, codes) and np.array_equal(tally.counts, counts)
    if not unchanged:
        forget()
    expect(unchanged, "the tally was changed", attack, case)


def quotes_no_value(attack: Attack, case: Case) -> None:
    """Nothing that is said holds a text, date or time of the table's rows."""
    names = [*case.quasi, *case.sensitive]
    values: set[str] = set()
    for name in names:
        if case.frame[name].dtype == pl.String or case.frame[name].dtype.is_temporal():
            values |= {text.strip() for text in as_text(case.frame[name].drop_nulls().unique()).to_list()}
    for risk in outcomes(attack, case):
        said = " ".join([risk.says, risk.against, *risk.details])
        quoted = [value for value in values if len(value) >= _LONG and value in said and value not in names]
        expect(not quoted, f"{quoted} is quoted", said, attack, case)


def ignores_row_order(attack: Attack, case: Case) -> None:
    """The same rows in another order have the same outcome."""
    _expect_same(attack, case, _turned(case), "rows in another order")


def ignores_column_order(attack: Attack, case: Case) -> None:
    """The same columns in another order have the same outcome."""
    _expect_same(attack, case, _reordered(case), "columns in another order")


def gains_nothing_from_nothing(attack: Attack, case: Case) -> None:
    """Where everybody is in one group, and every row occurs many times, the attack does not get through."""
    for target in _of_many(case):
        for risk in _run(attack, target):
            problem = f"{risk.value} (at least {risk.low}) against {risk.baseline}"
            expect(not risk.got_through, f"a release that shows nothing lets it through: {problem}", attack, case)


PROMISES: Sequence[Promise] = (
    is_reproducible,  # first: what an attack changes must be seen before others have run on the same
    stays_within_bounds,
    quotes_no_value,
    ignores_row_order,
    ignores_column_order,
    gains_nothing_from_nothing,
)


def outcomes(attack: Attack, case: Case) -> tuple[Risk, ...]:
    """Return what comes out on every release of a case: found once, as one seed is one outcome, which comes first."""
    found = _found(case)
    if id(attack) not in found:
        found[id(attack)] = attack, tuple(risk for target in targets(case) for risk in _run(attack, target))
    return found[id(attack)][1]


@kept(_KEPT)
def _found(case: Case) -> dict[int, tuple[Attack, tuple[Risk, ...]]]:
    """Return a place for what comes out of a case, by attack; attacks need not be hashable."""
    return {}


@kept(_KEPT)
def targets(case: Case) -> tuple[Target, ...]:
    """Return all releases of a case, each with all that an adversary may bring along and with nothing."""
    tally = _tally(case)
    published = nothing_hidden(case, tally)
    forms = (published, all_together(case, tally), half_withheld(case, tally), sliced(case, tally))
    return tuple(target for form in forms for target in (_informed(form, tally, published), Target(form)))


@kept(_KEPT)
def _of_many(case: Case) -> tuple[Target, Target]:
    """Return a release that shows nothing of a case whose every row occurs many times, with help and alone."""
    many = case.with_rows(pl.concat([case.frame] * _REPEATED))
    tally = _tally(many)
    form = all_together(many, tally)
    return _informed(form, tally, form), Target(form)


@kept(_KEPT)
def _turned(case: Case) -> Case:
    return case.with_rows(case.frame.reverse())


@kept(_KEPT)
def _reordered(case: Case) -> Case:
    return case.reordered()


def sliced(case: Case, tally: Tally) -> Form:
    """Publish each attribute in a column of its own, in buckets of every third tuple; withhold the first two."""
    columns = tuple(sorted(case.quasi))
    tuples = np.arange(len(tally))
    groups = np.where(tuples < 2, WITHHELD, tuples % 3)
    _, numbered = np.unique(groups[groups != WITHHELD], return_inverse=True)
    groups[groups != WITHHELD] = numbered
    lows = np.zeros((int(groups.max(initial=WITHHELD)) + 1, len(columns)), dtype=np.int32)
    highs = lows + np.array([tally.trees[name].size for name in columns], dtype=np.int32)
    recoding = Recoding(tuples, tally.counts, groups, columns, lows, highs)
    return ShowSlices(tuple((name,) for name in sorted((*case.quasi, *case.sensitive)))).show(
        tally, counted(case)[0], recoding, rows_in=tally.rows, rng=np.random.default_rng(_SEED)
    )


def _informed(form: Form, tally: Tally, earlier: Form) -> Target:
    people = tally.project(sorted(form.schema.quasi))[0]
    return Target(
        form,
        tally,
        external=Population(people.columns, people.codes, people.counts),
        earlier=(earlier,),
        require=(KAnonymity(2), DistinctLDiversity(2)),
    )


def _run(attack: Attack, target: Target) -> list[Risk]:
    """Run an attack wherever it says that it can be: on every sensitive column, if it is after one."""
    found = []
    for attempt in _on_columns(attack, target.view.sensitive):
        lacking = attempt.lacks(target)
        expect(lacking is None or (isinstance(lacking, str) and lacking), f"lacks {lacking!r}", attack)
        if lacking is None:
            found.append(attempt.run(target, rng=np.random.default_rng(_SEED)))
    return found


def _on_columns(attack: Attack, sensitive: Sequence[str]) -> list[Attack]:
    made: Any = attack
    if not attack.per_column or made.column is not None:  # it is after no column, or after one that it names
        return [attack]
    return [attack, *(replace(made, column=name) for name in sorted(sensitive))]


def _expect_same(attack: Attack, case: Case, other: Case, change: str) -> None:
    for one, two in zip(outcomes(attack, case), outcomes(attack, other), strict=True):
        same = one.people == two.people and all(
            math.isclose(here, there, abs_tol=1e-9) for here, there in zip(_numbers(one), _numbers(two), strict=True)
        )
        expect(same, f"{change}: {_numbers(one)} or {_numbers(two)}", attack, case)


def _numbers(risk: Risk) -> list[float]:
    return [risk.value, risk.low, risk.high, risk.baseline, risk.worst or 0.0, *risk.details.values()]


def _tally(case: Case) -> Tally:
    return counted(case)[1]
