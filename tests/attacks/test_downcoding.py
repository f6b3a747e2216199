"""Downcoding against a naive oracle on saved files, and against methods that do and do not show the narrowest label."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.downcoding import Downcoding
from incrowd.core.target import Target

QUASI = ["age", "zip"]


def people(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(0, 100, rows), "zip": rng.integers(100, 160, rows)})


def attacked(frame: pl.DataFrame, method: Any, k: int, place: Path) -> Any:
    table = ic.read(frame, quasi=QUASI)
    ic.publish(table, ic.KAnonymity(k), method=method, seed=1).save(place)
    release = ic.open_release(place, original=table)
    target = Target(release.form, release.table_before, require=(ic.KAnonymity(k),))
    assert Downcoding().lacks(target) is None
    return Downcoding().run(target, rng=np.random.default_rng(0))


def ends(label: str) -> tuple[float, float]:
    """Read `[20, 30)`, `<20`, `>=30`, `20` and `*` as low and high, the high one outside."""
    text = label.strip()
    if text == "*":
        return -np.inf, np.inf
    if text.startswith("<"):
        return -np.inf, float(text[1:])
    if text.startswith((">=", "≥")):
        return float(text.lstrip(">=≥ ")), np.inf
    if text.startswith("["):
        low, high = text[1:-1].split(",")
        return float(low), float(high)
    return float(text), float(text) + 1


@pytest.mark.parametrize("k", [2, 5, 12])
def test_as_counted_by_hand_from_the_files(k: int, tmp_path: Path) -> None:
    frame = people()
    risk = attacked(frame, ic.Mondrian(), k, tmp_path / "out")
    with (tmp_path / "out" / "data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups: dict[tuple[str, ...], int] = defaultdict(int)
    for row in rows:
        groups[tuple(row[name] for name in QUASI)] += 1
    refined = right = 0
    for name, place in (("age", 0), ("zip", 1)):
        cuts = sorted({end for labels in groups for end in ends(labels[place])})
        for labels, size in groups.items():
            low, high = ends(labels[place])
            inside = [cut for cut in cuts if low < cut < high]
            if not inside or size < 2:
                continue
            boxes = [ends(label) for label in labels]
            members = [
                person[name]
                for person in frame.iter_rows(named=True)
                if all(a <= person[one] < b for one, (a, b) in zip(QUASI, boxes, strict=True))
            ]
            assert len(members) == size
            refined += 2
            right += any(value < inside[0] for value in members) + any(value >= inside[-1] for value in members)
    assert risk.details["cells refined"] == refined > 0
    assert risk.details["cells right"] == right
    assert risk.value == pytest.approx(right / refined)
    assert risk.baseline < risk.value


def test_narrowest_labels_give_their_ends_away(tmp_path: Path) -> None:
    for place, method in enumerate([ic.Mondrian(), ic.Mondrian(labels="tight"), ic.KMember(labels="tight")]):
        risk = attacked(people(), method, 3, tmp_path / str(place))
        assert risk.value == 1.0
        assert risk.got_through
        assert 0 < risk.details["narrower by"] < 1


def test_a_node_with_two_branches_has_people_in_both() -> None:
    tree = ic.Categories.from_tree({"x": ["a", "b"], "y": ["c", "d", "e"]})
    frame = pl.DataFrame({"town": list("abababcdecdeaa")})
    table = ic.read(frame, quasi=["town"], hierarchies={"town": tree})
    release = ic.publish(table, ic.KAnonymity(6), method=ic.Mondrian(labels="hierarchy"), seed=1)
    target = Target(release.form, table.engine.count(table.schema).tally)
    risk = Downcoding().run(target, rng=np.random.default_rng(0))
    # x has the branches a and b, both with people; y has three, and nobody knows which of them have.
    assert (risk.details["cells refined"], risk.details["cells right"]) == (2, 2)
    assert risk.details["narrower by"] == 0.5


def test_a_level_that_all_groups_share_tells_nothing(tmp_path: Path) -> None:
    risk = attacked(people(), ic.FullDomain(max_withheld=0.1), 5, tmp_path / "out")
    assert risk.details["cells refined"] == 0
    assert not risk.got_through
    assert "No label can be made more specific" in risk.says


def test_what_it_needs() -> None:
    table = ic.read(people(), quasi=QUASI)
    release = ic.publish(table, ic.KAnonymity(5))
    assert Downcoding().lacks(Target(release.form)) == "the table before is needed"
    sick = people().with_columns(ill=pl.Series(["flu", "gout"] * 200))
    buckets = ic.publish(ic.read(sick, quasi=QUASI, sensitive=["ill"]), ic.LDiversity(2), method=ic.Anatomy())
    assert Downcoding().lacks(Target(buckets.form)) == "the release has no labels to refine"
