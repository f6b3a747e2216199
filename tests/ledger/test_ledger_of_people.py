"""The secret part of a ledger: who may read it, what is seen of changes, and what is left after a crash."""

from __future__ import annotations

import contextlib
import json
import random
import stat
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.core.people_memory import Placement
from incrowd.errors import LedgerError, UnsafeTogether
from incrowd.ledger import Ledger
from incrowd.ledger.ledger import Overtaken
from incrowd.publishing.remembering import Remembered, Standing, end_entry
from tests.ledger.killed import killed, publish
from tests.ledger.naive_adversary import Shown
from tests.ledger.placements import placement
from tests.ledger.quarters import ROLES, VALUES, quarters
from tests.ledger.test_together import column

MODELS = [ic.KAnonymity(4), ic.LDiversity(2)]


def some(table: pl.DataFrame) -> ic.Table:
    return ic.read(table, **ROLES)


@pytest.fixture
def tables() -> list[pl.DataFrame]:
    return quarters(120, 2)


def test_it_is_secret_and_holds_no_names(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    ledger = Ledger.create(tmp_path / "book", people=True)
    ic.publish(some(tables[0]), MODELS, ledger=ledger).save(tmp_path / "out")
    (kept,) = (tmp_path / "book" / "people").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "book" / "people").stat().st_mode) == 0o700
    assert not any(str(pid).encode() in kept.read_bytes() for pid in tables[0]["pid"])
    told = json.dumps([dict(entry.told) for entry in ledger.entries])
    assert not any(value in told for value in VALUES)
    summary = (tmp_path / "out" / "summary.json").read_text()
    assert "people/" not in summary
    assert ledger.verify([tmp_path / "out"]) == []
    memory, numbers = ledger.memory()
    assert numbers == (2,)
    assert len(memory.placements[0]) == 120
    other = Ledger.create(tmp_path / "other", people=True)
    assert set(other.memory()[0].known_as(tables[0].select("pid"))).isdisjoint(memory.known_as(tables[0].select("pid")))


def test_changes_and_removal_are_seen(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    ledger = Ledger.create(tmp_path / "book", people=True)
    ic.publish(some(tables[0]), MODELS, ledger=ledger)
    (kept,) = (tmp_path / "book" / "people").iterdir()
    content = kept.read_bytes()
    kept.write_bytes(content.replace(b"\0\0\0\0\0\0\0\0\1", b"\0\0\0\0\0\0\0\0\2", 1) + b"x")
    assert ledger.verify() == ["what is kept of the people of release 2 was changed."]
    with pytest.raises(LedgerError, match="was changed"):
        ic.publish(some(tables[1]), MODELS, ledger=ledger)
    kept.unlink()
    assert ledger.verify() == ["what is kept of the people of release 2 is missing."]
    with pytest.raises(LedgerError, match="does not keep any more"):
        ic.publish(some(tables[1]), MODELS, ledger=ledger)
    kept.write_bytes(content)
    assert ledger.verify() == []
    (kept.parent / "99.people").write_bytes(content)
    assert "of no release" in ledger.verify()[0]


def test_tables_that_do_not_tell_whose_a_row_is_are_refused(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=1, people=True)
    nameless = ic.read(tables[0].drop("pid"), quasi=["age", "zip"], sensitive=["illness"])
    with pytest.raises(ic.errors.SchemaError, match="whose a row is"):
        ic.publish(nameless, MODELS, ledger=ledger)
    ages = ic.read(
        tables[0], quasi=["age"], others="drop", hierarchies={"age": ic.Intervals(widths=(10,), lower=0, upper=100)}
    )
    ic.publish(ages, method=ic.DiffGen(epsilon=0.5), ledger=ledger)  # budgets are counted all the same
    assert str(ledger.spent) == "ε = 0.5"


def test_refused_and_mended(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    ledger = Ledger.create(tmp_path / "book", people=True)
    ic.publish(some(tables[0]), MODELS, ledger=ledger)
    with pytest.raises(UnsafeTogether, match="too much of") as caught:
        ic.publish(some(tables[1]), [ic.KAnonymity(4), ic.LDiversity(3)], ledger=ledger)
    assert caught.value.affected > 0
    assert ledger.entries[-1].kind == "failed"
    assert ledger.entries[-1].told["error"] == "UnsafeTogether"
    assert len(list((tmp_path / "book" / "people").iterdir())) == 1
    assert ledger.verify() == []
    wanted = [ic.KAnonymity(4), ic.LDiversity(2)]
    mended = ic.publish(some(tables[1]), wanted, ledger=ledger, if_unsafe="withhold")
    mended.save(tmp_path / "mended")
    told = mended.method_numbers or {}
    assert mended.rows + mended.withheld == 120
    assert mended.withheld == told.get("withheld: releases together would tell too much", 0)
    assert ledger.entries[-2].told["judged with"] == [2]
    assert not ic.open_release(tmp_path / "mended").false_claims
    assert ledger.verify([tmp_path / "mended"]) == []


def test_a_release_that_came_first_meanwhile_is_judged_with(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    ledger = Ledger.create(tmp_path / "book", people=True)
    one = placement(Shown({1: ("a", 0), 2: ("b", 0)}))
    with ledger.start({}) as slow:
        with ledger.start({}) as fast:
            fast.done({}, people=one, judged_with=())
        with pytest.raises(Overtaken):
            slow.done({}, people=one, judged_with=())
        assert not slow.ended
        slow.done({}, people=one, judged_with=(fast.entry.number,))
    assert ledger.memory()[1] == (fast.entry.number, slow.entry.number)
    assert ledger.verify() == []


@pytest.mark.parametrize("safe", [True, False])
def test_what_is_overtaken_while_it_is_made_is_judged_again(
    tmp_path: Path, tables: list[pl.DataFrame], safe: bool
) -> None:
    ledger = Ledger.create(tmp_path / "book", people=True)
    release = ic.publish(some(tables[0]), MODELS)
    mine = placement(Shown({1: ("a", 0), 2: ("b", 0), 3: ("c", 1), 4: ("d", 1)}))
    same = {1: ("a", 0), 2: ("b", 0), 3: ("c", 1), 4: ("d", 1)}
    other = {1: ("a", 0), 3: ("c", 0), 2: ("b", 1), 4: ("d", 1)}
    with contextlib.suppress(UnsafeTogether), ledger.start({}) as slow:
        before = Remembered(*ledger.memory(), "refuse")
        with ledger.start({}) as fast:
            fast.done({}, people=placement(Shown(same if safe else other)), judged_with=())
        end_entry(slow, release, before, Standing(mine, {"s": column()}), [ic.LDiversity(2)])
    assert ledger.verify() == []
    assert ledger.entries[-1].kind == ("made" if safe else "failed")
    assert ledger.memory()[1] == ((fast.entry.number, slow.entry.number) if safe else (fast.entry.number,))
    assert not safe or ledger.entries[-1].told["judged with"] == [fast.entry.number]


def test_people_with_several_values(tmp_path: Path) -> None:
    rows = pl.concat([table.with_columns(zip=pl.col("age")) for table in quarters(90, 2, turnover=0)])
    other = quarters(90, 1, seed=9)[0].select("pid", zip=pl.col("age"), more=pl.col("illness"))
    visits = rows.select("pid", "age", "illness").vstack(
        rows.head(90).join(other, on="pid").select("pid", "age", illness="more")
    )
    roles = {"person": "pid", "quasi": ["age"], "sensitive": ["illness"]}
    ledger = Ledger.create(tmp_path / "book", people=True)
    models = [ic.KAnonymity(5), ic.LDiversity(2), ic.ProbabilisticLDiversity(1.2)]
    for _ in range(2):  # the same groups of the same people tell nothing new
        ic.publish(ic.read(visits, **roles), models, ledger=ledger)
    assert len(ledger.memory()[1]) == 2


BASE = {"person": "pid", "quasi": ["age", "sex"], "sensitive": ["illness"], "others": "drop"}
DIVERSE = [ic.KAnonymity(5), ic.LDiversity(2)]
KINDS = {
    "weights": ({**BASE, "weight": "w"}, DIVERSE, {}),
    "kept columns": ({**BASE, "keep": ["ward"]}, DIVERSE, {}),
    "pseudonyms": ({**BASE, "pseudonyms": ["pid"]}, DIVERSE, {"pseudonym_key": ic.PseudonymKey.new()}),
    "households": ({**BASE, "household": "hid"}, DIVERSE, {}),
    "sets": ({**BASE, "items": ["had"], "item_separator": ";"}, [*DIVERSE, ic.KmAnonymity(3, m=1)], {}),
    "slices": (BASE, ic.SlicedDiversity(2), {"method": ic.Slicing()}),
    "multisets": (BASE, ic.BucketSize(5), {"form": ic.ShowMultisets()}),
    "means": (BASE, DIVERSE, {"show": "mean"}),
    "no sensitive column": ({**BASE, "sensitive": []}, ic.KAnonymity(5), {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_groups_of_the_same_people_tell_nothing_new(tmp_path: Path, kind: str) -> None:
    row = pl.int_range(200)
    table = quarters(200, 1)[0].with_columns(
        sex=pl.when(row % 2 == 0).then(pl.lit("F")).otherwise(pl.lit("M")),
        hid=row // 2,
        w=1 + row % 3,
        ward=pl.when(row % 5 < 2).then(pl.lit("x")).otherwise(pl.lit("y")),
        had=pl.when(row % 2 == 0).then(pl.lit("u;v")).otherwise(pl.lit("v;z")),
    )
    roles, models, options = KINDS[kind]
    ledger = Ledger.create(tmp_path / "book", people=True)
    for number in range(2):
        ic.publish(ic.read(table, **roles), models, ledger=ledger, **options).save(tmp_path / str(number))
    assert ledger.verify([tmp_path / "0", tmp_path / "1"]) == []
    assert [len(one) for one in ledger.memory()[0].placements] == [200, 200]
    not_judged = ledger.entries[-2].told.get("not judged together", [])
    assert bool(not_judged) == (kind in ("households", "slices"))


def test_killed_at_random_moments_there_is_no_entry_without_its_people(tmp_path: Path) -> None:
    draw = random.Random(3)
    ledger = Ledger.create(tmp_path / "book", people=True)
    seen = tmp_path / "seen"
    seen.mkdir()
    with killed(publish, ledger.directory, seen) as one_after:
        for _trial in range(40):
            one_after(draw.uniform(0.001, 0.012))
    assert ledger.verify() == []
    made = {entry.about for entry in ledger.entries if entry.kind == "made"}
    assert {int(path.name) for path in seen.iterdir()} <= made
    assert {int(path.stem) for path in (tmp_path / "book" / "people").iterdir()} == made == set(ledger.memory()[1])
    assert any(entry.kind == "stopped" for entry in ledger.entries)
    assert all(isinstance(one, Placement) for one in ledger.memory()[0].placements)


def test_the_command_line(tmp_path: Path, tables: list[pl.DataFrame]) -> None:
    run = CliRunner().invoke
    for number, table in enumerate(tables):
        table.write_csv(tmp_path / f"q{number}.csv")
        (tmp_path / f"q{number}.recipe.toml").write_text(
            f"""
incrowd = 1
ledger = "book"
if_unsafe = "withhold"
[source]
path = "q{number}.csv"
[[models]]
name = "k-anonymity"
k = 4
[[models]]
name = "distinct-l-diversity"
l = 2
[columns]
pid = "person"
age = "quasi"
zip = "quasi"
illness = "sensitive"
"""
        )
    begun = run(app, ["ledger", "init", str(tmp_path / "book"), "--people"], catch_exceptions=False)
    assert "as secret as the tables" in " ".join(begun.output.split())
    assert run(app, ["publish", str(tmp_path / "q0.recipe.toml"), "-q"], catch_exceptions=False).exit_code == 0
    done = run(app, ["publish", str(tmp_path / "q1.recipe.toml"), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    book, first = str(tmp_path / "book"), str(tmp_path / "q0-release")
    applied = ["apply", first, str(tmp_path / "q1.csv"), "--ledger", book, "-o", str(tmp_path / "applied"), "-q"]
    with pytest.raises(UnsafeTogether):
        run(app, [*applied, "--if-unsafe", "refuse"], catch_exceptions=False)
    assert not (tmp_path / "applied").exists()
    assert run(app, [*applied, "--if-unsafe", "perhaps"]).exit_code == 2
    assert run(app, ["ledger", "verify", book, first, str(tmp_path / "q1-release")]).exit_code == 0
