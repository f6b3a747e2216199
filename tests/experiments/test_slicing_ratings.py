"""The ratings of films: predictions against a naive oracle, and a release that keeps nothing is worth nothing."""

from __future__ import annotations

import numpy as np
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.experiments.results import Results
from incrowd.experiments.slicing.claims import CLAIMS
from incrowd.experiments.slicing.measuring import RAW
from incrowd.experiments.slicing.ratings import (
    AT_RANDOM,
    EXPLAINED,
    ITEM_MEAN,
    explained,
    measure_ratings,
    mixed_columns,
    predicted,
)
from incrowd.experiments.slicing.ways import BUCKETIZED, GENERALIZED, PAPER, RECOMMENDED, SLICED
from tests.experiments.planted import holding

NAN = float("nan")


def matrix(rows: int, items: int, seed: int) -> np.ndarray:
    names = [f"item_{number + 1:03}" for number in range(items)]
    return ic.datasets.ratings(rows, items, seed=seed).select(names).cast(float).fill_null(NAN).to_numpy()


def naive_guess(known: np.ndarray, person: np.ndarray, item: int, ridge: float) -> float:
    """One guess, one person, by scikit-learn."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    means = [np.nanmean(column) if (~np.isnan(column)).any() else np.nanmean(known) for column in known.T]

    def features(row: np.ndarray) -> list[float]:
        found = []
        for other, value in enumerate(row):
            if other != item:
                found += [0.0 if np.isnan(value) else value - means[other], float(not np.isnan(value))]
        return found

    rated = [row for row in known if not np.isnan(row[item])]
    if not rated:
        return float(means[item])
    model = linear_model.Ridge(alpha=ridge).fit([features(row) for row in rated], [row[item] for row in rated])
    return float(np.clip(model.predict([features(person)])[0], 1, 5))


def test_predictions_are_those_of_the_oracle() -> None:
    known, test = matrix(120, 7, 0), matrix(9, 7, 1)
    found = predicted(known, test)
    for person in range(len(test)):
        for item in range(7):
            assert found[person, item] == pytest.approx(naive_guess(known, test[person], item, 20.0), abs=1e-6)


def test_edges_of_predictions() -> None:
    nobody = np.full((3, 2), NAN)
    assert (predicted(nobody, np.array([[1.0, NAN]])) >= 0).all()
    same = np.full((5, 2), 4.0)
    assert predicted(same, same) == pytest.approx(same)
    one = np.array([[5.0, NAN]])
    assert predicted(one, one)[0, 0] == pytest.approx(5.0)
    assert explained(same, same, np.array([3.0, 3.0])) == 1.0
    assert explained(same, same - 1, np.array([3.0, 3.0])) == 0.0
    assert explained(nobody, nobody, np.array([3.0, 3.0])) == 0.0


def test_a_rating_is_not_guessed_from_itself() -> None:
    known = matrix(200, 6, 0)
    changed = known.copy()
    changed[:, 2] = np.where(np.isnan(known[:, 2]), NAN, 6 - known[:, 2])
    assert predicted(known, known)[:, 2] == pytest.approx(predicted(known, changed)[:, 2])


def test_columns_at_random_have_the_same_sizes_and_attributes() -> None:
    columns = [["a", "b", "c"], ["d", "e"], ["f", "occupation"]]
    mixed = mixed_columns(columns, np.random.default_rng(0))
    assert [len(column) for column in mixed] == [3, 2, 2]
    assert mixed[2] == ("f", "occupation")
    assert sorted(name for column in mixed for name in column) == sorted(name for column in columns for name in column)
    assert set(mixed[0]) != {"a", "b", "c"}


def test_what_is_measured_and_what_it_says() -> None:
    """Slicing keeps most of what raw ratings tell, generalization nothing, and a planted release of noise fails."""
    made = Results()
    measure_ratings(made, 2_000, 16, 0, silent)
    frame = made.frame().drop("run")
    films = frame.filter(figure="ratings", measure=EXPLAINED)
    value = dict(films.select("method", "value").iter_rows())
    assert set(value) == {RAW, GENERALIZED, BUCKETIZED, SLICED, PAPER, RECOMMENDED, AT_RANDOM, ITEM_MEAN}
    assert value[BUCKETIZED] == pytest.approx(value[RAW])  # which keeps all ratings of a person together
    assert value[PAPER] > 0.02 > value[GENERALIZED]
    part = "predicted better than from generalization (the paper's"
    assert holding(CLAIMS, part, frame) == "holds"
    # Planted: what is called slicing predicts as generalization does.
    assert holding(CLAIMS, part, frame.filter(method=GENERALIZED).vstack(frame.filter(method=ITEM_MEAN)).vstack(
        frame.filter(method=GENERALIZED).with_columns(method=pytest.importorskip("polars").lit(PAPER))
    )) == "does not hold"  # fmt: skip
