"""Equal rows that are written once and repeated give the same files as rows that are made one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.runs import TIMES
from incrowd.engines.local import CountedRows
from incrowd.errors import ConformanceError, FormulaWarning
from incrowd.kernels.repeating import repeat_lines


def people(number: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, number),
            "place": rng.choice(["=1+1", 'a "quoted" town', "two\nlines", "x,y", "plain", None], number),
            "ill": rng.choice(["flu", "-cmd", "cold"], number),
            "weight": rng.integers(1, 4, number) / 2,
        }
    )


def saved(release: ic.Release, folder: Path) -> tuple[bytes, str]:
    with pytest.warns(FormulaWarning) as told:
        release.save(folder, format="csv")
    return (folder / "data.csv").read_bytes(), str(told[0].message)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("places", [None, ["plain", "x,y"]], ids=["with lines in quotes", "without"])
def test_the_file_is_the_same(
    weight: str | None, places: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people() if places is None else people().with_columns(place=pl.Series(places * 200))
    table = ic.read(frame, quasi=["age", "place"], sensitive=["ill"], weight=weight, drop=[] if weight else ["weight"])
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    assert next(iter(release.batches_to_write(runs=True))).height < release.rows
    once = saved(release, tmp_path / "once")
    monkeypatch.setattr(CountedRows, "runs", lambda rows: None)
    assert saved(release, tmp_path / "each") == once


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = ic.read(people().drop("weight"), quasi=["age", "place"], sensitive=["ill"])
    release = ic.publish(table, ic.KAnonymity(5), seed=1)

    def one_more(rows: CountedRows) -> Iterator[pl.DataFrame] | None:
        batches = rows.form.runs(1000)
        assert batches is not None
        return (batch.with_columns(pl.col(TIMES) + 1) for batch in batches)

    monkeypatch.setattr(CountedRows, "runs", one_more)
    with pytest.raises(ConformanceError, match="rows came out"):
        release.save(tmp_path / "made", format="csv")
    assert not (tmp_path / "made").exists()


def test_lines_are_repeated() -> None:
    made = repeat_lines(b"a\nbb\n\nc\n", np.array([2, 0, 3, 1]))
    assert made is not None
    assert bytes(made) == b"a\na\n\n\n\nc\n"
    assert repeat_lines(b"a\nb\n", np.array([2])) is None
    assert bytes(repeat_lines(b"", np.array([], dtype=np.int64)) or b"") == b""
