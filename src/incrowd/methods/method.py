"""What every method can do: search a tally for a recoding that satisfies the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from incrowd.errors import Unsatisfiable
from incrowd.groups import Groups
from incrowd.models.model import Model
from incrowd.progress import Progress
from incrowd.recoding import Recoding
from incrowd.schema import Schema
from incrowd.tally import Tally


class Method(Protocol):
    """How to get a safe table. Implementations are frozen dataclasses, one file each, and never see rows."""

    name: ClassVar[str]
    """Its name in recipes and on the command line."""

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return who hides together and what they show, or raise `Unsatisfiable`."""
        ...


def require_possible(require: Sequence[Model], whole: Groups) -> None:
    """Raise `Unsatisfiable` if even all rows in one group fail a model."""
    failing = [model for model in require if not model.satisfied(whole).all()]
    if failing:
        reached = "; ".join(
            f"{model}: all {int(whole.sizes.sum())} rows together reach {model.achieved(whole):.4g}"
            for model in failing
        )
        raise Unsatisfiable(
            f"no grouping satisfies what is required. {reached}.  Hint: ask for less, or give more rows."
        )
