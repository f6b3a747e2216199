"""Whether a sliced table tells who is in it (Li, Li, Zhang & Molloy, TKDE 2012, section 5).

A bucket matches every combination of its column values. Those that are no tuple of the table are *fake*; the more of
them there are for each original one, the less a match tells (the fake-original ratio). And original tuples should match
about as many buckets as fake ones do, or the number of matches tells (`advantage`). Whoever matches no bucket at all is
not in the table: how many such people there are depends on whom one asks about, such as `fake_tuples` that have nothing
but the table's frequencies.

Cost: that of the matches found, as for the ℓ-diversity check.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.slices.matching import BucketIndex, matching_buckets, matching_tuples
from incrowd.forms.slices.slices import Buckets, Slices, whole_values

_MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Fakes:
    """How many tuples each bucket matches (perhaps more than a machine word holds), and how many are in the table."""

    matching: Floats
    original: Ints

    @property
    def ratio_by_bucket(self) -> Floats:
        """The fake-original ratio of each bucket."""
        ratios: Floats = (self.matching - self.original) / self.original
        return ratios

    @property
    def ratio(self) -> float:
        """The fake-original ratio of the table; a tuple that matches several buckets counts in each of them."""
        originals = int(self.original.sum())
        return float((self.matching - self.original).sum() / originals) if originals else 0.0


def count_fakes(slices: Slices, buckets: Buckets, *, people: bool = False) -> Fakes:
    """Count the tuples that each bucket matches: sensitive attributes included, or with `people` what is known alone.

    Where columns overlap, combinations that contradict themselves are counted too.
    """
    whole = Slices(slices.known, (), slices.counts) if people else whole_values(slices)
    index = BucketIndex(whole, buckets)
    kinds = np.diff(index.starts, axis=1)
    return Fakes(np.prod(kinds.astype(np.float64), axis=0), matching_tuples(index, whole.known))


def matching_fakes(rng: np.random.Generator, slices: Slices, buckets: Buckets, number: int) -> Codes:
    """Return known parts of people who match a bucket and are not in the table, each such person as likely as another.

    There are none if the buckets match nobody else, and fewer than asked for if almost nobody.
    """
    index = BucketIndex(slices, buckets)
    kinds = np.diff(index.starts, axis=1)
    combinations = np.prod(kinds.astype(np.float64), axis=0)
    found = np.empty((0, slices.columns), dtype=np.int32)
    if (combinations == matching_tuples(index, slices.known)).all():
        return found
    ends = np.cumsum(combinations)
    for _ in range(_MOST_ROUNDS):
        bucket = np.searchsorted(ends, rng.random(4 * number) * ends[-1], side="right")
        chosen = (rng.random((slices.columns, len(bucket))) * kinds[:, bucket]).astype(np.int64)
        drawn = index.values[index.starts[:, bucket] + chosen].T
        drawn = drawn[~_among(drawn, slices.known)]
        # Whoever matches many buckets was drawn as many times as often.
        fair = rng.random(len(drawn)) * matching_buckets(index, drawn) < 1
        found = np.concatenate([found, drawn[fair]])[:number]
        if len(found) == number:
            break
    return found


def advantage(original: Ints, fake: Ints) -> float:
    """Return how well the number of buckets that people match tells original from fake ones: 0 is not at all, 1 surely.

    It is how much more often the best rule "whoever matches at least (or at most) so many is in the table" is right of
    original people than wrong of fake ones. Where there is nobody on one side, a match says it all.
    """
    if not len(original) or not len(fake):
        return 1.0
    size = int(max(original.max(), fake.max())) + 1
    shares = [np.cumsum(np.bincount(matched, minlength=size)) / len(matched) for matched in (original, fake)]
    return float(np.abs(shares[0] - shares[1]).max())


def fake_tuples(
    rng: np.random.Generator, tally: Tally, number: int, *, together: Sequence[Sequence[str]] | None = None
) -> Codes:
    """Return tuples of codes that look like the table's, and are not in it.

    Every attribute is drawn from its own frequencies; attributes that are listed `together` are drawn as they occur
    together. There may be fewer than asked for if almost everything that can be drawn is in the table.
    """
    units = [[name] for name in tally.columns] if together is None else [list(unit) for unit in together]
    places = [[tally.columns.index(name) for name in unit] for unit in units]
    ends = np.cumsum(tally.counts)
    rows = int(ends[-1]) if len(ends) else 0
    found = np.empty((0, len(tally.columns)), dtype=np.int32)
    for _ in range(_MOST_ROUNDS if rows else 0):
        drawn = np.zeros((number - len(found), len(tally.columns)), dtype=np.int32)
        for unit in places:
            # A row at random has each combination as often as it occurs.
            donors = np.searchsorted(ends, rng.integers(0, rows, len(drawn)), side="right")
            drawn[:, unit] = tally.codes[donors[:, None], unit]
        found = np.concatenate([found, drawn[~_among(drawn, tally.codes)]])
        if len(found) == number:
            break
    return found


def _among(codes: Codes, table: Codes) -> NDArray[np.bool_]:
    """Return which rows of `codes` are rows of the table."""
    both = np.concatenate([table, codes])
    numbers, _ = group_tuples(both, (both.max(axis=0, initial=0) + 1).tolist())
    in_table = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
    in_table[numbers[: len(table)]] = True
    return in_table[numbers[len(table) :]]


def known_parts(
    tally: Tally, slices: Slices, columns: Sequence[Sequence[str]], codes: Codes, sensitive: Sequence[str] = ()
) -> Codes:
    """Return the known parts of some tuples of codes, by the slices' numbers; -1 where the table has no such part.

    `columns` and `sensitive` are those that the slices were made with.
    """
    parts = np.full((len(codes), len(columns)), -1, dtype=np.int32)
    for column, names in enumerate(columns):
        known = [tally.columns.index(name) for name in names if name not in set(sensitive)]
        if not known:
            parts[:, column] = 0
            continue
        sizes = [tally.trees[tally.columns[place]].size for place in known]
        both = np.concatenate([tally.codes[:, known], codes[:, known]])
        numbers, _ = group_tuples(both, sizes)
        part_of = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int32)
        part_of[numbers[: len(tally)]] = slices.known[:, column]
        parts[:, column] = part_of[numbers[len(tally) :]]
    return parts
