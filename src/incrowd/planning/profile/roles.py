"""Which role a column should have, and why, in words.

Roles are proposed with care: a column that nothing is known about becomes a quasi-identifier rather than published as
it is, and the reason says that this was unsure.
"""

from __future__ import annotations

from incrowd.common.records import dataclass
from incrowd.planning.profile.column_names import words_of
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.patterns import Finding, looks_like_codes, looks_like_free_text
from incrowd.planning.profile.readable import share
from incrowd.planning.profile.vocabulary import ID_WORDS, Role

ENOUGH_ROWS = 20
"""In fewer rows that values repeat, or do not, means nothing."""
NEAR_UNIQUE = 0.9
ALL_BUT_UNIQUE = 0.98
SMALLEST_LARGE = 1_000_000
HEAVIEST_BODY = 700
MOSTLY_DISTINCT = 0.8
WEIGHT_WORDS = {"weight", "weights", "gewicht", "poids", "peso", "wt"}


@dataclass(frozen=True)
class Proposal:
    """A role for a column."""

    role: Role
    reason: str
    unsure: bool = False


def propose_role(facts: ColumnFacts, finding: Finding | None, separation: float) -> Proposal:
    """Return the role that a column should have; `separation` is the share of row pairs that it separates alone."""
    if facts.missing == facts.rows:
        return Proposal("drop", "it holds no value at all")
    if facts.look == "duration":
        return Proposal("drop", "durations cannot be generalized; store them as numbers to publish them")
    role = finding.concept.role if finding is not None else None
    if facts.is_constant and facts.rows >= ENOUGH_ROWS and role not in ("identifier", "sensitive"):
        return Proposal("keep", "all rows have the same value, which tells nobody apart")
    if finding is not None:
        return _of_known(facts, finding)
    return _of_unknown(facts, separation)


def _of_known(facts: ColumnFacts, finding: Finding) -> Proposal:
    key = finding.concept.key
    if finding.concept.role in ("quasi", "sensitive") and key not in ("birth", "event date") and _is_own_text(facts):
        return Proposal("identifier", f"{finding.reason}; but no two rows share a value: it points at one person", True)
    if finding.concept.role in ("quasi", "sensitive") and _is_code_for_one(facts):
        return Proposal("identifier", "a code that hardly two rows share")
    if key == "coordinate" and not facts.is_numeric:
        return Proposal("drop", finding.reason + "; split it into two numbers to use it as a quasi-identifier", True)
    if key == "survey weight":
        return _of_weight(facts, finding.reason)
    if key == "body" and _weighs_a_sample(facts):
        reason = "numbers that hardly two rows share, and no body's weight: a survey's weight by its look"
        return Proposal("weight", reason, unsure=True)
    if key == "free text":
        return Proposal("drop", finding.reason + "; nobody can promise what is written in it")
    if key in ("birth", "event date") and facts.look == "text" and finding.shape == "dates":
        return Proposal("quasi", finding.reason + "; written as YYYY-MM-DD they would become months and years")
    if key == "event date":
        return Proposal("quasi", f"{finding.shape}, which others may know")
    if finding.concept.role == "sensitive" and facts.is_constant:
        return Proposal("sensitive", finding.reason + "; all rows have the same value: to publish it is to tell")
    if key == "person name" and finding.by == "values":
        return Proposal("identifier", finding.reason, True)
    return Proposal(finding.concept.role, finding.reason)


def _of_weight(facts: ColumnFacts, reason: str) -> Proposal:
    """Propose that weights are published so that they single nobody out, if they are what weights are."""
    if facts.missing or facts.low is None or facts.low < 0:
        lacking = "some are missing" if facts.missing else "some are below 0"
        return Proposal("drop", f"{reason}; but {lacking}, and weights are close to fingerprints")
    return Proposal("weight", f"{reason}: it is published rounded, so that it singles nobody out")


def _weighs_a_sample(facts: ColumnFacts) -> bool:
    """Tell a survey's weights from those of bodies, which have the same name: they hardly repeat, or are too large."""
    named = bool(WEIGHT_WORDS & set(words_of(facts.name)))
    if not named or facts.missing or facts.rows < ENOUGH_ROWS or not facts.is_numeric or facts.low is None:
        return False
    too_large = facts.high is not None and facts.high > HEAVIEST_BODY
    broken = facts.look == "number" and facts.distinct_share >= MOSTLY_DISTINCT
    return facts.low >= 0 and (too_large or broken)


def _of_unknown(facts: ColumnFacts, separation: float) -> Proposal:
    if looks_like_free_text(facts):
        return Proposal("drop", "free text by its look; nobody can promise what is written in it")
    if facts.rows >= ENOUGH_ROWS:
        if _numbers_the_rows(facts):
            return Proposal("identifier", "it numbers the rows")
        if facts.look == "integer" and _all_distinct(facts):
            return Proposal("identifier", "whole numbers, and no two rows share one: it points at one person", True)
        if facts.distinct_share >= NEAR_UNIQUE and facts.look == "text":
            if looks_like_codes(facts.values):
                return Proposal("identifier", "codes, and hardly two rows share one")
            return Proposal("identifier", "hardly two rows share a value", True)
        if _are_large_numbers(facts):
            return Proposal("identifier", "large whole numbers, and hardly two rows share one", True)
    kind = {"truth": "yes or no", "text": "texts"}.get(facts.look, "numbers")
    return Proposal("quasi", f"{kind}, not recognised; separates {share(separation, 1)} of row pairs on its own", True)


def _all_distinct(facts: ColumnFacts) -> bool:
    """Tell whether no value occurs twice, in enough rows for this to mean something."""
    exact = facts.distinct_exact and facts.distinct == facts.present
    return facts.rows >= ENOUGH_ROWS and facts.present >= ENOUGH_ROWS and exact


def _is_own_text(facts: ColumnFacts) -> bool:
    """Tell whether the column is text of which each row has its own, whatever it is called."""
    return facts.look == "text" and _all_distinct(facts)


def _is_code_for_one(facts: ColumnFacts) -> bool:
    """Tell whether the name speaks of a code or number, and hardly two rows have the same one."""
    near_unique = facts.rows >= ENOUGH_ROWS and facts.distinct_share >= NEAR_UNIQUE
    return near_unique and facts.look in ("text", "integer") and bool(ID_WORDS & set(words_of(facts.name)))


def _are_large_numbers(facts: ColumnFacts) -> bool:
    """Tell whether the values are numbers of one length as registers give them out, rather than amounts."""
    if facts.look != "integer" or facts.low is None or facts.high is None:
        return False
    return facts.distinct_share >= ALL_BUT_UNIQUE and facts.low >= SMALLEST_LARGE and facts.high < 10 * facts.low


def _numbers_the_rows(facts: ColumnFacts) -> bool:
    """Tell whether the values are a run of whole numbers, each once."""
    if facts.look != "integer" or facts.low is None or facts.high is None or not facts.distinct_exact:
        return False
    return facts.distinct == facts.rows == facts.high - facts.low + 1
