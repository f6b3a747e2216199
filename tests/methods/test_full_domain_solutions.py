"""What the full-domain search looked at can be compared and picked from; it can be stopped, and says what it proved."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import Progress, silent
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.solutions import Solutions
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.methods import full_domain
from incrowd.methods.full_domain import FullDomain
from incrowd.methods.group_losses import GROUP_LOSSES
from incrowd.methods.losses import COLUMN_LOSSES
from incrowd.metrics.ncp import GlobalCertaintyPenalty

HIERARCHIES: dict[str, Hierarchy] = {
    "a": Categories.from_tree({"x": {"p": ["1", "2"], "q": ["3"]}, "y": {"r": ["4", "5", "6"]}}),
    "n": Intervals(widths=(2, 4, 8)),
    "loss": Categories.from_tree(["m", "o"]),  # a column may be called anything
}
SCHEMA = Schema(quasi=HIERARCHIES, sensitive={"s": Exact()})
LEVELS = [f"level of {name}" for name in sorted(HIERARCHIES)]
Row = tuple[str, int, str, str]

tables = st.lists(
    st.tuples(st.sampled_from("123456"), st.integers(0, 11), st.sampled_from("mo"), st.sampled_from("stz")),
    min_size=1,
    max_size=40,
)
required = st.sampled_from(
    [[ic.KAnonymity(2)], [ic.KAnonymity(2), ic.DistinctLDiversity(2)], [ic.TCloseness(0.3)], [ic.EntropyLDiversity(2)]]
)
ROWS: list[Row] = [(str(1 + i % 6), i * i % 12, "mo"[i * 7 % 5 % 2], "stz"[i * i % 7 % 3]) for i in range(80)]


def tallied(rows: list[Row]) -> Tally:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "n": pl.Int64, "loss": pl.String, "s": pl.String}, orient="row")
    counted = frame.group_by(pl.all()).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), {**HIERARCHIES, "s": Exact()})[0]


def search(tally: Tally, models: list[ic.Model], progress: Progress = silent, **parameters: object) -> Recoding:
    method = FullDomain(**parameters)  # type: ignore[arg-type]
    return method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=progress)


def explored(recoding: Recoding) -> Solutions:
    assert recoding.explored is not None
    return recoding.explored


@settings(max_examples=10, deadline=None)
@given(rows=tables, models=required, limit=st.sampled_from([0.0, 0.2, 1.0]))
def test_what_is_said_of_a_vector_is_what_publishing_it_gives(
    rows: list[Row], models: list[ic.Model], limit: float
) -> None:
    tally = tallied(rows)
    try:
        solutions = explored(search(tally, models, max_withheld=limit))
    except Unsatisfiable:
        return
    assert solutions.proven
    table = solutions.table()
    assert table["verdict"][0] == "optimal"
    assert table["verdict"].value_counts().filter(pl.col("verdict") == "optimal")["count"].to_list() == [1]
    possible = table.filter(pl.col("verdict").is_in(["optimal", "possible"]))
    assert possible["loss"].is_sorted()
    for row in table.to_dicts():
        levels = {name.removeprefix("level of "): row[name] for name in LEVELS}
        try:
            form = Generalized.of(tally, SCHEMA, search(tally, models, levels=levels, max_withheld=limit))
        except Unsatisfiable as error:
            said = str(error)
            assert row["verdict"] in ("over the limit", "ruled out"), said
            if row["verdict"] == "over the limit":
                assert re.search(rf"would withhold {row['withheld']}\b", said), said
            continue
        loss = GlobalCertaintyPenalty().measure(tally, form)
        if row["verdict"] == "ruled out":
            assert row["smallest group"] is row["risk"] is None
            assert loss >= row["loss"] - 1e-9
            assert form.withheld >= row["withheld"]
        else:
            assert row["verdict"] in ("optimal", "possible")
            assert (form.withheld, form.group_sizes.min()) == (row["withheld"], row["smallest group"])
            assert (loss, row["risk"]) == pytest.approx((row["loss"], 1 / row["smallest group"]))


@settings(max_examples=10, deadline=None)
@given(
    rows=tables,
    models=required,
    limit=st.sampled_from([0.0, 0.2, 1.0]),
    loss=st.sampled_from([*COLUMN_LOSSES, *GROUP_LOSSES]),
)
def test_a_lattice_too_large_to_hold_is_searched_to_the_same_end(
    rows: list[Row], models: list[ic.Model], limit: float, loss: str
) -> None:
    tally = tallied(rows)
    with pytest.MonkeyPatch.context() as patch:
        try:
            exact = search(tally, models, max_withheld=limit, loss=loss)
        except Unsatisfiable:
            patch.setattr(full_domain, "_MOST_VECTORS", 0)
            with pytest.raises(Unsatisfiable, match="no vector of levels"):
                search(tally, models, max_withheld=limit, loss=loss)
            return
        patch.setattr(full_domain, "_MOST_VECTORS", 0)
        again = search(tally, models, max_withheld=limit, loss=loss)
    assert again.levels == exact.levels
    assert explored(again).proven


@pytest.mark.parametrize("most_vectors", [0, 2_000_000])
@pytest.mark.parametrize("stop", ["time", "interrupt"])
def test_a_search_that_is_stopped_publishes_the_best_so_far(most_vectors: int, stop: str) -> None:
    tally, models = tallied(ROWS), [ic.KAnonymity(3)]
    seen: list[float] = []

    def impatient(stage: str, done: float) -> None:
        assert stage == "searching"
        assert 0 <= done <= 1
        seen.append(done)
        if stop == "interrupt" and len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(full_domain, "_MOST_VECTORS", most_vectors)
        parameters = {"max_seconds": 1e-9} if stop == "time" else {}
        stopped = search(tally, list(models), impatient, **parameters)
        whole = search(tally, list(models))
    assert not explored(stopped).proven
    assert explored(stopped).table()["verdict"][0] == "best found"
    assert explored(whole).table()["verdict"][0] == "optimal"
    assert len(explored(stopped)) < len(explored(whole))
    best = [solutions.loss[solutions.published] for solutions in map(explored, (stopped, whole))]
    assert best[0] >= best[1]


def test_time_that_runs_out_on_an_impossible_demand_is_said() -> None:
    with pytest.raises(Unsatisfiable, match=r"time ran out.*5-diversity \(reaches 2\.\d+\)"):
        search(tallied(ROWS), [ic.EntropyLDiversity(5)], max_withheld=0.5, max_seconds=1e-9)


def test_an_interrupt_before_anything_was_found_is_one() -> None:
    def impatient(stage: str, done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(tallied(ROWS), [ic.DistinctLDiversity(5)], impatient)


def test_an_impossible_demand_names_each_model_that_fails_and_what_is_reached() -> None:
    models: list[ic.Model] = [ic.KAnonymity(2), ic.KAnonymity(100), ic.DistinctLDiversity(4), ic.DistinctLDiversity(3)]
    with pytest.raises(Unsatisfiable) as error:
        search(tallied(ROWS), models)
    said = str(error.value)
    assert "fails 100-anonymity (reaches 80), distinct 4-diversity (reaches 3).  Hint" in said
    assert "would withhold 80" in said


def test_a_chosen_vector_is_published_as_it_is() -> None:
    tally = tallied(ROWS)
    chosen = search(tally, [ic.KAnonymity(2)], levels={"a": 1, "n": 3, "loss": 0}, max_withheld=1.0)
    assert chosen.levels == (1, 0, 3)
    assert explored(chosen).table()["verdict"].to_list() == ["chosen"]
    assert not explored(chosen).proven


def test_a_chosen_vector_must_keep_to_the_limit() -> None:
    with pytest.raises(Unsatisfiable, match=r"no vector of levels.*at most 0 of 80 rows withheld"):
        search(tallied(ROWS), [ic.KAnonymity(20)], levels={"a": 0, "n": 0, "loss": 0})


@pytest.mark.parametrize(
    "levels", [{"a": 1}, {"a": 1, "n": 1, "loss": 1, "zip": 0}, {"a": 9, "n": 0, "loss": 0}], ids=str
)
def test_levels_must_be_those_of_all_quasi_identifiers(levels: dict[str, int]) -> None:
    with pytest.raises(SchemaError):
        search(tallied(ROWS), [ic.KAnonymity(2)], levels=levels)


@pytest.mark.parametrize("wrong", [1.5, -1, "high", True])
def test_a_level_is_a_whole_number(wrong: object) -> None:
    for parameter in ("levels", "min_levels", "max_levels"):
        with pytest.raises(RecipeError, match="level of a"):
            FullDomain(**{parameter: {"a": wrong}})  # type: ignore[arg-type]


def test_many_columns_have_more_combinations_than_numbers() -> None:
    people = pl.DataFrame({f"q{column}": [str(row % (50 + column)) for row in range(120)] for column in range(10)})
    hierarchy = Categories.from_tree({f"{ten}*": [str(10 * ten + one) for one in range(10)] for ten in range(8)})
    table = ic.read(people, quasi=people.columns, hierarchies=dict.fromkeys(people.columns, hierarchy))
    release = ic.publish(table, ic.KAnonymity(2), method=FullDomain(max_withheld=0.5))
    assert release.form.group_sizes.min() >= 2
    local = ic.publish(table, ic.KAnonymity(2), method=FullDomain(leftovers="recode"))
    assert local.withheld == 0
    assert local.summary["loss"]["gcp"] < release.summary["loss"]["gcp"]
