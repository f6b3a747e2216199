"""Accuracies are on people who were not learnt from, and the headline is about what there is to learn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.learnt import best_of_each, headline
from incrowd.auditing.usefulness import learning
from incrowd.common.progress import silent
from incrowd.core.form import Form
from incrowd.core.tally import Tally
from incrowd.metrics.learning import stratified_folds

pytestmark = pytest.mark.usefixtures("few_queries")


def strangers(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    """Return people who are all different, with a value that is chance: to get it right is to know it by heart."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "number": rng.permutation(rows),
            "town": rng.choice(["a", "b", "c"], rows),
            "ill": rng.choice(["flu", "gout", "cold"], rows),
        }
    )


@cache
def forms() -> dict[str, Form]:
    table = ic.read(strangers(), quasi=["number", "town"], sensitive=["ill"])
    made = {
        "identity": ic.publish(table, ic.BucketSize(1), method=ic.Mondrian(labels="tight"), seed=1),
        "small groups": ic.publish(table, ic.KAnonymity(2), seed=1),
        "overlapping labels": ic.publish(table, ic.KAnonymity(2), method=ic.LocalRecoding(), seed=1),
        "buckets": ic.publish(table, ic.LDiversity(2), method=ic.Anatomy(), seed=1),
        "slices": ic.publish(table, ic.BucketSize(2), form=ic.ShowSlices(columns=(("number", "ill"),)), seed=1),
    }
    return {name: release.form.canonical(release.form.tally) for name, release in made.items()}


def by_heart(taught: Form, tested: Tally) -> float:
    """Return how often a reader is right who looks people up by their number in rows that are made of a release."""
    codes, _ = taught.reconstruct(np.random.default_rng(0))
    told = dict(zip(codes["number"].tolist(), codes["ill"].tolist(), strict=True))
    right = [told.get(who) == what for who, what in zip(tested.column("number"), tested.column("ill"), strict=True)]
    return sum(right) / len(right)


@pytest.mark.parametrize("name", ["identity", "small groups", "overlapping labels", "buckets", "slices"])
def test_nobody_is_tested_who_was_learnt_by_heart(name: str) -> None:
    form = forms()[name]
    _, tested = next(stratified_folds(form.tally, "ill", 3, np.random.default_rng(1)))
    left = form.without(tested)
    assert left is not None
    assert len(left.reconstruct(np.random.default_rng(0))[1]) == form.rows - tested.rows
    assert by_heart(left, tested) < 0.5
    if name in ("identity", "slices"):  # the planted fault: without taking them out, nearly all are right
        assert by_heart(form, tested) > 0.9
        assert by_heart(left, tested) < 0.05


def test_the_rows_of_people_are_taken_out_of_their_own_lines() -> None:
    form = forms()["small groups"]
    _, tested = next(stratified_folds(form.tally, "ill", 3, np.random.default_rng(1)))
    assert form.labelled is not None
    left = form.without(tested)
    assert left is not None
    assert left.labelled is not None
    gone: dict[tuple[int, int], int] = {}
    for line, (before, after) in enumerate(zip(form.labelled.counts, left.labelled.counts, strict=True)):
        key = int(form.labelled.groups[line]), int(form.labelled.sensitive[line, 0])
        gone[key] = gone.get(key, 0) + int(before - after)
    regions = form.labelled.group_regions()
    places = [regions.columns.index(name) for name in ("number", "town")]
    for who in range(len(tested)):
        person = np.array([tested.column(name)[who] for name in ("number", "town")])
        inside = (regions.lows[:, places] <= person) & (person < regions.highs[:, places])
        (group,) = np.flatnonzero(inside.all(axis=1)).tolist()
        gone[group, int(tested.column("ill")[who])] -= int(tested.counts[who])
    assert set(gone.values()) == {0}


def test_a_release_that_tells_everything_teaches_what_the_table_does() -> None:
    form = forms()["identity"]
    for line in learning(form.tally, form, np.random.default_rng(2), silent):
        assert line["held out"] is True
        assert line["accuracy"] == pytest.approx(line["accuracy on raw data"])
        assert line["accuracy"] < 0.5
        assert line["people tested"] == pytest.approx(400 / 3, abs=1)


def test_noisy_counts_say_that_nobody_was_held_out() -> None:
    declared = {
        "town": ic.Categories.from_tree({"any": ["a", "b", "c"]}),
        "ill": ic.Categories.from_tree({"any": ["flu", "gout", "cold"]}),
    }
    table = ic.read(strangers(), quasi=["town"], sensitive=["ill"], hierarchies=declared, drop=["number"])
    release = ic.publish(table, method=ic.DiffGen(5.0), seed=1)
    audit = release.audit(remedies=False, original=strangers())
    assert {line["held out"] for line in audit.usefulness["learning"]} == {False}
    assert "were counted in the release" in audit.to_html()


def line(target: str, accuracy: float, raw: float, majority: float, **more: Any) -> dict[str, Any]:
    found = {"target": target, "classifier": "decision tree", "accuracy": accuracy, "accuracy on raw data": raw}
    return {**found, "majority": majority, "people tested": 2000, "held out": True, **more}


def test_the_headline_is_not_what_the_majority_tells() -> None:
    rare, pay = line("rare", 0.99, 0.99, 0.99), line("pay", 0.70, 0.80, 0.60)
    found = headline([rare, pay])
    assert found is not None
    assert (found.target, found.taught) == ("pay", True)
    assert headline([rare]) is None
    assert headline([]) is None
    useless = headline([line("pay", 0.60, 0.80, 0.60)])
    assert useless is not None
    assert not useless.taught
    assert headline([line("pay", 0.60, 0.64, 0.60, **{"people tested": 50})]) is None  # chance alone
    best = best_of_each([line("pay", 0.7, 0.75, 0.6), line("pay", 0.65, 0.8, 0.6, classifier="naive Bayes")])
    assert (best[0].accuracy, best[0].on_raw_data, best[0].classifier) == (0.7, 0.8, "decision tree")


def test_the_verdict_says_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, 900)
    frame = pl.DataFrame(
        {
            "age": age,
            "town": rng.choice(["a", "b"], 900),
            "rare": np.where(rng.random(900) < 0.03, "yes", "no"),
            "pay": np.where(rng.random(900) < 0.9, np.where(age > 50, "much", "little"), "some"),
        }
    )
    table = ic.read(frame, quasi=["age", "town"], sensitive=["rare", "pay"])
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    (said,) = [text for text in release.audit(remedies=False).verdict["good for"] if "predicted" in text]
    assert said.startswith("pay is predicted right")
    table = ic.read(frame, quasi=["age", "town"], sensitive=["rare"], drop=["pay"])
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    (said,) = [text for text in release.audit(remedies=False).verdict["good for"] if "raw" in text]
    assert "not even the raw table" in said
