"""The full-domain search finds what trying every level vector finds."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.methods.full_domain import FullDomain

TREES = {
    "a": Categories.from_tree({"x": {"p": ["1", "2"], "q": ["3"]}, "y": {"r": ["4", "5", "6"]}}),
    "b": Categories.from_tree({"lo": ["u", "v"], "hi": ["w"]}),
    "c": Categories.from_tree(["m", "n"]),
}
SCHEMA = Schema(quasi=TREES, sensitive={"s": Exact()})

tables = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", "4", "5", "6", None]),
        st.sampled_from(["u", "v", "w"]),
        st.sampled_from(["m", "n", None]),
        st.sampled_from(["s", "t", "z"]),
    ),
    min_size=1,
    max_size=30,
)
required = st.sampled_from(
    [
        [ic.KAnonymity(2)],
        [ic.KAnonymity(3)],
        [ic.KAnonymity(2), ic.DistinctLDiversity(2)],
        [ic.EntropyLDiversity(1.8)],
        [ic.ProbabilisticLDiversity(1.5), ic.KAnonymity(2)],
        [ic.TCloseness(0.3)],
        [ic.TCloseness(0.15), ic.KAnonymity(2)],
    ]
)


def tallied(rows: list[tuple[str | None, ...]]) -> Tally:
    schema = dict.fromkeys("abcs", pl.String)
    counted = pl.DataFrame(rows, schema=schema, orient="row").group_by(pl.all()).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), {**TREES, "s": Exact()})[0]


def search(tally: Tally, models: list[ic.Model], **parameters: object) -> Recoding:
    method = FullDomain(**parameters)  # type: ignore[arg-type]
    return method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=silent)


def cost_of(recoding: Recoding, tally: Tally) -> tuple[float, int]:
    """Return mean loss with withheld rows at 1, and how many are withheld."""
    total, withheld = 0.0, 0
    for group, count in zip(recoding.groups.tolist(), recoding.counts.tolist(), strict=True):
        if group < 0:
            total, withheld = total + count, withheld + count
            continue
        widths = [
            float(tally.trees[name].widths(recoding.lows[[group], j], recoding.highs[[group], j])[0])
            for j, name in enumerate(recoding.columns)
        ]
        total += count * sum(widths) / len(widths)
    return total / tally.rows, withheld


def naive_safe(model: ic.Model, values: Counter[str], whole: Counter[str]) -> bool:
    size = sum(values.values())
    match model:
        case ic.KAnonymity():
            return size >= model.k
        case ic.DistinctLDiversity():
            return len(values) >= model.l
        case ic.EntropyLDiversity():
            entropy = -sum(n / size * np.log(n / size) for n in values.values())
            return bool(entropy >= np.log(model.l) - 1e-9)
        case ic.ProbabilisticLDiversity():
            return max(values.values()) * model.l <= size
        case ic.TCloseness():
            rows = sum(whole.values())
            return sum(abs(values[s] / size - whole[s] / rows) for s in whole) / 2 <= model.t + 1e-9
    raise AssertionError(model)


def naive_best(rows: list[tuple[str | None, ...]], tally: Tally, models: list[ic.Model], limit: float) -> float | None:
    """Try every level vector, one row at a time."""
    best = None
    whole = Counter(str(secret) for *_, secret in rows)
    trees = [tally.trees[name] for name in "abc"]
    for levels in product(*(range(tree.height + 1) for tree in trees)):
        groups: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
        losses: dict[tuple[object, ...], float] = {}
        for *quasi, secret in rows:
            shown, loss = [], 0.0
            for tree, level, value in zip(trees, levels, quasi, strict=True):
                code = 0 if value is None else tree.values.to_list().index(value)
                node = int(tree.nodes[level, code])
                shown.append((level, node))
                # missing is under the root alone: only a column that misses values has a root that holds it
                members = [c for c in range(tree.size) if tree.nodes[level, c] == node]
                column = "abc"[len(shown) - 1]
                has_missing = any(row["abc".index(column)] is None for row in rows)
                if not has_missing:
                    members = [c for c in members if c != 0]
                mixed = 0 in members and len(members) > 1
                loss += 1.0 if mixed else (len(members) - 1) / max(tree.size - 2, 1)
            groups[tuple(shown)][str(secret)] += 1
            losses[tuple(shown)] = loss / len(trees)
        failing = {
            key for key, values in groups.items() if not all(naive_safe(model, values, whole) for model in models)
        }
        withheld = sum(sum(groups[key].values()) for key in failing)
        if withheld > limit * len(rows) + 1e-9 or withheld == len(rows):
            continue
        cost = sum((1.0 if key in failing else losses[key]) * sum(values.values()) for key, values in groups.items())
        best = min(cost / len(rows), best) if best is not None else cost / len(rows)
    return best


@settings(max_examples=8, deadline=None)
@given(rows=tables, models=required, limit=st.sampled_from([0.0, 0.1, 0.34, 1.0]))
def test_it_finds_the_best_of_all_vectors(
    rows: list[tuple[str | None, ...]], models: list[ic.Model], limit: float
) -> None:
    tally = tallied(rows)
    expected = naive_best(rows, tally, models, limit)
    if expected is None:
        with pytest.raises(Unsatisfiable, match="no vector of levels"):
            search(tally, models, max_withheld=limit)
        return
    cost, withheld = cost_of(search(tally, models, max_withheld=limit), tally)
    assert cost == pytest.approx(expected, abs=1e-9)
    assert withheld <= limit * len(rows) + 1e-9


@settings(max_examples=10, deadline=None)
@given(rows=tables, data=st.data())
def test_the_order_of_rows_changes_nothing(rows: list[tuple[str | None, ...]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    models: list[ic.Model] = [ic.KAnonymity(min(2, len(rows)))]
    first = search(tallied(rows), models, max_withheld=1.0)
    second = search(tallied(list(shuffled)), models, max_withheld=1.0)
    assert first.groups.tolist() == second.groups.tolist()
    assert first.lows.tolist() == second.lows.tolist()


ROWS = [(str(1 + i % 6), "uvw"[i % 3], "mn"[i % 2], "stz"[(i * i) % 3]) for i in range(40)]


def test_a_column_that_must_not_change_stays_as_it_is() -> None:
    recoding = search(tallied(list(ROWS)), [ic.KAnonymity(5)], max_levels={"b": 0}, max_withheld=1.0)
    place = recoding.columns.index("b")
    assert (recoding.highs[:, place] - recoding.lows[:, place] == 1).all()


def test_a_lowest_level_is_kept() -> None:
    recoding = search(tallied(list(ROWS)), [ic.KAnonymity(1)], min_levels={"c": 1})
    place = recoding.columns.index("c")
    assert (recoding.highs[:, place] - recoding.lows[:, place] == 2).all()


def test_a_dear_column_is_generalized_less() -> None:
    def width(name: str, weights: dict[str, float]) -> float:
        tally = tallied(list(ROWS))
        recoding = search(tally, [ic.KAnonymity(8)], weights=weights)
        place = recoding.columns.index(name)
        return float(tally.trees[name].widths(recoding.lows[:, place], recoding.highs[:, place]).mean())

    assert width("a", {"a": 100.0}) < width("a", {"a": 0.01})


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_withheld": -0.1},
        {"max_withheld": 1.5},
        {"max_withheld": "half"},
        {"max_seconds": 0},
        {"weights": {"a": -1.0}},
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="full-domain"):
        FullDomain(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parameters", [{"max_levels": {"zip": 0}}, {"weights": {"zip": 1.0}}, {"min_levels": {"a": 9}}]
)
def test_limits_for_what_is_not_there_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(SchemaError):
        search(tallied(list(ROWS)), [ic.KAnonymity(2)], **parameters)


def test_too_large_a_k_says_how_far_it_got() -> None:
    with pytest.raises(Unsatisfiable, match=r"41-anonymity.*at most 0 of 40 rows withheld.*would withhold 40"):
        search(tallied(list(ROWS)), [ic.KAnonymity(41)])


def test_a_release_is_published_and_verified() -> None:
    people = ic.datasets.census(3000, seed=3)
    trees = {name: Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in ("education", "marital", "sex")}
    table = ic.read(
        people,
        quasi=["age", "sex", "education", "marital"],
        sensitive=["occupation"],
        others="drop",
        hierarchies={"age": ic.Intervals(widths=(5, 10, 20)), **trees},
    )
    release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(3)], method=FullDomain(max_withheld=0.05))
    assert 0 <= release.withheld <= 150
    assert release.rows + release.withheld == 3000
    found = ic.check(release.data, quasi=["age", "sex", "education", "marital"], sensitive=["occupation"])
    assert found.k >= 5
    assert found.sensitive["occupation"].distinct_l >= 3


def test_a_value_that_is_alone_in_its_group_keeps_its_own_name() -> None:
    people = pl.DataFrame({"a": ["3", "3", "1", "1"], "s": ["s", "t", "s", "t"]})  # 3 is all that q holds
    table = ic.read(people, quasi=["a"], sensitive=["s"], hierarchies={"a": TREES["a"]})
    kept = ic.publish(table, ic.KAnonymity(2), method=FullDomain(max_levels={"a": 0}))
    assert set(kept.data["a"]) == {"1", "3"}
    raised = ic.publish(table, ic.KAnonymity(2), method=FullDomain(min_levels={"a": 1}, max_levels={"a": 1}))
    assert set(raised.data["a"]) == {"p", "q"}


def test_more_columns_than_numpy_has_dimensions() -> None:
    """Of seventy, all but five have a given level: there are few vectors, and one of them is found."""
    rng = np.random.default_rng(2)
    names = [f"c{place:02}" for place in range(70)]
    frame = pl.DataFrame({name: rng.choice(["a", "b"], 200) for name in names})
    table = ic.read(frame, quasi=names)
    method = ic.FullDomain(min_levels=dict.fromkeys(names[5:], 1))
    few, many = (
        ic.publish(given, ic.KAnonymity(3), method=chosen).to_polars().select(names[:5])
        for given, chosen in ((ic.read(frame.select(names[:5]), quasi=names[:5]), ic.FullDomain()), (table, method))
    )
    assert few.sort(names[:5]).equals(many.sort(names[:5]))


def test_groups_that_are_safe_apart_and_not_together_are_found() -> None:
    """Where somebody has two numbers, the variance counted for a union may be below that of both its parts."""
    people = {"x": [[1], [3], [3]], "y": [[4, 2], [4], [2]]}
    rows = [(town, numbers) for town, everybody in people.items() for numbers in everybody]
    frame = pl.DataFrame(
        [(person, town, one) for person, (town, numbers) in enumerate(rows) for one in numbers],
        schema=["person", "town", "number"],
        orient="row",
    )
    table = ic.read(frame, person="person", quasi=["town"], sensitive=["number"])
    release = ic.publish(table, ic.MinimumVariance(variance=0.8), method=FullDomain(max_withheld=0))
    assert Counter(release.to_polars()["town"]) == {"x": 3, "y": 4}
    with pytest.raises(Unsatisfiable, match=r"all rows in one group do not satisfy .* reach 0.6667"):
        ic.publish(table, ic.MinimumVariance(variance=0.8), method=ic.TopDownSpecialization())
