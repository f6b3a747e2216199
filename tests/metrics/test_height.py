from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.metrics.height import Height, heights
from incrowd.metrics.label_levels import shown_levels
from incrowd.testing import Case
from tests.metrics.naive_levels import level_of
from tests.metrics.recoded import AGES, ODD, Recoded, all_withheld, drawn_recodings, recode, tallied, untouched


def naive(recoded: Recoded) -> float:
    total = 0
    for _, shown in recoded.rows:
        for name in recoded.quasi:
            total += recoded.tree(name).height if shown is None else level_of(recoded, name, shown[name])
    return total / len(recoded.rows)


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        assert Height().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded))


def test_by_hand() -> None:
    # missing writer | 20 lawyer, 20 lawyer, 21 clerk | 22 writer, 80 dancer
    recoded = recode(AGES, [0, 1, 1, 1, 2, 2], shown="hierarchy")
    assert recoded.tree("age").height == 3  # value, 10 years, 40 years, *
    assert heights(recoded.tally, recoded.release) == pytest.approx({"age": (3 * 1 + 2 * 3) / 6, "job": 5 / 6})


def test_a_set_or_a_range_counts_as_the_node_that_covers_it() -> None:
    # lawyer and clerk, both of them in offices | writer and dancer, who leave out the painter | clerk and writer
    jobs = ["lawyer", "clerk", "writer", "dancer"]
    hierarchies = {"job": AGES.hierarchies["job"]}
    case = Case(pl.DataFrame({"job": jobs}), quasi=("job",), hierarchies=hierarchies)
    order = tallied(case).trees["job"].values.to_list()[1:]
    for together, label, level in [
        (("lawyer", "clerk"), "office", 1),
        (("writer", "dancer"), "{writer, dancer}", 1),
        (("clerk", "writer"), None, 2),
    ]:
        groups = iter(range(1, 4))
        places = [0 if job in together else next(groups) for job in order if job in jobs]
        recoded = recode(case, places)
        found = recoded.release.shown.labels["job"].to_list()
        assert label is None or label in found
        assert Height().measure(recoded.tally, recoded.release) == 2 * level / 4


@pytest.mark.parametrize(
    "levels", [{"age": 0, "job": 0}, {"age": 1, "job": 0}, {"age": 2, "job": 1}, {"age": 3, "job": 2}]
)
def test_is_the_sum_of_levels_where_all_rows_share_them(levels: dict[str, int]) -> None:
    frame = pl.DataFrame({"age": [20, 21, 34, 61], "job": ["lawyer", "writer", "writer", "dancer"]})
    table = ic.read(frame, quasi=["age", "job"], hierarchies=dict(AGES.hierarchies))
    release = ic.publish(table, [ic.KAnonymity(1)], method=ic.FullDomain(min_levels=levels, max_levels=levels))
    tally = release.form.tally
    if levels["job"] == 1:  # the lawyer is the only one in an office, and is shown as one
        assert "office" in release.to_polars()["job"].to_list()
    assert heights(tally, release.form) == levels
    assert Height().measure(tally, release.form) == sum(levels.values())


def test_names_that_are_quoted_are_read_as_what_they_are() -> None:
    rows = (("x", "{odd}", "*odd"), ("y", "even", "more"), ("z", "even", "more"))
    table = ic.read(pl.DataFrame({"a": list("xyz")}), quasi=["a"], hierarchies={"a": ic.Categories(rows)})
    for level, label in enumerate(["x", '"{odd}"', "*odd", "*"]):
        release = ic.publish(
            table, [ic.KAnonymity(1)], method=ic.FullDomain(min_levels={"a": level}, max_levels={"a": level})
        )
        assert label in release.to_polars()["a"].to_list()
        alone = release.form.shown.labels["a"].to_list().index(label)
        tree, shown = release.form.tally.trees["a"], release.form.shown
        assert shown_levels(tree, shown.lows[:, 0], shown.highs[:, 0], shown.labels["a"])[alone] == level


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, gone = untouched(case), all_withheld(case)
    assert Height().measure(raw.tally, raw.release) == 0
    assert Height().measure(gone.tally, gone.release) == sum(gone.tree(name).height for name in case.quasi)
