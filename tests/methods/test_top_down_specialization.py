from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log, log2
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods import steps_down
from incrowd.methods.bottom_up_generalization import BottomUpGeneralization
from incrowd.methods.taxonomy import Taxonomy, least_elsewhere
from incrowd.methods.top_down_specialization import TopDownSpecialization
from tests.methods import naive_cuts
from tests.methods.cuts_cases import (
    COLUMNS,
    LARGER_TREES,
    naive_columns,
    opened,
    people,
    people_of_larger_trees,
    shown,
)
from tests.methods.naive_groups import members

METHODS = [TopDownSpecialization, BottomUpGeneralization]


@pytest.mark.parametrize("beside", [None, ic.DistinctLDiversity(2), ic.DeltaDisclosure(0.7, absent="ignored")])
@pytest.mark.parametrize(("rows", "k"), [(40, 2), (60, 4), (12, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_cuts_are_those_of_the_definition(
    rows: int, k: int, seed: int, beside: ic.Model | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps_down, "_PASSES", seed)  # sorted at once, or after some steps
    frame = people(rows, seed)
    naive_rows, columns = naive_columns(frame)

    def safe(group: Sequence[naive_cuts.Row]) -> bool:
        classes = Counter(row[-1] for row in group)
        if isinstance(beside, ic.DeltaDisclosure):  # what is unsafe now may be safe after other steps
            everybody = Counter(row[-1] for row in naive_rows)
            shares = [classes[one] / len(group) * rows / number for one, number in everybody.items()]
            return len(group) >= k and all(abs(log(share)) < 0.7 for share in shares if share)
        return len(group) >= k and (beside is None or len(classes) > 1)

    models = [ic.KAnonymity(k), *([beside] if beside else [])]
    release = ic.publish(opened(frame), models, method=TopDownSpecialization("income"))
    cuts = naive_cuts.specialize(naive_rows, columns, safe)
    assert sorted(release.to_polars().select(*COLUMNS, "income").iter_rows()) == shown(naive_rows, columns, cuts)


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_tells_anything_the_smallest_group_decides_and_then_what_is_narrowed(seed: int) -> None:
    frame = people_of_larger_trees(120, seed, 1.0).with_columns(income=pl.lit("rich"))
    table = opened(frame, tuple(LARGER_TREES), LARGER_TREES)
    release = ic.publish(table, ic.KAnonymity(3), method=TopDownSpecialization("income"))
    naive_rows, columns = naive_columns(frame, LARGER_TREES)
    cuts = naive_cuts.specialize(naive_rows, columns, lambda group: len(group) >= 3)
    assert sorted(release.to_polars().select(*LARGER_TREES, "income").iter_rows()) == shown(naive_rows, columns, cuts)


def test_gain_and_parents_by_hand() -> None:
    jobs = ["lawyer", "lawyer", "clerk", "clerk", "dancer", "dancer", "writer", "writer"]
    income = ["rich", "rich", "rich", "poor", "poor", "poor", "poor", "poor"]
    table = opened(pl.DataFrame({"job": jobs, "income": income}), ("job",))
    tally = table.engine.count(table.schema).tally
    taxonomy = Taxonomy(tally, "job", tally.column("income").astype(np.int64), 3)
    names = {taxonomy.tree.names[level][int(taxonomy.tree.nodes[level, code])]: int(taxonomy.at_level[level, code])
             for level in range(3) for code in np.flatnonzero(taxonomy.occupied)}  # fmt: skip
    office, art, root = names["office"], names["art"], names["*"]
    assert taxonomy.parents[[names["lawyer"], names["clerk"], office, art, root]].tolist() == [
        office, office, root, root, root,
    ]  # fmt: skip
    # 3 of 8 are rich: 0.954 bits; 3 of 4 in offices: 0.811 bits; nobody in art. One of two clerks: 1 bit.
    whole = -(3 / 8 * log2(3 / 8) + 5 / 8 * log2(5 / 8))
    offices = -(3 / 4 * log2(3 / 4) + 1 / 4 * log2(1 / 4))
    assert taxonomy.gains[root] == pytest.approx(whole - offices / 2, abs=1e-9)
    assert taxonomy.gains[office] == pytest.approx(offices - 1 / 2, abs=1e-9)
    assert taxonomy.gains[art] == 0
    assert taxonomy.gains[names["lawyer"]] == 0
    # "none" has nobody, yet counts as one of five names: * spans 4 of 4 steps, an office or art 1 of 4.
    assert taxonomy.costs[root] == pytest.approx(8 - 4 / 4 - 4 / 4)
    assert taxonomy.costs[office] == pytest.approx(4 / 4)


def test_of_equal_steps_the_one_that_narrows_most_rows_is_first() -> None:
    jobs = ["lawyer", "clerk"] * 2 + ["dancer", "writer"] * 3
    table = opened(pl.DataFrame({"job": jobs, "income": ["rich"] * len(jobs)}), ("job",))
    tally = table.engine.count(table.schema).tally
    column = steps_down.ColumnSteps(
        0, Taxonomy(tally, "job", np.zeros(len(tally), dtype=np.int64), 1), tally.column("job")
    )
    column.specialize(len(column.taxonomy) - 1)
    office, art = (int(column.cut[tally.trees["job"].values.to_list().index(job)]) for job in ("clerk", "writer"))
    assert len(column.tuples_under(art)) == 2
    column.learn(np.array([office, art]), np.array([2, 2]), np.array([True, True]))
    assert column.best(3) == (0.0, -1, column.taxonomy.costs[art], 0, -art)
    column.close(np.array([art]))
    assert column.best(3) == (0.0, -1, column.taxonomy.costs[office], 0, -office)
    column.specialize(office)
    assert column.best(3) is None


def test_the_score_weighs_gain_against_anonymity() -> None:
    # Splitting a tells more than splitting b, but leaves a group of 4 where b leaves one of 8. After either, the other
    # would leave somebody alone.
    frame = pl.DataFrame(
        {
            "a": ["x"] * 4 + ["y"] * 12,
            "b": ["u", "u", "u", "v"] + ["u"] * 5 + ["v"] * 7,
            "income": ["rich"] * 4 + ["rich"] * 3 + ["poor"] * 9,
        }
    )
    gain = {
        name: _entropy(frame["income"].to_list())
        - sum(_entropy(part["income"].to_list()) * part.height / 16 for part in frame.partition_by(name))
        for name in ("a", "b")
    }
    assert gain["a"] > gain["b"]
    assert gain["a"] / (16 - 4 + 1) < gain["b"] / (16 - 8 + 1)
    table = ic.read(frame, quasi=["a", "b"], sensitive=["income"])
    release = ic.publish(table, ic.KAnonymity(3), method=TopDownSpecialization("income")).to_polars()
    assert set(release["b"]) == {"u", "v"}
    assert set(release["a"]) == {"*"}


def _entropy(values: list[Any]) -> float:
    return -sum(n / len(values) * log2(n / len(values)) for n in Counter(values).values())


def test_smallest_group_elsewhere() -> None:
    sizes, nodes = np.array([5, 3, 9, 4]), np.array([0, 1, 0, 2])
    assert least_elsewhere(sizes, nodes, 3).tolist() == [3, 4, 3]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", [None, "income", "sex"])
@pytest.mark.parametrize("models", [[ic.KAnonymity(4)], [ic.KAnonymity(3), ic.DistinctLDiversity(2)]])
def test_published_groups_satisfy_the_models(method: Any, target: str | None, models: list[Any]) -> None:
    frame = people(80, 9).with_columns(
        age=pl.Series(np.random.default_rng(1).integers(18, 90, 80)),
        job=pl.when(pl.int_range(80) % 9 == 0).then(None).otherwise("job"),
    )
    quasi = (*COLUMNS, "age")
    release = ic.publish(opened(frame, quasi), models, method=method(target))
    groups = members(release, quasi)
    assert release.rows == 80 == sum(map(len, groups.values()))
    assert min(map(len, groups.values())) >= models[0].k
    assert len(groups) > 1
    if len(models) > 1:
        assert all(len({row["income"] for row in rows}) == 2 for rows in groups.values())


@pytest.mark.parametrize("method", METHODS)
def test_a_node_and_one_above_it_never_stand_side_by_side(method: Any) -> None:
    release = ic.publish(opened(people(60, 3)), ic.KAnonymity(4), method=method("income")).to_polars()
    for city in ("Bonn", "Köln"):
        assert len(set(release["city"]) & {city, "west", "Rhine", "*"}) == 1


@pytest.mark.parametrize("method", METHODS)
def test_order_of_rows_and_columns_says_nothing(method: Any) -> None:
    frame = people(50, 4)
    models = [ic.KAnonymity(3), ic.DistinctLDiversity(2)]
    first = ic.publish(opened(frame), models, method=method()).to_polars()
    turned = frame.sample(fraction=1, shuffle=True, seed=3).select(frame.columns[::-1])
    second = ic.publish(opened(turned, COLUMNS[::-1]), models, method=method()).to_polars()
    columns = [*COLUMNS, "income"]
    assert first.select(columns).sort(columns).equals(second.select(columns).sort(columns))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("jobs", "k", "expected"),
    [
        (["clerk"], 1, {"clerk": 1}),  # one row
        (["clerk", "lawyer", "writer"], 3, {"*": 3}),  # k = n
        (["clerk"] * 4, 2, {"clerk": 4}),  # all equal
        (["clerk", "lawyer"] * 2 + ["none"] * 3, 3, {"office": 4, "none": 3}),
        ([None] * 2 + ["clerk"] * 2, 2, {None: 2, "clerk": 2}),  # missing is a value
        ([None] + ["clerk"] * 2, 2, {"*": 3}),  # missing beside values
        ([None] * 3, 2, {None: 3}),  # nothing but missing
    ],
)
def test_small_tables(method: Any, jobs: list[str | None], k: int, expected: dict[str | None, int]) -> None:
    frame = pl.DataFrame({"job": jobs, "income": ["rich"] * len(jobs)}, schema={"job": pl.String, "income": pl.String})
    release = ic.publish(opened(frame, ("job",)), ic.KAnonymity(k), method=method("income"))
    assert Counter(release.to_polars()["job"]) == expected


@pytest.mark.parametrize("method", METHODS)
def test_without_a_sensitive_column_everything_ties_and_still_is_safe(method: Any) -> None:
    table = ic.read(people(40, 0).select(COLUMNS), quasi=COLUMNS)
    release = ic.publish(table, ic.KAnonymity(4), method=method())
    assert min(map(len, members(release, COLUMNS).values())) >= 4


@pytest.mark.parametrize("method", METHODS)
def test_too_few_rows(method: Any) -> None:
    with pytest.raises(Unsatisfiable, match="all 10 rows together reach 10"):
        ic.publish(opened(people(10, 0)), ic.KAnonymity(11), method=method())


@pytest.mark.parametrize("method", METHODS)
def test_wrong_targets(method: Any) -> None:
    for wrong in ("", 3, ["income"]):
        with pytest.raises(RecipeError, match="target is a column's name"):
            method(wrong)
    with pytest.raises(SchemaError, match="did you mean 'income'"):
        ic.publish(opened(people(10, 0)), ic.KAnonymity(2), method=method("incom"))


@pytest.mark.parametrize("method", METHODS)
def test_a_search_without_time_is_safe_and_says_less(method: Any) -> None:
    table = opened(people(120, 3))
    to_the_end = members(ic.publish(table, ic.KAnonymity(3), method=method()), COLUMNS)
    in_a_hurry = members(ic.publish(table, ic.KAnonymity(3), method=method(max_seconds=1e-9)), COLUMNS)
    assert sum(map(len, in_a_hurry.values())) == 120
    assert min(map(len, in_a_hurry.values())) >= 3
    assert len(in_a_hurry) < len(to_the_end)
    with pytest.raises(RecipeError, match="max_seconds"):
        method(max_seconds=0)
