"""What a statistics program's file says of its columns is used for roles, and told beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

from incrowd.planning.profile import profile
from incrowd.planning.profile.column_names import concept_of_label
from tests.cli.command import incrowd

ROWS = 200
CHANCE = np.random.default_rng(3)
FRAME = pl.DataFrame(
    {
        "v1": CHANCE.permutation(np.arange(1000, 1000 + 7 * ROWS, 7)),
        "v2": CHANCE.integers(1930, 2000, ROWS),
        "v3": CHANCE.integers(1, 3, ROWS),
        "v4": CHANCE.integers(18, 90, ROWS) * 50.0,
        "v5": CHANCE.integers(1, 6, ROWS),
        "state": CHANCE.integers(1, 5, ROWS),
        "weight": CHANCE.integers(60, 100, ROWS),
        "v9": CHANCE.integers(0, 3, ROWS),
    }
)
LABELS = {
    "v1": "Respondent's identification number",
    "v2": "In which year were you born?",
    "v3": "Sex of respondent",
    "v4": "Monthly net income of the household in EUR",
    "v5": "Number of persons in the household",
    "state": "Self-rated health",
    "weight": "Post-stratification survey weight",
}


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey.sav"
    pyreadstat.write_sav(FRAME, str(path), column_labels=LABELS, variable_value_labels={"v3": {1: "male", 2: "female"}})
    return path


def test_roles_follow_labels_where_names_do_not_tell(survey: Path) -> None:
    found = {column.name: column for column in profile(survey).columns}
    roles = {name: column.role for name, column in found.items()}
    assert roles["v1"] == "identifier"
    assert roles["v2"] == roles["v3"] == roles["v5"] == "quasi"
    assert roles["v4"] == "sensitive"
    assert roles["state"] == "sensitive"  # by its name alone it would be a place
    assert roles["weight"] == "weight"  # and this one a body's
    assert found["v2"].concept == "birth"
    assert "(by label)" in found["v4"].reason
    assert found["v9"].label is None
    # The same columns without labels are not recognised.
    bare = {column.name: column for column in profile(FRAME).columns}
    assert bare["v4"].role == "quasi"
    assert bare["state"].concept != found["state"].concept


def test_labels_are_told_beside_their_columns(survey: Path, tmp_path: Path) -> None:
    done = incrowd("profile", survey, "--output", tmp_path / "r.toml", "--no-trial")
    assert done.code == 0
    assert "Monthly" in done.out
    recipe = (tmp_path / "r.toml").read_text(encoding="utf-8")
    assert "“Monthly net income of the household in EUR”" in recipe.replace("\n# ", " ")
    assert profile(survey).to_dict()["columns"][3]["label"] == LABELS["v4"]
    assert "label" not in profile(FRAME).to_dict()["columns"][3]


@pytest.mark.parametrize(
    ("label", "concept"),
    [
        ("Age of respondent in years", "age"),
        ("Geburtsdatum der Befragten", "birth"),
        ("Highest level of education that was completed", "education"),
        ("Anzahl der Personen im Haushalt", "family"),
        ("Number of cigarettes a day", None),
        ("How satisfied are you with the parking spaces?", None),
    ],
)
def test_what_a_label_says(label: str, concept: str | None) -> None:
    found = concept_of_label(label)
    assert (None if found is None else found.key) == concept


def test_a_label_that_its_values_contradict_says_nothing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"q1": [row % 2 for row in range(50)], "age": [20 + row % 30 for row in range(50)]})
    pyreadstat.write_sav(frame, str(tmp_path / "s.sav"), column_labels={"q1": "Telephone number"})
    found = {column.name: column.role for column in profile(tmp_path / "s.sav").columns}
    assert found["q1"] == "quasi"
