"""Sliced tables as a reader sees them, row by row and pair by pair, with fractions: slow, and hard to get wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]


def by_bucket(published: Sequence[Row], bucket: str = "bucket") -> list[list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in published:
        found.setdefault(row[bucket], []).append(row)
    return list(found.values())


def worst_guess(
    published: Sequence[Row], original: Sequence[Row], columns: Sequence[Sequence[str]], sensitive: str
) -> Fraction:
    """Return the largest p(t,s) over the original tuples, from the published rows alone."""
    buckets = by_bucket(published)
    worst = Fraction(0)
    for person in {tuple(sorted((k, v) for k, v in row.items() if k != sensitive)) for row in original}:
        known = dict(person)
        total, guesses = Fraction(0), Counter[Any]()
        for bucket in buckets:
            degree, values = Fraction(1), Counter[Any]()
            for column in columns:
                fits = [row for row in bucket if all(row[name] == known[name] for name in column if name != sensitive)]
                degree *= Fraction(len(fits), len(bucket))
                if not fits:  # this bucket is not the person's: whatever the other columns hold counts for nothing
                    break
                if sensitive in column:
                    values = Counter(row[sensitive] for row in fits)
            total += degree
            for value, count in values.items() if degree else ():
                guesses[value] += degree * Fraction(count, sum(values.values()))
        if total:  # somebody who is withheld may match no bucket
            worst = max([worst, *(share / total for share in guesses.values())])
    return worst


def estimate(published: Sequence[Row], columns: Sequence[Sequence[str]], wanted: Mapping[str, set[Any]]) -> float:
    """Return how many rows have the wanted values: in each bucket, the product of the columns' shares."""
    answer = 0.0
    for bucket in by_bucket(published):
        share = 1.0
        for column in columns:
            asked = [name for name in column if name in wanted]
            share *= sum(all(row[name] in wanted[name] for name in asked) for row in bucket) / len(bucket)
        answer += share * len(bucket)
    return answer
