"""How a CSV file writes its fields: found in its first lines, where it is not stated.

The standard library's `csv.Sniffer` guesses from letter frequencies and is often wrong. Here a separator is right if
the lines, read with it, have as many fields as the header.
"""

from __future__ import annotations

import _csv
import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.errors import SourceError
from incrowd.sources.content import Content

# Of two that fit equally well, the one that is rarer in ordinary text.
SEPARATORS = ("\t", "|", ";", ",")
# Times of day are full of colons, so a colon separates only where nothing else does.
_LAST_RESORT = ":"
# What separates the fields of a file that has one column: a character that no text contains.
NOTHING = "\x1f"
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", ":": "a colon"}
_SAMPLE_LINES = 200
_SAMPLE_BYTES = 1 << 18


@dataclass(frozen=True)
class Dialect:
    """A separator, a quote character (none: no field is quoted), and whether a space follows every separator."""

    separator: str
    quote: str | None
    padded: bool

    def reader(self, lines: Iterable[str]) -> _csv.Reader:
        """Return the standard library's reader for this dialect, which raises `csv.Error` on a broken quote."""
        return csv.reader(
            lines,
            delimiter=self.separator,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            skipinitialspace=self.padded,
            strict=True,
        )


@dataclass(frozen=True)
class _Fit:
    """How well a separator explains the sample; compared from the first field to the last."""

    like_the_header: float
    alike: float
    width: int

    def rank(self) -> tuple[float, float, int]:
        return self.like_the_header, self.alike, self.width


def detect(content: Content, *, separator: str | None, quote: str | None, where: str) -> Dialect:
    """Return the dialect of the file's first lines; `quote=""` states that no field is quoted."""
    _require_one_character("separator", separator, where)
    _require_one_character("quote", quote or None, where)
    lines = _sample(content)
    quoting = _quote(lines, separator) if quote is None else quote or None
    found = _separator(lines, quoting)
    if separator is None:
        separator = found or NOTHING
    elif found and _fit(lines, separator, quoting) is None:
        raise SourceError(
            f"{where}: separated by {_named(separator)}, the file has a single column; it looks separated by "
            f"{_named(found)}.  Hint: {option('separator', found, section='source')}, or leave it out."
        )
    return Dialect(separator, quoting, padded=_padded(lines, separator, quoting))


def sampled_rows(content: Content, dialect: Dialect) -> list[list[str]]:
    """Return the first records that follow the first one, as far as their quotes are closed."""
    records = _records(_sample(content), dialect.separator, dialect.quote)
    return [[field.strip() for field in record] for record in records][1:]


def _require_one_character(name: str, value: str | None, where: str) -> None:
    if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n\0 "):
        raise SourceError(
            f"{where}: {name}={value!r} must be one ASCII character, and neither a space nor a line's end."
        )


def _named(separator: str) -> str:
    return _NAMES.get(separator, repr(separator))


def _sample(content: Content) -> list[str]:
    """Return the first lines, without the blank ones and without a last one that was cut."""
    head = content.head(_SAMPLE_BYTES)
    # Twice as many, since some will be blank.
    lines = head.decode("utf-8", errors="replace").removeprefix("\ufeff").split("\n", 2 * _SAMPLE_LINES)
    if len(lines) > 2 * _SAMPLE_LINES or (len(head) < content.length and len(lines) > 1):
        lines.pop()
    return [line + "\n" for line in lines if line.strip(" \r")][:_SAMPLE_LINES]


def _separator(lines: list[str], quote: str | None) -> str | None:
    fits = {candidate: fit for candidate in SEPARATORS if (fit := _fit(lines, candidate, quote))}
    if fits:
        return max(fits, key=lambda candidate: fits[candidate].rank())
    return _LAST_RESORT if _fit(lines, _LAST_RESORT, quote) else None


def _fit(lines: list[str], separator: str, quote: str | None) -> _Fit | None:
    """Return how well the separator fits, or None where it leaves a single column."""
    widths = [len(record) for record in _records(lines, separator, quote)]
    if not widths and any(separator in line for line in lines[:1]):
        return _Fit(0.0, 0.0, 2)  # the header has a broken quote, which is for its reader to tell
    if not widths or widths[0] == 1:
        return None
    header, rows = widths[0], widths[1:]
    if not rows:
        return _Fit(1.0, 1.0, header)
    if max(rows) == 1:
        return None  # it occurs in one column's name only
    usual = Counter(rows).most_common(1)[0][1]
    return _Fit(rows.count(header) / len(rows), usual / len(rows), header)


def _records(lines: list[str], separator: str, quote: str | None) -> Iterator[list[str]]:
    """Yield the sample's records up to the first broken quote."""
    # A space before a quote must not hide the quote: with it hidden, the fields cannot be counted.
    reader = Dialect(separator, quote, padded=True).reader(lines)
    with suppress(csv.Error):
        yield from reader


def _quote(lines: list[str], separator: str | None) -> str:
    """Return the quote character: an apostrophe only where it evidently quotes, since names contain apostrophes too."""
    text = "".join(lines)
    if '"' in text or "'" not in text:
        return '"'
    separator = separator or _separator(lines, "'") or NOTHING
    edge = re.escape(separator)
    quoted = re.compile(rf"(?:^|{edge}) ?'(?:[^']|'')+'(?={edge}|\r?\n)")
    rows = lines[1:] or lines
    # The first two do not hang on how many rows there are: one more row is not to change how the others are read.
    evident = (
        quoted.search(lines[0]) is not None
        or _share_like_the_header(lines, separator, "'") > _share_like_the_header(lines, separator, '"')
        or sum(quoted.search(line) is not None for line in rows) >= len(rows) / 2
    )
    return "'" if evident and _closes_every_quote(lines, separator, "'") else '"'


def _share_like_the_header(lines: list[str], separator: str, quote: str) -> float:
    fit = _fit(lines, separator, quote)
    return fit.like_the_header if fit else 0.0


def _closes_every_quote(lines: list[str], separator: str, quote: str) -> bool:
    try:
        deque(Dialect(separator, quote, padded=True).reader(lines), maxlen=0)
    except csv.Error:
        return False
    return True


def _padded(lines: list[str], separator: str, quote: str | None) -> bool:
    """Tell whether a space follows every separator of the rows, as in the raw files of the UCI repository."""
    text = "".join(lines)
    if quote:
        mark = re.escape(quote)
        text = re.sub(f"{mark}[^{mark}]*{mark}", "quoted", text)
    # Only now is the header one line: a name may hold the end of one.
    text = text.partition("\n")[2]
    unpadded = re.search(re.escape(separator) + r"(?![ \r\n])", text)
    return unpadded is None and separator + " " in text
