"""What an audit tells of groups: how large they are, how easily people are found, how one-sided the worst are."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.attacks.linkage import ways_to_pick
from incrowd.auditing.suppression import FEW
from incrowd.common.plain import size_distribution
from incrowd.core.target import Target

_BOUNDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.34, 0.51, 1.0)
_WORST = 5


def group_sizes(target: Target) -> dict[str, Any]:
    """Return how many groups there are of each size."""
    sizes = np.sort(target.form.group_sizes)
    return {
        "number": len(sizes),
        "smallest": int(sizes[0]) if len(sizes) else 0,
        "median": float(np.median(sizes)) if len(sizes) else 0.0,
        "largest": int(sizes[-1]) if len(sizes) else 0,
        "by size": size_distribution(sizes),
    }


def risk_by_record(target: Target) -> list[dict[str, Any]]:
    """Return the share of people whose row is found with each chance; chances of very few people are joined."""
    ways = [way for one in (target, target.whole) if one is not None for way in ways_to_pick(one)]
    best = max(ways, key=lambda way: way.rate)
    chances, people = best.chances, best.people
    place = np.searchsorted(np.array(_BOUNDS), chances, side="left")
    counts = np.bincount(place, weights=people, minlength=len(_BOUNDS))
    total = float(people.sum())
    if total < FEW:
        return []
    return [
        {"chance": _chance(low, high), "above": low, "up to": high, "share": float(count / total)}
        for low, high, count in _joined([0.0, *_BOUNDS[:-1]], list(_BOUNDS), counts.tolist())
    ]


def _joined(lows: list[float], highs: list[float], counts: list[float]) -> list[tuple[float, float, float]]:
    """Join ranges of fewer than a handful of people with the next lower ones, and the first with the next higher."""
    found: list[tuple[float, float, float]] = []
    for low, high, count in zip(lows, highs, counts, strict=True):
        few_so_far = bool(found) and 0 < found[-1][2] < FEW
        if few_so_far or (found and 0 < count < FEW):
            found[-1] = found[-1][0], high, found[-1][2] + count
        else:
            found.append((low, high, count))
    while len(found) > 1 and 0 < found[-1][2] < FEW:
        _, high, count = found.pop()
        found[-1] = found[-1][0], high, found[-1][2] + count
    return found


def _chance(low: float, high: float) -> str:
    if not high:
        return "not at all"
    return f"{100 * low:.0f} to {100 * high:.0f} %" if low else f"up to {100 * high:.0f} %"


def worst_groups(target: Target, column: str) -> list[dict[str, Any]]:
    """Return the groups that say most about a sensitive column: the shares of their values, the largest first.

    Which values these are is not told; the table's own shares, in the same way, are the last entry.
    """
    crowds = target.view.crowds(column)
    entries = crowds.values
    largest = np.divide(entries.largest, crowds.sizes, out=np.zeros(len(crowds.sizes)), where=crowds.sizes > 0)
    order = np.lexsort((-crowds.sizes, -largest))[:_WORST]
    found: list[dict[str, Any]] = []
    for group in order.tolist():
        counts = np.sort(entries.counts[entries.offsets[group] : entries.offsets[group + 1]])[::-1]
        size = int(crowds.sizes[group])
        shares = (counts / max(size, 1)).tolist()
        found.append({"group": "a group", "rows": size if size >= FEW else None, "shares": shares[:12]})
    totals = np.bincount(entries.values, weights=entries.counts)
    shares = (np.sort(totals)[::-1] / max(totals.sum(), 1)).tolist()
    found.append({"group": "all rows", "rows": int(totals.sum()), "shares": shares[:12]})
    return found
