"""What a person should know about a profile before trusting it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from incrowd.hierarchies.values import natural_kind
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.readable import count, listed, share
from incrowd.planning.profile.separation import singling_out
from incrowd.planning.profile.survey import Survey

if TYPE_CHECKING:
    from incrowd.planning.profile.column_profile import ColumnProfile

PROPOSED_K = 5
MOST_QUASI = 12
"""With more quasi-identifiers than this, what is published tells hardly anything."""

MARKERS = (
    "?",
    "-",
    "--",
    ".",
    "*",
    "NA",
    "N/A",
    "n/a",
    "na",
    "NULL",
    "null",
    "None",
    "none",
    "#N/A",
    "unknown",
    "Unknown",
)
"""Words that often stand for a missing value."""


def about(surveyed: Survey, columns: Sequence[ColumnProfile]) -> Iterator[str]:
    """Yield remarks; none of them quotes a value, except words that everybody uses for missing."""
    roles = {
        role: [column for column in columns if column.role == role] for role in ("quasi", "sensitive", "identifier")
    }
    if surveyed.coded.is_sample:
        yield (
            f"What tells rows apart was measured on a sample of {surveyed.coded.rows:,} of the {surveyed.rows:,} rows; "
            "in the whole table fewer are unique."
        )
    estimated = [column.name for column in columns if not column.distinct_exact]
    if estimated:
        yield f"How many values {listed(estimated)} {'has' if len(estimated) == 1 else 'have'} is an estimate."
    if surveyed.rows < PROPOSED_K:
        yield f"In {count(surveyed.rows, 'row')} nobody can hide among {PROPOSED_K}: nothing can be published."
    if not roles["quasi"]:
        yield "No column looks like a quasi-identifier: give that role to what outsiders may know about a person."
    if not roles["sensitive"]:
        yield "No column looks sensitive by its name: give that role to what nobody should learn about a person."
    yield from _too_many_quasi(surveyed, [column.name for column in roles["quasi"]])
    yield from _several_rows_per_person(surveyed, columns)
    yield from _missing_markers(surveyed)


def _too_many_quasi(surveyed: Survey, quasi: Sequence[str]) -> Iterator[str]:
    """Warn of a table that is too wide: hardly two people are alike in so many columns."""
    if len(quasi) <= MOST_QUASI:
        return
    found = singling_out(surveyed.coded, quasi)
    alone = ""
    if found is not None:
        alone = (
            f" {listed(found.columns)} alone already single{'s' if len(found.columns) == 1 else ''} out "
            f"{share(found.unique_rows, found.rows)} of the rows."
        )
    yield (
        f"{len(quasi)} quasi-identifiers are proposed. In so many columns hardly two people are alike, and little that "
        f'is useful can come out.{alone} Give the role "drop" to every column that nobody needs.'
    )


def _several_rows_per_person(surveyed: Survey, columns: Sequence[ColumnProfile]) -> Iterator[str]:
    found = [column for column in columns if column.role == "person"]
    if found:
        yield (
            f"Does {listed([found[0].name])} tell whose a row is? It looks so: guarantees then count people, not rows. "
            "If it does not, change its role; and where each row is a person of its own, say each_row_a_person = true."
        )
        return
    repeated = [
        column.name
        for column in columns
        if column.role == "identifier"
        and column.concept in ("person id", "official number")
        and column.distinct < 0.9 * surveyed.rows - column.missing
    ]
    if repeated and surveyed.rows >= PROPOSED_K:
        yield (
            f"By {listed(repeated)} a person has several rows: {PROPOSED_K} rows that look alike may be one person's. "
            'If that is so, its role is "person".'
        )


def _missing_markers(surveyed: Survey) -> Iterator[str]:
    hidden = [(facts.name, marker) for facts in surveyed.columns.values() for marker in _markers_in(facts)]
    if not hidden:
        return
    words = list(dict.fromkeys(marker for _, marker in hidden))
    names = list(dict.fromkeys(name for name, _ in hidden))
    asked = " ".join(f'--missing "{word}"' for word in words)
    yield f"{listed(names)} would be numbers or dates but for words that may stand for missing: try {asked}."


def _markers_in(facts: ColumnFacts) -> list[str]:
    """Return the words for missing in a column of text that would be numbers or dates without them."""
    if facts.look != "text" or facts.values.dtype != pl.String:
        return []
    marks = facts.values.is_in(MARKERS)
    rest = facts.values.filter(~marks)
    if not marks.any() or not len(rest) or natural_kind(rest).dtype == pl.String:
        return []
    return facts.values.filter(marks).to_list()
