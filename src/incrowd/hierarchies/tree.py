"""A hierarchy that has met its column: every value has a code, every level a node for every code.

Codes run in the order in which a walk through the tree meets the leaves, so that a node at any level is a run of
neighbouring codes, and so is everything that lies between two cuts. Code 0 is the missing value, a leaf of its own
directly under the root; it is always there, whether or not the column has missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.records import dataclass
from incrowd.errors import HierarchyError
from incrowd.hierarchies import labels
from incrowd.hierarchies.cuts import cut_texts
from incrowd.hierarchies.value_sets import ValueSets
from incrowd.hierarchies.values import as_physical, as_short_text, spelled

Kind = Literal["number", "date", "text"]

MISSING = 0
LONGEST_SET = 64
"""A published set names at most this many values or nodes; a longer one is widened to the node that covers it."""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """One column's values and, for each, its ancestors.

    `values[code]` is what the table holds (`values[0]` is null). `nodes[level, code]` numbers the code's ancestor at
    that level: level 0 is the value itself, the last level is the root. `names[level][node]` is what that ancestor
    is called. `positions` places codes on a line for widths: numbers are themselves, dates are days, text is by rank.
    `edges[code]` is how the cut just below a code is written, in columns of numbers and dates. Values that are
    `declared` are public: the owner listed them, and labels may name those that nobody has. Where people have several
    values in the column, the codes behind those of the values are `sets` of them.
    """

    values: pl.Series
    kind: Kind
    nodes: Codes
    names: tuple[pl.Series, ...]
    positions: NDArray[np.float64]
    from_data: bool
    declared_edges: pl.Series | None = None
    declared: bool = False
    sets: ValueSets | None = None

    @property
    def size(self) -> int:
        """Number of codes, missing included."""
        return self.leaves if self.sets is None else self.leaves + len(self.sets)

    @property
    def leaves(self) -> int:
        """Number of codes that are values, missing included; those from there on are sets of values."""
        return int(self.nodes.shape[1])

    @property
    def height(self) -> int:
        """Number of generalization steps from a value to the root."""
        return int(self.nodes.shape[0]) - 1

    @property
    def ordered(self) -> bool:
        """Whether codes follow an order that ranges can be read in."""
        return self.kind != "text"

    @cached_property
    def edges(self) -> pl.Series:
        """How the cut just below each code is written."""
        return self.declared_edges if self.declared_edges is not None else cut_texts(self.values)

    @cached_property
    def spellings(self) -> list[str | None]:
        """How questions name the values."""
        return spelled(self.values).to_list()

    @cached_property
    def known(self) -> Bools:
        """Which values are there: all but the missing one."""
        return self.values.alias("").is_not_null().to_numpy()  # a name may look like a pattern of names

    @cached_property
    def numbers(self) -> NDArray[np.integer | np.float64] | None:
        """Numbers that compare as the values do, 0 where none is known; None where no array has such numbers."""
        physical = self.values.alias("").to_physical().fill_null(0)
        dtype = self.values.dtype
        if dtype == pl.Date or (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)):
            return physical.to_numpy()
        exact = dtype == pl.Float64 and bool(physical.is_not_nan().all())
        return physical.to_numpy() if exact else None

    @cached_property
    def starts(self) -> Codes:
        """First code of each code's node, level by level."""
        opens = np.ones_like(self.nodes, dtype=bool)
        opens[:, 1:] = self.nodes[:, 1:] != self.nodes[:, :-1]
        codes = np.where(opens, np.arange(self.leaves, dtype=np.int32), 0)
        return np.maximum.accumulate(codes, axis=1).astype(np.int32)

    @cached_property
    def ends(self) -> Codes:
        """One past the last code of each code's node, level by level."""
        closes = np.ones_like(self.nodes, dtype=bool)
        closes[:, :-1] = self.nodes[:, 1:] != self.nodes[:, :-1]
        codes = np.where(closes, np.arange(1, self.leaves + 1, dtype=np.int32), self.leaves)
        return np.minimum.accumulate(codes[:, ::-1], axis=1)[:, ::-1].astype(np.int32)

    @cached_property
    def span(self) -> float:
        """Length of the line that the column's own values occupy."""
        known = self.positions[1:]
        return float(known.max() - known.min()) if known.size else 0.0

    def widths(self, lows: Codes, highs: Codes, codes: Ints | None = None) -> NDArray[np.float64]:
        """Share of the column's whole width that each run of codes covers, in [0, 1]: its certainty penalty.

        A range of numbers or dates has its length over the column's; m of the column's n names have (m - 1) / (n - 1)
        (Iyengar 2002). So a single value has width 0, and all of them 1, whatever the kind. A run that mixes missing
        with values can only be shown as the root: width 1. A label that leaves out names of its run stands for so many
        `codes` (by default, for all).
        """
        if self.ordered:
            width = (self.positions[highs - 1] - self.positions[lows]) / (self.span or 1.0)
        else:
            width = ((highs - lows if codes is None else codes) - 1) / max(self.size - 2, 1)
        width = np.where(highs - lows == 1, 0.0, width)
        return np.where((lows == MISSING) & (highs > 1), 1.0, width)

    def cover(self, lows: Codes, highs: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64], Codes]:
        """Find the fewest nodes that hold exactly the codes of each run.

        Return three arrays, one entry per node found, run after run: the run, the node's level, and its first code.
        """
        runs, levels, codes = [], [], []
        open_runs = np.arange(len(lows))
        at = lows.astype(np.int32)
        while open_runs.size:
            fits = (self.starts[:, at] == at) & (self.ends[:, at] <= highs[open_runs])
            level = self.height - np.argmax(fits[::-1], axis=0)  # the highest level that fits
            runs.append(open_runs)
            levels.append(level)
            codes.append(at)
            at = self.ends[level, at]
            unfinished = at < highs[open_runs]
            open_runs, at = open_runs[unfinished], at[unfinished]
        if not runs:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
        run = np.concatenate(runs)
        order = np.argsort(run, kind="stable")
        return run[order], np.concatenate(levels)[order], np.concatenate(codes)[order]

    def lowest_levels(self, levels: NDArray[np.int64], codes: Codes) -> NDArray[np.int64]:
        """Return the lowest level at which each code's node holds the same codes as at the level given."""
        same_start = self.starts[:, codes] == self.starts[levels, codes]
        same_end = self.ends[:, codes] == self.ends[levels, codes]
        return np.asarray(np.argmax(same_start & same_end, axis=0))

    def common_nodes(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return, for every run of codes, the run of the lowest node that holds all of it.

        The root's run leaves missing out where the run does: "anything" and "any known value" are written alike.
        """
        level = np.argmax(self.nodes[:, lows] == self.nodes[:, highs - 1], axis=0)
        starts = np.where(lows == MISSING, self.starts[level, lows], np.maximum(self.starts[level, lows], 1))
        return starts.astype(np.int32), self.ends[level, lows]

    def __repr__(self) -> str:
        return f"Tree({self.size - 1} values, {self.kind}, {self.height} steps up to {labels.ANY})"

    def _repr_html_(self) -> str:
        from incrowd.hierarchies.notebook import tree_html

        return tree_html(self)


def grow(
    column: str,
    values: pl.Series,
    kind: Kind,
    ancestors: Sequence[pl.Series] = (),
    *,
    from_data: bool,
    edges: Sequence[str | None] | None = None,
    declared: bool = False,
) -> Tree:
    """Build a tree from distinct values in walking order and, for each level above, the name of each value's ancestor.

    `values` come without the missing value, which gets code 0 here; the root is added on top. `declared` says that the
    values are the owner's own list, and not those that a table happens to hold.
    """
    names: list[pl.Series] = [as_short_text(values)]
    nodes = [np.arange(len(values), dtype=np.int32)]
    for level, names_above in enumerate(ancestors, start=1):
        opens = np.ones(len(values), dtype=bool)
        opens[1:] = (names_above.slice(1) != names_above.head(-1)).to_numpy()
        above = np.cumsum(opens).astype(np.int32) - 1
        distinct = names_above.filter(pl.Series(opens))
        _refuse_scattered(column, level, distinct, quoted=declared)
        _refuse_two_parents(column, level, nodes[-1], above, names[-1], quoted=declared)
        nodes.append(above)
        names.append(distinct)
    if kind == "text":  # names of intervals and dates say what they hold
        _refuse_ambiguous(column, nodes, names, quoted=declared)
    matrix = np.zeros((len(nodes) + 1, len(values) + 1), dtype=np.int32)
    matrix[:-1, 1:] = np.stack(nodes) + 1
    missing = pl.Series([None], dtype=pl.String)
    return Tree(
        # In one piece: Polars looks values up several times more slowly in two.
        values=pl.concat([pl.Series([None], dtype=values.dtype), values.alias("")], rechunk=True),
        kind=kind,
        nodes=matrix,
        names=(*(pl.concat([missing, level.alias("")], rechunk=True) for level in names), pl.Series([labels.ANY])),
        positions=_positions(values, kind),
        from_data=from_data,
        declared_edges=None if edges is None else pl.Series([None, *edges], dtype=pl.String),
        declared=declared,
    )


def _positions(values: pl.Series, kind: Kind) -> NDArray[np.float64]:
    if kind == "text":
        return np.arange(-1, len(values), dtype=np.float64)
    numbers = as_physical(values).cast(pl.Float64).to_numpy()
    finite = numbers[np.isfinite(numbers)]
    # An infinite value would make every other width 0; so would a span that is too long for a float.
    numbers = (
        np.clip(numbers, finite.min(), finite.max()).clip(-1e300, 1e300) if finite.size else np.zeros_like(numbers)
    )
    return np.concatenate(([np.nan], numbers))


def _quoted(name: str, *, quoted: bool) -> str:
    """Name a node, where names are the owner's own and not made of values of a table."""
    return f" '{name}'" if quoted else ""


def _refuse_scattered(column: str, level: int, runs: pl.Series, *, quoted: bool) -> None:
    if runs.n_unique() < len(runs):
        name = runs.filter(runs.is_duplicated())[0]
        raise HierarchyError(
            f"column '{column}': node{_quoted(name, quoted=quoted)} at level {level} has two parents.  "
            "Hint: give each node one parent."
        )


def _refuse_two_parents(column: str, level: int, below: Codes, above: Codes, names: pl.Series, *, quoted: bool) -> None:
    torn = (below[1:] == below[:-1]) & (above[1:] != above[:-1])
    if torn.any():
        name = names[int(below[int(np.argmax(torn))])]
        raise HierarchyError(
            f"column '{column}': node{_quoted(name, quoted=quoted)} at level {level - 1} has two parents.  "
            "Hint: give each node one parent."
        )


def _refuse_ambiguous(column: str, nodes: Sequence[Codes], names: Sequence[pl.Series], *, quoted: bool) -> None:
    """One name may stand for one set of values only, else a published label could mean two things.

    The root's name is taken too, except by a value of the table itself, whose label is quoted where it looks like it.
    """
    wrong: list[str] = []
    if sum(map(len, names)) > pl.concat([level.alias("") for level in names]).n_unique():
        runs = pl.concat(
            pl.DataFrame(
                {
                    "name": level_names.alias("name"),
                    "first": np.searchsorted(level_nodes, np.arange(len(level_names)), side="left"),
                    "last": np.searchsorted(level_nodes, np.arange(len(level_names)), side="right"),
                }
            )
            for level_nodes, level_names in zip(nodes, names, strict=True)
        ).unique()
        wrong = runs.filter(pl.col("name").is_duplicated())["name"].to_list()
    wrong += [labels.ANY for level_names in names[1:] if (level_names == labels.ANY).any()]
    if wrong:
        name = _quoted(min(wrong), quoted=quoted)
        raise HierarchyError(
            f"column '{column}': {'the' if quoted else 'a'} name{name} stands for two different sets of values.  "
            "Hint: rename one of the two nodes."
        )
