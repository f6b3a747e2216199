"""Frequent itemsets against all combinations, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.metrics.sets.frequent_itemsets import frequent_itemsets
from tests.naive_sets import as_sets, people_strategy, supports


@given(people_strategy(), st.sampled_from([0.05, 0.1, 0.3, 0.7]), st.integers(1, 4), st.frozensets(st.integers(1, 8)))
def test_as_by_hand(people, share, size, dropped):
    people = [(items, 0) for items, _ in people]
    sets, _ = as_sets(people)
    shown = sets.shown_as(np.where(np.isin(sets.items, list(dropped)), 0, sets.items))
    least = max(int(np.ceil(share * len(people) - 1e-9)), 1)
    total, kept, errors = 0, 0, 0.0
    for many in range(1, size + 1):
        after = supports([(items - dropped, 0) for items, _ in people], many)
        for combination, crowd in supports(people, many).items():
            if crowd.total() >= least:
                left = after[combination].total() if combination in after else 0
                total, kept = total + 1, kept + (left >= least)
                errors += (crowd.total() - left) / crowd.total()
    found = frequent_itemsets(sets, shown, min_share=share, max_size=size)
    assert found.total == total
    assert found.kept == pytest.approx(kept / total if total else 1.0)
    assert found.support_error == pytest.approx(errors / total if total else 0.0)
