"""The sampling advisor: its lines are what publishing would give, and what it marks is beaten by none."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.intervals import Intervals
from incrowd.metrics.distortion import Distortion
from incrowd.metrics.ncp import GlobalCertaintyPenalty
from incrowd.planning.sampling import advise_sampling, not_beaten

QUASI = ["age", "sex", "education"]


def people(rows: int = 3000, sensitive: str = "occupation") -> ic.Table:
    trees = {
        "age": Intervals(widths=(5, 10, 20)),
        "education": Categories.from_tree(ic.datasets.CENSUS_TREES["education"]),
    }
    frame = ic.datasets.census(rows)
    return ic.read(frame, quasi=QUASI, sensitive=[sensitive], others="drop", hierarchies=trees)


def test_lines_are_what_publishing_gives() -> None:
    table = people()
    method = ic.LocalRecoding(min_levels={"age": 1}, column_choice="least-loss")
    advice = advise_sampling(table, rates=[0.9, 0.5, 1], max_distortions=[0.6, 0.2, 0.9], method=method, seed=4)
    assert advice.select("rate", "limit").rows() == [
        (rate, limit) for rate in (0.5, 0.9, 1) for limit in (0.2, 0.6, 0.9)
    ]
    for line in advice.to_dicts():
        chosen = ic.LocalRecoding(max_distortion=line["limit"], min_levels={"age": 1}, column_choice="least-loss")
        release = ic.publish(table, ic.ExpectedConfidence(), method=chosen, sample=line["rate"], seed=4)
        form = release.generalized
        assert line["published"] == release.rows / 3000
        assert line["withheld"] == release.withheld / release.rows_in
        assert line["distortion"] == pytest.approx(Distortion(published_only=True).measure(form.tally, form))
        assert line["gcp"] == pytest.approx(GlobalCertaintyPenalty().measure(form.tally, form))


def test_a_run_is_reused_only_where_it_is_the_same() -> None:
    # Income of these people needs little distortion, so that high limits all come to the same.
    table = people(2000, "salary")
    limits = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    together = advise_sampling(table, rates=[1], max_distortions=limits, seed=0)
    alone = pl.concat([advise_sampling(table, rates=[1], max_distortions=[limit], seed=0) for limit in limits])
    assert together.drop("best").equals(alone.drop("best"))
    assert together["withheld"].n_unique() > 1
    assert together.drop("rate", "limit", "best").is_duplicated().any()


def test_the_best_are_beaten_by_none() -> None:
    advice = advise_sampling(people(), seed=1)
    lines = advice.to_dicts()
    for one in lines:
        beaten = any(
            other["published"] >= one["published"]
            and other["distortion"] <= one["distortion"]
            and (other["published"], other["distortion"]) != (one["published"], one["distortion"])
            for other in lines
        )
        assert one["best"] == (not beaten)


def test_ties_are_all_marked() -> None:
    import numpy as np

    assert not_beaten(np.array([1.0, 1.0, 0.5]), np.array([0.2, 0.2, 0.1])).tolist() == [True, True, True]
    assert not_beaten(np.array([1.0]), np.array([0.2])).tolist() == [True]
    assert not_beaten(np.empty(0), np.empty(0)).tolist() == []


def test_where_nothing_can_be_published() -> None:
    frame = pl.DataFrame({"age": list(range(20, 40)), "ill": [f"ill {number}" for number in range(20)]})
    table = ic.read(frame, quasi=["age"], sensitive=["ill"])
    advice = advise_sampling(table, rates=[1], max_distortions=[0.0, 1.0], require=[ic.KAnonymity(3)], seed=0)
    first, last = advice.to_dicts()
    assert (first["published"], first["withheld"], first["distortion"], first["gcp"]) == (0.0, 1.0, None, None)
    assert not first["best"]
    assert last["best"]
    assert last["published"] == 1.0


def test_one_seed_one_advice() -> None:
    table = people(800)
    advice = [advise_sampling(table, rates=[0.5], max_distortions=[0.6], seed=seed) for seed in (1, 1, 2)]
    assert advice[0].equals(advice[1])
    assert not advice[0].equals(advice[2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rates": []}, "at least one rate and one largest distortion"),
        ({"max_distortions": []}, "at least one rate and one largest distortion"),
        ({"rates": [0]}, "sample is a share of the rows"),
        ({"rates": [1.5]}, "sample is a share of the rows"),
        ({"max_distortions": [2]}, "max_distortion"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, message) -> None:
    with pytest.raises(RecipeError, match=message):
        advise_sampling(people(50), **wrong)
