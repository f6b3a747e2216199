"""ℓ-diverse slicing: how surely a person's sensitive value can be guessed from a sliced table (Li, Li, Zhang &
Molloy, "Slicing: A New Approach for Privacy Preserving Data Publishing", TKDE 2012).

A tuple t matches bucket B to the degree f(t,B), the product over columns of the share of B's rows that have t's value
there; in a column with sensitive attributes only the rest of the value is matched. The probability that t is in B is
p(t,B) = f(t,B) / Σ f(t,B'), and the sensitive value is then distributed as D(t,B), among the rows of B that have t's
known part in the sensitive column. The table is ℓ-diverse if p(t,s) = Σ p(t,B) · D(t,B)[s] is at most 1/ℓ for every t
and s. Each of several sensitive attributes is judged by itself.

Cost: building the index is a few passes over the table; then one step for each partial match of a distinct tuple and
a bucket. Verdicts are exact: p(t,s) is a mean of shares, so it is fine where no share exceeds 1/ℓ, which whole numbers
decide; sums of floats decide where they are clear of their own rounding; the rest is added up as fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.forms.slices.exact_shares import exact_probabilities
from incrowd.forms.slices.matching import MOST_MATCHES, BucketIndex, Trie, search_arguments
from incrowd.forms.slices.slices import Buckets, Slices, with_secrets
from incrowd.kernels import slicing


@dataclass(frozen=True, eq=False)
class Guesses:
    """What an adversary can do who knows all but the secrets of a person.

    `person_of[i]` is the person of tuple i: tuples that differ in secrets only are one. `probability[a, j]` is the
    largest p(t,s) of person j for secret a, and `exceeds[a, j]` whether it is above 1/ℓ.
    """

    person_of: Ints
    probability: Floats
    exceeds: NDArray[np.bool_]

    @property
    def worst(self) -> float:
        """The largest p(t,s) of all; 0 for a table without rows or secrets."""
        return float(self.probability.max(initial=0.0))

    @property
    def diverse(self) -> bool:
        """Whether no p(t,s) is above 1/ℓ."""
        return not self.exceeds.any()


def guess(slices: Slices, buckets: Buckets, l: float | Fraction = 1, *, most_matches: int = MOST_MATCHES) -> Guesses:
    """Return how surely every tuple's secrets can be guessed, and where that exceeds 1/l.

    `most_matches` bounds the memory that this takes, and changes nothing else.
    """
    bound = as_bound(l, int(slices.counts.sum()))
    index = BucketIndex(slices, buckets)
    trie = Trie(index, slices.known)
    hidden = [index.hidden(secret) for secret in slices.secrets]
    if not hidden or not len(trie):
        nothing = np.zeros((len(hidden), len(trie)))
        return Guesses(trie.leaf_of, nothing, nothing > 0)
    most = [np.append(np.maximum.reduceat(counts, starts[:-1]), 0) for starts, _, counts in hidden]
    rows = [np.append(np.add.reduceat(counts, starts[:-1]), 0) for starts, _, counts in hidden]
    code_bases = np.cumsum([0, *(len(codes) for _, codes, _ in hidden)])
    start_bases = np.cumsum([0, *(len(starts) for starts, _, _ in hidden)])
    columns = np.array([secret.column for secret in slices.secrets])
    behind = (
        np.concatenate([starts + base for (starts, _, _), base in zip(hidden, code_bases, strict=False)]),
        np.concatenate([codes for _, codes, _ in hidden]),
        np.concatenate([counts for _, _, counts in hidden]),
        np.concatenate(most),
        np.concatenate(rows),
    )
    arguments = (
        *search_arguments(index, trie, most_matches),
        np.argsort(index.search_order)[columns],
        start_bases[:-1] - index.bases[columns],
        behind,
        max(int(codes.max(initial=-1)) + 1 for _, codes, _ in hidden),
        bound.numerator,
        bound.denominator,
    )
    probability, verdicts = slicing.guess_secrets(*arguments)
    exceeds = verdicts == slicing.EXCEEDS
    some_tuple = np.empty(len(trie), dtype=np.int64)
    some_tuple[trie.leaf_of] = np.arange(len(trie.leaf_of))
    for secret in range(len(hidden)):
        undecided = np.flatnonzero(verdicts[secret] == slicing.UNDECIDED)
        known = slices.known[some_tuple[undecided]]
        exact = exact_probabilities(index, known, int(columns[secret]), hidden[secret])
        exceeds[secret, undecided] = [share * bound > 1 for share in exact]
    return Guesses(trie.leaf_of, probability, exceeds)


def is_diverse(slices: Slices, buckets: Buckets, l: float | Fraction) -> bool:
    """Whether no p(t,s) is above 1/l: the verdict alone, at once where every bucket is diverse by itself.

    p(t,s) is a mean of shares among the rows of a bucket that have the same known part. Where none of these shares is
    above 1/l, there is no need to look for matches, of which there may be very many.
    """
    if not slices.secrets:
        return True
    bound = as_bound(l, int(slices.counts.sum()))
    sensitive = with_secrets(slices)
    parts = [partial(_each_is_diverse, sensitive, buckets, bound, *reach) for reach in buckets.ranges()]
    return all(do_together(parts, steps=len(buckets.tuples))) or guess(slices, buckets, bound).diverse


def _each_is_diverse(slices: Slices, buckets: Buckets, bound: Fraction, first: int, last: int) -> bool:
    index = BucketIndex(slices, buckets.between(first, last))
    for secret in slices.secrets:
        starts, _, counts = index.hidden(secret)
        most, rows = (add.reduceat(counts, starts[:-1]) if len(counts) else counts for add in (np.maximum, np.add))
        if (bound.numerator * most > bound.denominator * rows).any():
            return False
    return True


def as_bound(l: float | Fraction, rows: int) -> Fraction:
    """Return l as the number that was written: 2.2 is eleven fifths, not the binary fraction next to it.

    One with so many digits that products with numbers of rows would not fit a machine word is rounded up.
    """
    bound = l if isinstance(l, Fraction) else Fraction(str(l))
    if max(bound.numerator, bound.denominator) * max(rows, 1) >= 2**62:
        bound = Fraction(math.ceil(bound * 1000), 1000)
    return bound
