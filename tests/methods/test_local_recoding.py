from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.methods.climbing import Ladder
from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.distortion import Distortion, climbed
from incrowd.metrics.withheld_share import WithheldShare
from tests.methods.naive_confidence import climb_row_by_row, worst_excess


def tally_of(frame: pl.DataFrame, sensitive: list[str], hierarchies: dict[str, Hierarchy] | None = None) -> Tally:
    quasi = [name for name in frame.columns if name not in sensitive]
    table = ic.read(frame, quasi=quasi, sensitive=sensitive, hierarchies=hierarchies or {})
    return table.engine.count(table.schema).tally


def test_the_papers_left_domain_sizes() -> None:
    # A binary taxonomy of age: the root, two halves, four quarters. '26-50' is at level 2, 'male' at level 1.
    quarters = ic.Categories.from_tree({"0-50": ["0-25", "26-50"], "51-100": ["51-75", "76-100"]})
    frame = pl.DataFrame({"age": ["26-50", "0-25"], "sex": ["male", "female"]})
    tally = tally_of(frame, [], {"age": quarters, "sex": ic.Flat()})
    assert Ladder.of(tally, "age").nodes_left[0] == 7
    assert Ladder.of(tally, "sex").nodes_left[0] == 3


def test_the_papers_distortion() -> None:
    # Age goes from level 4 to 3 of 4, sex from level 1 to 0 of 1.
    tree: dict[str, Any] = {"20-59": {"20-40": ["25", "30"]}, "60-99": {"60-80": ["70", "75"]}}
    frame = pl.DataFrame({"age": ["25", "30"], "sex": ["male", "female"]})
    tally = tally_of(frame, [], {"age": ic.Categories.from_tree({"lives": tree}), "sex": ic.Flat()})
    age, sex = tally.trees["age"], tally.trees["sex"]
    assert (age.height, sex.height) == (4, 1)
    young, men = age.values.to_list().index("25"), sex.values.to_list().index("male")
    twenties = climbed(age, age.starts[1, [young]], age.ends[1, [young]])[0]
    anybody = climbed(sex, sex.starts[1, [men]], sex.ends[1, [men]])[0]
    assert (twenties + anybody) / 2 == 0.625


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Hierarchy]]:
    rows = draw(st.integers(1, 30))
    dice = np.random.default_rng(draw(st.integers(0, 2**16)))
    letters = list("abcdefgh")
    deep = {"abcd": {"ab": ["a", "b"], "cd": ["c", "d"]}, "efgh": {"ef": ["e", "f"], "gh": ["g", "h"]}}
    uneven = {"xy": ["x", "y"], "z": ["z"]}  # z is its own parent: two levels that show the same
    frame = pl.DataFrame(
        {
            "letter": dice.choice(letters[: draw(st.integers(1, 8))], rows),
            "sign": dice.choice(["x", "y", "z"], rows),
            "sick": dice.choice(["flu", "cold", "hiv", "none"][: draw(st.integers(1, 4))], rows),
        }
    )
    return frame, {"letter": ic.Categories.from_tree(deep), "sign": ic.Categories.from_tree(uneven)}


def as_sets(tally: Tally, column: str, value: Any) -> list[frozenset[Any]]:
    """List what a value may be shown as, from itself to the root."""
    tree = tally.trees[column]
    values = tree.values.to_list()
    code = values.index(value)
    return [
        frozenset(values[max(start, 1) : end])
        for start, end in zip(tree.starts[:, code], tree.ends[:, code], strict=True)
    ]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(table=tables(), limit=st.sampled_from([0.0, 0.3, 0.6, 1.0]), rate=st.sampled_from([0.3, 0.7, 1.0]))
def test_it_does_what_the_paper_says_row_by_row(
    table: tuple[pl.DataFrame, dict[str, Hierarchy]], limit: float, rate: float
) -> None:
    frame, hierarchies = table
    tally = tally_of(frame, ["sick"], hierarchies)
    columns = ("letter", "sign")
    rows = [((row["letter"], row["sign"]), row["sick"]) for row in frame.to_dicts()]
    paths = [lambda value, name=name: as_sets(tally, name, value) for name in columns]
    naive = climb_row_by_row(rows, paths, [Ladder.of(tally, name).nodes_left.tolist() for name in columns], rate, limit)
    expected = Counter(
        (*(",".join(sorted(label)) for label in shown), row[1])
        for shown, row in zip(naive, rows, strict=True)
        if shown is not None
    )
    opened = ic.read(frame, quasi=columns, sensitive=["sick"], hierarchies=hierarchies)
    try:
        release = ic.publish(opened, ic.ExpectedConfidence(rate=rate), method=ic.LocalRecoding(max_distortion=limit))
    except Unsatisfiable:
        assert not expected
        return
    form, trees = release.form, tally.trees
    found: Counter[tuple[str, ...]] = Counter()
    for group, sick, count in zip(form.groups, form.sensitive[:, 0], form.counts, strict=True):
        shown = []
        for place, name in enumerate(form.shown.columns):
            low, high = int(form.shown.lows[group, place]), int(form.shown.highs[group, place])
            shown.append(",".join(sorted(trees[name].values.to_list()[max(low, 1) : high])))
        found[(*shown, trees["sick"].values[int(sick)])] += int(count)
    assert found == expected


@pytest.mark.parametrize("sample", [1, 0.9, 0.4])
@pytest.mark.parametrize("choose", ["left-domain-size", "least-loss"])
def test_published_rows_pass_a_naive_check(sample: float, choose: Any) -> None:
    frame = ic.datasets.census(800, seed=11).select("age", "sex", "education", "occupation")
    hierarchies: dict[str, Hierarchy] = {
        "age": ic.Intervals(widths=(5, 10, 20, 40)),
        "sex": ic.Flat(),
        "education": ic.Categories.from_tree(ic.datasets.CENSUS_TREES["education"]),
    }
    quasi = ("age", "sex", "education")
    table = ic.read(frame, quasi=quasi, sensitive=["occupation"], hierarchies=hierarchies)
    method = ic.LocalRecoding(max_distortion=0.8, min_levels={"age": 1}, column_choice=choose)
    release = ic.publish(table, ic.ExpectedConfidence(), method=method, sample=sample, seed=2)
    trees = release.form.tally.trees
    excess = worst_excess(
        release.to_polars().to_dicts(),
        frame.to_dicts(),
        quasi,
        "occupation",
        hierarchies,
        {name: trees[name].ordered for name in quasi},
        float(sample),
    )
    assert excess <= 1e-9
    assert excess == pytest.approx(release.guarantees[0].achieved, abs=1e-9)
    assert all("-" not in str(label) for label in release.to_polars()["age"].unique().to_list())
    assert 0.0 < Distortion(published_only=True).measure(release.form.tally, release.form) <= 0.8


def test_rows_that_are_too_distorted_are_withheld_and_no_others() -> None:
    frame = ic.datasets.census(2000, seed=13)
    table = ic.read(frame, quasi=["age", "sex", "race"], sensitive=["occupation"], others="drop")
    shares = []
    for limit in (0.2, 0.4, 0.6, 0.8, 1.0):
        release = ic.publish(table, ic.ExpectedConfidence(), method=ic.LocalRecoding(max_distortion=limit))
        worst = max(
            sum(
                climbed(release.form.tally.trees[name], release.form.shown.lows[[group], place],
                        release.form.shown.highs[[group], place])[0]
                for place, name in enumerate(release.form.shown.columns)
            )
            / 3
            for group in range(len(release.form.shown))
        )  # fmt: skip
        assert worst <= limit + 1e-9
        shares.append(WithheldShare().measure(release.form.tally, release.form))
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] <= 0.001, "only a row that is alone at the top"


def test_it_takes_other_models_too_and_all_at_once() -> None:
    table = ic.read(ic.datasets.census(3000, seed=14), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    require = [ic.KAnonymity(7), ic.LDiversity(3), ic.ExpectedConfidence()]
    release = ic.publish(table, require, method=ic.LocalRecoding(max_distortion=1))
    assert ic.check(release.to_polars(), quasi=["age", "sex"], sensitive=["occupation"]).k >= 7
    assert AverageGroupSize().measure(release.form.tally, release.form) >= 7


def test_several_sensitive_columns_are_each_judged() -> None:
    frame = ic.datasets.census(1500, seed=15).select("age", "sex", "occupation", "marital")
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["occupation", "marital"])
    both = ic.publish(table, ic.ExpectedConfidence(), method=ic.LocalRecoding(max_distortion=1))
    one = ic.publish(table, ic.ExpectedConfidence(column="marital"), method=ic.LocalRecoding(max_distortion=1))
    assert both.guarantees[0].achieved <= 0
    assert len(one.form.shown) >= len(both.form.shown)


def test_no_distortion_allowed_publishes_what_is_safe_as_it_is() -> None:
    frame = pl.DataFrame({"sex": ["F"] * 20 + ["M"] * 20 + ["X"], "sick": ["a", "b"] * 20 + ["c"]})
    table = ic.read(frame, quasi=["sex"], sensitive=["sick"])
    release = ic.publish(table, ic.ExpectedConfidence(), method=ic.LocalRecoding(max_distortion=0))
    assert release.rows == 40
    assert sorted(release.to_polars()["sex"].unique()) == ["F", "M"]


def test_nothing_safe_is_an_error_that_says_so() -> None:
    table = ic.read(pl.DataFrame({"age": [1, 2, 3], "sick": ["a", "b", "c"]}), quasi=["age"], sensitive=["sick"])
    with pytest.raises(Unsatisfiable, match="none of 3 rows satisfies 4-anonymity"):
        ic.publish(table, ic.KAnonymity(4), method=ic.LocalRecoding(max_distortion=1))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"max_distortion": 1.5}, "max_distortion is a share"),
        ({"max_distortion": -1}, "max_distortion is a number"),
        ({"column_choice": "any"}, "column_choice is"),
    ],
)
def test_senseless_parameters_are_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RecipeError, match=complaint):
        ic.LocalRecoding(**parameters)


def test_a_level_of_an_unknown_column_is_refused() -> None:
    table = ic.read(pl.DataFrame({"age": [1, 2], "sick": ["a", "b"]}), quasi=["age"], sensitive=["sick"])
    with pytest.raises(SchemaError, match="'agee' is not a quasi-identifier"):
        ic.publish(table, ic.KAnonymity(1), method=ic.LocalRecoding(min_levels={"agee": 1}))
    with pytest.raises(SchemaError, match="levels go from 0 to"):
        ic.publish(table, ic.KAnonymity(1), method=ic.LocalRecoding(min_levels={"age": 9}))
