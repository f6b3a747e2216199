"""The level sweep: every group at the first vector, in order of loss, at which it is safe."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.hierarchies.categories import Categories
from incrowd.methods.full_domain import FullDomain
from incrowd.methods.lattice import Lattice
from incrowd.methods.level_sweep import LevelSweep

TREES = {
    "a": Categories.from_tree({"x": {"p": ["1", "2"], "q": ["3"]}, "y": {"r": ["4", "5", "6"]}}),
    "b": Categories.from_tree({"lo": ["u", "v"], "hi": ["w"]}),
}
SCHEMA = Schema(quasi=TREES)

tables = st.lists(
    st.tuples(st.sampled_from(["1", "2", "3", "4", "5", "6", None]), st.sampled_from(["u", "v", "w"])),
    min_size=1,
    max_size=40,
)


def tallied(rows: list[tuple[str | None, ...]]) -> Tally:
    counted = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row").group_by(pl.all()).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), TREES)[0]


def naive_sweep(tally: Tally, k: int) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return the levels at which each tuple is published, one tuple at a time."""
    lattice = Lattice(tally, ("a", "b"), (), [])
    nodes = lattice.nodes()
    losses = np.round(lattice.mean_losses(nodes), 12)
    order = sorted(range(len(nodes)), key=lambda i: (losses[i], tuple(nodes[i])))
    left = {tuple(codes): int(count) for codes, count in zip(tally.codes.tolist(), tally.counts, strict=True)}
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for place in order:
        levels = tuple(int(level) for level in nodes[place])
        groups: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for codes in left:
            shown = (tally.trees[n].nodes[level, code] for n, level, code in zip("ab", levels, codes, strict=True))
            groups[tuple(int(node) for node in shown)].append(codes)
        for members in groups.values():
            if sum(left[codes] for codes in members) >= k:
                for codes in members:
                    found[codes] = levels
                    del left[codes]
    return found


@settings(max_examples=10, deadline=None)
@given(rows=tables, k=st.integers(1, 5))
def test_each_tuple_is_published_where_a_naive_sweep_publishes_it(rows: list[tuple[str | None, ...]], k: int) -> None:
    tally = tallied(rows)
    if k > len(rows):
        with pytest.raises(Unsatisfiable, match=f"{k}-anonymity"):
            LevelSweep().search(tally, SCHEMA, [ic.KAnonymity(k)], rng=np.random.default_rng(0), progress=silent)
        return
    recoding = LevelSweep().search(tally, SCHEMA, [ic.KAnonymity(k)], rng=np.random.default_rng(0), progress=silent)
    sizes = Counter()
    for group, count in zip(recoding.groups.tolist(), recoding.counts.tolist(), strict=True):
        sizes[group] += count
    assert min(sizes.values()) >= k
    assert sum(sizes.values()) == len(rows)
    expected = naive_sweep(tally, k)
    if len(expected) < len(tally):
        return  # the leftovers drag other groups up with them
    for codes, group in zip(tally.codes.tolist(), recoding.groups.tolist(), strict=True):
        for column, (name, level) in enumerate(zip("ab", expected[tuple(codes)], strict=True)):
            tree = tally.trees[name]
            run = recoding.lows[group, column], recoding.highs[group, column]
            # the lowest node that covers the group is never above the vector's
            assert tree.starts[level, codes[column]] <= run[0] <= codes[column] < run[1]
            assert run[1] <= tree.ends[level, codes[column]]


def census_table(rows: int = 4000) -> ic.Table:
    trees = {name: Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in ("education", "marital", "sex")}
    return ic.read(
        ic.datasets.census(rows, seed=5),
        quasi=["age", "sex", "education", "marital"],
        sensitive=["occupation"],
        others="drop",
        hierarchies={"age": ic.Intervals(widths=(5, 10, 20)), **trees},
    )


@pytest.mark.parametrize("labels", ["hierarchy", "tight"])
@pytest.mark.parametrize("models", [[ic.KAnonymity(5)], [ic.KAnonymity(3), ic.EntropyLDiversity(2.0)]])
def test_what_is_published_is_safe_and_whole(labels: str, models: list[ic.Model]) -> None:
    release = ic.publish(census_table(), models, method=LevelSweep(labels=labels))  # type: ignore[arg-type]
    assert release.withheld == 0
    found = ic.check(release.data, quasi=["age", "sex", "education", "marital"], sensitive=["occupation"])
    assert found.k >= models[0].k  # type: ignore[attr-defined]


def test_it_loses_less_than_one_vector_for_all() -> None:
    table = census_table()
    local = ic.publish(table, ic.KAnonymity(5), method=LevelSweep()).summary["loss"]["gcp"]
    full = ic.publish(table, ic.KAnonymity(5), method=FullDomain(max_withheld=0.05)).summary["loss"]["gcp"]
    assert local < full / 2


def test_wrong_labels_are_refused() -> None:
    with pytest.raises(RecipeError, match="labels"):
        LevelSweep(labels="region")  # type: ignore[arg-type]


def test_a_sweep_of_twenty_columns_that_runs_out_of_time_is_safe_and_says_so() -> None:
    chance = np.random.default_rng(3)
    names = [f"q{place}" for place in range(20)]
    table = ic.read(
        pl.DataFrame({name: chance.integers(0, 40, 120) for name in names}),
        quasi=names,
        hierarchies={name: ic.Intervals(widths=(5, 10, 20)) for name in names},
    )
    release = ic.publish(table, ic.KAnonymity(4), method=ic.LevelSweep(max_seconds=1e-9))
    assert release.withheld == 0
    assert "vectors of levels that were not tried" in str(release.summary)
