"""Find out what the buckets that people match say about their secrets. Arrays are as in `slicing_matches.py`."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.slicing_matches import TINY, leaves_of, match_leaves

FINE, EXCEEDS, UNDECIDED = 0, 1, 2


@compiled
def guess_secrets(
    most, listed, levels, trie, starts, entries, columns, secret_levels, hidden_offsets, hidden, most_codes,
    numerator, denominator,
):  # fmt: skip
    """Return how probable each leaf's likeliest value of each secret is, and whether that exceeds a bound.

    `hidden` are `hidden_starts`, `hidden_codes`, `hidden_counts`, `hidden_most` and `hidden_rows`: the rows behind
    entry e have the values `hidden_starts[h]:hidden_starts[h + 1]` of secret a, with h = `e + hidden_offsets[a]`, the
    most frequent of them is `hidden_most[h]` rows, and all of them are `hidden_rows[h]`. The bound is `denominator /
    numerator`. Verdicts are `FINE`, `EXCEEDS`, and `UNDECIDED` where rounding leaves it open. At most about `most`
    matches are held at once.
    """
    secrets, first_leaf = len(secret_levels), levels[-2]
    leaves = levels[-1] - first_leaf
    worst = np.zeros((secrets, leaves))
    verdicts = np.zeros((secrets, leaves), dtype=np.uint8)
    sums = np.zeros(most_codes)
    for root in range(levels[1]):
        leaf, end = leaves_of(root, levels, trie)
        step = end - leaf
        while leaf < end:
            step, leaf_starts, by_leaf, matches, degrees = match_leaves(
                root, leaf, step, most, listed, levels, trie, starts, entries, columns, secret_levels
            )
            for place in range(step):
                mine = by_leaf[leaf_starts[place] : leaf_starts[place + 1]]
                person = leaf - first_leaf + place
                for secret in range(secrets):
                    worst[secret, person], verdicts[secret, person] = _guess(
                        mine, matches, degrees, secret, hidden_offsets[secret], hidden, sums, len(columns),
                        numerator, denominator,
                    )  # fmt: skip
            leaf += step
    return worst, verdicts


@compiled
def _guess(mine, matches, degrees, secret, hidden_offset, hidden, sums, depth, numerator, denominator):
    """Return how probable one person's likeliest value of a secret is, and the verdict; `mine` are the matches."""
    if len(mine) == 0:
        return 0.0, FINE
    hidden_starts, hidden_codes, hidden_counts, hidden_most, hidden_rows = hidden
    least_scaled = np.inf
    for match in mine:
        least_scaled = min(least_scaled, degrees[match, 1])
    whole, likeliest, largest_share, safe = 0.0, 0.0, 0.0, True
    for match in mine:
        degree = degrees[match, 0]
        if degrees[match, 1] > least_scaled:
            degree *= TINY ** (degrees[match, 1] - least_scaled)
        whole += degree
        entry = matches[match, 1 + secret]
        behind = entry + hidden_offset
        rows = hidden_rows[behind]
        largest_share = max(largest_share, hidden_most[behind] / rows)
        safe = safe and numerator * hidden_most[behind] <= denominator * rows
        for code in range(hidden_starts[behind], hidden_starts[behind + 1]):
            sums[hidden_codes[code]] += degree * (hidden_counts[code] / rows)
            likeliest = max(likeliest, sums[hidden_codes[code]])
    for match in mine:
        behind = matches[match, 1 + secret] + hidden_offset
        for code in range(hidden_starts[behind], hidden_starts[behind + 1]):
            sums[hidden_codes[code]] = 0.0
    # A mean of shares is no larger than the largest of them, whatever rounding says.
    worst = min(likeliest / whole, largest_share) if len(mine) > 1 else largest_share
    if safe:
        return worst, FINE
    return worst, _verdict(numerator * likeliest, denominator * whole, len(mine), depth)


@compiled
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
