"""A table that answers questions under differential privacy, until its budget is spent: counts, sums, means, quantiles.

One row more or less changes a count by at most one, so each answer is the count with discrete Laplace noise of scale
1/ε, drawn exactly. It changes a sum of numbers between two bounds by at most the larger one (`dp/fixed_point.py`), and
one count of each size of intervals, from which quantiles follow (`dp/noisy_ranks.py`). What answers cost adds up,
whatever is asked next (Dwork, McSherry, Nissim & Smith 2006). On one sample of the rows, all answers together cost less
(Li, Qardaji & Su 2012, corollary 4). Where somebody has several rows, at most `most_rows` of each person are kept, and
noise has the scale `most_rows`/ε (`dp/group_privacy.py`). Which questions can be asked depends on the schema alone.
Cost: one pass over the distinct tuples per question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Floats, Ints, all_places
from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.randomness import randomness, sample_counts
from incrowd.core.engine import empty_tally
from incrowd.core.query import Query, matching_codes
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.noisy_tree import require_room
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts
from incrowd.dp.fixed_point import FixedPoint
from incrowd.dp.group_privacy import share_of_row
from incrowd.dp.noisy_ranks import MOST_VALUES, NoisyRanks
from incrowd.errors import BudgetSpent, EmptyTable, QueryError, RecipeError, SchemaError, did_you_mean
from incrowd.hierarchies.public import Undeclared, public_codes, public_tree
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.ledger import Ledger
from incrowd.ledger.ledger import described
from incrowd.methods.private import require_most_rows, require_undeclared, tolerant
from incrowd.models.differential_privacy import per_person
from incrowd.publishing.answers import Answer, Found, require_confidence, sure_count, sure_mean, sure_sum
from incrowd.publishing.noisy_counts import SEEDED
from incrowd.publishing.people_promises import refuse_unbounded
from incrowd.publishing.publish import refuse_repeated
from incrowd.publishing.table import Table


class PrivateTable:
    """Noisy answers to questions about rows, and a budget that runs out.

    Questions are those of a release: `{"age": (30, 39), "sex": "F"}`. They are understood by the values that the schema
    declares, categories or intervals with bounds; numbers beyond the bounds count as the last one, and a name that is
    not among them is an error, whatever the table holds. With a `sample` below 1, answers are about one sample, drawn
    now and kept. Names that were not declared count as missing, and a table may have no rows, so that no refusal tells
    who is there; `undeclared="refuse"` refuses both, to find a wrong hierarchy. Where the schema tells whose
    a row is, ε is what a person pays, and `most_rows` of each person are kept, chosen at random, now; no other
    rows are counted. With a `ledger`, answers are also paid from its cap, which outlives this object and is shared by
    every process; without a `budget` of its own, all that is left of that cap may be spent.

    `count` returns a number, `estimate` the same with its error and interval. `sum`, `mean` and `quantile` are about
    the numbers of a column, and `count_by` about groups. Every price is paid before noise is drawn.

    >>> import incrowd as ic
    >>> sexes = ic.Categories.from_tree(["Female", "Male"])
    >>> table = ic.read(ic.datasets.census(1000), quasi=["sex"], others="drop", hierarchies={"sex": sexes})
    >>> private = PrivateTable(table, budget=1)
    >>> private.count({"sex": "Female"}, epsilon=0.9) > 400
    True
    >>> print(private.remaining)
    ε = 0.1
    """

    def __init__(
        self,
        table: Table,
        budget: Budget | Exact | None = None,
        *,
        sample: float | Fraction = 1,
        seed: int | None = None,
        undeclared: Undeclared = "missing",
        most_rows: int | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        if table.schema.changes:
            raise SchemaError(
                f"column '{next(iter(table.schema.changes))}' is to be changed, and PrivateTable counts values as they "
                "are.  Hint: leave out changes, or publish the table."
            )
        table = table.as_stated()
        require_undeclared("PrivateTable", undeclared)
        require_most_rows("PrivateTable", most_rows)
        refuse_unbounded("PrivateTable", table.schema, most_rows, nobody_refused=undeclared == "missing")
        if seed is not None:
            require_whole("PrivateTable", "seed", seed, at_least=0)
        self._accountant = Accountant(limit=_limit(budget, ledger))
        self._rate = as_rate(sample)
        self._rng = randomness(seed)
        self._note = "" if seed is None else SEEDED
        self._hierarchies = {**table.schema.quasi, **table.schema.sensitive}
        self._most_rows = most_rows
        self._tally = count_people(table, undeclared, most_rows, self._rng)
        self._counts: Counts = self._tally.counts
        self._declared: dict[str, tuple[Tree, Codes]] = {}
        self._answers: list[Answer] = []
        self._ledger = ledger
        self._recorded = Budget.nothing()
        self._told = {
            "what": "question",
            "columns": described(table.schema),
            "sample": str(self._rate),
            "seeded": seed is not None,
        }
        self._open = ExitStack()  # the one choice of rows that every question is about; it is never closed
        self._open.enter_context(self._accountant.by_person(most_rows))
        if self._rate < 1:
            self._counts = sample_counts(self._rng, self._rate, self._counts)
            self._open.enter_context(self._accountant.sampled(self._rate))

    def count(self, query: Query, *, epsilon: Exact) -> float:
        """Return about how many rows satisfy every condition of a query, for a price of ε.

        The answer is a whole number, or one over the sampling rate. On a sample, ε is what the sample's rows pay.
        """
        return self.estimate(query, epsilon=epsilon).value

    def estimate(self, query: Query, *, epsilon: Exact, confidence: float = 0.95) -> Answer:
        """Return what `count` returns with its standard error and an interval."""
        require_confidence(confidence)
        matching = self._matching(query)  # refused before anything is paid
        price, of_row = self._price(epsilon)
        scale = _scale(1, price, of_row)
        self._pay("count", query, price, of_row)
        noisy = self._noisy(int(self._counts[matching].sum()), 1, of_row)
        return self._answered("count", query, price, confidence, sure_count(noisy, scale, self._rate, confidence))

    def sum(
        self,
        column: str,
        query: Query | None = None,
        *,
        epsilon: Exact,
        bounds: Sequence[float] | None = None,
        confidence: float = 0.95,
    ) -> Answer:
        """Return about what the numbers of a column add up to, over the rows that satisfy a query.

        Parameters
        ----------
        column : a column of numbers.
        query : conditions, as `count` takes them (default: none, all rows).
        epsilon : the price.
        bounds : two numbers that others are clipped to (default: the bounds of the column's hierarchy). The larger
            they are, the more noise.
        confidence : the probability with which the interval holds the true sum of the clipped numbers (default: 0.95).

        Rows without a number add nothing.
        """
        require_confidence(confidence)
        query = query or {}
        numbers, rows, grid = self._numbers(column, query, bounds, centered=False)
        price, of_row = self._price(epsilon)
        scale = _scale(grid.sensitivity, price, of_row)
        what = f"sum of {column}"
        self._pay(what, query, price, of_row)
        noisy = self._noisy(grid.total(numbers, rows), grid.sensitivity, of_row)
        return self._answered(what, query, price, confidence, sure_sum(noisy, scale, grid, confidence))

    def mean(
        self,
        column: str,
        query: Query | None = None,
        *,
        epsilon: Exact,
        bounds: Sequence[float] | None = None,
        confidence: float = 0.95,
    ) -> Answer:
        """Return about the mean of a column's numbers, over the rows that satisfy a query and have one.

        Parameters are those of `sum`. Half of the price goes into a sum, half into a count.
        """
        require_confidence(confidence)
        query = query or {}
        numbers, rows, grid = self._numbers(column, query, bounds, centered=True)
        price, of_row = self._price(epsilon)
        half = of_row / 2
        scales = _scale(grid.sensitivity, price, half), _scale(1, price, half)
        what = f"mean of {column}"
        self._pay(what, query, price, of_row)
        total = self._noisy(grid.total(numbers, rows), grid.sensitivity, half)
        count = self._noisy(int(rows.sum()), 1, half)
        found = sure_mean(total, scales[0], count, scales[1], grid, confidence)
        return self._answered(what, query, price, confidence, found)

    def quantile(
        self, column: str, share: float, query: Query | None = None, *, epsilon: Exact, confidence: float = 0.95
    ) -> Answer:
        """Return about the number that a share of the rows is at or below: 0.5 asks for the median."""
        return self.quantiles(column, (share,), query, epsilon=epsilon, confidence=confidence)[0]

    def quantiles(
        self,
        column: str,
        shares: Sequence[float],
        query: Query | None = None,
        *,
        epsilon: Exact,
        confidence: float = 0.95,
    ) -> tuple[Answer, ...]:
        """Return several quantiles of a column's numbers for one price.

        Parameters
        ----------
        column : a column of numbers; quantiles are among the values that its hierarchy declares.
        shares : the share of rows at or below each of them, above 0 and below 1.
        query : conditions, as `count` takes them (default: none, all rows).
        epsilon : the price of all of them together.
        confidence : the probability with which each interval holds its true quantile (default: 0.95).

        Rows without a number are left out.
        """
        require_confidence(confidence)
        query = query or {}
        shares = _shares(shares)
        values, rows = self._grid(column, query)
        price, of_row = self._price(epsilon)
        _scale(1, price, of_row)
        self._pay(f"quantiles of {column}", query, price, of_row)
        ranks = NoisyRanks.measure(rows, epsilon=of_row.epsilon, rng=self._rng)
        made: list[Answer] = []
        for share in shares:
            place, low, high = ranks.quantile(share, confidence)
            reach = NormalDist().inv_cdf((1 + confidence) / 2)
            error = float(values[high] - values[low]) / (2 * reach)
            found = Found(float(values[place]), error, float(values[low]), float(values[high]))
            paid = price if not made else Budget.nothing()
            made.append(self._answered(f"{share:g} quantile of {column}", query, paid, confidence, found))
        return tuple(made)

    def count_by(
        self,
        columns: str | Sequence[str],
        query: Query | None = None,
        *,
        epsilon: Exact,
        levels: Mapping[str, int] | None = None,
        confidence: float = 0.95,
    ) -> pl.DataFrame:
        """Return about how many rows there are of each combination of declared values, also where there are none.

        Parameters
        ----------
        columns : the columns that rows are grouped by.
        query : conditions, as `count` takes them (default: none, all rows).
        epsilon : the price of all groups together: a row is in one of them.
        levels : the level of a column's hierarchy that is shown (default: 0, its values).
        confidence : the probability with which each interval holds its true count (default: 0.95).

        The frame has a line for each group, with `count`, `error`, `low` and `high`; a missing value is a group.
        """
        require_confidence(confidence)
        names, query = (columns,) if isinstance(columns, str) else tuple(columns), query or {}
        matching = self._matching(query)
        groups, group_of = self._groups(names, levels or {})
        price, of_row = self._price(epsilon)
        scale = _scale(1, price, of_row)
        what = f"counts by {', '.join(names)}"
        self._pay(what, query, price, of_row)
        true = np.bincount(group_of[matching], weights=self._counts[matching], minlength=groups.height)
        noisy = noisy_counts(self._rng, true.astype(np.int64), epsilon=of_row.epsilon)
        found = [sure_count(int(one), scale, self._rate, confidence) for one in noisy]
        free = [_free(name, names) for name in ("count", "error", "low", "high")]
        numbers = ([one.value for one in found], [one.error for one in found])
        ends = ([one.low for one in found], [one.high for one in found])
        cells = groups.with_columns(
            pl.Series(name, column, dtype=pl.Float64) for name, column in zip(free, (*numbers, *ends), strict=True)
        )
        total = math.fsum(numbers[0])
        error = math.sqrt(math.fsum(one**2 for one in numbers[1]))
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
        whole = Found(total, error, max(total - reach, 0.0), max(total + reach, 0.0))
        self._answered(what, query, price, confidence, whole, cells)
        return cells

    def _answered(
        self,
        what: str,
        query: Query,
        price: Budget,
        confidence: float,
        found: Found,
        cells: pl.DataFrame | None = None,
    ) -> Answer:
        asked = MappingProxyType(dict(query))
        made = Answer(
            asked, found.value, found.error, price, self._note, what, found.low, found.high, confidence, cells
        )
        self._answers.append(made)
        return made

    def _price(self, epsilon: Exact) -> tuple[Budget, Budget]:
        """Return what a person pays, and what one row of theirs may cost."""
        price = Budget(epsilon)
        return price, share_of_row(price, self._most_rows or 1)

    def _noisy(self, true: int, sensitivity: int, of_row: Budget) -> int:
        counts = np.array([true], dtype=np.int64)
        return int(noisy_counts(self._rng, counts, epsilon=of_row.epsilon, sensitivity=Fraction(sensitivity))[0])

    def _numbers(
        self, column: str, query: Query, bounds: Sequence[float] | None, *, centered: bool
    ) -> tuple[Floats, Counts, FixedPoint]:
        """Return the numbers of the tuples that match and have one, their rows, and the grid that they are added on."""
        public = self._public_numbers(column)
        if bounds is None:
            declared = public.values.slice(1)
            bounds = (declared[0], declared[-1])
        grid = FixedPoint.between(bounds, centered=centered)
        codes = self._tally.column(column)
        rows = self._matching(query) & (codes != MISSING)
        values = self._tally.trees[column].values.cast(pl.Float64).fill_null(0.0).to_numpy()
        return values[codes[rows]], self._counts[rows], grid

    def _grid(self, column: str, query: Query) -> tuple[Floats, Counts]:
        """Return the declared values of a column, and how many of the rows that match have each."""
        public = self._public_numbers(column)
        values = public.values.slice(1).cast(pl.Float64).to_numpy()
        codes = self._public(column)[1][self._tally.column(column)]
        rows = self._matching(query) & (codes != MISSING)
        counts = np.bincount(codes[rows] - 1, weights=self._counts[rows], minlength=len(values)).astype(np.int64)
        if len(values) <= MOST_VALUES:
            return values, counts
        starts = np.arange(MOST_VALUES) * len(values) // MOST_VALUES  # several neighbours are one: the last of them
        return values[np.append(starts[1:], len(values)) - 1], np.add.reduceat(counts, starts)

    def _public_numbers(self, column: str) -> Tree:
        public = self._public(self._asked_column(column))[0]
        if public.kind != "number":
            raise QueryError(
                f"column '{column}' holds no numbers.  Hint: declare it as intervals with lower and upper, or count it."
            )
        return public

    def _groups(self, names: Sequence[str], levels: Mapping[str, int]) -> tuple[pl.DataFrame, Ints]:
        """Return all combinations of declared values, and which of them each tuple is."""
        if not names or len(set(names)) < len(names):
            raise QueryError("rows are grouped by one or more columns, each of them once.")
        for name in levels:
            if name not in names:
                raise QueryError(f"levels names '{name}', which rows are not grouped by.")
        shown, node_of = [], []
        for name in names:
            public, codes = self._public(self._asked_column(name))
            level = levels.get(name, 0)
            if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= public.height:
                raise QueryError(f"column '{name}' has the levels 0 to {public.height}.")
            nodes, first = np.unique(public.nodes[level], return_index=True)
            named = public.values.gather(first) if level == 0 else public.names[level].gather(nodes)
            shown.append(named.alias(name))
            node_of.append(np.searchsorted(nodes, public.nodes[level])[codes][self._tally.column(name)])
        sizes = [len(column) for column in shown]
        require_room(math.prod(sizes))
        groups = pl.DataFrame([column.gather(place) for column, place in zip(shown, all_places(sizes), strict=True)])
        group_of = np.zeros(len(self._tally), dtype=np.int64)
        for own, size in zip(node_of, sizes, strict=True):
            group_of = group_of * size + own
        return groups, group_of

    def _asked_column(self, name: str) -> str:
        if name not in self._hierarchies:
            raise QueryError(
                f"'{name}' is not a quasi-identifier or sensitive column of the table."
                + did_you_mean(name, self._hierarchies)
            )
        return name

    def _matching(self, query: Query) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which tuples satisfy a query; what is refused, is refused whatever the table holds."""
        if not isinstance(query, Mapping):
            raise QueryError('a question is a condition for each of some columns, such as {"age": (30, 39)}.')
        rows = np.ones(len(self._tally), dtype=bool)
        for name, condition in query.items():
            public, codes = self._public(self._asked_column(name))
            rows &= matching_codes(name, public, condition, unknown_names="suggested")[codes][self._tally.column(name)]
        return rows

    def _public(self, name: str) -> tuple[Tree, Codes]:
        """Return the tree of a column's declared values, and which of them each of the table's own codes is."""
        if name not in self._declared:
            public = public_tree(name, self._hierarchies[name])
            self._declared[name] = public, public_codes(name, self._tally.trees[name], public)
        return self._declared[name]

    def _pay(self, what: str, query: Query, price: Budget, of_row: Budget) -> None:
        """Spend a price, here and in the ledger, before anything is drawn."""
        if self._rate < 1 and what != "count" and not what.startswith("counts "):
            raise QueryError(f"of a sample, only counts are told, and not the {what}.  Hint: leave out `sample`.")
        try:
            self._accountant.spend(f"{what} by {', '.join(query) or 'nothing'}", of_row)
        except BudgetSpent:
            on_sample = f" on a sample at rate {float(self._rate):g}" if self._rate < 1 else ""
            raise BudgetSpent(
                f"the question costs {price}{on_sample}, and {self.remaining} of {self._accountant.limit} is left.  "
                "Hint: `remaining` tells what is left, and `answers` what has been answered; ask with a smaller "
                "epsilon, or use the answers that are there."
            ) from None
        if self._ledger is not None:
            self._record(what, query)

    def _record(self, what: str, query: Query) -> None:
        """Take from the ledger what the last question added to the costs, before it is answered."""
        assert self._ledger is not None
        total = self._accountant.total()
        added = total.less(self._recorded)
        try:
            self._ledger.answer({**self._told, "asked": sorted(query), "answer": what}, added)
        finally:  # a question that the ledger refuses gets no answer, and the next one does not pay for it
            self._recorded = total

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers so far, in order."""
        return tuple(self._answers)

    @property
    def spent(self) -> Budget:
        """What all answers so far cost everybody in the table."""
        return self._accountant.total()

    @property
    def remaining(self) -> Budget:
        """What is left of the budget; of the ledger's cap, where there is one and it has less."""
        own = self._accountant.remaining
        shared = None if self._ledger is None else self._ledger.remaining
        both = [left for left in (own, shared) if left is not None]
        return Budget.computed(min(left.epsilon for left in both), min(left.delta for left in both))

    def __repr__(self) -> str:
        note = f"; {self._note}" if self._note else ""
        limit = self._accountant.limit if self._ledger is None or self._ledger.cap is None else self._ledger.cap
        left = f"{self.remaining} of {self._accountant.limit or limit} left{per_person(self._most_rows)}"
        return f"PrivateTable({len(self._answers)} answers; {left}{note})"


def _limit(budget: Budget | Exact | None, ledger: Ledger | None) -> Budget | None:
    """Return what this object may spend; None where a ledger's cap alone says so."""
    if budget is not None:
        return budget if isinstance(budget, Budget) else Budget(budget)
    if ledger is None or ledger.cap is None:
        raise RecipeError("PrivateTable needs a budget, or a ledger with a cap.  Hint: say budget=1.")
    return None


def _scale(sensitivity: int, price: Budget, of_row: Budget) -> Fraction:
    """Return the scale of the noise of one answer; refuse an ε that is too small before it is paid."""
    try:
        return noise_scale(Fraction(sensitivity), of_row.epsilon)
    except ValueError:
        raise RecipeError(f"ε = {float(price.epsilon):g} is too small for an answer.") from None


def _shares(shares: object) -> tuple[float, ...]:
    """Return shares of rows; refuse anything else."""
    found = tuple(shares) if isinstance(shares, Sequence) and not isinstance(shares, str) else ()
    if not found or not all(isinstance(one, (int, float)) and 0 < one < 1 for one in found):
        raise QueryError("a quantile is of a share of the rows, above 0 and below 1, such as 0.5.")
    return tuple(float(one) for one in found)


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name for a column of answers that no group's column has."""
    while name in taken:
        name = f"noisy {name}"
    return name


def count_people(table: Table, undeclared: Undeclared, most_rows: int | None, rng: np.random.Generator) -> Tally:
    """Count the distinct tuples of a table, of `most_rows` rows of each person if that is given.

    With `undeclared="missing"`, also where there are none.
    """
    if undeclared == "refuse":
        if most_rows is None and not table.schema.each_row_a_person:
            refuse_repeated(table.engine.repeated(table.schema.naming))
        return _count(table, table.schema, most_rows, rng, allow_nameless=False)
    schema = tolerant(table.schema)
    try:
        return _count(table, schema, most_rows, rng, allow_nameless=True)
    except EmptyTable:  # a refusal would tell the first person's presence from their absence
        return empty_tally(schema)


def _count(
    table: Table, schema: Schema, most_rows: int | None, rng: np.random.Generator, *, allow_nameless: bool
) -> Tally:
    if most_rows is None:
        return table.engine.count(schema).tally
    return table.engine.count_kept(schema, most_rows, rng, allow_nameless=allow_nameless).tally
