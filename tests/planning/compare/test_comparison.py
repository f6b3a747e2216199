"""The frontier, the ranking, and what is written of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import OutputError, RecipeError
from incrowd.planning.compare import Comparison, Outcome
from incrowd.planning.compare.comparison import threats_of

POINTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def outcome(name: str, risk: float, loss: float | None, failed: str = "") -> Outcome:
    return Outcome(
        name=name,
        method="mondrian",
        form="generalized",
        promises=("5-anonymity",),
        rows=100,
        withheld=3,
        risks={"singling out": risk, "linkability": risk, "inference": risk},
        losses={} if loss is None else {"queries": loss, "pairs": 1 - loss / 10},
        strongest="linkage",
        seconds=0.5,
        failed=failed,
    )


def outcomes(points: list[tuple[int, int]]) -> tuple[Outcome, ...]:
    return tuple(outcome(f"c{place}", risk / 10, loss / 10) for place, (risk, loss) in enumerate(points))


@given(POINTS)
def test_the_frontier_is_what_nothing_dominates(points: list[tuple[int, int]]) -> None:
    found = Comparison(outcomes(points))
    naive = set()
    for place, (risk, loss) in enumerate(points):
        beaten = False
        for other_risk, other_loss in points:
            better_in_one = other_risk < risk or other_loss < loss
            if other_risk <= risk and other_loss <= loss and better_in_one:
                beaten = True
        if not beaten:
            naive.add(f"c{place}")
    assert found.frontier == naive


@given(POINTS)
def test_the_ranking_puts_the_frontier_first_and_orders_both_parts_by_their_sums(
    points: list[tuple[int, int]],
) -> None:
    found = Comparison(outcomes(points))
    ranked = [one.name for one in found.ranked]
    assert sorted(ranked) == sorted(f"c{place}" for place in range(len(points)))
    first = len(found.frontier)
    assert set(ranked[:first]) == found.frontier
    most = [max((point[side] for point in points), default=0) or 1 for side in (0, 1)]
    sums = {f"c{place}": risk / most[0] + loss / most[1] for place, (risk, loss) in enumerate(points)}
    for part in (ranked[:first], ranked[first:]):
        values = [round(sums[name], 9) for name in part]
        assert values == sorted(values)


def test_axes() -> None:
    one = Outcome("a", "m", "f", (), 1, 0, {"singling out": 0.9, "linkability": 0.0}, {"pairs": 0.2}, "", 0.0)
    assert one.risk("mean") == pytest.approx(0.45)
    assert one.risk("worst") == 0.9
    assert one.risk("linkability") == 0.0
    assert one.risk("inference") == 0.0
    assert Comparison((one,), "worst", "pairs").point(one) == (0.9, 0.2)
    assert Comparison((one,)).compared == []  # no queries were asked
    with pytest.raises(RecipeError, match="is one of mean, worst"):
        Comparison((), "wrong")
    with pytest.raises(RecipeError, match="is one of queries, columns"):
        Comparison((), "mean", "wrong")


def test_the_dict_the_table_and_the_file_say_the_same(tmp_path: Path) -> None:
    failed = outcome("cannot", 0, None, failed="there are too few rows.")
    found = Comparison((outcome("x, y", 0.2, 0.1), outcome("worse", 0.3, 0.4), outcome("safe", 0.0, 0.9), failed))
    told = found.to_dict()
    assert told["frontier"] == ["safe", "x, y"]
    assert [entry["rank"] for entry in told["candidates"]] == [1, 2, 3]
    assert told["failed"] == [{"name": "cannot", "why": "there are too few rows."}]
    rows = list(csv.DictReader(io.StringIO(found.save(tmp_path / "a.csv").read_text(encoding="utf-8"))))
    assert [row["candidate"] for row in rows] == [entry["name"] for entry in told["candidates"]]
    assert [float(row["risk"]) for row in rows] == pytest.approx([entry["risk"] for entry in told["candidates"]])
    assert [row["on the frontier"] for row in rows] == ["true", "true", "false"]
    assert json.loads(found.save(tmp_path / "a.json").read_text(encoding="utf-8")) == told
    page = found.save(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "x, y" in page
    assert "there are too few rows." in page
    with pytest.raises(OutputError, match=r"\.html, \.json or \.csv"):
        found.save(tmp_path / "a.txt")


def test_a_comparison_in_which_everything_failed_is_still_a_page() -> None:
    found = Comparison((outcome("a", 0, None, failed="no."),))
    assert found.table().height == 0
    assert "no." in found.to_html()
    assert found._repr_html_()
    assert repr(found) == "Comparison(0 candidates, 0 on the frontier)"


def test_outcomes_are_written_and_read() -> None:
    from dataclasses import asdict

    one = outcome("a", 0.1, 0.2)
    assert Outcome.from_dict(json.loads(json.dumps(asdict(one)))) == one


def test_only_attacks_that_got_through_count() -> None:
    attacks = [
        {"threat": "inference", "advantage": 0.7, "got through": False},
        {"threat": "inference", "advantage": 0.2, "got through": True},
        {"threat": "linkability", "advantage": 0.5, "got through": False},
    ]
    assert threats_of(attacks) == {"inference": 0.2, "linkability": 0.0}
