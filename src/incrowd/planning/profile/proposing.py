"""A table's profile: for every column a role and, where it needs one, a hierarchy; and which columns tell people apart.

Cost: one pass of the file for up to a million rows, a handful beyond (see `survey`); then a group-by for each set of
columns that is looked at, on at most a million rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.source import OpenedTable, Reading
from incrowd.planning.profile import notes
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.number_levels import propose_hierarchy
from incrowd.planning.profile.patterns import Finding, recognise
from incrowd.planning.profile.people import household_column, named_person, person_column
from incrowd.planning.profile.readable import listed
from incrowd.planning.profile.roles import ENOUGH_ROWS, Proposal, propose_role
from incrowd.planning.profile.separation import Separation, best_pairs, measure, repeats, separating_sets
from incrowd.planning.profile.survey import Survey, survey
from incrowd.planning.profile.vocabulary import Role
from incrowd.sources import open_source

_LEAST_TO_REPEAT = 3


@dataclass(frozen=True)
class Profile:
    """What is known and proposed about a table."""

    source: Mapping[str, object]
    """What opens the table again, in the words of a recipe's [source]."""
    rows: int
    measured_rows: int
    """Rows on which sets of columns were measured; fewer than `rows` where that was a sample."""
    columns: tuple[ColumnProfile, ...]
    sets: tuple[Separation, ...]
    """Sets of columns that tell rows apart better and better, each grown from the one before."""
    pairs: tuple[Separation, ...]
    """The pairs of columns that tell rows apart best."""
    quasi: Separation | None
    """All proposed quasi-identifiers together."""
    notes: tuple[str, ...]
    trial: tuple[str, ...] = ()
    """What the proposed recipe was found to risk, where it was tried."""

    def named(self, role: Role) -> list[ColumnProfile]:
        """Return the columns that a role is proposed for."""
        return [column for column in self.columns if column.role == role]

    def recipe(self, *, rule: str | None = None, path: str | Path = "table.recipe.toml") -> str:
        """Return a recipe for the table as text, to be written to `path`: a proposal, or what a `rule` asks for.

        Rules are `hipaa-safe-harbor`, `expert-determination`, `ema-0070`, `health-canada`, `public-use-file`, and those
        of plugins (`incrowd list rules`).
        """
        from incrowd.planning.profile.writing import recipe_text
        from incrowd.planning.rules import rule_named

        return recipe_text(self, recipe_path=path, rule=None if rule is None else rule_named(rule))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "format": 1,
            "source": dict(self.source),
            "rows": self.rows,
            "measured_rows": self.measured_rows,
            "columns": [column.to_dict() for column in self.columns],
            "sets": [found.to_dict() for found in self.sets],
            "pairs": [found.to_dict() for found in self.pairs],
            "quasi": None if self.quasi is None else self.quasi.to_dict(),
            "notes": list(self.notes),
            "trial": list(self.trial),
        }


def profile(
    source: object,
    *,
    progress: Progress = silent,
    **keywords: Unpack[Reading],
) -> Profile:
    """Propose a role for every column of a table and a hierarchy for every quasi-identifier.

    `source` and the keywords are those of `incrowd.read`.

    >>> import incrowd as ic
    >>> found = profile(ic.datasets.census(2000))
    >>> [column.name for column in found.columns if column.role == "sensitive"]
    ['salary']
    """
    opened = open_source(source, **keywords)
    return profile_of(opened, survey(opened, progress), progress)


def profile_of(opened: OpenedTable, surveyed: Survey, progress: Progress = silent) -> Profile:
    """Return the profile of a table that was read already."""
    progress("comparing columns", 0.0)
    columns = _propose(surveyed)
    hidden = ("identifier", "person", "household", "weight", "drop")
    published = [column.name for column in columns if column.role not in hidden]
    quasi = [column.name for column in columns if column.role == "quasi"]
    made = Profile(
        source=dict(opened.description),
        rows=surveyed.rows,
        measured_rows=surveyed.coded.rows,
        columns=tuple(columns),
        sets=tuple(separating_sets(surveyed.coded, published)),
        pairs=tuple(best_pairs(surveyed.coded, published)),
        quasi=measure(surveyed.coded, quasi) if quasi else None,
        notes=(*opened.notes, *notes.about(surveyed, columns)),
    )
    progress("comparing columns", 1.0)
    return made


def _propose(surveyed: Survey) -> list[ColumnProfile]:
    findings = {name: recognise(facts) for name, facts in surveyed.columns.items()}
    alone = {name: found.separation for name, found in surveyed.alone.items()}
    proposals = {name: propose_role(facts, findings[name], alone[name]) for name, facts in surveyed.columns.items()}
    proposals |= _name_person(surveyed, findings)
    proposals |= _one_weight(surveyed, proposals)
    proposals |= _drop_repeated(surveyed, proposals)
    proposals |= _need_one_quasi(proposals)
    return [_column(facts, findings[name], proposals[name], alone[name]) for name, facts in surveyed.columns.items()]


def _name_person(surveyed: Survey, findings: Mapping[str, Finding | None]) -> dict[str, Proposal]:
    """Propose the columns that tell whose a row is, where somebody seems to have several, and who lives together."""
    if surveyed.rows < ENOUGH_ROWS:
        return {}
    household = household_column(surveyed)
    reason = "its name says so, and its values repeat: who lives together"
    proposed = {} if household is None else {household: Proposal("household", reason, unsure=True)}
    found = person_column(surveyed, household=household)
    if found is None:
        of = {name: finding.concept.key for name, finding in findings.items() if finding is not None}
        numbers = [name for name, key in of.items() if key in ("person id", "official number") and name != household]
        found = named_person(surveyed, numbers, [name for name, key in of.items() if key in ("birth", "sex", "race")])
    if found is None:
        return proposed
    name, same = found
    reason = f"its values repeat, and {listed(same[:3])} stay the same within each: several rows of one person"
    return {**proposed, name: Proposal("person", reason, unsure=True)}


def _one_weight(surveyed: Survey, proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Of several weights, propose the first one that is the same in all rows of a person."""
    weights = [name for name, proposal in proposals.items() if proposal.role == "weight"]
    person = [name for name, proposal in proposals.items() if proposal.role == "person"]
    rows = surveyed.coded
    people = measure(rows, person).groups if person else 0
    changing = [name for name in weights if person and measure(rows, [*person, name]).groups > people]
    dropped = {
        name: Proposal("drop", f"{proposals[name].reason}; but it changes from row to row of a person")
        for name in changing
    }
    for name in [name for name in weights if name not in changing][1:]:
        dropped[name] = Proposal("drop", f"{proposals[name].reason}; but a release has one weight")
    return dropped


def _drop_repeated(surveyed: Survey, proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Of two quasi-identifiers that say the same, drop the code and keep the words, else drop the second."""
    facts = surveyed.columns
    quasi = [
        name
        for name, proposal in proposals.items()
        if proposal.role == "quasi" and _LEAST_TO_REPEAT <= facts[name].distinct <= surveyed.rows / 2
    ]
    if surveyed.rows < ENOUGH_ROWS:
        return {}
    dropped: dict[str, Proposal] = {}
    for first, second in repeats(surveyed.coded, quasi):
        if first in dropped or second in dropped:
            continue
        repeated, kept = (
            (first, second) if facts[first].is_numeric and not facts[second].is_numeric else (second, first)
        )
        dropped[repeated] = Proposal("drop", f"it says the same as {listed([kept])}, value for value")
    return dropped


def _need_one_quasi(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Where no column is a quasi-identifier, those that would be kept become one: a release needs one to guard."""
    if any(proposal.role == "quasi" for proposal in proposals.values()):
        return {}
    return {
        name: Proposal("quasi", f"{proposal.reason}; but a release needs a quasi-identifier", unsure=True)
        for name, proposal in proposals.items()
        if proposal.role == "keep"
    }


def _column(facts: ColumnFacts, finding: Finding | None, proposal: Proposal, separation: float) -> ColumnProfile:
    concept = None if finding is None else finding.concept.key
    made = ColumnProfile(
        name=facts.name,
        role=proposal.role,
        reason=proposal.reason,
        unsure=proposal.unsure,
        concept=concept,
        distinct=facts.distinct,
        distinct_exact=facts.distinct_exact,
        missing=facts.missing,
        largest_share=facts.largest_share,
        separation=separation,
        label=facts.label,
        look=facts.look,
    )
    return replace(made, hierarchy=propose_hierarchy(facts, concept)) if proposal.role == "quasi" else made
