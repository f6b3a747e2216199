"""The bytes of one text file, as its checks see them: mapped from the disk, or in memory where they were decoded."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import EmptyTable, SourceError

Bytes: TypeAlias = NDArray[np.uint8]

NEWLINE, RETURN, SPACE = b"\n\r "

# Large enough that the cost of a step is nothing, small enough to stay in a processor's cache; whole words of 64 bytes.
CHUNK = 1 << 18


@dataclass(frozen=True)
class Content:
    """A text file: its bytes, and what Polars is to read."""

    raw: bytes | mmap.mmap
    target: Path | bytes

    @property
    def array(self) -> Bytes:
        """The same bytes as numbers; nothing is copied."""
        return np.frombuffer(self.raw, dtype=np.uint8)

    @property
    def in_memory(self) -> bool:
        """Whether the whole content is held in memory."""
        return isinstance(self.target, bytes)

    @staticmethod
    def of(data: bytes) -> Content:
        """Return the content that is these bytes."""
        return Content(raw=data, target=data)


def load(path: Path) -> Content:
    """Map a file, or decompress it into memory if it is gzip."""
    if path.stat().st_size == 0:
        raise EmptyTable(f"{path}: the file is empty.")
    with path.open("rb") as file:
        raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if raw[:2] != b"\x1f\x8b":
        # Absolute, since it is read later, when the working directory may be another.
        return Content(raw=raw, target=path.absolute())
    try:
        data = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        raise SourceError(f"{path}: the gzip file is damaged or incomplete.") from None
    if not data:
        raise EmptyTable(f"{path}: the file is empty.")
    return Content.of(data)


def spans(length: int) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of every chunk of so many bytes."""
    for start in range(0, length, CHUNK):
        yield start, min(start + CHUNK, length)


def line_of(data: Bytes, offset: int) -> int:
    """Return the number of the line, from 1, as an editor shows it, that the byte at this offset is in."""
    before = data[:offset]
    return 1 + sum(int(np.count_nonzero(before[a:b] == NEWLINE)) for a, b in spans(len(before)))
