"""Dealing a bucket out to smaller ones: what each of them holds, and which buckets are left alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from incrowd.forms.slices.slices import Buckets, Secret, Slices
from incrowd.methods.slicing_parts.bucket_dealing import deal

Tuple = tuple[int, int, int]
"""A known part in a column of its own, the known part beside the secret, and the secret."""


def table(tuples: list[Tuple], counts: list[int] | None = None) -> Slices:
    other, beside, secret = np.array(tuples, dtype=np.int32).T
    known = np.stack([other, beside], axis=1)
    return Slices(known, (Secret(1, secret),), np.array(counts or [1] * len(tuples), dtype=np.int64))


def one_bucket(slices: Slices) -> Buckets:
    rows = np.arange(len(slices.counts))
    return Buckets(rows, slices.counts, np.zeros_like(rows))


def dealt(slices: Slices, *, each: int, least: int, buckets: Buckets | None = None, seed: int = 0) -> Buckets:
    buckets = one_bucket(slices) if buckets is None else buckets
    return deal(np.random.default_rng(seed), slices, buckets, each=each, min_bucket_size=least)


def contents(slices: Slices, buckets: Buckets) -> list[Counter[tuple[int, int]]]:
    """Return the rows with each known part and secret, bucket by bucket."""
    (secret,) = slices.secrets
    found: list[Counter[tuple[int, int]]] = [Counter() for _ in range(len(buckets))]
    for place, count, bucket in zip(buckets.tuples, buckets.counts, buckets.bucket_of, strict=True):
        found[bucket][int(slices.known[place, 1]), int(secret.codes[place])] += int(count)
    return found


TWO_PARTS = [(row, part, secret) for row, (part, secret) in enumerate((p, s) for p in (0, 1) for s in [*range(5)] * 2)]


def test_known_parts_are_dealt_out_each_by_itself() -> None:
    slices = table(TWO_PARTS)
    found = contents(slices, dealt(slices, each=5, least=5))
    assert len(found) == 4
    for bucket in found:
        assert len({part for part, _ in bucket}) == 1
        assert sorted(secret for _, secret in bucket) == [0, 1, 2, 3, 4]
        assert set(bucket.values()) == {1}


@pytest.mark.parametrize(("least", "sizes"), [(6, [10, 10]), (10, [10, 10]), (11, [20]), (3, [5] * 4)])
def test_groups_are_joined_to_buckets_of_the_size_asked_for(least: int, sizes: list[int]) -> None:
    slices = table(TWO_PARTS)
    assert dealt(slices, each=5, least=least).sizes.tolist() == sizes


def test_a_part_that_is_not_diverse_keeps_its_bucket_whole() -> None:
    slices = table([*TWO_PARTS, (99, 2, 0), (98, 2, 1)])
    assert dealt(slices, each=5, least=5).sizes.tolist() == [22]


def test_rows_that_look_alike_keep_their_bucket_whole() -> None:
    slices = table([(0, 0, secret) for secret in range(10)], counts=[3] * 10)
    assert dealt(slices, each=5, least=5).sizes.tolist() == [30]


def test_parts_of_a_tuple_may_go_to_different_buckets() -> None:
    slices = table([(row, 0, row) for row in range(5)], counts=[4] * 5)
    found = dealt(slices, each=5, least=5)
    assert found.sizes.tolist() == [5] * 4
    assert np.bincount(found.tuples, weights=found.counts).tolist() == [4] * 5


def test_buckets_that_are_left_alone_stay_as_they_are() -> None:
    """Three buckets: one of five rows, one of ten that can be dealt out, one of three."""
    slices = table([(row, 0, row % 5) for row in range(18)])
    before = np.repeat([0, 1, 2], [5, 10, 3])
    found = dealt(slices, each=5, least=5, buckets=Buckets(np.arange(18), slices.counts, before))
    assert sorted(found.sizes.tolist()) == [3, 5, 5, 5]
    together = {frozenset(found.tuples[found.bucket_of == bucket].tolist()) for bucket in range(4)}
    assert {frozenset(range(5)), frozenset(range(15, 18))} < together
    assert set().union(*together) == set(range(18))


def test_no_secret_or_several_are_left_alone() -> None:
    slices = table(TWO_PARTS)
    (secret,) = slices.secrets
    for secrets in ((), (secret, secret)):
        same = Slices(slices.known, secrets, slices.counts)
        assert dealt(same, each=5, least=5).sizes.tolist() == [20]


def test_nobody() -> None:
    slices = table([(0, 0, 0)])
    nothing = np.empty(0, dtype=np.int64)
    assert len(dealt(slices, each=2, least=2, buckets=Buckets(nothing, nothing, nothing))) == 0


def test_chance_decides_which_rows_go_where() -> None:
    slices = table(TWO_PARTS)
    first, again, other = (dealt(slices, each=5, least=5, seed=seed).tuples.tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_no_row_is_likelier_to_be_with_another() -> None:
    """Two rows of each of five secrets: the first row of secret 0 meets either row of secret 1 in half of all deals."""
    slices = table([(row, 0, row % 5) for row in range(10)])
    met = 0
    for seed in range(1000):
        found = dealt(slices, each=5, least=5, seed=seed)
        bucket = dict(zip(found.tuples.tolist(), found.bucket_of.tolist(), strict=True))
        met += bucket[0] == bucket[1]
    assert abs(met - 500) < 5 * np.sqrt(250)
