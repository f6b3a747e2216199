"""To whom a release may go: each rule has a case in which it decides, and one in which it does not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.downcoding import Downcoding
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.linkage import Linkage
from incrowd.attacks.singling_out import SinglingOut
from incrowd.auditing.recommendation import NOT_LEGAL, Recommendation, recommend
from incrowd.core.families import registered
from incrowd.core.risk import Risk, risk_of
from tests.auditing.audit_cases import write
from tests.auditing.test_levels import audited, release_with_unique_people
from tests.cli.command import incrowd

pytestmark = pytest.mark.usefixtures("few_queries")


def risk(attack: object, value: float = 0.0, *, exposed: int = 0) -> Risk:
    return risk_of(attack, value=value, baseline=0.0, people=10_000, says="", exposed=exposed)  # type: ignore[arg-type]


LOW = (risk(Linkage()), risk(SinglingOut()), risk(Homogeneity()))


def judged(**changes: object) -> Recommendation:
    given = {"attacks": LOW, "guaranteed": ["5-anonymity"], "false_claims": (), "seeded": False, "warnings": ()}
    return recommend(**{**given, **changes})  # type: ignore[arg-type]


def test_nothing_against_it() -> None:
    found = judged()
    assert found.may_go_to == "the public"
    assert found.sentence.startswith("This release may leave the house, also to the public: 5-anonymity holds; ")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"false_claims": ["5-anonymity (3 is reached)"]},
            "satisfy what it does not, 5-anonymity (3 is reached)",
        ),
        ({"seeded": True}, "made with a seed"),
        ({"attacks": ()}, "no attack could be tried"),
        (
            {"attacks": (*LOW, risk(Linkage(), 0.8))},
            "is high (linkage, “finding a person's row”: 80.0% right",
        ),
        ({"attacks": (*LOW, risk(Homogeneity(), 0.0, exposed=500))}, "500 of 10,000 people exposed for sure"),
    ],
    ids=["a false claim", "a seed", "nothing tried", "an attack that reaches people", "many people exposed"],
)
def test_what_keeps_it_inside(changes: dict[str, object], why: str) -> None:
    found = judged(**changes)
    assert found.may_go_to == "nobody outside"
    assert found.sentence.startswith("This release should not leave the house: ")
    assert why in found.sentence
    # A limit besides does not widen the circle, and is not the reason.
    assert judged(**changes, warnings=["Look here."]) == found


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"attacks": (*LOW, risk(Linkage(), 0.2))}, "linkability is noticeable"),
        ({"attacks": (*LOW, risk(Linkage(), exposed=1))}, "fewer than 5 of 10,000 people exposed for sure"),
        ({"attacks": (*LOW, risk(SinglingOut(), 1.0))}, "singling out is high"),
        ({"attacks": (*LOW, risk(Downcoding(), 1.0))}, "inference is high"),
        ({"attacks": LOW[:2]}, "inference could not be tried"),
        ({"guaranteed": []}, "nothing is guaranteed"),
        ({"warnings": ["Columns kept: zip. They tell much."]}, "it warns: Columns kept: zip."),
    ],
    ids=["noticeable", "one person exposed", "conditions", "labels", "a threat not tried", "no guarantee", "a warning"],
)
def test_what_keeps_it_from_the_public(changes: dict[str, object], why: str) -> None:
    found = judged(**changes)
    assert found.may_go_to == "known recipients"
    assert "under an agreement with known recipients, and not to the public: " in found.sentence
    assert why in found.sentence


def test_all_reasons_are_listed_the_sentence_holds_three() -> None:
    found = judged(warnings=[f"Warning {place}. More of it." for place in range(5)])
    assert found.sentence.endswith("it warns: Warning 0; it warns: Warning 1; it warns: Warning 2; and 2 more.")
    assert len(found.because) == 5
    assert found.because[4] == "it warns: Warning 4. More of it."


def test_attacks_that_only_sharpen_labels_reach_nobody() -> None:
    kinds = registered("attacks")
    assert {name for name, kind in kinds.items() if not kind.reaches_people} == {"singling-out", "downcoding"}
    assert all(kind.plain_name for kind in kinds.values())


def wide_release(directory: Path) -> ic.Release:
    """Publish a table in which nothing can be told from anything: one value for all, and even sensitive values."""
    frame = pl.DataFrame({"x": ["a", "b"] * 2000, "ill": ["flu", "flu", "cold", "cold"] * 1000})
    frame.write_csv(directory / "people.csv")
    table = ic.read(str(directory / "people.csv"), quasi=["x"], sensitive=["ill"])
    ic.publish(table, [ic.KAnonymity(1000), ic.TCloseness(0.1)]).save(directory / "out")
    return ic.open_release(directory / "out", original=str(directory / "people.csv"))


def test_a_release_that_may_go_to_the_public(tmp_path: Path) -> None:
    found = wide_release(tmp_path).audit(learn=False)
    assert found.recommendation.may_go_to == "the public", found.recommendation.because
    assert found.remedies.found == ()


def test_releases_of_another_tool(tmp_path: Path) -> None:
    lying = audited(tmp_path, release_with_unique_people(tmp_path, 38, 838), original=True)
    assert lying.recommendation.may_go_to == "nobody outside"
    assert "2-anonymity (38 of 838 rows are in groups that fail it; 1 is reached" in lying.recommendation.sentence
    assert "without these rows it holds for the 800 others" in lying.recommendation.sentence
    honest = audited(tmp_path, release_with_unique_people(tmp_path, 0, 800), original=True)
    assert honest.recommendation.may_go_to == "known recipients"


def test_fewer_than_a_handful_of_failing_rows_are_not_counted(tmp_path: Path) -> None:
    found = audited(tmp_path, release_with_unique_people(tmp_path, 2, 802), original=False)
    assert "fewer than 5 of 802 rows are in groups that fail it" in found.recommendation.sentence


def test_a_seeded_release_stays_inside() -> None:
    table = ic.read(ic.datasets.census(400), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    found = ic.publish(table, ic.KAnonymity(50), seed=1).audit(learn=False, remedies=False)
    assert found.recommendation.may_go_to == "nobody outside"
    assert "made with a seed" in found.recommendation.sentence


def test_a_kept_column_keeps_it_from_the_public(tmp_path: Path) -> None:
    wide_release(tmp_path)
    frame = pl.read_csv(tmp_path / "people.csv").with_columns(pl.lit("same").alias("note"))
    table = ic.read(frame, quasi=["x"], sensitive=["ill"], keep=["note"])
    found = ic.publish(table, [ic.KAnonymity(1000), ic.TCloseness(0.1)]).audit(learn=False)
    assert found.recommendation.may_go_to == "known recipients"
    assert "outside of every guarantee: note" in found.recommendation.sentence


def test_it_comes_first_in_the_terminal_and_is_a_key_of_the_json(tmp_path: Path) -> None:
    description = release_with_unique_people(tmp_path, 38, 838)
    arguments = ["audit", str(tmp_path / "published.csv"), "--description", str(description), "--no-learning"]
    done = incrowd(*arguments)
    said = " ".join(done.out.split())
    assert said.startswith("This release should not leave the house: ")
    assert said.count(NOT_LEGAL) == 1
    assert "What to do" in said
    data = json.loads(incrowd(*arguments, "--json").out)
    assert data["recommendation"]["may go to"] == "nobody outside"
    assert data["recommendation"]["note"] == NOT_LEGAL
    assert data["what to do"]["findings"]
    skipped = json.loads(incrowd(*arguments, "--json", "--no-remedies").out)
    assert skipped["what to do"] == {
        "note": "What would change the findings was not measured: it was not asked for.",
        "rows": 0,
        "findings": [],
    }


def test_files_are_named_with_their_hashes(tmp_path: Path) -> None:
    release = wide_release(tmp_path)
    said = release.audit(learn=False, remedies=False).to_dict()["published"]
    assert {file["name"] for file in said["files"]} == {"data.csv", "labels.json", "recipe.toml", "summary.json"}
    for file in said["files"]:
        data = (tmp_path / "out" / file["name"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
        assert file["bytes"] == len(data)
    assert said["recipe"] == (tmp_path / "out" / "recipe.toml").read_text(encoding="utf-8")
    page = release.audit(learn=False, remedies=False).to_html()
    assert said["files"][0]["name"] == "data.csv"
    for part in (said["files"][0]["sha256"], said["audited on"], "<pre>"):
        assert part in page
    (tmp_path / "out" / "data.csv").write_text("x,ill\n", encoding="utf-8")
    write(tmp_path / "other.toml", '[columns]\nx = "quasi"\nill = "sensitive"\n')
    pl.DataFrame({"x": ["*"] * 10, "ill": ["flu", "cold"] * 5}).write_csv(tmp_path / "other.csv")
    other = ic.open_release(tmp_path / "other.csv", description=tmp_path / "other.toml")
    (file,) = other.audit(learn=False, remedies=False).to_dict()["published"]["files"]
    assert file["name"] == "other.csv"


def test_a_release_of_this_session_has_no_files_yet() -> None:
    table = ic.read(ic.datasets.census(200), quasi=["age"], sensitive=["occupation"], others="drop")
    found = ic.publish(table, ic.KAnonymity(5), seed=7).audit(learn=False, remedies=False)
    said = found.to_dict()["published"]
    assert said["files"] == []
    assert "seed = " not in said["recipe"]
    assert "there are no files yet" in found.to_html()
    assert replace(found, published={}).to_html()
