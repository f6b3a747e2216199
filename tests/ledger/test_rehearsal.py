"""A release that is only looked at: held against a ledger's releases and its cap, and nothing of it is written down."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.budget import Budget
from incrowd.errors import BudgetSpent, LedgerError, OutputError, UnsafeTogether
from incrowd.ledger import Ledger
from tests.ledger.quarters import ROLES, quarters

pytestmark = pytest.mark.usefixtures("few_questions")


def files(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Everything in a ledger, with the time of its last change."""
    found = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


@pytest.fixture(scope="module")
def tables() -> list[pl.DataFrame]:
    return quarters(160, 2)


@pytest.fixture
def ledger(tmp_path: Path, tables: list[pl.DataFrame]) -> Ledger:
    """One with a release of the first quarter."""
    made = Ledger.create(tmp_path / "book", cap=1, people=True)
    ic.publish(ic.read(tables[0], **ROLES), method=ic.MInvariance(3), ledger=made, seed=1)
    return made


def test_it_is_what_would_be_published_and_leaves_no_trace(
    ledger: Ledger, tables: list[pl.DataFrame], tmp_path: Path
) -> None:
    before = files(ledger.directory)
    table = ic.read(tables[1], **ROLES)
    tried = ic.publish(table, method=ic.MInvariance(3), ledger=ledger.rehearsal(), seed=2)
    assert files(ledger.directory) == before
    copied = Ledger(shutil.copytree(ledger.directory, tmp_path / "copy"), key=ledger.key_file)
    real = ic.publish(table, method=ic.MInvariance(3), ledger=copied, seed=2)
    assert tried.to_polars().equals(real.to_polars())
    first = ic.publish(table, method=ic.MInvariance(3), seed=2)  # as if nobody had been published before
    assert not tried.to_polars().equals(first.to_polars())
    assert tried.entry is None
    assert "ledger" not in tried.summary
    with pytest.raises(OutputError, match="rehearsal"):
        tried.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(ledger.entries) == len(Ledger(ledger.directory).entries) == len(copied.entries) - 2


def test_it_is_refused_where_the_release_would_be(ledger: Ledger, tables: list[pl.DataFrame]) -> None:
    before = files(ledger.directory)
    table = ic.read(tables[1], **ROLES)
    models = [ic.KAnonymity(4), ic.LDiversity(3)]
    with pytest.raises(UnsafeTogether):
        ic.publish(table, models, ledger=ledger.rehearsal())
    ages = ic.read(
        tables[0], quasi=["age"], others="drop", hierarchies={"age": ic.Intervals(widths=(10,), lower=0, upper=100)}
    )
    ic.publish(ages, method=ic.DiffGen(epsilon=1), ledger=ledger.rehearsal())
    ic.publish(ages, method=ic.DiffGen(epsilon=1), ledger=ledger.rehearsal())  # the first one has cost nothing
    with pytest.raises(BudgetSpent):
        ic.publish(ages, method=ic.DiffGen(epsilon=2), ledger=ledger.rehearsal())
    assert files(ledger.directory) == before
    assert str(ledger.spent) == "ε = 0"


def test_nothing_else_is_written_either(ledger: Ledger) -> None:
    before, rehearsal = files(ledger.directory), ledger.rehearsal()
    with pytest.raises(LedgerError, match="rehearsal"), rehearsal.start({"what": "a test"}):
        pass
    with pytest.raises(LedgerError, match="rehearsal"):
        rehearsal.answer({}, Budget(1))
    with pytest.raises(LedgerError, match="rehearsal"):
        rehearsal.saved(2, {})
    assert rehearsal.verify() == []
    assert files(ledger.directory) == before
