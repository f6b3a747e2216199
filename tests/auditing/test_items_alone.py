"""The audit of a release of items alone: without a quasi-identifier, what needs one is left out and told."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import incrowd as ic


def test_a_release_without_quasi_identifiers_is_audited(tmp_path: Path) -> None:
    baskets = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "b"], ["c"], ["a", "c"]] * 10
    frame = pl.DataFrame({"items": baskets, "ill": ["flu", "gout", "flu"] * 20})
    table = ic.read(frame, items=["items"], sensitive=["ill"])
    release = ic.publish(table, [ic.KmAnonymity(3, 2)])
    release.save(tmp_path / "release")
    for one in (release, ic.open_release(tmp_path / "release")):
        audit = one.audit(original=frame, learn=False)
        assert "known-items" in [risk.attack for risk in audit.attacks]
        left_out = {skipped.what: skipped.why for skipped in audit.skipped}
        assert left_out["membership"] == left_out["joint-knowledge"] == "there is no quasi-identifier"
