"""Mondrian: cut the table's box as long as every piece stays safe (LeFevre, DeWitt & Ramakrishnan 2006).

All open boxes are cut at once, in rounds: a compiled pass proposes one cut per box, the models judge all pieces of the
round together, and what they refuse is tried with the next column. Cost: about rounds × distinct tuples × columns;
there are some log2(rows / k) rounds, plus one for each refusal in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar, Literal

import numpy as np

from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.labelled import Shown
from incrowd.core.method import AnyMethod, Method, Moves, require_possible
from incrowd.core.model import Model, any_looks_at_values, for_each_group, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.methods.boxes import Boxes
from incrowd.methods.lattice import require_known


@dataclass(frozen=True)
class Mondrian(Method):
    """Multidimensional partitioning: the widest column first, cut at the median.

    Parameters
    ----------
    cuts : "strict" or "relaxed" (default: "strict"). "strict" keeps equal values on one side. "relaxed" may put people
        with the median value on either side, which gives more even groups and overlapping ranges.
    labels : "region", "hierarchy" or "tight": what is published of a group (default: "region"). "region" is the region
        between the cuts: a range open at the ends, a set of values or nodes. "hierarchy" is, for each column, the
        lowest node of its hierarchy that covers the group. "tight" is the smallest range that holds the group's own
        values, which shows the values of extreme people: the audit flags it.
    weights : how much a column counts when the widest is chosen (default: 1 for columns that are not named). At twice
        the weight, a column is cut until it is half as wide as others; at 0, only if no other column can be cut.
    fixed : columns that are published unchanged (default: none). Each of their values, or combinations of values, is a
        box of its own from the start.

    A column with a category tree is cut between the branches of its tree first, and only then inside them.

    Reference: LeFevre, DeWitt & Ramakrishnan (2006).
    """

    cuts: Literal["strict", "relaxed"] = "strict"
    labels: Shown = "region"
    weights: Mapping[str, float] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    name: ClassVar[str] = "mondrian"
    looks_at_values: ClassVar[bool] = False
    judges_all_groups: ClassVar[bool] = True  # it holds each group to what implies a model of all of them

    def __post_init__(self) -> None:
        if self.cuts not in ("strict", "relaxed"):
            raise RecipeError(f'mondrian: cuts is "strict" or "relaxed", not {self.cuts!r}.')
        if self.labels not in ("region", "hierarchy", "tight"):
            raise RecipeError(f'mondrian: labels is "region", "hierarchy" or "tight", not {self.labels!r}.')
        if not isinstance(self.weights, Mapping):
            raise RecipeError(f"mondrian: weights are a number for each of some columns, not {self.weights!r}.")
        for column, weight in self.weights.items():
            require_number(self.name, f"the weight of {column}", weight, at_least=0)
        if not isinstance(self.fixed, tuple | list) or any(not isinstance(name, str) for name in self.fixed):
            raise RecipeError(f"mondrian: fixed is a list of columns, not {self.fixed!r}.")
        object.__setattr__(self, "fixed", tuple(dict.fromkeys(self.fixed)))

    def safer(self) -> list[tuple[str, AnyMethod]]:
        """Return it with labels that end at nobody's value, and with those of the hierarchy's own nodes."""
        wider: dict[Shown, tuple[Shown, ...]] = {"tight": ("region", "hierarchy"), "region": ("hierarchy",)}
        return [
            (f'set labels = "{labels}" in mondrian (now "{self.labels}")', replace(self, labels=labels))
            for labels in wider.get(self.labels, ())
        ]

    @property
    def moves(self) -> Moves:
        """Groups may be improved; fixed columns stay as they are."""
        return Moves(weights=self.weights, max_levels=dict.fromkeys(self.fixed, 0))

    @property
    def searches_parts(self) -> bool:
        """Yes: boxes are cut one by one."""
        return True

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
        require_known([*self.weights, *self.fixed], tuple(schema.quasi))
        # Of columns that are equally wide the one with the most values is cut first, then the first by name.
        columns = sorted(schema.quasi, key=lambda name: (-tally.trees[name].size, name))
        boxes = Boxes(tally, tuple(columns), tuple(sorted(schema.sensitive)), labels=self.labels, weights=self.weights)
        of_each = for_each_group(require)
        self._start(boxes, require, of_each)
        min_group = max((model.min_group for model in of_each), default=1)
        boxes.cut(of_each, min_group, relaxed=self.cuts == "relaxed", progress=progress)
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

    def _start(self, boxes: Boxes, require: Sequence[Model], of_each: Sequence[Model]) -> None:
        """Part the table by its fixed columns; show boxes whole if that, or a model, takes more than trimmed ones."""
        whole = np.arange(1)
        boxes.trims = not any(model.needs_everybody for model in require)
        if boxes.trims:
            boxes.trims = bool(satisfies_all(require, boxes.groups(whole)).all())
        if not boxes.trims:
            require_possible(require, boxes.groups(whole))
        if self.fixed:
            boxes.part_by(self.fixed)
            parts = np.arange(len(boxes))
            boxes.trims = boxes.trims and bool(satisfies_all(of_each, boxes.groups(parts)).all())
            if not boxes.trims:
                self._require_parts(of_each, boxes.groups(parts))

    def _require_parts(self, of_each: Sequence[Model], parts: Groups) -> None:
        """Raise `Unsatisfiable` if the rows of a fixed value cannot be published by themselves."""
        failing = [model for model in of_each if not model.satisfied(parts).all()]
        if failing:
            number = int((~satisfies_all(of_each, parts)).sum())
            columns = " and ".join(f"'{name}'" for name in self.fixed)
            what = "values" if len(self.fixed) == 1 else "combinations of values"
            raise Unsatisfiable(
                f"{columns} must not be generalized, but by themselves the rows of {number:,} of {len(parts):,} {what} "
                f"do not satisfy {', '.join(str(model) for model in failing)}.  "
                "Hint: fix fewer columns, or ask for less."
            )
