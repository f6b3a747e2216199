"""Beliefs of somebody who knows more than the release: the worked example, and the definition."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.attacks.plausibility import Plausibility
from incrowd.attacks.reweighing import reweigh
from incrowd.core.groups import Histogram
from incrowd.core.view import Crowds, Matches, normalized
from incrowd.models.bayes_optimal import posterior
from incrowd.testing.naive import _histogram


def test_the_lectures_example_has_its_numbers() -> None:
    """Don is in a class with Sue; it shows Cold and HIV, and Flu is out."""
    known = np.array([[0.4, 0.04, 0.56], [1 / 3, 1 / 3, 1 / 3]])
    crowds = Crowds(np.array([2]), Histogram(np.array([0, 2]), np.array([0, 2], dtype=np.int32), np.array([1, 1])))
    matches = Matches(np.array([0, 1, 2]), np.array([0, 0]), np.ones(2))
    don, _ = reweigh(matches, crowds, known, np.array([1, 1]))
    assert don.tolist() == pytest.approx([0.46, 0, 0.54], abs=0.009)  # the slide cuts digits off
    assert don[0] / don[2] == pytest.approx(0.4 / (0.4 + 1 / 3) / (0.56 / (0.56 + 1 / 3)))


@given(seed=st.integers(0, 2**16))
@settings(max_examples=10)
def test_in_groups_that_do_not_overlap_it_is_the_posterior(seed: int) -> None:
    dice = Random(seed)
    people, values, classes = dice.randint(1, 12), dice.randint(1, 5), dice.randint(1, 4)
    class_of = np.array([dice.randrange(classes) for _ in range(people)])
    known = np.random.default_rng(seed).dirichlet(np.ones(values), people)
    weights = np.array([dice.randint(1, 4) for _ in range(people)])
    members = [
        [
            dice.randrange(values)
            for person in range(people)
            if class_of[person] == group
            for _ in range(weights[person])
        ]
        for group in range(classes)
    ]
    counts = np.array([np.bincount(np.array(codes, dtype=int), minlength=values) for codes in members], dtype=float)
    crowds = Crowds(counts.sum(axis=1).astype(np.int64), _histogram(members))
    matches = Matches(np.arange(people + 1), class_of, np.ones(people))
    expected = posterior(known, class_of, counts, weights.astype(float))
    assert np.allclose(reweigh(matches, crowds, known, weights), expected)


@given(seed=st.integers(0, 2**16))
@settings(max_examples=10)
def test_where_groups_overlap_it_is_the_mean_over_groups(seed: int) -> None:
    dice = Random(seed)
    people, values, classes = dice.randint(1, 8), dice.randint(1, 4), dice.randint(1, 4)
    members = [[dice.randrange(values) for _ in range(dice.randint(1, 5))] for _ in range(classes)]
    sizes = np.array([len(codes) for codes in members])
    fits = [[group for group in range(classes) if dice.random() < 0.6] for _ in range(people)]
    number = np.array([dice.randint(1, 3) for _ in range(people)])
    offsets = np.cumsum([0, *(len(groups) for groups in fits)])
    held = np.array([group for groups in fits for group in groups], dtype=np.int64)
    matches = normalized(offsets, held, sizes[held])
    known = np.random.default_rng(seed).dirichlet(np.ones(values), people)
    found = reweigh(matches, Crowds(sizes, _histogram(members)), known, number)

    def weight(person: int, group: int) -> float:
        return float(sizes[group] / sum(sizes[other] for other in fits[person]))

    def expected(group: int, value: int) -> float:
        inside = [(person, weight(person, group) * number[person]) for person in range(people) if group in fits[person]]
        return float(sum(share * known[person, value] for person, share in inside) / sum(share for _, share in inside))

    for person in range(people):
        belief = np.zeros(values)
        for group in fits[person]:
            odds = np.array(
                [
                    members[group].count(value) / len(members[group]) * known[person, value] / expected(group, value)
                    for value in range(values)
                ]
            )
            belief += weight(person, group) * odds / odds.sum()
        assert np.allclose(found[person], belief if fits[person] else known[person])


def test_where_release_and_knowledge_contradict_each_other_belief_stays() -> None:
    known = np.array([[1.0, 0.0], [0.5, 0.5]])
    crowds = Crowds(np.array([2]), _histogram([[1, 1]]))
    found = reweigh(Matches(np.array([0, 1, 2]), np.array([0, 0]), np.ones(2)), crowds, known, np.array([1, 1]))
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_matches_of_no_weight_are_left_out() -> None:
    found = normalized(np.array([0, 2, 3, 3]), np.array([0, 1, 0]), np.array([3, 1, 0]))
    assert found.offsets.tolist() == [0, 2, 2, 2]
    assert found.weights.tolist() == [0.75, 0.25]
    assert found.matched.tolist() == [True, False, False]
    assert found.total(np.array([4, 8])).tolist() == [12, 0, 0]


def test_plausibility_is_a_probability_and_knows_pairs() -> None:
    from tests.attacks.attacking import count, read

    table = read(
        {"a": [1, 1, 2, 2] * 50, "b": ["x", "x", "y", "y"] * 50, "c": ["p", "q", "p", "q"] * 50}, ["a", "b", "c"]
    )
    tally = count(table)
    sizes = [tally.trees[name].size for name in tally.columns]
    learnt = Plausibility.of(np.repeat(tally.codes, tally.counts, axis=0), sizes)
    everybody = np.array(np.meshgrid(*[range(size) for size in sizes])).reshape(3, -1).T
    assert np.exp(learnt.scores(everybody.astype(np.int32))).sum() == pytest.approx(1)
    usual, odd = learnt.scores(np.array([[1, 1, 1], [1, 2, 1]], dtype=np.int32))
    assert usual > odd + 3
