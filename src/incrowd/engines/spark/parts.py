"""What executors do with a part of a tally: search it, and label its tuples, as one machine does with a whole one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.progress import silent
from incrowd.core.groups import Regions
from incrowd.core.model import Model, any_looks_at_values
from incrowd.core.people import count_people
from incrowd.core.people_placing import place_people
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.labelled_groups import show_groups
from incrowd.forms.people_crowds import number_rows
from incrowd.forms.people_groups import require_all_rows_inside
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.value_sets import ValueSets
from incrowd.methods.mondrian import Mondrian


@dataclass(frozen=True)
class PartSearch:
    """All that a search of any part needs; it travels to the executors."""

    schema: Schema
    columns: tuple[str, ...]
    trees: Mapping[str, Tree]
    value_counts: Mapping[str, Counts]
    method: Mondrian
    require: tuple[Model, ...]
    lows: Codes
    highs: Codes
    people: int | None = None
    """How many people the whole table has, where people are published; `value_counts` then count people."""

    def labelled(self, part: int, codes: Codes, counts: Counts, person: Ints | None = None) -> pl.DataFrame:
        """Return what each tuple of a part shows in each quasi-identifier, and how wide that is.

        Where people have several rows, `person` tells whose each tuple is: all tuples of these people are in the part.
        """
        sizes = [self.trees[name].size for name in self.columns]
        index, first = group_tuples(codes, sizes)
        totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
        tally = Tally(self.columns, np.ascontiguousarray(codes[first]), totals, self.trees)
        # Models that compare a group with the whole table must not take the part for it.
        tally._value_counts.update({name: self.value_counts[name] for name in self.schema.sensitive})
        found, searched, schema = None, tally, self.schema
        rng = np.random.default_rng(0)  # for people with equal tuples, who are never apart where cuts are strict
        if person is not None:
            looks = any_looks_at_values(self.require)
            found, index = count_people(tally, person, index, counts, tuple(schema.sensitive), values=looks)
            searched = self._among_all_people(found.tally) if looks else found.tally
            schema = schema if looks else replace(schema, sensitive={})
        recoding = self.method.search(searched, schema, self.require, rng=rng, progress=silent)
        if recoding.shown == "region":  # nothing of the part is beyond its borders, which are cuts like any other
            recoding = replace(
                recoding,
                lows=np.maximum(recoding.lows, self.lows[part]),
                highs=np.minimum(recoding.highs, self.highs[part]),
            )
        if found is not None:  # whose rows may be beyond the part's borders
            _, recoding = place_people(found, recoding, rng, apart=True)
            tally = found.each_entry
        shown = show_groups(tally, recoding)
        group_of = np.empty(len(tally), dtype=np.int64)
        group_of[recoding.tuples] = shown.group_of
        if found is not None:
            regions = Regions(shown.columns, shown.lows, shown.highs)
            require_all_rows_inside(found, group_of[found.offsets[:-1]], regions)
        mine = group_of[index]
        labels = {f"q{place}": shown.labels[name].gather(mine) for place, name in enumerate(self.schema.quasi)}
        widths = {}
        for place, name in enumerate(self.schema.quasi):
            at = shown.columns.index(name)
            widths[f"w{place}"] = self.trees[name].widths(shown.lows[:, at], shown.highs[:, at])[mine]
        secrets = {
            f"s{place}": self.trees[name].values.gather(codes[:, self.columns.index(name)])
            for place, name in enumerate(self.schema.sensitive)
        }
        return pl.DataFrame({**labels, **secrets, **widths})

    def _among_all_people(self, tally: Tally) -> Tally:
        """Return people of a part as some of all people, with whom models compare their groups."""
        names = tuple(self.schema.sensitive)
        everybody = whole_table({name: self.trees[name] for name in names}, self.value_counts, self.people or 0)
        # Others may have several values, although nobody in this part does: shares are then those of people, too.
        nobody = ValueSets(np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.int32))
        several = {name: replace(tally.trees[name], sets=nobody) for name in names if tally.trees[name].sets is None}
        return replace(tally, drawn_from=everybody, trees={**tally.trees, **several})


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

    Columns of `names` tell together whose a tuple is, where people are published.
    """

    def label(part: Any) -> Any:
        import pyarrow as pa

        from incrowd.engines.spark.arrow_batches import to_arrow

        frame = pl.DataFrame(pl.from_arrow(part.select([*code_columns, "n", "part"])))
        codes = np.stack([frame[name].to_numpy() for name in code_columns], axis=1).astype(np.int32)
        person = number_rows(pl.DataFrame(pl.from_arrow(part.select(list(names)))), names) if names else None
        shown = to_arrow(search.labelled(int(frame["part"][0]), codes, frame["n"].to_numpy(), person))
        columns = {name: part.column(name) for name in passed}
        for name, values in zip(shown.column_names, shown.columns, strict=True):
            columns[name] = values.cast(pa.string()) if pa.types.is_large_string(values.type) else values
        return pa.table(columns)

    label.__annotations__ = {}
    return label
