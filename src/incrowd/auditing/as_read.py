"""A release as its readers see it, where what was decided says a little more than what is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.metrics.reach import reach
from incrowd.releases.generalized import Generalized
from incrowd.tally import Tally

if TYPE_CHECKING:
    from incrowd.releases.form import Form


def as_read(form: Form, truth: Tally) -> Form:
    """Let `*` stand for whatever the column may hold: the method may know that nobody in a group misses it."""
    if not isinstance(form, Generalized) or not len(form.shown):
        return form
    runs = [reach(truth, form, name) for name in form.shown.columns]
    lows, highs = (np.stack([run[side] for run in runs], axis=1) for side in (0, 1))
    return replace(form, shown=replace(form.shown, lows=lows, highs=highs))
