"""A verdict is decided by the most exposed people, by false claims, and by numbers that are what they say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.linkage import Linkage
from incrowd.auditing.audit import Audit
from incrowd.auditing.run import aim, attack_all
from incrowd.common.percents import percent
from incrowd.common.progress import silent
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from tests.auditing.audit_cases import write
from tests.cli.command import incrowd

pytestmark = pytest.mark.usefixtures("few_queries")


def release_with_unique_people(directory: Path, alone: int, rows: int) -> Path:
    """Write another tool's release: `alone` people who are one of a kind, all others in one large group."""
    crowd = rows - alone
    published = {
        "x": [str(place) for place in range(alone)] + ["*"] * crowd,
        "ill": ["flu", "cold"] * (alone // 2) + ["flu"] * (alone % 2) + ["flu", "cold", "gout", "HIV"] * (crowd // 4),
    }
    pl.DataFrame(published).write_csv(directory / "published.csv")
    pl.DataFrame({"x": [*range(alone), *([1_000_000] * crowd)], "ill": published["ill"]}).write_csv(
        directory / "original.csv"
    )
    return write(
        directory / "description.toml",
        '[columns]\nx = "quasi"\nill = "sensitive"\n[[models]]\nname = "k-anonymity"\nk = 2\n',
    )


def audited(directory: Path, description: Path, *, original: bool, remedies: bool = False) -> Audit:
    table = directory / "original.csv" if original else None
    release = ic.open_release(directory / "published.csv", description=description, original=table)
    return release.audit(remedies=remedies, learn=False)


@pytest.mark.parametrize("original", [True, False], ids=["with the original", "by the files alone"])
def test_a_few_people_who_are_one_of_a_kind_are_never_low(original: bool, tmp_path: Path) -> None:
    found = audited(tmp_path, release_with_unique_people(tmp_path, 38, 8038), original=original)
    linkage = next(risk for risk in found.attacks if risk.attack == "linkage")
    assert linkage.value < 0.01  # the mean consoles nobody
    assert linkage.exposed == 38
    for threat in ("linkability", "inference"):
        assert found.threats[threat]["level"] == "noticeable"
        assert found.threats[threat]["says"].endswith("Exposed for sure: 38 of 8,038.")
    assert found.strongest is not None
    # More than one in twenty is high, and one person is not low either; how few they are is not told.
    many = audited(tmp_path, release_with_unique_people(tmp_path, 60, 1060), original=original)
    assert many.threats["linkability"]["level"] == "high"
    one = audited(tmp_path, release_with_unique_people(tmp_path, 1, 4001), original=original)
    assert one.threats["linkability"]["level"] == "noticeable"
    assert "Exposed for sure: fewer than 5" in one.threats["linkability"]["says"]


def test_nobody_exposed_may_be_low(tmp_path: Path) -> None:
    found = audited(tmp_path, release_with_unique_people(tmp_path, 0, 4000), original=True)
    assert {threat: entry["level"] for threat, entry in found.threats.items()} == dict.fromkeys(found.threats, "low")
    assert found.strongest is None


def test_a_false_claim_leads_the_verdict_and_the_exit_code(tmp_path: Path) -> None:
    description = release_with_unique_people(tmp_path, 38, 838)
    found = audited(tmp_path, description, original=True)
    assert next(iter(found.verdict)) == "false claims"
    assert found.verdict["false claims"][0].startswith("2-anonymity (")
    page = found.to_html()
    assert 0 < page.index("Claimed, and not so: ") < page.index("Guaranteed")
    arguments = ["audit", str(tmp_path / "published.csv"), "--description", str(description), "--no-learning"]
    done = incrowd(*arguments)
    assert done.code == 1
    assert done.out.index("claimed, and not so") < done.out.index("guaranteed")
    as_json = incrowd(*arguments, "--json")
    assert as_json.code == 1
    assert json.loads(as_json.out)["verdict"]["false claims"]
    # The same claim of a release that keeps it.
    honest = release_with_unique_people(tmp_path, 0, 800)
    assert "false claims" not in audited(tmp_path, honest, original=True).verdict
    assert incrowd(*arguments).code == 0


def test_numbers_that_round_to_all_or_nothing_say_so() -> None:
    assert percent(0.9999) == "over 99.9%"
    assert percent(0.0004) == "under 0.1%"
    assert (percent(1.0), percent(0.0), percent(0.9994)) == ("100.0%", "0.0%", "99.9%")
    assert (percent(0.996, 0), percent(0.004, 0)) == ("over 99%", "under 1%")


@pytest.mark.parametrize(
    ("value", "exposed", "level"),
    [
        (0.0, 0, "low"),
        (0.03, 0, "low"),
        (0.2, 0, "noticeable"),
        (0.8, 0, "high"),
        (0.0, 1, "noticeable"),
        (0, 500, "high"),
    ],
)
def test_levels(value: float, exposed: int, level: str) -> None:
    risk: Risk = risk_of(Linkage(), value=value, baseline=0.0, people=10_000, says="", exposed=exposed)
    assert risk.level == level


@dataclass(frozen=True)
class _ExposesByKeptColumns(Attack):
    """Is right a little more often by labels alone, and sure of half of all people who are known by more."""

    name: ClassVar[str] = "exposes-by-kept-columns"
    threat: ClassVar[Threat] = "linkability"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        if target.beside:
            return risk_of(self, value=0.55, baseline=0.4, people=1000, says="", exposed=500)
        return risk_of(self, value=0.6, baseline=0.4, people=1000, says="")


def test_of_several_adversaries_the_one_who_exposes_people_counts() -> None:
    frame = ic.datasets.census(60)
    release = ic.publish(ic.read(frame, quasi=["age"], keep=["sex"], others="drop"), ic.KAnonymity(5), seed=1)
    target, _ = aim(release, seed=0)
    (risk,), _ = attack_all(target, [_ExposesByKeptColumns()], seed=0, progress=silent)
    assert (risk.exposed, risk.level) == (500, "high")
