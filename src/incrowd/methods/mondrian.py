"""Mondrian: cut the table's box as long as every piece stays safe (LeFevre, DeWitt & Ramakrishnan 2006).

All open boxes are cut at once, in rounds: a compiled pass proposes one cut per box, the models judge all pieces of the
round together, and what they refuse is tried with the next column. Cost: about rounds × distinct tuples × columns;
there are some log2(rows / k) rounds, plus one for each refusal in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from incrowd.errors import RecipeError
from incrowd.methods.boxes import Boxes
from incrowd.methods.method import require_possible
from incrowd.models.model import Model, any_looks_at_values
from incrowd.progress import Progress
from incrowd.recoding import Recoding, Shown
from incrowd.schema import Schema
from incrowd.tally import Tally


@dataclass(frozen=True)
class Mondrian:
    """Multidimensional partitioning: the widest column first, cut at the median.

    `cuts="strict"` keeps equal values on one side; `"relaxed"` may put people with the median value on either side,
    which gives more even groups and overlapping ranges. A column with a category tree is cut between the branches of
    its tree first, and only then inside them.

    `labels="region"` publishes the region between the cuts (a range open at the ends, a set of values or nodes);
    `"hierarchy"` publishes, for each column, the lowest node of its hierarchy that covers the group; `"tight"`
    publishes the smallest range that holds a group's own values, which shows extreme people's: the audit flags it.
    """

    cuts: Literal["strict", "relaxed"] = "strict"
    labels: Shown = "region"
    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        if self.cuts not in ("strict", "relaxed"):
            raise RecipeError(f'mondrian: cuts is "strict" or "relaxed", not {self.cuts!r}.')
        if self.labels not in ("region", "hierarchy", "tight"):
            raise RecipeError(f'mondrian: labels is "region", "hierarchy" or "tight", not {self.labels!r}.')

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Cut until no box can be cut further without breaking a model. Deterministic: `rng` is not used."""
        if self.cuts == "strict" and schema.sensitive and not any_looks_at_values(require):
            # Where only sizes matter and no tuple is split, people with the same quasi-identifiers are one.
            people, place = tally.project(tuple(schema.quasi))
            found = self.search(people, replace(schema, sensitive={}), require, rng=rng, progress=progress)
            return replace(found, tuples=np.arange(len(tally)), counts=tally.counts, groups=found.groups[place])
        # Of columns that are equally wide the one with the most values is cut first, then the first by name.
        columns = sorted(schema.quasi, key=lambda name: (-tally.trees[name].size, name))
        boxes = Boxes(tally, tuple(columns), tuple(sorted(schema.sensitive)))
        require_possible(require, boxes.groups(np.arange(1)))
        min_group = max((model.min_group for model in require), default=1)
        boxes.cut(require, min_group, relaxed=self.cuts == "relaxed", progress=progress)
        lows, highs = boxes.runs(self.labels, min_group)
        by_name = np.argsort(columns)
        return Recoding(
            boxes.part_tuples,
            boxes.part_counts,
            boxes.group_of,
            tuple(sorted(columns)),
            lows[:, by_name],
            highs[:, by_name],
            self.labels,
        )
