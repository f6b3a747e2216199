from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.methods.bottom_up_generalization import BottomUpGeneralization
from tests.methods import naive_cuts
from tests.methods.cuts_cases import COLUMNS, naive_columns, opened, people, shown


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize(
    ("rows", "k", "seed"),
    [
        *((rows, k, seed) for rows, k in [(40, 2), (60, 4), (12, 3)] for seed in range(3)),
        (60, 4, 5),  # here and below, the least loss is not the least loss per gain
        (100, 5, 4),
        (100, 5, 5),
    ],
)
def test_cuts_are_those_of_the_definition(
    rows: int, k: int, seed: int, diverse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # as with more columns than numbers can tell apart
        monkeypatch.setattr("incrowd.common.keys._MOST_NUMBERS", 1)
    frame = people(rows, seed)
    models = [ic.KAnonymity(k), *([ic.DistinctLDiversity(2)] if diverse else [])]
    release = ic.publish(opened(frame), models, method=BottomUpGeneralization("income"))
    naive_rows, columns = naive_columns(frame)
    cuts = naive_cuts.generalize(
        naive_rows, columns, lambda group: len(group) >= k and (not diverse or len({row[-1] for row in group}) > 1)
    )
    assert sorted(release.to_polars().select(*COLUMNS, "income").iter_rows()) == shown(naive_rows, columns, cuts)


def test_what_tells_nothing_about_the_class_goes_first() -> None:
    # Income follows the job and not the sex; each pair of job and sex has one person.
    frame = pl.DataFrame(
        {
            "job": ["clerk", "clerk", "writer", "writer"],
            "sex": ["f", "m", "f", "m"],
            "income": ["rich", "rich", "poor", "poor"],
        }
    )
    release = ic.publish(opened(frame, ("job", "sex")), ic.KAnonymity(2), method=BottomUpGeneralization("income"))
    assert set(release.to_polars().iter_rows()) == {("clerk", "*", "rich"), ("writer", "*", "poor")}
    other = ic.publish(opened(frame, ("job", "sex")), ic.KAnonymity(2), method=BottomUpGeneralization("sex"))
    assert set(other.to_polars()["sex"]) == {"f", "m"}


def test_a_step_that_helps_comes_before_one_that_loses_nothing() -> None:
    # Joining writer and dancer loses nothing and helps nobody. Joining clerk and lawyer loses 1 bit and helps at once.
    frame = pl.DataFrame(
        {
            "job": ["clerk", "lawyer"] + ["writer"] * 3 + ["dancer"] * 3,
            "income": ["rich"] + ["poor"] * 7,
        }
    )
    release = ic.publish(opened(frame, ("job",)), ic.KAnonymity(2), method=BottomUpGeneralization("income"))
    assert set(release.to_polars()["job"]) == {"office", "writer", "dancer"}
