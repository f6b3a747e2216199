"""The bytes of one text file, as its checks see them: read from the disk in pieces, or in memory where they had to be
decoded.

A file is never mapped: one that is cut while it is mapped kills the process, and mapped pages count as its memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO

from incrowd.common.extras import needing_extra
from incrowd.common.memory import in_gigabytes, memory_limit
from incrowd.common.records import dataclass
from incrowd.errors import EmptyTable, SourceChanged, SourceError

NEWLINE, RETURN, SPACE = b"\n\r "

# Large enough that the cost of a step is nothing, small enough to stay in a processor's cache; whole words of 64 bytes.
CHUNK = 1 << 18
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZSTD_STEP = 1 << 12
"""So few packed bytes at a time that they cannot become very many."""
_MEMORY_SHARE = 0.5


@dataclass(frozen=True)
class Content:
    """A text file: what Polars is to read, and how many bytes that has."""

    target: Path | bytes
    length: int

    @property
    def in_memory(self) -> bool:
        """Whether the whole content is held in memory."""
        return isinstance(self.target, bytes)

    @staticmethod
    def of(data: bytes) -> Content:
        """Return the content that is these bytes."""
        return Content(target=data, length=len(data))

    def open(self) -> BinaryIO:
        """Return the bytes as a file."""
        return BytesIO(self.target) if isinstance(self.target, bytes) else self.target.open("rb")

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the bytes from there on, in chunks, each with its place."""
        stop = self.length if stop is None else stop
        if isinstance(self.target, bytes):
            for at in range(start, stop, CHUNK):
                yield at, self.target[at : min(at + CHUNK, stop)]
            return
        with self.target.open("rb", buffering=0) as file:
            file.seek(start)
            for at in range(start, stop, CHUNK):
                yield at, _read(file, min(CHUNK, stop - at), self.target)

    def fill(self, room: memoryview, file: BinaryIO) -> None:
        """Fill room with the next bytes of this content, which is open as a file; other threads run meanwhile."""
        filled = 0
        while filled < len(room):
            more = file.readinto(room[filled:])  # type: ignore[attr-defined]
            if not more:
                raise SourceChanged(self.target if isinstance(self.target, Path) else Path())
            filled += more

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(min(size, self.length))

    def whole(self, where: str) -> bytes:
        """Return all bytes, or raise `SourceError` where they would take too much of the machine's memory."""
        if isinstance(self.target, bytes):
            return self.target
        require_memory(self.length, f"{where}: a file that is not UTF-8, or oddly quoted, must be held in memory")
        with self.open() as file:
            return file.read(self.length)


def load(path: Path) -> Content:
    """Take a file as it is, or decompress it into memory if it is gzip or Zstandard."""
    length = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(len(_ZSTD))
    if not head:
        raise EmptyTable(f"{path}: the file is empty.")
    if not length:
        raise SourceError(f"{path}: this is not an ordinary file.  Hint: copy it to one; it is read more than once.")
    if head.startswith(_GZIP):
        return Content.of(_ungzipped(path))
    if head == _ZSTD:
        return Content.of(_unzstd(path))
    # Absolute, since it is read later, when the working directory may be another.
    return Content(target=path.absolute(), length=length)


def line_of(content: Content, offset: int) -> int:
    """Return the number of the line, from 1, as an editor shows it, that the byte at this offset is in."""
    line = 1
    for start, data in content.pieces():
        if start >= offset:
            break
        line += data[: offset - start].count(b"\n")
    return line


def _read(file: FileIO, size: int, path: Path) -> bytes:
    """Read so many bytes: one call may return less than it is asked for."""
    piece = file.read(size) or b""
    while len(piece) < size:
        more = file.read(size - len(piece))
        if not more:
            raise SourceChanged(path)
        piece += more
    return piece


def _ungzipped(path: Path) -> bytes:
    try:
        with gzip.open(path) as packed:
            return _unpacked(path, iter(lambda: packed.read(CHUNK), b""))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise SourceError(f"{path}: the gzip file is damaged or incomplete.") from None


def _unzstd(path: Path) -> bytes:
    with needing_extra("zstd", "files that are compressed with Zstandard"):
        import zstandard

    def pieces() -> Iterator[bytes]:
        unpacking = zstandard.ZstdDecompressor().decompressobj()
        with path.open("rb") as file:
            while packed := file.read(_ZSTD_STEP):
                while packed:
                    if unpacking.eof:  # another frame follows
                        unpacking = zstandard.ZstdDecompressor().decompressobj()
                    yield unpacking.decompress(packed)
                    packed = unpacking.unused_data if unpacking.eof else b""
        if not unpacking.eof:
            raise zstandard.ZstdError

    try:
        return _unpacked(path, pieces())
    except zstandard.ZstdError:
        raise SourceError(f"{path}: the Zstandard file is damaged or incomplete.") from None


def _unpacked(path: Path, pieces: Iterable[bytes]) -> bytes:
    """Unpack piece by piece: a small file may become an enormous one."""
    unpacked = BytesIO()
    for piece in pieces:
        require_memory(unpacked.tell() + len(piece), f"{path}: unpacked, the file must be held in memory")
        unpacked.write(piece)
    if not unpacked.tell():
        raise EmptyTable(f"{path}: the file is empty.")
    return unpacked.getvalue()


def require_memory(size: int, what: str) -> None:
    """Refuse what would take more than half of the memory."""
    most = int(_MEMORY_SHARE * memory_limit())
    if size > most:
        raise SourceError(
            f"{what}, and that would take more than {in_gigabytes(most)}, half of the memory that there is.  "
            "Hint: save it as plain CSV in UTF-8, which is read in pieces."
        )
