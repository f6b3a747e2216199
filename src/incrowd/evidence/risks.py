"""The usual measures of risk, before and after: how probable it is that somebody's row is found.

Who looks for one person that is known to be in the table (prosecutor) finds the row with a probability of one by the
size of the group that looks alike. The maximum is that of the smallest group, the average that of all people. Who wants
to find as many as possible (marketer) finds the average share. Who does not know whether a person is in the table
(journalist) finds no more than the prosecutor; how much less needs a table of the population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.core.model import Guarantee
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.prosecutor_risk import ProsecutorRisk
from incrowd.publishing.check import Check


def measured(found: Check) -> dict[str, Any]:
    """Return the measures of one table, from what its groups look like."""
    people = found.people if found.people is not None else found.rows
    if not found.k or not people:
        return {"people": people, "groups": found.groups}
    maximum, average = 1 / found.k, min(1.0, found.groups / people)
    return {
        "people": people,
        "groups": found.groups,
        "smallest group": found.k,
        "prosecutor": {"maximum": maximum, "average": average},
        "journalist": {"maximum at most": maximum, "average at most": average},
        "marketer": {"average": average},
        "alone in their group": found.unique_rows,
        "columns that are not in it": list(found.outside),
    }


def thresholds(given: Mapping[str, float], guarantees: Sequence[Guarantee]) -> dict[str, Any]:
    """Return the thresholds that were set: by the steward, or else by the models that were asked for."""
    found: dict[str, Any] = {}
    for name, share in given.items():
        found[name] = {"limit": share, "set by": "the steward's answers"}
    if "maximum" not in found:
        limits = [limit for guarantee in guarantees if (limit := _limit(guarantee)) is not None]
        if limits:
            found["maximum"] = {"limit": min(limits), "set by": "the models that the release was asked for"}
    return found


def _limit(guarantee: Guarantee) -> float | None:
    model = guarantee.model
    if isinstance(model, KAnonymity):
        return 1 / model.k
    if isinstance(model, ProsecutorRisk):
        return float(model.risk)
    return None


def judged(residual: Mapping[str, Any], limits: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return whether each threshold is kept by the risk that is left."""
    found = []
    risk = residual.get("prosecutor")
    # Whoever knows values of columns beside the groups may find more: then nothing is said to be kept.
    beside = residual.get("columns that are not in it", [])
    for name, threshold in limits.items():
        value = None if risk is None else risk[name]
        exceeded = value is not None and value > threshold["limit"]
        found.append(
            {
                "measure": f"{name} risk of a prosecutor",
                "threshold": threshold["limit"],
                "set by": threshold["set by"],
                "residual": value,
                "kept": False if exceeded else None if value is None or beside else True,
            }
        )
    return found
