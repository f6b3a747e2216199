"""Cut a table into ever smaller buckets while every bucket stays diverse by itself.

A bucket is a slice of `order`, which lists tuples. It is diverse if, among its rows with the same known part in a
secret's column, no value of the secret is more frequent than 1/ℓ. Whole numbers throughout.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.old_partition import _count_codes


@compiled
def _count_sides(order, first, last, weights, side_of, knowns, pairs, of_known, of_pair, sign):
    """Add a bucket's rows to the tallies of known parts and of (known part, value) pairs, one tally per side."""
    for place in range(first, last):
        item = order[place]
        side = side_of[place]
        for secret in range(len(knowns)):
            of_known[secret, side, knowns[secret, item]] += sign * weights[secret, item]
            of_pair[secret, side, pairs[secret, item]] += sign * weights[secret, item]


@compiled
def _sides_are_diverse(
    order, first, last, weights, side_of, knowns, pairs, of_known, of_pair, numerator, denominator
):  # fmt: skip
    _count_sides(order, first, last, weights, side_of, knowns, pairs, of_known, of_pair, 1)
    diverse = True
    for place in range(first, last):
        item = order[place]
        side = side_of[place]
        for secret in range(len(knowns)):
            with_value = of_pair[secret, side, pairs[secret, item]]
            of_all = of_known[secret, side, knowns[secret, item]]
            # Where no value is recorded, there is one at most.
            if numerator * with_value > denominator * of_all or (of_all == 0 and numerator > denominator):
                diverse = False
        if not diverse:
            break
    _count_sides(order, first, last, weights, side_of, knowns, pairs, of_known, of_pair, -1)
    return diverse


@compiled
def _rank_cuts(
    codes, itself, counts, order, first, last, total, positions, offsets, spans, sizes, scratch, found, found_counts,
    widths, distances, cuts, ranked,
):  # fmt: skip
    """Find the cut nearest to the median in every attribute that varies, and rank them; return how many there are.

    The widest attribute comes first; of equally wide ones the one that is cut most evenly, then the first.
    """
    many = 0
    for attribute in range(codes.shape[1]):
        low = high = codes[order[first], attribute]
        for place in range(first + 1, last):
            code = codes[order[place], attribute]
            low, high = min(low, code), max(high, code)
        if low == high:
            continue
        if low == 0:
            widths[attribute] = 1.0  # missing values beside others
        elif spans[attribute] > 0:
            base = offsets[attribute]
            widths[attribute] = (positions[base + high] - positions[base + low]) / spans[attribute]
        else:
            widths[attribute] = (high - low) / max(sizes[attribute] - 2, 1)
        kinds = _count_codes(
            codes, itself, counts, order, first, last, attribute, low, high, scratch, found, found_counts
        )
        left, best = np.int64(0), np.int64(-1)
        for kind in range(1, kinds):
            left += found_counts[kind - 1]
            distance = abs(2 * left - total)
            if best < 0 or distance < best:
                best = distance
                cuts[attribute] = found[kind]
        distances[attribute] = best
        place = many
        while place > 0:
            other = ranked[place - 1]
            wider = widths[attribute] > widths[other]
            as_wide = widths[attribute] == widths[other]
            if not (wider or (as_wide and distances[attribute] < distances[other])):
                break
            ranked[place] = other
            place -= 1
        ranked[place] = attribute
        many += 1
    return many


@compiled
def cut_buckets(
    codes, counts, positions, offsets, spans, sizes, knowns, pairs, weights, known_number, pair_number, least,
    numerator, denominator,
):  # fmt: skip
    """Cut until no cut leaves two diverse buckets of at least `least` rows.

    `weights[a, i]` are the rows of tuple i whose value of secret a counts: all of them, or none if it is missing.
    Return the tuples bucket by bucket, and where the buckets start.
    """
    tuples, attributes = codes.shape
    order = np.arange(tuples)
    itself = np.arange(tuples)
    widest = 0
    for attribute in range(attributes):
        widest = max(widest, sizes[attribute])
    scratch = np.zeros(widest + 1, dtype=np.int64)
    found = np.empty(min(tuples, widest) + 1, dtype=np.int64)
    found_counts = np.empty(min(tuples, widest) + 1, dtype=np.int64)
    widths = np.empty(attributes)
    distances = np.empty(attributes, dtype=np.int64)
    cuts = np.empty(attributes, dtype=np.int64)
    ranked = np.empty(attributes, dtype=np.int64)
    of_known = np.zeros((len(knowns), 2, known_number), dtype=np.int64)
    of_pair = np.zeros((len(knowns), 2, pair_number), dtype=np.int64)
    side_of = np.empty(tuples, dtype=np.uint8)
    moved = np.empty(tuples, dtype=np.int64)
    waiting = np.empty(tuples + 1, dtype=np.int64)
    starts = np.empty(tuples + 1, dtype=np.int64)
    waiting[0], many_waiting, first, buckets = tuples, 1, 0, 0
    while many_waiting:
        last = waiting[many_waiting - 1]
        total = np.int64(0)
        for place in range(first, last):
            total += counts[order[place]]
        accepted = -1
        if total >= 2 * least:
            many = _rank_cuts(
                codes, itself, counts, order, first, last, total, positions, offsets, spans, sizes, scratch, found,
                found_counts, widths, distances, cuts, ranked,
            )  # fmt: skip
            for rank in range(many):
                attribute = ranked[rank]
                if total - distances[attribute] < 2 * least:
                    continue
                for place in range(first, last):
                    side_of[place] = codes[order[place], attribute] >= cuts[attribute]
                if _sides_are_diverse(
                    order, first, last, weights, side_of, knowns, pairs, of_known, of_pair, numerator, denominator
                ):
                    accepted = attribute
                    break
        if accepted < 0:
            starts[buckets] = first
            buckets += 1
            first = last
            many_waiting -= 1
            continue
        left, right = first, 0
        for place in range(first, last):
            item = order[place]
            if side_of[place]:
                moved[right] = item
                right += 1
            else:
                order[left] = item
                left += 1
        for place in range(right):
            order[left + place] = moved[place]
        waiting[many_waiting] = left
        many_waiting += 1
    starts[buckets] = tuples
    return order, starts[: buckets + 1].copy()
