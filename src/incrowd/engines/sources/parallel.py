"""One function on every chunk of a file, on all processors: NumPy lets other threads run while it works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")

_MOST_THREADS = 8


def each(work: Callable[[_Chunk], _Result], chunks: Iterable[_Chunk]) -> Iterator[_Result]:
    """Yield the results in the chunks' order."""
    chunks = list(chunks)
    if len(chunks) <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1, len(chunks))) as pool:
        yield from pool.map(work, chunks)
