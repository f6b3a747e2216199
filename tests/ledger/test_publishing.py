"""Releases and questions under a ledger: in Python, on the command line, over several processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.dp.budget import Budget
from incrowd.errors import BudgetSpent
from incrowd.ledger import Ledger

pytestmark = pytest.mark.usefixtures("few_questions")

SEX = ic.Categories.from_tree(["Female", "Male"])


def people() -> ic.Table:
    age = ic.Intervals(widths=(10, 50), lower=0, upper=100)
    return ic.read(ic.datasets.census(300), quasi=["age", "sex"], others="drop", hierarchies={"sex": SEX, "age": age})


def test_a_private_release_pays_and_is_found_again(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(1))
    release = ic.publish(people(), method=ic.DiffGen(epsilon="0.75"), ledger=ledger)
    release.save(tmp_path / "out")
    assert [entry.kind for entry in ledger.entries] == ["begun", "started", "made", "saved"]
    assert ledger.spent == Budget("0.75")
    assert ledger.verify([tmp_path / "out"]) == []
    told = json.dumps([dict(entry.told) for entry in ledger.entries])
    assert "Female" not in told
    assert set(ledger.entries[2].told["rows"]) == {"published", "sampling rate"}  # how many the table has is a secret
    assert all("rows" not in entry.told for entry in ledger.entries if entry.kind != "made")
    with pytest.raises(BudgetSpent):
        ic.publish(people(), method=ic.DiffGen(epsilon="0.5"), ledger=Ledger(tmp_path / "book"))
    assert len(ledger.entries) == 4


def test_a_sample_costs_what_it_promises(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book")
    release = ic.publish(people(), method=ic.DiffGen(epsilon=1), sample=0.1, ledger=ledger)
    stated = release.guarantees[-1]
    assert float(ledger.spent.epsilon) == stated.achieved < 1
    SDGS = ic.SDGS(k=5, levels={"age": 1, "sex": 0}, epsilon=1)
    promised = ic.publish(people(), method=SDGS, sample=0.2, ledger=ledger).promise
    assert promised is not None
    assert ledger.entries[-2].price == promised.price  # type: ignore[attr-defined]


def test_releases_that_are_not_private_cost_nothing_and_are_written_down(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(1))
    ic.publish(people(), ic.KAnonymity(5), ledger=ledger, seed=1)
    started, made = ledger.entries[1:]
    assert started.told["models"] == ["5-anonymity"]
    assert started.told["seeded"] is True
    assert started.price is None
    assert made.told["guarantees"][0]["model"] == "5-anonymity"
    assert not ledger.spent


def test_a_refusal_before_the_work_costs_nothing_and_a_failure_stays_spent(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book")
    with pytest.raises(ic.errors.SchemaError):
        ic.publish(people(), ic.KAnonymity(5), method=ic.DiffGen(epsilon=1), ledger=ledger)
    assert len(ledger.entries) == 1
    lacking = ic.read(
        ic.datasets.census(50), quasi=["sex"], others="drop", hierarchies={"sex": ic.Categories.from_tree(["Female"])}
    )
    with pytest.raises(ic.errors.IncrowdError):
        ic.publish(lacking, method=ic.DiffGen(epsilon=1, undeclared="refuse"), ledger=ledger)
    assert [entry.kind for entry in ledger.entries] == ["begun", "started", "failed"]
    assert ledger.spent == Budget(1)


def test_what_was_changed_afterwards_is_seen(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book")
    ic.publish(people(), ic.KAnonymity(5), ledger=ledger).save(tmp_path / "out")
    older = (tmp_path / "book" / "ledger.sqlite").read_bytes()
    ic.publish(people(), ic.KAnonymity(5), ledger=ledger).save(tmp_path / "later")
    ic.publish(people(), ic.KAnonymity(5)).save(tmp_path / "outside")
    assert ledger.verify([tmp_path / "out", tmp_path / "later"]) == []
    assert "outside of any ledger" in ledger.verify([tmp_path / "outside"])[0]
    data = tmp_path / "out" / "data.csv"
    data.write_bytes(data.read_bytes() + b"\n")
    assert "not as it was saved" in ledger.verify([tmp_path / "out"])[0]
    (tmp_path / "book" / "ledger.sqlite").write_bytes(older)
    assert "older copy" in Ledger(tmp_path / "book").verify([tmp_path / "later"])[0]


def test_a_release_that_is_read_back_keeps_its_mark(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book")
    ic.publish(people(), ic.KAnonymity(5), ledger=ledger).save(tmp_path / "out")
    told = json.loads((tmp_path / "out" / "summary.json").read_text())["ledger"]
    assert told == {"entry": 2, "hash": ledger.entries[1].hash}
    ic.open_release(tmp_path / "out")
    ic.check(tmp_path / "out")


def test_questions_are_paid_from_a_cap_that_outlives_them(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(1))
    first = ic.PrivateTable(people(), budget=5, ledger=ledger)
    first.count({"sex": "Female"}, epsilon="0.4")
    with pytest.raises(BudgetSpent, match="ledger"):
        first.count({"sex": "Female"}, epsilon="0.7")
    assert len(first.answers) == 1
    first.count({"sex": "Female"}, epsilon="0.1")
    again = ic.PrivateTable(people(), budget=5, ledger=Ledger(tmp_path / "book"))
    again.count({"age": (0, 49)}, epsilon="0.5")
    with pytest.raises(BudgetSpent, match="ledger"):
        again.count({}, epsilon="0.001")
    assert ledger.spent == Budget(1)
    assert ledger.entries[-1].told["asked"] == ["age"]


def test_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    ic.datasets.census(300).write_csv(tmp_path / "people.csv")
    book = str(tmp_path / "book")
    assert run(app, ["ledger", "init", book, "--epsilon", "1"]).exit_code == 0
    recipe = tmp_path / "a.recipe.toml"
    recipe.write_text(
        """
incrowd = 1
others = "drop"
ledger = "book"
[source]
path = "people.csv"
[method]
name = "diffgen"
epsilon = 0.6
[columns]
sex = { role = "quasi", hierarchy = { kind = "categories", tree = ["Female", "Male"] } }
"""
    )
    done = run(app, ["publish", str(recipe), "-q"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    with pytest.raises(BudgetSpent):
        run(app, ["publish", str(recipe), "-q", "-o", str(tmp_path / "b")], catch_exceptions=False)
    assert not (tmp_path / "b").exists()
    shown = run(app, ["ledger", "show", book], catch_exceptions=False).output
    assert "ε = 0.6 of ε = 1" in shown
    assert "diffgen" in shown
    told = json.loads(run(app, ["ledger", "show", book, "--json"]).output)
    assert [each["kind"] for each in told["entries"]] == ["begun", "started", "made", "saved"]
    assert run(app, ["ledger", "verify", book, str(tmp_path / "a-release")]).exit_code == 0
    (tmp_path / "a-release" / "recipe.toml").write_text("changed")
    assert run(app, ["ledger", "verify", book, str(tmp_path / "a-release")]).exit_code == 1


def test_sets_of_columns_are_paid_for_together_or_not_at_all(tmp_path: Path) -> None:
    table = ic.read(
        ic.datasets.census(5000),
        quasi=["age", "sex"],
        others="drop",
        hierarchies={"sex": SEX, "age": ic.Intervals(widths=(20, 40), lower=0, upper=100)},
    )
    asked = {"method": ic.SDGS(20, levels={"age": 1}, epsilon=2), "sample": 0.2}
    ledger = Ledger.create(tmp_path / "book", cap=Budget(3, "1e-3"))
    parts = ic.publish_separately(table, [["age"], ["sex"]], ledger=ledger, **asked)
    assert [entry.kind for entry in ledger.entries] == ["begun", "started", "made", "started", "made"]
    assert ledger.spent == parts.releases[0].promise.price  # type: ignore[union-attr]
    assert all(release is not None and release.summary["ledger"] for release in parts.releases)
    with pytest.raises(BudgetSpent):  # for one of the two there would be enough
        ic.publish_separately(table, [["age"], ["sex"]], ledger=ledger, **asked)
    assert len(ledger.entries) == 5
