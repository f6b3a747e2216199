"""What is kept beside the labels is published, too: audits look rows up by it, as anybody could."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.core.risk import Risk

pytestmark = pytest.mark.usefixtures("few_queries")

QUASI = ["age", "sex"]


def patients(rows: int = 400, *, zips: int = 40, missing: bool = False) -> pl.DataFrame:
    """Return people with columns that nobody declared as quasi-identifiers: a zip code, a weight, a shift."""
    rng = np.random.default_rng(5)
    zip_codes = [f"{code:05d}" for code in rng.integers(0, zips, rows)]
    weight = rng.integers(1, 12, rows) / 2
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "sex": rng.choice(["F", "M"], rows),
            "ill": rng.choice(["flu", "gout", "HIV", "none"], rows),
            "zip": [None if missing and place % 11 == 0 else code for place, code in enumerate(zip_codes)],
            "weight": weight,
            "shift": rng.integers(0, 2, rows) == 1,
        }
    )


def publish(frame: pl.DataFrame, **roles: Any) -> ic.Release:
    table = ic.read(frame, **{"quasi": QUASI, "sensitive": ["ill"], "others": "keep", **roles})
    return ic.publish(table, [ic.KAnonymity(5)], seed=0)


def risk(audit: Audit, name: str) -> Risk:
    return next(found for found in audit.attacks if found.attack == name)


@lru_cache(maxsize=None, typed=True)
def holds(label: str, value: object) -> bool:
    """Tell whether a label of the file stands for a value, in plain Python."""
    if label in ("*", str(value)):
        return True
    if bounds := re.fullmatch(r"\[(-?\d+), (-?\d+)\)", label):
        return int(bounds[1]) <= int(str(value)) < int(bounds[2])
    if below := re.fullmatch(r"< ?(-?\d+)", label):
        return int(str(value)) < int(below[1])
    if above := re.fullmatch(r">= ?(-?\d+)", label):
        return int(str(value)) >= int(above[1])
    return False


def spelled(value: object) -> str:
    """Return a kept value as one text, from a frame or from a file."""
    if value is None:
        return ""
    text = str(value).lower()
    return text.removesuffix(".0")


def naive_join(path: Path, frame: pl.DataFrame, kept: list[str]) -> tuple[float, int]:
    """Look everybody up by labels and kept columns; return how often the row is theirs, and how many are alone."""
    with path.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == frame.height  # nobody is withheld: a person's own row is among those that fit
    success, alone = 0.0, 0
    for person in frame.to_dicts():
        fitting = [
            row
            for row in rows
            if all(spelled(row[name]) == spelled(person[name]) for name in kept)
            and all(holds(row[name], person[name]) for name in QUASI)
        ]
        success += 1 / len(fitting)
        alone += len(fitting) == 1
    return success / frame.height, alone


# Values are missing in the one column that both have.
@pytest.mark.parametrize(
    ("kept", "missing"),
    [(["zip"], False), (["zip", "weight", "shift"], True)],
    ids=["one column, all known", "three columns, some missing"],
)
def test_the_audit_links_as_many_as_a_join_does(kept: list[str], missing: bool, tmp_path: Path) -> None:
    frame = patients(missing=missing).select(*QUASI, "ill", *kept)
    release = publish(frame)
    release.save(tmp_path / "out", format="csv")
    naive, alone = naive_join(tmp_path / "out" / "data.csv", frame, kept)
    labels_alone = ic.audit(publish(frame.drop(kept)), attacks=[ic.Linkage()], remedies=False, learn=False)
    by_labels = risk(labels_alone, "linkage").value
    assert naive > 2 * by_labels
    original = tmp_path / "original.csv"
    frame.write_csv(original)
    audits = [
        release.audit(remedies=False, learn=False),
        ic.open_release(tmp_path / "out", original=frame).audit(remedies=False, learn=False),
        ic.open_release(tmp_path / "out", original=original).audit(remedies=False, learn=False),
    ]
    for found in audits:
        linkage = risk(found, "linkage")
        assert linkage.value == pytest.approx(naive, abs=1e-9)
        assert linkage.details["alone"] == pytest.approx(alone / frame.height)
        assert linkage.says.endswith(f"Known besides the labels: {', '.join(sorted(kept))}.")
        assert found.threats["linkability"]["level"] == "high"
        assert risk(found, "singling-out").got_through
        assert risk(found, "homogeneity").value >= alone / frame.height - 1e-9
    assert [found.to_dict()["attacks"] for found in audits[1:]] == [audits[0].to_dict()["attacks"]] * 2


def test_an_external_table_with_kept_columns_names_rows(tmp_path: Path) -> None:
    frame = patients()
    release = publish(frame)
    release.save(tmp_path / "out", format="csv")
    register = frame.drop("ill").with_columns(name=pl.int_range(frame.height).cast(pl.String))
    with_kept = release.audit(remedies=False, external=register, learn=False)
    naive, _ = naive_join(tmp_path / "out" / "data.csv", frame, ["zip", "weight", "shift"])
    assert risk(with_kept, "external-linkage").value == pytest.approx(naive)

    def linked(to: ic.Release, external: pl.DataFrame) -> Risk:
        attacks = [ic.ExternalLinkage()]
        return ic.audit(to, attacks=attacks, external=external, remedies=False, learn=False).attacks[0]

    assert linked(release, register.drop("zip", "weight", "shift")).value < naive / 2
    # Also where only the register is at hand, and where it knows no quasi-identifier.
    assert linked(ic.open_release(tmp_path / "out", external=register), register).value == pytest.approx(naive)
    found = linked(release, register.drop(QUASI))
    counts = Counter(register.select("zip", "weight", "shift").rows())
    assert found.value == pytest.approx(len(counts) / frame.height)


def test_what_nobody_else_has_is_not_looked_up(tmp_path: Path) -> None:
    """Pseudonyms are in the file, and no other table has them: they find nobody by themselves."""
    frame = patients().select(*QUASI, "ill").with_columns(name=pl.int_range(400).cast(pl.String))
    release = publish(frame, pseudonyms=["name"])
    plain = publish(frame.drop("name"))
    release.save(tmp_path / "out", format="csv")
    opened = ic.open_release(tmp_path / "out", original=frame)
    linkage = {"attacks": [ic.Linkage()], "remedies": False, "learn": False}
    found = [ic.audit(one, **linkage).attacks[0].value for one in (plain, release, opened)]
    assert found == found[:1] * 3


def test_a_release_says_in_numbers_what_kept_columns_single_out(tmp_path: Path) -> None:
    frame = patients().select(*QUASI, "ill", "zip")
    release = publish(frame)
    release.save(tmp_path / "out", format="csv")
    with (tmp_path / "out" / "data.csv").open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    alone = sum(number == 1 for number in Counter((row["age"], row["sex"], row["zip"]) for row in rows).values())
    said = (
        f"Column 'zip' kept as it is: with the labels, {alone} of 400 rows are one of a kind; by the labels alone, 0."
    )
    assert 0 < alone < 400
    assert said in release.warnings
    assert said in ic.open_release(tmp_path / "out").warnings
    assert said in release.summary["warnings"]
    assert not any("kept as" in warning for warning in publish(frame.drop("zip")).warnings)


def test_one_row_and_equal_rows() -> None:
    same = pl.DataFrame({"age": [30] * 6, "sex": ["F"] * 6, "ill": ["flu"] * 6, "zip": ["1"] * 6})
    found = publish(same)
    assert "0 of 6 rows are one of a kind" in found.warnings[-1]
    assert risk(found.audit(remedies=False, learn=False), "linkage").value == pytest.approx(1 / 6)
    alone = ic.publish(ic.read(same[:1], quasi=QUASI, sensitive=["ill"], others="keep"), [ic.KAnonymity(1)], seed=0)
    assert risk(alone.audit(remedies=False, learn=False), "linkage").value == 1


def test_withheld_people_are_not_found_by_what_is_kept(tmp_path: Path) -> None:
    """Somebody who is withheld and shares everything with a published person is not that person."""
    frame = pl.DataFrame({"age": [30, 30, 70], "sex": ["F"] * 3, "ill": ["flu", "gout", "flu"], "zip": ["1", "2", "9"]})
    table = ic.read(frame, quasi=QUASI, sensitive=["ill"], others="keep")
    release = ic.publish(
        table, [ic.KAnonymity(2)], method=ic.FullDomain(max_withheld=0.4, levels={"age": 0, "sex": 0}), seed=0
    )
    assert release.withheld == 1
    assert risk(release.audit(remedies=False, learn=False), "linkage").value == pytest.approx(2 / 3)


def test_rows_are_read_once_for_files_and_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What kept columns single out is noted while rows are written or attacked, and is what a second look finds."""
    frame = patients().select(*QUASI, "ill", "zip")
    release, again = publish(frame), publish(frame)
    reads = []
    kind = type(release.published)
    make = kind.batches
    monkeypatch.setattr(kind, "batches", lambda rows: reads.append(1) or make(rows))
    release.save(tmp_path / "out", format="csv")
    assert len(reads) == 1
    assert release.warnings == again.warnings
    opened = ic.open_release(tmp_path / "out", original=frame)
    reads.clear()
    kind = type(opened.published)
    look = kind.batches
    monkeypatch.setattr(kind, "batches", lambda rows: reads.append(1) or look(rows))
    opened.audit(remedies=False, learn=False)
    assert len(reads) == 1
    assert opened.warnings == again.warnings
