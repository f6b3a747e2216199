"""Published rows as statistics programs hold them: codes with labels again, and everything else as it is.

A column that was shown by labels becomes codes again. A label that is none of the table's own, such as `north` for two
regions, gets a code above all others. Only codes that are published keep their label; what the file declares as missing
is kept whole, since its owner declared it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.core.codebook import FEWEST_LABELS, Code, Codebook, MissingCodes, Variable
from incrowd.core.sink import Sink
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_days, as_text
from incrowd.publishing.sinks.held_types import Held

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
_LONGEST_TEXT = 32_767
_LEAST_NEW_CODE = 1000
_TRUTH: dict[Code, str] = {0: "false", 1: "true"}
_LARGEST = 2_147_483_620
"""The largest whole number of Stata; larger ones are its missing values."""


@dataclass(frozen=True)
class StatisticsSink(Sink):
    """A file of a statistics program; what kinds of these share."""

    extra: ClassVar[str | None] = "statistics"
    names_are_words: ClassVar[bool] = True
    held: ClassVar[Held]
    """What such files can hold."""

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all rows at once."""
        self.write_labelled(batches, path, separator=separator, codebook=None)

    def write_labelled(
        self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str, codebook: Codebook | None
    ) -> None:
        """Write all rows, and what is said of their columns."""
        frame, said = as_arguments(columns_to_write(batches, codebook, self.held))
        with through_pyreadstat(self.held.noun) as pyreadstat:
            self.hand_over(pyreadstat, frame, str(path), said)

    def hand_over(self, pyreadstat: Any, frame: pl.DataFrame, path: str, said: dict[str, Any]) -> None:
        """Let pyreadstat write the file, and tell it what such files take of what is said of columns."""


@dataclass(frozen=True)
class Written:
    """A column, and what is said of it."""

    values: pl.Series
    label: str | None = None
    labels: Mapping[Code, str] = field(default_factory=dict)
    missing: MissingCodes = ()
    format: str | None = None
    measure: str | None = None


def columns_to_write(batches: Iterator[pl.DataFrame], codebook: Codebook | None, held: Held) -> list[Written]:
    """Return all columns; such files are written at once, so all rows come into memory."""
    frame = pl.concat(list(batches))
    _require_words(frame.columns, held.noun)
    book = Codebook({}) if codebook is None else codebook
    said = {
        name: book.of(name) if book.program == held.program else _elsewhere(book.of(name)) for name in frame.columns
    }
    values_too = book.missing_are_values and book.program == held.program
    written = []
    for values in frame.get_columns():
        labels = len(values.name) <= held.longest_labelled
        as_codes = labels and not book.by_codes  # what was read as codes is read as codes again
        coded = _coded(values, said[values.name], values_too) if as_codes else None
        written.append(coded or _written(values, said[values.name], held, labels))
    return written


def _elsewhere(said: Variable) -> Variable:
    """Return what another program can be told: it has other formats, and would take codes for missing as values."""
    ordinary = said.ordinary
    named = said.is_named or len(ordinary) < FEWEST_LABELS
    return Variable(said.label, ordinary if named else {})


def _require_words(names: list[str], noun: str) -> None:
    odd = [name for name in names if not _WORD.fullmatch(name)]
    if odd:
        raise OutputError(
            f"{noun} cannot hold a column named '{odd[0]}': a name is a letter, then letters, digits and underscores, "
            "at most 32.  Hint: rename it, or choose another format."
        )
    lower = [name.lower() for name in names]
    twice = [name for name in names if lower.count(name.lower()) > 1]
    if twice:
        raise OutputError(f"{noun} cannot hold both '{twice[0]}' and '{twice[1]}', which differ in letter case alone.")


def _written(values: pl.Series, said: Variable, held: Held, labels: bool) -> Written:
    if values.dtype == pl.Boolean and labels:
        return Written(values.cast(pl.Int32), said.label, _TRUTH, measure="nominal")
    # What was a time in such a file stays one; elsewhere, a time of 00:00:00 says nothing.
    plain = held.column(values if said.format else as_days(values))
    if plain.dtype == pl.String:
        return Written(_short_enough(plain, held.noun), said.label)
    if not plain.dtype.is_numeric():
        return Written(plain, said.label, format=said.format)
    if plain.dtype == pl.Int64 and bool((plain.drop_nulls().abs() <= _LARGEST).all()):
        plain = plain.cast(pl.Int32)
    kept = _labels_of(plain, said) if labels else {}
    return Written(plain, said.label, kept, said.missing if labels else (), said.format, said.measure)


def _short_enough(texts: pl.Series, noun: str) -> pl.Series:
    if (texts.str.len_bytes() > _LONGEST_TEXT).any():
        raise OutputError(
            f"column '{texts.name}' holds texts of more than {_LONGEST_TEXT:,} bytes, too long for {noun}."
        )
    return texts


def _labels_of(codes: pl.Series, said: Variable) -> dict[Code, str]:
    """Return the labels of codes that are there, and of those that mean missing."""
    there = set(codes.unique().cast(pl.Float64).to_list())
    kept = {code: text for code, text in said.labels.items() if code in there or said.means_missing(code)}
    return _whole(kept) if codes.dtype.is_integer() else kept


def _whole(labels: Mapping[Code, str]) -> dict[Code, str]:
    """Return labels of whole numbers as such: a column of these takes no others."""
    return {
        int(code): text for code, text in labels.items() if float(code).is_integer() and abs(float(code)) <= _LARGEST
    }


def _coded(texts: pl.Series, said: Variable, values_too: bool) -> Written | None:
    """Return texts as the codes that they were, with labels; None where there are none, or texts say more."""
    if texts.dtype != pl.String or not said.labels:
        return None
    shown = said.texts(missing_too=values_too)
    code_of = {text: code for code, text in shown.items()}
    found: list[str] = texts.unique().drop_nulls().sort().to_list()
    as_texts = any(isinstance(code, str) for code in said.labels)
    coding = _text_codes(found, code_of, said) if as_texts else _number_codes(found, code_of, said)
    if coding is None or (not values_too and any(said.means_missing(code) for code in coding.values())):
        return None  # it would be read as another value, or as missing
    labels = {code: said.labels.get(code, text) for text, code in coding.items() if _spelt(code) != text}
    ordinary = [code for code in labels if not said.means_missing(code)]
    if len(ordinary) < FEWEST_LABELS:  # it would be read as a number again
        return None
    labels |= {code: text for code, text in said.labels.items() if said.means_missing(code)}
    kind = pl.String if as_texts else pl.Float64
    key = pl.DataFrame({"text": list(coding), "code": pl.Series(list(coding.values()), dtype=kind)})
    codes = pl.DataFrame({"text": texts}).join(key, on="text", how="left", maintain_order="left")["code"]
    if not as_texts and all(float(code).is_integer() and abs(float(code)) <= _LARGEST for code in coding.values()):
        codes = codes.cast(pl.Int32)
        labels = _whole(labels)
    measure = said.measure if said.measure in ("nominal", "ordinal") else "nominal"
    return Written(codes.alias(texts.name), said.label, labels, said.missing, measure=measure)


def _number_codes(found: list[str], code_of: Mapping[str, Code], said: Variable) -> dict[str, Code] | None:
    """Give each text a number: its own, or the next one above all others."""
    coding: dict[str, Code] = {}
    for text in found:
        code = code_of.get(text, _number(text))
        if code is not None:
            coding[text] = code
    largest = max((abs(float(code)) for code in coding.values()), default=0.0)
    start = max(_LEAST_NEW_CODE, 10 ** len(str(int(largest))))
    new = [text for text in found if text not in coding]
    coding |= {text: start + place for place, text in enumerate(new, start=1)}
    mistaken = any(said.means_missing(coding[text]) for text in new)
    return None if mistaken or len(set(coding.values())) < len(coding) else coding


def _text_codes(found: list[str], code_of: Mapping[str, Code], said: Variable) -> dict[str, Code] | None:
    """Give each text its own short one; others stay, unless they would then be read as another's."""
    coding: dict[str, Code] = {text: code_of.get(text, text) for text in found}
    mistaken = any(text not in code_of and (text in said.labels or said.means_missing(text)) for text in found)
    return None if mistaken or len(set(coding.values())) < len(coding) else coding


def _number(text: str) -> float | None:
    """Return the code that a text is the plain spelling of."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if _spelt(number) == text else None


def _spelt(code: Code) -> str:
    return code if isinstance(code, str) else str(as_text(pl.Series([float(code)]))[0])


@contextmanager
def through_pyreadstat(noun: str) -> Iterator[Any]:
    """Give pyreadstat, and make its errors ours: its own may quote a value."""
    with needing_extra("statistics", f"{noun.partition(' ')[2]}s"):
        import pyreadstat
    try:
        yield pyreadstat
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise OutputError(f"{noun} cannot be written ({type(error).__name__}).") from None


def as_arguments(columns: list[Written]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the frame, and what is said of its columns, as pyreadstat takes it."""
    frame = pl.DataFrame([column.values for column in columns])
    named = {column.values.name: column for column in columns}
    return frame, {
        "column_labels": {name: column.label for name, column in named.items() if column.label},
        "variable_value_labels": {name: dict(column.labels) for name, column in named.items() if column.labels},
        "variable_format": {name: column.format for name, column in named.items() if column.format},
        "missing_ranges": {
            name: [{"lo": first, "hi": last} for first, last in column.missing]
            for name, column in named.items()
            if column.missing
        },
        "variable_measure": {
            name: column.measure for name, column in named.items() if column.measure in ("nominal", "ordinal", "scale")
        },
    }
