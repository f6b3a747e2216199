from __future__ import annotations

import pytest

from incrowd.metrics.granularity import Granularity, granularities
from incrowd.testing import Case
from incrowd.testing.reading import covers
from tests.metrics.recoded import AGES, ODD, Recoded, all_withheld, drawn_recodings, recode, untouched


def naive(recoded: Recoded) -> dict[str, float]:
    means = {}
    for name in recoded.quasi:
        known = recoded.known(name)
        hierarchy, ordered = recoded.case.hierarchy(name), recoded.tree(name).ordered
        shares = []
        for _, shown in recoded.rows:
            if shown is None or shown[name] == "*":
                shares.append(1.0)
            elif shown[name] is None:
                shares.append(1 / max(len(known), 1))
            else:
                covered = [value for value in known if covers(shown[name], value, hierarchy, ordered=ordered)]
                shares.append(len(covered) / len(known))
        means[name] = sum(shares) / len(shares)
    return means


def test_agrees_with_its_definition() -> None:
    for recoded in drawn_recodings():
        expected = naive(recoded)
        assert granularities(recoded.tally, recoded.release) == pytest.approx(expected)
        assert Granularity().measure(recoded.tally, recoded.release) == pytest.approx(
            sum(expected.values()) / len(expected)
        )


def test_by_hand() -> None:
    # missing writer | 20 lawyer, 20 lawyer, 21 clerk | 22 writer | 80 dancer, withheld
    recoded = recode(AGES, [0, 1, 1, 1, 2, -1])
    found = granularities(recoded.tally, recoded.release)
    assert found["age"] == pytest.approx((1 / 4 + 3 * 2 / 4 + 1 / 4 + 1) / 6)
    assert found["job"] == pytest.approx((1 / 5 + 3 * 2 / 5 + 1 / 5 + 1) / 6)


@pytest.mark.parametrize("case", [AGES, *ODD.values()], ids=["ages", *ODD])
def test_a_table_as_it_is_leaves_one_value_of_each_column(case: Case) -> None:
    raw, gone = untouched(case), all_withheld(case)
    assert granularities(raw.tally, raw.release) == pytest.approx(
        {name: 1 / max(len(raw.known(name)), 1) for name in case.quasi}
    )
    assert Granularity().measure(gone.tally, gone.release) == 1
