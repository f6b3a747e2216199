"""A table that answers counting questions under differential privacy, until its budget is spent.

One row more or less changes a count by at most one, so each answer is the count with discrete Laplace noise of scale
1/ε, drawn exactly; what answers cost adds up, whatever is asked next (Dwork, McSherry, Nissim & Smith 2006). On one
sample of the rows, all answers together cost less (Li, Qardaji & Su 2012, corollary 4). Where somebody has several
rows, at most `most_rows` of each person are kept, and noise has the scale `most_rows`/ε (`dp/group_privacy.py`). Which
questions can be asked depends on the schema alone. Cost: one pass over the distinct tuples per question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from incrowd.common.arrays import Codes, Counts
from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.randomness import randomness, sample_counts
from incrowd.core.engine import empty_tally
from incrowd.core.query import Query, matching_codes
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.group_privacy import share_of_row
from incrowd.errors import BudgetSpent, EmptyTable, QueryError, RecipeError, SchemaError, did_you_mean
from incrowd.hierarchies.public import Undeclared, public_codes, public_tree
from incrowd.hierarchies.tree import Tree
from incrowd.ledger import Ledger
from incrowd.ledger.ledger import described
from incrowd.methods.private import require_most_rows, require_undeclared, tolerant
from incrowd.models.differential_privacy import per_person
from incrowd.publishing.noisy_counts import SEEDED
from incrowd.publishing.people_promises import refuse_unbounded
from incrowd.publishing.publish import refuse_repeated
from incrowd.publishing.table import Table


@dataclass(frozen=True)
class Answer:
    """One question, and what was answered: an estimate of the table's rows, with its standard deviation."""

    query: Mapping[str, object]
    value: float
    error: float
    """What noise adds, and what a sample adds if there is one; about two of these either way is where the count is."""
    price: Budget
    """What the answer cost everybody by itself; on a sample, before it counts for less."""
    note: str = ""


class PrivateTable:
    """Noisy answers to counting questions, and a budget that runs out.

    Questions are those of a release: `{"age": (30, 39), "sex": "F"}`. They are understood by the values that the schema
    declares, categories or intervals with bounds; numbers beyond the bounds count as the last one, and a name that is
    not among them is an error, whatever the table holds. With a `sample` below 1, answers are about one sample, drawn
    now and kept. A table that holds names which were not declared, or no rows, is refused; with `undeclared="missing"`
    such names count as missing and nobody is refused, so that not even this tells who is there. Where the schema tells
    whose a row is, ε is what a person pays, and `most_rows` of each person are kept, chosen at random, now; no other
    rows are counted. With a `ledger`, answers are also paid from its cap, which outlives this object and is shared by
    every process.

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
        budget: Budget | Exact,
        *,
        sample: float | Fraction = 1,
        seed: int | None = None,
        undeclared: Undeclared = "refuse",
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
        self._accountant = Accountant(limit=budget if isinstance(budget, Budget) else Budget(budget))
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
        matching = self._matching(query)  # refused before anything is paid
        price = Budget(epsilon)
        of_row = share_of_row(price, self._most_rows or 1)
        try:
            scale = noise_scale(Fraction(1), of_row.epsilon)
        except ValueError:
            raise RecipeError(f"ε = {float(price.epsilon):g} is too small for an answer.") from None
        self._pay(query, price, of_row)
        true = np.array([int(self._counts[matching].sum())], dtype=np.int64)
        noisy = int(noisy_counts(self._rng, true, epsilon=of_row.epsilon)[0])
        rate = float(self._rate)
        value = float(noisy / self._rate)
        sampling = max(value, 0.0) * (1 - rate) / rate
        error = math.sqrt(variance(scale) / rate**2 + sampling)
        self._answers.append(Answer(MappingProxyType(dict(query)), value, error, price, self._note))
        return value

    def _matching(self, query: Query) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which tuples satisfy a query; what is refused, is refused whatever the table holds."""
        if not isinstance(query, Mapping):
            raise QueryError('a question is a condition for each of some columns, such as {"age": (30, 39)}.')
        rows = np.ones(len(self._tally), dtype=bool)
        for name, condition in query.items():
            if name not in self._hierarchies:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the table."
                    + did_you_mean(name, self._hierarchies)
                )
            public, codes = self._public(name)
            rows &= matching_codes(name, public, condition, unknown_names="suggested")[codes][self._tally.column(name)]
        return rows

    def _public(self, name: str) -> tuple[Tree, Codes]:
        """Return the tree of a column's declared values, and which of them each of the table's own codes is."""
        if name not in self._declared:
            public = public_tree(name, self._hierarchies[name])
            self._declared[name] = public, public_codes(name, self._tally.trees[name], public)
        return self._declared[name]

    def _pay(self, query: Query, price: Budget, of_row: Budget) -> None:
        try:
            self._accountant.spend(f"count by {', '.join(query) or 'nothing'}", of_row)
        except BudgetSpent:
            on_sample = f" on a sample at rate {float(self._rate):g}" if self._rate < 1 else ""
            raise BudgetSpent(
                f"the question costs {price}{on_sample}, and {self.remaining} of {self._accountant.limit} is left.  "
                "Hint: `remaining` tells what is left, and `answers` what has been answered; ask with a smaller "
                "epsilon, or use the answers that are there."
            ) from None
        if self._ledger is not None:
            self._record(query)

    def _record(self, query: Query) -> None:
        """Take from the ledger what the last question added to the costs, before it is answered."""
        assert self._ledger is not None
        total = self._accountant.total()
        added = total.less(self._recorded)
        try:
            self._ledger.answer({**self._told, "asked": sorted(query)}, added)
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
        """What is left of the budget."""
        left = self._accountant.remaining
        assert left is not None  # there is a limit
        return left

    def __repr__(self) -> str:
        note = f"; {self._note}" if self._note else ""
        left = f"{self.remaining} of {self._accountant.limit} left{per_person(self._most_rows)}"
        return f"PrivateTable({len(self._answers)} answers; {left}{note})"


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
