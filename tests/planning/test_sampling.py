"""The sampling advisor: its lines are what publishing would give, and what it marks is beaten by none."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.intervals import Intervals
from incrowd.metrics.distortion import Distortion
from incrowd.metrics.ncp import GlobalCertaintyPenalty
from incrowd.planning.sampling import advise_sampling
from incrowd.planning.weighing import TOLERANCE, not_beaten, weighed

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
    told = ("best", "why")
    assert together.drop(told).equals(alone.drop(told))
    assert together["withheld"].n_unique() > 1
    assert together.drop("rate", "limit", *told).is_duplicated().any()


def test_the_best_keeps_most_and_is_beaten_by_none() -> None:
    lines = advise_sampling(people(), seed=1).to_dicts()
    assert lines[-1]["rate"] == 1
    most = max(line["published"] * (1 - line["distortion"]) for line in lines)
    best = [line for line in lines if line["best"]]
    assert 0 < len(best) < len(lines) / 4
    for one in lines:
        beaten_by = [
            f"rate {other['rate']:g}, limit {other['limit']:g}"
            for other in lines
            if other["published"] >= one["published"]
            and other["distortion"] <= one["distortion"]
            and (other["published"], other["distortion"]) != (one["published"], one["distortion"])
        ]
        same = one["why"].startswith("the same as")
        within = one["published"] * (1 - one["distortion"]) >= most - TOLERANCE
        assert one["best"] == (within and not beaten_by and not same)
        if beaten_by and not same:
            assert any(one["why"].startswith(f"beaten by {name}:") for name in beaten_by)


@pytest.mark.parametrize(
    ("published", "distortion", "best"),
    [
        ([0.0, 0.0], [None, None], [False, False]),  # nothing can be published
        ([0.9], [0.5], [True]),
        ([1.0, 1.0], [0.2, 0.2], [True, False]),  # a higher limit that changes nothing
        ([0.8, 0.81], [0.2, 0.21], [True, True]),  # equal within the tolerance: 0.64 and 0.6399
        ([0.8, 0.5], [0.2, 0.1], [True, False]),
        ([1.0, 1.0], [1.0, 1.0], [True, False]),  # all is published, and nothing is shown
    ],
)
def test_what_is_marked(published: list[float], distortion: list[float | None], best: list[bool]) -> None:
    lines = {"rate": [1.0] * len(best), "limit": [0.1, 0.2][: len(best)], "published": published}
    found = weighed(pl.DataFrame({**lines, "distortion": pl.Series(distortion, dtype=pl.Float64)}))
    assert found["best"].to_list() == best
    assert all(found["why"])


def test_people_with_several_rows_are_counted_as_people() -> None:
    rows = ic.datasets.census(400).select("age", "sex", "occupation").with_row_index("pid")
    visits = pl.concat([rows, rows, rows])
    roles = {"quasi": ["age", "sex"], "sensitive": ["occupation"]}
    once = ic.read(rows.drop("pid"), **roles)
    often = ic.read(visits, person="pid", **roles)
    asked = {"rates": [1], "max_distortions": [0.3, 0.8], "require": [ic.KAnonymity(5)], "seed": 1}
    assert advise_sampling(often, **asked).equals(advise_sampling(once, **asked))


def test_a_table_that_could_not_be_published_gets_no_advice() -> None:
    frame = pl.DataFrame({"name": ["a", "b"] * 10, "age": [30, 40] * 10})
    with pytest.raises(SchemaError, match="names people and repeats"):
        advise_sampling(ic.read(frame, quasi=["age"], identifiers=["name"]), seed=1)


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
