"""A table that is scanned several times, once for each share of its groups, gives what one scan gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.engines import local

ROWS = 3000
FRAME = ic.datasets.census(ROWS, seed=4).with_row_index("row").select("row", "age", "sex", "marital", "race")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"method": ic.Mondrian(cuts="relaxed")},
        {"sample": 0.4},
        {"sample": 0.4, "method": ic.Mondrian(cuts="relaxed")},
        {"method": ic.FullDomain(max_withheld=0.1)},
    ],
)
def test_several_scans_are_one(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def released() -> pl.DataFrame:
        table = ic.read(FRAME, quasi=["age", "sex"], sensitive=["race"], keep=["row"], others="drop")
        return ic.publish(table, ic.KAnonymity(5), seed=2, **asked).to_polars()

    once = released()
    monkeypatch.setattr(local, "ROWS_PER_SCAN", 250)
    assert released().equals(once), "the same rows in the same order"
    assert once["row"].is_unique().all()


def test_tuples_are_shared_between_groups_in_the_cases_above() -> None:
    table = ic.read(FRAME, quasi=["age", "sex"], sensitive=["race"], keep=["row"], others="drop")
    tally = table.engine.count(table.schema).tally
    assert tally.counts.max() > 5
    relaxed = ic.publish(table, ic.KAnonymity(5), seed=2, method=ic.Mondrian(cuts="relaxed")).to_polars()
    raw = FRAME.join(relaxed.select("row", shown="age"), on="row")
    assert raw.group_by("age", "sex", "race").agg(pl.col("shown").n_unique())["shown"].max() > 1  # type: ignore[operator]


def test_a_folder_of_parquet_is_one_table_and_is_published_as_parquet(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    (folder / "deeper").mkdir(parents=True)
    FRAME[:1000].write_parquet(folder / "a.parquet")
    FRAME[1000:].write_parquet(folder / "deeper" / "b.parquet")
    given: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["race"], "others": "drop"}
    made = ic.publish(ic.read(folder, **given), ic.KAnonymity(5), seed=1)
    assert made.to_polars().equals(ic.publish(ic.read(FRAME, **given), ic.KAnonymity(5), seed=1).to_polars())
    assert made.save(tmp_path / "out").name == "data.parquet"
    pattern = ic.read(str(folder / "**" / "*.parquet"), **given)
    assert pattern.engine.count(pattern.schema).tally.rows == ROWS


def test_only_what_will_be_looked_for_again_is_held() -> None:
    plain = ic.read(FRAME, quasi=["age", "sex"], others="drop")
    kept = ic.read(FRAME, quasi=["age", "sex"], keep=["row"], others="drop")
    assert plain.engine.count(plain.schema).raw.width == 0
    assert kept.engine.count(kept.schema).raw.width == 2
