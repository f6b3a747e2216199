"""Counts that are remembered are the counts, and not those of another file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.source import OpenedTable
from incrowd.engines.remembering import MOST_REMEMBERED, RememberingEngine
from incrowd.publishing.table import Table


def remembering(table: Table) -> Table:
    source = table.engine.source
    assert isinstance(source, OpenedTable)
    return replace(table, engine=RememberingEngine(source))


@pytest.mark.parametrize("keep", [(), ("salary",)])
@pytest.mark.parametrize("person", [(), ("pid",)])
def test_releases_are_those_of_the_local_engine(keep: tuple[str, ...], person: tuple[str, ...]) -> None:
    rows = ic.datasets.census(200, seed=1).with_columns(pid=pl.Series([place // 2 for place in range(200)]))
    table = ic.read(rows, quasi=["age", "sex"], sensitive=["occupation"], keep=keep, person=person, others="drop")
    again = remembering(table)
    for k in (2, 5, 9):
        expected = ic.publish(table, ic.KAnonymity(k), seed=k)
        found = ic.publish(again, ic.KAnonymity(k), seed=k)
        assert found.to_polars().equals(expected.to_polars())
        assert found.summary == expected.summary


def test_rows_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.engines.local import LocalEngine

    asked: list[tuple[str, ...]] = []
    real = LocalEngine.distinct

    def distinct(self: LocalEngine, columns: tuple[str, ...]) -> object:
        asked.append(tuple(columns))
        return real(self, columns)

    monkeypatch.setattr(LocalEngine, "distinct", distinct)
    rows = ic.datasets.census(100, seed=1)
    again = remembering(ic.read(rows, quasi=["age", "sex"], sensitive=["occupation"], others="drop"))
    for k in (2, 5):
        ic.publish(again, ic.KAnonymity(k))
    assert len(asked) == 1
    engine = again.engine
    for name in rows.columns:
        engine.distinct((name,))
    assert isinstance(engine, RememberingEngine)
    assert len(engine.memory) == MOST_REMEMBERED


def test_a_file_that_changed_is_not_answered_from_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    ic.datasets.census(100, seed=1).write_csv(path)
    again = remembering(ic.read(path, quasi=["age", "sex"], sensitive=["occupation"], others="drop"))
    ic.publish(again, ic.KAnonymity(2))
    ic.datasets.census(90, seed=1).write_csv(path)
    with pytest.raises(ic.errors.SourceChanged):
        ic.publish(again, ic.KAnonymity(3))
