"""Find out what the buckets that people match say about their secrets. Arrays are as in `slicing_matches.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from incrowd.kernels.slicing_matches import TINY, match_root

FINE, EXCEEDS, UNDECIDED = 0, 1, 2


@njit(cache=True)
def guess_secrets(
    listed, list_starts, entry_buckets, levels, trie, starts, entries, columns, entry_counts, secret_levels,
    hidden_offsets, hidden_starts, hidden_codes, hidden_counts, hidden_most, most_codes, numerator, denominator,
):  # fmt: skip
    """Return how probable each leaf's likeliest value of each secret is, and whether that exceeds a bound.

    The secret a of the rows behind entry e has the codes `hidden_starts[h]:hidden_starts[h + 1]` of `hidden_codes`,
    h = `e + hidden_offsets[a]`; the most frequent of them is `hidden_most[h]` rows. The bound is `denominator /
    numerator`. Verdicts are `FINE`, `EXCEEDS`, and `UNDECIDED` where rounding leaves it open.
    """
    depth, secrets = len(columns), len(secret_levels)
    leaves = levels[depth] - levels[depth - 1]
    worst = np.zeros((secrets, leaves))
    verdicts = np.zeros((secrets, leaves), dtype=np.uint8)
    sums = np.zeros(most_codes)
    for root in range(levels[1]):
        value = trie[0][root]
        first, leaf_starts, by_leaf, matches, degrees = match_root(
            root, list_starts[value], list_starts[value + 1], listed, entry_buckets, levels, trie, starts, entries,
            columns, secret_levels,
        )  # fmt: skip
        for place in range(len(leaf_starts) - 1):
            low, high = leaf_starts[place], leaf_starts[place + 1]
            least_scaled = np.inf
            for item in range(low, high):
                least_scaled = min(least_scaled, degrees[by_leaf[item], 1])
            for secret in range(secrets):
                whole, likeliest, largest_share, safe = 0.0, 0.0, 0.0, True
                for item in range(low, high):
                    match = by_leaf[item]
                    entry = matches[match, 1 + secret]
                    degree = degrees[match, 0]
                    if degrees[match, 1] > least_scaled:
                        degree *= TINY ** (degrees[match, 1] - least_scaled)
                    whole += degree
                    hidden = entry + hidden_offsets[secret]
                    rows = entry_counts[entry]
                    largest_share = max(largest_share, hidden_most[hidden] / rows)
                    safe = safe and numerator * hidden_most[hidden] <= denominator * rows
                    for code in range(hidden_starts[hidden], hidden_starts[hidden + 1]):
                        sums[hidden_codes[code]] += degree * (hidden_counts[code] / rows)
                        likeliest = max(likeliest, sums[hidden_codes[code]])
                for item in range(low, high):
                    hidden = matches[by_leaf[item], 1 + secret] + hidden_offsets[secret]
                    for code in range(hidden_starts[hidden], hidden_starts[hidden + 1]):
                        sums[hidden_codes[code]] = 0.0
                if high == low:
                    continue
                # A mean of shares is no larger than the largest of them, whatever rounding says.
                worst[secret, first + place] = (
                    largest_share if high == low + 1 else min(likeliest / whole, largest_share)
                )
                if not safe:
                    verdicts[secret, first + place] = _verdict(
                        numerator * likeliest, denominator * whole, high - low, depth
                    )
    return worst, verdicts


@njit(cache=True)
def _verdict(likelihood, bound, matches, depth):
    """Compare two sums of products that were rounded at every step.

    A share is rounded once, a product of `depth` shares and one more `depth` times, a sum once per match, and the last
    product once: each side is off by at most (2 * depth + matches + 3) roundings of half a unit in the last place.
    """
    doubt = (2 * depth + matches + 8) * 2.0**-52
    if likelihood <= bound * (1.0 - doubt):
        return FINE
    if likelihood > bound * (1.0 + doubt):
        return EXCEEDS
    return UNDECIDED
