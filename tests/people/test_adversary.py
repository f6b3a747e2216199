"""All methods and models, on tables in which people have several rows: nothing that is claimed of people is wrong."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import SchemaError, Unsatisfiable
from tests.people.tables import CITY_NAMES, METHODS, MODELS, random_case, random_frame
from tests.people.trial import ROW, Case, judge_numbered, judge_rows, lines, try_all


def some_people(seed: int, *, least: int = 1) -> pl.DataFrame:
    """Make up to 12 people with 1 to 6 rows each; the rows of some differ in sensitive values only."""
    chance = random.Random(seed)

    def one_row() -> dict[str, Any]:
        return {
            "age": chance.choice([None, chance.randint(20, 40)]),
            "city": chance.choice([None, *CITY_NAMES]),
            "ill": chance.choice([None, "flu", "cold", "HIV"]),
            "dose": chance.choice([1, 2, 3]),
        }

    rows: list[dict[str, Any]] = []
    for number in range(chance.randint(least, 12)):
        first, constant = one_row(), chance.random() < 0.5
        own = [one_row() for _ in range(chance.randint(0, 5))]
        for row in (first, *own):
            rows.append({"pid": number, **row, **({"age": first["age"], "city": first["city"]} if constant else {})})
    chance.shuffle(rows)
    kinds = {"pid": pl.Int64, "age": pl.Int64, "city": pl.String, "ill": pl.String, "dose": pl.Int64}
    return pl.DataFrame(rows, schema=kinds).with_row_index(ROW)


SEEDS = (
    0, 1, 2, 3, 4, 5, 7, 7, 8, 9, 10, 11, 12, 13, 14, 17, 16, 17,
    18, 19, 20, 29, 22, 23, 25, 28, 33, 34, 28, 30, 30, 31, 32, 50, 34, 35,
)  # fmt: skip
"""Of tables of which something can be published, two for every model, and at least two for every method."""


def together(number: int, seed: int) -> Case:
    """Take every model twice, by two methods: alone and of one column, and with another model and of two columns."""
    model, method = MODELS[number % len(MODELS)], METHODS[number % len(METHODS)]
    chance, frame = random.Random(seed), some_people(seed, least=6)
    require = [model(chance, frame["pid"].n_unique())]
    if number < len(MODELS):
        return Case(frame, ["pid"], ["age"], ["ill"], method(), require)
    require.append(ic.KAnonymity(chance.choice([1, 2, 3])))
    sensitive = chance.choice([["ill"], ["ill", "dose"]])
    return Case(frame, ["pid"], ["age", "city"], sensitive, method(), require, (1, 1, 0.6)[number % 3])


@pytest.mark.parametrize(("number", "seed"), list(enumerate(SEEDS)))
def test_every_method_keeps_what_it_claims_of_people_by_every_model(number: int, seed: int, tmp_path: Path) -> None:
    case = together(number, seed)
    # Each way to tell whose a row is: every model and method once, and those again that publish a sample.
    if number < len(MODELS) or case.sample < 1:
        assert try_all(case, tmp_path) is None
        assert (tmp_path / "pseudonyms").exists()  # it was published in each way, and judged
    else:
        assert judge_numbered(case, case.publish(keep=[ROW]), tmp_path)[0] is None


def test_no_model_and_no_method_is_left_out() -> None:
    assert len(SEEDS) == 2 * len(MODELS) >= 2 * len(METHODS)


@pytest.mark.parametrize("number", range(3))
def test_people_of_one_row_each_change_nothing(number: int) -> None:
    chance, frame = random.Random(number), some_people(100 + number)
    sample = (1, 0.6, 1)[number]
    frame = frame.unique("pid", keep="first", maintain_order=True)
    method, require = chance.choice(METHODS)(), [chance.choice(MODELS)(chance, frame.height)]
    options = {"quasi": ["age", "city"], "sensitive": ["ill"], "keep": [ROW], "drop": ["dose"]}

    def made(**roles: Any) -> Any:
        try:
            release = ic.publish(ic.read(frame, **options, **roles), require, method=method, seed=3, sample=sample)
        except (Unsatisfiable, SchemaError) as error:
            return str(error)
        return release.to_polars().rows(), release.summary

    assert made(person="pid") == made(identifiers=["pid"])


@pytest.mark.parametrize("method", METHODS, ids=lambda make: str(make())[:60])
def test_as_many_as_there_are(method: Callable[[], Any], tmp_path: Path) -> None:
    frame, person, quasi, sensitive = random_frame(random.Random(8))
    people = len({Case(frame, person, quasi, sensitive, None, []).whose(row) for row in frame.to_dicts()})
    case = Case(frame, person, quasi, sensitive, method(), [ic.KAnonymity(people)])
    # Every method is tried in each way to tell whose a row is by the test above.
    assert judge_numbered(case, case.publish(keep=[ROW]), tmp_path)[0] is None
    more = Case(frame, person, quasi, sensitive, method(), [ic.KAnonymity(people + 1)])
    with pytest.raises(Unsatisfiable):
        more.publish()


@pytest.mark.parametrize("method", METHODS, ids=lambda make: str(make())[:60])
@pytest.mark.parametrize("rows", [["A"] * 6, ["A", "A", "B", "B"]], ids=["one person", "all alike"])
def test_one_person_and_people_who_are_all_alike(rows: list[str], method: Callable[[], Any], tmp_path: Path) -> None:
    frame = pl.DataFrame({"pid": rows, "age": [30] * len(rows), "ill": ["flu"] * len(rows)}).with_row_index(ROW)
    people = len(set(rows))
    case = Case(frame, ["pid"], ["age"], ["ill"], method(), [ic.KAnonymity(people)])
    # The same holds here, and one method is tried in each way.
    if method is METHODS[0]:
        assert try_all(case, tmp_path / "each way") is None
    assert judge_numbered(case, case.publish(keep=[ROW]), tmp_path)[0] is None
    with pytest.raises(Unsatisfiable):
        Case(frame, ["pid"], ["age"], ["ill"], method(), [ic.KAnonymity(people + 1)]).publish()


@settings(max_examples=18, deadline=None, derandomize=True, database=None)
@given(frame=st.integers(0, 10**6).map(some_people), k=st.integers(1, 3), level=st.integers(0, 2))
def test_fixed_levels_publish_people_of_whom_enough_are_alike(frame: pl.DataFrame, k: int, level: int) -> None:
    # Everybody keeps to one age, so that labels do not overlap, and whose a row is can be told without being published.
    frame = frame.with_columns(pl.col("age").fill_null(20).first().over("pid"))
    width = (1, 5, 10)[level]
    alike: dict[tuple[int, frozenset[object]], list[int]] = {}
    for (person,), own in frame.group_by(["pid"]):
        alike.setdefault((own["age"][0] // width, frozenset(own["ill"])), []).append(person)  # type: ignore[arg-type]
    shown = {person for people in alike.values() if len(people) >= k for person in people}
    table = ic.read(
        frame,
        quasi=["age"],
        sensitive=["ill"],
        person="pid",
        drop=["city", "dose", ROW],
        hierarchies={"age": ic.Intervals(widths=(5, 10))},
    )
    method = ic.KDGS(k, levels={"age": level})
    if any(own["ill"].n_unique() > 1 and own["ill"].null_count() for _, own in frame.group_by("pid")):
        with pytest.raises(SchemaError, match="lacks a value"):  # missing is a value by itself there
            ic.publish(table, method=method)
        return
    if not shown:
        with pytest.raises(Unsatisfiable):
            ic.publish(table, method=method)
        return
    release = ic.publish(table, method=method)
    expected = frame.filter(pl.col("pid").is_in(shown))
    assert release.rows == expected.height
    assert sorted(map(str, release.to_polars()["ill"])) == sorted(map(str, expected["ill"]))
    rarest = min(
        len({row["pid"] for row in expected.to_dicts() if (row["age"] // width, row["ill"]) == (at, value)})
        for at, value in {(row["age"] // width, row["ill"]) for row in expected.to_dicts()}
    )
    assert release.guarantees[0].achieved == rarest >= k


_ELSEWHERE = """
import random, sys
from pathlib import Path
from incrowd.errors import Unsatisfiable
from tests.people.tables import random_case
for one in sys.argv[2:]:
    number, format = one.split(".")
    case = random_case(random.Random(int(number)))
    try:
        release = case.publish(keep=["row"], pseudonyms=case.person)
    except Unsatisfiable:
        continue
    release.save(Path(sys.argv[1]) / one, format=format)
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What another process made of some tables."""
    place = tmp_path_factory.mktemp("elsewhere")
    asked = [f"{number}.{format}" for number, format in ELSEWHERE]
    subprocess.run([sys.executable, "-c", _ELSEWHERE, str(place), *asked], check=True)
    return place


ELSEWHERE = [(3, "csv"), (5, "parquet"), (40, "csv"), (41, "parquet")]


@pytest.mark.parametrize(("number", "format"), ELSEWHERE)
def test_files_of_another_process_tell_the_same(number: int, format: str, elsewhere: Path) -> None:
    case = random_case(random.Random(number))
    made = elsewhere / f"{number}.{format}"
    if not made.exists():
        with pytest.raises(Unsatisfiable):
            case.publish(keep=[ROW])
        return
    rows = lines(made, format)
    by_number = {str(row[ROW]): row for row in case.frame.to_dicts()}
    assert judge_rows(case, rows, [by_number[str(row[ROW])] for row in rows], made) is None
    opened = ic.open_release(made)
    assert all(claim.verdict != "does not hold" for claim in opened.claims)
