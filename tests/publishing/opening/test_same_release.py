"""A release read back is the release: counts, rows to learn from, warnings and attacks, from every kind of file."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError, SourceError
from incrowd.forms.column_readers import NamedColumn
from tests.people.tables import CITY_TREE, METHODS

QUASI = ["age", "sex", "born", "height", "zip", "city", "pay"]
HIERARCHIES = {
    "zip": ic.Masking(),
    "city": CITY_TREE,
    "pay": ic.Intervals(widths=(10, 20), lower=0, upper=100),
    "born": ic.Dates(),
}


HIERARCHIES_OF_NAMES = {"zip": ic.Masking(), "city": CITY_TREE}


def people(rows: int = 300, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["F", "M", "x, y"], rows),
            "born": [date(1930, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 30_000, rows)],
            "height": np.round(rng.normal(170, 9, rows), 1),
            "zip": [f"{code:05}" for code in rng.integers(1000, 1400, rows)],
            "city": rng.choice(["Oslo", "Bergen", "Rome", "Bari", "Lecce", "Bern"], rows),
            "pay": rng.integers(0, 100, rows),
            "ill": rng.choice(["flu", "cold", "gout", "HIV"], rows),
            "cost": rng.integers(1, 50, rows),
        }
    )
    return frame.with_columns(pl.when(pl.int_range(pl.len()) % 37 != 5).then("age"))


def questions(frame: pl.DataFrame, number: int, seed: int) -> list[dict[str, Any]]:
    """Return questions with one to three conditions: a value, a list of values, a range."""
    chance, asked = random.Random(seed), []
    known = {name: frame[name].drop_nulls().to_list() for name in frame.columns}
    for _ in range(number):
        query: dict[str, Any] = {}
        for name in chance.sample(frame.columns, chance.randint(1, min(3, frame.width))):
            values = known[name]
            kind = chance.choice(["value", "list", "range", "range"])
            if kind == "range" and frame[name].dtype != pl.String:
                query[name] = tuple(sorted([chance.choice(values), chance.choice(values)]))
            else:
                query[name] = chance.choice(values) if kind == "value" else chance.sample(values, 3)
        asked.append(query)
    return asked


def answer(release: ic.Release, query: dict[str, Any]) -> float | str:
    try:
        return release.count(query)
    except QueryError as error:
        return str(error)


# A method for each way to write labels: what is read back depends on nothing else of it.
LABELLED = (*METHODS[:1], *METHODS[2:7], *METHODS[8:10])
FORMATS = {METHODS[0]: ("csv", "parquet", "arrow"), METHODS[4]: ("csv", "parquet"), METHODS[6]: ("csv", "arrow")}


@pytest.mark.parametrize("made", [*LABELLED, ic.Anatomy])
def test_it_is_the_same(made: Callable[[], Any], tmp_path: Path) -> None:
    method, place = made(), [*LABELLED, ic.Anatomy].index(made)
    before = people(300 if method.name == "local-recoding" else 150)  # which has nothing to publish of so few
    secrets = ["ill"] if method.name == "anatomy" else ["ill", "cost"]
    model = ic.LDiversity(2, column="ill") if method.name == "anatomy" else ic.KAnonymity(3)
    table = ic.read(before, quasi=QUASI, sensitive=secrets, hierarchies=HIERARCHIES, others="drop")
    release = ic.publish(table, model, method=method, seed=1)
    # Other questions for each method: each kind of condition on each column is among those of a few of them.
    asked = [(query, answer(release, query)) for query in questions(before.select(*QUASI, *secrets), 40, seed=place)]
    target = ("ill", "sex")[place % 2]
    trained = {target: release.training_set(target, seed=3)}
    for format in FORMATS.get(made, ("csv",)):
        release.save(tmp_path / format, format=format)  # type: ignore[arg-type]
        is_the_same(ic.open_release(tmp_path / format), release, asked, trained)


FORMS: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "buckets": (ic.Mondrian, ic.LDiversity(2), ic.ShowBuckets()),
    "buckets in one table": (ic.Anatomy, ic.LDiversity(2), ic.ShowBuckets(tables="one")),
    "multisets": (ic.Mondrian, ic.LDiversity(2), ic.ShowMultisets()),
    "slices": (ic.Mondrian, ic.LDiversity(2), ic.ShowSlices(columns=(("age", "sex"),))),
    "overlapping slices": (
        ic.Mondrian,
        ic.BucketSize(3),
        ic.ShowSlices(columns=(("age", "sex"), ("sex", "ill")), overlapping=True),
    ),
    "generalized slices": (
        ic.Mondrian,
        ic.LDiversity(2),
        ic.ShowSlices(columns=(("pay", "city"),), levels={"pay": 1, "city": 1, "zip": 2}),
    ),
    "slicing": (ic.Slicing, ic.SlicedDiversity(2), None),
}


@dataclass(frozen=True)
class Kept:
    """A release that several tests look at, and none changes; its table and it are also in files."""

    before: pl.DataFrame
    release: ic.Release
    place: Path
    original: Path


@pytest.fixture(scope="module", params=FORMS)
def of_form(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    made, model, form = FORMS[request.param]
    before, place = people(100), tmp_path_factory.mktemp("form")
    table = ic.read(before, quasi=QUASI, sensitive=["ill"], hierarchies=HIERARCHIES, others="drop")
    release = ic.publish(table, model, method=made(), form=form, seed=1)
    release.save(place / "out", format="csv")
    before.write_csv(place / "before.csv")
    return Kept(before, release, place / "out", place / "before.csv")


def test_every_form_is_the_same(of_form: Kept, tmp_path: Path) -> None:
    before, release = of_form.before, of_form.release
    asked = [(query, answer(release, query)) for query in questions(before.select(*QUASI, "ill"), 50, seed=2)]
    assert sum(not isinstance(answered, str) for _, answered in asked) > 25
    trained = {target: release.training_set(target, seed=3) for target in ("ill", "sex")}
    assert not release.training_set("ill", seed=4)[1].equals(trained["ill"][1])
    release.save(tmp_path / "out", format="parquet")
    for place in (of_form.place, tmp_path / "out"):
        is_the_same(ic.open_release(place), release, asked, trained)


def is_the_same(
    again: ic.Release,
    release: ic.Release,
    asked: list[tuple[dict[str, Any], float | str]],
    trained: dict[str, tuple[pl.DataFrame, pl.Series]],
) -> None:
    """Ask a release and what was read back of it the same questions, and make the same rows to learn from."""
    for query, answered in asked:
        assert answer(again, query) == answered, query
    for query in [query for query, answered in asked if not isinstance(answered, str)][::20]:
        assert again.estimate(query) == release.estimate(query)
    assert again.warnings == release.warnings
    for target, ours in trained.items():
        theirs = again.training_set(target, seed=3)
        assert ours[0].equals(theirs[0])
        assert ours[1].equals(theirs[1])


def audited(release: ic.Release, original: object = None) -> tuple[Any, ...]:
    found = release.audit(remedies=False, learn=False, original=original)
    return [one.to_dict() for one in found.attacks], found.warnings, found.usefulness, found.crowds


@pytest.mark.usefixtures("few_queries")
def test_attacks_find_the_same_in_every_form(of_form: Kept) -> None:
    again = ic.open_release(of_form.place, original=of_form.original)
    assert audited(again) == audited(of_form.release)


@pytest.mark.usefixtures("few_queries")
@pytest.mark.parametrize("made", [METHODS[0], METHODS[4], METHODS[6]])
def test_attacks_find_the_same(made: Callable[[], Any], tmp_path: Path) -> None:
    before = people(300 if made is METHODS[6] else 60)  # which has nothing to publish of so few
    table = ic.read(before, quasi=QUASI, sensitive=["ill"], hierarchies=HIERARCHIES, others="drop")
    release = ic.publish(table, ic.KAnonymity(3), method=made(), seed=1)
    release.save(tmp_path / "out", format="csv")
    before.write_csv(tmp_path / "before.csv")
    again = ic.open_release(tmp_path / "out", original=tmp_path / "before.csv")
    assert audited(again) == audited(release)


DECLARED = {
    "age": ic.Intervals(widths=(5, 20), lower=0, upper=100),
    "city": CITY_TREE,
    "sex": ic.Categories.from_tree(["F", "M", "x, y"]),
    "ill": ic.Categories.from_tree({"any": {"short": ["flu", "cold"], "long": ["gout", "HIV"]}}),
}
PRIVATE: dict[str, tuple[Any, list[str]]] = {
    "diffgen": (ic.DiffGen(2, steps=4, missing=("age",)), ["age", "city", "sex"]),
    "consistent-diffgen": (ic.ConsistentDiffGen(2, steps=5, missing=("age",)), ["age", "city"]),
    "flat": (ic.FlatHistogram(2, missing=("age",), levels={"age": 2}), ["age", "city", "sex"]),
    "hierarchical": (ic.HierarchicalHistogram(2, missing=("age",)), ["age"]),
    "marginals": (ic.MarginalSynthesis(2, missing=("age",), levels={"city": 2}), ["age", "city", "sex"]),
    "adaptive": (ic.AdaptiveSynthesis(2, "1e-6", missing=("age",), levels={"city": 2}), ["age", "city", "sex"]),
}


@pytest.mark.usefixtures("few_queries", "few_questions")
@pytest.mark.parametrize("name", PRIVATE)
def test_noisy_counts_are_the_same(name: str, tmp_path: Path) -> None:
    method, quasi = PRIVATE[name]
    before = people(200).select(*quasi, "ill")
    known = {column: DECLARED[column] for column in before.columns}
    release = ic.publish(ic.read(before, quasi=quasi, sensitive=["ill"], hierarchies=known), method=method, seed=1)
    asked = [(query, answer(release, query)) for query in questions(before, 40, seed=2)]
    assert sum(not isinstance(answered, str) for _, answered in asked) > 30
    trained = {"ill": release.training_set("ill", seed=3)}
    # Counts of all methods are in the same tables: every kind of file for some of them, and text for each.
    others = {"diffgen": ["parquet"], "flat": ["xlsx"]}
    for format in ("csv", *others.get(name, ())):
        release.save(tmp_path / format, format=format)
        again = ic.open_release(tmp_path / format, original=before)
        is_the_same(again, release, asked, trained)
        if format == "csv":
            assert audited(again) == audited(release, original=before)


def test_noisy_counts_answer_by_what_was_counted_and_not_by_what_is_left_of_it(tmp_path: Path) -> None:
    """Rows as the paper prints them are never fewer than none, so that they are too many: the files tell more."""
    before = people(200).select("age", "city", "sex", "ill").drop_nulls()
    method = ic.FlatHistogram(1, adjust="as-printed")
    table = ic.read(before, quasi=["age", "city", "sex"], sensitive=["ill"], hierarchies=DECLARED)
    release = ic.publish(table, method=method, seed=1)
    release.save(tmp_path / "out")
    again = ic.open_release(tmp_path / "out")
    measured = pl.read_csv(tmp_path / "out" / "measured.csv")
    assert again.count({}) == pytest.approx(measured["estimate"].sum())
    assert abs(again.count({}) - before.height) < abs(release.rows - before.height) / 4


def test_sets_of_items_are_counted_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    names = [f"item {number}" for number in range(12)]
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 300),
            "bought": [rng.choice(names, rng.integers(0, 4), replace=False).tolist() for _ in range(300)],
            "ill": rng.choice(["flu", "gout"], 300),
        }
    )
    tree = ic.Categories.from_tree({"few": names[:6], "many": names[6:]})
    for hierarchies in ({}, {"bought": tree}):
        table = ic.read(frame, quasi=["age"], sensitive=["ill"], items=["bought"], hierarchies=hierarchies)
        release = ic.publish(table, [ic.KAnonymity(60), ic.KmAnonymity(6, m=2)], seed=1)
        asked = [{"bought": name} for name in names]
        asked += [{"bought": names[place : place + 2], "age": (20, 40)} for place in range(10)]
        asked += [{"bought": names[place], "ill": "flu"} for place in range(10)]
        for format in ("csv", "parquet"):
            place = tmp_path / f"{len(hierarchies)} {format}"
            release.save(place, format=format)
            again = ic.open_release(place)
            found = [answer(release, query) for query in asked]
            assert [answer(again, query) for query in asked] == found
            assert sum(not isinstance(one, str) for one in found) > 10
        with pytest.raises(QueryError, match=r"has no value 'itm 1'.*'item 1"):
            again.count({"bought": "itm 1"})


def test_items_are_counted_as_by_hand() -> None:
    frame = pl.DataFrame({"bought": [["a", "b"], ["a"], ["b", "c"], []] * 5})
    release = ic.publish(ic.read(frame, items=["bought"]), ic.KmAnonymity(2, m=2))
    shown = release.to_polars()["bought"].to_list()
    assert {label for labels in shown for label in labels} == {"a", "b", "c"}
    for asked in (["a"], ["b"], ["a", "b"], ["c", "a"]):
        assert release.count({"bought": asked}) == sum(set(asked) <= set(labels) for labels in shown)


def test_sets_of_items_are_attacked_in_files_as_well(tmp_path: Path) -> None:
    chance = random.Random(3)
    before = people(60).with_columns(bought=pl.Series([";".join(chance.sample("abcd", 2)) for _ in range(60)]))
    table = ic.read(before, quasi=["age"], sensitive=["ill"], items=["bought"], others="drop")
    release = ic.publish(table, [ic.KAnonymity(3), ic.KmAnonymity(2, m=1)], seed=1)
    without = ic.publish(ic.read(before, quasi=["age"], sensitive=["ill"], others="drop"), ic.KAnonymity(3), seed=1)
    release.save(tmp_path / "out", format="csv")
    again = ic.open_release(tmp_path / "out", original=before)
    ours, theirs, plain = (
        {one.attack: one for one in made.audit(remedies=False, learn=False).attacks}
        for made in (release, again, without)
    )
    assert "known-items" in ours
    assert {name: one.value for name, one in theirs.items()} == pytest.approx(
        {name: one.value for name, one in ours.items()}
    )
    # Rows that show the same but their items are singled out together.
    assert ours["singling-out"].value == plain["singling-out"].value


@pytest.mark.parametrize("planted", ["not", "s", "ill of"])
def test_a_planted_column_is_told_whatever_it_is_called(planted: str, tmp_path: Path) -> None:
    before = people(60).with_columns(note=pl.lit("x"), name=pl.int_range(60))
    table = ic.read(before, quasi=["age"], sensitive=["ill"], keep=["note"], pseudonyms=["name"], others="drop")
    release = ic.publish(table, ic.KAnonymity(3), seed=1)
    release.save(tmp_path / "out", format="csv")
    assert ic.open_release(tmp_path / "out").warnings == release.warnings
    rows = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    rows.with_columns(pl.lit("1").alias(planted)).write_csv(tmp_path / "out" / "data.csv")
    assert f"Columns that no guarantee speaks of: {planted}." in ic.open_release(tmp_path / "out").warnings


def naive(release: ic.Release, low: int, high: int) -> float:
    """Return the rows whose label of a whole number lies between two numbers, spread evenly, label by label."""
    total = 0.0
    reach = release.label_meanings["columns"]["age"]["assumed"]
    for label in release.to_polars()["age"]:
        if label is None:
            continue
        if label.startswith("["):
            first, after = (int(text) for text in label[1:-1].split(", "))
        elif label.startswith("<"):
            first, after = reach["from"], int(label[1:])
        elif label.startswith(">="):
            first, after = int(label[2:]), reach["below"]
        elif label == "*":
            first, after = reach["from"], reach["below"]
        else:
            first, after = int(label), int(label) + 1
        total += len(set(range(first, after)) & set(range(low, high + 1))) / (after - first)
    return total


def test_whole_numbers_are_spread_as_by_hand() -> None:
    release = ic.publish(ic.read(people(), quasi=["age"], others="drop"), ic.KAnonymity(7))
    for low, high in [(30, 39), (18, 18), (0, 200), (85, 95), (50, 50)]:
        assert release.count({"age": (low, high)}) == pytest.approx(naive(release, low, high))
    assert release.count({"age": None}) == release.to_polars()["age"].null_count()


def test_hidden_characters_may_be_any_digit() -> None:
    codes = pl.DataFrame({"zip": ["12345"] * 3 + ["12346", "12347"]})
    table = ic.read(codes, quasi=["zip"], hierarchies={"zip": ic.Masking()})
    release = ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain())
    assert set(release.to_polars()["zip"]) == {"1234*"}
    assert release.count({"zip": "12345"}) == pytest.approx(0.5)
    assert release.count({"zip": ["12345", "12340"]}) == pytest.approx(1.0)


@pytest.mark.parametrize("made", [METHODS[0], METHODS[4], METHODS[6]])
def test_all_values_together_are_all_rows(made: Callable[[], Any]) -> None:
    before = people().with_columns(zip=pl.col("zip").str.slice(2, 2))
    table = ic.read(before, quasi=["age", "zip", "city"], hierarchies=HIERARCHIES_OF_NAMES, others="drop")
    release = ic.publish(table, ic.KAnonymity(4), method=made(), seed=1)
    shown = release.to_polars()
    every = (f"{code:02}" for code in range(100))
    codes = [code for code in every if not isinstance(answer(release, {"zip": code}), str)]
    if codes:
        # `*` stands for any code that some label names, and not for all there could be.
        rest = shown.filter(pl.col("zip") != "*").height
        assert rest - 1e-6 <= release.count({"zip": codes}) <= shown.height + 1e-6
    assert release.count({"city": ["Oslo", "Bergen", "Rome", "Bari", "Lecce", "Bern"]}) == pytest.approx(shown.height)
    if set(shown["age"].drop_nulls()) != {"*"}:
        there = shown["age"].count()
        assert release.count({"age": (None, None)}) == pytest.approx(there)
        assert sum(release.count({"age": age}) for age in range(-20, 130)) == pytest.approx(there)


def test_a_set_with_hidden_characters_stands_for_each_code_alike() -> None:
    told = {
        "kind": "names",
        "labels": {
            "{1*, 21}": [{"pattern": "1*", "hidden": 1}, {"value": "21"}],
            "1*": [{"pattern": "1*", "hidden": 1}],
        },
        "assumed": ["21"],
        "mask": {"character": "*", "side": "right", "stands for": "digits"},
    }
    column = NamedColumn.of("code", list(told["labels"].values()), told)
    assert column.shares("21").tolist() == pytest.approx([1 / 11, 0])
    assert column.shares("13").tolist() == pytest.approx([1 / 11, 1 / 10])
    assert column.shares([*(f"1{digit}" for digit in range(10)), "21"]).tolist() == pytest.approx([1, 1])
    drawn = column.draw(np.zeros(20_000, dtype=np.int64), np.random.default_rng(1))
    assert drawn.value_counts().filter(pl.col("code") == "21")["count"].item() == pytest.approx(20_000 / 11, rel=0.1)


def test_names_that_look_like_ranges_are_names() -> None:
    doses = pl.DataFrame({"dose": ["<5", "5-10", ">=10"] * 4})
    release = ic.publish(ic.read(doses, quasi=["dose"]), ic.KAnonymity(4))
    assert release.count({"dose": "<5"}) == 4
    assert release.count({"dose": ["<5", ">=10"]}) == 8


def test_a_value_that_is_not_there_is_an_error_with_the_nearest_names() -> None:
    table = ic.read(people(), quasi=["city"], sensitive=["ill"], hierarchies={"city": CITY_TREE}, others="drop")
    release = ic.publish(table, ic.KAnonymity(3))
    with pytest.raises(QueryError, match="did you mean 'Oslo'"):
        release.count({"city": "Olso"})
    with pytest.raises(QueryError, match="'flu'"):
        release.count({"ill": "flue"})


def test_so_it_is_for_every_form_and_its_files(of_form: Kept) -> None:
    for one in (of_form.release, ic.open_release(of_form.place)):
        with pytest.raises(QueryError, match=r"has no value 'flue'.*'flu'"):
            one.count({"ill": "flue"})
        with pytest.raises(QueryError, match="'Oslo'"):
            one.count({"city": ["Rome", "Olso"]})
        with pytest.raises(QueryError, match="kind"):
            one.count({"age": "old"})
        with pytest.raises(QueryError, match="did you mean 'city'"):
            one.count({"citty": "Rome"})
        assert one.count({"height": 12.5}) == 0  # nobody is that tall: a number is no name


def test_noisy_counts_refuse_names_that_were_not_declared(tmp_path: Path) -> None:
    frame = pl.DataFrame({"city": ["Oslo", "Rome"] * 50, "ill": ["flu", "gout"] * 50})
    declared = {"city": CITY_TREE, "ill": ic.Categories.from_tree({"any": ["flu", "gout"]})}
    table = ic.read(frame, quasi=["city"], sensitive=["ill"], hierarchies=declared)
    release = ic.publish(table, method=ic.DiffGen(1.0), seed=1)
    assert release.count({"city": "Bern"}) >= 0
    with pytest.raises(QueryError, match=r"has no value 'Olso'.*'Oslo'"):
        release.count({"city": "Olso"})
    found = release.estimate({"city": "Oslo"})
    assert found.low <= found.value <= found.high


def test_a_column_that_shows_nothing_cannot_be_asked() -> None:
    release = ic.publish(ic.read(people(20), quasi=["height", "sex"], others="drop"), ic.KAnonymity(20))
    with pytest.raises(QueryError, match="nothing but"):
        release.count({"height": (160, 170)})


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"format": 2, "columns": {}}',
        '{"format": 1, "columns": {}}',
        '{"format": 1, "columns": {"age": {"kind": "numbers", "labels": {"*": [{"from": "x"}]}, "assumed": null}}}',
        '{"format": 1, "columns": {"age": {"kind": "numbers", "labels": {"*": 3}, "assumed": null}}}',
        '{"format": 1, "columns": {"age": {"kind": "names", "labels": {}, "assumed": null}}}',
        '{"format": 1, "columns": {"age": {"kind": "dates", "labels": {}, "assumed": {"from": 1, "below": 2}}}}',
    ],
)
def test_a_damaged_file_of_labels_is_refused(text: str, tmp_path: Path) -> None:
    ic.publish(ic.read(people(), quasi=["age"], others="drop"), ic.KAnonymity(7)).save(tmp_path / "out")
    (tmp_path / "out" / "labels.json").write_text(text)
    with pytest.raises(SourceError, match="damaged"):
        ic.open_release(tmp_path / "out")


def test_files_without_it_are_read_by_their_labels(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("age,ill\n20-29,flu\n20-29,cold\n30-39,flu\n>= 40,flu\n")
    (tmp_path / "columns.toml").write_text('[columns]\nage = "quasi"\nill = "sensitive"\n')
    release = ic.open_release(tmp_path / "data.csv", description=tmp_path / "columns.toml")
    assert release.count({"age": (20, 24)}) == pytest.approx(1.0)
    assert release.count({"age": (20, 34), "ill": "flu"}) == pytest.approx(1.5)
