"""How each column of a text file is written: found in a sample of its rows, and held against all of them.

A way is taken only if every value of the column fits it, and then written down in the table's description, so that a
recipe states it. A column in which some rows do not fit stays text, and a note says how many these are: one odd row is
never read in silence, nor does it change in silence how the others are read. What the rows leave open is a question,
which is an error that names the option. Cost: a sample, and one pass over the columns that look odd in it, if any do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.errors import SourceError, quotable
from incrowd.sources.finding_dates import SHORT_YEAR, DateCandidate, date_candidate, shapes_of
from incrowd.sources.finding_numbers import (
    NumberCandidate,
    NumberCounts,
    are_plain,
    broken_decimals,
    counts_of,
    number_candidate,
)
from incrowd.sources.normalize import null_where
from incrowd.sources.written import Decimal, Written, WrittenNumber

SAMPLED_ROWS = 1000
_BEGINS_LIKE_A_DATE = re.compile(r"\d{1,4}[./ -]?(?:\d|[A-Za-z]{3})", re.ASCII)
MOST_ALIKE = 0.5
Candidate: TypeAlias = DateCandidate | NumberCandidate


@dataclass
class Ways:
    """What was found: a way of writing by column, notes, and questions that only the owner can answer."""

    written: dict[str, Written] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    questions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add_note(self, column: str, what: str, way: str, odd: int, present: int) -> None:
        """Say of a column that it stays text."""
        self.notes.append(
            f"column '{quotable(column)}' would be {what} ({way}) but for {odd:,} of {present:,} rows, and stays text. "
            f"To read the others as {what}, say {option('written', {quotable(column): way}, section='source')}; or "
            f"list what stands for missing: {option('missing', ['…'], section='source')}."
        )


def find_ways(
    frame: pl.LazyFrame, *, decimal: Decimal | None, separator: str, may_hold_commas: bool, where: str
) -> Ways:
    """Find how the columns of a frame of texts are written; raises `SourceError` where the rows leave it open."""
    samples = _samples(frame)
    candidates = {
        name: found
        for name, values in samples.items()
        if (found := _candidate(values, decimal=decimal, may_hold_commas=may_hold_commas)) is not None
    }
    if may_hold_commas:
        plain_so_far = [name for name, values in samples.items() if name not in candidates and are_plain(values)]
        candidates |= {name: NumberCandidate() for name in _with_commas_later(frame, plain_so_far)}
    ways = Ways()
    for name, values in samples.items():
        _note_short_years(name, values, ways)
    if candidates:
        counted = _count(frame, candidates)
        plain = any(broken_decimals(values) for values in samples.values())
        _decide_dates(candidates, counted, ways)
        _decide_numbers(candidates, counted, ways, decimal=decimal, separator=separator, plain_points=plain)
    if ways.questions:
        raise SourceError(_question(ways.questions, where))
    return ways


def respelled(frame: pl.LazyFrame, written: Mapping[str, Written]) -> pl.LazyFrame:
    """Return the frame with the one spelling of everything that is written in a column's way."""
    if not written:
        return frame
    # By selector: `pl.col` takes "*" and "^a.*$" for patterns.
    return frame.with_columns(way.respelled(cs.by_name(name).as_expr()).alias(name) for name, way in written.items())


def as_read(missing: Sequence[str], ways: Mapping[str, Written], name: str, texts: pl.Series) -> pl.Series:
    """Return what the texts of a column are read as, with these words for missing and these ways of writing."""
    if not missing and name not in ways:
        return texts
    frame = null_where(texts.to_frame(name).lazy(), missing)
    return respelled(frame, {name: ways[name]} if name in ways else {}).collect().to_series()


def _samples(frame: pl.LazyFrame) -> dict[str, pl.Series]:
    """Return the first values of every column of texts; where the first rows have none, those that come later."""
    first = frame.select(cs.string()).head(SAMPLED_ROWS).collect(engine="streaming")
    samples = {column.name: _present(column) for column in first.get_columns()}
    empty = [name for name, values in samples.items() if not len(values)]
    if empty and first.height == SAMPLED_ROWS:
        later = [cs.by_name(name).as_expr().drop_nulls().head(SAMPLED_ROWS).implode() for name in empty]
        found = frame.select(later).collect(engine="streaming")
        samples |= {name: _present(found[name].alias("").explode()) for name in empty}
    return samples


def _present(column: pl.Series) -> pl.Series:
    texts = (text.strip() for text in column.to_list() if text is not None)
    return pl.Series("", [text for text in texts if text not in ("", "NaN", "nan")], dtype=pl.String)


def _candidate(values: pl.Series, *, decimal: Decimal | None, may_hold_commas: bool) -> Candidate | None:
    if not len(values):
        return None
    dates = date_candidate(shapes_of(values), len(values)) if _starts_like_dates(values) else None
    return dates or number_candidate(values, decimal=decimal, may_hold_commas=may_hold_commas)


def _with_commas_later(frame: pl.LazyFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns of plain numbers in which commas come after the sample."""
    if not columns:
        return []
    held = [cs.by_name(name).as_expr().str.contains(",", literal=True).any() for name in columns]
    found = frame.select(held).collect(engine="streaming").row(0, named=True)
    return [name for name in columns if found[name]]


def _starts_like_dates(values: pl.Series) -> bool:
    """Whether shapes are worth looking at: some value among the first begins like a date, and not all are numbers."""
    return not are_plain(values) and any(map(_BEGINS_LIKE_A_DATE.match, values.head(100).to_list()))


def _note_short_years(name: str, values: pl.Series, ways: Ways) -> None:
    if not _starts_like_dates(values):
        return
    short = sum(times for shape, times in shapes_of(values).items() if SHORT_YEAR.match(shape))
    if len(values) and short >= MOST_ALIKE * len(values):
        ways.notes.append(
            f"column '{quotable(name)}' looks like dates with years of two digits, which do not tell the century: it "
            "stays text. Write years with four digits to have dates."
        )


def _count(frame: pl.LazyFrame, candidates: Mapping[str, Candidate]) -> dict[str, tuple[int, dict[str, int]]]:
    """Hold every candidate against all rows, in one pass."""
    columns = {name: cs.by_name(name).as_expr() for name in candidates}
    checks = {name: candidate.checks(columns[name]) for name, candidate in candidates.items()}
    named = [
        check.cast(pl.Int64).alias(f"{number} {key}")
        for number, name in enumerate(candidates)
        for key, check in checks[name].items()
    ]
    stripped = {name: column.str.strip_chars() for name, column in columns.items()}
    present = [
        (~stripped[name].is_in(["", "NaN", "nan"])).sum().cast(pl.Int64).alias(f"{number} present")
        for number, name in enumerate(candidates)
    ]
    found = frame.select(*named, *present).collect(engine="streaming").row(0, named=True)
    return {
        name: (found[f"{number} present"], {key: found[f"{number} {key}"] for key in checks[name]})
        for number, name in enumerate(candidates)
    }


def _decide_dates(
    candidates: Mapping[str, Candidate], counted: Mapping[str, tuple[int, dict[str, int]]], ways: Ways
) -> None:
    for name, candidate in candidates.items():
        if not isinstance(candidate, DateCandidate):
            continue
        present, fitting = counted[name]
        way = candidate.decided(present, fitting)
        if way is not None:
            ways.written[name] = way
        elif asked := candidate.asked(present, fitting):
            ways.questions[name] = asked
        else:
            nearest, rows = candidate.nearest(fitting)
            if rows >= MOST_ALIKE * present:
                ways.add_note(name, "dates", nearest, present - rows, present)


def _decide_numbers(
    candidates: Mapping[str, Candidate],
    counted: Mapping[str, tuple[int, dict[str, int]]],
    ways: Ways,
    *,
    decimal: Decimal | None,
    separator: str,
    plain_points: bool,
) -> None:
    numbers = {
        name: (candidate, counts_of(*counted[name]))
        for name, candidate in candidates.items()
        if isinstance(candidate, NumberCandidate)
    }
    decided = {name: counts.decided(decimal) for name, (_, counts) in numbers.items()}
    others: set[Decimal] = {one for one in decided.values() if one is not None}
    if plain_points or separator == ",":  # a file with decimal commas is separated by something else
        others.add(".")
    usual: Decimal | None = decimal or (next(iter(others)) if len(others) == 1 else None)
    for name, (candidate, counts) in numbers.items():
        way = _number_way(candidate, counts, decided[name], usual, stated=decimal, separator=separator)
        if way == "ask":
            ways.questions[name] = tuple(WrittenNumber(one, candidate.unit).says for one in (",", "."))
        elif isinstance(way, WrittenNumber):
            ways.written[name] = way
        elif way is None:
            _note_numbers(name, candidate, counts, usual, ways, stated=decimal)


def _number_way(
    candidate: NumberCandidate,
    counts: NumberCounts,
    decided: Decimal | None,
    usual: Decimal | None,
    *,
    stated: Decimal | None,
    separator: str,
) -> WrittenNumber | str | None:
    """Return how a column is written, "plain" where nothing is to be done, "ask", or None where it stays text."""
    if not counts.present or counts.present not in (counts.comma, counts.point):
        return None
    if decided is not None:
        if decided == "," and (stated == "." or (separator == "," and stated is None and not candidate.unit)):
            return None  # in such a file, 1,2 is rather two answers than a number
        plain = decided == "." and not candidate.unit and not counts.grouped and not counts.spaced
        return "plain" if plain else WrittenNumber(decided, candidate.unit)
    if counts.both < counts.present:  # all fit one sign only, but hardly any row tells
        fits: Decimal = "," if counts.comma == counts.present else "."
        return WrittenNumber(fits, candidate.unit) if usual == fits else "ask"
    if counts.with_comma or counts.with_point:
        return _thousands_or_decimals(candidate, counts, usual, stated)
    if not candidate.unit and (not counts.spaced or counts.spaced == counts.present):
        return "plain"  # codes such as 110 001 all have the space
    return WrittenNumber(usual or ".", candidate.unit)


def _thousands_or_decimals(
    candidate: NumberCandidate, counts: NumberCounts, usual: Decimal | None, stated: Decimal | None
) -> WrittenNumber | str:
    """Of values such as 1,234 or 1.234 alone, take the file's usual sign; a point is plain unless commas are usual."""
    if counts.with_comma and counts.with_point:
        return "ask" if stated is None else WrittenNumber(stated, candidate.unit)
    if counts.with_comma:
        return "ask" if usual is None else WrittenNumber(usual, candidate.unit)
    if stated == "," or (candidate.unit and usual is not None):
        return WrittenNumber(usual or ",", candidate.unit)
    return "ask" if usual == "," or candidate.unit else "plain"


def _note_numbers(
    name: str,
    candidate: NumberCandidate,
    counts: NumberCounts,
    usual: Decimal | None,
    ways: Ways,
    *,
    stated: Decimal | None,
) -> None:
    best: Decimal = "," if counts.comma > counts.point or (counts.comma == counts.point and usual == ",") else "."
    fitting = counts.fitting(best)
    odd = candidate.unit or (counts.comma > counts.both if best == "," else counts.grouped or counts.spaced)
    if not counts.present or not odd or fitting < MOST_ALIKE * counts.present:
        return
    way = WrittenNumber(best, candidate.unit).says
    if fitting < counts.present:
        ways.add_note(name, "numbers", way, counts.present - fitting, counts.present)
    else:
        why = "the decimal sign is stated to be a point" if stated == "." else "the file is separated by commas"
        ways.notes.append(
            f"column '{quotable(name)}' may hold decimal commas, but {why}: it stays text. If these are numbers, say "
            f"{option('written', {quotable(name): way}, section='source')}."
        )


def _question(questions: Mapping[str, Iterable[str]], where: str) -> str:
    listed = "; ".join(f"'{quotable(name)}' {' or '.join(ways)}" for name, ways in questions.items())
    name, ways = next(iter(questions.items()))
    stated = option("written", {quotable(name): next(iter(ways))}, section="source")
    return f"{where}: the rows do not tell how these columns are written: {listed}.  Hint: state it: {stated}."
