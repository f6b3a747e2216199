from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.metrics.precision import Precision
from incrowd.testing import Case
from tests.metrics.naive_levels import level_of
from tests.metrics.recoded import AGES, ODD, Recoded, all_withheld, drawn_recodings, recode, starred, untouched


def naive(recoded: Recoded) -> float:
    lost = 0.0
    for _, shown in recoded.rows:
        for name in recoded.quasi:
            lost += 1 if shown is None else level_of(recoded, name, shown[name]) / recoded.tree(name).height
    return 1 - lost / (len(recoded.rows) * len(recoded.quasi))


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        assert Precision().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-12)


def test_by_hand() -> None:
    # missing writer | 20 lawyer, 20 lawyer, 21 clerk | 22 writer, withheld | 80 dancer
    recoded = recode(AGES, [0, 1, 1, 1, -1, 2], shown="hierarchy")
    age = (3 * 1 / 3 + 1) / 6
    job = (3 * 1 / 2 + 1) / 6
    assert Precision().measure(recoded.tally, recoded.release) == pytest.approx(1 - (age + job) / 2)


@pytest.mark.parametrize(
    ("race", "zip_level", "expected"), [(0, 0, 1), (1, 0, 0.75), (1, 1, 0.58), (0, 2, 0.67), (0, 1, 0.83), (2, 3, 0)]
)
def test_sweeneys_example(race: int, zip_level: int, expected: float) -> None:
    # The generalizations GT[1,0], GT[1,1], GT[0,2] and GT[0,1] of the paper: race goes to person and *, ZIP codes lose
    # one digit, two digits, all. Values that nobody has keep `person` and `021**` from being everything.
    frame = pl.DataFrame({"race": ["black"] * 4 + ["white"] * 4, "zip": ["02138", "02139", "02141", "02142"] * 2})
    zips = [*frame["zip"].unique(), "90210"]
    hierarchies = {
        "race": ic.Categories((("black", "person"), ("white", "person"), ("unknown", "nobody"))),
        "zip": ic.Categories(tuple((code, f"{code[:4]}*", f"{code[:3]}**") for code in zips)),
    }
    levels = {"race": race, "zip": zip_level}
    table = ic.read(frame, quasi=["race", "zip"], hierarchies=hierarchies)
    release = ic.publish(table, [ic.KAnonymity(1)], method=ic.FullDomain(min_levels=levels, max_levels=levels))
    assert Precision().measure(release.form.tally, release.form) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, hidden, gone = untouched(case), starred(case), all_withheld(case)
    assert Precision().measure(raw.tally, raw.release) == 1
    assert Precision().measure(gone.tally, gone.release) == 0
    missing_only = [name for name in case.quasi if hidden.tree(name).size == 1]  # and so they are shown
    assert Precision().measure(hidden.tally, hidden.release) == pytest.approx(len(missing_only) / len(case.quasi))
