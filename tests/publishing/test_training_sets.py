"""Rows to learn from, as scikit-learn takes them, and other tables in the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError
from tests.publishing.opening.test_same_release import HIERARCHIES, QUASI, people


def release_of(frame: Any, **changed: Any) -> ic.Release:
    given = {"quasi": QUASI, "sensitive": ["ill"], "hierarchies": HIERARCHIES, "others": "drop", **changed}
    return ic.publish(ic.read(frame, **given), ic.KAnonymity(3), seed=1)


def test_scikit_learn_takes_it_as_it_is() -> None:
    trees = pytest.importorskip("sklearn.tree")
    frame = people()
    release = release_of(frame)
    features, classes, weights = release.training_set("ill", seed=1)
    model = trees.DecisionTreeClassifier(max_depth=3).fit(features.to_numpy(), classes.to_list(), weights)
    others = release.features(frame, target="ill")
    assert others.columns == features.columns
    assert len(model.predict(others.to_numpy())) == frame.height
    assert not np.isnan(features.to_numpy()).any()


def test_names_become_columns_of_zeros_and_ones() -> None:
    release = release_of(people())
    raw, _, _ = release.training_set("ill", seed=1, encode=False)
    features, _, _ = release.training_set("ill", seed=1)
    for name in ("F", "M", "x, y"):
        assert features[f"sex = {name}"].to_list() == [int(value == name) for value in raw["sex"]]
    missing = raw["age"].is_null()
    assert features["age is missing"].to_list() == missing.cast(pl.Int8).to_list()
    there = features["age"].filter(~missing)
    assert there.to_list() == raw["age"].drop_nulls().cast(pl.Float64).to_list()


def test_rows_without_a_class_are_left_out() -> None:
    frame = people().with_columns(ill=pl.when(pl.col("ill") != "gout").then("ill"))
    _, classes, weights = release_of(frame).training_set("ill")
    assert classes.null_count() == 0
    assert len(classes) == len(weights) == frame["ill"].count()


def test_the_kind_of_frame_is_the_one_that_came_in() -> None:
    pandas = pytest.importorskip("pandas")
    frame = people().to_pandas()
    features, classes, _ = release_of(frame).training_set("ill")
    assert isinstance(features, pandas.DataFrame)
    assert isinstance(classes, pandas.Series)
    assert isinstance(release_of(frame).features(frame, target="ill"), pandas.DataFrame)


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_scikit_learn_fits_on_every_kind_of_frame(kind: str, tmp_path: Path) -> None:
    trees = pytest.importorskip("sklearn.tree")
    pytest.importorskip("pandas")
    frame = people(120)
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[kind]
    release = release_of(given)
    features, classes, weights = release.training_set("ill", seed=1)
    assert type(features) is type(given)
    model = trees.DecisionTreeClassifier(max_depth=2).fit(features, classes, weights)
    assert len(model.predict(release.features(given, target="ill"))) == frame.height
    release.save(tmp_path / "out")
    again = ic.open_release(tmp_path / "out")
    theirs, labels, weights = again.training_set("ill", seed=1, frame=kind)
    assert type(theirs) is type(given)
    assert theirs.equals(features)
    assert trees.DecisionTreeClassifier(max_depth=2).fit(theirs, labels, weights).get_depth() == model.get_depth()
    with pytest.raises(QueryError, match="frame"):
        again.training_set("ill", frame="list")


def test_another_table_must_have_the_columns() -> None:
    release = release_of(people())
    with pytest.raises(QueryError, match="'zip'"):
        release.features(people().drop("zip"))
    with pytest.raises(QueryError, match="numbers"):
        release.features(people().with_columns(height=pl.lit("tall")), target="ill")
