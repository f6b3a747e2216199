"""Local recoding by the full-domain search: every group is safe at levels of its own, and little is lost."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.model import satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.forms.verify import groups_of, verify
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.methods import leftover_partners as partners
from incrowd.methods import recode_leftovers as local_levels
from incrowd.methods.full_domain import FullDomain
from incrowd.metrics.ncp import GlobalCertaintyPenalty

HIERARCHIES: dict[str, Hierarchy] = {
    "a": Categories.from_tree({"x": {"p": ["1", "2"], "q": ["3"]}, "y": {"r": ["4", "5", "6"]}}),
    "n": Intervals(widths=(2, 4, 8)),
    "c": Categories.from_tree({"all": ["m", "o"]}),  # shown as anything at two levels
}
SCHEMA = Schema(quasi=HIERARCHIES, sensitive={"s": Exact()})
Row = tuple[str | None, int | None, str | None, str]

tables = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", "4", "5", "6", None]),
        st.sampled_from([*range(12), None]),
        st.sampled_from(["m", "o", None]),
        st.sampled_from(["s", "t", "z"]),
    ),
    min_size=1,
    max_size=50,
)
monotone: list[list[ic.Model]] = [
    [ic.KAnonymity(1)],
    [ic.KAnonymity(3)],
    [ic.KAnonymity(2), ic.DistinctLDiversity(2)],
    [ic.KAnonymity(3), ic.TCloseness(0.25)],
    [ic.ProbabilisticLDiversity(1.5)],
    [ic.EntropyLDiversity(2.2)],
    [ic.FullKAnonymity(2)],
    [ic.DeltaDisclosure(0.7)],
]
not_monotone: list[list[ic.Model]] = [
    [ic.DeltaDisclosure(0.6, absent="ignored")],
    [ic.KAnonymity(2), ic.MarketerRisk(0.2)],
]
limits = st.sampled_from([0.0, 0.1, 0.5])


def tallied(rows: list[Row]) -> Tally:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "n": pl.Int64, "c": pl.String, "s": pl.String}, orient="row")
    counted = frame.group_by(pl.all()).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), {**HIERARCHIES, "s": Exact()})[0]


def recode(tally: Tally, models: list[ic.Model], **parameters: object) -> Recoding:
    method = FullDomain(leftovers="recode", **parameters)  # type: ignore[arg-type]
    return method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=silent)


def all_together(tally: Tally, models: list[ic.Model]) -> bool:
    """Whether all rows in one group satisfy the models."""
    lines = pl.DataFrame({"s": tally.trees["s"].values.gather(tally.column("s")), "\0count of rows": tally.counts})
    return bool(satisfies_all(models, groups_of(lines, [], ["s"], before=tally)).all())


def check(tally: Tally, models: list[ic.Model], recoding: Recoding, limit: float) -> None:
    form = Generalized.of(tally, SCHEMA, recoding)
    verify(form.lines(), tuple(SCHEMA.quasi), tuple(SCHEMA.sensitive), models, before=tally)
    assert form.rows > 0
    assert form.withheld <= limit * form.rows_in + 1e-9
    assert len(form.shown) == len(recoding.lows), "groups that look alike were judged apart"
    codes = np.stack([tally.column(name) for name in recoding.columns], axis=1)
    group = recoding.groups[recoding.published]
    held = codes[recoding.tuples[recoding.published]]
    assert (recoding.lows[group] <= held).all()
    assert (held < recoding.highs[group]).all()
    _, who = np.unique(codes, axis=0, return_inverse=True)
    assert len({*zip(who.tolist(), recoding.groups.tolist(), strict=True)}) == len({*who.tolist()}), "people were split"


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=st.sampled_from(monotone), limit=limits)
def test_what_can_be_published_is_and_is_safe(rows: list[Row], models: list[ic.Model], limit: float) -> None:
    tally = tallied(rows)
    try:
        recoding = recode(tally, models, max_withheld=limit)
    except Unsatisfiable:
        assert not all_together(tally, models)
        return
    check(tally, models, recoding, limit)


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=st.sampled_from(not_monotone), limit=limits)
def test_models_that_joining_may_break_hold_all_the_same(rows: list[Row], models: list[ic.Model], limit: float) -> None:
    tally = tallied(rows)
    try:
        recoding = recode(tally, models, max_withheld=limit)
    except Unsatisfiable:
        return
    check(tally, models, recoding, limit)


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=st.sampled_from(monotone), limit=limits, data=st.data())
def test_levels_stay_within_their_bounds(
    rows: list[Row], models: list[ic.Model], limit: float, data: st.DataObject
) -> None:
    tally = tallied(rows)
    name = data.draw(st.sampled_from(sorted(HIERARCHIES)))
    tree = tally.trees[name]
    low = data.draw(st.integers(0, tree.height))
    high = data.draw(st.integers(low, tree.height))
    try:
        recoding = recode(tally, models, max_withheld=limit, min_levels={name: low}, max_levels={name: high})
    except Unsatisfiable:
        return
    check(tally, models, recoding, limit)
    place = recoding.columns.index(name)
    known = recoding.lows[:, place] > 0
    lows, highs = recoding.lows[known, place], recoding.highs[known, place]
    assert (tree.nodes[high, lows] == tree.nodes[high, highs - 1]).all()
    starts = np.maximum(tree.starts[low, lows], 1)  # the root is shown without missing where a group has none
    assert ((starts == lows) | (lows == tree.starts[low, lows])).all()
    assert (tree.ends[low, highs - 1] == highs).all()


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=st.sampled_from(monotone))
def test_a_search_in_a_hurry_is_safe_too(rows: list[Row], models: list[ic.Model]) -> None:
    tally = tallied(rows)
    if not all_together(tally, models):
        return
    check(tally, models, recode(tally, models, max_seconds=1e-9), 0.0)


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=st.sampled_from(monotone))
def test_few_candidates_give_a_safe_table_too(rows: list[Row], models: list[ic.Model]) -> None:
    tally = tallied(rows)
    if not all_together(tally, models):
        return
    with pytest.MonkeyPatch.context() as patch:  # as if there were far too many groups to compare, and of all kinds
        patch.setattr(partners, "_FEW_KINDS_TRIED", 0)
        patch.setattr(partners, "_MOST_KINDS_TRIED", 0)
        patch.setattr(partners, "_NEAREST", 2)
        patch.setattr(local_levels, "_MOST_VECTORS", 10)
        check(tally, models, recode(tally, models), 0.0)


@settings(max_examples=8, deadline=None)
@given(rows=tables, data=st.data())
def test_the_order_of_rows_changes_nothing(rows: list[Row], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    models: list[ic.Model] = [ic.KAnonymity(min(2, len(rows)))]
    first, second = recode(tallied(rows), models), recode(tallied(list(shuffled)), models)
    assert first.groups.tolist() == second.groups.tolist()
    assert first.lows.tolist() == second.lows.tolist()


def people(rows: int = 400) -> list[Row]:
    chance = np.random.default_rng(7)
    return [
        (str(a), int(n), "mo"[c], "stz"[min(int(s), 2)])
        for a, n, c, s in zip(
            chance.integers(1, 7, rows),
            chance.integers(0, 12, rows),
            chance.integers(0, 2, rows),
            chance.geometric(0.5, rows) - 1,
            strict=True,
        )
    ]


@pytest.mark.parametrize("models", monotone[1:5], ids=lambda models: str(models[-1]))
@pytest.mark.parametrize("loss", ["gcp", "loss", "precision"])
def test_it_loses_less_than_one_vector_for_all(models: list[ic.Model], loss: str) -> None:
    tally = tallied(people())

    def gcp(leftovers: str) -> float:
        method = FullDomain(leftovers=leftovers, loss=loss)  # type: ignore[arg-type]
        recoding = method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=silent)
        return GlobalCertaintyPenalty().measure(tally, Generalized.of(tally, SCHEMA, recoding))

    assert gcp("recode") < 0.7 * gcp("withhold")


def test_rows_are_withheld_where_that_loses_less() -> None:
    rows: list[Row] = [*[("1", 0, "m", "s")] * 300, ("6", 11, "o", "s")]
    tally = tallied(rows)
    joined, withheld = recode(tally, [ic.KAnonymity(2)]), recode(tally, [ic.KAnonymity(2)], max_withheld=0.01)
    assert joined.published.all()
    assert withheld.counts[~withheld.published].tolist() == [1]
    assert GlobalCertaintyPenalty().measure(tally, Generalized.of(tally, SCHEMA, withheld)) == pytest.approx(1 / 301)


def test_what_cannot_be_published_is_withheld_if_the_limit_allows() -> None:
    # Two thirds of s can never be had if all are published; without some of them it can.
    rows: list[Row] = [*[("1", 0, "m", "s")] * 4, *[("1", 0, "m", "t")] * 3, *[("6", 11, "o", "s")] * 5]
    models: list[ic.Model] = [ic.ProbabilisticLDiversity(1.6)]
    with pytest.raises(Unsatisfiable, match=r"probabilistic.*0 of 12 rows withheld.*Hint"):
        recode(tallied(rows), models)
    check(tallied(rows), models, recode(tallied(rows), models, max_withheld=0.5), 0.5)


def test_an_interrupt_leaves_a_safe_table() -> None:
    tally = tallied(people())
    models: list[ic.Model] = [ic.KAnonymity(3), ic.TCloseness(0.25)]
    method = FullDomain(leftovers="recode")

    def impatient(stage: str, done: float) -> None:
        if stage == "joining" and not stopped:
            stopped.append(stage)
            raise KeyboardInterrupt

    stopped: list[str] = []
    recoding = method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=impatient)
    assert stopped
    check(tally, models, recoding, 0.0)


def test_levels_and_recoding_exclude_each_other() -> None:
    with pytest.raises(RecipeError, match="either levels"):
        FullDomain(leftovers="recode", levels={"a": 1})
    with pytest.raises(RecipeError, match="leftovers"):
        FullDomain(leftovers="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [ic.KMap(40), ic.JournalistRisk(0.05), ic.MarketerRisk(0.1)], ids=str)
def test_models_of_labels_and_of_the_whole_table_hold(model: ic.Model) -> None:
    frame = ic.datasets.census(3000, seed=5)
    trees = {name: Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in ("education", "marital")}
    table = ic.read(
        frame[:300],
        quasi=["age", "education", "marital"],
        others="drop",
        hierarchies={"age": Intervals(widths=(5, 10, 20)), **trees},
        population=frame,
    )
    release = ic.publish(table, model, method=FullDomain(leftovers="recode"))
    assert release.withheld == 0
    assert release.guarantees[0].basis == "verified"
    one_vector = ic.publish(table, model, method=FullDomain())
    assert release.summary["loss"]["gcp"] < one_vector.summary["loss"]["gcp"]


def test_a_release_of_local_levels_has_no_solutions_to_compare() -> None:
    table = ic.read(ic.datasets.census(500, seed=1), quasi=["age", "sex"], others="drop")
    assert ic.publish(table, ic.KAnonymity(3), method=FullDomain(leftovers="recode")).solutions is None
    solutions = ic.publish(table, ic.KAnonymity(3), method=FullDomain(max_withheld=0.1)).solutions
    assert solutions is not None
    chosen = solutions.filter(pl.col("verdict") == "possible").row(0, named=True)
    levels = {name: chosen[f"level of {name}"] for name in ("age", "sex")}
    another = ic.publish(table, ic.KAnonymity(3), method=FullDomain(max_withheld=0.1, levels=levels))
    assert another.withheld == chosen["withheld"]
    assert another.summary["loss"]["gcp"] == pytest.approx(chosen["loss"])
