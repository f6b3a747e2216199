from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.groups import Groups, Histogram
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.categories import Categories
from incrowd.models.t_closeness import TCloseness, equal_distances, hierarchical_distances, ordered_distances
from incrowd.testing.claims import is_a_value
from tests.models.crowds import (
    CHECKED,
    QUASI,
    crowd,
    crowds,
    drawn_crowd,
    drawn_groups,
    exact,
    joined_pairs,
    random_tables,
    shares,
    verdicts,
    whole_of,
)

LETTERS = Categories(
    (("a", "ab", "top"), ("b", "ab", "top"), ("c", "cd", "top"), ("d", "cd", "top"), ("e", "e!", "e!"))
)
"""Height 3: a-b and c-d are siblings, e is by itself, and so is missing."""

Q = Fraction


def test_ordered_example_of_the_paper() -> None:
    """Salaries in thousands, 3 to 11: {3, 4, 5} is at 0.375 and {6, 8, 11} at 0.167 (Li et al. 2007, section 5)."""
    groups = crowd([3, 4, 5], [6, 11, 8], [7, 9, 10])
    assert ordered_distances(groups, "s0", groups.sensitive["s0"]) == pytest.approx([0.375, 1 / 6, 0.2361111], abs=1e-6)
    assert verdicts(TCloseness(0.17, "ordered"), groups) == [False, True, False]


def test_hierarchical_by_hand() -> None:
    diseases = Categories.from_tree(
        {
            "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"], "vascular": ["edema", "embolism"]},
            "digestive": {"stomach": ["ulcer", "dyspepsia", "gastritis"], "colon": ["colitis", "cancer"]},
        }
    )
    groups = crowd(
        ["ulcer", "gastritis", "cancer"],
        ["gastritis", "flu", "bronchitis"],
        ["bronchitis", "pneumonia", "cancer"],
        hierarchy=diseases,
    )
    found = hierarchical_distances(groups, "s0", groups.sensitive["s0"], groups.trees["s0"])
    # In ninths. First group: ulcer 2, gastritis 1 and cancer 1 too many, flu 1, pneumonia 1 and bronchitis 2 too few,
    # all in the other branch. Second: flu 2, bronchitis 1 and gastritis 1 too many, ulcer 1, cancer 2 and pneumonia 1
    # too few: one goes to pneumonia and one to ulcer from next to them, at 1/3 each, and two to cancer from far.
    assert found[:2] == pytest.approx([4 / 9, (1 / 3 + 1 / 3 + 2) / 9])


def test_equal_by_hand() -> None:
    groups = crowd("aab", "bbb", withheld="cc")
    # whole: a 1/4, b 1/2, c 1/4
    assert equal_distances(groups, "s0", groups.sensitive["s0"]) == pytest.approx([5 / 12, 1 / 2])
    assert TCloseness(0.1).achieved(groups) == pytest.approx(1 / 2)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
class TestEdges:
    def test_a_group_like_the_whole_table_is_at_distance_zero(self, distance: Any) -> None:
        groups = crowd("abc?", "aabbcc??", "a", hierarchy=LETTERS, withheld="bc?")
        assert verdicts(TCloseness(0, distance), groups) == [True, True, False]

    def test_one_group_is_the_whole_table(self, distance: Any) -> None:
        assert TCloseness(0, distance).achieved(crowd("aab?", hierarchy=LETTERS)) == pytest.approx(0, abs=1e-15)

    @pytest.mark.parametrize("members", ["aaa", "???"])
    def test_one_value(self, distance: Any, members: str) -> None:
        groups = crowd(members, members, hierarchy=LETTERS)
        assert verdicts(TCloseness(0, distance), groups) == [True, True]
        assert TCloseness(0, distance).achieved(groups) == 0

    def test_no_groups(self, distance: Any) -> None:
        groups = crowd(hierarchy=LETTERS)
        assert verdicts(TCloseness(0, distance), groups) == []
        assert TCloseness(0, distance).achieved(groups) == 0

    def test_without_counts_of_the_whole_table_the_groups_are_it(self, distance: Any) -> None:
        model = TCloseness(0.3, distance)
        alone, given_whole = (crowd("ab", "b?", "dd", hierarchy=LETTERS, with_whole=own) for own in (False, True))
        assert model.achieved(alone) == model.achieved(given_whole)

    def test_order_of_entries_does_not_matter(self, distance: Any) -> None:
        groups = crowd("abbd", "cc?", hierarchy=LETTERS)
        entries = groups.sensitive["s0"]
        turned = np.concatenate([np.arange(low, high)[::-1] for low, high in pairwise(entries.offsets)])
        backwards = Histogram(entries.offsets, entries.values[turned], entries.counts[turned])
        same = Groups(groups.sizes, {"s0": backwards}, groups.whole, groups.trees)
        assert TCloseness(0.3, distance).achieved(same) == pytest.approx(TCloseness(0.3, distance).achieved(groups))

    def test_is_not_hereditary(self, distance: Any) -> None:
        assert not TCloseness.hereditary
        assert verdicts(TCloseness(0.1, distance), crowd("aaad", "ad", withheld="dd", hierarchy=LETTERS)) == [
            False,
            True,
        ]


def test_all_far_apart() -> None:
    groups = crowd(["a"], withheld="d" * 99_999, hierarchy=LETTERS)
    assert [TCloseness(1, d).achieved(groups) for d in ("equal", "ordered")] == pytest.approx([0.99999, 0.99999])


def test_missing_comes_first_in_order() -> None:
    groups = crowd("?", "a", "b")
    assert ordered_distances(groups, "s0", groups.sensitive["s0"]) == pytest.approx([1 / 2, 1 / 3, 1 / 2])


def test_values_that_only_the_hierarchy_has_are_no_step_apart() -> None:
    assert TCloseness(1, "ordered").achieved(crowd("a", "d", hierarchy=LETTERS)) == pytest.approx(1 / 2)


def test_missing_is_under_the_root() -> None:
    groups = crowd("?", "a", hierarchy=LETTERS)
    assert hierarchical_distances(groups, "s0", groups.sensitive["s0"], groups.trees["s0"]) == pytest.approx([0.5, 0.5])


def test_several_columns_all_count_unless_one_is_named() -> None:
    groups = crowds({"s0": ["ab", "ab"], "s1": ["aa", "ab"]})
    assert verdicts(TCloseness(0.2), groups) == [False, False]
    assert verdicts(TCloseness(0.25), groups) == [True, True]
    assert verdicts(TCloseness(0, column="s0"), groups) == [True, True]
    assert TCloseness(0).achieved(groups) == 0.25


def test_a_flat_hierarchy_gives_the_equal_distance() -> None:
    groups = crowd("aab", "b?", "ccd")
    assert TCloseness(0, "hierarchical").achieved(groups) == pytest.approx(TCloseness(0).achieved(groups))


def test_a_hierarchy_that_is_not_known_is_refused() -> None:
    groups = crowd("ab")
    with pytest.raises(SchemaError, match="hierarchy of 's0'"):
        TCloseness(0.1, "hierarchical").satisfied(Groups(groups.sizes, groups.sensitive))


# The definitions, in fractions.


def equal(p: dict[Any, Q], q: dict[Any, Q]) -> Q:
    return sum((abs(p.get(value, 0) - q.get(value, 0)) for value in {*p, *q}), Q(0)) / 2


def ordered(p: dict[Any, Q], q: dict[Any, Q]) -> Q:
    values = sorted(q, key=lambda value: (value is not None, value))
    difference, total = Q(0), Q(0)
    for value in values:
        difference += p.get(value, Q(0)) - q[value]
        total += abs(difference)
    return total / max(len(values) - 1, 1)


ANCESTORS: dict[Any, tuple[str, ...]] = {row[0]: (*row, "*") for row in LETTERS.rows} | {None: ("?", "?", "?", "*")}


def hierarchical(p: dict[Any, Q], q: dict[Any, Q]) -> Q:
    """The paper's recursion: extra of a node, positive and negative extra of its children, and its cost."""
    height = 3
    cost = Q(0)
    extra = {(0, path[0]): p.get(leaf, Q(0)) - q.get(leaf, Q(0)) for leaf, path in ANCESTORS.items()}
    for level in range(1, height + 1):
        children: dict[str, set[str]] = {}
        for path in ANCESTORS.values():
            children.setdefault(path[level], set()).add(path[level - 1])
        for node, below in children.items():
            extras = [extra[level - 1, child] for child in below]
            extra[level, node] = sum(extras, Q(0))
            positive = sum((e for e in extras if e > 0), Q(0))
            negative = -sum((e for e in extras if e < 0), Q(0))
            cost += Q(level, height) * min(positive, negative)
    return cost


def steps_between(first: Any, second: Any) -> int:
    """Height of the lowest node that holds both leaves."""
    return next(level for level in range(4) if ANCESTORS[first][level] == ANCESTORS[second][level])


def transported(p: dict[Any, Q], q: dict[Any, Q]) -> Q:
    """The earth mover's distance itself: the cheapest flow, found by cheapest augmenting paths."""
    supply = {value: p.get(value, Q(0)) - q.get(value, Q(0)) for value in {*p, *q}}
    sources = {value: amount for value, amount in supply.items() if amount > 0}
    sinks = {value: -amount for value, amount in supply.items() if amount < 0}
    flow: dict[tuple[Any, Any], Q] = {}
    while any(sources.values()):
        path = _cheapest(sources, sinks, flow)
        amount = min([sources[path[0]], sinks[path[-1]], *(flow[b, a] for a, b in pairwise(path) if a in sinks)])
        for a, b in pairwise(path):
            if a in sinks:
                flow[b, a] -= amount
            else:
                flow[a, b] = flow.get((a, b), Q(0)) + amount
        sources[path[0]] -= amount
        sinks[path[-1]] -= amount
    return sum((Q(steps_between(a, b), 3) * amount for (a, b), amount in flow.items()), Q(0))


def _cheapest(sources: dict[Any, Q], sinks: dict[Any, Q], flow: dict[tuple[Any, Any], Q]) -> list[Any]:
    """Bellman and Ford's shortest path from a source with supply to a sink with demand, back along flows too."""
    best: dict[Any, tuple[int, list[Any]]] = {a: (0, [a]) for a, left in sources.items() if left}
    for _ in range(len(sources) + len(sinks)):
        edges = [(a, b, steps_between(a, b)) for a in sources for b in sinks]
        edges += [(b, a, -steps_between(a, b)) for (a, b), amount in flow.items() if amount]
        for start, end, cost in edges:
            if start in best and (end not in best or best[start][0] + cost < best[end][0]):
                best[end] = (best[start][0] + cost, [*best[start][1], end])
    _, path = min((best[b] for b, left in sinks.items() if left and b in best), key=lambda found: found[0])
    return path


DEFINITIONS = {"equal": equal, "ordered": ordered, "hierarchical": hierarchical}
VALUES = (None, "a", "b", "c", "d", "e")


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@CHECKED
@given(
    groups=drawn_groups(VALUES),
    withheld=drawn_crowd(VALUES),
    t=st.sampled_from([0.0, 0.1, 0.125, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.6, 1.0]),
)
def test_agrees_with_its_definition_and_is_monotone(
    groups: list[list[Any]], withheld: list[Any], t: float, distance: Any
) -> None:
    model = TCloseness(t, distance, missing="counts")
    hierarchy = None if distance == "ordered" else LETTERS
    counted = crowd(*groups, withheld=withheld, hierarchy=hierarchy)
    whole = shares(whole_of(groups, withheld))
    far = [DEFINITIONS[distance](shares(members), whole) for members in groups]
    bound = Q(1, 3) if t == 1 / 3 else exact(t)
    assert verdicts(model, counted) == [d <= bound for d in far]
    assert model.achieved(counted) == pytest.approx(float(max(far)), abs=1e-14)
    assert all(verdicts(TCloseness(float(max(far)), distance, missing="counts"), counted))
    assert all(joined_pairs(model, groups, withheld, hierarchy))


@CHECKED
@given(groups=drawn_groups(VALUES), withheld=drawn_crowd(VALUES))
def test_hierarchical_is_the_cost_of_the_cheapest_transport(groups: list[list[Any]], withheld: list[Any]) -> None:
    counted = crowd(*groups, withheld=withheld, hierarchy=LETTERS)
    found = hierarchical_distances(counted, "s0", counted.sensitive["s0"], counted.trees["s0"])
    whole = shares(whole_of(groups, withheld))
    assert found == pytest.approx([float(transported(shares(members), whole)) for members in groups], abs=1e-14)


@pytest.mark.parametrize("numeric", [True, False])
def test_agrees_with_pycanon(numeric: bool) -> None:
    """pyCANON takes numbers as ordered and text as equal."""
    anonymity = pytest.importorskip("pycanon.anonymity")
    distance: Any = "ordered" if numeric else "equal"
    for groups, frame, _ in random_tables(20, numeric=numeric):
        t = anonymity.t_closeness(frame, QUASI, ["s"])
        assert TCloseness(0, distance).achieved(groups) == pytest.approx(t, abs=1e-12)
        assert all(verdicts(TCloseness(min(t, 1), distance), groups))


def test_many_values_lose_no_precision() -> None:
    """Every group of 7 takes every 10,000th value: sums over 70,000 values, and t is the true distance."""
    values, size = 70_000, 7
    spread = np.arange(values).reshape(size, -1).T
    groups = crowd(*spread.tolist())
    found = ordered_distances(groups, "s0", groups.sensitive["s0"])
    # The first group has the lowest value of every stretch of m = 10,000: its P is ahead by (m − 1 − j)/values there.
    stretch = values // size
    truth = Q(size * sum(range(stretch)), values * (values - 1))
    assert found[0] == pytest.approx(float(truth), abs=1e-13)
    assert verdicts(TCloseness(float(truth), "ordered"), groups)[0]


@pytest.mark.parametrize(
    ("t", "distance"), [(-0.1, "equal"), (1.1, "equal"), ("x", "equal"), (True, "equal"), (0.1, "numeric")]
)
def test_parameters_are_checked(t: Any, distance: Any) -> None:
    with pytest.raises(RecipeError, match="t-closeness"):
        TCloseness(t, distance)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(TCloseness(0.2, "ordered", column="s0"))
    assert str(TCloseness(0.2)) == "0.2-closeness"
    assert str(TCloseness(0.2, "ordered", column="pay")) == "0.2-closeness (ordered) of pay"


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@CHECKED
@given(
    parts=drawn_groups(VALUES),
    withheld=drawn_crowd(VALUES),
    t=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]),
)
def test_at_least_as_many_fail_however_a_group_is_split(
    parts: list[list[Any]], withheld: list[Any], t: float, distance: Any
) -> None:
    """The bound of a group, taken next to the parts that it is split into."""
    model = TCloseness(t, distance, missing="counts")
    hierarchy = None if distance == "ordered" else LETTERS
    together = [value for part in parts for value in part]
    split = crowd(*parts, withheld=withheld, hierarchy=hierarchy)
    both = crowd(*parts, together, withheld=withheld, hierarchy=hierarchy)
    least = model.least_failing(Groups(both.sizes, both.sensitive, split.whole, both.trees))[-1]
    fails = ~model.satisfied(split)
    assert 0 <= least <= split.sizes[fails].sum() / split.sizes.sum() + 1e-9


def test_how_many_fail_at_least_by_hand() -> None:
    """The whole is 14 a and 15 b: a part within 0.2 has at least 15/29 − 0.2 of b, and a group without b has none."""
    groups = crowd("aaaaaaaaab", "aaaa", "ab", withheld="b" * 13)
    assert groups.shares("s0")[1:].tolist() == pytest.approx([14 / 29, 15 / 29])
    expected = [1 - 0.1 / (15 / 29 - 0.2), 1, 0]
    assert TCloseness(0.2).least_failing(groups) == pytest.approx(expected, abs=1e-8)
