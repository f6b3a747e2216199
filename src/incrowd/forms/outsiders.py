"""A release among people with values that its table lacks: labels are read by their text, as an outsider reads them.

A number or date that the table lacks has its own place among the others, and fits the ranges that hold it. A name that
the table lacks fits `*`, and nothing else. Cost: one pass over a column's values for each distinct label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.errors import UnreadableLabel
from incrowd.forms.generalized import Generalized
from incrowd.forms.reading.labels import number_labels, runs_of_labels
from incrowd.hierarchies.tree import Tree, grow


@dataclass(frozen=True, eq=False)
class AmongOutsiders:
    """A form whose trees also hold outsiders' values, and where each code of the old trees is in the new ones."""

    form: Generalized
    moved: Mapping[str, Codes]

    def truth(self, tally: Tally) -> Tally:
        """Return the table before in the codes of the new trees."""
        codes = tally.codes.copy()
        for place, name in enumerate(tally.columns):
            if name in self.moved:
                codes[:, place] = self.moved[name][codes[:, place]]
        return replace(tally, codes=codes, trees={**tally.trees, **self.form.tally.trees}, population=None)


def among_outsiders(form: Labelled, unlisted: Mapping[str, pl.Series]) -> AmongOutsiders:
    """Return a form by trees that also hold some `unlisted` values of columns: each is a value that its tree lacks."""
    shown, trees, moved = form.shown, dict(form.tally.trees), {}
    lows, highs = form.group_regions().lows.copy(), form.group_regions().highs.copy()
    for name, values in unlisted.items():
        place, tree = shown.columns.index(name), trees[name]
        if tree.ordered:
            trees[name], moved[name] = _more_numbers(name, tree, values)
            runs = _runs(name, trees[name], shown.labels[name])
            if runs is None:  # names of nodes, which stand for the same values as before
                runs = moved[name][lows[:, place]], moved[name][highs[:, place] - 1] + 1
            without_missing = lows[:, place] > 0
            lows[:, place] = np.where(without_missing, np.maximum(runs[0], 1), runs[0])
            highs[:, place] = runs[1]
        else:
            trees[name], moved[name] = _more_names(tree, values), np.arange(tree.size, dtype=np.int32)
            anything = shown.stands_for_anything(name)
            highs[anything, place] = trees[name].size
    made = AmongOutsiders(_empty(form, trees), moved)
    return replace(
        made,
        form=replace(
            made.form,
            tally=made.truth(form.tally),
            shown=replace(shown, lows=lows, highs=highs, torn={}, less=False),
        ),
    )


def _empty(form: Labelled, trees: Mapping[str, Tree]) -> Generalized:
    tally = replace(form.tally, trees=trees)
    return Generalized(
        form.schema, tally, form.shown, form.groups, form.sensitive, form.counts, form.rows_in, form.written
    )


def _more_numbers(name: str, tree: Tree, values: pl.Series) -> tuple[Tree, Codes]:
    known = tree.values.slice(1).rename("")
    frames = [known.to_frame("value"), values.to_frame("value")]  # which find a kind of number for both
    both = pl.concat(frames, how="vertical_relaxed")["value"].rename("").unique().sort()
    places = both.search_sorted(known.cast(both.dtype), side="left")
    moved = np.concatenate(([0], np.asarray(places) + 1)).astype(np.int32)
    return grow(name, both, tree.kind, from_data=True), moved


def _runs(name: str, tree: Tree, shown: pl.Series) -> tuple[Codes, Codes] | None:
    label_of, distinct = number_labels(shown)
    try:
        lows, highs, _ = runs_of_labels(name, tree, distinct)
    except UnreadableLabel:
        return None
    return lows[label_of], highs[label_of]


def _more_names(tree: Tree, values: pl.Series) -> Tree:
    """Return a tree with more names, each of which has nothing in common with any other."""
    number = len(values)
    values = values.rename("").cast(tree.values.dtype)
    nodes, names = [], []
    for level, own in enumerate(tree.names):
        if level == tree.height:
            new, named = np.full(number, tree.nodes[level, 0]), own
        else:
            new, named = len(own) + np.arange(number), pl.concat([own, values.cast(own.dtype)])
        nodes.append(np.concatenate([tree.nodes[level], new]))
        names.append(named)
    positions = np.concatenate([tree.positions, tree.positions.max(initial=0.0) + 1 + np.arange(number)])
    return replace(
        tree,
        values=pl.concat([tree.values, values], rechunk=True),
        nodes=np.stack(nodes).astype(np.int32),
        names=tuple(names),
        positions=positions,
    )
