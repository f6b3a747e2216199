"""Columns keep their types in frames and in files that know types, where what is published allows it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import incrowd as ic

FRAME = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, None, None],
        "born": [date(2000, 1, 1)] * 3 + [date(1999, 5, 5)] * 3,
        "city": pl.Series(["Rome", "Rome", "Oslo", "Oslo", "Oslo", "Oslo"], dtype=pl.Categorical),
        "code": ["1", "2", "10", "1", "2", "10"],
        "ill": pl.Series(["a", "b"] * 3, dtype=pl.Enum(["a", "b", "only elsewhere"])),
        "score": [1.5, 2.5] * 3,
    }
)
READERS = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}


def published(quasi: list[str], k: int = 1, method: ic.Method | None = None) -> ic.Release:
    table = ic.read(FRAME, quasi=quasi, sensitive=["code", "ill", "score"], others="drop")
    return ic.publish(table, ic.KAnonymity(k), method=method, seed=1)


@pytest.mark.parametrize("kind", READERS)
def test_types_are_kept_where_every_label_is_a_value(kind: str, tmp_path: Path) -> None:
    release = published(["age", "born", "city"], method=ic.FullDomain())
    path = release.save(tmp_path / "r", format=kind)
    for found in (READERS[kind](path), release.data):
        assert found.schema["age"] == pl.Int64
        assert found.schema["born"] == pl.Date
        assert found.schema["code"] == pl.String  # digits that were text
        assert found.schema["score"] == pl.Float64
        assert found["city"].cast(pl.String).to_list() == release.to_polars()["city"].to_list()
        assert found.schema["city"] != pl.String
        assert found["age"].cast(pl.String).to_list() == release.to_polars()["age"].to_list()
    # no category that only the table knows travels with the release
    assert "only elsewhere" not in release.data.schema["ill"].categories.to_list()
    assert b"only elsewhere" not in path.read_bytes()
    again = ic.open_release(tmp_path / "r")
    assert sorted(again.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())
    assert again.count({"age": 20, "city": "Rome"}) == release.count({"age": 20, "city": "Rome"})
    assert ic.check(tmp_path / "r").k == release.guarantees[0].achieved
    known = ic.open_release(tmp_path / "r", original=FRAME)
    ours, theirs = (one.audit(learn=False, remedies=False).to_dict()["attacks"] for one in (release, known))
    assert theirs == ours


def test_ranges_stay_text(tmp_path: Path) -> None:
    release = published(["age"], k=4)
    assert pl.read_parquet(release.save(tmp_path / "r", format="parquet")).schema["age"] == pl.String


def test_pandas_gets_its_categories_back() -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "sex": pd.Categorical(["F", "F", "M", "M"], categories=["F", "M", "X"])})
    found = ic.publish(ic.read(frame, quasi=["sex"], sensitive=["age"]), ic.KAnonymity(2)).data
    assert str(found["sex"].dtype) == "category"
    assert list(found["sex"].cat.categories) == ["F", "M"]
    assert str(found["age"].dtype) == "int64"
