"""Sensitive and kept columns that are changed before they are published: in memory, in files, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.changes.change import Change, Column
from incrowd.core import families
from incrowd.core.families import registered
from incrowd.engines.local import LocalEngine
from incrowd.engines.spark.engine import SparkEngine
from incrowd.errors import RecipeError, SchemaError
from incrowd.testing import check_change

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["income", "job"], "keep": ["hours"]}
JOBS = ["cook", "clerk", "nurse", "judge"]
EVERY = {
    "income": [ic.Noise(100.0), ic.Rounding(50), ic.TopCoding(4000)],
    "job": ic.PRAM(0.6),
    "hours": ic.RankSwapping(0.1),
}


def people(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["F", "M"], rows),
            "income": [None if one % 29 == 0 else int(one) for one in rng.lognormal(7.5, 0.5, rows).astype(int)],
            "job": rng.choice(JOBS, rows, p=[0.5, 0.3, 0.15, 0.05]),
            "hours": rng.integers(0, 400, rows) / 10,
        }
    )


def texts(frame: pl.DataFrame) -> list[tuple[str | None, ...]]:
    # A CSV holds 30 where a frame holds 30.0.
    return frame.select(pl.all().cast(pl.String).str.replace(r"^(-?\d+)\.0$", "${1}")).rows()


def published(changes: Any, frame: pl.DataFrame | None = None, *, seed: int | None = 1, **more: Any) -> ic.Release:
    table = ic.read(people() if frame is None else frame, **ROLES, changes=changes, **more)
    return ic.publish(table, ic.KAnonymity(4), seed=seed)


@pytest.mark.usefixtures("few_queries")
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_values_are_changed_one_by_one_in_every_kind_of_source(kind: str, tmp_path: Path) -> None:
    frame = people()
    source: Any = frame
    if kind != "frame":
        source = tmp_path / f"people.{kind}"
        frame.write_csv(source) if kind == "csv" else frame.write_parquet(source)
    changes = {"income": [ic.Rounding(500), ic.TopCoding(3000)], "hours": ic.Rounding(10), "job": ic.Banding(1)}
    jobs = ic.Categories.from_tree({"service": ["cook", "nurse"], "office": ["clerk", "judge"]})
    table = ic.read(source, **ROLES, changes=changes, hierarchies={"job": jobs})
    release = ic.publish(table, ic.KAnonymity(4))
    naive = sorted(
        (
            "" if income is None else str(min((income + 250) // 500 * 500, 3000)),
            "service" if job in ("cook", "nurse") else "office",
            float(int((hours + 5) // 10 * 10)),
        )
        for income, job, hours in frame.select("income", "job", "hours").rows()
    )
    shown = release.to_polars().select(
        pl.col("income").cast(pl.String).fill_null(""), "job", pl.col("hours").cast(pl.Float64)
    )
    assert sorted(shown.rows()) == naive
    if kind == "parquet":
        assert release.data["income"].dtype == pl.Int64
    release.save(tmp_path / "release")
    opened = ic.open_release(tmp_path / "release", original=source)
    assert texts(opened.to_polars()) == texts(release.to_polars())
    assert not opened.false_claims
    assert opened.changes.columns.keys() == release.changes.columns.keys()
    if kind == "csv":  # audits look at rows, wherever they were
        found, again = (one.audit(learn=False, remedies=False).to_dict() for one in (release, opened))
        assert found["attacks"] == again["attacks"]
        assert found["usefulness"] == again["usefulness"]


def test_chance_depends_on_what_rows_hold_and_not_on_their_order() -> None:
    frame = people()
    first = published(EVERY, frame)
    shuffled = frame[np.random.default_rng(3).permutation(frame.height)]
    assert published(EVERY, shuffled).to_polars().equals(first.to_polars())
    assert not published(EVERY, frame, seed=2).to_polars().equals(first.to_polars())
    assert published(EVERY, frame, seed=None).to_polars().columns == first.to_polars().columns
    assert sorted(first.to_polars()["hours"]) == sorted(frame["hours"]), "swaps keep all values"


def test_nothing_that_is_drawn_is_drawn_where_nothing_is_changed_by_chance() -> None:
    table = ic.read(people(), **ROLES)
    plain = ic.publish(table, ic.KAnonymity(4), method=ic.KMember(), seed=5)
    rounded = ic.read(people(), **ROLES, changes={"hours": ic.Rounding(1)})
    again = ic.publish(rounded, ic.KAnonymity(4), method=ic.KMember(), seed=5)
    assert again.to_polars().drop("hours").equals(plain.to_polars().drop("hours"))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_tell_what_was_done_and_nothing_that_was_drawn(format: str, tmp_path: Path) -> None:
    release = published(EVERY)
    release.save(tmp_path / "release", format=format)
    opened = ic.open_release(tmp_path / "release")
    assert texts(opened.to_polars()) == texts(release.to_polars())
    assert opened.warnings == release.warnings
    assert opened.changes.columns == release.changes.columns
    summary = json.loads((tmp_path / "release" / "summary.json").read_text())
    assert summary["changes"]["job"] == [
        {"name": "pram", "keep": 0.6, "invariant": False, "values": 4, "says": ic.PRAM(0.6).says()}
    ]
    noise, rounding, coding = summary["changes"]["income"]
    assert noise == {"name": "noise", "sd": 100.0, "variance": 100.0**2 + 1 / 12, "says": ic.Noise(100.0).says()}
    assert rounding == {"name": "rounding", "to": 50, "says": "rounded to multiples of 50"}
    assert coding["threshold"] == 4000
    for path in (tmp_path / "release").iterdir():
        assert "seed = " not in path.read_bytes().decode(errors="replace")
    assert release.count({"job": "cook"}) == pytest.approx(opened.count({"job": "cook"}))


def test_a_recipe_makes_the_same_release_again(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    jobs = ic.Categories.from_tree({"service": ["cook", "nurse"], "office": ["clerk", "judge"]})
    changes = {**EVERY, "job": [ic.Banding(1), ic.PRAM(0.9, invariant=True)]}
    table = ic.read(tmp_path / "people.parquet", **ROLES, changes=changes, hierarchies={"job": jobs})
    release = ic.publish(table, ic.KAnonymity(4), seed=4)
    release.save_recipe(tmp_path / "own.toml")
    again = ic.Recipe.load(tmp_path / "own.toml")
    assert again.changes == {name: tuple(one) if isinstance(one, list) else (one,) for name, one in changes.items()}
    assert again.run().to_polars().equals(release.to_polars())


def test_a_recipe_written_by_hand(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    recipe = """
incrowd = 1
seed = 1
others = "drop"
[source]
path = "people.csv"
[[models]]
name = "k-anonymity"
k = 4
[columns]
age = "quasi"
[columns.income]
role = "sensitive"
change = { name = "rounding", to = 1000 }
[columns.hours]
role = "keep"
hierarchy = { kind = "intervals", widths = [10] }
change = [{ name = "bottom-coding", below = 10 }, { name = "banding", level = 1 }]
"""
    (tmp_path / "recipe.toml").write_text(recipe)
    release = ic.Recipe.load(tmp_path / "recipe.toml").run()
    assert set(release.to_polars()["hours"]) == {"[10, 20)", "[20, 30)", "[30, 40)"}
    assert all(int(one) % 1000 == 0 for one in release.to_polars()["income"].drop_nulls())
    for wrong, said in (
        ('{ name = "rounding" }', "change 'rounding' needs to"),
        ('{ name = "roundin", to = 1 }', "there is no change called 'roundin'"),
        ("3", "is a table, not int"),
    ):
        bad = recipe.replace('{ name = "rounding", to = 1000 }', wrong)
        (tmp_path / "recipe.toml").write_text(bad)
        with pytest.raises(RecipeError, match=f"column 'income': .*{said}"):
            ic.Recipe.load(tmp_path / "recipe.toml")


def test_a_person_s_rows_with_the_same_value_change_alike() -> None:
    """Else their mean would give the true value away."""
    rng = np.random.default_rng(7)
    persons = np.repeat(np.arange(80), 6)
    salary = np.repeat(rng.integers(1000, 9000, 80), 6) + 10_000 * (np.arange(480) % 6 == 5)
    frame = pl.DataFrame({"pid": persons, "age": persons % 40, "salary": salary, "hours": salary / 10})
    table = ic.read(
        frame,
        person="pid",
        pseudonyms=["pid"],
        quasi=["age"],
        sensitive=["salary"],
        keep=["hours"],
        changes={"salary": ic.Noise(500.0), "hours": ic.Noise(50.0)},
    )
    rows = ic.publish(table, ic.KAnonymity(2), seed=3).to_polars()
    assert rows.height == 480
    for name in ("salary", "hours"):
        each = rows.group_by("pid").agg(pl.col(name).n_unique(), pl.len())
        assert set(each[name]) == {2}, "two true values, so two published ones"
    # The best anyone can do with five equal rows is as wrong as with one of them.
    low = rows.group_by("pid").agg(pl.col("salary").mode().first())
    truth = np.sort(np.unique(salary[salary < 10_000]))
    assert low.height == 80
    assert np.abs(np.sort(low["salary"].to_numpy())[: len(truth)] - truth).mean() > 20


def test_rows_are_changed_independently_where_each_is_a_person() -> None:
    frame = pl.DataFrame({"age": [30] * 400, "salary": [1000] * 400})
    table = ic.read(frame, quasi=["age"], sensitive=["salary"], changes={"salary": ic.Noise(100.0)})
    shown = ic.publish(table, ic.KAnonymity(2), seed=3).to_polars()["salary"]
    assert shown.n_unique() > 200
    assert shown.std() == pytest.approx(100, rel=0.2)


@pytest.mark.usefixtures("few_queries")
@pytest.mark.parametrize("method", [ic.Mondrian(), ic.FullDomain(max_withheld=0.1), ic.Anatomy(), ic.Slicing()])
def test_every_form_publishes_changed_values_that_its_files_bear_out(method: Any, tmp_path: Path) -> None:
    frame = people().drop("income", "hours")
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["job"], changes={"job": ic.PRAM(0.5)})
    release = ic.publish(table, ic.ProbabilisticLDiversity(2), method=method, seed=1)
    release.save(tmp_path / "release")
    summary = json.loads((tmp_path / "release" / "summary.json").read_text())
    # What is told of changes is read before the form is looked at: all kinds of damage for one of them.
    all_damaged: Any = ([3], {"job": 3}, {"job": [3]}, {"job": [{"values": "many"}]})
    for damaged in all_damaged if method.name == "anatomy" else all_damaged[-1:]:
        (tmp_path / "release" / "summary.json").write_text(json.dumps({**summary, "changes": damaged}))
        assert ic.open_release(tmp_path / "release").count({"job": "cook"}) > 0
    (tmp_path / "release" / "summary.json").write_text(json.dumps(summary))
    for original in (None, frame):
        opened = ic.open_release(tmp_path / "release", original=original)
        assert not opened.false_claims
        assert [claim.verdict for claim in opened.claims] == ["holds"]
    made, read = (one.audit(learn=False, remedies=False).to_dict() for one in (release, opened))
    assert made["attacks"] == read["attacks"]
    assert made["usefulness"] == read["usefulness"]


def test_models_are_judged_on_what_is_published(tmp_path: Path) -> None:
    """Everybody of a group has another value, and the same band."""
    frame = pl.DataFrame({"age": [30] * 6 + [60] * 6, "income": list(range(100, 112))})
    bands = {"income": ic.Intervals(widths=(50,))}
    plain = ic.read(frame, quasi=["age"], sensitive=["income"])
    assert ic.publish(plain, ic.LDiversity(3)).rows == 12
    banded = ic.read(frame, quasi=["age"], sensitive=["income"], hierarchies=bands, changes={"income": ic.Banding(1)})
    with pytest.raises(ic.errors.Unsatisfiable):
        ic.publish(banded, ic.LDiversity(3))
    release = ic.publish(banded, ic.KAnonymity(3))
    release.save(tmp_path / "release")
    rows = (tmp_path / "release" / "recipe.toml").read_text()
    (tmp_path / "release" / "recipe.toml").write_text(
        rows.replace('name = "k-anonymity"', 'name = "distinct-l-diversity"').replace("k = 3", "l = 3")
    )
    assert ic.open_release(tmp_path / "release").false_claims


def test_counts_are_corrected_for_known_chance(tmp_path: Path) -> None:
    frame = people(6000)
    truth = frame.filter((pl.col("job") == "judge") & (pl.col("sex") == "F")).height
    rare = frame.filter(pl.col("job") == "judge").height
    matrix = {one: {other: 0.7 if other == one else 0.1 for other in JOBS} for one in JOBS}
    for change in (ic.PRAM(0.7), ic.PRAM(0.5, invariant=True), ic.PRAM(matrix=matrix)):
        table = ic.read(
            frame, quasi=["age", "sex"], sensitive=["job"], others="drop", changes={"job": change},
            hierarchies={"sex": ic.Flat()},
        )  # fmt: skip
        release = ic.publish(table, ic.KAnonymity(4), method=ic.FullDomain(levels={"age": 0, "sex": 0}), seed=2)
        shown = release.to_polars().filter(pl.col("job") == "judge").height
        found = release.estimate({"job": "judge"})
        assert found.value == release.count({"job": "judge"})
        assert abs(found.value - rare) < 4 * found.error
        assert found.low <= rare <= found.high
        if not change.invariant:
            assert abs(shown - rare) > 4 * found.error, "published values alone are far off"
        assert abs(release.count({"job": "judge", "sex": "F"}) - truth) < 4 * found.error
        assert release.count({"job": JOBS}) == pytest.approx(6000)
        assert "Chance changed values" in found.assumes
        release.save(tmp_path / "release", force=True)
        assert ic.open_release(tmp_path / "release").estimate({"job": "judge"}) == found


def test_the_scheme_of_a_release_changes_other_rows_alike(tmp_path: Path) -> None:
    first = published({"income": ic.Rounding(1000), "hours": ic.Rounding(10)})
    first.save(tmp_path / "first")
    for scheme in (first.scheme, ic.open_release(tmp_path / "first").scheme):
        rows = scheme.apply(people(200, seed=9)).to_polars()
        assert all(one % 1000 == 0 for one in rows["income"].drop_nulls())
        assert all(one % 10 == 0 for one in rows["hours"])


def test_odd_tables() -> None:
    none = people().with_columns(income=pl.lit(None, pl.Int64), job=pl.lit("cook"))
    release = published(EVERY, none)
    assert release.to_polars()["income"].null_count() == release.rows
    assert set(release.to_polars()["job"]) == {"cook"}
    one = people(1)
    table = ic.read(one, **ROLES, changes=EVERY)
    assert ic.publish(table, ic.KAnonymity(1), seed=1).rows == 1
    starred = people().rename({"job": "*", "hours": "^h.*$"})
    roles = {"quasi": ["age"], "sensitive": ["*"], "keep": ["^h.*$"], "others": "drop"}
    table = ic.read(starred, **roles, changes={"*": ic.PRAM(0.5), "^h.*$": ic.Rounding(10)})
    assert set(ic.publish(table, ic.KAnonymity(3), seed=1).to_polars()["*"]) == set(JOBS)


def test_types_stay_where_values_allow_it() -> None:
    frame = people().with_columns(
        ill=pl.col("age") % 2 == 0, born=pl.date(1950, 1, 1) + pl.duration(days=pl.col("age")), cost=pl.col("hours")
    )
    changes = {"ill": ic.PRAM(0.5), "born": ic.RankSwapping(0.2), "income": ic.Noise(10.0), "cost": ic.Rounding(0.5)}
    roles = {"quasi": ["age"], "sensitive": ["ill", "born"], "keep": ["income", "cost"], "others": "drop"}
    rows = ic.publish(ic.read(frame, **roles, changes=changes), ic.KAnonymity(3), seed=1).data
    assert [rows[name].dtype for name in changes] == [pl.Boolean, pl.Date, pl.Int64, pl.Float64]


@pytest.mark.usefixtures("few_queries")
def test_a_sample_and_weights_go_with_changed_values() -> None:
    frame = people(2000).with_columns(weight=pl.lit(2.5))
    table = ic.read(frame, **ROLES, weight="weight", changes=EVERY)
    release = ic.publish(table, ic.KAnonymity(3), sample=0.5, seed=2)
    assert release.rows + release.withheld + release.left_out == 2000
    release.audit(learn=False, remedies=False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"age": ic.Rounding(10)}, "column 'age' is a quasi-identifier, and changes are for .* Hint: .* show="),
        ({"sexx": ic.Rounding(10)}, "column 'sexx' .* is not in the table"),
        ({"income": 3}, "int is no change of a column"),
        ([ic.Rounding(10)], "changes is a table of columns"),
        ({"job": ic.Banding(1)}, "is to be banded along its hierarchy, and has none"),
        ({"job": ic.Rounding(10)}, "rounding is for numbers"),
        ({"job": ic.Noise(1.0)}, "noise is for numbers"),
    ],
)
def test_changes_that_cannot_be_made_are_refused(changes: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        published(changes)


@pytest.mark.usefixtures("few_queries")
def test_private_methods_take_stated_changes_alone() -> None:
    steps = [str(one) for one in range(0, 2001, 500)]
    declared = {
        "age": ic.Intervals(widths=(20,), lower=20, upper=80),
        "income": ic.Categories.from_tree(steps),
    }
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["income"], "others": "drop", "hierarchies": declared}
    for change in (ic.Noise(10.0), ic.PRAM(0.5), ic.RankSwapping(0.1), ic.TopCoding(share=0.1), ic.Banding(1)):
        table = ic.read(people(), **roles, changes={"income": change})
        with pytest.raises(SchemaError, match="promises differential privacy, and"):
            ic.publish(table, method=ic.DiffGen(1, steps=2))
    known = people().drop_nulls()
    for source in (known, known.select(pl.all().cast(pl.String))):
        table = ic.read(source, **roles, changes={"income": [ic.Rounding(500), ic.TopCoding(2000)]})
        release = ic.publish(table, method=ic.DiffGen(1, steps=2), seed=1)
        assert {str(one) for one in release.to_polars()["income"]} <= set(steps)
        release.audit(original=source, learn=False, remedies=False)
    with pytest.raises(SchemaError, match="PrivateTable counts values as they are"):
        ic.PrivateTable(table, 1)


@pytest.mark.parametrize("change", [ic.TopCoding(share=0.1), ic.BottomCoding(2000, shown="mean")])
def test_ten_rows_of_one_person_are_not_ten_people(change: Any) -> None:
    frame = people().with_columns(pid=pl.int_range(300) // 10)
    table = ic.read(frame, person="pid", quasi=["age"], sensitive=["income"], others="drop", changes={"income": change})
    with pytest.raises(SchemaError, match="may be one person's"):
        ic.publish(table, ic.KAnonymity(2))


def test_an_engine_that_changes_nothing_refuses_changes() -> None:
    class Elsewhere(LocalEngine):
        name: ClassVar[str] = "elsewhere"
        changes_values: ClassVar[bool] = False

    table = ic.read(people(), **ROLES, changes={"job": ic.PRAM(0.5)})
    assert isinstance(table.engine, LocalEngine)
    with pytest.raises(SchemaError, match="the engine elsewhere publishes values as they are"):
        ic.publish(replace(table, engine=Elsewhere(table.engine.source)), ic.KAnonymity(3))
    assert not SparkEngine.changes_values


def test_linked_tables_take_no_changes() -> None:
    members = pl.DataFrame({"pid": [1, 2, 3, 4], "age": [1, 2, 3, 4]})
    visits = pl.DataFrame({"pid": [1, 2, 3, 4], "cost": [1, 2, 3, 4]})
    events = ic.read(visits, person="pid", sensitive=["cost"], changes={"cost": ic.Rounding(2)})
    with pytest.raises(SchemaError, match="linked tables are published without changes"):
        ic.read_tables(ic.read(members, person="pid", quasi=["age"]), visits=events)


def test_a_hierarchy_that_nobody_follows_is_said_to_be_of_no_effect() -> None:
    jobs = ic.Categories.from_tree({"service": ["cook", "nurse"], "office": ["clerk", "judge"]})
    table = ic.read(people(), **ROLES, hierarchies={"job": jobs})
    said = "Sensitive columns with a hierarchy are published as they are, value by value: job."
    assert any(one.startswith(said) for one in ic.publish(table, ic.KAnonymity(4)).warnings)
    close = ic.publish(table, [ic.KAnonymity(4), ic.TCloseness(0.9, distance="hierarchical", column="job")])
    assert not any(one.startswith(said) for one in close.warnings)
    banded = ic.read(people(), **ROLES, hierarchies={"job": jobs}, changes={"job": ic.Banding(1)})
    release = ic.publish(banded, ic.KAnonymity(4))
    assert set(release.to_polars()["job"]) == {"service", "office"}
    assert not any(one.startswith(said) for one in release.warnings)


def test_a_band_does_not_name_values_that_were_taken_from_the_data() -> None:
    taken = ic.Categories(tuple((one, "any") for one in JOBS), "data")
    table = ic.read(people(), **ROLES, hierarchies={"job": taken}, changes={"job": ic.Banding(1)})
    with pytest.raises(SchemaError, match="lists values that were taken from the data"):
        ic.publish(table, ic.KAnonymity(4))


@pytest.mark.parametrize(
    "change",
    [*ic.Rounding.examples(), *ic.TopCoding.examples(), *ic.BottomCoding.examples(), *ic.PRAM.examples(),
     *ic.RankSwapping.examples(), *ic.Noise.examples(), *ic.Banding.examples()],
    ids=repr,
)  # fmt: skip
def test_every_change_keeps_the_promises(change: Any) -> None:
    # Texts are changed in nearly all tables that are drawn, ranks in half of them, and numbers in a third.
    examples = {ic.PRAM: 3, ic.Banding: 3, ic.RankSwapping: 4}
    check_change(change, examples=examples.get(type(change), 6))


_TURNS = itertools.count(1)


@dataclass(frozen=True)
class Unseeded(Change):
    """Wrong: what it does comes from nowhere that a seed governs. Every other time all have the first one's value."""

    name: ClassVar[str] = "unseeded"
    by_chance: ClassVar[bool] = True

    def perturb(self, column: Column, rng: np.random.Generator) -> pl.Series:
        values = column.values.gather(column.code_of)
        if next(_TURNS) % 2 or not values.drop_nulls().len():
            return values
        return pl.select(
            pl.when(values.is_not_null()).then(pl.lit(values.drop_nulls()[0], dtype=values.dtype))
        ).to_series()

    def says(self) -> str:
        return "changed"


@dataclass(frozen=True)
class Silent(Change):
    """Wrong: it does not say what it does."""

    name: ClassVar[str] = "silent"

    def says(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("change", "said"), [(Unseeded(), "gives another release|follows chance"), (Silent(), "does not say what it does")]
)
def test_the_suite_finds_what_is_wrong(change: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_planted(family: str) -> Mapping[str, Any]:
        more = {change.name: type(change)} if family == "changes" else {}
        return {**registered(family), **more}

    # Recipes know it, so that nothing but what is wrong with it can be found.
    monkeypatch.setattr(families, "registered", with_planted)
    with pytest.raises(AssertionError, match=said):
        check_change(change, examples=25, shrink=False)
