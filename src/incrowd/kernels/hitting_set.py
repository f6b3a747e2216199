"""Cheap elements that hit every one of many small combinations: greedy by cost per combination, then without excess.

The greedy choice costs at most ln(n) times the optimum for n combinations (Chvátal 1979).
"""

from __future__ import annotations

import heapq

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def hit_all(combinations, costs):
    """Return which elements to take so that every combination has one; `costs` are those of the elements."""
    many, size = combinations.shape
    starts = np.zeros(len(costs) + 1, dtype=np.int64)
    for number in range(many):
        for step in range(size):
            starts[combinations[number, step] + 1] += 1
    starts = np.cumsum(starts)
    following = starts[:-1].copy()
    where = np.empty(many * size, dtype=np.int32)
    for number in range(many):
        for step in range(size):
            element = combinations[number, step]
            where[following[element]] = number
            following[element] += 1
    degrees = np.diff(starts)
    hits = np.zeros(many, dtype=np.int32)
    taken = np.zeros(len(costs), dtype=np.bool_)
    picks = np.empty(len(costs), dtype=np.int64)
    picked = 0
    heap = [(0.0, 0, 0)]
    heap.pop()
    for element in range(len(costs)):
        if degrees[element] > 0:
            heap.append((costs[element] / degrees[element], element, degrees[element]))
    heapq.heapify(heap)
    while len(heap) > 0:
        _, element, degree = heapq.heappop(heap)
        if degrees[element] == 0:
            continue
        if degrees[element] < degree:  # some were hit meanwhile: it is dearer than it was
            heapq.heappush(heap, (costs[element] / degrees[element], element, degrees[element]))
            continue
        taken[element] = True
        picks[picked] = element
        picked += 1
        for place in range(starts[element], starts[element + 1]):
            number = where[place]
            if hits[number] == 0:
                for step in range(size):
                    degrees[combinations[number, step]] -= 1
            hits[number] += 1
    order = np.argsort(-costs[picks[:picked]], kind="mergesort")
    for index in order:
        element = picks[index]
        needed = False
        for place in range(starts[element], starts[element + 1]):
            if hits[where[place]] == 1:
                needed = True
                break
        if not needed:
            taken[element] = False
            for place in range(starts[element], starts[element + 1]):
                hits[where[place]] -= 1
    return taken
