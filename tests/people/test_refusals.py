"""What is refused where somebody may have several rows, and what is not judged: in words that say what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import IncrowdError, SchemaError, SourceError, TallyTooLarge
from incrowd.publishing.publish import _Job
from tests.cli.command import incrowd

VISITS = pl.DataFrame(
    {
        "pid": [f"P{number % 20}" for number in range(60)],
        "age": [20 + number % 20 // 4 for number in range(60)],
        "ill": [["flu", "cold", "HIV"][number % 3] for number in range(60)],
    }
)
SENTENCES = ('person="pid"', "each_row_a_person=True")
IN_A_RECIPE = ('role = "person" or "person-pseudonym" in [columns.pid]', "each_row_a_person = true")
AGES = ic.Intervals(widths=(5, 10, 20, 40))


def read(frame: pl.DataFrame = VISITS, **roles: Any) -> ic.Table:
    return ic.read(frame, quasi=["age"], sensitive=["ill"], **roles)


def five_hundred_people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "pid": [number // 6 for number in range(3000)],
            "age": [20 + number // 6 % 50 for number in range(3000)],
            "ill": [["flu", "cold", "HIV"][number % 3] for number in range(3000)],
        }
    )


@pytest.mark.parametrize("role", ["identifiers", "pseudonyms"])
@pytest.mark.parametrize("frame", [VISITS, five_hundred_people()], ids=["visits", "500 people of 6 rows"])
def test_a_name_that_repeats_is_refused_with_the_sentence_to_write(role: str, frame: pl.DataFrame) -> None:
    with pytest.raises(SchemaError) as error:
        ic.publish(read(frame, **{role: ["pid"]}), ic.KAnonymity(4))
    assert all(sentence in str(error.value) for sentence in SENTENCES)
    assert f"{frame.height:,} rows have {frame['pid'].n_unique():,} different values" in str(error.value)
    assert ic.publish(read(frame, **{role: ["pid"]}, each_row_a_person=True), ic.KAnonymity(4)).people is None


def test_five_hundred_people_of_six_rows_are_five_hundred() -> None:
    table = read(five_hundred_people(), person="pid")
    release = ic.publish(table, ic.KAnonymity(4))
    assert release.people is not None
    assert (release.people.total, release.rows) == (500, 3000)
    assert int(release.people.group_sizes.min()) >= 4
    with pytest.raises(ic.errors.Unsatisfiable):
        ic.publish(table, ic.KAnonymity(501))


def test_a_patient_under_a_pseudonym_hides_among_people(tmp_path: Path) -> None:
    release = ic.publish(read(person="pid", pseudonyms=["pid"]), ic.KAnonymity(4))
    data = release.to_polars()
    assert data.group_by("age").agg(pl.col("pid").n_unique())["pid"].min() >= 4  # type: ignore[operator]
    assert data.group_by("pid").agg(pl.col("age").n_unique())["age"].max() == 1
    release.save(tmp_path / "out", format="csv")
    assert incrowd("check", tmp_path / "out", "--k", "4").code == 0
    assert incrowd("check", tmp_path / "out", "--k", "5").code == 1
    found = incrowd("check", tmp_path / "out", "--json")
    assert json.loads(found.out)["people"] == 20


@pytest.mark.parametrize("role", ["identifier", "pseudonym"])
def test_recipes_and_the_command_line_refuse_it_too(role: str, tmp_path: Path) -> None:
    VISITS.write_csv(tmp_path / "visits.csv")
    text = (
        'incrowd = 1\n[source]\npath = "visits.csv"\n[[models]]\nname = "k-anonymity"\nk = 4\n[output]\n'
        'directory = "out"\nformat = "csv"\n[columns]\nage = "quasi"\nill = "sensitive"\npid = "{role}"\n'
    )
    recipe = tmp_path / "visits.toml"
    recipe.write_text(text.format(role=role))
    done = incrowd("publish", recipe, "--quiet")
    assert done.code == 3
    assert all(sentence in " ".join(done.err.split()) for sentence in IN_A_RECIPE)
    assert not (tmp_path / "out").exists()
    recipe.write_text("each_row_a_person = true\n" + text.format(role=role))
    assert incrowd("publish", recipe, "--quiet").code == 0
    assert "people" not in json.loads((tmp_path / "out" / "summary.json").read_text())
    said = {"identifier": "person", "pseudonym": "person-pseudonym"}[role]
    recipe.write_text(text.format(role=said).replace('"out"', '"again"'))
    assert incrowd("publish", recipe, "--quiet").code == 0
    assert json.loads((tmp_path / "again" / "summary.json").read_text())["people"]["published"] == 20
    assert ic.Recipe.load(tmp_path / "again" / "recipe.toml").roles["pid"] == said


def test_each_row_a_person_is_true_or_false_and_leaves_no_person() -> None:
    with pytest.raises(SchemaError, match="either one row or the rows that `person` tells"):
        read(person="pid", each_row_a_person=True)
    with pytest.raises(ic.errors.RecipeError, match="each_row_a_person is true or false"):
        ic.Recipe.from_dict({"incrowd": 1, "each_row_a_person": 1, "columns": {"age": "quasi"}})


@pytest.mark.parametrize("names", [["P1", "P1 ", "P2", "P3"], ["Zo\u00eb", "Zoe\u0308", "x", "y"]])
@pytest.mark.parametrize("role", ["identifiers", "pseudonyms"])
def test_names_that_look_alike_repeat(names: list[str], role: str) -> None:
    frame = pl.DataFrame({"pid": names, "age": [1, 1, 2, 2], "ill": ["flu"] * 4})
    with pytest.raises(SchemaError, match="4 rows have 3 different values"):
        ic.publish(read(frame, **{role: ["pid"]}), ic.KAnonymity(2))
    assert ic.publish(
        ic.read(frame, quasi=["age"], sensitive=["ill"], exact_text=True, **{role: ["pid"]}), ic.KAnonymity(2)
    )


def test_names_that_are_missing_do_not_repeat() -> None:
    frame = pl.DataFrame({"pid": ["", " ", None, "P1"], "age": [1, 1, 2, 2], "ill": ["flu"] * 4})
    assert ic.publish(read(frame, identifiers=["pid"]), ic.KAnonymity(2)).rows == 4


@pytest.mark.parametrize("name", [None, "", " "])
def test_a_row_of_nobody_is_refused(name: str | None) -> None:
    frame = VISITS.vstack(pl.DataFrame({"pid": [name], "age": [20], "ill": ["flu"]}))
    with pytest.raises(SchemaError, match="column 'pid' tells whose a row is, and some rows have no value there"):
        ic.publish(read(frame, person="pid"), ic.KAnonymity(2))
    with pytest.raises(SchemaError, match="some rows have no value there"):
        ic.check(frame, quasi=["age"], person="pid")


@pytest.mark.parametrize("how", [{"method": ic.Anatomy()}, {"method": ic.Slicing()}, {"form": ic.ShowMultisets()}])
def test_what_shows_how_many_rows_somebody_has_is_refused(how: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="some of the 20 people have several"):
        ic.publish(read(person="pid"), ic.BucketSize(2), **how)


def test_what_is_promised_of_single_rows_is_refused() -> None:
    # Of 400 people at 25, one has a row at 71: whether that row is sampled would be seen in the label of all.
    rows = [(number, 25, "flu") for number in range(400)]
    frame = pl.DataFrame([*rows, (7, 71, "flu")], schema=["pid", "age", "ill"], orient="row")
    table = read(frame, person="pid", hierarchies={"age": AGES})
    alone = read(frame[:-1], person="pid", hierarchies={"age": AGES})
    for rows in (table, alone):  # by what is declared alone: an error must not tell whether somebody has several rows
        with pytest.raises(IncrowdError, match="most_rows"):
            ic.publish(rows, method=ic.SDGS(20, levels={"age": 2}), sample=0.2)


def test_a_population_of_rows_is_no_population_of_people() -> None:
    # Nobody else is as old as anybody: without this, everybody would seem to hide among three.
    frame = pl.DataFrame({"pid": [0, 0, 0, 1, 1, 1], "age": [30, 30, 30, 40, 40, 40], "ill": ["flu"] * 6})
    with pytest.raises(SchemaError, match="some people of the population have several rows"):
        ic.publish(read(frame, person="pid", population=frame), ic.KMap(3))
    one_each = frame.unique(["pid"])
    assert ic.publish(read(frame, person="pid", population=one_each), ic.KMap(2)).guarantees[0].achieved == 2


def test_parts_are_counted_in_rows_and_so_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(self: object) -> None:
        raise TallyTooLarge(10, 5)

    monkeypatch.setattr(_Job, "_count", too_large)
    with pytest.raises(TallyTooLarge):
        ic.publish(read(person="pid"), ic.KAnonymity(2))


def test_files_that_do_not_tell_whose_a_row_is_are_not_judged(tmp_path: Path) -> None:
    table = read(person="pid")
    release = ic.publish(table, ic.KAnonymity(4))
    data = release.save(tmp_path / "out", format="csv")
    asked = [ic.KAnonymity(5), ic.LDiversity(2), ic.TCloseness(0.9)]
    for found in (
        ic.check(tmp_path / "out", require=asked),
        ic.check(tmp_path / "out", require=asked, original=table),
        ic.check(data, require=asked, original=table),
    ):
        assert (found.k, found.unique_rows, found.people, found.sensitive) == (None, None, None, {})
        assert {model.satisfied for model in found.models} == {None}
        assert all("do not tell whose a row is" in model.note for model in found.models)
    assert incrowd("check", tmp_path / "out", "--k", "2").code == 1
    with pytest.raises(SchemaError, match="which tells itself what its columns are"):
        ic.check(tmp_path / "out", person="pid")
    opened = ic.open_release(tmp_path / "out")
    assert opened.guarantees == ()
    assert any("not to be judged from the files alone: 4-anonymity" in warning for warning in opened.warnings)


def test_a_description_that_tells_whose_a_row_is_is_heard(tmp_path: Path) -> None:
    frame = pl.DataFrame({"pid": ["A"] * 4 + ["B"], "age": ["[20, 30)"] * 5, "ill": ["flu", "cold"] * 2 + ["flu"]})
    frame.write_csv(tmp_path / "data.csv")
    described = tmp_path / "columns.toml"
    text = '[[models]]\nname = "k-anonymity"\nk = 4\n[columns]\nage = "quasi"\nill = "sensitive"\npid = "{role}"\n'
    verdicts = {}
    for role in ("person-pseudonym", "person", "drop"):
        described.write_text(text.format(role=role))
        verdicts[role] = [
            claim.verdict for claim in ic.open_release(tmp_path / "data.csv", description=described).claims
        ]
    expected = {"person-pseudonym": ["does not hold"], "person": ["cannot be judged"], "drop": ["holds"]}
    assert verdicts == expected


def test_people_who_are_not_those_of_the_summary_are_refused(tmp_path: Path) -> None:
    release = ic.publish(read(person="pid", pseudonyms=["pid"]), ic.KAnonymity(4))
    data = release.save(tmp_path / "out", format="csv")
    whole = pl.read_csv(data, infer_schema=False)
    somebody = whole["pid"][0]
    swapped = whole.with_columns(pl.when(pl.col("pid") == somebody).then(pl.lit("X")).otherwise("pid").alias("pid"))
    swapped.with_columns(pid=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("Y")).otherwise("pid")).write_csv(data)
    with pytest.raises(SourceError, match=r"tells of 20 people, and there are 21"):
        ic.open_release(tmp_path / "out")


def test_a_check_against_a_table_whose_names_repeat_is_refused() -> None:
    frame = pl.DataFrame({"pid": [1, 1, 2, 2], "age": [30, 30, 30, 30], "ill": ["flu", "cold", "flu", "cold"]})
    original = ic.read(frame, identifiers=["pid"], quasi=["age"], sensitive=["ill"])
    published = frame.drop("pid")
    with pytest.raises(SchemaError, match="names people and repeats"):
        ic.check(published, original=original, require=[ic.KAnonymity(2)])
    each = ic.read(frame, identifiers=["pid"], quasi=["age"], sensitive=["ill"], each_row_a_person=True)
    assert ic.check(published, original=each, require=[ic.KAnonymity(4)]).models[0].satisfied


def test_a_missing_value_beside_others_is_one_by_itself_to_full_k_anonymity() -> None:
    visits = pl.DataFrame({"pid": [1, 1, 2, 3], "age": [20] * 4, "ill": ["flu", None, "flu", "flu"]})
    table = ic.read(visits, person="pid", quasi=["age"], sensitive=["ill"])
    for given in ({"require": ic.FullKAnonymity(2)}, {"method": ic.KDGS(2, levels={"age": 0})}):
        with pytest.raises(SchemaError, match="lacks a value of 'ill'"):
            ic.publish(table, **given)
    found = ic.check(visits, person="pid", quasi=["age"], sensitive=["ill"], require=[ic.FullKAnonymity(2)])
    assert found.models[0].satisfied is None
    whole = visits.drop_nulls()
    assert ic.publish(ic.read(whole, person="pid", quasi=["age"], sensitive=["ill"]), ic.FullKAnonymity(2)).rows == 3
