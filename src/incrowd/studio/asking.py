"""What may be asked: the declaration of an endpoint, which is checked, answered and documented by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from incrowd.common.records import dataclass
from incrowd.studio.refusing import Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from incrowd.studio.studio import Studio

MOST_BYTES = 16 << 20
"""A body of JSON may be so large: recipes can list many categories."""

DEEPEST = 40
"""Tables and lists stand in one another so deep at most, in a body and in a recipe: hierarchies have less."""
LARGEST = 10**15
"""No row, and no page of rows, has a larger number."""

_KINDS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


@dataclass(frozen=True)
class Field:
    """A key of a body, or a parameter of an address."""

    kind: str
    about: str
    needed: bool = True
    empty: bool = False
    """Whether it may be null."""

    def schema(self) -> dict[str, Any]:
        """Return it as JSON Schema has it."""
        return {"type": [self.kind, "null"] if self.empty else self.kind, "description": self.about}

    def require(self, name: str, value: Any) -> None:
        """Refuse a value of another kind."""
        if value is None and self.empty:
            return
        wrong = isinstance(value, bool) != (self.kind == "boolean")
        if wrong or not isinstance(value, _KINDS[self.kind]):
            raise Refused(400, f"{name} is not of the kind {self.kind}.")


Handler = Callable[["Studio", "Request", dict[str, Any]], Awaitable["Response | dict[str, Any]"]]


@dataclass(frozen=True)
class Endpoint:
    """A method and a path that are answered, and all that is to be said of them."""

    method: str
    path: str
    handle: Handler
    about: str
    answer: str
    """What the answer is, in words, or the name of a shape."""
    body: dict[str, Field] | None = None
    query: dict[str, Field] = field(default_factory=dict)
    raw_body: str | None = None
    """The kind of a body that is no JSON."""
    status: int = 200
    refuses: tuple[int, ...] = ()


VERSION = {"version": Field("integer", "the version that the page knows; another one is answered with 409")}


async def read_json(request: Request, expected: dict[str, Field]) -> dict[str, Any]:
    """Return a body that has what is expected, and nothing else."""
    import json

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the body is to be JSON.", hint="Content-Type: application/json")
    body = await read_bytes(request, MOST_BYTES)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is no JSON.") from None
    if not isinstance(found, dict):
        raise Refused(400, "the body is an object.")
    require_shallow(found)
    for name, one in expected.items():
        if name in found:
            one.require(name, found[name])
        elif one.needed:
            raise Refused(400, f"{name} is missing.")
    unknown = [name for name in found if name not in expected]
    if unknown:
        raise Refused(
            400, f"the body has keys that mean nothing here: {len(unknown)}.", hint=f"known: {', '.join(expected)}"
        )
    return found


def require_shallow(found: Any) -> None:
    """Refuse tables in tables without end: whoever walks through them would run out of stack."""
    level = [found]
    for _ in range(DEEPEST):
        level = [
            item
            for node in level
            if isinstance(node, dict | list)
            for item in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    raise Refused(400, f"tables and lists stand in one another deeper than {DEEPEST} times.")


def whole_number(text: str, name: str) -> int:
    """Return a number of an address."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise Refused(400, f"{name} is a whole number below {LARGEST:,}.")
    return int(text)


async def read_bytes(request: Request, most: int) -> bytes:
    """Return a body that is not too large."""
    found = bytearray()
    require_length(request, most)
    async for chunk in request.stream():
        found += chunk
        if len(found) > most:
            raise too_large(most)
    return bytes(found)


def require_length(request: Request, most: int) -> None:
    """Refuse a body that says that it is too large, before it comes."""
    told = request.headers.get("content-length", "0")
    if not told.isascii() or not told.isdecimal() or len(told) > 15 or int(told) > most:
        raise too_large(most)


def too_large(most: int) -> Refused:
    """Return what is said of a body that is too large."""
    return Refused(413, f"this is larger than the {most:,} bytes that are taken.", hint="open the file by its path")
