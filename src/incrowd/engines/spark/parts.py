"""What executors do with a part of a tally: search it, and label its tuples, as one machine does with a whole one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts
from incrowd.common.progress import silent
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.labelled_groups import show_groups
from incrowd.hierarchies.tree import Tree
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

    def labelled(self, part: int, codes: Codes, counts: Counts) -> pl.DataFrame:
        """Return what each tuple of a part shows in each quasi-identifier, and how wide that is."""
        sizes = [self.trees[name].size for name in self.columns]
        index, first = group_tuples(codes, sizes)
        totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
        tally = Tally(self.columns, np.ascontiguousarray(codes[first]), totals, self.trees)
        # Models that compare a group with the whole table must not take the part for it.
        tally._value_counts.update({name: self.value_counts[name] for name in self.schema.sensitive})
        recoding = self.method.search(tally, self.schema, self.require, rng=np.random.default_rng(0), progress=silent)
        if recoding.shown == "region":  # nothing of the part is beyond its borders, which are cuts like any other
            recoding = replace(
                recoding,
                lows=np.maximum(recoding.lows, self.lows[part]),
                highs=np.minimum(recoding.highs, self.highs[part]),
            )
        shown = show_groups(tally, recoding)
        group_of = np.empty(len(tally), dtype=np.int64)
        group_of[recoding.tuples] = shown.group_of
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


def in_arrow(search: PartSearch, code_columns: Sequence[str], passed: Sequence[str]) -> Callable[[Any], Any]:
    """Return the function that Spark gives each part to, as Arrow; `passed` columns come out as they went in."""

    def label(part: Any) -> Any:
        import pyarrow as pa

        from incrowd.engines.spark.arrow_batches import to_arrow

        frame = pl.DataFrame(pl.from_arrow(part.select([*code_columns, "n", "part"])))
        codes = np.stack([frame[name].to_numpy() for name in code_columns], axis=1).astype(np.int32)
        shown = to_arrow(search.labelled(int(frame["part"][0]), codes, frame["n"].to_numpy()))
        columns = {name: part.column(name) for name in passed}
        for name, values in zip(shown.column_names, shown.columns, strict=True):
            columns[name] = values.cast(pa.string()) if pa.types.is_large_string(values.type) else values
        return pa.table(columns)

    label.__annotations__ = {}
    return label
