"""What several releases tell together of people who were in the same groups: loops over classes of people.

Class c are people with the same groups in all releases: `groups[c, r]` is their group in release r, or -1; groups are
numbered through all releases. Group g shows the values `values[starts[g]:starts[g + 1]]`, ascending, as often as
`counts` says: these are its *entries*. A *cell* is a class with a value that all of its groups show; the cells of class
c are `cells[c]:cells[c + 1]`, with their values in `cell_values`, ascending.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def _shows(value, starts, values, group):
    low, high = starts[group], starts[group + 1]
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < starts[group + 1] and values[low] == value


@compiled
def _smallest(groups, starts, c):
    """Return the group of a class that shows the fewest values, or -1."""
    best, fewest = -1, np.int64(2**62)
    for r in range(groups.shape[1]):
        group = groups[c, r]
        if group >= 0 and starts[group + 1] - starts[group] < fewest:
            best, fewest = group, starts[group + 1] - starts[group]
    return best


@compiled
def cells_of_classes(groups, starts, values):
    """Return where the cells of each class start, and their values."""
    classes, releases = groups.shape
    cells = np.zeros(classes + 1, dtype=np.int64)
    for filling in range(2):
        found = np.empty(cells[classes] if filling else 0, dtype=np.int32)
        for c in range(classes):
            group = _smallest(groups, starts, c)
            number = 0
            if group >= 0:
                for entry in range(starts[group], starts[group + 1]):
                    common = True
                    for r in range(releases):
                        other = groups[c, r]
                        if other >= 0 and other != group and not _shows(values[entry], starts, values, other):
                            common = False
                            break
                    if common:
                        if filling:
                            found[cells[c] + number] = values[entry]
                        number += 1
            if not filling:
                cells[c + 1] = number
        if not filling:
            cells = np.cumsum(cells)
    return cells, found


@compiled
def _add(amounts, sums, groups, starts, values, cells, cell_values, c):
    """Add the amounts of a class's cells to the sums of their entries."""
    for r in range(groups.shape[1]):
        group = groups[c, r]
        if group < 0:
            continue
        entry = starts[group]
        for cell in range(cells[c], cells[c + 1]):
            while values[entry] < cell_values[cell]:
                entry += 1
            sums[entry] += amounts[cell]


@compiled
def _narrow(c, groups, starts, values, counts, cells, cell_values, size, least, most, of_least, of_most, lower, upper):
    """Write the new bounds of a class's cells to `lower` and `upper`; return whether any is another one."""
    first, last = cells[c], cells[c + 1]
    sure, possible = np.int64(0), np.int64(0)
    for cell in range(first, last):
        sure += least[cell]
        possible += most[cell]
    for cell in range(first, last):
        lower[cell] = max(least[cell], size - (possible - most[cell]))
        upper[cell] = min(most[cell], size - (sure - least[cell]))
    for r in range(groups.shape[1]):
        group = groups[c, r]
        if group < 0:
            continue
        entry = starts[group]
        for cell in range(first, last):
            while values[entry] < cell_values[cell]:
                entry += 1
            lower[cell] = max(lower[cell], counts[entry] - (of_most[entry] - most[cell]))
            upper[cell] = min(upper[cell], counts[entry] - (of_least[entry] - least[cell]))
    changed = False
    for cell in range(first, last):
        changed |= lower[cell] != least[cell] or upper[cell] != most[cell]
    return changed


@compiled
def bounds_of_cells(groups, starts, values, counts, cells, cell_values, sizes, rounds):
    """Return how many people of each class have a value at least and at most, by adding and subtracting counts.

    In each round, what a cell leaves to the others of its class and of its entries, and these to it, is looked at with
    the bounds of the round before, until nothing changes or after so many rounds.
    """
    classes, number = len(sizes), len(cell_values)
    least, most = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    of_least, of_most = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int64)
    open_classes = np.arange(classes)
    for one in range(classes):
        most[cells[one] : cells[one + 1]] = sizes[one]
        _add(most, of_most, groups, starts, values, cells, cell_values, one)
    lower, upper = least.copy(), most.copy()
    for _ in range(rounds):
        changed = np.zeros(len(open_classes), dtype=np.bool_)
        for place, c in enumerate(open_classes):
            changed[place] = _narrow(
                c, groups, starts, values, counts, cells, cell_values, sizes[c], least, most, of_least, of_most,
                lower, upper,
            )  # fmt: skip
        if not changed.any():
            break
        still = np.ones(len(open_classes), dtype=np.bool_)
        for place, c in enumerate(open_classes):
            if not changed[place]:
                continue
            known = True
            for cell in range(cells[c], cells[c + 1]):
                known &= lower[cell] == upper[cell]
                # What changes is added to the sums, before the bounds are the new ones.
                least[cell], lower[cell] = lower[cell], lower[cell] - least[cell]
                most[cell], upper[cell] = upper[cell], upper[cell] - most[cell]
            _add(lower, of_least, groups, starts, values, cells, cell_values, c)
            _add(upper, of_most, groups, starts, values, cells, cell_values, c)
            still[place] = not known
        open_classes = open_classes[still]
    return least, most


@compiled
def _settle(fitted, least, most, first, last, size):
    """Let the cells of a class add up to its size again after they were cut to their bounds."""
    for _ in range(20):
        total, movable = 0.0, 0.0
        for cell in range(first, last):
            total += fitted[cell]
        gap = size - total
        if abs(gap) <= 1e-9 * size:
            break
        for cell in range(first, last):
            if (gap > 0 and fitted[cell] < most[cell]) or (gap < 0 and fitted[cell] > least[cell]):
                movable += fitted[cell]
        if movable <= 0 or movable + gap <= 0:
            break
        for cell in range(first, last):
            if (gap > 0 and fitted[cell] < most[cell]) or (gap < 0 and fitted[cell] > least[cell]):
                fitted[cell] = min(max(fitted[cell] * (movable + gap) / movable, least[cell]), most[cell])


@compiled
def likeliest_counts(groups, starts, values, counts, cells, cell_values, sizes, least, most, sweeps, close):
    """Return how many people of each class have a value, most likely: as even as all counts allow.

    Cells whose number is known are taken out. Then iterative proportional fitting: starting from even shares of the
    values that are left, cells are scaled to the counts of one release after the other, and to the size of their
    class, until no share changes by more than `close`, or after so many sweeps.
    """
    number, (classes, releases) = len(cell_values), groups.shape
    fitted = np.zeros(number)
    known = np.zeros(number, dtype=np.int64)
    of_known = np.zeros(len(values), dtype=np.int64)
    is_open = np.zeros(classes, dtype=np.bool_)
    left = np.zeros(classes)
    for one in range(classes):
        unknown, rest = 0, sizes[one]
        for cell in range(cells[one], cells[one + 1]):
            if least[cell] == most[cell]:
                known[cell] = least[cell]
                rest -= least[cell]
            else:
                unknown += 1
        _add(known, of_known, groups, starts, values, cells, cell_values, one)
        is_open[one], left[one] = unknown > 0, rest
        for cell in range(cells[one], cells[one + 1]):
            if least[cell] < most[cell]:
                fitted[cell] = rest / unknown
    wanted = (counts - of_known).astype(np.float64)
    open_classes = np.flatnonzero(is_open)
    sums = np.zeros(len(values))
    before = np.empty(number)
    for _ in range(sweeps):
        before[:] = fitted
        for r in range(releases):
            for step in range(3):
                for c in open_classes:
                    group = groups[c, r]
                    if group < 0:
                        continue
                    entry = starts[group]
                    for cell in range(cells[c], cells[c + 1]):
                        while values[entry] < cell_values[cell]:
                            entry += 1
                        if step == 0:
                            sums[entry] = 0.0
                        elif step == 1:
                            sums[entry] += fitted[cell]
                        elif sums[entry] > 0:
                            fitted[cell] *= wanted[entry] / sums[entry]
        largest = 0.0
        for c in open_classes:
            total = 0.0
            for cell in range(cells[c], cells[c + 1]):
                total += fitted[cell]
            for cell in range(cells[c], cells[c + 1]):
                if total > 0:
                    fitted[cell] *= left[c] / total
                largest = max(largest, abs(fitted[cell] - before[cell]) / sizes[c])
        if largest <= close:
            break
    fitted = np.minimum(np.maximum(fitted, least), most)
    for c in open_classes:
        _settle(fitted, least, most, cells[c], cells[c + 1], sizes[c])
    return fitted
