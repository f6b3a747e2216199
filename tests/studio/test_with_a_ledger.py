"""Tries under a ledger: what was published before counts, and nothing is spent or written down."""

from __future__ import annotations

import shutil
from pathlib import Path

import incrowd as ic
from incrowd.ledger import Ledger
from tests.ledger.quarters import ROLES, quarters
from tests.ledger.test_rehearsal import files
from tests.studio.running import running


def test_a_try_reads_the_ledger_and_leaves_it_alone(tmp_path: Path) -> None:
    first, second = quarters(160, 2)
    second.write_csv(tmp_path / "second.csv")
    book = Ledger.create(tmp_path / "book", cap=1, people=True)
    ic.publish(ic.read(first, **ROLES), method=ic.MInvariance(3), ledger=book, seed=1)
    copied = Ledger(shutil.copytree(book.directory, tmp_path / "copy"), key=book.key_file)
    real = ic.publish(ic.read(tmp_path / "second.csv", **ROLES), method=ic.MInvariance(3), ledger=copied, seed=0)
    before = files(book.directory)
    roles = {name: {"role": role} for role in ("quasi", "sensitive") for name in ROLES[role]}
    with running(tmp_path) as one:
        browser = one.browser()
        project = browser.open(tmp_path / "second.csv")
        columns = {name: {"role": "drop"} for name in project["recipe"]["columns"]}
        columns |= {**roles, ROLES["person"]: {"role": "person"}}
        method = {"name": "m-invariance", "m": 3}
        browser.patch(project, (["columns"], columns), (["models"], []), (["method"], method), (["ledger"], "book"))
        job = browser.job(project, "try")
        assert job["state"] == "done", job["error"]
        released = job["result"]["released"]
        assert (released["rows"], released["withheld"]) == (real.rows, real.withheld)
        assert released["summary"]["rows"] == real.summary["rows"]
        assert job["result"]["point"]["published"] == real.rows
        assert files(book.directory) == before
        # What the cap does not pay for is refused in a try as it is when it is published.
        ages = {name: {"role": "drop"} for name in columns}
        ages["age"] = {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "lower": 0, "upper": 100}}
        private = {"name": "diffgen", "epsilon": 2}
        browser.patch(project, (["columns"], ages), (["method"], private))
        refused = browser.job(project, "try")
        assert (refused["state"], refused["error"]["kind"]) == ("failed", "BudgetSpent")
        audit = browser.job(project, "audit")
        assert (audit["state"], audit["error"]["kind"]) == ("failed", "BudgetSpent")
    assert files(book.directory) == before
    assert str(book.spent) == "ε = 0"
