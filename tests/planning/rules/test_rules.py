"""Rules as recipes, on a made-up hospital: profiled, published, and the files looked at by plain code."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.common.registry import members
from incrowd.errors import RecipeError, SchemaError
from incrowd.planning.profile import Profile, profile
from incrowd.planning.rules import RULES, rule_named
from tests.cli.command import incrowd
from tests.planning.rules.hospital import hospital

NAMES = ("ema-0070", "expert-determination", "health-canada", "hipaa-safe-harbor", "public-use-file")
IDENTIFIERS = ("name", "ssn", "mrn", "phone", "fax", "email", "note", "url", "ip")
# As HHS's guidance lists them, by the census of 2000.
SPARSE = re.findall(r"\d{3}", "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
TELLTALES = r"\d{3}-\d{2}-\d{4}|MRN\d|@example|example\.org|\+1 212|\b10\.0\.\d+\.\d|came in on"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hospital")
    hospital().write_csv(folder / "hospital.csv")
    return folder


@pytest.fixture(scope="module")
def found(place: Path) -> Profile:
    return profile(place / "hospital.csv")


@pytest.fixture(scope="module")
def releases(place: Path, found: Profile) -> dict[str, Path]:
    """The release of each rule's recipe, as files."""
    return {name: published(found, name, place) for name in NAMES if name != "health-canada"}


def published(found: Profile, rule: str, place: Path) -> Path:
    recipe = place / f"{rule}.recipe.toml"
    recipe.write_text(found.recipe(rule=rule, path=recipe), encoding="utf-8")
    saved = place / f"{rule}-release"
    ic.Recipe.load(recipe).run().save(saved)
    return saved


def rows_in(release: Path) -> list[dict[str, str]]:
    if (release / "data.parquet").exists():
        return pl.read_parquet(release / "data.parquet").cast(pl.String).fill_null("").to_dicts()
    with (release / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def everything_in(release: Path) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(release.rglob("*")) if file.is_file())


def identifiers_in(rows: list[dict[str, str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        for name, value in row.items():
            if name in IDENTIFIERS:
                yield f"row {number}: {name} is published"
            if re.search(TELLTALES, value):
                yield f"row {number}: {name} holds an identifier"


def against_safe_harbor(rows: list[dict[str, str]], this_year: int) -> list[str]:
    """What is wrong with a release by the text of the rule alone."""
    wrong = list(identifiers_in(rows))
    for number, row in enumerate(rows):
        zipped, age = row.get("zip", "000"), row.get("age", "")
        if not re.fullmatch(r"\d{3}", zipped) or zipped in SPARSE:
            wrong.append(f"row {number}: zip")
        if not (age in ("", ">=90") or (age.isdigit() and int(age) <= 89)):
            wrong.append(f"row {number}: age")
        for name in ("birth_date", "admission_date", "discharge_date"):
            year = row.get(name, "")
            early = re.fullmatch(r"(\d{4}) or before", year)
            if early is not None and int(early[1]) == this_year - 90:
                continue
            if year and (re.fullmatch(r"\d{4}", year) is None or this_year - int(year) > 89):
                wrong.append(f"row {number}: {name}")
        wrong += [f"row {number}: {name}" for name, value in row.items() if re.search(r"\d{4}-\d\d", value)]
        wrong += [f"row {number}: city" for name in row if name == "city"]
    return wrong


def smallest_group(rows: list[dict[str, str]], quasi: list[str]) -> int:
    return min(Counter(tuple(row[name] for name in quasi) for row in rows).values())


def quasi_of(release: Path) -> list[str]:
    columns = tomllib.loads((release / "recipe.toml").read_text(encoding="utf-8"))["columns"]
    return [name for name, column in columns.items() if column["role"] == "quasi"]


def test_all_rules_are_found_and_listed() -> None:
    assert tuple(members(RULES)) == NAMES
    listed = incrowd("list", "rules").out
    assert all(name in listed for name in NAMES)
    with pytest.raises(RecipeError, match=r"no rule called 'hippa-safe-harbor'.*hipaa-safe-harbor"):
        rule_named("hippa-safe-harbor")


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_says_what_it_does_not_establish_and_why_each_column_is_what_it_is(name: str, found: Profile) -> None:
    text = found.recipe(rule=name)
    data = tomllib.loads(text)
    head = text[: text.index("incrowd = 1")]
    assert head.index("What it does NOT establish:") < head.index("Questions that a person has to answer:")
    assert "no legal determination" in head
    assert list(data["columns"]) == hospital(1).columns
    for column in data["columns"]:
        above = text[: text.index(f"\n[columns.{column}]\n")].split("\n")[-1]
        assert above.startswith("# ")
    assert "MRN1" not in text
    assert "@example" not in text


def test_safe_harbor_leaves_nothing_of_the_eighteen_kinds(releases: dict[str, Path]) -> None:
    release, this_year = releases["hipaa-safe-harbor"], date.today().year
    rows = rows_in(release)
    assert len(rows) == hospital().height
    assert against_safe_harbor(rows, this_year) == []
    assert {"zip", "birth_date", "admission_date", "age", "sex", "state", "diagnosis", "cost"} <= set(rows[0])
    assert "flag" not in rows[0]  # not recognised
    # As many as a loop over the table finds, and no file beside the data tells more.
    zips = ["000" if value[:3] in SPARSE else value[:3] for value in hospital()["zip"]]
    assert Counter(row["zip"] for row in rows) == Counter(zips)
    ages = [">=90" if age > 89 else str(age) for age in hospital()["age"]]
    assert Counter(row["age"] for row in rows) == Counter(ages)
    text = everything_in(release)
    assert re.search(TELLTALES, text) is None
    assert re.search(r"\b(03601|10115|89001)\b", text) is None
    assert not any(day in text for day in hospital()["birth_date"])


def test_safe_harbor_promises_no_group_size_and_the_release_says_so(releases: dict[str, Path]) -> None:
    release = ic.open_release(releases["hipaa-safe-harbor"])
    assert any("Nothing is guaranteed" in warning for warning in release.warnings)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("zip", "03601"),
        ("zip", "036"),
        ("age", "91"),
        ("birth_date", "1950-01"),
        ("birth_date", "1930"),
        ("admission_date", "2024-03-01"),
        ("diagnosis", "flu, see MRN100001"),
        ("email", ""),
        ("city", "Oak"),
    ],
)
def test_the_check_of_safe_harbor_finds_what_is_planted(releases: dict[str, Path], column: str, value: str) -> None:
    rows = rows_in(releases["hipaa-safe-harbor"])
    rows[5][column] = value
    assert against_safe_harbor(rows, date.today().year)


@pytest.mark.parametrize("column", ["zip", "birth_date", "age"])
def test_safe_harbor_without_its_changes_is_found_out(place: Path, found: Profile, column: str) -> None:
    text = found.recipe(rule="hipaa-safe-harbor", path=place / "x.recipe.toml")
    data = tomllib.loads(text)
    del data["columns"][column]["change"]
    rows = ic.Recipe.from_dict(data, base=place).run().to_polars().cast(pl.String).fill_null("").to_dicts()
    assert against_safe_harbor(rows, date.today().year)


@pytest.mark.parametrize("name", ["expert-determination", "ema-0070"])
def test_thresholds_hold_in_the_files(releases: dict[str, Path], name: str) -> None:
    release = releases[name]
    rows, quasi = rows_in(release), quasi_of(release)
    assert len(quasi) >= 6
    assert 1 / smallest_group(rows, quasi) <= 0.09
    assert not [wrong for wrong in identifiers_in(rows) if "mrn" not in wrong]
    planted = [*rows, {**rows[0], quasi[0]: "somebody else"}]
    assert 1 / smallest_group(planted, quasi) > 0.09
    for sensitive in ("diagnosis", "cost"):
        values: dict[tuple[str, ...], set[str]] = {}
        for row in rows:
            values.setdefault(tuple(row[column] for column in quasi), set()).add(row[sensitive])
        assert min(map(len, values.values())) >= 2
    assert ic.open_release(release).guarantees[0].achieved <= 0.09


def test_a_trial_publishes_recoded_numbers_and_days_since_the_first_event(releases: dict[str, Path]) -> None:
    rows, table = rows_in(releases["ema-0070"]), hospital()
    assert len({row["mrn"] for row in rows}) == table.height
    assert not {row["mrn"] for row in rows} & set(table["mrn"])
    days = [
        (date.fromisoformat(there) - date.fromisoformat(here)).days
        for here, there in table.select("admission_date", "discharge_date").iter_rows()
    ]
    assert Counter(int(row["discharge_date"]) for row in rows) == Counter(days)
    assert {row["admission_date"] for row in rows} == {"0"}
    assert not any(day in everything_in(releases["ema-0070"]) for day in table["admission_date"])


def test_health_canada_asks_for_the_same_by_another_name(found: Profile) -> None:
    here, there = (tomllib.loads(found.recipe(rule=name)) for name in ("health-canada", "ema-0070"))
    assert here == there
    assert "Health Canada accepts" in found.recipe(rule="health-canada")


def test_a_public_use_file_is_a_sample_in_large_groups(releases: dict[str, Path]) -> None:
    release = releases["public-use-file"]
    rows, quasi, table = rows_in(release), quasi_of(release), hospital()
    assert 0.35 * table.height < len(rows) < 0.65 * table.height
    assert smallest_group(rows, quasi) >= 20
    assert not list(identifiers_in(rows))
    assert set(rows[0]) == {*quasi, "diagnosis", "cost"}  # nothing outside of the guarantee
    largest = sorted(table["cost"])[-10]
    assert max(float(row["cost"]) for row in rows) <= largest


def test_a_public_use_file_of_a_survey_keeps_weights_in_classes(tmp_path: Path) -> None:
    survey = hospital().select("age", "sex", "diagnosis")
    weights = [100 + number / 7 for number in range(survey.height)]
    survey.with_columns(pl.Series("survey_weight", weights)).write_csv(tmp_path / "survey.csv")
    release = published(profile(tmp_path / "survey.csv"), "public-use-file", tmp_path)
    rows = rows_in(release)
    assert len({row["survey_weight"] for row in rows}) < len(rows) / 10
    assert smallest_group(rows, quasi_of(release)) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_rules_know_people_with_several_visits(name: str, tmp_path: Path) -> None:
    people = hospital(200).select("mrn", "birth_date", "sex", "state")
    visits = pl.concat([people.with_columns(visit_date=pl.lit(day)) for day in ("2025-01-05", "2025-03-09")])
    costs = [f"{100 + number * 7 % 911}.5" for number in range(visits.height)]
    illness = [("flu", "asthma", "angina")[number % 3] for number in range(visits.height)]
    visits = visits.with_columns(diagnosis=pl.Series(illness), cost=pl.Series(costs))
    visits.write_csv(tmp_path / "visits.csv")
    release = published(profile(tmp_path / "visits.csv"), name, tmp_path)
    rows = rows_in(release)
    if name in ("ema-0070", "health-canada"):
        counted = Counter(row["mrn"] for row in rows)
        assert set(counted.values()) == {2}
        assert Counter(row["visit_date"] for row in rows) == {"0": 200, "63": 200}
    else:
        assert "mrn" not in rows[0]
    if name == "hipaa-safe-harbor":
        assert against_safe_harbor(rows, date.today().year) == []
    if name == "public-use-file":
        assert "cost" not in rows[0]  # no threshold can be taken where ten rows may be one person's
    if name != "hipaa-safe-harbor":
        least = 40 if name == "public-use-file" else 24  # rows of twice as many people
        assert smallest_group(rows, quasi_of(release)) >= least


def test_zip_codes_that_are_numbers_get_their_zeros_back(tmp_path: Path) -> None:
    table = hospital(60).with_columns(pl.col("zip").cast(pl.Int64))
    table.write_parquet(tmp_path / "hospital.parquet")
    release = published(profile(tmp_path / "hospital.parquet"), "hipaa-safe-harbor", tmp_path)
    assert Counter(row["zip"] for row in rows_in(release)) == Counter(
        "000" if value[:3] in SPARSE else value[:3] for value in hospital(60)["zip"]
    )


def test_three_digits_of_zip_codes_stay_three_and_employers_go(tmp_path: Path) -> None:
    table = hospital(100).select(
        "sex", "diagnosis", pl.col("zip").str.head(3).alias("zip3"), pl.lit("Mill & Co").alias("employer")
    )
    mixed = table.with_columns(
        pl.when(pl.col("sex") == "F").then(pl.lit("Mine")).otherwise("employer").alias("employer")
    )
    mixed.write_csv(tmp_path / "table.csv")
    rows = rows_in(published(profile(tmp_path / "table.csv"), "hipaa-safe-harbor", tmp_path))
    assert set(rows[0]) == {"sex", "diagnosis", "zip3"}
    assert Counter(row["zip3"] for row in rows) == Counter(
        "000" if value in SPARSE else value for value in table["zip3"]
    )


def test_ages_in_words_and_dates_in_other_words_are_dropped(tmp_path: Path) -> None:
    table = hospital(100).with_columns(
        age=pl.when(pl.col("age") > 60).then(pl.lit("60-95")).otherwise(pl.lit("under 60")),
        admission_date=pl.lit("Jan/Feb 2024, ") + pl.col("sex"),
    )
    table.write_csv(tmp_path / "table.csv")
    data = tomllib.loads(profile(tmp_path / "table.csv").recipe(rule="hipaa-safe-harbor"))
    assert (data["columns"]["age"]["role"], data["columns"]["admission_date"]["role"]) == ("drop", "drop")


def test_safe_harbor_of_a_table_without_anything_else_is_refused() -> None:
    found = profile(hospital(100).select("name", "zip", "birth_date"))
    with pytest.raises(SchemaError, match="no column is left"):
        found.recipe(rule="hipaa-safe-harbor")


def test_safe_harbor_of_a_table_without_quasi_identifiers_publishes_it(tmp_path: Path) -> None:
    hospital(100).select("ssn", "zip", "diagnosis").write_csv(tmp_path / "table.csv")
    rows = rows_in(published(profile(tmp_path / "table.csv"), "hipaa-safe-harbor", tmp_path))
    assert Counter(row["diagnosis"] for row in rows) == Counter(hospital(100)["diagnosis"])


def test_the_command_writes_the_recipe_of_a_rule(place: Path) -> None:
    out = place / "told.recipe.toml"
    done = incrowd("profile", str(place / "hospital.csv"), "--rule", "hipaa-safe-harbor", "--no-trial", "-o", str(out))
    assert done.code == 0, done.err
    assert out.read_text(encoding="utf-8").startswith("# HIPAA Safe Harbor")
    refused = incrowd("profile", str(place / "hospital.csv"), "--rule", "gdpr")
    assert refused.code != 0
    assert "no rule called 'gdpr'" in refused.err
