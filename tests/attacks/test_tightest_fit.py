"""Where labels overlap, an audit claims no less than an outsider reaches who has nothing but the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.likeliest_value import LikeliestValue
from incrowd.attacks.linkage import Linkage, ways_to_pick
from incrowd.auditing.audit import Audit
from incrowd.core.risk import Risk
from incrowd.core.target import Target
from incrowd.core.view import EVERY_ROW, TIGHTEST
from tests.attacks.attacking import CITIES, DECLARED, attack, count, declared, grouped, one_group, people, read
from tests.attacks.naive_outsider import Success, attack_file
from tests.auditing.audit_cases import write

pytestmark = pytest.mark.usefixtures("few_queries")

NORTH = frozenset(CITIES[1::2])
TREES: dict[str, Any] = {
    "age": (20, 80),
    "city": {**{name: frozenset({name}) for name in CITIES}, "north": NORTH, "south": frozenset(CITIES) - NORTH,
             "*": frozenset(CITIES)},
    "sex": {"F": frozenset("F"), "M": frozenset("M"), "*": frozenset("FM")},
}  # fmt: skip
METHODS = {
    "mondrian, hierarchy labels": ic.Mondrian(labels="hierarchy"),
    "relaxed cuts": ic.Mondrian(cuts="relaxed", labels="hierarchy"),
    "local recoding": ic.LocalRecoding(max_distortion=1.0),
    "recoded leftovers": ic.FullDomain(leftovers="recode"),
    "clusters": ic.KMember(),
}
NOISE = 0.003


def risk(audit: Audit, name: str) -> Risk:
    return next(found for found in audit.attacks if found.attack == name)


def outsider(frame: pl.DataFrame, method: Any, directory: Path) -> Success:
    """Publish the same once more with names beside the rows, which tell who is right."""
    table = ic.read(frame, quasi=["age", "city", "sex"], sensitive=["sick"], hierarchies=DECLARED, others="keep")
    release = ic.publish(table, [ic.KAnonymity(5)], method=method, seed=0)
    release.save(directory, format="csv")
    return attack_file(directory / "data.csv", frame.to_dicts(), TREES, "sick", own_row="id")


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_audit_claims_no_less_than_an_outsider_reaches(method: Any, tmp_path: Path) -> None:
    frame = people(500, dependence=0.5).with_columns(id=pl.int_range(500).cast(pl.String))
    naive = outsider(frame, method, tmp_path / "graded")
    release = ic.publish(declared(frame.drop("id")), [ic.KAnonymity(5)], method=method, seed=0)
    release.save(tmp_path / "out", format="csv")
    opened = ic.open_release(tmp_path / "out", original=frame.drop("id"))
    for found in (release.audit(remedies=False, learn=False), opened.audit(remedies=False, learn=False)):
        linkage = risk(found, "linkage").value
        assert linkage >= max(naive.links.values()) - NOISE
        assert linkage <= 1.25 * max(naive.links.values()) + NOISE  # the bound is not far above what can be reached
        assert risk(found, "likeliest-value").value >= max(naive.guesses.values()) - NOISE
        assert risk(found, "homogeneity").value >= naive.certain - NOISE
    # The widest crowd hides what the tightest fit finds.
    assert max(naive.links.values()) > 1.2 * naive.links["rows"]


STAR = {
    "x": ["1"] * 100 + ["*"] * 900,
    "ill": ["HIV"] * 100 + ["flu", "cold", "gout"] * 300,
}


@pytest.fixture
def exact_beside_star(tmp_path: Path) -> Path:
    pl.DataFrame(STAR).write_csv(tmp_path / "published.csv")
    original = {"x": [1] * 100 + [2 + place % 9 for place in range(900)], "ill": STAR["ill"]}
    pl.DataFrame(original).write_csv(tmp_path / "original.csv")
    write(tmp_path / "description.toml", '[columns]\nx = "quasi"\nill = "sensitive"\n')
    return tmp_path


def test_exact_rows_beside_a_star_group_are_seen(exact_beside_star: Path) -> None:
    files = exact_beside_star
    original = files / "original.csv"
    with_original = ic.open_release(
        files / "published.csv", description=files / "description.toml", original=original
    ).audit(remedies=False, learn=False)
    alone = ic.open_release(files / "published.csv", description=files / "description.toml").audit(
        remedies=False, learn=False
    )
    for found in (with_original, alone):
        certain = risk(found, "homogeneity")
        assert certain.value == pytest.approx(0.1)
        assert certain.worst == 1
        assert certain.got_through
    assert with_original.threats["inference"]["level"] != "low"
    naive = attack_file(
        files / "published.csv",
        pl.read_csv(original, schema_overrides={"x": pl.String}).to_dicts(),
        {"x": {**{str(x): frozenset({str(x)}) for x in range(1, 11)}, "*": frozenset(map(str, range(1, 11)))}},
        "ill",
    )
    assert naive.certain == pytest.approx(0.1)
    assert risk(with_original, "likeliest-value").value >= max(naive.guesses.values()) - 1e-9


# --- the pieces, on tables that can be followed by hand ---


def test_rules_differ_only_where_labels_overlap() -> None:
    table = read({"x": [1, 1, 2, 2], "s": list("abab")}, ["x"], ["s"])
    target = Target(grouped(table, [0, 0, 1, 1]), count(table))
    assert list(target.readings("s")) == [EVERY_ROW]
    assert [way.rule for way in ways_to_pick(target)] == [EVERY_ROW]


def test_a_wrong_fit_finds_nobody() -> None:
    """Two rows `1` and two rows `*`: whoever has 1 picks `1`, and half of those who do are behind `*`."""
    table = read({"x": [1, 1, 1, 2], "s": list("abcd")}, ["x"], ["s"])
    form = grouped(table, [0, 0, 1, 1])  # a and b show 1; c and d show 1 to 2
    ways = {way.rule: way for way in ways_to_pick(Target(form, count(table)))}
    # c picks a row of `1`, in vain; d fits nothing but the wide group.
    assert ways[TIGHTEST].chances.tolist() == [0.5, 0.5, 0.0, 0.5]
    assert ways[EVERY_ROW].chances.tolist() == pytest.approx([0.25, 0.5])
    assert attack(Linkage(), form, count(table)).value == pytest.approx(1.5 / 4)


def test_claims_that_are_right_by_luck_are_the_baseline() -> None:
    """Ten people fit the exact label best, behind which everybody is ill; four of them are not, and not behind it."""
    table = read({"x": [1] * 10 + [2] * 2, "s": ["ill"] * 6 + ["well"] * 4 + ["cold"] * 2}, ["x"], ["s"])
    tally = count(table)
    # Tuples by value: (2, cold) twice, (1, ill) six times, (1, well) four times. The ill show 1, the others 1 to 2.
    form = grouped(table, [1, 0, 1])
    risk_found = attack(Homogeneity(), form, tally)
    assert risk_found.details["claimed"] == pytest.approx(10 / 12)
    assert risk_found.value == pytest.approx(6 / 12)
    assert risk_found.baseline == pytest.approx(4 / 12)  # every second person is ill: 4 wrong, so 4 by luck


def test_nobody_and_one_person() -> None:
    table = read({"x": [1], "s": ["a"]}, ["x"], ["s"])
    for attacker in (Linkage(), Homogeneity(), LikeliestValue()):
        assert attack(attacker, one_group(table), count(table)).value == 1
    gone = grouped(read({"x": [1, 2], "s": ["a", "b"]}, ["x"], ["s"]), [-1, -1])
    assert attack(Linkage(), gone, gone.tally).value == 0


def test_majority_guessing_is_one_of_the_rules() -> None:
    """Each group of two tells nothing: a coin decides between two values, and most people have the first."""
    table = read({"x": [1, 1, 2, 2, 3, 3], "s": ["a", "b", "a", "c", "a", "d"]}, ["x"], ["s"])
    found = attack(LikeliestValue(), grouped(table, [0, 0, 1, 1, 2, 2]), count(table))
    assert found.value == found.baseline == pytest.approx(0.5)
    assert not found.got_through
