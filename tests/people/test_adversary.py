"""All methods and models, on tables in which people have several rows: nothing that is claimed of people is wrong."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import SchemaError, Unsatisfiable
from tests.people.tables import CITY_NAMES, METHODS, MODELS, random_case, random_frame
from tests.people.trial import ROW, Case, judge_rows, lines, try_all

one_row = st.fixed_dictionaries(
    {
        "age": st.one_of(st.none(), st.integers(20, 40)),
        "city": st.sampled_from([None, *CITY_NAMES]),
        "ill": st.sampled_from([None, "flu", "cold", "HIV"]),
        "dose": st.sampled_from([1, 2, 3]),
    }
)


@st.composite
def frames(draw: st.DrawFn, *, most_people: int = 12) -> pl.DataFrame:
    """Make people with 1 to 6 rows each; the rows of some differ in sensitive values only."""
    rows: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, most_people))):
        first = draw(one_row)
        own = draw(st.lists(one_row, max_size=5))
        constant = draw(st.booleans())
        for row in (first, *own):
            rows.append({"pid": number, **row, **({"age": first["age"], "city": first["city"]} if constant else {})})
    order = draw(st.permutations(range(len(rows))))
    kinds = {"pid": pl.Int64, "age": pl.Int64, "city": pl.String, "ill": pl.String, "dose": pl.Int64}
    return pl.DataFrame([rows[place] for place in order], schema=kinds).with_row_index(ROW)


few = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a trial publishes three times: to make it smaller would take minutes
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("method", METHODS, ids=lambda make: str(make())[:60])
@few
@given(frame=frames(), seed=st.integers(0, 999), sample=st.sampled_from([1, 1, 0.6]))
def test_every_method_keeps_what_it_claims_of_people(
    method: Callable[[], Any], frame: pl.DataFrame, seed: int, sample: float
) -> None:
    chance = random.Random(seed)
    people = frame["pid"].n_unique()
    require = [chance.choice(MODELS)(chance, people), ic.KAnonymity(chance.choice([1, 2, 3]))]
    sensitive = chance.choice([["ill"], ["ill", "dose"]])
    case = Case(frame, ["pid"], ["age", "city"], sensitive, method(), require, sample)
    with tempfile.TemporaryDirectory() as place:
        assert try_all(case, Path(place)) is None


@pytest.mark.parametrize("model", MODELS, ids=lambda make: str(make(random.Random(0), 5))[:40])
@few
@given(frame=frames(), seed=st.integers(0, 999))
def test_every_model_is_judged_by_people(
    model: Callable[[random.Random, int], Any], frame: pl.DataFrame, seed: int
) -> None:
    chance = random.Random(seed)
    require = [model(chance, frame["pid"].n_unique())]
    case = Case(frame, ["pid"], ["age"], ["ill"], chance.choice(METHODS)(), require)
    with tempfile.TemporaryDirectory() as place:
        assert try_all(case, Path(place)) is None


@few
@given(frame=frames(), seed=st.integers(0, 999), sample=st.sampled_from([1, 0.6]))
def test_people_of_one_row_each_change_nothing(frame: pl.DataFrame, seed: int, sample: float) -> None:
    chance = random.Random(seed)
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
    assert try_all(case, tmp_path) is None
    more = Case(frame, person, quasi, sensitive, method(), [ic.KAnonymity(people + 1)])
    with pytest.raises(Unsatisfiable):
        more.publish()


@pytest.mark.parametrize("method", METHODS, ids=lambda make: str(make())[:60])
@pytest.mark.parametrize("rows", [["A"] * 6, ["A", "A", "B", "B"]], ids=["one person", "all alike"])
def test_one_person_and_people_who_are_all_alike(rows: list[str], method: Callable[[], Any], tmp_path: Path) -> None:
    frame = pl.DataFrame({"pid": rows, "age": [30] * len(rows), "ill": ["flu"] * len(rows)}).with_row_index(ROW)
    people = len(set(rows))
    case = Case(frame, ["pid"], ["age"], ["ill"], method(), [ic.KAnonymity(people)])
    assert try_all(case, tmp_path) is None
    with pytest.raises(Unsatisfiable):
        Case(frame, ["pid"], ["age"], ["ill"], method(), [ic.KAnonymity(people + 1)]).publish()


@settings(max_examples=18, deadline=None, derandomize=True, database=None)
@given(frame=frames(), k=st.integers(1, 3), level=st.integers(0, 2))
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
import incrowd as ic
from tests.people.tables import random_case
case = random_case(random.Random(int(sys.argv[1])))
release = case.publish(keep=["row"], pseudonyms=case.person)
release.save(Path(sys.argv[2]), format=sys.argv[3])
"""


@pytest.mark.parametrize(("number", "format"), [(3, "csv"), (5, "parquet"), (40, "csv"), (41, "parquet")])
def test_files_of_another_process_tell_the_same(number: int, format: str, tmp_path: Path) -> None:
    case = random_case(random.Random(number))
    made = tmp_path / "made"
    ended = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, str(number), str(made), format], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        assert "Unsatisfiable" in ended.stderr
        with pytest.raises(Unsatisfiable):
            case.publish(keep=[ROW])
        return
    rows = lines(made, format)
    by_number = {str(row[ROW]): row for row in case.frame.to_dicts()}
    assert judge_rows(case, rows, [by_number[str(row[ROW])] for row in rows], made) is None
    opened = ic.open_release(made)
    assert all(claim.verdict != "does not hold" for claim in opened.claims)
