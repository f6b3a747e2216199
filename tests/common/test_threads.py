"""Threads share the work of loops, and change nothing of what comes out."""

from __future__ import annotations

import time
from functools import partial
from threading import Barrier, Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

import incrowd as ic
from incrowd.attacks.joint_knowledge import calibrated
from incrowd.common.progress import silent
from incrowd.common.threads import VARIABLE, Once, do_together, threads, using
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError
from incrowd.kernels import partition

ROWS = 100_000


@pytest.fixture(scope="module")
def many() -> ic.Table:
    """More distinct rows than one thread is started for."""
    dice = np.random.default_rng(3)
    columns = {name: dice.integers(0, 50 + 30 * place, ROWS) for place, name in enumerate("abc")}
    frame = pl.DataFrame({**columns, "ill": dice.integers(0, 9, ROWS)})
    return ic.read(frame, quasi=["a", "b", "c"], sensitive=["ill"])


@pytest.fixture(scope="module")
def counted(many: ic.Table) -> Tally:
    return many.engine.count(many.schema, None).tally


# Two threads and more than two by turns: methods that are alike in their loops have the one and the other.
@pytest.mark.parametrize(
    ("method", "models", "number"),
    [
        (ic.Mondrian(), [ic.KAnonymity(5)], 2),
        (ic.Mondrian(cuts="relaxed", labels="tight"), [ic.KAnonymity(30), ic.DistinctLDiversity(4)], 5),
        (ic.InfoGainMondrian(target="ill"), [ic.KAnonymity(5)], 5),
        (ic.LocalRecoding(max_distortion=1), [ic.KAnonymity(5)], 2),
        (ic.BottomUpGeneralization(target="ill"), [ic.KAnonymity(5)], 5),
        (ic.TopDownSpecialization(target="ill"), [ic.KAnonymity(5)], 2),
    ],
    ids=["strict", "relaxed", "by gain", "climbing", "bottom-up", "top-down"],
)
def test_any_number_of_threads_finds_the_same(
    many: ic.Table, counted: Tally, method: Any, models: list[Any], number: int
) -> None:
    found = []
    for one in (1, number):
        with using(one):
            chance = np.random.default_rng(1)
            found.append(method.search(counted, many.schema, models, rng=chance, progress=silent))
    alone, other = found
    for name in ("tuples", "counts", "groups", "lows", "highs"):
        assert np.array_equal(getattr(alone, name), getattr(other, name))
    assert len(np.unique(alone.groups)) > 100


@pytest.mark.parametrize("labels", ["region", "hierarchy"])
def test_any_number_of_threads_publishes_the_same(many: ic.Table, labels: Any) -> None:
    """What is done around a search: rows are counted, groups shown and verified, and rows written."""
    method = ic.Mondrian(labels=labels)
    alone, other = (ic.publish(many, ic.KAnonymity(5), method=method, threads=one).to_polars() for one in (1, 3))
    assert other.equals(alone)


def test_more_columns_than_are_read_at_once_give_the_same_with_threads() -> None:
    """Of 18 columns the last alone tells something of the class, and is cut first."""
    dice = np.random.default_rng(5)
    frame = pl.DataFrame({f"c{place:02}": dice.integers(0, 6, 12_000) for place in range(18)})
    frame = frame.with_columns(ill=(pl.col("c17") > 2).cast(pl.Int64))
    table = ic.read(frame, quasi=[name for name in frame.columns if name != "ill"], sensitive=["ill"])
    method = ic.InfoGainMondrian(target="ill")
    alone, *others = (ic.publish(table, ic.KAnonymity(3000), method=method, threads=number) for number in (1, 2, 5))
    assert alone.to_polars()["c17"].n_unique() > 1
    assert all(other.to_polars().equals(alone.to_polars()) for other in others)


def test_slicing_gives_the_same_with_threads(many: ic.Table) -> None:
    method = ic.Slicing(columns=(("a", "b"), ("c", "ill")))  # known parts beside the secret refuse many cuts
    alone, several = (
        ic.publish(many, ic.SlicedDiversity(2), method=method, seed=1, threads=number) for number in (1, 3)
    )
    assert len(alone.form.group_sizes) > 100
    assert several.to_polars().equals(alone.to_polars())


@pytest.mark.parametrize("size", [1, 40_000, 200_000])
@pytest.mark.parametrize("pieces", [1, 3, 50_000])
def test_places_are_sorted_by_piece_as_numpy_sorts_them(size: int, pieces: int) -> None:
    dice = np.random.default_rng(size + pieces)
    order, piece_of = dice.permutation(size), dice.integers(0, pieces, size)
    for number in (1, 4):
        with using(number):
            found, starts = partition.sort_by_piece(order, piece_of, pieces)
        assert np.array_equal(found, order[np.argsort(piece_of, kind="stable")])
        assert np.array_equal(np.diff(starts), np.bincount(piece_of, minlength=pieces))


def test_the_environment_says_how_many_unless_the_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert threads() >= 1
    monkeypatch.setenv(VARIABLE, "3")
    assert threads() == 3
    with using(2):
        assert threads() == 2
        with using(None):
            assert threads() == 2
    assert threads() == 3


@pytest.mark.parametrize("wrong", ["0", "two", "-1", "1.5", "²"])
def test_a_number_of_threads_that_is_none_is_refused(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, wrong)
    with pytest.raises(RecipeError, match="not a whole number above 0"):
        threads()


def test_the_same_for_the_parameter(many: ic.Table) -> None:
    with pytest.raises(RecipeError, match="threads"):
        ic.publish(many, ic.KAnonymity(5), threads=0)


def test_joining_groups_gives_the_same_with_threads() -> None:
    frame = ic.datasets.census(3000, seed=2).select("age", "education", "birth_place", "occupation")
    table = ic.read(frame, quasi=["age", "education", "birth_place"], sensitive=["occupation"])
    method, models = ic.FullDomain(leftovers="recode"), [ic.KAnonymity(3), ic.DistinctLDiversity(3)]
    alone, several = (ic.publish(table, models, method=method, seed=1, threads=number) for number in (1, 4))
    assert several.to_polars().equals(alone.to_polars())


@pytest.mark.usefixtures("unhurried", "few_queries")
@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Anatomy(), ic.Slicing()], ids=lambda method: method.name)
def test_an_audit_is_the_same_with_threads(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incrowd.common.threads.WORTH_THREADS", 0)  # also where there is little to share
    frame = ic.datasets.census(250, seed=2).select("age", "sex", "education", "occupation")
    table = ic.read(frame, quasi=["age", "sex", "education"], sensitive=["occupation"])
    models = {"anatomy": ic.ProbabilisticLDiversity(3), "slicing": ic.SlicedDiversity(3)}
    release = ic.publish(table, models.get(method.name, ic.KAnonymity(5)), method=method, seed=1)
    heard: dict[int, list[Any]] = {1: [], 3: []}
    alone, several = (
        release.audit(
            threads=number,
            learn=method.name == "mondrian",
            remedies=method.name == "mondrian",  # they are audits of the same kinds, of releases made again
            progress=lambda stage, done, number=number: heard[number].append(stage),  # type: ignore[misc]
            finished=lambda risk, number=number: heard[number].append(risk.attack),  # type: ignore[misc]
        )
        for number in heard
    )
    assert several.to_json() == alone.to_json()
    assert [*dict.fromkeys(heard[3])] == [*dict.fromkeys(heard[1])]  # told in the same order, whoever ends first


def test_private_synthesis_is_the_same_with_threads() -> None:
    frame = ic.datasets.census(800, seed=2).select("sex", "education", "occupation")
    trees = {name: ic.Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in frame.columns}
    table = ic.read(frame, quasi=["sex", "education"], sensitive=["occupation"], hierarchies=trees)
    alone, several = (ic.publish(table, method=ic.MarginalSynthesis(1), seed=1, threads=number) for number in (1, 3))
    assert several.to_polars().equals(alone.to_polars())
    assert several.form.measured.errors == alone.form.measured.errors


def test_work_is_returned_in_its_order_and_the_first_failure_is_raised() -> None:
    def fail(number: int) -> int:
        raise ValueError(number)

    told: list[tuple[int, int]] = []
    for number in (1, 4):
        with using(number):
            assert do_together([partial(int, text) for text in "31415926"], lambda *one: told.append(one)) == [
                3, 1, 4, 1, 5, 9, 2, 6,
            ]  # fmt: skip
            with pytest.raises(ValueError, match="7"):
                do_together([partial(int, "1"), partial(fail, 7), partial(fail, 8)])
    assert told == 2 * [*enumerate([3, 1, 4, 1, 5, 9, 2, 6])]


def test_an_interrupt_is_what_is_raised_and_nothing_goes_on_after_it() -> None:
    """Also beside a failure that comes first in the order of work."""
    begun, both_run = list[int](), Barrier(2)

    def work(number: int) -> None:
        begun.append(number)
        both_run.wait()
        time.sleep(0.01 * number)
        raise KeyboardInterrupt if number else ValueError

    with using(2), pytest.raises(KeyboardInterrupt):
        do_together([partial(work, number) for number in range(5)])
    assert sorted(begun) == [0, 1]


def test_threads_that_cannot_be_started_are_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    with using(4):
        assert do_together([partial(int, text) for text in "314"]) == [3, 1, 4]


def test_threads_are_shared_out_to_work_that_could_use_more() -> None:
    with using(6):
        assert do_together([threads, threads]) == [3, 3]
        assert do_together([threads] * 7) == [1] * 7


def test_what_several_threads_need_is_found_once() -> None:
    once, found = Once(), list[int]()

    def work() -> int:
        found.append(1)
        time.sleep(0.01)  # for others to ask meanwhile
        return len(found)

    with using(4):
        assert do_together([partial(once.get, "number", work)] * 4) == [1] * 4


def test_an_audit_refuses_a_number_of_threads_that_is_none(many: ic.Table) -> None:
    release = ic.publish(many, ic.KAnonymity(50), threads=1)
    with pytest.raises(RecipeError, match="threads"):
        release.audit(threads=0)


def test_beliefs_are_the_same_however_many_cores_multiply_matrices() -> None:
    """NumPy's products have threads of their own, as many as there are cores: their sums have other last digits."""
    rng = np.random.default_rng(3)
    known = rng.random((200_000, 14))
    known /= known.sum(axis=1, keepdims=True)
    people = rng.integers(1, 9, len(known))
    found = []
    for number in (1, 2):
        with threadpool_limits(number, user_api="blas"):
            found.append(calibrated(known, people, np.full(14, 1 / 14)))
    assert np.array_equal(*found)
