from __future__ import annotations

import polars as pl
import pytest

import incrowd as ic
from incrowd.metrics.granularity import granularities
from incrowd.metrics.iyengar_loss import IyengarLoss, leaf_losses
from incrowd.metrics.ncp import certainty_penalties
from incrowd.testing import Case
from incrowd.testing.reading import covers
from tests.metrics.recoded import AGES, ODD, Recoded, all_withheld, drawn_recodings, recode, starred, untouched


def naive(recoded: Recoded) -> float:
    total = 0.0
    for _, shown in recoded.rows:
        for name in recoded.quasi:
            known = recoded.known(name)
            if shown is None or shown[name] == "*":
                total += 1
            elif shown[name] is not None and len(known) > 1:
                hierarchy, ordered = recoded.case.hierarchy(name), recoded.tree(name).ordered
                covered = [value for value in known if covers(shown[name], value, hierarchy, ordered=ordered)]
                total += (len(covered) - 1) / (len(known) - 1)
    return total / (len(recoded.rows) * len(recoded.quasi))


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        assert IyengarLoss().measure(recoded.tally, recoded.release) == pytest.approx(naive(recoded), abs=1e-12)


def test_is_the_certainty_penalty_of_names() -> None:
    for recoded in drawn_recodings():
        losses = leaf_losses(recoded.tally, recoded.release)
        penalties = certainty_penalties(recoded.tally, recoded.release)
        for name in recoded.quasi:
            if not recoded.tree(name).ordered:
                assert losses[name] == pytest.approx(penalties[name], abs=1e-12)


def test_by_hand() -> None:
    # missing writer | 20 lawyer, 20 lawyer, 21 clerk | 22 writer, 80 dancer
    recoded = recode(AGES, [0, 1, 1, 1, 2, 2], shown="hierarchy")
    assert recoded.release.shown.labels["job"].to_list() == ["writer", "office", "art"]
    losses = leaf_losses(recoded.tally, recoded.release)
    assert losses["job"] == pytest.approx((0 + 3 * 1 / 4 + 2 * 2 / 4) / 6)  # of 5 jobs, 2 and 3 are left
    assert losses["age"] == pytest.approx((0 + 3 * 2 / 3 + 2 * 3 / 3) / 6)  # [20, 30) holds 3 of the 4 ages
    assert IyengarLoss().measure(recoded.tally, recoded.release) == pytest.approx(sum(losses.values()) / 2)


def test_counts_numbers_where_the_certainty_penalty_measures_them() -> None:
    recoded = recode(AGES, [0, 1, 1, 1, 1, 2])
    assert leaf_losses(recoded.tally, recoded.release)["age"] == pytest.approx(4 / 6 * 2 / 3)
    assert certainty_penalties(recoded.tally, recoded.release)["age"] == pytest.approx(4 / 6 * 2 / 60)


def test_a_set_stands_for_the_names_that_it_lists() -> None:
    """Of the names between its first and its last, those of withheld people are in no label; `*` stands for all."""
    # dancer, painter | clerk, writer | lawyer, withheld
    jobs = pl.DataFrame({"job": ["clerk", "dancer", "lawyer", "painter", "writer"]})
    recoded = recode(Case(jobs, quasi=("job",), hierarchies={"job": ic.Flat()}), [1, 0, -1, 0, 1])
    assert recoded.release.shown.labels["job"].to_list() == ["*", "{dancer, painter}"]
    assert leaf_losses(recoded.tally, recoded.release)["job"] == pytest.approx((3 + 2 * 1 / 4) / 5)
    assert certainty_penalties(recoded.tally, recoded.release)["job"] == pytest.approx((3 + 2 * 1 / 4) / 5)
    assert granularities(recoded.tally, recoded.release)["job"] == pytest.approx((3 + 2 * 2 / 5) / 5)


def test_withheld_rows_are_lost() -> None:
    recoded = recode(AGES, [-1, 0, 0, 1, -1, 2])
    assert IyengarLoss().measure(recoded.tally, recoded.release) == pytest.approx(2 / 6)


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_from_nothing_to_everything(case: Case) -> None:
    raw, hidden, gone = untouched(case), starred(case), all_withheld(case)
    assert IyengarLoss().measure(raw.tally, raw.release) == 0
    assert IyengarLoss().measure(gone.tally, gone.release) == 1
    missing_only = [name for name in case.quasi if hidden.tree(name).size == 1]  # and so they are shown
    expected = 1 - len(missing_only) / len(case.quasi)
    assert IyengarLoss().measure(hidden.tally, hidden.release) == pytest.approx(expected)
