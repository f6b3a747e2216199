"""The probability that somebody drawn at random looks like a group's labels and has a sensitive value.

Independent columns: Pr(t) = Π Pr(label) · Pr(value) (Sattar et al. 2013, Definition 5), where a label has the
probability of all values it may stand for. Rules replace the product for the people and values they speak of; a fitted
dependence replaces it for all. Cost: one pass over the (group, value) pairs per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.core.groups import Groups, Histogram
from incrowd.errors import NeedsTable
from incrowd.models.knowledge.dependence import fitted_shares
from incrowd.models.knowledge.frequencies import Marginals, marginal_shares
from incrowd.models.knowledge.rules import Mask, Rule, masks_by_value

Dependence = Literal["independent", "fitted"]


def record_probabilities(
    groups: Groups,
    column: str,
    histogram: Histogram,
    *,
    marginals: Marginals,
    rules: Sequence[Rule] = (),
    dependence: Dependence = "independent",
) -> Floats:
    """Return Pr(t) for every (group, sensitive value) entry of a histogram."""
    if groups.regions is None or groups.table is None:
        raise NeedsTable(
            "the probability of labels needs the table that they were made from.  "
            "Hint: publish the table here, or check the release together with its original."
        )
    regions, tally = groups.regions(), groups.table.drawn_from or groups.table
    group_of, values, every_group = histogram.group_of, histogram.values, np.arange(len(groups))
    weights = {
        name: marginal_shares(name, tally.trees[name], marginals[name])
        if name in marginals
        else tally.value_counts(name) / tally.rows
        for name in (*regions.columns, column)
    }
    shares = {name: fitted_shares(tally, name, column) for name in regions.columns} if dependence == "fitted" else {}

    def people(entries: NDArray[np.int64], among: Mask) -> Floats:
        """Return the probability of somebody with the labels of an entry's group, among some."""
        probability = np.ones(len(groups))
        for name in regions.columns:
            weight = weights[name] * among[name] if name in among else weights[name]
            probability *= regions.mass(name, weight, every_group)
        return np.asarray(probability[group_of[entries]])

    def having(entries: NDArray[np.int64], among: Mask) -> Floats:
        """Return the probability of somebody with the labels and the value of an entry, among some."""
        if dependence == "independent":
            return np.asarray(people(entries, among) * weights[column][values[entries]])
        probability = weights[column][values[entries]].copy()
        for name, share in shares.items():
            weight = share * among[name][:, None] if name in among else share
            probability *= regions.mass_by_value(name, weight, group_of[entries], values[entries])
        return probability

    joint = having(np.arange(len(values)), {})
    for value, among, confidence in masks_by_value(rules, tally.trees[column], tally.trees, regions.columns):
        concerned = np.flatnonzero(values == value)
        joint[concerned] += people(concerned, among) * confidence - having(concerned, among)
    return np.clip(joint, 0.0, 1.0)
