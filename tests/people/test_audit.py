"""An audit of people with several rows attacks people: whoever is looked for hides among people, not among rows."""

from __future__ import annotations

import numpy as np
import polars as pl

import incrowd as ic


def ten_rows_each() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "pid": np.repeat(np.arange(20), 10),
            "age": np.repeat(np.repeat(np.arange(20, 30), 2), 10),
            "blood": np.repeat(rng.choice(["A", "B"], 20), 10),
            "disease": rng.choice(list("abcdef"), 200),
        }
    )


def test_people_hide_among_people() -> None:
    table = ic.read(ten_rows_each(), person="pid", quasi=["age"], sensitive=["blood", "disease"])
    release = ic.publish(table, ic.KAnonymity(2))
    audit = release.audit(remedies=False, learn=False)
    assert audit.achieved["k"] == 2
    (linkage,) = [risk for risk in audit.attacks if risk.attack == "linkage"]
    assert (linkage.people, linkage.value) == (20, 0.5)
    assert {risk.column for risk in audit.attacks if risk.attack == "homogeneity"} == {"blood"}
    assert any("Not guessed, since somebody has several values: disease." in warning for warning in audit.warnings)


def test_files_that_do_not_tell_who_is_who_say_that_rows_are_attacked(tmp_path) -> None:  # type: ignore[no-untyped-def]
    table = ic.read(ten_rows_each(), person="pid", quasi=["age"], sensitive=["blood"], drop=["disease"])
    ic.publish(table, ic.KAnonymity(2)).save(tmp_path / "out")
    audit = ic.open_release(tmp_path / "out").audit(remedies=False, learn=False)
    assert any(warning.startswith("Attacks count rows here") for warning in audit.warnings)
