"""Files that hold no table: what they are, told by their first bytes."""

from __future__ import annotations

import codecs
import unicodedata

KINDS = {
    b"PK\x03\x04": "a ZIP archive.  Hint: unpack it.",
    b"\xd0\xcf\x11\xe0": "a document of an old Microsoft Office.",
    b"SQLite format 3\0": "an SQLite database.  Hint: open 'sqlite:///' followed by the path, with a query.",
    b"BZh": "compressed with bzip2.  Hint: decompress it, or use gzip.",
    b"\xfd7zXZ\0": "compressed with xz.  Hint: decompress it, or use gzip.",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive.  Hint: unpack it.",
    b"Rar!\x1a\x07": "a RAR archive.  Hint: unpack it.",
    b"%PDF": "a PDF document.",
    b"\x89PNG\r\n\x1a\n": "a PNG image.",
    b"\xff\xd8\xff": "a JPEG image.",
    b"GIF8": "a GIF image.",
    b"\x7fELF": "a program.",
    b"MZ\x90\0": "a program.",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file.  Hint: save its table as Parquet or CSV.",
    b"\x93NUMPY": "a NumPy array.  Hint: save it as Parquet or CSV.",
    b"RDX3\n": "an R data file.  Hint: save its table as Parquet or CSV.",
    b"Obj\x01": "an Avro file.  Hint: save its table as Parquet or CSV.",
    b"ORC": "an ORC file.  Hint: save its table as Parquet or CSV.",
}
LOOKED_AT = 4096
_TEXT_CONTROLS = b"\t\n\v\f\r\x1a\x1b"
_CONTROLS = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS)
_FEWEST, _LARGEST_SHARE = 8, 0.05
_ODD = ("Cc", "Cn", "Co", "Cs")
"""Kinds of characters that no text has: controls, and those without a meaning."""
_PACKED = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def kind_of(head: bytes) -> str | None:
    """Return what a file is that begins like this and is no text, with a hint; None where it may be a table.

    >>> kind_of(b"\\x89PNG\\r\\n\\x1a\\n and so on")
    'a PNG image.'
    >>> kind_of(b"name,age\\n")
    """
    if head.startswith(_PACKED):  # text may be in it
        return None
    known = next((text for magic, text in KINDS.items() if head.startswith(magic) and _is_sure(magic, head)), None)
    if known:
        return known
    return "a binary file of an unknown kind, and no table." if _is_binary(head) else None


def _is_sure(magic: bytes, head: bytes) -> bool:
    """Whether no text begins like this: letters alone may be the name of a column."""
    return not magic.isalnum() or _controls(head) > 0


def _is_binary(head: bytes) -> bool:
    """Whether bytes are no text: many zeros, or many control characters among bytes that are not UTF-8."""
    controls = _controls(head) if not _is_utf8(head) else head.count(0)
    if controls < _FEWEST or controls <= _LARGEST_SHARE * len(head):
        return False
    return not (head.startswith(_MARKS) or _looks_like_utf16(head))


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _controls(head: bytes) -> int:
    return len(head) - len(head.translate(None, _CONTROLS))


def _looks_like_utf16(head: bytes) -> bool:
    """Whether the bytes are characters that people write, and lines or separators among them, if read as UTF-16."""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = head[: len(head) // 2 * 2].decode(encoding, errors="ignore")
        odd = sum(unicodedata.category(letter) in _ODD and letter not in "\t\r\n" for letter in text)
        if text and odd <= _LARGEST_SHARE * len(text) and any(mark in text for mark in "\n,;\t"):
            return True
    return False
