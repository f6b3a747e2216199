"""A public-use file: a sample for everybody, in large groups, with nothing outside of the guarantee."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.plan import Asked, Plan, PlannedColumn
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.profile.writing import diversity
from incrowd.planning.rules.expert_determination import mondrian
from incrowd.planning.rules.rule import Rule

GROUP_SIZE = 20
SAMPLE = 0.5
EXTREMES = 0.01
_FEWEST_NUMBERS = 20
"""Columns with fewer numbers are codes or scores: their largest values are nobody's alone."""


@dataclass(frozen=True)
class PublicUseFile(Rule):
    """Publish half of the rows in groups of 20, with extremes coded and no column outside of the guarantee.

    Reference: Willenborg & de Waal (2001); Hundepool et al. (2012), Statistical Disclosure Control, chapter 3.
    """

    name: ClassVar[str] = "public-use-file"
    title: ClassVar[str] = "A public-use file"

    def plan(self, profile: Profile) -> Plan:
        """Return groups of 20, a sample, and coded extremes."""
        several = bool(profile.named("person"))
        columns = tuple(_planned(column, several=several) for column in profile.columns)
        sensitive = [planned.column for planned in columns if planned.role == "sensitive"]
        return Plan(
            title=self.title,
            not_established=(
                "That anybody's office or review board agrees: what a public file may hold is decided there.",
                "That the sample hides who is in the table. It makes it less sure, and nothing is promised of it.",
                "That places are large enough. Offices often ask for 100,000 people in each place that is named.",
                "That two files of the same people are safe together: publish one, or use the ledger.",
                "It is no legal determination.",
            ),
            questions=(
                f"Is {GROUP_SIZE} enough? Groups are counted among the rows that are published.",
                "Which columns does nobody need? Every quasi-identifier costs detail in all others.",
                "Are there extremes at the lower end, such as large debts? Add bottom-coding to them.",
            ),
            models=(
                Asked(
                    f"Everybody hides among at least {GROUP_SIZE} published people who look alike.",
                    {"name": "k-anonymity", "k": GROUP_SIZE},
                ),
                *(diversity(column) for column in sensitive if column.distinct > 1),
            ),
            method=mondrian(),
            columns=columns,
            sample=Asked(
                "This share of the rows is published, drawn by chance that nobody can repeat.", {"sample": SAMPLE}
            ),
        )


def _planned(column: ColumnProfile, *, several: bool) -> PlannedColumn:
    if column.role == "keep":
        return PlannedColumn(column, "drop", "a public file keeps no column outside of the guarantee")
    if column.role == "quasi" and (column.unsure or column.concept == "coordinate"):
        why = 'not needed or not recognised: dropped. If readers need it, and outsiders may know it: role = "quasi"'
        return PlannedColumn(column, "drop", why)
    if column.role == "weight":
        return PlannedColumn(column, "weight", "published in classes, so that no weight singles anybody out")
    numbers = column.look in ("integer", "number") and column.distinct >= _FEWEST_NUMBERS
    if column.role != "sensitive" or not numbers:
        return PlannedColumn(column, column.role, "")
    if several:
        why = (
            "people have several rows, so that no threshold is taken from them. State one: change = { name = "
            '"top-coding", above = 100000 }. Until then it is dropped, extremes and all'
        )
        return PlannedColumn(column, "drop", why)
    change = {"name": "top-coding", "share": EXTREMES}
    why = "the largest hundredth, and of ten people at least, is published as one number"
    return PlannedColumn(column, "sensitive", why, {"change": change})
