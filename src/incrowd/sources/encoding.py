"""Which encoding a text file has, decided over the whole file: its first megabyte may well be plain ASCII.

UTF-8 stays where it is and is read lazily. Every other encoding is decoded in memory, never into a temporary file, so
such a file must fit there; converting it to UTF-8 first lifts that.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.content import CHUNK, NEWLINE, RETURN, Bytes, Content, line_of

_ASCII_LIMIT = 128
# UTF-32 begins like UTF-16, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"
_READ_AS_THEY_ARE = {"utf-8", "utf-8-sig", "ascii"}


def as_utf8(content: Content, *, stated: str | None, where: str) -> tuple[Content, str]:
    """Return the content in UTF-8, and the encoding it had; raises `SourceError` where the two do not fit."""
    encoding = _known(stated, where) if stated else _marked(content)
    if encoding is None or encoding in _READ_AS_THEY_ARE:
        fault = _first_fault(content.array)
        if fault is None:
            return _newlines(content), "utf-8"
        if encoding is not None:
            raise SourceError(_not_in(encoding, content, fault, where))
        encoding = _eight_bit(content, fault, where)
    return _newlines(Content.of(_decoded(content, encoding, where))), encoding


def _known(stated: str, where: str) -> str:
    try:
        "".encode(stated)
    except (LookupError, ValueError):  # a name with a null byte is refused in its own way
        raise SourceError(
            f"{where}: there is no text encoding '{stated}'.  Hint: try 'utf-8', 'cp1252' or 'utf-16'."
        ) from None
    return codecs.lookup(stated).name


def _marked(content: Content) -> str | None:
    """Return the encoding that a byte order mark at the beginning tells."""
    return next((name for mark, name in _MARKS if content.raw[: len(mark)] == mark), None)


def _first_fault(data: Bytes) -> int | None:
    """Return where the bytes stop being UTF-8."""
    for start, stop in _whole_characters(data):
        chunk = data[start:stop]
        if chunk.max() >= _ASCII_LIMIT and not _is_utf8(chunk.tobytes()):
            return start + _fault_within(chunk.tobytes())
    return None


def _whole_characters(data: Bytes) -> Iterator[tuple[int, int]]:
    """Yield chunks that do not cut a character of UTF-8 in two."""
    start = 0
    while start < len(data):
        stop = min(start + CHUNK, len(data))
        while stop < len(data) and stop > start + CHUNK - 4 and data[stop] & 0b1100_0000 == 0b1000_0000:
            stop -= 1
        yield start, stop
        start = stop


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


def _eight_bit(content: Content, fault: int, where: str) -> str:
    """Return the encoding of bytes that are not UTF-8, unless most of them are UTF-8 and only some lines are not."""
    valid = faulty = 0
    for start, stop in _whole_characters(content.array):
        text = content.raw[start:stop].decode("utf-8", errors="replace")
        broken = text.count("\ufffd")
        faulty += broken
        valid += len(text) - len(text.encode("ascii", errors="ignore")) - broken
    if valid > faulty:
        raise SourceError(_not_in("utf-8", content, fault, where))
    return "latin-1" if any(content.raw.find(bytes([byte])) >= 0 for byte in _NOT_IN_CP1252) else "cp1252"


def _not_in(encoding: str, content: Content, offset: int, where: str) -> str:
    return (
        f"{where}: line {line_of(content.array, offset)} holds bytes that are not {encoding.upper()}.  "
        "Hint: correct them, or state the encoding of the whole file, for example encoding='cp1252'."
    )


def _decoded(content: Content, encoding: str, where: str) -> bytes:
    try:
        text = content.raw[:].decode(encoding)
    except UnicodeError as error:
        at = f" (byte {error.start:,})" if isinstance(error, UnicodeDecodeError) else ""
        raise SourceError(
            f"{where}: the file is not in the encoding {encoding}{at}.  Hint: state another, or none to have it found."
        ) from None
    return text.encode()


def _newlines(content: Content) -> Content:
    """Return content whose lines end in a newline; those of old Macintoshes, and of some exports, end in a return."""
    if content.raw.find(bytes([NEWLINE])) >= 0 or content.raw.find(bytes([RETURN])) < 0:
        return content
    return Content.of(content.raw[:].replace(bytes([RETURN]), bytes([NEWLINE])))
