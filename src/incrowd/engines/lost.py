"""What a release loses as it is published, by what its method minimizes: what better groups (`effort`) are held to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from incrowd.common.records import dataclass
from incrowd.core.form import Form
from incrowd.core.labelled import Labelled
from incrowd.core.method import Moves
from incrowd.core.recoding import Recoding
from incrowd.forms.stand_ins import positions_of
from incrowd.methods.class_column import class_entropy, classes_of
from incrowd.metrics.iyengar_loss import leaf_losses
from incrowd.metrics.ncp import certainty_penalties
from incrowd.metrics.precision import Precision


@dataclass(frozen=True)
class Lost:
    """What a release loses, by what the method itself minimizes, and how unsure it leaves of classes that it keeps."""

    loss: float = math.inf
    unsure: float = math.inf

    def less_than(self, other: Lost) -> bool:
        """Whether less is lost, and no more of what groups tell of classes."""
        return self.loss < other.loss and self.unsure <= other.unsure + 1e-9 * max(other.unsure, 1.0)


def lost_of(form: Form, recoding: Recoding, moves: Moves) -> Lost:
    """Return what is lost as it is published; the recoding is that of the form's own tally."""
    labelled = form.labelled
    assert labelled is not None
    unsure = 0.0
    if moves.keeps_classes:
        classes, _ = classes_of(labelled.tally, labelled.schema, moves.target)
        unsure = class_entropy(classes[recoding.tuples], recoding.counts, labelled.shown.group_of)
    if moves.loss == "precision":
        return Lost(1.0 - Precision().measure(labelled.tally, labelled), unsure)
    found = _LOST[moves.loss](labelled, recoding)
    return Lost(sum(moves.weights.get(name, 1.0) * lost for name, lost in found.items()), unsure)


def _suppressed(labelled: Labelled, recoding: Recoding) -> dict[str, float]:
    """Return the share of each column's cells that are suppressed or withheld."""
    shown, rows = labelled.shown, max(labelled.rows_in, 1)
    suppressed = ((shown.highs - shown.lows > 1) * labelled.group_sizes[:, None]).sum(axis=0) + labelled.withheld
    return {name: float(cells) / rows for name, cells in zip(shown.columns, suppressed, strict=True)}


def _squares(labelled: Labelled, recoding: Recoding) -> dict[str, float]:
    """Return the mean squared error of each column: of what stands in the place of labels, or of labels."""
    shown, tally, rows = labelled.shown, labelled.tally, max(labelled.rows_in, 1)
    there = recoding.published
    found = {}
    for place, name in enumerate(shown.columns):
        tree = tally.trees[name]
        if labelled.schema.show.get(name) == "mean":
            written = positions_of(tree, shown.stand_ins[name][name])[shown.group_of[there]]
            true = tree.positions[tally.column(name)[recoding.tuples[there]]]
            off = np.abs(written - true) / (tree.span or 1.0)
            errors = np.where(np.isnan(off), np.isnan(written) != np.isnan(true), off**2)
            lost = float((errors * recoding.counts[there]).sum())
        else:
            widths = tree.widths(shown.lows[:, place], shown.highs[:, place])
            lost = float((widths**2 * labelled.group_sizes).sum())
        found[name] = (lost + labelled.withheld) / rows
    return found


_LOST: Mapping[str, Callable[[Labelled, Recoding], Mapping[str, float]]] = {
    "gcp": lambda labelled, _: certainty_penalties(labelled.tally, labelled),
    "loss": lambda labelled, _: leaf_losses(labelled.tally, labelled),
    "cells": _suppressed,
    "squared-error": _squares,
}
