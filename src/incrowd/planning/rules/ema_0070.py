"""EMA Policy 0070: clinical data of trials for everybody, with a risk of at most 0.09."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.plan import Plan, PlannedColumn
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.profile.writing import diversity
from incrowd.planning.rules.expert_determination import mondrian, risk_model
from incrowd.planning.rules.identifier_kinds import kind_of
from incrowd.planning.rules.rule import Rule


@dataclass(frozen=True)
class Ema0070(Rule):
    """Ask for a maximum risk of 0.09, recode subject numbers, and count dates from the first event.

    Reference: EMA/90915/2016, External guidance on the implementation of Policy 0070, chapter 3.
    """

    name: ClassVar[str] = "ema-0070"
    title: ClassVar[str] = "EMA Policy 0070"
    authority: ClassVar[str] = "EMA"
    """Who judges the report."""

    def plan(self, profile: Profile) -> Plan:
        """Return roles for a clinical trial, and the threshold."""
        subject = _subject(profile)
        events = _events(profile) if subject is not None else []
        return Plan(
            title=self.title,
            not_established=(
                f"That {self.authority} accepts the anonymisation report. It judges the whole of it: the context of "
                "the release, the adversaries, and what was kept for use.",
                "Anything about the text of clinical reports: only tables are published here.",
                "Anything about days since the first event and recoded numbers: they are outside of the guarantee. "
                "Rows of one subject stay linked, and somebody who knows several intervals may recognise them; "
                "`incrowd audit` tries one known date.",
                "That the subjects of other trials with the same people are safe: a threshold holds for one release.",
                "It is no legal determination.",
            ),
            questions=(
                "Is the maximum risk asked for, or an average? A maximum of 0.09, as here, is the stricter reading.",
                "Is the disease rare, or are there few sites or few subjects? Then quasi-identifiers may have to go.",
                "Are serious adverse events, deaths or pregnancies known from the press? Look at them one by one.",
                "Who else is named: investigators, relatives, staff? Their names and numbers are no subject's, and go.",
            ),
            models=(risk_model(), *(diversity(column) for column in profile.named("sensitive") if column.distinct > 1)),
            method=mondrian(),
            columns=tuple(_planned(column, subject, events) for column in profile.columns),
        )


def _subject(profile: Profile) -> ColumnProfile | None:
    """Return the column that tells whose a row is: proposed as such, or another number in every row."""
    of_rows = [
        column
        for column in profile.named("identifier")
        if column.distinct == profile.rows and column.distinct_exact and _numbers_subjects(column)
    ]
    return next(iter([*profile.named("person"), *of_rows]), None)


def _numbers_subjects(column: ColumnProfile) -> bool:
    return column.concept == "person id" or (column.concept == "official number" and kind_of(column) == "H")


def _events(profile: Profile) -> list[ColumnProfile]:
    """Return the dates of events that can be counted from the first one."""
    dates = [column for column in profile.columns if column.concept == "event date" and column.look == "date"]
    return [column for column in dates if column.role in ("quasi", "keep")]


def _planned(column: ColumnProfile, subject: ColumnProfile | None, events: Sequence[ColumnProfile]) -> PlannedColumn:
    if column == subject:
        return PlannedColumn(
            column, "person-pseudonym", "the subject's number, recoded under a key that is drawn and forgotten"
        )
    if column in events:
        date = {"kind": "since-first", "unit": "days", "first_of": events[0].name}
        why = "a date of an event: published as days since the subject's first event, and outside of the guarantee"
        return PlannedColumn(column, "date", why, {"date": date})
    if column.role == "identifier":
        return PlannedColumn(column, "identifier", "a direct identifier: not published")
    if column.concept == "event date" and subject is None:
        why = "no column tells whose a row is, so that no days can be counted from a first event: generalized"
        return PlannedColumn(column, column.role, why)
    return PlannedColumn(column, column.role, "")
