"""What every summary tells of labels: how much they lose, in total and by column."""

from __future__ import annotations

from typing import Any

from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.metrics.average_group_size import AverageGroupSize
from incrowd.metrics.discernibility import Discernibility
from incrowd.metrics.ncp import GlobalCertaintyPenalty, certainty_penalties


def label_losses(before: Tally, release: Labelled) -> dict[str, Any]:
    """Return the certainty penalties, in total and by column, and what the groups' sizes cost."""
    return {
        "gcp": GlobalCertaintyPenalty().measure(before, release),
        "ncp": certainty_penalties(before, release),
        "discernibility": Discernibility().measure(before, release),
        "average group size": AverageGroupSize().measure(before, release),
    }
