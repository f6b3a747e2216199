"""What a run spends of its privacy, where: filled while it runs, carried by the release.

Questions to the same people add up; questions to different people (disjoint parts of the table) cost as much as the
dearest; questions to a sample cost less (`amplification.py`); questions about rows cost a person with several of them
more (`group_privacy.py`). These four nest. Inside of them, questions may be paid for in ρ (`concentrated.py`), which
adds up to less. Cost: a few fractions per question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Literal

from incrowd.common.exact import Exact, as_exact
from incrowd.common.records import dataclass
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.concentrated import price_of, rho_of
from incrowd.dp.group_privacy import price_of_person
from incrowd.errors import BudgetSpent, RecipeError

How = Literal["sequential", "parallel", "sampled", "by person", "concentrated"]


@dataclass(frozen=True)
class Entry:
    """One question: what it was, its price by itself, and which blocks of questions it is in, outermost first."""

    what: str
    price: Budget
    blocks: tuple[str, ...] = ()
    how: How = "sequential"
    """How it adds to its neighbours in the innermost block."""
    rho: Fraction = Fraction(0)
    """Its price in ρ, where that is what it was paid in; `price` is then what it would cost alone."""


@dataclass
class Purse:
    """Questions that are paid for in ρ: how much there is of it, and how much of it is spent.

    `limit` is the (ε, δ) that all of ρ costs. A person with `most_rows` rows pays `most_rows`² times what a row pays.
    """

    limit: Budget
    most_rows: int = 1
    spent: Fraction = Fraction(0)

    @cached_property
    def rho(self) -> Fraction:
        """All that may be spent of each row."""
        return rho_of(self.limit) / self.most_rows**2

    def price(self, rho: Fraction) -> Budget:
        """Return what some ρ costs; never more than the limit if it is no more than there is."""
        found = price_of(rho * self.most_rows**2, self.limit.delta)
        return found if rho > self.rho or self.limit.covers(found) else self.limit


@dataclass
class _Block:
    """Questions that belong together; `spent` is the price of those that are over, before any sampling."""

    how: How
    name: str = ""
    rate: Fraction = Fraction(1)
    most_rows: int = 1
    spent: Budget = field(default_factory=Budget.nothing)
    purse: Purse | None = None

    def after(self, price: Budget) -> Budget:
        """Return `spent` after one more question or block inside; in ρ, it is told after each question."""
        if self.purse is not None:
            return self.spent.larger(price)
        return self.spent.larger(price) if self.how == "parallel" else self.spent + price

    def cost(self, inside: Budget) -> Budget:
        """Return what the block costs those outside it."""
        if self.how == "by person":
            return price_of_person(inside, self.most_rows)
        return amplified(inside, self.rate) if self.how == "sampled" and inside else inside


class Accountant:
    """Adds up budgets, and refuses what would exceed the limit before anything is computed.

    >>> accountant = Accountant(limit=Budget(1))
    >>> accountant.spend("choice of columns", Budget("0.4"))
    >>> with accountant.parallel("leaf counts"):
    ...     accountant.spend("left", Budget("0.5"))
    ...     accountant.spend("right", Budget("0.6"))
    >>> print(accountant.total())
    ε = 1
    >>> accountant.spend("one more", Budget("0.1"))
    Traceback (most recent call last):
    ...
    incrowd.errors.BudgetSpent: 'one more' costs ε = 0.1, and ε = 0 of ε = 1 is left.  Hint: give it less.
    """

    def __init__(self, limit: Budget | None = None) -> None:
        self.limit = limit
        self._entries: list[Entry] = []
        self._blocks = [_Block("sequential")]
        self._steps: list[Budget] = []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All questions so far, in order."""
        return tuple(self._entries)

    @property
    def steps(self) -> tuple[Budget, ...]:
        """What adds up to the total: the price of each question or block that is not inside another, if it is over."""
        return tuple(self._steps)

    def spend(self, what: str, price: Budget) -> None:
        """Write down a question and its price; call this before asking it."""
        if self._blocks[-1].purse is not None:
            raise ValueError("inside of this block, questions are paid for in ρ")
        if not price:
            raise RecipeError(f"'{what}' costs nothing: a question that tells something has an ε above 0.")
        total = self._total_with(price)
        if self.limit is not None and not self.limit.covers(total):
            raise BudgetSpent(
                f"'{what}' costs {price}, and {self.remaining} of {self.limit} is left.  Hint: give it less."
            )
        if total.delta >= 1:
            raise BudgetSpent(f"with '{what}', δ adds up to 1 or more: nothing would be promised.")
        block = self._blocks[-1]
        block.spent = block.after(price)
        names = tuple(each.name for each in self._blocks[1:])
        self._entries.append(Entry(what, price, names, block.how))
        if len(self._blocks) == 1:
            self._steps.append(price)

    @contextmanager
    def parallel(self, name: str) -> Iterator[None]:
        """Open a block of questions to disjoint parts of the table: it costs what the dearest of them costs.

        Only whoever asks knows that nobody is in two of the parts, whatever the table holds.
        """
        with self._block(_Block("parallel", name)):
            yield

    @contextmanager
    def sequence(self, name: str) -> Iterator[None]:
        """Open a block of questions that add up: one of the parts of `parallel`, or a step with a name."""
        with self._block(_Block("sequential", name)):
            yield

    @contextmanager
    def sampled(self, rate: Exact, name: str = "sample") -> Iterator[None]:
        """Open a block of questions to one sample of the table's rows: together they cost less."""
        exact = as_exact(rate, "a sampling rate")
        if not 0 < exact <= 1:
            raise RecipeError(f"a sampling rate is above 0 and at most 1, not {float(exact):g}.")
        with self._block(_Block("sampled", f"{name} at rate {float(exact):g}", exact)):
            yield

    @contextmanager
    def by_person(self, most_rows: int | None) -> Iterator[None]:
        """Open a block of questions about rows, of which a person has at most so many; None: a row is a person."""
        if most_rows is None:
            yield
            return
        rows = "1 row" if most_rows == 1 else f"{most_rows:,} rows"
        with self._block(_Block("by person", f"at most {rows} per person", most_rows=most_rows)):
            yield

    @contextmanager
    def concentrated(self, limit: Budget, most_rows: int = 1) -> Iterator[Purse]:
        """Open a block of questions that are paid for in ρ; together they cost at most `limit`, which has a δ.

        With `most_rows`, the limit is that of a person who has so many rows.
        """
        purse = Purse(limit, most_rows)
        with self._block(_Block("concentrated", f"ρ = {float(purse.rho):.6g}", purse=purse)):
            yield purse

    def spend_rho(self, what: str, rho: Fraction) -> None:
        """Write down a question and its price in ρ; call this before asking it."""
        purse = self._blocks[-1].purse
        if purse is None:
            raise ValueError("only inside of the block `concentrated` questions are paid for in ρ")
        if rho <= 0:
            raise RecipeError(f"'{what}' costs nothing: a question that tells something has a ρ above 0.")
        if purse.spent + rho > purse.rho:
            raise BudgetSpent(
                f"'{what}' costs ρ = {float(rho):.6g}, and {float(purse.rho - purse.spent):.6g} of "
                f"{float(purse.rho):.6g} is left.  Hint: give it less."
            )
        total = self._total_with(purse.price(purse.spent + rho))
        if self.limit is not None and not self.limit.covers(total):
            raise BudgetSpent(f"with '{what}', {total} would be spent of {self.limit}.  Hint: give it less.")
        purse.spent += rho
        block = self._blocks[-1]
        block.spent = purse.price(purse.spent)
        names = tuple(each.name for each in self._blocks[1:])
        self._entries.append(Entry(what, purse.price(rho), names, block.how, rho))

    @contextmanager
    def _block(self, block: _Block) -> Iterator[None]:
        self._blocks.append(block)
        try:
            yield
        finally:  # what was asked before an error was asked
            self._blocks.pop()
            if block.spent:
                cost = block.cost(block.spent)
                self._blocks[-1].spent = self._blocks[-1].after(cost)
                if len(self._blocks) == 1:
                    self._steps.append(cost)

    def total(self) -> Budget:
        """Return what everything so far costs, open blocks included."""
        return self._total_with(Budget.nothing())

    @property
    def remaining(self) -> Budget | None:
        """What is left of the limit; nothing to say if there is none."""
        return None if self.limit is None else self.limit.less(self.total())

    def _total_with(self, price: Budget) -> Budget:
        inside = price
        for block in reversed(self._blocks):
            inside = block.cost(block.after(inside))
        return inside

    def rows(self) -> list[dict[str, str]]:
        """Return one row per question for a table in a report; numbers are exact, as text."""
        return [
            {
                "question": entry.what,
                "within": " › ".join(entry.blocks),
                "adds up": entry.how,
                "ε": str(entry.price.epsilon),
                "δ": str(entry.price.delta),
                **({"ρ": str(entry.rho)} if entry.rho else {}),
            }
            for entry in self._entries
        ]

    def as_dict(self) -> Mapping[str, object]:
        """Return everything as plain values, for a file."""
        total = self.total()
        limit = None if self.limit is None else {"ε": str(self.limit.epsilon), "δ": str(self.limit.delta)}
        return {
            "total": {"ε": str(total.epsilon), "δ": str(total.delta)},
            "limit": limit,
            "questions": self.rows(),
        }

    def __str__(self) -> str:
        lines = [f"{entry.what}: {entry.price}" for entry in self._entries]
        return "\n".join([*lines, f"total: {self.total()}"])
