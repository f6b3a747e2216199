"""A ledger: prices against a cap, a chain that shows what was changed, processes side by side and killed ones."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from incrowd.dp.budget import Budget
from incrowd.errors import BudgetSpent, LedgerError
from incrowd.ledger import Ledger
from incrowd.ledger.entries import FIRST, _hash
from incrowd.ledger.spending import added_up, cost_together
from tests.ledger.killed import killed, spend
from tests.ledger.side_by_side import side_by_side


def test_prices_add_up_and_the_cap_holds(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(1))
    with ledger.start({}, Budget("0.6")) as entry:
        entry.done({"rows": 5})
    with pytest.raises(BudgetSpent, match=r"costs ε = 0\.5, and ε = 0\.6 of the ledger's ε = 1"):
        ledger.answer({}, Budget("0.5"))
    assert [each.kind for each in ledger.entries] == ["begun", "started", "made"]
    ledger.answer({}, Budget("0.4"))
    again = Ledger(tmp_path / "book")
    assert again.spent == Budget(1)
    assert not again.remaining
    with pytest.raises(BudgetSpent):
        again.answer({}, Budget("1e-9"))


def test_what_failed_stays_spent(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book")
    with pytest.raises(ZeroDivisionError), ledger.start({}, Budget(1)):
        raise ZeroDivisionError
    assert [each.kind for each in ledger.entries] == ["begun", "started", "failed"]
    assert ledger.entries[-1].told == {"about": 2, "error": "ZeroDivisionError"}
    assert ledger.spent == Budget(1)


def test_many_small_prices_cost_less_where_the_cap_has_a_delta(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(1, "1e-6"))
    for _ in range(36):
        ledger.answer({}, Budget("0.03"))
    assert added_up(entry.price for entry in ledger.entries if entry.price) == Budget("1.08")
    assert ledger.spent.epsilon < 1
    assert ledger.spent.delta == Fraction(1, 10**6)


@pytest.mark.parametrize("number", [1, 7, 60, 900])
def test_the_sum_by_concentrated_privacy_covers_what_randomized_answers_tell(number: int) -> None:
    # The worst that pure privacy allows: yes-or-no answers that are true with probability e^ε/(1 + e^ε). What all of
    # them tell together is a binomial tail, here summed up by brute force.
    import math

    price, delta = Fraction(1, 20), Fraction(1, 10**5)
    told = cost_together([Budget(price)] * number, delta)
    right = math.exp(price) / (1 + math.exp(price))
    exceeded = 0.0
    for true in range(number + 1):
        loss = float(price) * (2 * true - number)
        if loss > told.epsilon:
            log = math.lgamma(number + 1) - math.lgamma(true + 1) - math.lgamma(number - true + 1)
            log += true * math.log(right) + (number - true) * math.log(1 - right)
            exceeded += math.exp(log) * -math.expm1(float(told.epsilon) - loss)
    assert exceeded <= float(told.delta) + 1e-15


def test_another_key_is_refused(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "a")
    Ledger.create(tmp_path / "b")
    with pytest.raises(LedgerError, match="not the key"):
        Ledger(tmp_path / "a", key=tmp_path / "b.key")
    with pytest.raises(LedgerError, match="not empty"):
        Ledger.create(tmp_path / "a")
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger(tmp_path)
    assert (tmp_path / "a" / "ledger.sqlite").stat().st_mode & 0o077 == 0
    assert (tmp_path / "a.key").stat().st_mode & 0o077 == 0


def _some_ledger(place: Path) -> Ledger:
    ledger = Ledger.create(place, cap=Budget(3))
    for price in ("0.5", "0.25"):
        with ledger.start({"what": "release"}, Budget(price)) as entry:
            entry.done({"rows": 10})
    return ledger


_CHANGES = (
    "UPDATE entries SET told = replace(told, '0', '1') WHERE number = {}",
    "UPDATE entries SET time = '2020-01-01T00:00:00+00:00' WHERE number = {}",
    "UPDATE entries SET kind = 'answered' WHERE number = {}",
    "UPDATE entries SET seal = replace(seal, substr(seal, 1, 1), 'x') WHERE number = {}",
    "UPDATE entries SET previous = hash WHERE number = {}",
    "UPDATE entries SET hash = previous WHERE number = {}",
    "DELETE FROM entries WHERE number = {}",
)


@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("number", [2, 3, 4])
def test_any_change_is_seen(tmp_path: Path, change: str, number: int) -> None:
    ledger = _some_ledger(tmp_path / "book")
    assert ledger.verify() == []
    with sqlite3.connect(tmp_path / "book" / "ledger.sqlite") as connection:
        assert connection.execute(change.format(number)).rowcount == 1
    assert ledger.verify()


def test_a_chain_that_was_computed_anew_lacks_the_seals(tmp_path: Path) -> None:
    ledger = _some_ledger(tmp_path / "book")
    previous = FIRST
    with sqlite3.connect(tmp_path / "book" / "ledger.sqlite") as connection:
        for number, at, kind, told in connection.execute("SELECT number, time, kind, told FROM entries").fetchall():
            cheaper = json.loads(told.replace("1/2", "1/9"))
            found = _hash(number, at, kind, cheaper, previous)
            connection.execute(
                "UPDATE entries SET told = ?, previous = ?, hash = ? WHERE number = ?",
                (json.dumps(cheaper), previous, found, number),
            )
            previous = found
    wrong = ledger.verify()
    assert wrong
    assert all("key" in problem for problem in wrong)


def test_processes_side_by_side_spend_no_more_than_the_cap(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "book", cap=Budget("1.7"))

    def pay() -> int:
        ledger, paid = Ledger(tmp_path / "book"), 0
        for _ in range(10):
            with contextlib.suppress(BudgetSpent), ledger.start({}, Budget("0.1")):
                paid += 1
        return paid

    assert sum(side_by_side(4, pay)) == 17
    ledger = Ledger(tmp_path / "book")
    assert ledger.spent == Budget("1.7")
    assert ledger.verify() == []
    assert not list((tmp_path / "book" / "running").iterdir())


def test_killed_at_a_hundred_moments_nothing_is_understated(tmp_path: Path) -> None:
    draw = random.Random(1)
    ledger = Ledger.create(tmp_path / "book")
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    reached = 0
    with killed(spend, ledger.directory, drawn) as one_after:
        for _trial in range(100):
            one_after(draw.uniform(0.001, 0.012))
            made = len(list(drawn.iterdir()))
            reached = max(reached, made)
            assert ledger.spent.epsilon >= Fraction(made, 1024)
    assert reached > 2
    assert ledger.verify() == []
    entries = ledger.entries
    ended = [entry.about for entry in entries if entry.kind in ("made", "failed", "stopped")]
    assert sorted(ended) == [entry.number for entry in entries if entry.kind == "started"]
    assert any(entry.kind == "stopped" for entry in entries)
    left = {path.name for path in (tmp_path / "book" / "running").iterdir()}
    assert not left & {entry.told["run"] for entry in entries if entry.kind == "started"}
