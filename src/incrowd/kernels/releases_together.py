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
def _add_up(amounts, sums, groups, starts, values, cells, cell_values):
    """Add the amounts of cells up by entry."""
    sums[:] = 0
    for c in range(groups.shape[0]):
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
def bounds_of_cells(groups, starts, values, counts, cells, cell_values, sizes, rounds):
    """Return how many people of each class have a value at least and at most, by adding and subtracting counts.

    In each round, what a cell leaves to the others of its class and of its entries, and these to it, is looked at with
    the bounds of the round before, until nothing changes or after so many rounds.
    """
    number, releases = len(cell_values), groups.shape[1]
    least = np.zeros(number, dtype=np.int64)
    most = np.empty(number, dtype=np.int64)
    for c in range(len(sizes)):
        most[cells[c] : cells[c + 1]] = sizes[c]
    of_least = np.zeros(len(values), dtype=np.int64)
    of_most = np.zeros(len(values), dtype=np.int64)
    for _ in range(rounds):
        _add_up(least, of_least, groups, starts, values, cells, cell_values)
        _add_up(most, of_most, groups, starts, values, cells, cell_values)
        changed = False
        for c in range(len(sizes)):
            first, last = cells[c], cells[c + 1]
            sure, possible = np.int64(0), np.int64(0)
            for cell in range(first, last):
                sure += least[cell]
                possible += most[cell]
            # Bounds of this round are written behind those that the next releases of the class still compare with.
            lower = least[first:last].copy()
            upper = most[first:last].copy()
            for cell in range(first, last):
                lower[cell - first] = max(lower[cell - first], sizes[c] - (possible - most[cell]))
                upper[cell - first] = min(upper[cell - first], sizes[c] - (sure - least[cell]))
            for r in range(releases):
                group = groups[c, r]
                if group < 0:
                    continue
                entry = starts[group]
                for cell in range(first, last):
                    while values[entry] < cell_values[cell]:
                        entry += 1
                    place = cell - first
                    lower[place] = max(lower[place], counts[entry] - (of_most[entry] - most[cell]))
                    upper[place] = min(upper[place], counts[entry] - (of_least[entry] - least[cell]))
            for cell in range(first, last):
                if lower[cell - first] != least[cell] or upper[cell - first] != most[cell]:
                    changed = True
                least[cell], most[cell] = lower[cell - first], upper[cell - first]
        if not changed:
            break
    return least, most


@compiled
def likeliest_counts(groups, starts, values, counts, cells, cell_values, sizes, least, most, sweeps, close):
    """Return how many people of each class have a value, most likely: as even as all counts allow.

    Iterative proportional fitting: starting from even shares of the values that are possible, cells are scaled to the
    counts of one release after the other, and to the size of their class, until no share changes by more than `close`,
    or after so many sweeps.
    """
    number, (classes, releases) = len(cell_values), groups.shape
    fitted = np.zeros(number)
    for c in range(classes):
        possible = 0
        for cell in range(cells[c], cells[c + 1]):
            possible += most[cell] > 0
        for cell in range(cells[c], cells[c + 1]):
            if most[cell] > 0:
                fitted[cell] = sizes[c] / possible
    sums = np.zeros(len(values))
    before = np.empty(number)
    for _ in range(sweeps):
        before[:] = fitted
        for r in range(releases):
            sums[:] = 0.0
            for scaling in range(2):
                for c in range(classes):
                    group = groups[c, r]
                    if group < 0:
                        continue
                    entry = starts[group]
                    for cell in range(cells[c], cells[c + 1]):
                        while values[entry] < cell_values[cell]:
                            entry += 1
                        if not scaling:
                            sums[entry] += fitted[cell]
                        elif sums[entry] > 0:
                            fitted[cell] *= counts[entry] / sums[entry]
        largest = 0.0
        for c in range(classes):
            total = 0.0
            for cell in range(cells[c], cells[c + 1]):
                total += fitted[cell]
            for cell in range(cells[c], cells[c + 1]):
                if total > 0:
                    fitted[cell] *= sizes[c] / total
                largest = max(largest, abs(fitted[cell] - before[cell]) / sizes[c])
        if largest <= close:
            break
    return np.minimum(np.maximum(fitted, least), most)
