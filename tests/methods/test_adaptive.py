"""Adaptive synthesis: what its rows have of the table, what it promises, and that an audit finds nothing against it."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.common.randomness import randomness
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.budget import Budget
from incrowd.dp.concentrated import rho_of
from incrowd.dp.discrete_gaussian import gaussian_counts, price
from incrowd.dp.selection import exponential_mechanism, weight_per_unit
from incrowd.dp.synthesis import paying
from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.error_factors import MEASURED, OF_A_MODEL
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.public import public_tree
from incrowd.methods.adaptive import AdaptiveSynthesis
from incrowd.methods.private import PublicTable
from incrowd.testing.mechanism_audit import AuditResult, audit
from tests.dp.boxes.private_cases import random_rows
from tests.dp.boxes.test_privacy_loss import CLASSES, Transcript, in_proportion, table_of
from tests.methods.test_marginals import KNOWN, NOISELESS, frame

pytestmark = pytest.mark.usefixtures("few_questions")

DELTA = "1e-6"
BOTH = [0, DELTA]


def publish(data: pl.DataFrame, method: AdaptiveSynthesis, seed: int | None = 1, **changes: Any) -> ic.Release:
    given: dict[str, Any] = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "hierarchies": KNOWN}
    return ic.publish(ic.read(data, **(given | changes)), method=method, seed=seed)


def plain_count(data: pl.DataFrame, query: dict[str, Any]) -> int:
    """Count by a loop over rows."""
    return sum(
        all(one[name] in asked if isinstance(asked, list) else one[name] == asked for name, asked in query.items())
        for one in data.iter_rows(named=True)
    )


@pytest.mark.parametrize("delta", BOTH)
@pytest.mark.parametrize("sensitive", [["s"], []])
def test_without_noise_rows_have_the_counts_of_the_table(delta: Any, sensitive: list[str], tmp_path: Path) -> None:
    data = frame(2000)
    known = {name: tree for name, tree in KNOWN.items() if name != "s" or sensitive}
    release = publish(
        data.drop([] if sensitive else ["s"]),
        AdaptiveSynthesis(NOISELESS, delta),
        sensitive=sensitive,
        hierarchies=known,
    )
    assert release.rows == 2000
    release.save(tmp_path / "out")
    for one in (release, ic.open_release(tmp_path / "out")):
        for query in (
            {"b": "y1"},
            {"a": [3, 4], "b": "x1"},
            {"c": "c1"},
            *([{"b": "y1", "s": "yes"}] if sensitive else []),
        ):
            assert one.count(query) == pytest.approx(plain_count(data, query), abs=25)


@pytest.mark.parametrize("delta", BOTH)
def test_with_noise_pairs_are_near_those_of_the_table(delta: Any) -> None:
    data = frame(20_000)
    release = publish(data, AdaptiveSynthesis(1, delta))
    assert set(release.to_polars()["a"].cast(pl.Int64)) <= set(range(20))
    for query in ({"b": "y1"}, {"b": "y1", "s": "yes"}, {"b": "x1", "s": "no"}, {"c": "c1"}, {}):
        assert release.count(query) == pytest.approx(plain_count(data, query), rel=0.05)


def test_small_budgets_go_to_single_columns_and_classes() -> None:
    """As the number of rows falls, choices end; what is left is counted of single columns and of each by class."""
    told = {
        rows: [entry.what for entry in publish(frame(rows), AdaptiveSynthesis("0.1", DELTA)).form.accountant.entries]  # type: ignore[attr-defined]
        for rows in (300, 200_000)
    }
    assert not any(what.startswith("which") for what in told[300])
    assert {"counts of a", "counts of class", "counts of a and class"} <= set(told[300])
    assert any(what.startswith("which") for what in told[200_000])


def test_without_choices_columns_are_independent_given_the_class() -> None:
    form: Any = publish(frame(20_000), AdaptiveSynthesis(1, most_choices=0)).form
    assert not any(entry.what.startswith("which") for entry in form.accountant.entries)
    assert form.accountant.total() == Budget(1)


@pytest.mark.parametrize("delta", BOTH)
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_hardly_any_rows_are_published_all_the_same(delta: Any, rows: int, tmp_path: Path) -> None:
    release = publish(frame(rows), AdaptiveSynthesis(1, delta))
    release.save(tmp_path / "out")
    assert release.count({}) == release.rows
    if release.rows:
        assert ic.open_release(tmp_path / "out").count({}) == release.rows


def test_missing_values_levels_and_many_classes() -> None:
    data = frame(500).with_columns(a=pl.when(pl.col("a") < 3).then(None).otherwise(pl.col("a")))
    release = publish(data, AdaptiveSynthesis(NOISELESS, DELTA, missing=("a",), levels={"b": 1}))
    shown = release.to_polars()
    assert shown["a"].null_count() == pytest.approx(data["a"].null_count(), abs=3)
    assert set(shown["b"]) <= {"x", "y1"}
    many = publish(frame(500), AdaptiveSynthesis(2, DELTA), quasi=["b", "c", "s"], sensitive=["a"])
    assert set(many.to_polars()["a"].cast(pl.Int64)) <= set(range(20))
    with pytest.raises(SchemaError):
        publish(data, AdaptiveSynthesis(1, undeclared="refuse"))


def test_values_beyond_the_bounds_count_as_the_first_and_the_last() -> None:
    data = frame(300).with_columns(a=pl.col("a") * 3 - 20)  # from -20 to 37, and declared from 0 to 19
    release = publish(data, AdaptiveSynthesis(NOISELESS))
    assert set(release.to_polars()["a"].cast(pl.Int64)) <= set(range(20))
    assert release.count({"a": 0}) == pytest.approx(data.filter(pl.col("a") <= 0).height, abs=2)


@pytest.mark.parametrize(
    "parameters",
    [{"delta": 1}, {"delta": -1}, {"class_weight": 0}, {"class_weight": "2"}, {"most_choices": -1}, {"levels": 3}],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        AdaptiveSynthesis(1, **parameters)


def test_the_promise_says_both_numbers() -> None:
    release = publish(frame(300), AdaptiveSynthesis("1/3", "1e-9"), seed=None)
    assert str(release.guarantees[0].model) == "differential privacy (ε = 0.333333, δ = 1e-09)"


# --- the budget ---


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(0, 400),
    st.sampled_from(["0.05", "1", "30"]),
    st.sampled_from(BOTH),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=8, deadline=None)
def test_the_budget_is_never_exceeded(
    sizes: list[int], classes: int, rows: int, epsilon: str, delta: Any, seed: int
) -> None:
    """Whatever the schema and the rows: pure ε is spent to the last digit, ρ to the last that noise can be made of."""
    rng = np.random.default_rng(seed)
    method = AdaptiveSynthesis(epsilon, delta)
    table = coded(
        [[*(rng.integers(1, size + 1) for size in sizes), rng.integers(0, classes)] for _ in range(rows)],
        sizes,
        classes,
    )
    accountant = Accountant(limit=method.budget)
    tree, counts = method.measure(table, rng=rng, progress=silent, accountant=accountant)
    assert method.budget.covers(accountant.total())
    assert counts.min(initial=0) >= 0
    assert (tree.highs - tree.lows == 1).all()
    assert (tree.lows >= 1).all()
    assert (tree.highs <= np.array(sizes) + 1).all()
    if delta:
        spent = sum(entry.rho for entry in accountant.entries)
        assert 0.7 * rho_of(method.budget) < spent <= rho_of(method.budget)
    else:
        assert accountant.total() == method.budget


def coded(rows: list[list[int]], sizes: list[int], classes: int) -> PublicTable:
    made = np.array(rows, dtype=np.int64).reshape(len(rows), len(sizes) + 1)
    people = People(made[:, :-1].astype(np.int32), made[:, -1].copy(), classes, np.ones(len(rows), dtype=np.int64))
    nobody = Tally((), np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int64), {})
    names = tuple(f"c{place}" for place in range(len(sizes)))
    trees = [
        public_tree(name, Categories.from_tree([str(value) for value in range(size)]))
        for name, size in zip(names, sizes, strict=True)
    ]
    return PublicTable(nobody, names, trees, (False,) * len(sizes), people, np.arange(1, classes + 1)[:, None])


# --- the exact price of whole runs ---


class InRho(Transcript):
    """Questions that are paid for in ρ: what each costs two neighbours is worked out from what they differ in."""

    def gaussian(self, rng: np.random.Generator, counts: Any, deviation: Fraction) -> Any:
        noisy = self.ask(
            ("gaussian", counts.shape, deviation),
            counts.copy(),
            lambda: gaussian_counts(self.rng, counts, deviation),
            lambda other: float(((other - counts) ** 2).sum() * price(deviation)),
        )
        return noisy.copy()

    def exponential(self, rng: np.random.Generator, scores: Any, *, epsilon: Fraction, **given: Any) -> Any:
        weight = weight_per_unit(epsilon=epsilon, **({"monotone": False} | given))
        logarithms = np.log(in_proportion(np.exp(float(weight) * (scores - scores.max()))))

        def loss(other: Any) -> float:
            spread = float(np.ptp(other - logarithms))  # a bounded range of η is η²/8-zCDP
            assert spread <= self.rows * float(epsilon) * (1 + 1e-9)
            return spread**2 / 8

        def answer() -> int:
            return exponential_mechanism(self.rng, scores, epsilon=epsilon, **given)

        return self.ask(("exponential", scores.shape, epsilon), logarithms, answer, loss)

    def listen(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(paying, "gaussian_counts", self.gaussian)
        patch.setattr(paying, "exponential_mechanism", self.exponential)


def spent_in_rho(method: AdaptiveSynthesis, seed: int, patch: pytest.MonkeyPatch, rows: int = 1) -> float:
    """Return the ρ that a run costs neighbours, over what was promised; their runs must agree to the last bit."""
    rng = np.random.default_rng(seed)
    others = random_rows(rng, int(rng.choice([0, 1, 10, 200])), CLASSES)
    more = random_rows(rng, 1, CLASSES) * rows
    tables = [table_of(some, (False,) * 3) for some in (others, [*others, *more])]
    transcript = InRho(rng, rows=rows)
    transcript.listen(patch)
    before, after = tables if seed % 2 else reversed(tables)
    shown = []
    for table in (before, after):
        accountant = Accountant(limit=method.budget)
        tree, counts = method.measure(table, rng=randomness(5), progress=silent, accountant=accountant)
        shown.append(([tree.lows, tree.highs, counts], accountant.rows()))
        if transcript.losses is None:
            transcript.losses = []
    assert len(transcript.losses or []) == len(transcript.asked)
    assert shown[0][1] == shown[1][1]
    assert all(np.array_equal(one, other) for one, other in zip(shown[0][0], shown[1][0], strict=True))
    return math.fsum(transcript.losses or []) / float(rho_of(method.budget))


METHODS = [AdaptiveSynthesis(1, DELTA), AdaptiveSynthesis(6, DELTA), AdaptiveSynthesis(6, DELTA, class_weight=3)]


@pytest.mark.parametrize("method", METHODS, ids=lambda one: f"{one.epsilon} {one.class_weight}")
def test_no_run_costs_more_than_was_promised(method: AdaptiveSynthesis, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [spent_in_rho(method, seed, monkeypatch) for seed in range(6)]
    assert max(found) <= 1 + 1e-9
    assert max(found) > 0.6  # whoever is counted pays for it


@pytest.mark.parametrize("most_rows", [1, 3])
def test_a_person_with_several_rows_pays_no_more_than_was_promised(
    most_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = AdaptiveSynthesis(6, DELTA, most_rows=most_rows)
    found = [spent_in_rho(method, seed, monkeypatch, rows=most_rows) for seed in range(4)]
    assert 0.5 < max(found) <= 1 + 1e-9


def test_noise_of_half_the_scale_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: a deviation that is half of what its price says."""
    honest = paying.gaussian_deviation
    monkeypatch.setattr(paying, "gaussian_deviation", lambda rho: honest(4 * rho))
    monkeypatch.setattr(paying, "price", lambda deviation: price(2 * deviation) * Fraction(99, 100))
    assert max(spent_in_rho(METHODS[0], seed, monkeypatch) for seed in range(4)) > 1.5


def test_a_score_that_changes_by_more_than_its_weight_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.dp.synthesis import candidates

    honest = candidates.score
    monkeypatch.setattr(candidates, "score", lambda *given: 3 * honest(*given))
    with pytest.raises(AssertionError):
        max(spent_in_rho(METHODS[1], seed, monkeypatch) for seed in range(8))


# --- an audit by what comes out ---

ROWS = [[2, 2, 1, 0]] * 3
TARGET = [2, 2, 2, 1]


def audited(method: AdaptiveSynthesis, runs: int, promised: Budget) -> AuditResult:
    """Look at how many made rows are like the row that one of the tables has more, column by column."""
    tables = {True: coded([*ROWS, TARGET], [2, 2, 2], 2), False: coded(ROWS, [2, 2, 2], 2)}

    def run(with_row: bool, rng: np.random.Generator) -> int:
        tree, counts = method.measure(
            tables[with_row], rng=rng, progress=silent, accountant=Accountant(limit=method.budget)
        )
        near = (tree.lows == np.array(TARGET[:3])).sum(axis=1)
        return int((near * counts[:, TARGET[3]]).sum())

    return audit(run, runs=runs, rng=randomness(3), delta=float(promised.delta))


@pytest.mark.slow
def test_rows_are_as_private_as_promised_and_a_budget_spent_many_times_is_found_out() -> None:
    """In pure ε, the loss of whole runs is worked out exactly (tests/dp/boxes/test_privacy_loss.py)."""
    delta = "1e-3"
    promised = Budget("0.5", delta)
    honest = audited(AdaptiveSynthesis("0.5", delta), 32, promised)
    assert not honest.contradicts(0.5)
    broken = audited(AdaptiveSynthesis(60, delta), 32, promised)
    assert broken.contradicts(0.5)


def test_an_interval_says_whether_it_was_measured(tmp_path: Path) -> None:
    """From memory and from files."""
    for share, said in (("1/20", MEASURED), (0, OF_A_MODEL)):
        release = publish(frame(300), AdaptiveSynthesis(1, error_share=share))
        release.save(tmp_path / str(share).replace("/", "-"))
        for one in (release, ic.open_release(tmp_path / str(share).replace("/", "-"))):
            assert one.estimate({"a": 3}).assumes == said


def test_errors_are_paid_for_by_person_too() -> None:
    """In ρ, the method prices people itself: what errors cost is told by person, and spent row by row."""
    method = AdaptiveSynthesis(1, delta="1e-6", most_rows=4)
    counting, for_errors = method.for_counting()
    assert for_errors == Budget("1/20")
    assert counting.budget == Budget("19/20", "1e-6")
