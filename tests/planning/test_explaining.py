"""Rows beside what is published of them, and why: against plain Python over the rows and the release's own files."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError
from incrowd.planning.explaining import rows_beside, why
from incrowd.planning.explaining.rows_beside import can_be_linked
from incrowd.publishing.release import Release

ROWS = pl.DataFrame(
    {
        "name": [f"p{place}" for place in range(12)],
        "age": [30, 30, 31, 31, 45, 45, 46, None, 80, 81, 30, 46],
        "sex": ["F", "F", "M", "M", "F", "F", "M", "M", "F", "M", "F", "M"],
        "illness": ["flu", "cold", "flu", "flu", "cold", "flu", "gout", "flu", "cold", "flu", "flu", "gout"],
    }
)


def published(rows: pl.DataFrame = ROWS, method: Any = None, k: int = 2, **more: Any) -> Release:
    table = ic.read(
        rows, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"],
        hierarchies={"age": ic.Intervals(widths=(10, 20, 40))}, **more,
    )  # fmt: skip
    return ic.publish(table, ic.KAnonymity(k), method=method or ic.Mondrian(), seed=1)


METHODS = [
    ic.Mondrian(),
    ic.Mondrian(cuts="relaxed"),
    ic.FullDomain(max_withheld=0.3),
    ic.LocalRecoding(),
    ic.FullDomain(max_withheld=0.3, leftovers="recode"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_rows_after_are_those_of_the_release(method: Any) -> None:
    """As a bag, what is beside the rows is what is published; and each row's sensitive value is its own."""
    release = published(method=method)
    beside = rows_beside(release)
    page = beside.page(0, 100)
    assert page["columns"] == ["age", "sex", "illness"]
    after = Counter(tuple(row["after"]) for row in page["rows"] if row["after"] is not None)
    assert after == Counter(release.to_polars().select("age", "sex", "illness").rows())
    assert sum(row["withheld"] for row in page["rows"]) == release.withheld
    for row in page["rows"]:
        age, sex, illness = ROWS.select("age", "sex", "illness").row(row["row"])
        assert row["before"] == [None if age is None else str(age), sex, illness]
        if row["after"] is not None:
            assert row["after"][2] == illness
            assert row["changed"] == [a != b for a, b in zip(row["before"], row["after"], strict=True)]
            shown = [other for other in page["rows"] if other["after"] and other["after"][:2] == row["after"][:2]]
            assert row["crowd"] == len(shown) >= 2
        else:
            assert row["crowd"] == 0


@pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: type(method).__name__)
def test_every_row_is_inside_of_its_label(method: Any) -> None:
    release = published(method=method)
    beside = rows_beside(release)
    form = release.generalized
    for place, row in enumerate(ROWS.iter_rows(named=True)):
        group = int(beside.group_of[place])
        if group < 0:
            continue
        for at, name in enumerate(form.shown.columns):
            tree = form.tally.trees[name]
            code = tree.values.to_list().index(row[name]) if row[name] is not None else 0
            assert form.shown.lows[group, at] <= code < form.shown.highs[group, at]


def test_changed_and_withheld_rows_are_found() -> None:
    release = published(method=ic.FullDomain(max_withheld=0.3))
    beside = rows_beside(release)
    everything = beside.page(0, 100)["rows"]
    for show, wanted in (
        ("withheld", [row["row"] for row in everything if row["withheld"]]),
        ("changed", [row["row"] for row in everything if any(row["changed"][:2])]),
    ):
        assert [row["row"] for row in beside.page(0, 100, show=show)["rows"]] == wanted
        assert [row["row"] for row in beside.page(1, 2, show=show)["rows"]] == wanted[1:3]
        assert beside.page(0, 1, show=show)["total"] == len(wanted)


@pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: type(method).__name__)
def test_why_counts_what_plain_python_counts(method: Any) -> None:
    release = published(method=method)
    beside = rows_beside(release)
    before = Counter(ROWS.select("age", "sex").rows())
    for place in range(ROWS.height):
        told = why(beside, place)
        assert told["alike_before"] == before[ROWS.select("age", "sex").row(place)]
        assert told["withheld"] == bool(beside.withheld[place])
        (model,) = told["models"]
        assert model["statement"] == "2-anonymity"
        assert model["value"] == (told["alike_before"] if told["withheld"] else told["crowd"])
        assert model["holds"] == (model["value"] >= 2)
        assert told["sentences"]
        for column in told["columns"]:
            assert column["before"] == beside.before(column["name"])[place]


def test_models_of_values_are_judged_in_the_rows_own_group() -> None:
    table = ic.read(ROWS, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"])
    release = ic.publish(table, [ic.KAnonymity(2), ic.LDiversity(2)], seed=1)
    beside = rows_beside(release)
    page = beside.page(0, 100)["rows"]
    for row in page:
        crowd = {other["after"][2] for other in page if other["after"][:2] == row["after"][:2]}
        diversity = next(one for one in why(beside, row["row"])["models"] if "diversity" in one["statement"])
        assert diversity["value"] == len(crowd) >= 2


def test_equal_rows_share_out_the_places_of_their_kind() -> None:
    """Relaxed cuts put equal people into several groups: each place is taken once."""
    rows = pl.DataFrame(
        {"age": [40] * 8 + [41] * 2, "sex": ["F"] * 10, "illness": ["flu"] * 10, "name": list("abcdefghij")}
    )
    release = published(rows, ic.Mondrian(cuts="relaxed"), k=3)
    beside = rows_beside(release)
    assert beside.sure.all()
    page = beside.page(0, 100)["rows"]
    assert Counter(tuple(row["after"]) for row in page) == Counter(
        release.to_polars().select("age", "sex", "illness").rows()
    )


def test_texts_that_look_alike_are_one_value() -> None:
    rows = pl.DataFrame(
        {"age": ["30", "30.0", " 30"], "sex": ["F ", "F", "F"], "illness": ["flu"] * 3, "name": list("abc")}
    )
    beside = rows_beside(published(rows, k=3))
    assert not beside.withheld.any()
    assert len(set(beside.group_of.tolist())) == 1


def test_one_row_and_all_equal() -> None:
    one = ROWS.head(1)
    assert rows_beside(published(one, k=1)).page(0, 5)["total"] == 1
    equal = pl.concat([one] * 5).with_columns(name=pl.Series(list("abcde")))
    assert {row["crowd"] for row in rows_beside(published(equal)).page(0, 9)["rows"]} == {5}


def test_what_nothing_links_is_not_linked() -> None:
    table = ic.read(ROWS, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"])
    release = ic.publish(table, ic.ProbabilisticLDiversity(1), method=ic.Anatomy(), seed=1)
    assert not can_be_linked(release)
    with pytest.raises(QueryError, match="anybody's own"):
        rows_beside(release)


def test_a_file_that_changed_is_noticed(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    ROWS.write_csv(path)
    table = ic.read(path, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"])
    release = ic.publish(table, ic.KAnonymity(2), seed=1)
    ROWS.head(11).write_csv(path)
    with pytest.raises(ic.errors.SourceChanged):
        rows_beside(release)


def test_people_with_several_rows_say_where_it_is_not_sure() -> None:
    rows = pl.concat([ROWS, ROWS.head(6)])
    table = ic.read(rows, quasi=["age", "sex"], sensitive=["illness"], person="name")
    release = ic.publish(table, ic.KAnonymity(2), seed=1)
    beside = rows_beside(release)
    page = beside.page(0, 100)["rows"]
    assert Counter(tuple(row["after"]) for row in page if row["after"]) == Counter(
        release.to_polars().select("age", "sex", "illness").rows()
    )


def test_weights_are_shown_as_they_are_written() -> None:
    rows = ROWS.with_columns(wgt=pl.Series([100.0 + place for place in range(ROWS.height)]))
    table = ic.read(rows, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"], weight="wgt")
    release = ic.publish(table, ic.KAnonymity(2), seed=1)
    page = rows_beside(release).page(0, 100)
    assert page["columns"] == ["age", "sex", "illness", "wgt"]
    after = Counter((*row["after"][:3], round(float(row["after"][3]), 6)) for row in page["rows"])
    written = release.to_polars().select("age", "sex", "illness", "wgt").rows()
    assert after == Counter((*row[:3], round(float(row[3]), 6)) for row in written)


def test_rows_with_changed_values_are_not_linked() -> None:
    table = ic.read(
        ROWS, quasi=["age", "sex"], sensitive=["illness"], identifiers=["name"], changes={"illness": ic.PRAM(0.5)}
    )
    assert not can_be_linked(ic.publish(table, ic.KAnonymity(2), seed=1))


def test_a_release_from_files_is_explained_by_nobody(tmp_path: Any) -> None:
    published().save(tmp_path / "out")
    assert not can_be_linked(ic.open_release(tmp_path / "out"))
