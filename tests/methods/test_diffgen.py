"""Methods under differential privacy, from a table to a release."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import incrowd as ic
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.errors import EmptyTable, IncrowdError, RecipeError, SchemaError, UncoveredValue
from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.noisy import NoisyCounts
from incrowd.methods.adaptive import AdaptiveSynthesis
from incrowd.methods.diffgen import ConsistentDiffGen, DiffGen
from incrowd.methods.flat_histogram import FlatHistogram
from incrowd.methods.hierarchical_histogram import HierarchicalHistogram
from incrowd.methods.marginals import MarginalSynthesis
from incrowd.methods.private import PrivateMethod
from incrowd.publishing.recipe import Recipe
from incrowd.publishing.table import Table

pytestmark = pytest.mark.usefixtures("few_questions")

HIERARCHIES: dict[str, Any] = {
    "age": ic.Intervals(widths=(5, 10), lower=15, upper=90),
    "sex": ic.Categories.from_tree(["Female", "Male"]),
    "sick": ic.Categories.from_tree(["no", "yes"]),
}
BOTH = [DiffGen, ConsistentDiffGen]
ALL = [
    DiffGen(2, steps=4),
    ConsistentDiffGen(2, steps=4),
    FlatHistogram(2, levels={"age": 1}),
    FlatHistogram("1/3"),
    MarginalSynthesis(2),
    MarginalSynthesis("0.3", by_class=False, levels={"age": 1}),
    AdaptiveSynthesis("0.3", "1e-6", levels={"age": 1}),
]
UNMEASURED = [replace(method, error_share=0) if hasattr(method, "error_share") else method for method in ALL]
"""The same without the errors that are told, which cost most of the time of a small release."""
NOISELESS = 10**6


@cache
def people(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(15, 95, size=rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["Female", "Male"], size=rows),
            "sick": np.where(rng.random(rows) < np.where(age > 60, 0.8, 0.2), "yes", "no"),
        },
        schema={"age": pl.Int64, "sex": pl.String, "sick": pl.String},
    )


def read(frame: pl.DataFrame, **changes: Any) -> Table:
    given: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["sick"], "hierarchies": HIERARCHIES}
    return ic.read(frame, **(given | changes))


def noisy(release: ic.Release) -> NoisyCounts:
    assert isinstance(release.form, NoisyCounts)
    return release.form


@pytest.mark.parametrize("method", ALL, ids=lambda method: method.name)
def test_without_noise_counts_are_those_of_the_table(method: Any) -> None:
    frame = people(500)
    release = ic.publish(read(frame), method=replace(method, epsilon=NOISELESS), seed=1)
    assert release.rows == 500
    sick = frame.filter(pl.col("sick") == "yes").height
    assert release.count({"sick": "yes"}) == pytest.approx(sick, rel=1e-12)
    assert release.to_polars().height == 500
    assert int(release.tables["counts"]["count"].sum()) == 500


@pytest.mark.parametrize("rows", [1, 2, 50])
@pytest.mark.parametrize("method", UNMEASURED, ids=lambda method: method.name)
def test_tables_of_any_size(method: PrivateMethod, rows: int, tmp_path: Path) -> None:
    release = ic.publish(read(people(rows)), method=method, seed=rows)
    assert release.to_polars().columns == ["age", "sex", "sick"]
    assert release.to_polars().height == release.rows
    for format in ("csv", "parquet"):
        release.save(tmp_path / format, format=format)
        assert (tmp_path / format / f"data.{format}").exists()


def test_the_first_split_is_where_the_class_changes() -> None:
    release = ic.publish(read(people(4000)), method=DiffGen(NOISELESS, steps=1, utility="gini"), seed=1)
    shown = release.tables["counts"]["age"].unique().sort().to_list()
    assert shown == ["<61", ">=61"]


@pytest.mark.parametrize("kind", BOTH)
def test_a_release_keeps_its_promise_and_says_what_was_spent(kind: Any) -> None:
    release = ic.publish(read(people(200)), method=kind("0.7", steps=3))
    (promise,) = release.guarantees
    assert promise.basis == "by construction"
    assert str(promise.model) == "differential privacy (ε = 0.7)"
    assert promise.note == ""
    assert noisy(release).accountant.total() == Budget("0.7")
    assert release.summary["loss"]["budget"]["total"] == {"ε": "7/10", "δ": "0"}


@pytest.mark.parametrize("kind", BOTH)
def test_a_sample_costs_less(kind: Any) -> None:
    release = ic.publish(read(people(3000)), method=kind(1, steps=3), sample=0.1, seed=1)
    expected = amplified(Budget(1), Fraction(1, 10))
    assert noisy(release).accountant.total().epsilon <= expected.epsilon
    assert release.guarantees[0].achieved == pytest.approx(float(expected.epsilon))
    assert release.rows < 1000
    assert 2000 < release.count({}) < 4000


def test_a_sample_in_which_nobody_is_is_a_sample() -> None:
    release = ic.publish(read(people(1)), method=DiffGen(1, steps=1), sample=0.001, seed=1)
    assert release.guarantees[0].achieved < 0.01


@pytest.mark.parametrize("method", UNMEASURED, ids=lambda method: method.name)
def test_a_seed_makes_the_same_release_and_marks_it(method: PrivateMethod) -> None:
    frame = people(300)
    first, second, other = (ic.publish(read(frame), method=method, seed=seed) for seed in (1, 1, 2))
    assert first.to_polars().equals(second.to_polars())
    assert not first.to_polars().equals(other.to_polars())
    assert "not for publication" in first.guarantees[0].note
    assert "not for publication" in json.dumps(first.summary)


def test_neither_row_order_nor_column_order_matters() -> None:
    frame = people(300)
    first = ic.publish(read(frame), method=ConsistentDiffGen(1), seed=3)
    second = ic.publish(
        read(frame.reverse().select("sick", "sex", "age"), quasi=["sex", "age"]), method=ConsistentDiffGen(1), seed=3
    )
    columns = ["age", "sex", "sick"]
    assert first.to_polars().sort(columns).equals(second.to_polars().select(columns).sort(columns))


# A sample of each kind of method, and all rows with every one.
@pytest.mark.parametrize(
    ("method", "sample"),
    [*((method, 1) for method in ALL), *((method, 0.5) for method in {type(one): one for one in ALL}.values())],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_number_of_rows_is_told_nowhere(method: PrivateMethod, sample: float, tmp_path: Path) -> None:
    rows = 74_747
    release = ic.publish(read(people(rows)), method=method, sample=sample, seed=6)
    assert release.rows != rows, "choose another seed: chance has it that the noisy total is the true one"
    assert (release.rows_in, release.left_out, release.withheld) == (release.rows, 0, 0)
    release.save(tmp_path / "out", format="csv")
    told = [(tmp_path / "out" / name).read_text() for name in ("summary.json", "recipe.toml")]
    told += [repr(release), str(release.warnings), str(release.form.tally.rows)]
    assert not any(str(rows) in text or f"{rows:,}" in text for text in told)
    assert set(release.summary["rows"]) == {"published", "sampling rate"}


def test_what_is_published_does_not_depend_on_which_values_are_there() -> None:
    """Labels are of the declared domain, also where nobody is."""
    few = ic.publish(read(people(1)), method=FlatHistogram(NOISELESS, levels={"age": 2}), seed=1)
    many = ic.publish(read(people(900)), method=FlatHistogram(NOISELESS, levels={"age": 2}), seed=1)
    boxes = [len(noisy(one).measured.tree.parents) for one in (few, many)]
    assert boxes == [9 * 2, 9 * 2]  # 8 decades, of which the first is from 15 on, and from 90 on


def test_without_classes_the_width_is_what_counts() -> None:
    table = read(people(500).drop("sick"), sensitive=[], hierarchies={k: HIERARCHIES[k] for k in ("age", "sex")})
    for kind in BOTH:
        release = ic.publish(table, method=kind(NOISELESS, steps=3), seed=1)
        assert release.count({"sex": "Male"}) == pytest.approx(release.count({}) / 2, abs=60)
        with pytest.raises(RecipeError, match="needs a sensitive column"):
            ic.publish(table, method=kind(1, utility="max"))


def test_missing_values_are_counted_where_they_were_announced() -> None:
    frame = people(400).with_columns(
        age=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise("age"),
        sick=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("sick"),
    )
    for method in (
        DiffGen(NOISELESS, steps=4, missing=("age", "sick")),
        ConsistentDiffGen(NOISELESS, steps=4, missing=["age", "sick"]),  # type: ignore[arg-type]
        FlatHistogram(NOISELESS, missing=("age", "sick")),
        MarginalSynthesis(NOISELESS, missing=("age", "sick")),
    ):
        release = ic.publish(read(frame), method=method, seed=1)
        assert release.rows == 400
        assert release.to_polars()["sick"].null_count() == 80
        if method.name in ("flat-histogram", "marginals"):
            assert release.to_polars()["age"].null_count() == 100
    with pytest.raises(SchemaError, match=r"announced.*Hint: say missing"):
        ic.publish(read(frame), method=DiffGen(1, missing=("sick",), undeclared="refuse"))
    with pytest.raises(SchemaError, match="no published column"):
        ic.publish(read(frame), method=DiffGen(1, missing=("zip",)))


@pytest.mark.parametrize(
    "method", [DiffGen(1), ConsistentDiffGen(1), FlatHistogram(1), MarginalSynthesis(1)], ids=lambda one: one.name
)
def test_refusals_say_why(method: PrivateMethod) -> None:
    frame = people(50)
    without_age = {name: HIERARCHIES[name] for name in ("sex", "sick")}
    with pytest.raises(SchemaError, match="known from the data only"):
        ic.publish(read(frame, hierarchies=without_age), method=method)
    with pytest.raises(SchemaError, match="known from the data only"):
        ic.publish(read(frame, hierarchies={name: HIERARCHIES[name] for name in ("age", "sex")}), method=method)
    with pytest.raises(SchemaError, match="beside noisy counts"):
        ic.publish(read(frame.with_columns(id=1), keep=["id"]), method=method)
    with pytest.raises(SchemaError, match="beside noisy counts"):
        ic.publish(read(frame.with_columns(id=1), pseudonyms=["id"]), method=method)
    with pytest.raises(SchemaError, match="5-anonymity cannot be asked of noisy counts"):
        ic.publish(read(frame), ic.KAnonymity(5), method=method)
    with pytest.raises(RecipeError, match="no other form"):
        ic.publish(read(frame), method=method, form=ShowGeneralized())
    refusing: Any = replace(method, undeclared="refuse")  # type: ignore[type-var]
    with pytest.raises(UncoveredValue):
        ic.publish(read(frame.with_columns(sex=pl.lit("x"))), method=refusing)


@pytest.mark.parametrize("method", [*UNMEASURED, HierarchicalHistogram(2)], ids=lambda method: method.name)
def test_undeclared_values_can_be_missing_ones_and_then_nothing_is_refused(method: Any) -> None:
    """The release is that of the other rows, if missing values were not announced; else they are among these."""
    odd = pl.DataFrame(
        {
            "age": ["n/a", "30", None, "1e300", "nan", "20"],
            "sex": ["Male", "Martian", "Male", "Female", "Male", None],
            "sick": ["yes", "no", "no", "maybe", "no", "no"],
        }
    )
    good = people(300).with_columns(pl.col("age").cast(pl.String))
    changes: dict[str, Any] = {}
    if method.name == "hierarchical-histogram":
        known = {name: HIERARCHIES[name] for name in ("age", "sick")}
        changes = {"quasi": ["age"], "drop": ["sex"], "hierarchies": known}
        odd = odd.filter(pl.col("age").is_in(["n/a", "nan", "1e300"]) | pl.col("age").is_null())
    both = pl.concat([good, odd])
    with pytest.raises(IncrowdError):
        ic.publish(read(both, **changes), method=replace(method, undeclared="refuse"), seed=1)
    left_out = replace(method, undeclared="missing")
    with_odd, without = (ic.publish(read(data, **changes), method=left_out, seed=1) for data in (both, good))
    assert with_odd.to_polars().equals(without.to_polars())
    announced = ("age", "sick") if changes else ("age", "sex", "sick")
    told = replace(left_out, epsilon=NOISELESS, missing=announced)
    assert ic.publish(read(both, **changes), method=told, seed=1).rows == both.height
    with pytest.raises(RecipeError, match="undeclared"):
        replace(method, undeclared="ignore")


@pytest.mark.parametrize("method", [*UNMEASURED, HierarchicalHistogram(2)], ids=lambda method: method.name)
def test_nobody_is_a_table_like_any_other(method: Any) -> None:
    """A refusal would tell a table of one person from one of none."""
    one_column = {
        "quasi": ["age"],
        "drop": ["sex"],
        "hierarchies": {name: HIERARCHIES[name] for name in ("age", "sick")},
    }
    changes: dict[str, Any] = one_column if method.name == "hierarchical-histogram" else {}
    nobody, somebody = (read(people(rows), **changes) for rows in (0, 1))
    with pytest.raises(EmptyTable):
        ic.publish(nobody, method=replace(method, undeclared="refuse"))
    for missing, share in (((), 1), (("age", "sick"), 0.5)):
        tolerant = replace(method, undeclared="missing", missing=missing, epsilon=NOISELESS)
        assert ic.publish(nobody, method=tolerant, sample=share).rows == 0
        assert ic.publish(somebody, method=tolerant).rows == 1
    noisy = replace(method, undeclared="missing", epsilon="1/10")
    assert any(ic.publish(nobody, method=noisy, seed=seed).rows for seed in range(40))


def test_too_many_classes_are_refused() -> None:
    ages = {"age": ic.Intervals(widths=(1,), lower=0, upper=5000), "sex": HIERARCHIES["sex"]}
    table = read(people(10).drop("sick"), quasi=["sex"], sensitive=["age"], hierarchies=ages)
    with pytest.raises(SchemaError, match="combinations of values"):
        ic.publish(table, method=DiffGen(1))


@pytest.mark.parametrize("kind", [DiffGen, ConsistentDiffGen, FlatHistogram, HierarchicalHistogram, MarginalSynthesis])
@pytest.mark.parametrize("epsilon", [0, -1, "0", "nan", "a lot", None, True])
def test_an_epsilon_that_is_none_is_refused(kind: Any, epsilon: Any) -> None:
    with pytest.raises(RecipeError, match="ε"):
        kind(epsilon)


@pytest.mark.parametrize(
    "parameters",
    [
        {"steps": 0},
        {"steps": 1.5},
        {"utility": "best"},
        {"structure_share": 0},
        {"structure_share": 1},
        {"structure_share": "half"},
        {"missing": "age"},
        {"missing": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", BOTH)
def test_other_parameters_that_make_no_sense_are_refused(kind: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=next(iter(parameters))):
        kind(1, **parameters)


@pytest.mark.parametrize("parameters", [{"adjust": "guess"}, {"patience": -1}, {"fanout": 1}, {"fanout": 2.5}], ids=str)
def test_parameters_of_the_consistent_one(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=next(iter(parameters))):
        ConsistentDiffGen(1, **parameters)


@pytest.mark.parametrize("parameters", [{"levels": 3}, {"levels": {"age": -1}}], ids=str)
def test_parameters_of_the_flat_histogram(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="level"):
        FlatHistogram(1, **parameters)
    for levels in ({"zip": 0}, {"age": 9}):
        with pytest.raises(IncrowdError):
            ic.publish(read(people(5)), method=FlatHistogram(1, levels=levels))


@pytest.mark.parametrize(
    "method",
    [
        DiffGen(Fraction(1, 3), steps=2, missing=("age",)),
        ConsistentDiffGen(0.5, structure_share=Fraction(1, 8), adjust="algorithm-2"),
        ConsistentDiffGen(0.5, fanout=5),
        MarginalSynthesis(Fraction(1, 3), by_class=False, levels={"age": 1}, missing=("age",)),
        AdaptiveSynthesis(Fraction(1, 3), "1e-9", class_weight=2, most_choices=3, levels={"age": 1}, missing=("age",)),
    ],
    ids=lambda method: method.name,
)
def test_recipes_make_the_same_release_again(method: PrivateMethod, tmp_path: Path) -> None:
    people(200).write_csv(tmp_path / "people.csv")
    table = ic.read(tmp_path / "people.csv", quasi=["age", "sex"], sensitive=["sick"], hierarchies=HIERARCHIES)
    release = ic.publish(table, method=method, seed=4)
    release.save(tmp_path / "out")
    again = Recipe.load(release.save_recipe(tmp_path / "own.toml"))
    assert repr(again.method) == repr(method)
    assert again.run().to_polars().equals(release.to_polars())
    json.loads((tmp_path / "out" / "summary.json").read_text())


@cache
def errors_of_all(method: PrivateMethod) -> NDArray[np.float64]:
    """Return how far off the number of all 2,000 rows is on average: as it is answered, and as rows are published."""
    frame = people(2000)
    found = [ic.publish(read(frame), method=method, seed=seed) for seed in range(6)]
    return np.mean([[abs(one.count({}) - 2000), abs(one.rows - 2000)] for one in found], axis=0)


@pytest.mark.parametrize("adjust", ["least-squares", "algorithm-2"])
def test_consistent_counts_are_nearer_to_the_truth_for_wide_questions(adjust: Any) -> None:
    """Over many runs, the total is nearer than that of as many noisy leaves; in the published table, much nearer."""
    printed = errors_of_all(DiffGen("0.2", steps=60, adjust="as-printed", error_share=0))
    mine = errors_of_all(ConsistentDiffGen("0.2", steps=60, adjust=adjust, utility="max", error_share=0))
    assert mine[0] < printed[0]
    assert mine[1] < printed[1] / 4


class TestHierarchicalHistogram:
    """One column of numbers, all intervals."""

    def table(self, rows: int = 1000, **changes: Any) -> Table:
        given: dict[str, Any] = {"quasi": ["age"], "sensitive": ["sick"], "drop": ["sex"]}
        hierarchies = {"age": HIERARCHIES["age"], "sick": HIERARCHIES["sick"]}
        return read(people(rows), **(given | {"hierarchies": hierarchies} | changes))

    @pytest.mark.parametrize("branches", [2, 3, 16, 1000])
    def test_without_noise_every_age_is_counted(self, branches: int) -> None:
        release = ic.publish(self.table(), method=HierarchicalHistogram(NOISELESS, branches=branches), seed=1)
        frame = people(1000).with_columns(age=pl.col("age").clip(14, 90))
        assert release.rows == 1000
        for low, high in ((15, 20), (33, 33), (61, 90)):
            assert release.count({"age": (low, high)}) == frame.filter(pl.col("age").is_between(low, high)).height

    @pytest.mark.parametrize("branches", [2, 4, 7])
    def test_children_divide_their_parent(self, branches: int) -> None:
        release = ic.publish(self.table(3), method=HierarchicalHistogram(1, branches=branches), seed=1)
        tree = noisy(release).measured.tree
        for box in range(len(tree.parents)):
            children = np.flatnonzero(tree.parents == box)
            if children.size:
                assert 2 <= children.size <= branches
                assert tree.lows[children[0]] == tree.lows[box]
                assert tree.highs[children[-1]] == tree.highs[box]
                assert (tree.highs[children[:-1]] == tree.lows[children[1:]]).all()
            else:
                assert tree.highs[box] - tree.lows[box] == 1

    def test_missing_is_a_leaf_of_its_own(self) -> None:
        frame = people(100).with_columns(age=pl.when(pl.int_range(pl.len()) < 30).then(None).otherwise("age"))
        table = read(frame, quasi=["age"], drop=["sex"], hierarchies={k: HIERARCHIES[k] for k in ("age", "sick")})
        release = ic.publish(table, method=HierarchicalHistogram(NOISELESS, missing=("age",)), seed=1)
        assert release.to_polars()["age"].null_count() == 30

    def test_more_columns_or_names_are_refused(self) -> None:
        for table in (
            read(people(5)),
            read(
                people(5).drop("age"), quasi=["sex"], hierarchies={name: HIERARCHIES[name] for name in ("sex", "sick")}
            ),
        ):
            with pytest.raises(SchemaError, match="one quasi-identifier, a column of numbers"):
                ic.publish(table, method=HierarchicalHistogram(1))

    def test_wide_ranges_are_answered_better_than_by_a_flat_histogram(self) -> None:
        """Of a thousand values: noise of hundreds of them adds up, that of a few branches does not."""
        frame = pl.DataFrame({"income": np.random.default_rng(0).integers(0, 1000, size=2000)})
        known = {"income": ic.Intervals(widths=(10, 100), lower=0, upper=1000)}
        table = ic.read(frame, quasi=["income"], hierarchies=known)
        truth = frame.filter(pl.col("income").is_between(100, 899)).height
        errors: dict[str, list[float]] = {}
        for seed in range(12):
            for method in (HierarchicalHistogram("0.2"), FlatHistogram("0.2", error_share=0)):
                release = ic.publish(table, method=method, seed=seed)
                errors.setdefault(method.name, []).append(abs(release.count({"income": (100, 899)}) - truth))
        assert np.mean(errors["hierarchical-histogram"]) < np.mean(errors["flat-histogram"]) / 1.5


@pytest.mark.parametrize("method", [DiffGen(1, steps=3), ConsistentDiffGen(1, steps=3)])
def test_more_columns_than_numpy_has_dimensions(method: ic.Method) -> None:
    """Seventy columns of two values each, of which three are specialized."""
    rng = np.random.default_rng(1)
    names = [f"c{place}" for place in range(70)]
    frame = pl.DataFrame({name: rng.choice(["a", "b"], 300) for name in [*names, "ill"]})
    trees = {name: ic.Categories.from_tree(["a", "b"]) for name in [*names, "ill"]}
    table = ic.read(frame, quasi=names, sensitive=["ill"], hierarchies=trees)
    release = ic.publish(table, method=method, seed=1)
    assert release.to_polars().columns == [*names, "ill"]
    assert release.count({}) == pytest.approx(300, abs=40)
