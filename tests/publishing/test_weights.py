"""Survey weights, judged from the files of releases by plain Python: nobody is singled out, and totals stay right."""

from __future__ import annotations

import csv
import json
import math
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import ConformanceError, IncrowdError, QueryError, SchemaError
from incrowd.forms.weight_classes import WeightClasses

QUASI = ("age", "sex", "region")


def survey(rows: int = 400, seed: int = 0, *, strata: bool = False) -> pl.DataFrame:
    """A survey whose weights follow from region and age, and, unless only by `strata`, are nearly everybody's own."""
    dice = random.Random(seed)
    ages = [dice.randint(18, 60) for _ in range(rows)]
    regions = [dice.choice("NSW") for _ in range(rows)]
    weights = [100.0 + 25 * "NSW".index(region) + 10 * (age // 20) for region, age in zip(regions, ages, strict=True)]
    if not strata:
        weights = [round(weight * dice.uniform(0.5, 2), 4) for weight in weights]
    return pl.DataFrame(
        {
            "age": ages,
            "sex": [dice.choice("FM") for _ in range(rows)],
            "region": regions,
            "ill": [dice.choice(("flu", "gout", "cold", "ague")) for _ in range(rows)],
            "note": [f"n{dice.randrange(50)}" for _ in range(rows)],
            "w": weights,
        }
    )


def read(frame: pl.DataFrame, **more: Any) -> ic.Table:
    given: dict[str, Any] = {"quasi": QUASI, "sensitive": ["ill"], "weight": "w", "others": "drop", **more}
    trees = {"age": ic.Intervals(widths=[5, 10, 20], lower=0, upper=100)} if "age" in given["quasi"] else {}
    return ic.read(frame, **given, hierarchies=trees)


def rows_of(directory: Path) -> list[dict[str, str]]:
    with (directory / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes(rows: list[dict[str, str]], person: str | None = None) -> dict[tuple[str, ...], set[str]]:
    """Who shows which labels and which weight, people by their pseudonym or each row by itself."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for number, row in enumerate(rows):
        found[(*(row[name] for name in QUASI), row["w"])].add(str(number) if person is None else row[person])
    return found


def naive_fewest(rows: list[dict[str, str]], person: str | None = None) -> int:
    return min(len(people) for people in classes(rows, person).values())


METHODS = {
    "mondrian": ic.Mondrian(),
    "relaxed": ic.Mondrian(cuts="relaxed"),
    "full domain": ic.FullDomain(max_withheld=0.1),
    "k-member": ic.KMember(),
    "microaggregation": ic.Microaggregation(),
    "local recoding": ic.LocalRecoding(),
}


@pytest.mark.parametrize(
    ("method", "strata"),
    [
        *((name, place % 2 == 0) for place, name in enumerate(METHODS)),
        ("mondrian", False),
        ("local recoding", True),
    ],
)
def test_k_people_show_each_weight(method: str, strata: bool, tmp_path: Path) -> None:
    frame = survey(300, seed=len(method), strata=strata)
    release = ic.publish(read(frame), ic.KAnonymity(4), method=METHODS[method], seed=3)
    release.save(tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    assert len(rows) == release.rows
    assert naive_fewest(rows) >= 4
    told = json.loads((tmp_path / "out" / "summary.json").read_text())["weights"]
    assert told["fewest people of a group who show the same"] == naive_fewest(rows)
    assert release.guarantees[0].achieved == naive_fewest(rows)
    assert release.guarantees[0].note == "also for whoever sees weights"
    assert ic.open_release(tmp_path / "out").guarantees == release.guarantees
    assert told["kept as they are"] + told["replaced by a mean"] == len(rows)
    total = math.fsum(float(row["w"]) for row in rows)
    assert told["total as published"] == pytest.approx(total, rel=1e-5)
    assert total == pytest.approx(told["total before"], rel=0.005)  # three digits of each mean
    lost = told["share of the total that is not published"]
    assert told["total before"] == pytest.approx(math.fsum(frame["w"]) * (1 - lost), rel=1e-3)


def test_every_promise_holds_for_whoever_sees_weights(tmp_path: Path) -> None:
    """Each class of labels and weight is as diverse as a group must be."""
    split = 0
    for seed in range(6):
        release = ic.publish(
            read(survey(600, seed, strata=True), quasi=["sex", "region"]),
            [ic.KAnonymity(5), ic.LDiversity(3), ic.ProbabilisticLDiversity(2)],
            seed=seed,
        )
        release.save(tmp_path / str(seed))
        values: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for row in rows_of(tmp_path / str(seed)):
            values[row["sex"], row["region"], row["w"]][row["ill"]] += 1
        for counts in values.values():
            assert sum(counts.values()) >= 5
            assert len(counts) >= 3
            assert max(counts.values()) * 2 <= sum(counts.values())
        split += len(values) > len({key[:2] for key in values})
    assert split  # weights are not simply one for each group


def test_groups_whose_classes_would_tell_show_one_weight() -> None:
    """People who weigh the same all have the same illness, so that the weight would tell it."""
    rows = [("N", "flu", 10.0), ("N", "gout", 20.0), ("S", "flu", 10.0), ("S", "gout", 10.0)]
    frame = pl.DataFrame(
        {
            "region": [region for region, _, _ in rows for _ in range(10)],
            "ill": [ill for _, ill, _ in rows for _ in range(10)],
            "w": [weight for _, _, weight in rows for _ in range(10)],
        }
    )
    table = ic.read(frame, quasi=["region"], sensitive=["ill"], weight="w")
    diverse = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)]).to_polars()
    assert dict(diverse.select("region", "w").unique().iter_rows()) == {"N": 15.0, "S": 10.0}
    assert diverse.height == diverse.unique().height * 10
    only_k = ic.publish(table, ic.KAnonymity(5)).to_polars()
    assert sorted(only_k.select("region", "w").unique().iter_rows()) == [("N", 10.0), ("N", 20.0), ("S", 10.0)]


def test_weights_that_enough_people_have_stay_as_they_are() -> None:
    frame = survey(300, strata=True).with_columns(w=pl.col("region").replace_strict({"N": 1.25, "S": 17.3333, "W": 0}))
    release = ic.publish(read(frame, quasi=["region"]), ic.KAnonymity(5))
    shown = release.to_polars().select("region", "w").unique()
    assert dict(shown.iter_rows()) == {"N": 1.25, "S": 17.3333, "W": 0.0}
    assert release.summary["weights"]["replaced by a mean"] == 0
    assert not any("Weights" in warning for warning in release.warnings)


def test_means_have_three_digits_and_keep_the_total() -> None:
    frame = pl.DataFrame({"age": [30] * 5, "w": [1.0, 2.0, 4.0, 8.0, 1000.123]})
    release = ic.publish(ic.read(frame, quasi=["age"], weight="w"), ic.KAnonymity(3))
    assert sorted(release.to_polars()["w"]) == [203.0] * 5  # 203.02 each
    assert "replaced by a mean" in release.summary["weights"]
    two = ic.publish(ic.read(frame, quasi=["age"], weight="w"), ic.KAnonymity(2))
    assert sorted(two.to_polars()["w"]) == [1.5, 1.5, 337.0, 337.0, 337.0]


def test_a_group_of_one_shows_three_digits_and_it_is_told() -> None:
    frame = pl.DataFrame({"age": [30, 40], "w": [123.4567, 98765.4]})
    table = ic.read(frame, quasi=["age"], weight="w", population=pl.DataFrame({"age": [30] * 9 + [40] * 9}))
    release = ic.publish(table, ic.KMap(9))
    assert sorted(release.to_polars()["w"]) == [123.0, 98800.0]
    assert any("alone in a group" in warning for warning in release.warnings)


def test_a_planted_weight_is_found_in_the_files(tmp_path: Path) -> None:
    release = ic.publish(read(survey(200)), ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "out")
    assert [model.satisfied for model in ic.check(tmp_path / "out").models] == [True]
    data = tmp_path / "out" / "data.csv"
    header, first, *others = data.read_text().splitlines()
    data.write_text("\n".join([header, first.rpartition(",")[0] + ",77.7", *others]) + "\n")
    assert naive_fewest(rows_of(tmp_path / "out")) == 1
    assert [model.satisfied for model in ic.check(tmp_path / "out").models] == [False]
    opened = ic.open_release(tmp_path / "out")
    assert any("5-anonymity" in warning and "not found" in warning for warning in opened.warnings)


@pytest.mark.parametrize("person", [None, "pid"])
def test_a_release_with_a_weight_of_somebodys_own_is_not_made(
    person: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever chooses the weights is checked by code that knows nothing of it."""

    def everybody_their_own(groups: Any, weights: Any, *_: Any) -> WeightClasses:
        return WeightClasses(np.arange(len(groups)), groups, weights)

    monkeypatch.setattr("incrowd.forms.shown_weights._safe_classes", everybody_their_own)
    table = read(survey(200)) if person is None else read(visits(), person=person)
    with pytest.raises(ConformanceError, match="does not satisfy 4-anonymity"):
        ic.publish(table, ic.KAnonymity(4))


# Counts


def test_counts_are_those_of_the_population(tmp_path: Path) -> None:
    frame = survey(500, strata=True)
    release = ic.publish(read(frame), ic.KAnonymity(3), seed=2)
    release.save(tmp_path / "out")
    opened = ic.open_release(tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    for one in (release, opened):
        assert one.count({}) == pytest.approx(math.fsum(float(row["w"]) for row in rows))
        assert one.count({}, weighted=False) == 500
        flu = math.fsum(float(row["w"]) for row in rows if row["ill"] == "flu")
        assert one.count({"ill": "flu"}) == pytest.approx(flu)
        assert one.count({"ill": "flu"}, weighted=True) == pytest.approx(flu)
        assert one.count({"ill": "flu"}, weighted=False) == frame.filter(pl.col("ill") == "flu").height
        true = frame.filter((pl.col("sex") == "F") & pl.col("age").is_between(30, 39))["w"].sum()
        assert one.count({"sex": "F", "age": (30, 39)}) == pytest.approx(true, rel=0.25)
    query = {"sex": "F", "age": (25, 44)}
    assert opened.count(query) == pytest.approx(release.count(query), rel=0.1)


def test_rows_to_learn_from_have_their_weights(tmp_path: Path) -> None:
    frame = survey(300, strata=True)
    release = ic.publish(read(frame), ic.KAnonymity(3), seed=2)
    release.save(tmp_path / "out")
    for one in (release, ic.open_release(tmp_path / "out")):
        _, classes, weights = one.training_set("ill", seed=1, weights=True)
        for ill in ("flu", "gout", "cold", "ague"):
            learnt = float(weights[(classes == ill).to_numpy()].sum())
            assert learnt == pytest.approx(one.count({"ill": ill}))
        assert set(one.training_set("ill", seed=1)[2]) == {1.0}
    with pytest.raises(QueryError, match="no weights"):
        ic.publish(read(frame, weight=None), ic.KAnonymity(3)).training_set("ill", weights=True)


def test_counts_without_weights_are_as_before() -> None:
    plain = ic.publish(read(survey(200), weight=None), ic.KAnonymity(5), seed=1)
    assert plain.count({}) == plain.count({}, weighted=False) == 200
    with pytest.raises(QueryError, match="no weights"):
        plain.count({}, weighted=True)
    with pytest.raises(QueryError, match="True or False"):
        plain.count({}, weighted=1)  # type: ignore[arg-type]
    # And weights change nothing of who hides together.
    weighted = ic.publish(read(survey(200)), ic.KAnonymity(5), seed=1)
    columns = [*QUASI, "ill"]
    assert weighted.to_polars().select(columns).sort(columns).equals(plain.to_polars().select(columns).sort(columns))


@pytest.mark.usefixtures("few_queries")
def test_audits_compare_weighted_counts(tmp_path: Path) -> None:
    frame = survey(600, strata=True)
    frame.write_csv(tmp_path / "survey.csv")
    release = ic.publish(read(frame), ic.KAnonymity(3), seed=2)
    release.save(tmp_path / "out")
    queries = "".join(f'[[queries]]\nill = "{ill}"\n' for ill in ("flu", "gout", "cold", "ague") for _ in range(3))
    (tmp_path / "queries.toml").write_text(queries)
    given = {"queries": tmp_path / "queries.toml", "learn": False, "remedies": False}
    here = release.audit(**given)
    there = ic.open_release(tmp_path / "out").audit(original=tmp_path / "survey.csv", **given)
    known = ic.open_release(tmp_path / "out", original=read(frame)).audit(**given)
    for audit in (here, there, known):
        lines = audit.usefulness["queries"]
        assert all(line["weighted"] for line in lines)
        # Nothing is withheld, and whole groups keep their total: by illness alone, means are all that is wrong.
        assert lines[-1]["queries"] == "from file"
        by_hand = []
        for ill in ("flu", "gout", "cold", "ague"):
            true = frame.filter(pl.col("ill") == ill)["w"].sum()
            by_hand.append(abs(release.count({"ill": ill}) - true) / true)
        assert lines[-1]["mean error"] == pytest.approx(sum(by_hand) / 4)
    plain = ic.publish(read(frame, weight=None), ic.KAnonymity(3), seed=2).audit(**given)
    assert not any("weighted" in line for line in plain.usefulness["queries"])


# People, samples, other columns


def visits(seed: int = 0, *, other_weight: bool = False) -> pl.DataFrame:
    """A survey of people with one to four visits each."""
    dice = random.Random(seed)
    people = survey(150, seed)
    rows = []
    for number, person in enumerate(people.iter_rows(named=True)):
        for visit in range(dice.randint(1, 4)):
            weight = person["w"] + (visit if other_weight else 0)
            rows.append({**person, "pid": f"p{number}", "ill": dice.choice(("flu", "gout", "cold")), "w": weight})
    dice.shuffle(rows)
    return pl.DataFrame(rows)


@pytest.mark.parametrize("keep", [(), ("note",)], ids=["counted", "joined"])
def test_people_with_several_rows(keep: tuple[str, ...], tmp_path: Path) -> None:
    frame = visits()
    table = read(frame, person="pid", pseudonyms=["pid"], keep=keep)
    release = ic.publish(table, [ic.KAnonymity(4), ic.ProbabilisticLDiversity(1.2)], seed=5)
    release.save(tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    assert naive_fewest(rows, "pid") >= 4
    of_people = {row["pid"]: row["w"] for row in rows}
    assert len({(row["pid"], row["w"]) for row in rows}) == len(of_people)  # one weight each
    told = release.summary["weights"]
    assert told["kept as they are"] + told["replaced by a mean"] == len(of_people)
    assert told["total as published"] == pytest.approx(math.fsum(map(float, of_people.values())), rel=1e-5)
    true = math.fsum(frame.unique("pid")["w"])
    lost = told["share of the total that is not published"]
    assert told["total before"] == pytest.approx(true * (1 - lost), rel=1e-3)
    assert release.count({}) == pytest.approx(math.fsum(float(row["w"]) for row in rows))
    assert ic.open_release(tmp_path / "out").count({}) == pytest.approx(release.count({}))
    assert all(model.satisfied for model in ic.check(tmp_path / "out").models)
    assert release.guarantees[0].achieved == naive_fewest(rows, "pid")
    assert ic.open_release(tmp_path / "out").guarantees == release.guarantees


def test_people_whose_pseudonym_is_not_published(tmp_path: Path) -> None:
    frame = visits(1)
    release = ic.publish(read(frame, person="pid"), ic.KAnonymity(4), seed=5)
    release.save(tmp_path / "out")
    total = math.fsum(float(row["w"]) for row in rows_of(tmp_path / "out"))
    assert release.count({}) == pytest.approx(total)
    assert release.audit(remedies=False, learn=False).usefulness["queries"][0]["weighted"]


def test_a_planted_weight_of_a_person_is_found_in_the_files(tmp_path: Path) -> None:
    release = ic.publish(read(visits(2), person="pid", pseudonyms=["pid"]), ic.KAnonymity(4), seed=5)
    release.save(tmp_path / "out")
    assert [model.satisfied for model in ic.check(tmp_path / "out").models] == [True]
    data = tmp_path / "out" / "data.csv"
    frame = pl.read_csv(data)
    one = frame["pid"][0]
    frame.with_columns(w=pl.when(pl.col("pid") == one).then(77.7).otherwise("w")).write_csv(data)
    assert naive_fewest(rows_of(tmp_path / "out"), "pid") == 1
    assert [model.satisfied for model in ic.check(tmp_path / "out").models] == [False]


def test_a_person_has_one_weight() -> None:
    with pytest.raises(SchemaError, match="A person has one weight") as error:
        ic.publish(read(visits(other_weight=True), person="pid"), ic.KAnonymity(4))
    assert not any(str(weight) in str(error.value) for weight in visits(other_weight=True)["w"])


@pytest.mark.parametrize("keep", [(), ("note",)], ids=["counted", "joined"])
def test_samples(keep: tuple[str, ...], tmp_path: Path) -> None:
    frame = survey(800)
    release = ic.publish(read(frame, keep=keep), ic.KAnonymity(4), sample=0.5, seed=9)
    release.save(tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    assert len(rows) == release.rows < 800
    assert naive_fewest(rows) >= 4
    total = math.fsum(float(row["w"]) for row in rows)
    for one in (release, ic.open_release(tmp_path / "out")):
        assert one.count({}) == pytest.approx(total * 2)
        assert one.count({}) == pytest.approx(math.fsum(frame["w"]), rel=0.2)
        assert any("not drawn or withheld" in warning for warning in one.warnings)


def test_weights_of_withheld_rows_are_lost_and_told(tmp_path: Path) -> None:
    frame = survey(300).with_columns(region=pl.when(pl.int_range(300) < 3).then(pl.lit("Z")).otherwise("region"))
    release = ic.publish(read(frame), ic.KAnonymity(6), method=ic.FullDomain(max_withheld=0.05), seed=1)
    assert release.withheld
    release.save(tmp_path / "out")
    assert any("withheld" in warning and "Weights" in warning for warning in release.warnings)
    assert ic.open_release(tmp_path / "out").summary["weights"] == release.summary["weights"]
    assert 0 < release.summary["weights"]["share of the total that is not published"] < 0.05


def test_nothing_tells_what_a_withheld_person_weighs(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30] * 6 + [31] * 6 + [90], "w": [10.5] * 12 + [77.123456]})
    table = ic.read(frame, quasi=["age"], weight="w", hierarchies={"age": ic.Flat()})
    release = ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0.2))
    assert release.withheld == 1
    release.save(tmp_path / "out")
    told = release.summary["weights"]
    assert told["share of the total that is not published"] == round(77.123456 / (77.123456 + 126), 3)
    for file in (tmp_path / "out").iterdir():
        assert "77" not in file.read_text().replace(str(tmp_path), "")


def test_kept_columns_stay_with_their_rows(tmp_path: Path) -> None:
    """Rows are found again by their weight, too, however often labels and values repeat."""
    frame = survey(400).with_columns(w=pl.when(pl.col("sex") == "F").then(100.25).otherwise(150.5))
    frame = frame.with_columns(note=pl.concat_str("ill", "w"))
    release = ic.publish(read(frame, quasi=["region"], keep=["note"]), ic.KAnonymity(5), seed=4)
    for region, ill, note, w in release.to_polars().iter_rows():
        assert note == f"{ill}{w}"
        assert region in "NSW"
    own = survey(400)
    release = ic.publish(read(own, keep=["note"]), ic.KAnonymity(5), seed=4)
    assert sorted(release.to_polars()["note"]) == sorted(own["note"])


def test_nothing_depends_on_the_order_of_rows_or_columns() -> None:
    frame = survey(300)
    one = ic.publish(read(frame), ic.KAnonymity(5), sample=0.7, seed=3).to_polars()
    two = ic.publish(read(frame[::-1].select(frame.columns[::-1])), ic.KAnonymity(5), sample=0.7, seed=3).to_polars()
    assert one.equals(two)


def test_items_and_weights(tmp_path: Path) -> None:
    dice = random.Random(1)
    frame = survey(200).with_columns(
        bought=pl.Series([";".join(sorted(dice.sample("abcd", dice.randint(1, 3)))) for _ in range(200)])
    )
    table = read(frame, items=["bought"])
    release = ic.publish(table, [ic.KAnonymity(5), ic.KmAnonymity(2, m=1)], seed=1)
    release.save(tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    assert naive_fewest(rows) >= 5
    # Whoever knows an item besides the labels and the weight finds no fewer people than by labels alone.
    shown: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        shown[(*(row[name] for name in QUASI), row["w"])].update(set(row["bought"].split(";")) - {""})
    assert min(min(counts.values()) for counts in shown.values() if counts) >= 2
    assert len(shown) == len({key[:-1] for key in shown})
    assert release.count({}) == pytest.approx(math.fsum(float(row["w"]) for row in rows))
    backwards = ic.publish(read(frame[::-1], items=["bought"]), [ic.KAnonymity(5), ic.KmAnonymity(2, m=1)], seed=1)
    assert backwards.to_polars().equals(release.to_polars())


def test_linked_tables(tmp_path: Path) -> None:
    people = survey(120).with_columns(pid=pl.int_range(120)).drop("ill", "note")
    events = pl.DataFrame({"pid": [i % 120 for i in range(300)], "ill": ["flu", "gout", "cold"] * 100})
    tables = ic.read_tables(
        ic.read(people, person="pid", quasi=QUASI, weight="w"), visits=ic.read(events, person="pid", sensitive=["ill"])
    )
    release = ic.publish(tables, ic.KAnonymity(4), seed=1)
    release.save(tmp_path / "out")
    assert naive_fewest(rows_of(tmp_path / "out"), "pid") >= 4
    with pytest.raises(SchemaError, match="weight"):
        ic.read_tables(
            ic.read(people, person="pid", quasi=QUASI, drop=["w"]),
            visits=ic.read(events.with_columns(w=1.0), person="pid", sensitive=["ill"], weight="w"),
        )


def test_a_flat_table_is_split_with_its_weights() -> None:
    split = ic.split_rows(read(visits(), person="pid"), "visits")
    release = ic.publish(split, ic.KAnonymity(4), seed=1)
    assert "w" in release.to_polars().columns
    assert "w" not in release.tables["visits"].columns
    with pytest.raises(SchemaError, match="'w' changes from row to row"):
        ic.split_rows(read(visits(other_weight=True), person="pid"), "visits")


# What is refused


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.5, None, 2.5], "have none"),
        ([1.5, -2.0, 2.5], "below 0"),
        ([1.5, float("inf"), 2.5], "infinite"),
        (["1.5", "much", "2.5"], "not all of its values are numbers"),
        ([1.5, float("nan"), 2.5], "have none"),
    ],
)
def test_what_is_no_weight_is_refused(weights: list[object], said: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30] * 3, "w": weights}, strict=False)
    with pytest.raises(SchemaError, match=said) as error:
        ic.publish(ic.read(frame, quasi=["age"], weight="w"), ic.KAnonymity(2))
    assert "much" not in str(error.value)
    frame.write_csv(tmp_path / "table.csv")
    with pytest.raises(SchemaError, match="is the weight"):
        ic.publish(ic.read(tmp_path / "table.csv", quasi=["age"], weight="w"), ic.KAnonymity(2))


@pytest.mark.parametrize("person", [{}, {"person": "age"}])
def test_weights_of_more_people_than_there_can_be_are_refused(person: dict[str, str]) -> None:
    frame = pl.DataFrame({"age": [30, 31, 31], "sex": ["F"] * 3, "w": [1e300, 2.0, 2.0]})
    with pytest.raises(SchemaError, match="more people than can be counted"):
        ic.publish(ic.read(frame, quasi=["sex"], weight="w", others="drop", **person), ic.KAnonymity(2))


def test_weights_in_texts(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("age,w\n30,1.50\n30,1.5\n30, 1.5\n31,2e0\n31,2\n31,2.0\n")
    release = ic.publish(ic.read(tmp_path / "table.csv", quasi=["age"], weight="w"), ic.KAnonymity(3))
    assert dict(release.to_polars().unique().iter_rows()) == {"30": 1.5, "31": 2.0}
    assert release.summary["weights"]["kept as they are"] == 6


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"require": ic.LDiversity(2), "method": ic.Anatomy()}, "no labels that a weight"),
        ({"require": ic.LDiversity(2), "form": ic.ShowBuckets()}, "no labels that a weight"),
        ({"require": ic.LDiversity(2), "form": ic.ShowMultisets()}, "no labels that a weight"),
        ({"require": ic.SlicedDiversity(2), "method": ic.Slicing()}, "no labels that a weight"),
        ({"method": ic.FlatHistogram(1)}, "promises differential privacy"),
        ({"method": ic.SDGS(5, levels={"age": 1}, epsilon=2), "sample": 0.2}, "promises differential privacy"),
        ({"method": ic.KDGS(5, levels={"age": 1})}, "'w' would be published outside of it"),
        ({"require": ic.FullKAnonymity(5)}, "'w' would be published outside of it"),
        ({"require": ic.DeltaPresence(0.5)}, "weights do not tell who is in the population"),
    ],
)
def test_what_cannot_carry_weights_says_so(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(IncrowdError, match=said):
        ic.publish(read(survey(200)), **asked)


def test_roles() -> None:
    with pytest.raises(SchemaError, match="named twice"):
        read(survey(10), keep=["w"])
    with pytest.raises(SchemaError, match="one column"):
        read(survey(10), weight=["w"])
    with pytest.raises(SchemaError, match="not in the table"):
        read(survey(10), weight="wgt")
    assert "weight=['w']" in repr(read(survey(10)))


def test_recipes(tmp_path: Path) -> None:
    survey(200).write_csv(tmp_path / "survey.csv")
    recipe = """
    incrowd = 1
    others = "drop"
    [source]
    path = "survey.csv"
    [[models]]
    name = "k-anonymity"
    k = 5
    [[models]]
    name = "individual-risk"
    risk = 0.05
    [columns]
    age = "quasi"
    sex = "quasi"
    ill = "sensitive"
    [columns.w]
    role = "weight"
    """
    (tmp_path / "recipe.toml").write_text(recipe)
    release = ic.Recipe.load(tmp_path / "recipe.toml").run(seed=1)
    release.save(tmp_path / "out")
    written = (tmp_path / "out" / "recipe.toml").read_text()
    assert '[columns.w]\nrole = "weight"' in written
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run(seed=1)
    assert again.to_polars().equals(release.to_polars())
    (tmp_path / "two.toml").write_text(recipe + '\n    [columns.note]\n    role = "weight"\n')
    with pytest.raises(IncrowdError, match="one column of weights"):
        ic.Recipe.load(tmp_path / "two.toml")


def test_one_row_and_all_equal() -> None:
    one = ic.publish(ic.read(pl.DataFrame({"age": [30], "w": [5.0]}), quasi=["age"], weight="w"), ic.KAnonymity(1))
    assert one.to_polars().rows() == [("30", 5.0)]
    equal = ic.publish(
        ic.read(pl.DataFrame({"age": [30, None, 30], "w": [5] * 3}), quasi=["age"], weight="w"), ic.KAnonymity(3)
    )
    assert equal.to_polars()["w"].to_list() == [5.0] * 3
    nobody = pl.DataFrame({"age": [], "w": []}, schema={"age": pl.Int64, "w": pl.Float64})
    with pytest.raises(IncrowdError, match="no rows"):
        ic.publish(ic.read(nobody, quasi=["age"], weight="w"), ic.KAnonymity(3))
