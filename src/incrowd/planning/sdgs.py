"""Plan a release by sampling and suppression: what its parameters promise, and what a table would keep under them.

Parameters alone (`dp/sdgs_parameters.py`) need no table. Which levels to choose does: for every rate, take the smallest
k that gives (ε, δ), and for every level vector compute how many rows would be published on average
(`expected_rows.py`). That looks at the table, and so its answer is not private. Cost: level vectors that may be worth
it × rates, see `level_front.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import polars as pl

from incrowd.common.arrays import Floats, Ints
from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.randomness import randomness
from incrowd.common.surface import as_role
from incrowd.core.tally import Tally
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.dp.sampled_suppression import as_epsilon, as_rate, delta_of, least_epsilon
from incrowd.dp.sdgs_parameters import Plan, smallest_k
from incrowd.errors import RecipeError
from incrowd.hierarchies.categories import Categories
from incrowd.methods.schemes import Schemes
from incrowd.methods.sdgs import undeclared
from incrowd.planning.level_front import look_at_levels
from incrowd.publishing.publish import refuse_repeated
from incrowd.publishing.table import Table

RATES = ("0.01", "0.02", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
LOOKED = (
    "This looked at the table, so it is not private: what is chosen by it tells something about its people, which "
    'ε and δ do not cover.  Hint: plan on a similar table, or have the levels chosen privately (scheme = "chosen").'
)
_AROUND = ("1/4", "1/2", "3/4", "1", "3/2", "2", "4")


def curve_around(plan: Plan) -> list[dict[str, float]]:
    """Return ε and δ around those of a plan, for its k and rate: all of them hold at once.

    >>> from incrowd.dp.sdgs_parameters import plan
    >>> [f"{point['epsilon']:g}: {point['delta']:.2g}" for point in curve_around(plan(epsilon=1, k=20, rate="0.2"))]
    ['0.25: 5.1e-05', '0.5: 3.1e-07', '0.75: 6.4e-09', '1: 2.8e-10', '1.5: 3.7e-12', '2: 2.7e-13', '4: 1e-14']
    """
    least = least_epsilon(plan.rate)
    asked = {float(Fraction(str(plan.epsilon)) * Fraction(times)) for times in _AROUND} | {plan.epsilon}
    return [
        {
            "epsilon": epsilon,
            "delta": exact_delta(plan.k, plan.rate, epsilon),
            "delta by theorem 1": delta_of(plan.k, plan.rate, epsilon),
        }
        for epsilon in sorted(asked)
        if epsilon >= least
    ]


def smallest_ks(epsilon: Exact, delta: Exact, rates: Sequence[Exact]) -> dict[Fraction, int]:
    """Return the smallest k for each sampling rate that ε allows."""
    exact = sorted({as_rate(rate) for rate in rates})
    allowed = [rate for rate in exact if Fraction(str(least_epsilon(rate))) <= as_epsilon(epsilon)]
    if not exact:
        raise RecipeError("plan: there is no sampling rate to compare.  Hint: name at least one.")
    if not allowed:
        raise RecipeError(
            f"plan: at a sampling rate of {float(exact[0]):g}, ε is at least −ln(1−β) = {least_epsilon(exact[0]):.6g}, "
            f"not {float(as_epsilon(epsilon)):g}.  Hint: sample less, or accept a larger ε."
        )
    return {rate: smallest_k(epsilon=epsilon, delta=delta, rate=rate) for rate in allowed}


def plan_release(
    table: Table,
    *,
    epsilon: Exact,
    delta: Exact,
    rates: Sequence[Exact] = RATES,
    k: int | None = None,
    levels: Mapping[str, int] | None = None,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, int]:
    """Return which k, rates and levels keep most of a table at (ε, δ), and how many rows the table has.

    Each line is a choice that no other one beats: `published` is the share of the table's rows that would be published
    on average, `precision` that of their labels (1: as they are, 0: all `*`), `kept` the product of the two, and `best`
    marks where that is largest. Columns named in `levels` stay at their level; with a `k`, rates that need a larger one
    are left out. Where people have several rows, one row of each, chosen at random, is planned with (`most_rows=1`).

    Hierarchies may be made from the table, as those of a profile are: planning looks at the table anyway. What must be
    changed before such a release is made is in `to_declare`.
    """
    ks = smallest_ks(epsilon, delta, rates)
    if k is not None:
        require_whole("plan", "k", k, at_least=1)
        ks = {rate: k for rate, smallest in ks.items() if smallest <= k}
        if not ks:
            raise RecipeError(f"plan: k = {k} is too small for that ε and δ at any of the rates.  Hint: sample less.")
    progress("reading", 0.0)
    tally = _one_row_each(table)
    progress("reading", 1.0)
    schemes = Schemes(tally, table.schema, levels or {})
    choices = [ExpectedRows(smallest, rate) for rate, smallest in ks.items()]
    looked = look_at_levels(schemes, choices, progress)
    return _front(schemes, choices, looked.places, looked.published / max(tally.rows, 1)), tally.rows


def _one_row_each(table: Table) -> Tally:
    """Count the table, one row of each person where people are named; refuse it where that is not known."""
    schema = table.schema
    if schema.person:
        return table.engine.count_kept(schema, 1, randomness(0), table.population).tally
    if not schema.each_row_a_person:
        refuse_repeated(table.engine.repeated(schema.naming))
    return table.engine.count(schema, table.population).tally


def to_declare(table: Table) -> list[str]:
    """Return what must be changed before a table can be published so: columns beside the counts, and hierarchies."""
    schema = table.schema
    found = [
        f"Before you publish, drop '{name}', which this method cannot publish: {as_role('drop', name)}."
        for name in dict.fromkeys((*schema.found_again, *schema.weights))
    ]
    tally = table.engine.count(schema, table.population).tally
    wrong = undeclared(tally, schema)
    listed = [name for name in wrong if isinstance(schema.quasi[name], Categories)]
    if listed:
        found.append(
            f"Before you publish, declare the hierarchy of {', '.join(repr(name) for name in listed)}, which names "
            'values of this table: list every value that anybody may have, and remove the line taken_from = "data".'
        )
    found += [
        f"Before you publish, change the hierarchy of '{name}': it {why}."
        for name, why in wrong.items()
        if name not in listed
    ]
    return found


def _front(schemes: Schemes, choices: Sequence[ExpectedRows], places: Ints, published: Floats) -> pl.DataFrame:
    """Return the level vectors of which none is more precise and publishes as much, each at its best rate."""
    at_rate = published.argmax(axis=1)
    most = published.max(axis=1)
    parts = schemes.precision_parts()[places]
    order = np.lexsort((-most, -parts))
    # Going from the most precise down, a vector is worth telling where it publishes more than all before it.
    best_so_far = np.maximum.accumulate(np.concatenate(([0.0], most[order])))
    worth = order[most[order] > best_so_far[:-1]]
    precision = parts[worth] / 1000
    kept = most[worth] * precision
    levels = pl.Struct(dict.fromkeys(schemes.columns, pl.Int64))
    lines = {
        "k": [choices[at].k for at in at_rate[worth]],
        "rate": [float(choices[at].rate) for at in at_rate[worth]],
        "levels": pl.Series([schemes.levels(int(place)) for place in places[worth]], dtype=levels),
        "published": most[worth],
        "precision": precision,
        "kept": kept,
        "best": np.arange(len(worth)) == (int(kept.argmax()) if len(worth) else -1),
    }
    return pl.DataFrame(lines)
