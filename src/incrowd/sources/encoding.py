"""Which encoding a text file has, decided over the whole file: its first megabyte may well be plain ASCII.

UTF-8 stays where it is and is read lazily. Every other encoding is decoded in memory, never into a temporary file, so
such a file must fit there; converting it to UTF-8 first lifts that.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import polars as pl

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.errors import SourceError
from incrowd.sources.content import Content, line_of

_ASCII_LIMIT = 128
# The first bytes of characters of UTF-8, by how many follow.
_FIRST_BYTE, _FIRST_OF_THREE, _FIRST_OF_FOUR = 0xC0, 0xE0, 0xF0
_LONGEST_CHARACTER = 4
_LONGEST_NAME = 40
# UTF-32 begins like UTF-16, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", ("utf-8", "utf-8-sig")),
    (codecs.BOM_UTF32_LE, "utf-32", ("utf-32", "utf-32-le")),
    (codecs.BOM_UTF32_BE, "utf-32", ("utf-32", "utf-32-be")),
    (codecs.BOM_UTF16_LE, "utf-16", ("utf-16", "utf-16-le")),
    (codecs.BOM_UTF16_BE, "utf-16", ("utf-16", "utf-16-be")),
)
# Python's own has no character for five bytes, browsers' has: so one odd byte does not change how all others are read.
_CP1252 = "".join(
    chr(byte) if byte in b"\x81\x8d\x8f\x90\x9d" else bytes([byte]).decode("cp1252") for byte in range(256)
)
_READ_AS_THEY_ARE = {"utf-8", "utf-8-sig", "ascii"}
# Python calls these text encodings, but no file is written in them.
_NOT_OF_FILES = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"}


@dataclass(frozen=True)
class Text:
    """A file in UTF-8 whose lines end in a newline, the encoding it had, and where it holds a zero byte, if it does."""

    content: Content
    encoding: str
    zero: int | None


@dataclass
class _Look:
    """What one pass over bytes tells: where they stop being UTF-8, where a zero is, and what lines end in."""

    fault: int | None = None
    zero: int | None = None
    newline: bool = False
    carriage_return: bool = False


def as_utf8(content: Content, *, stated: str | None, where: str) -> Text:
    """Return the content in UTF-8; raises `SourceError` where its bytes are not in the encoding."""
    marked, fitting = _marked(content)
    encoding = stated_encoding(stated, where) if stated else marked
    if stated and marked and encoding not in fitting:
        raise SourceError(
            f"{where}: the file begins with the mark of {marked.upper()}, but the encoding is stated as {stated}.  "
            "Hint: leave the encoding out."
        )
    if encoding is None or encoding in _READ_AS_THEY_ARE:
        look = _look(content)
        if look.fault is None:
            return _with_newlines(content, look, "utf-8", where)
        if encoding is not None:
            raise SourceError(_not_in(encoding, content, look.fault, where))
        _refuse_mostly_utf8(content, look.fault, where)
        encoding = "cp1252"
    decoded = Content.of(_decoded(content, encoding, where))
    return _with_newlines(decoded, _look(decoded), encoding, where)


def stated_encoding(stated: str, where: str) -> str:
    """Return Python's name of a stated encoding; refuse what is none."""
    try:
        "".encode(stated)
        name = codecs.lookup(stated).name
    except (LookupError, ValueError):  # also a name with a zero byte, or one that no computer could spell
        name = "undefined"
    if name.replace("_", "-") in _NOT_OF_FILES:
        raise SourceError(
            f"{where}: there is no text encoding {_shown(stated)}.  Hint: try 'utf-8', 'cp1252' or 'utf-16'."
        )
    return name


def marked_encoding(content: Content) -> str | None:
    """Return the encoding that a byte order mark at the beginning tells."""
    return _marked(content)[0]


def _shown(stated: str) -> str:
    return repr(stated if len(stated) <= _LONGEST_NAME else stated[:_LONGEST_NAME] + "…")


def _marked(content: Content) -> tuple[str | None, tuple[str, ...]]:
    """Return the encoding that a byte order mark at the beginning tells, and the names that fit it."""
    head = content.head(4)
    return next(((name, fitting) for mark, name, fitting in _MARKS if head.startswith(mark)), (None, ()))


def _look(content: Content) -> _Look:
    """Look at every byte once, up to the first that is not UTF-8."""
    look = _Look()
    for start, chunk in _whole_characters(content):
        if look.zero is None and (zero := chunk.find(b"\0")) >= 0:
            look.zero = start + zero
        if not look.newline:
            look.newline = b"\n" in chunk
            look.carriage_return |= b"\r" in chunk
        if not chunk.isascii() and not _is_utf8(chunk):
            look.fault = start + _fault_within(chunk)
            break
    return look


def _whole_characters(content: Content) -> Iterator[tuple[int, bytes]]:
    """Yield chunks, each with its place, that do not cut a character of UTF-8 in two."""
    begun = b""
    for start, data in content.pieces():
        chunk = begun + data
        at_end = start + len(data) >= content.length
        stop = len(chunk) - (0 if at_end else _unfinished(chunk))
        yield start - len(begun), chunk[:stop]
        begun = chunk[stop:]


def _unfinished(chunk: bytes) -> int:
    """Return how many bytes at the end begin a character of UTF-8 that goes on after it."""
    for back, byte in enumerate(chunk[:-_LONGEST_CHARACTER:-1], start=1):
        if byte < _ASCII_LIMIT:
            return 0
        if byte >= _FIRST_BYTE:
            length = 2 + (byte >= _FIRST_OF_THREE) + (byte >= _FIRST_OF_FOUR)
            return back if back < length else 0
    return 0


def _is_utf8(chunk: bytes) -> bool:
    # Polars validates four times as fast as Python decodes.
    try:
        pl.Series([chunk], dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        return False
    return True


def _fault_within(chunk: bytes) -> int:
    try:
        chunk.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _refuse_mostly_utf8(content: Content, fault: int, where: str) -> None:
    """Refuse a file that is UTF-8 but for some lines: read as anything else, most of its letters would be wrong."""
    valid = faulty = 0
    for _, chunk in _whole_characters(content):
        text = chunk.decode("utf-8", errors="replace")
        broken = text.count("\ufffd")
        faulty += broken
        valid += len(text) - len(text.encode("ascii", errors="ignore")) - broken
    if valid > faulty:
        raise SourceError(_not_in("utf-8", content, fault, where))


def _not_in(encoding: str, content: Content, offset: int, where: str) -> str:
    return (
        f"{where}: line {line_of(content, offset)} holds bytes that are not {encoding.upper()}.  "
        "Hint: correct them, or state the encoding of the whole file, for example "
        f"{option('encoding', 'cp1252', section='source')}."
    )


def _decoded(content: Content, encoding: str, where: str) -> bytes:
    data = content.whole(where)
    try:
        text = codecs.charmap_decode(data, "strict", _CP1252)[0] if encoding == "cp1252" else data.decode(encoding)
        # What is decoded must be text: some encodings can spell halves of characters.
        return text.encode()
    except UnicodeError as error:
        at = f" (byte {error.start:,})" if isinstance(error, UnicodeDecodeError) else ""
        raise SourceError(
            f"{where}: the file is not in the encoding {encoding}{at}.  Hint: state another, or none to have it found."
        ) from None


def _with_newlines(content: Content, look: _Look, encoding: str, where: str) -> Text:
    """Return text whose lines end in a newline; those of old Macintoshes, and of some exports, end in a return."""
    if look.carriage_return and not look.newline:
        content = Content.of(content.whole(where).replace(b"\r", b"\n"))
    return Text(content, encoding, look.zero)
