"""Which few of some columns together single out how many people: what to look at before roles are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd.planning.profile.separation import CodedRows, measure, separating_sets


def singled_out_by(rows: CodedRows, columns: Sequence[str]) -> dict[str, Any]:
    """Return how many rows all of the columns single out together, and how far the best few of them get already.

    >>> import numpy as np
    >>> rows = CodedRows({"a": np.arange(4, dtype=np.uint64), "b": np.zeros(4, dtype=np.uint64)}, 4, 4)
    >>> found = singled_out_by(rows, ["a", "b"])
    >>> found["together"]["unique_rows"], [step["columns"] for step in found["fewest"]]
    (4, [['a']])
    """
    fewest = separating_sets(rows, columns) if columns else []
    return {"together": measure(rows, columns).to_dict(), "fewest": [step.to_dict() for step in fewest]}
