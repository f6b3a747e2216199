"""What a release says of sensitive columns that no model covers, and of guarantees that guarantee nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from tests.cli.command import incrowd

FRAME = pl.DataFrame(
    {"age": [20, 21, 22, 23] * 3, "ill": ["flu", "gout", "ague", "cold"] * 3, "pay": [10, 20, 30, 40] * 3}
)


def published(require: Any) -> ic.Release:
    return ic.publish(ic.read(FRAME, quasi=["age"], sensitive=["ill", "pay"]), require)


@pytest.mark.parametrize(
    ("require", "left"),
    [
        ([ic.KAnonymity(3)], "ill, pay"),
        ([ic.KAnonymity(3), ic.LDiversity(2, column="ill")], "pay"),
        ([ic.KAnonymity(3), ic.LDiversity(2, column="ill"), ic.KEAnonymity(2, 5, column="pay")], None),
        ([ic.LDiversity(2)], None),
        ([ic.KAnonymity(3), ic.LDiversity(1)], "ill, pay"),
        ([ic.FullKAnonymity(3)], None),
    ],
    ids=str,
)
def test_sensitive_columns_that_no_model_covers_are_named(require: Any, left: str | None, tmp_path: Path) -> None:
    release = published(require)
    release.save(tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    for told in (release.warnings, summary["warnings"], ic.open_release(tmp_path / "out").warnings):
        found = [line for line in told if "no model speaks of" in line]
        assert found == [] if left is None else [line.split(": ")[1].split(".")[0] for line in found] == [left]


@pytest.mark.parametrize("require", [[ic.KAnonymity(1)], [ic.KAnonymity(1), ic.LDiversity(1)]], ids=str)
def test_what_every_table_satisfies_is_no_guarantee(require: Any, tmp_path: Path) -> None:
    release = published(require)
    assert any(line.startswith("Nothing is guaranteed: ") for line in release.warnings)
    for guarantee in release.guarantees:
        assert "guarantees nothing" in str(guarantee)
    release.save(tmp_path / "out")
    opened = ic.open_release(tmp_path / "out")
    assert any(line.startswith("Nothing is guaranteed: ") for line in opened.warnings)
    assert all("guarantees nothing" in str(guarantee) for guarantee in opened.guarantees)


def test_two_anonymity_is_one() -> None:
    assert not any("guarantee" in line for line in published([ic.KAnonymity(2), ic.LDiversity(2)]).warnings)


def test_the_command_line_says_so(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "in.csv")
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'incrowd = 1\n[source]\npath = "in.csv"\n[columns]\nage = "quasi"\nill = "sensitive"\npay = "sensitive"\n'
        '[[models]]\nname = "k-anonymity"\nk = 1\n[method]\nname = "mondrian"\n'
    )
    told = incrowd("publish", recipe, "-o", tmp_path / "out")
    assert told.code == 0
    said = " ".join((told.out + told.err).split())
    assert "Nothing is guaranteed: every table satisfies 1-anonymity" in said
    assert "no model speaks of: ill, pay" in said
