"""Deal the rows of a bucket out to smaller ones in which every sensitive value is as rare as it must be.

Cuts between values end where a side would have too few different sensitive values. The rows of such a bucket that share
their known part in the sensitive column are dealt out as Xiao & Tao's Anatomy deals out a table: so each new bucket
has about ℓ rows. Which of several rows with the same sensitive value go where is left to chance, and tells nothing.

Cost: a few passes over the rows that are dealt out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints
from incrowd.common.randomness import words
from incrowd.common.records import dataclass
from incrowd.common.taking import take_rows
from incrowd.common.threads import do_together
from incrowd.forms.slices.chance import shuffle_within
from incrowd.forms.slices.slices import Buckets, Slices
from incrowd.kernels import anatomy
from incrowd.kernels.regions import bounds
from incrowd.kernels.repeating import repeat
from incrowd.kernels.slicing_index import sort_by_key
from incrowd.methods.slicing_parts.anatomy_buckets import longest_first


def deal(rng: np.random.Generator, slices: Slices, buckets: Buckets, *, each: int, min_bucket_size: int) -> Buckets:
    """Deal buckets out to new ones of at least `min_bucket_size` rows, joined from groups of `each` values.

    Left as they are: buckets in which some value is too frequent for that; buckets too small for two new ones; and
    those in which all rows look alike, where permuting hides nothing and smaller buckets would show no more. A table
    with no secret, or with several, is left as it is: Anatomy deals by one. Rows whose value is missing and ignored
    join the others in the end, each one of its own known part, by chance.
    """
    if len(slices.secrets) != 1 or not len(buckets):
        return buckets
    (secret,) = slices.secrets
    ignored = secret.ignored[buckets.tuples] if each > 1 else np.zeros(len(buckets.tuples), dtype=bool)
    recorded = np.flatnonzero(~ignored)
    runs = _Runs.of(slices, buckets, recorded)
    together = -(-min_bucket_size // each)
    chosen = runs.varying & runs.eligible(each) & (runs.groups(each) // together >= 2)
    is_dealt = chosen[buckets.bucket_of]
    rest = np.flatnonzero(~is_dealt)
    if not chosen.any():
        return buckets
    dealt = runs.only(chosen)
    joining = np.flatnonzero(ignored & is_dealt)
    rows = shuffle_within(rng, repeat(dealt.parts, take_rows(buckets.counts, dealt.parts)), dealt.run_starts)
    chance = words(rng, each * (len(dealt.segment_starts) - 1)).reshape(-1, each)
    group_of, groups = anatomy.deal_segments(
        dealt.run_starts,
        longest_first(dealt.run_starts, dealt.segment_starts),
        dealt.segment_starts,
        dealt.box_starts,
        each,
        together,
        chance,
    )
    if len(joining):
        joining = np.repeat(joining, buckets.counts[joining])
        beside = _row_of_the_same_part(rng, slices, buckets, dealt, joining)
        rows, group_of = np.concatenate([rows, joining]), np.concatenate([group_of, group_of[beside]])
    return Buckets(
        take_rows(buckets.tuples, np.concatenate([rows, rest])),
        np.concatenate([np.ones(len(rows), dtype=np.int64), buckets.counts[rest]]),
        np.concatenate([group_of, groups + (np.cumsum(~chosen) - 1)[buckets.bucket_of[rest]]]),
    )


def _row_of_the_same_part(
    rng: np.random.Generator, slices: Slices, buckets: Buckets, dealt: _Runs, joining: Ints
) -> Ints:
    """Return, for each part of a bucket, one of the dealt rows of that bucket that have its known part, by chance.

    There is one: a bucket in which a known part goes with no recorded value would not have been cut.
    """
    (secret,) = slices.secrets
    known = slices.known[buckets.tuples, secret.column].astype(np.int64)
    keys = buckets.bucket_of * (int(known.max()) + 1) + known
    run_of_part = np.searchsorted(dealt.segment_starts, dealt.part_runs, side="right") - 1
    first_part = np.searchsorted(run_of_part, np.arange(len(dealt.segment_starts) - 1))
    segment = np.searchsorted(keys[dealt.parts[first_part]], keys[joining])  # sorted by bucket, then by known part
    row_starts = dealt.run_starts[dealt.segment_starts]
    lengths = np.diff(row_starts)[segment].astype(np.uint64)
    return np.asarray(row_starts[segment] + (words(rng, len(joining)) % lengths).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Runs:
    """The parts of buckets, sorted by bucket (*box*), known part (*segment*) and sensitive value (*run*).

    `run_starts` counts rows, `segment_starts` runs, and `box_starts` segments; `part_runs` is the run of each part.
    """

    parts: Ints
    part_runs: Ints
    run_starts: Ints
    segment_starts: Ints
    box_starts: Ints
    varying: NDArray[np.bool_]

    @classmethod
    def of(cls, slices: Slices, buckets: Buckets, parts: Ints) -> _Runs:
        """Sort some of the parts of buckets, of which each has one at least; threads share the buckets."""
        (secret,) = slices.secrets
        known = np.ascontiguousarray(slices.known[:, secret.column])

        def between(first: int, last: int) -> _Runs:
            return cls._of_some(slices, known, buckets, parts, first, last)

        return cls._joined(do_together([partial(between, *reach) for reach in buckets.ranges()], steps=len(parts)))

    @classmethod
    def _of_some(cls, slices: Slices, known: Codes, buckets: Buckets, parts: Ints, first: int, last: int) -> _Runs:
        box = buckets.bucket_of.take(parts)
        if (first, last) != (0, len(buckets)):
            own = np.flatnonzero((box >= first) & (box < last))
            parts, box = parts.take(own), box.take(own) - first
        tuples = buckets.tuples.take(parts)
        code, segment = slices.secrets[0].codes.take(tuples), known.take(tuples)
        lows, ends = bounds(slices.known, tuples, box, last - first)
        order = np.arange(len(parts), dtype=np.int64)
        for key in (code, segment, box):
            order = sort_by_key(order, key, int(key.max()) + 1)
        opens_box = _changes(box.take(order))
        opens_segment = opens_box | _changes(segment.take(order))
        opens_run = opens_segment | _changes(code.take(order))
        parts = parts.take(order)
        return cls(
            parts,
            np.cumsum(opens_run) - 1,
            _starts(np.add.reduceat(buckets.counts.take(parts), np.flatnonzero(opens_run))),
            np.append(np.flatnonzero(opens_segment[opens_run]), opens_run.sum()),
            np.append(np.flatnonzero(opens_box[opens_segment]), opens_segment.sum()),
            np.asarray((ends - lows > 1).any(axis=1)),
        )

    @classmethod
    def _joined(cls, several: Sequence[_Runs]) -> _Runs:
        """Return the parts of one range of buckets after those of another."""
        if len(several) == 1:
            return several[0]
        runs = [one.run_starts for one in several]
        return cls(
            np.concatenate([one.parts for one in several]),
            np.concatenate([one.part_runs + before for one, before in zip(several, _before(runs), strict=True)]),
            _one_after_another(runs),
            _one_after_another([one.segment_starts for one in several]),
            _one_after_another([one.box_starts for one in several]),
            np.concatenate([one.varying for one in several]),
        )

    def eligible(self, each: int) -> NDArray[np.bool_]:
        """Whether no value is more than one in `each` rows of any segment, box by box."""
        most = np.maximum.reduceat(np.diff(self.run_starts), self.segment_starts[:-1])
        return np.logical_and.reduceat(each * most <= self._segment_rows(), self.box_starts[:-1])

    def groups(self, each: int) -> Ints:
        """How many groups the segments of each box can be dealt out to."""
        found: Ints = np.add.reduceat(self._segment_rows() // each, self.box_starts[:-1])
        return found

    def _segment_rows(self) -> Ints:
        return np.diff(self.run_starts[self.segment_starts])

    def only(self, chosen: NDArray[np.bool_]) -> _Runs:
        """Return some boxes alone."""
        segments = np.repeat(chosen, np.diff(self.box_starts))
        runs = np.repeat(segments, np.diff(self.segment_starts))
        stays = runs[self.part_runs]
        return _Runs(
            self.parts[stays],
            (np.cumsum(runs) - 1)[self.part_runs[stays]],
            _starts(np.diff(self.run_starts)[runs]),
            _starts(np.diff(self.segment_starts)[segments]),
            _starts(np.diff(self.box_starts)[chosen]),
            self.varying[chosen],
        )


def _changes(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before; the first one does."""
    changes = np.ones(len(values), dtype=bool)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _starts(lengths: Ints) -> Ints:
    """Return where runs of these lengths begin, and the end of the last."""
    return np.concatenate(([0], np.cumsum(lengths)))


def _before(several: Sequence[Ints]) -> list[int]:
    """Return how many runs lie before those of each list of starts."""
    return [0, *accumulate(len(starts) - 1 for starts in several)][:-1]


def _one_after_another(several: Sequence[Ints]) -> Ints:
    """Join lists of starts; each ends where the next one begins."""
    return _starts(np.concatenate([np.diff(starts) for starts in several]))
