"""What happens, told to every page that listens (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

ALIVE_EVERY = 15.0
_MOST_WAITING = 1000


class Events:
    """Those who listen, each with a queue of what was not sent yet."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._closed = False

    def tell(self, event: str, data: Any) -> None:
        """Tell everybody; a page that does not listen for long is cut off, and asks anew."""
        message = as_event(event, data)
        for queue in list(self._listeners):
            if queue.qsize() >= _MOST_WAITING:
                self._listeners.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(message)

    def close(self) -> None:
        """Say good-bye, and let everybody go."""
        self._closed = True
        self.tell("bye", {})
        for queue in self._listeners:
            queue.put_nowait(None)

    async def listen(self, hello: bytes) -> AsyncIterator[bytes]:
        """Yield what happens from now on, after a first message."""
        if self._closed:
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield hello
            while True:
                try:
                    async with asyncio.timeout(ALIVE_EVERY):
                        message = await queue.get()
                except TimeoutError:
                    message = b": alive\n\n"
                if message is None:
                    return
                yield message
        finally:
            self._listeners.discard(queue)


def as_event(event: str, data: Any) -> bytes:
    """Return an event as browsers read it."""
    return f"event: {event}\ndata: {as_json(data)}\n\n".encode()


def as_json(data: Any) -> str:
    """Return JSON on one line; numbers that JSON does not have are null."""
    try:
        return _written(data)
    except ValueError:  # a number that JSON does not have: to look at each of them takes much longer than to write them
        return _written(_finite(data))


def _written(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, default=str, allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value == value and value not in (float("inf"), float("-inf")) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
