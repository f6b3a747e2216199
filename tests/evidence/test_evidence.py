"""Evidence about a release: numbers by hand, a signature that sees every byte, and a page for every window."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError, RecipeError, SourceError
from incrowd.evidence import make_evidence, new_key, sign, verify
from incrowd.evidence.context import QUESTIONS, Context, questions_file
from incrowd.evidence.standards import SECTIONS, STANDARDS
from incrowd.ledger import Ledger
from tests.cli.command import incrowd

QUASI = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved release, its table, and signed evidence about it."""
    found = tmp_path_factory.mktemp("evidence")
    ic.datasets.census(400, seed=3).write_csv(found / "people.csv")
    table = ic.read(found / "people.csv", quasi=QUASI, sensitive=["occupation"], others="drop")
    ledger = Ledger.create(found / "book")
    ic.publish(table, [ic.KAnonymity(8), ic.LDiversity(2)], ledger=ledger).save(found / "out")
    context = Context({"recipients": "three hospitals"}, {"maximum": 0.09, "average": 0.2})
    made = make_evidence(found / "out", original=found / "people.csv", context=context, ledger=ledger, learn=False)
    made.save(found / "evidence")
    new_key(found / "steward")
    sign(found / "evidence", found / "steward", signed_by="Data office")
    return found


@pytest.fixture(scope="module")
def found(place: Path) -> dict[str, Any]:
    return json.loads((place / "evidence" / "evidence.json").read_text(encoding="utf-8"))


def naive(rows: list[tuple[Any, ...]]) -> tuple[float, float]:
    """Return the largest and the mean probability of being found, person by person."""
    sizes = Counter(rows)
    chances = [1 / sizes[row] for row in rows]
    return max(chances), sum(chances) / len(chances)


def test_risks_are_those_of_plain_python(place: Path, found: dict[str, Any]) -> None:
    for when, path in (("initial", place / "people.csv"), ("residual", place / "out" / "data.csv")):
        frame = pl.read_csv(path, infer_schema=False).select(QUASI)
        largest, mean = naive(frame.rows())
        told = found["risk"][when]
        assert told["prosecutor"]["maximum"] == pytest.approx(largest)
        assert told["prosecutor"]["average"] == pytest.approx(mean)
        assert told["marketer"]["average"] == pytest.approx(mean)
        assert told["people"] == 400


def test_thresholds_are_judged(found: dict[str, Any]) -> None:
    by_measure = {one["measure"]: one for one in found["risk"]["judged"]}
    largest, mean = by_measure["maximum risk of a prosecutor"], by_measure["average risk of a prosecutor"]
    assert (largest["threshold"], largest["kept"]) == (0.09, largest["residual"] <= 0.09)
    assert mean["kept"] is True
    assert not largest["kept"]  # groups of 8 are there: 12.5 %


def test_without_a_threshold_the_models_set_one(place: Path) -> None:
    told = make_evidence(place / "out", learn=False).to_dict()
    (judged,) = told["risk"]["judged"]
    assert judged["threshold"] == pytest.approx(1 / 8)
    assert judged["kept"]
    assert told["risk"]["initial"] is None
    assert told["ledger"] is None
    assert told["usefulness"]["measured"] is False
    assert len(told["context"]["open"]) == len(QUESTIONS)


def test_everything_that_a_reviewer_asks_is_there(found: dict[str, Any]) -> None:
    assert found["says"] == "This is evidence, not a legal determination."
    assert {one["variable"]: one["technique"] for one in found["variables"]}["salary"] == "removed"
    assert found["published"]["rows"] == {"in": 400, "published": 400, "withheld": 0}
    assert {one["statement"] for one in found["published"]["guarantees"]} >= {"8-anonymity"}
    assert found["ledger"]["faults"] == []
    assert found["ledger"]["releases"] == 1
    assert {one["name"] for one in found["hashes"]["files"]} >= {"data.csv", "summary.json", "recipe.toml"}
    assert found["context"]["open"] == [key for key in QUESTIONS if key != "recipients"]
    assert {one["attack"] for one in found["adversaries"]["attacks"]} >= {"linkage", "homogeneity"}
    for lines in STANDARDS.values():
        assert {part for _, parts in lines for part in parts} <= set(SECTIONS)


def test_a_claim_that_files_deny_is_told(place: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(place / "out", tmp_path / "out"))
    recipe = copy / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("k = 8", "k = 80"))
    told = make_evidence(copy, learn=False).to_dict()
    assert told["published"]["false claims"]
    assert told["risk"]["residual"]["smallest group"] < 80


def test_people_with_several_rows_are_counted(tmp_path: Path) -> None:
    rows = [
        (f"p{person}", 20 + person % 4, "FM"[person % 2], "flu") for person in range(40) for _ in range(1 + person % 3)
    ]
    pl.DataFrame(rows, schema=["name", "age", "sex", "ill"], orient="row").write_csv(tmp_path / "visits.csv")
    table = ic.read(tmp_path / "visits.csv", quasi=["age", "sex"], sensitive=["ill"], person="name")
    ic.publish(table, ic.KAnonymity(5)).save(tmp_path / "out")
    told = make_evidence(tmp_path / "out", original=tmp_path / "visits.csv", learn=False).to_dict()
    assert told["risk"]["initial"]["people"] == 40


def test_kept_columns_are_not_passed_over(place: Path, tmp_path: Path) -> None:
    """Groups of ten whose rows carry a salary that nobody else has: no threshold is said to be kept."""
    frame = pl.read_csv(place / "people.csv").with_row_index("salary_code")
    table = ic.read(frame, quasi=QUASI, sensitive=["occupation"], keep=["salary_code"], others="drop")
    ic.publish(table, ic.KAnonymity(8)).save(tmp_path / "out")
    made = make_evidence(tmp_path / "out", context=Context({}, {"maximum": 0.2}), learn=False)
    (judged,) = made.to_dict()["risk"]["judged"]
    assert judged["residual"] <= 0.125
    assert judged["kept"] is None
    assert "published beside the labels: salary_code" in made.to_html()


def test_noisy_counts_have_no_group_sizes(tmp_path: Path) -> None:
    sexes = ic.Categories.from_tree(["Female", "Male"])
    frame = ic.datasets.census(200).select("sex")
    ic.publish(ic.read(frame, quasi=["sex"], hierarchies={"sex": sexes}), method=ic.FlatHistogram(1)).save(
        tmp_path / "out"
    )
    made = make_evidence(tmp_path / "out", learn=False)
    assert made.to_dict()["risk"]["private"]
    assert "noisy counts" in made.to_html()


def test_a_signature_holds_and_names_its_key(place: Path, tmp_path: Path) -> None:
    assert verify(place / "evidence").holds
    assert verify(place / "evidence", public_key=place / "steward.pub").holds
    assert verify(place / "evidence").signed_by == "Data office"
    new_key(tmp_path / "other")
    assert verify(place / "evidence", public_key=tmp_path / "other.pub").faults == (
        "another key than the one that you named signed it.",
    )
    assert (place / "steward").stat().st_mode & 0o777 == 0o600
    with pytest.raises(OutputError, match="never replaced"):
        new_key(place / "steward")


@pytest.mark.parametrize("name", ["evidence.html", "evidence.json", "evidence.sig"])
def test_any_changed_byte_is_seen(place: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(place / "evidence", tmp_path / "evidence"))
    content = (copy / name).read_bytes()
    chance = random.Random(name)
    places = (
        range(len(content)) if len(content) < 1000 else [0, len(content) - 1, *chance.sample(range(len(content)), 60)]
    )
    for byte in places:
        changed = bytearray(content)
        changed[byte] ^= 1 << chance.randrange(8)
        (copy / name).write_bytes(changed)
        assert not verify(copy).holds, byte
    for longer in (content + b"\n", content[:-1], b""):
        (copy / name).write_bytes(longer)
        assert not verify(copy).holds
    (copy / name).write_bytes(content)
    assert verify(copy).holds


def test_a_signature_of_other_files_does_not_count(place: Path, tmp_path: Path) -> None:
    """Somebody else's evidence with somebody's signature."""
    copy = Path(shutil.copytree(place / "evidence", tmp_path / "evidence"))
    (copy / "evidence.json").write_text("{}")
    new_key(tmp_path / "mine")
    sign(copy, tmp_path / "mine", signed_by="Data office")
    assert verify(copy).holds  # it was signed, by another key
    assert not verify(copy, public_key=place / "steward.pub").holds


def test_a_locked_key_opens_with_its_passphrase(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(place / "evidence", tmp_path / "evidence"))
    monkeypatch.setenv("INCROWD_KEY_PASSPHRASE", "open sesame")
    new_key(tmp_path / "locked")
    assert b"ENCRYPTED" in (tmp_path / "locked").read_bytes()
    sign(copy, tmp_path / "locked", signed_by="x")
    assert verify(copy, public_key=tmp_path / "locked.pub").holds
    monkeypatch.setenv("INCROWD_KEY_PASSPHRASE", "wrong")
    with pytest.raises(SourceError, match="passphrase"):
        sign(copy, tmp_path / "locked", signed_by="x")
    monkeypatch.delenv("INCROWD_KEY_PASSPHRASE")
    with pytest.raises(SourceError, match="passphrase"):
        sign(copy, tmp_path / "locked", signed_by="x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[answers]\nrecipient = 'x'", "did you mean 'recipients'"),
        ("[answers]\npurpose = 3", "is a text"),
        ("[thresholds]\nmaximum = 9", "up to 1"),
        ("[thresholds]\nmaximum = true", "up to 1"),
        ("answers = 3", "is a table"),
    ],
)
def test_answers_that_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(RecipeError, match=words):
        Context.load(tmp_path / "answers.toml")


def test_the_file_of_questions_can_be_answered(tmp_path: Path) -> None:
    answered = re.sub(r'^# (.*) = ""$', r'\1 = "yes"', questions_file(), flags=re.M).replace("# maximum", "maximum")
    (tmp_path / "answers.toml").write_text(answered)
    assert Context.load(tmp_path / "answers.toml") == Context(dict.fromkeys(QUESTIONS, "yes"), {"maximum": 0.09})


def test_the_page_is_offline_and_holds_the_numbers(place: Path, found: dict[str, Any]) -> None:
    page = (place / "evidence" / "evidence.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    assert "&lt;span" not in page
    for heading in SECTIONS.values():
        assert heading in page
    assert "three hospitals" in page
    assert found["hashes"]["files"][0]["sha256"] in page


def test_the_command(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "e"
    done = incrowd("evidence", place / "out", "--key", place / "steward", "-o", out, "--no-learning")
    assert done.code == 2
    assert "--signed-by" in done.err
    done = incrowd(
        "evidence", place / "out", "--key", place / "steward", "--signed-by", "me", "-o", out, "--no-learning"
    )
    assert (done.code, done.err) == (0, "")
    assert incrowd("evidence", "--verify", out).code == 0
    kinds = [entry.kind for entry in Ledger(place / "book").entries]
    assert "signed" not in kinds
    more = ("--ledger", place / "book", "--key", place / "steward", "--signed-by", "me")
    assert incrowd("evidence", place / "out", *more, "-o", out, "--no-learning").code == 0
    last = Ledger(place / "book").entries[-1]
    assert (last.kind, last.told["signed by"], last.about) == ("signed", "me", 2)
    assert Ledger(place / "book").verify([place / "out"]) == []
    (out / "evidence.json").write_text("{}")
    done = incrowd("evidence", "--verify", out)
    assert (done.code, "evidence.json was changed" in done.out) == (1, True)
    assert incrowd("evidence", tmp_path).code == 3
    assert incrowd("evidence").code == 2
