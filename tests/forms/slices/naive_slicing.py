"""ℓ-diverse slicing once more, in plain Python over rows and fractions: the oracle for the compiled code.

A row is a dict of attributes; a bucket a list of rows; a column a tuple of attributes. Every row is held against
every row of every bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod

Row = Mapping[str, int]
Columns = Sequence[Sequence[str]]


def known_part(row: Row, column: Sequence[str], sensitive: Sequence[str]) -> tuple[int, ...]:
    return tuple(row[name] for name in column if name not in sensitive)


def matching_degree(row: Row, bucket: Sequence[Row], columns: Columns, sensitive: Sequence[str]) -> Fraction:
    """f(t,B)."""
    shares = []
    for column in columns:
        mine = known_part(row, column, sensitive)
        same = sum(known_part(other, column, sensitive) == mine for other in bucket)
        if not same:
            return Fraction(0)
        shares.append(Fraction(same, len(bucket)))
    return prod(shares, start=Fraction(1))


def candidates(
    row: Row, bucket: Sequence[Row], column: Sequence[str], sensitive: Sequence[str], secret: str
) -> dict[int, Fraction]:
    """D(t,B)."""
    mine = known_part(row, column, sensitive)
    values = Counter(other[secret] for other in bucket if known_part(other, column, sensitive) == mine)
    return {value: Fraction(count, values.total()) for value, count in values.items()}


def probabilities(
    row: Row, buckets: Sequence[Sequence[Row]], columns: Columns, sensitive: Sequence[str], secret: str
) -> dict[int, Fraction]:
    """p(t,s) for every s; empty for a row that matches no bucket."""
    (column,) = [column for column in columns if secret in column]
    degrees = [matching_degree(row, bucket, columns, sensitive) for bucket in buckets]
    found, total = dict[int, Fraction](), sum(degrees)
    for degree, bucket in zip(degrees, buckets, strict=True):
        if degree:
            for value, share in candidates(row, bucket, column, sensitive, secret).items():
                found[value] = found.get(value, Fraction(0)) + degree / total * share
    return found


def largest_probability(
    row: Row, buckets: Sequence[Sequence[Row]], columns: Columns, sensitive: Sequence[str], secret: str
) -> Fraction:
    return max(probabilities(row, buckets, columns, sensitive, secret).values(), default=Fraction(0))


def matching(row: Row, buckets: Sequence[Sequence[Row]], columns: Columns, sensitive: Sequence[str]) -> int:
    """The number of buckets that a row matches."""
    return sum(matching_degree(row, bucket, columns, sensitive) > 0 for bucket in buckets)
