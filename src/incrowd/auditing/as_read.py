"""A release as its readers see it, where what was decided says a little more than what is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.metrics.reach import reach
from incrowd.recoding import WITHHELD
from incrowd.releases.generalized import Generalized
from incrowd.tally import Tally

if TYPE_CHECKING:
    from incrowd.releases.form import Form


def as_read(form: Form, truth: Tally) -> Form:
    """Let `*` stand for whatever the column may hold: the method may know that nobody in a group misses it.

    Groups and lines get an order that depends on nothing but what they stand for, so that an audit of a release and of
    its file pick the same ones where several are as good.
    """
    if not isinstance(form, Generalized) or not len(form.shown):
        return form
    shown = form.shown
    runs = [reach(truth, form, name) for name in shown.columns]
    lows, highs = (np.stack([run[side] for run in runs], axis=1) for side in (0, 1))
    order = np.lexsort([*highs.T[::-1], *lows.T[::-1]])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    groups = place[form.groups]
    lines = np.lexsort([*form.sensitive.T[::-1], groups])
    group_of = np.where(shown.group_of == WITHHELD, WITHHELD, place[shown.group_of])
    return replace(
        form,
        shown=replace(
            shown,
            labels={name: labels.gather(order) for name, labels in shown.labels.items()},
            lows=lows[order],
            highs=highs[order],
            group_of=group_of,
        ),
        groups=groups[lines],
        sensitive=form.sensitive[lines],
        counts=form.counts[lines],
    )
