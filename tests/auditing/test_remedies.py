"""What to do is measured: whoever follows it finds what it says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.auditing.remedies import measuring
from incrowd.auditing.remedies.remedy import Remedy
from tests.auditing.test_levels import audited, release_with_unique_people

pytestmark = pytest.mark.usefixtures("unhurried", "few_queries")

ROWS = 1200


def people() -> pl.DataFrame:
    """Return people with a kept column that tells nothing, and one that tells almost who they are."""
    rng = np.random.default_rng(11)
    age = rng.integers(18, 80, size=ROWS)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], size=ROWS),
            "ill": np.where(age > 50, rng.choice(["heart", "gout"], size=ROWS), rng.choice(["flu", "cold"], size=ROWS)),
            "badge": rng.integers(0, 400, size=ROWS),
            "site": ["here"] * ROWS,
        }
    )


def published(*models: ic.Model, keep: tuple[str, ...] = (), method: ic.Method | None = None) -> ic.Release:
    table = ic.read(people(), quasi=["age", "sex"], sensitive=["ill"], keep=list(keep), others="drop")
    return ic.publish(table, list(models), method=method)


def remedy(found: Audit, attack: str) -> Remedy:
    return next(one for one in found.remedies.found if one.attack == attack)


def rate(found: Audit, attack: str) -> tuple[float, str]:
    risk = next(risk for risk in found.attacks if risk.attack == attack)
    return risk.value, risk.level


@cache
def audited_with_remedies() -> Audit:
    return published(ic.KAnonymity(3)).audit(learn=False)


def test_a_larger_k_is_named_with_its_number_and_does_what_is_said() -> None:
    found = audited_with_remedies()
    advised = remedy(found, "linkage")
    assert (advised.before, advised.level) == rate(found, "linkage")
    (step,) = advised.steps
    match = re.fullmatch(r"set k = (\d+) in k-anonymity \(now 3\)", step.change)
    assert match
    assert step.level == "low"
    # Whoever follows it finds the same; the next smaller k that was tried does not do.
    linkage = {"attacks": [ic.Linkage()], "learn": False, "remedies": False}
    again = ic.audit(published(ic.KAnonymity(int(match[1]))), **linkage)
    assert rate(again, "linkage") == (pytest.approx(step.value), "low")
    milder = max(k for k in (5, 10, 20, 50) if k < int(match[1]))
    assert rate(ic.audit(published(ic.KAnonymity(milder)), **linkage), "linkage")[1] != "low"
    assert f"k = {match[1]} in k-anonymity (now 3): " in advised.says
    assert advised.says in found.to_html().replace("&#x27;", "'")


def test_only_the_kept_column_that_matters_is_dropped() -> None:
    found = published(ic.KAnonymity(20), keep=("badge", "site")).audit(learn=False)
    advised = remedy(found, "linkage")
    assert advised.level == "high"
    assert advised.steps[0].change == "drop the kept column 'badge'"
    again = published(ic.KAnonymity(20), keep=("site",)).audit(learn=False, remedies=False)
    assert rate(again, "linkage") == (pytest.approx(advised.steps[0].value), advised.steps[0].level)


def test_a_model_for_a_sensitive_column_that_none_speaks_of() -> None:
    found = audited_with_remedies()
    advised = remedy(found, "likeliest-value")
    (step,) = advised.steps
    assert step.change == "ask for distinct-l-diversity of ill with l = 3"
    again = published(ic.KAnonymity(3), ic.DistinctLDiversity(3, column="ill"))
    assert rate(again.audit(learn=False, remedies=False), "likeliest-value") == (pytest.approx(step.value), step.level)
    assert "What does most: ask for distinct-l-diversity of ill with l = 3. " in found.remedies.note


def test_the_same_through_files(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    table = ic.read(
        str(tmp_path / "people.csv"), quasi=["age", "sex"], sensitive=["ill"], others="drop", keep=["badge"]
    )
    ic.publish(table, ic.KAnonymity(3)).save(tmp_path / "out")
    opened = ic.open_release(tmp_path / "out", original=str(tmp_path / "people.csv"))
    ours = published(ic.KAnonymity(3), keep=("badge",)).audit(learn=False).remedies
    theirs = opened.audit(learn=False).remedies
    assert theirs.to_dict() == ours.to_dict()


def test_labels_that_end_at_nobodys_value() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"income": rng.permutation(400) * 7, "ill": rng.choice(["a", "b"], size=400)})
    table = ic.read(frame, quasi=["income"], sensitive=["ill"])
    found = ic.publish(table, ic.KAnonymity(100), method=ic.Mondrian(labels="tight")).audit(learn=False)
    advised = remedy(found, "extreme-values")
    assert advised.steps[-1].change == 'set labels = "region" in mondrian (now "tight")'
    again = ic.publish(table, ic.KAnonymity(100), method=ic.Mondrian()).audit(learn=False, remedies=False)
    assert rate(again, "extreme-values") == (pytest.approx(advised.steps[-1].value), "low")


def test_without_the_table_the_release_alone_is_measured(tmp_path: Path) -> None:
    found = audited(tmp_path, release_with_unique_people(tmp_path, 38, 838), original=False, remedies=True)
    advised = remedy(found, "linkage")
    assert advised.steps[-1].change == "withhold the rows of groups smaller than 2 (38 rows)"
    assert advised.reaches == "low"
    assert "--original" in found.remedies.note
    # Whoever withholds them finds that.
    rows = pl.read_csv(tmp_path / "published.csv", infer_schema=False)
    rows.filter(pl.len().over("x") > 1).write_csv(tmp_path / "published.csv")
    again = ic.open_release(tmp_path / "published.csv", description=tmp_path / "description.toml").audit(learn=False)
    assert rate(again, "linkage") == (pytest.approx(advised.steps[-1].value), "low")
    assert again.false_claims == []


def test_a_quasi_identifier_may_be_left_out(tmp_path: Path) -> None:
    """Two columns that single everybody out together, one of which is harmless by itself."""
    rows = pl.DataFrame({"id": [str(place) for place in range(200)], "sex": ["F", "M"] * 100, "ill": ["a", "b"] * 100})
    rows.write_csv(tmp_path / "published.csv")
    (tmp_path / "d.toml").write_text('[columns]\nid = "quasi"\nsex = "quasi"\nill = "sensitive"\n', encoding="utf-8")
    found = ic.open_release(tmp_path / "published.csv", description=tmp_path / "d.toml").audit(learn=False)
    advised = remedy(found, "linkage")
    assert (advised.before, advised.level) == (1.0, "high")
    assert advised.steps[-1].change == "publish without 'id'"
    assert advised.steps[-1].value == pytest.approx(1 / 100)


def test_larger_tables_are_measured_on_some_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_ROWS", 500)
    found = published(ic.KAnonymity(3)).audit(learn=False)
    assert found.remedies.rows == 500
    assert found.remedies.note.startswith(f"Measured on 500 of {ROWS:,} rows, drawn at random")
    # It is held against the same rows, not against the finding on all of them.
    assert remedy(found, "linkage").before != rate(found, "linkage")[0]


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_SECONDS", -1.0)
    found = published(ic.KAnonymity(3)).audit(learn=False)
    assert "Stopped after" in found.remedies.note
    assert all(not one.steps for one in found.remedies.found)
    assert "Nothing could be tried." in remedy(found, "linkage").says


def test_what_cannot_be_made_again_says_so() -> None:
    frame = pl.concat(
        [people().with_columns(who=pl.Series(range(ROWS))), people().with_columns(who=pl.Series(range(ROWS)))]
    )
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], person="who", others="drop")
    found = ic.publish(table, ic.KAnonymity(3)).audit(learn=False)
    assert all("incrowd compare" in one.why_not for one in found.remedies.found)
    assert found.remedies.found


def test_stricter_models_are_those_beyond_ones_own() -> None:
    assert [model.k for model in ic.KAnonymity(10).stricter()] == [20, 50, 100]
    assert [model.t for model in ic.TCloseness(0.25, column="ill").stricter()] == [0.2, 0.1, 0.05]
    assert all(model.column == "ill" for model in ic.TCloseness(0.25, column="ill").stricter())
    assert ic.KAnonymity(1000).stricter() == ()
