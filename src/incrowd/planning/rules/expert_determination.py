"""Thresholds as experts use them who determine that a risk is very small, 45 CFR 164.514(b)(1)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.planning.profile.plan import Asked, Plan, PlannedColumn
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.profile.writing import diversity
from incrowd.planning.rules.rule import Rule

RISK = 0.09


def risk_model() -> Asked:
    """Return the largest risk that anybody may have, as a model."""
    why = (
        f"Nobody's row is found with a probability above {RISK:g}: groups of at least 12 people, since 1/11 is 0.0909. "
        "Where 0.09 is read as 1/11, groups of 11 are enough: risk = 0.091. For groups of 20: risk = 0.05."
    )
    return Asked(why, {"name": "prosecutor-risk", "risk": RISK})


def mondrian() -> Asked:
    """Return the method that makes small groups, with labels of the hierarchies."""
    why = "Mondrian makes small groups of people who are alike, and shows them by labels of the hierarchies below."
    return Asked(why, {"name": "mondrian", "labels": "hierarchy"})


@dataclass(frozen=True)
class ExpertDetermination(Rule):
    """Ask for a prosecutor risk of at most 0.09 and diverse groups, and say what an expert still decides.

    Reference: 45 CFR 164.514(b)(1); El Emam (2013), Guide to the De-Identification of Personal Health Information.
    """

    name: ClassVar[str] = "expert-determination"
    title: ClassVar[str] = "Thresholds for an expert determination, 45 CFR 164.514(b)(1)"

    def plan(self, profile: Profile) -> Plan:
        """Return roles as profiled, and the threshold."""
        return Plan(
            title=self.title,
            not_established=(
                "That the risk is very small. An expert determines that, with knowledge of the recipients and of what "
                "else they can get, and documents methods and results.",
                "That 0.09 is the right threshold for this release. The law names none.",
                'Anything about columns with the role "keep": they are outside of every guarantee.',
                "It is no legal determination.",
            ),
            questions=(
                "Who will get it, under which contract and controls? A threshold for a few bound recipients may be "
                "higher than one for the public.",
                "Which columns can an outsider know? All of them have to be quasi-identifiers; each below has its "
                "reason, and those that are unsure say so.",
                "Are two values of a sensitive column in a group diverse enough, where they mean nearly the same?",
                "Was anything published before about the same people? See the ledger.",
                "After publishing: read `incrowd audit` and `incrowd evidence`, and decide on what they measured.",
            ),
            models=(risk_model(), *(diversity(column) for column in profile.named("sensitive") if column.distinct > 1)),
            method=mondrian(),
            columns=tuple(PlannedColumn(column, column.role, "") for column in profile.columns),
        )
