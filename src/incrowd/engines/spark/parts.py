"""What executors do with a part of a tally: search it, as one machine searches a whole one.

What comes out are lines: so many rows of a tuple that hide in one group, and the runs of codes that the group shows.
Labels are written later (`naming.py`), when it is known which values are published at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.progress import silent
from incrowd.common.records import dataclass
from incrowd.core.groups import WITHHELD, Regions
from incrowd.core.method import Method
from incrowd.core.model import Model, any_looks_at_values
from incrowd.core.people import count_people
from incrowd.core.people_placing import place_people
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.engines.lost import lost_of
from incrowd.errors import ConformanceError, IncrowdError, RecipeError, SchemaError, SourceError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.forms.people_crowds import number_rows
from incrowd.forms.people_groups import require_all_rows_inside
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.value_sets import ValueSets

WAYS = ("region", "level", "hierarchy", "tight")
"""How a run of codes is written, where no level is given: as -1, -2, -3 and -4 in the place of the level."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Rows of raw tuples that hide together: line i is `counts[i]` rows of tuple `of[i]`, from row `first[i]` of it."""

    of: Ints
    counts: Counts
    first: Ints
    group: Ints


@dataclass(frozen=True)
class PartSearch:
    """All that a search of any part needs; it travels to the executors."""

    schema: Schema
    columns: tuple[str, ...]
    trees: Mapping[str, Tree]
    value_counts: Mapping[str, Counts]
    method: Method
    require: tuple[Model, ...]
    lows: Codes
    highs: Codes
    secret: tuple[int, ...]
    """What chance is made of, with the number of a part: the same each time Spark computes the part."""
    people: int | None = None
    """How many people the whole table has, where people are published; `value_counts` then count people."""
    effort: int = 0
    """In how many passes people move between the groups that the method found in a part."""

    def lines(self, part: int, codes: Codes, counts: Counts, person: Ints | None = None) -> tuple[Lines, pl.DataFrame]:
        """Return the lines of a part, and what they show.

        Where people have several rows, `person` tells whose each tuple is: all tuples of these people are in the part.
        """
        tally, index = self.tally(codes, counts)
        found, searched, schema = None, tally, self.schema
        rng = np.random.default_rng([*self.secret, part])
        if person is not None:
            looks = any_looks_at_values(self.require) or self.method.looks_at_values
            found, index = count_people(tally, person, index, counts, tuple(schema.sensitive), values=looks)
            searched = self._among_all_people(found.tally) if looks else found.tally
            schema = schema if looks else replace(schema, sensitive={})
        recoding = self.method.search(searched, schema, self.require, rng=rng, progress=silent)
        recoding = self._improved(searched, schema, self._inside(recoding, part), part)
        if found is not None:  # whose rows may be beyond the part's borders
            _, recoding = place_people(found, recoding, rng, apart=True)
            groups = recoding.groups[np.argsort(recoding.tuples, kind="stable")]
            require_all_rows_inside(
                found, groups[found.offsets[:-1]], Regions(recoding.columns, recoding.lows, recoding.highs)
            )
        return lines_of(recoding, index, counts), shown_runs(tuple(self.schema.quasi), recoding)

    def _inside(self, recoding: Recoding, part: int) -> Recoding:
        """Return it with regions that end at the part's borders, which are cuts like any other: nothing is beyond."""
        if recoding.shown != "region":
            return recoding
        lows, highs = np.maximum(recoding.lows, self.lows[part]), np.minimum(recoding.highs, self.highs[part])
        return replace(recoding, lows=lows, highs=highs)

    def _improved(self, tally: Tally, schema: Schema, found: Recoding, part: int) -> Recoding:
        """Let people move between the groups of a part; what is found is taken if it loses less as it is shown."""
        moves = self.method.moves
        if not self.effort or moves is None:
            return found
        from incrowd.methods.improving import improve

        better = improve(tally, schema, self.require, found, moves, effort=self.effort, progress=silent)
        if better is found:
            return found
        better = self._inside(better, part)
        own, others = (lost_of(Generalized.of(tally, schema, one), one, moves) for one in (found, better))
        return better if others.less_than(own) else found

    def tally(self, codes: Codes, counts: Counts) -> tuple[Tally, Ints]:
        """Return the tally of a part, and the place of each raw tuple in it."""
        sizes = [self.trees[name].size for name in self.columns]
        index, first = group_tuples(codes, sizes)
        totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
        tally = Tally(self.columns, codes.take(first, axis=0), totals, self.trees)
        # Models that compare a group with the whole table must not take the part for it.
        tally._value_counts.update({name: self.value_counts[name] for name in self.schema.sensitive})
        return tally, index

    def _among_all_people(self, tally: Tally) -> Tally:
        """Return people of a part as some of all people, with whom models compare their groups."""
        names = tuple(self.schema.sensitive)
        everybody = whole_table({name: self.trees[name] for name in names}, self.value_counts, self.people or 0)
        # Others may have several values, although nobody in this part does: shares are then those of people, too.
        nobody = ValueSets(np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.int32))
        several = {name: replace(tally.trees[name], sets=nobody) for name in names if tally.trees[name].sets is None}
        return replace(tally, drawn_from=everybody, trees={**tally.trees, **several})


def lines_of(recoding: Recoding, tuple_of: Ints, counts: Counts) -> Lines:
    """Return the published lines of raw tuples, of which several may be one tuple: `tuple_of` says which.

    Both the raw tuples and the recoding's parts tell how the rows of a tuple fall apart; a line ends where either does.
    """
    raw, parts = np.argsort(tuple_of, kind="stable"), np.argsort(recoding.tuples, kind="stable")
    raw_ends, part_ends = np.cumsum(counts[raw]), np.cumsum(recoding.counts[parts])
    ends = np.union1d(raw_ends, part_ends)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
    at, part = np.searchsorted(raw_ends, ends), np.searchsorted(part_ends, ends)
    group = recoding.groups[parts[part]]
    published = group != WITHHELD
    first = starts - (raw_ends - counts[raw])[at]
    return Lines(raw[at][published], (ends - starts)[published], first[published], group[published])


def shown_runs(quasi: Sequence[str], recoding: Recoding) -> pl.DataFrame:
    """Return what each group shows: runs from `l…` to `h…`, and how these are written, `v…`."""
    columns: dict[str, Any] = {}
    for place, name in enumerate(quasi):
        at = recoding.columns.index(name)
        way = -1 - WAYS.index(recoding.shown) if recoding.levels is None else recoding.levels[at]
        columns[f"l{place}"], columns[f"h{place}"] = recoding.lows[:, at], recoding.highs[:, at]
        columns[f"v{place}"] = np.full(len(recoding.lows), way, dtype=np.int32)
    return pl.DataFrame(columns)


def whole_table(trees: Mapping[str, Tree], value_counts: Mapping[str, Counts], rows: int = 0) -> Tally:
    """Return a tally that knows how often each sensitive value occurs, how many rows there are, and nothing else."""
    columns = tuple(sorted(trees))
    lines = 1 if rows else 0
    counts = np.full(lines, rows, dtype=np.int64)
    tally = Tally(columns, np.zeros((lines, len(columns)), dtype=np.int32), counts, trees)
    tally._value_counts.update({name: value_counts[name] for name in columns})
    return tally


def in_arrow(
    search: PartSearch, code_columns: Sequence[str], passed: Sequence[str], names: Sequence[str] = ()
) -> Callable[[Any], Any]:
    """Return the function that Spark gives each part to, as Arrow; `passed` columns come out as they went in.

    Columns of `names` tell together whose a tuple is, where people are published. Where a part cannot be published,
    one line says why.
    """

    def lines(part: Any) -> Any:
        import pyarrow as pa

        from incrowd.engines.spark.arrow_batches import to_arrow

        frame = pl.DataFrame(pl.from_arrow(part.select([*code_columns, "n", "part"])))
        codes = np.stack([frame[name].to_numpy() for name in code_columns], axis=1).astype(np.int32)
        person = number_rows(pl.DataFrame(pl.from_arrow(part.select(list(names)))), names) if names else None
        counts = frame["n"].to_numpy()
        try:
            found, runs = search.lines(int(frame["part"][0]), codes, counts, person)
        except IncrowdError as error:
            return told(error, part.schema, [*passed])
        taken = part.take(pa.array(found.of))
        columns = {name: taken.column(name) for name in passed}
        facts = pl.DataFrame({"n": found.counts, "first": found.first, "whole": counts[found.of]})
        shown = to_arrow(facts.hstack(runs[found.group]))
        columns |= {name: shown.column(name) for name in shown.column_names}
        columns["why"] = pa.nulls(taken.num_rows, pa.string())
        return pa.table(columns)

    def told(error: IncrowdError, given: Any, names: Sequence[str]) -> Any:
        import pyarrow as pa

        why = f"{type(error).__name__}\n{error}"
        kept = {name: pa.nulls(1, given.field(name).type) for name in names}
        numbers = {name: pa.nulls(1, pa.int64()) for name in ("n", "first", "whole")}
        places = range(len(search.schema.quasi))
        shown = {f"{kind}{place}": pa.nulls(1, pa.int32()) for place in places for kind in "lhv"}
        return pa.table({**kept, **numbers, **shown, "why": pa.array([why])})

    lines.__annotations__ = {}
    return lines


def raise_told(why: str) -> None:
    """Raise again what an executor told of its part."""
    kind, _, text = why.partition("\n")
    known = {error.__name__: error for error in (Unsatisfiable, RecipeError, SchemaError, ConformanceError)}
    raise known.get(kind, SourceError)(f"in a part of the table: {text}")
