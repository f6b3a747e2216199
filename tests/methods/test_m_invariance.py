"""m-invariance: every release is checked by code of its own, from its files and the true tables."""

from __future__ import annotations

import stat
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.composition import Composition
from incrowd.auditing.run import aim
from incrowd.core.people_memory import PeopleMemory
from incrowd.methods.m_invariance import TELLS_CHANGED, TELLS_GONE, TELLS_TOO_MANY
from tests.ledger.quarters import ROLES, VALUES, quarters


def naive_signatures(place: Path, table: pl.DataFrame, m: int) -> dict[int, frozenset[str]]:
    """Check one release for m-uniqueness, and return everybody's signature by what is in its files."""
    rows = pl.read_csv(place / "data.csv").to_dicts()
    values = pl.read_csv(place / "sensitive.csv").to_dicts()
    fakes = {row["bucket"]: row["count"] for row in pl.read_csv(place / "counterfeits.csv").to_dicts()}
    shown: dict[int, list[str]] = defaultdict(list)
    for row in values:
        shown[row["bucket"]] += [row["illness"]] * row["count"]
    of_bucket: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        of_bucket[row["bucket"]].append((row["age"], row["zip"]))
    owner = {(row["age"], row["zip"]): row for row in table.to_dicts()}
    found = {}
    assert set(of_bucket) == set(shown)
    for bucket, members in of_bucket.items():
        assert len(members) == len(shown[bucket]) >= m
        assert len(set(shown[bucket])) == len(shown[bucket]), "a value is twice in a bucket"
        people = set(members)  # a counterfeit looks like somebody of its bucket
        assert len(members) - len(people) == fakes.get(bucket, 0)
        own = [owner[member]["illness"] for member in people]
        assert not Counter(own) - Counter(shown[bucket]), "somebody's own value is not shown"
        found |= {owner[member]["pid"]: frozenset(shown[bucket]) for member in people}
    assert len(found) == sum(len(set(members)) for members in of_bucket.values())
    return found


def publish_all(
    tables: list[pl.DataFrame], m: int, place: Path | None = None, seed: int | None = None, **options: object
) -> list[ic.Release]:
    made, memory = [], None
    for number, table in enumerate(tables):
        method = ic.MInvariance(m, known=memory, **options)
        release = ic.publish(ic.read(table, **ROLES), method=method, seed=seed)
        if place is not None:
            release.save(place / str(number), format="csv")
        memory = release.memory
        made.append(release)
    return made


@pytest.mark.parametrize(("m", "changes", "skewed"), [(2, 0.0, False), (3, 0.1, False), (3, 0.0, True), (4, 0.2, True)])
def test_everybody_keeps_the_signature(tmp_path: Path, m: int, changes: float, skewed: bool) -> None:
    tables = quarters(250, 5, changes=changes, seed=m, skewed=skewed)
    made = publish_all(tables, m, tmp_path)
    known: dict[int, frozenset[str]] = {}
    for number, (table, release) in enumerate(zip(tables, made, strict=True)):
        found = naive_signatures(tmp_path / str(number), table, m)
        for person, signature in found.items():
            assert known.setdefault(person, signature) == signature
        told = release.method_numbers
        own = dict(table.select("pid", "illness").iter_rows())
        changed = sum(person in known and own[person] not in known[person] for person in own)
        assert told[TELLS_CHANGED] == changed
        assert release.withheld == told[TELLS_CHANGED] + told[TELLS_GONE] + told[TELLS_TOO_MANY]
        assert release.rows_in == table.height == len(found) + release.withheld
        assert release.rows == len(found) + release.counterfeits
        assert release.summary["rows"].get("counterfeits", 0) == release.counterfeits
        opened = ic.open_release(tmp_path / str(number))
        assert (opened.counterfeits, opened.rows) == (release.counterfeits, release.rows)
        assert not opened.false_claims
        assert not any(pid in (tmp_path / str(number) / "summary.json").read_text() for pid in ("1000", "1001"))
    if changes:
        assert any(release.method_numbers[TELLS_CHANGED] for release in made)


def test_a_value_that_nobody_has_any_more_is_not_named(tmp_path: Path) -> None:
    first = quarters(90, 1)[0]
    second = first.filter(pl.col("illness") != "hiv")
    made = publish_all([first, second], 3, tmp_path)
    found = naive_signatures(tmp_path / "0", first, 3)
    gone = sum("hiv" in found[pid] for pid in second["pid"] if pid in found)
    assert made[1].method_numbers[TELLS_GONE] == gone > 0
    assert "hiv" not in (tmp_path / "1" / "sensitive.csv").read_text()


def test_who_comes_back_hides_among_the_same_values(tmp_path: Path) -> None:
    table = quarters(200, 1)[0]
    away = table.filter(pl.col("pid") % 4 != 0)
    publish_all([table, away, table], 3, tmp_path)
    first, third = naive_signatures(tmp_path / "0", table, 3), naive_signatures(tmp_path / "2", table, 3)
    assert {pid: first[pid] for pid in third if pid in first} == {pid: third[pid] for pid in third if pid in first}


def test_a_changed_person_may_count_as_a_new_one(tmp_path: Path) -> None:
    first = quarters(300, 1)[0]
    second = first.with_columns(illness=pl.col("illness").replace("flu", "gout"))
    second = pl.concat([second.filter(pl.col("pid") % 2 == 0), first.filter(pl.col("pid") % 2 == 1)])
    (kept,) = publish_all([first, second], 3, tmp_path / "a")[1:]
    (new,) = publish_all([first, second], 3, tmp_path / "b", changed="new")[1:]
    assert kept.method_numbers[TELLS_CHANGED] > 0
    assert new.method_numbers[TELLS_CHANGED] == 0
    naive_signatures(tmp_path / "b" / "1", second, 3)


def test_the_memory_is_a_secret_file_with_its_key_apart(tmp_path: Path) -> None:
    tables = quarters(120, 2)
    first = ic.publish(ic.read(tables[0], **ROLES), method=ic.MInvariance(3))
    assert first.memory is not None
    first.memory.save(tmp_path / "q1.memory")
    for path in (tmp_path / "q1.memory", tmp_path / "q1.memory.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = (tmp_path / "q1.memory").read_bytes()
    assert first.memory.secret not in content
    second = ic.publish(ic.read(tables[1], **ROLES), method=ic.MInvariance(3, last=str(tmp_path / "q1.memory")))
    first.save(tmp_path / "0", format="csv")
    second.save(tmp_path / "1", format="csv")
    before = naive_signatures(tmp_path / "0", tables[0], 3)
    after = naive_signatures(tmp_path / "1", tables[1], 3)
    assert all(after[pid] == before[pid] for pid in after if pid in before)
    again = PeopleMemory.load(tmp_path / "q1.memory")
    assert len(again.placements) == 1
    with pytest.raises(ic.errors.LedgerError):
        PeopleMemory.load(tmp_path / "0" / "data.csv", key=tmp_path / "q1.memory.key")


def test_what_cannot_be(tmp_path: Path) -> None:
    table = quarters(60, 1)[0]
    with pytest.raises(ic.errors.SchemaError, match="whose a row is"):
        ic.publish(ic.read(table.drop("pid"), quasi=["age", "zip"], sensitive=["illness"]), method=ic.MInvariance(3))
    with pytest.raises(ic.errors.Unsatisfiable):
        ic.publish(ic.read(table.with_columns(illness=pl.lit("flu")), **ROLES), method=ic.MInvariance(2))
    with pytest.raises(ic.errors.RecipeError):
        ic.MInvariance(1)
    with pytest.raises(ic.errors.RecipeError, match="form"):
        ic.publish(ic.read(table, **ROLES), method=ic.MInvariance(3), form=ic.ShowGeneralized())
    one = ic.publish(
        ic.read(table.head(len(VALUES)).with_columns(illness=pl.Series(VALUES)), **ROLES), method=ic.MInvariance(7)
    )
    assert (one.rows, len(one.shown.group_sizes)) == (7, 1)
    with pytest.raises(ic.errors.SchemaError):
        ic.publish(ic.read(pl.concat([table, table.head(3)]), **ROLES), method=ic.MInvariance(3))


def test_missing_values_are_values_like_any_other(tmp_path: Path) -> None:
    table = quarters(80, 1)[0].with_columns(illness=pl.col("illness").replace("flu", None))
    release = ic.publish(ic.read(table, **ROLES), method=ic.MInvariance(3))
    again = ic.publish(ic.read(table, **ROLES), method=ic.MInvariance(3, known=release.memory))
    assert again.rows == 80
    assert again.counterfeits == 0


def test_ten_quarters_together_tell_no_more_than_one() -> None:
    def composed(releases: list[ic.Release]) -> ic.Risk:
        target, _ = aim(releases[-1], earlier=releases[:-1])
        return Composition().run(target, rng=np.random.default_rng(0))

    tables = quarters(300, 10, turnover=0.3)
    # One draw may come out above by chance, by some tenths of a per cent: the mean of several does not.
    draws = [composed(publish_all(tables, 3, seed=seed)) for seed in range(3)]
    anatomy = composed(
        [
            ic.publish(ic.read(table, **ROLES), ic.ProbabilisticLDiversity(3), method=ic.Anatomy(), seed=1)
            for table in tables
        ]
    )
    assert sum(one.value for one in draws) <= sum(one.baseline for one in draws)
    assert [one.details["only one value left"] for one in draws] == [0] * 3
    assert anatomy.value > anatomy.baseline + 0.2
    assert anatomy.details["only one value left"] > 0.3


def test_new_people_wait_where_one_value_is_too_frequent(tmp_path: Path) -> None:
    first = quarters(70, 1)[0]
    fresh = quarters(100, 1, seed=5)[0].tail(30).with_columns(pid=pl.col("pid") + 5000, zip=pl.col("zip") + 5000)
    many = pl.concat([first, fresh.with_columns(illness=pl.lit("flu"))])
    later = pl.concat([first, fresh])
    made = publish_all([first, many, later], 3, tmp_path)
    waiting = made[1].method_numbers[TELLS_TOO_MANY]
    assert waiting == made[1].withheld == 30  # not only those beyond a third: their value would be known
    assert made[2].withheld == made[2].method_numbers[TELLS_TOO_MANY]
    assert made[2].rows - made[2].counterfeits > 70
    with pytest.raises(ic.errors.Unsatisfiable, match="more than 1/3"):
        ic.publish(ic.read(many.tail(40), **ROLES), method=ic.MInvariance(3))
