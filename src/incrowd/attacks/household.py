"""One member gives away the others: an adversary who knows everybody of a household looks for any of them.

Whoever is found tells what all of them share, and that they are in the table. So a household is as safe as luck leaves
all of its members unfound: with chances p₁, p₂, … to be found, one of them is with 1 − (1 − p₁)(1 − p₂)… . The
baseline is the same adversary who looks for one person alone. Cost: that of the matches.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import ROUNDING
from incrowd.attacks.tightest_fit import chances_by_tightest_fit
from incrowd.common.arrays import Floats
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.households import Households
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target


@dataclass(frozen=True)
class HouseholdLinkage(Attack):
    """Look for every member of a person's household; one that is found gives away the others.

    It needs the table before, with the column that tells who lives together (`household=`).

    Reference: Hundepool et al. (2012), on risks within households.
    """

    name: ClassVar[str] = "household"
    plain_name: ClassVar[str] = "finding a family through one member"
    threat: ClassVar[Threat] = "linkability"

    def lacks(self, target: Target) -> str | None:
        """Households are needed, and rows that belong to people."""
        if target.form.private:
            return "noisy counts have no row that is anybody's"
        return None if target.households is not None else "who lives together is not known"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often somebody of a person's household is found."""
        people = target.households
        assert people is not None
        found = chances(target, people)
        number = int(people.household_of.max(initial=-1)) + 1
        unfound = np.bincount(people.household_of, weights=np.log1p(-np.minimum(found, 1 - 1e-15)), minlength=number)
        of_people = -np.expm1(unfound)[people.household_of]
        value, alone = (float(one.mean()) if len(one) else 0.0 for one in (of_people, found))
        members = len(people.household_of) / max(number, 1)
        return risk_of(
            self,
            value=value,
            baseline=alone,
            people=len(found),
            worst=float(of_people.max(initial=0.0)),
            exposed=float((of_people >= 1 - ROUNDING).sum()),
            against="the same adversary who looks for one person alone",
            says=f"Who knows a whole household finds one of its rows in {percent(value, 2)} of the cases, and one "
            f"person's in {percent(alone, 2)}; households have {members:.1f} members on average.",
            details={"one person alone": alone, "members": members},
        )


def chances(target: Target, people: Households) -> Floats:
    """Return how likely each person's row is the one that is picked, by the better of the rules of linkage."""
    any_row = _of_any_row(target, people)
    tight = _of_tightest_fit(target, people)
    return any_row if tight is None or tight.mean() <= any_row.mean() else tight


def _of_any_row(target: Target, people: Households) -> Floats:
    """All rows that fit are as likely."""
    view = target.view
    column = view.sensitive[0] if view.sensitive else None
    kind_of, first = group_tuples(people.tuples, [view.trees[name].size for name in view.columns])
    kinds = people.tuples[first]
    fitting = view.match(np.maximum(kinds, 0), column).total(view.crowds(column).sizes)
    fitting[(kinds < 0).any(axis=1)] = 0  # a value that the release does not know fits nothing
    each = np.divide(1.0, fitting, out=np.zeros_like(fitting), where=fitting > 0)[kind_of]
    # Of all who fit, as large a share has a row of their own as there are rows.
    everybody = target.truth.rows if target.truth is not None else len(each)
    matched = float((each > 0).mean()) * everybody if len(each) else 0.0
    return np.asarray(each * (min(1.0, view.rows / matched) if matched else 0.0))


def _of_tightest_fit(target: Target, people: Households) -> Floats | None:
    """The row is among those whose labels fit most tightly; people who look alike have one chance."""
    tight = chances_by_tightest_fit(target)
    if tight is None or target.truth is None:
        return None
    truth, columns = target.truth, target.view.columns
    known = np.concatenate([truth.codes_of(columns), np.maximum(people.tuples, 0)])
    kind_of, first = group_tuples(known, [target.view.trees[name].size for name in columns])
    there = kind_of[: len(truth)]
    found = np.bincount(there, weights=truth.counts * tight[0], minlength=len(first))
    number = np.bincount(there, weights=truth.counts, minlength=len(first))
    means = np.divide(found, number, out=np.zeros(len(first)), where=number > 0)[kind_of[len(truth) :]]
    return np.where((people.tuples < 0).any(axis=1), 0.0, means)
