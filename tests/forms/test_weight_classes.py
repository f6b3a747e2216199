"""Classes of weights, against a plain walk through each group."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.forms.weight_classes import classes_of, one_class_each, rounded

ENTRIES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 1.5, 2.25, 7.0, 123.456, 9999.0]), st.integers(1, 4)),
    max_size=40,
)


def naive(entries: list[tuple[int, float, int]], enough: int, whole: set[int]) -> dict[tuple[int, float], float]:
    """What each group and weight shows."""
    shown = {}
    for group in {group for group, _, _ in entries}:
        holders: dict[float, int] = defaultdict(int)
        for other, weight, people in entries:
            if other == group:
                holders[weight] += people
        runs: list[list[float]] = [[]]
        for weight in sorted(holders):
            if sum(holders[one] for one in runs[-1]) >= enough:
                runs.append([])
            runs[-1].append(weight)
        if len(runs) > 1 and sum(holders[one] for one in runs[-1]) < enough:
            last = runs.pop()
            runs[-1] += last
        if group in whole:
            runs = [sorted(holders)]
        for run in runs:
            people = sum(holders[one] for one in run)
            mean = sum(one * holders[one] for one in run) / people
            value = run[0] if len(run) == 1 and people > 1 else float(f"{mean:.2e}")
            shown |= {(group, one): value for one in run}
    return shown


@settings(max_examples=22, deadline=None)
@given(ENTRIES, st.integers(1, 6), st.sets(st.integers(0, 3)))
def test_they_are_those_of_a_plain_walk(entries: list[tuple[int, float, int]], enough: int, whole: set[int]) -> None:
    groups = np.array([group for group, _, _ in entries], dtype=np.int64)
    weights = np.array([weight for _, weight, _ in entries], dtype=np.float64)
    people = np.array([number for _, _, number in entries], dtype=np.int64)
    found = classes_of(groups, weights, people, enough, lambda _, group_of: ~np.isin(group_of, list(whole)))
    expected = naive(entries, enough, whole)
    shown = found.shown[found.class_of]
    for place, (group, weight, _) in enumerate(entries):
        assert np.isclose(shown[place], expected[group, weight], rtol=0.006)  # halves may be rounded either way
        assert found.group_of[found.class_of[place]] == group
    # As a reader sees them, no class is too small unless its group is.
    seen = found.as_seen()
    sizes = np.bincount(seen.class_of, weights=people, minlength=len(seen.group_of))
    of_groups = np.bincount(groups, weights=people, minlength=4)
    assert (sizes >= np.minimum(enough, of_groups[seen.group_of])).all()


def test_one_class_for_each_group() -> None:
    found = one_class_each(np.array([2, 0, 2]), np.array([1.0, 5.0, 4.0]), np.array([2, 1, 1]))
    assert found.group_of.tolist() == [0, 2]
    assert found.shown.tolist() == [5.0, 2.0]


def test_rounding() -> None:
    numbers = [0.0, 1e-9, 0.0012345, 0.999, 0.9996, 1.0, 9.994, 9.996, 123.456, 999.6, 98765.4, 1.23456e12]
    assert rounded(np.array(numbers)).tolist() == [float(f"{number:.2e}") for number in numbers]
