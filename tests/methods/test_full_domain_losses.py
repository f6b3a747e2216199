"""Whatever the full-domain search minimizes, it finds what publishing and measuring every level vector finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.metric import Metric
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.methods.full_domain import FullDomain
from incrowd.methods.group_losses import GROUP_LOSSES
from incrowd.methods.losses import COLUMN_LOSSES
from incrowd.metrics.ambiguity import Ambiguity
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.iyengar_loss import IyengarLoss
from incrowd.metrics.ncp import GlobalCertaintyPenalty
from incrowd.metrics.non_uniform_entropy import NonUniformEntropy
from incrowd.metrics.precision import Precision

HIERARCHIES: dict[str, Hierarchy] = {
    "a": Categories.from_tree({"x": {"p": ["1", "2"], "q": ["3"]}, "y": {"r": ["4", "5", "6"]}}),
    "n": Intervals(widths=(3, 6)),
    "c": Categories.from_tree(["m", "o"]),
}
SCHEMA = Schema(quasi=HIERARCHIES, sensitive={"s": Exact()})
Row = tuple[str | None, int | None, str | None, str]

tables = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", "4", "5", "6", None]),
        st.sampled_from([0, 1, 2, 3, 5, 11, None]),
        st.sampled_from(["m", "o", None]),
        st.sampled_from(["s", "t", "z"]),
    ),
    min_size=1,
    max_size=25,
)
required = st.sampled_from(
    [
        [ic.KAnonymity(1)],
        [ic.KAnonymity(2)],
        [ic.KAnonymity(3)],
        [ic.KAnonymity(2), ic.DistinctLDiversity(2)],
        [ic.TCloseness(0.3)],
        [ic.EntropyLDiversity(1.8)],
        [ic.DeltaDisclosure(1.0, absent="ignored")],
    ]
)
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        GlobalCertaintyPenalty(), IyengarLoss(), Precision(), NonUniformEntropy(), Ambiguity(), Discernibility()
    )
}  # fmt: skip


def tallied(rows: list[Row]) -> Tally:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "n": pl.Int64, "c": pl.String, "s": pl.String}, orient="row")
    counted = frame.group_by(pl.all()).len()
    return code_table(counted.drop("len"), counted["len"].to_numpy(), {**HIERARCHIES, "s": Exact()})[0]


def search(tally: Tally, models: list[ic.Model], **parameters: object) -> Recoding:
    method = FullDomain(**parameters)  # type: ignore[arg-type]
    return method.search(tally, SCHEMA, models, rng=np.random.default_rng(0), progress=silent)


def measured(tally: Tally, form: Generalized, loss: str) -> float:
    if loss == "average-group-size":  # the metric leaves withheld rows aside; the search must not gain by them
        return form.rows_in / len(form.shown)
    return METRICS[loss].measure(tally, form)


def all_vectors(tally: Tally, models: list[ic.Model], limit: float) -> list[Generalized]:
    """Publish every level vector that can be."""
    found = []
    for levels in product(*(range(tally.trees[name].height + 1) for name in HIERARCHIES)):
        chosen = dict(zip(HIERARCHIES, levels, strict=True))
        try:
            found.append(Generalized.of(tally, SCHEMA, search(tally, models, levels=chosen, max_withheld=limit)))
        except Unsatisfiable:
            continue
    return found


@settings(max_examples=5, deadline=None)
@given(rows=tables, models=required, limit=st.sampled_from([0.0, 0.2, 1.0]))
def test_it_finds_the_best_of_all_vectors(rows: list[Row], models: list[ic.Model], limit: float) -> None:
    tally = tallied(rows)
    possible = all_vectors(tally, models, limit)
    for loss in (*COLUMN_LOSSES, *GROUP_LOSSES):
        if not possible:
            with pytest.raises(Unsatisfiable):
                search(tally, models, loss=loss, max_withheld=limit)
            continue
        expected = (max if loss == "precision" else min)(measured(tally, form, loss) for form in possible)
        recoding = search(tally, models, loss=loss, max_withheld=limit)
        found = measured(tally, Generalized.of(tally, SCHEMA, recoding), loss)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), loss
        assert recoding.explored is not None
        said = recoding.explored.loss[recoding.explored.published]
        assert said == pytest.approx(expected, rel=1e-9, abs=1e-9), loss


def test_every_metric_of_that_name_is_compared_with() -> None:
    assert {*COLUMN_LOSSES, *GROUP_LOSSES} == {*METRICS, "average-group-size"}


def test_losses_differ_in_what_they_choose() -> None:
    chance = np.random.default_rng(2)
    rows: list[Row] = [
        (str(a), int(n), "mo"[c], "s")
        for a, n, c in zip(
            chance.integers(1, 7, 90), chance.integers(0, 12, 90) // 2, chance.integers(0, 2, 90), strict=True
        )
    ]
    chosen = {search(tallied(rows), [ic.KAnonymity(3)], loss=loss).levels for loss in [*COLUMN_LOSSES, *GROUP_LOSSES]}
    assert len(chosen) == 4


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "gpc"},
        {"loss": "discernibility", "weights": {"a": 2.0}},
        {"loss": "ambiguity", "leftovers": "recode"},
        {"loss": "non-uniform-entropy", "leftovers": "recode"},
    ],
)
def test_what_does_not_go_together_is_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="full-domain"):
        FullDomain(**parameters)  # type: ignore[arg-type]
