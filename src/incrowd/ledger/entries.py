"""Entries of a ledger, in a chain: each holds the hash of the one before it, and is sealed with the ledger's key.

A changed or removed entry breaks the chain. Whoever has the file and not the key can compute hashes anew, and cannot
seal them. Nobody can see from the file alone that it is an older copy of itself: the entries that releases carry
(`summary.json`) are what tells that.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from incrowd.common.exact import as_exact
from incrowd.common.records import dataclass
from incrowd.dp.budget import Budget

Kind = Literal["begun", "started", "made", "saved", "signed", "failed", "stopped", "answered"]
"""What happened: the ledger was begun; a release was started, made, saved, signed for, not made, or its run was killed;
a question was answered."""

FIRST = "0" * 64
"""What stands for the hash before the first entry."""


@dataclass(frozen=True)
class Entry:
    """One line of a ledger."""

    number: int
    time: str
    """In UTC, to the second."""
    kind: Kind
    told: Mapping[str, Any]
    """What there is to say, as plain values; never a value of the table."""
    previous: str
    """The hash of the entry before."""
    hash: str
    seal: str

    @property
    def about(self) -> int:
        """The number of the entry that started what this one speaks of."""
        return int(self.told.get("about", self.number))

    @property
    def price(self) -> Budget | None:
        """What it cost everybody in the table, if it cost anything."""
        return read_budget(self.told["price"]) if "price" in self.told else None


def chained(number: int, time: str, kind: Kind, told: Mapping[str, Any], previous: str, key: bytes) -> Entry:
    """Make the entry that follows the one with the hash `previous`."""
    found = _hash(number, time, kind, told, previous)
    return Entry(number, time, kind, told, previous, found, _seal(found, key))


def broken(entries: Iterable[Entry], key: bytes) -> Iterator[str]:
    """Yield what is wrong with a chain, in words."""
    previous, expected = FIRST, 1
    for entry in entries:
        if entry.number != expected:
            yield f"entries {expected} to {entry.number - 1} are missing."
        if entry.previous != previous:
            yield f"entry {entry.number} does not follow the one before it."
        if entry.hash != _hash(entry.number, entry.time, entry.kind, entry.told, entry.previous):
            yield f"entry {entry.number} was changed."
        elif not hmac.compare_digest(entry.seal, _seal(entry.hash, key)):
            yield f"entry {entry.number} was not written with this ledger's key."
        previous, expected = entry.hash, entry.number + 1


def write_budget(budget: Budget) -> dict[str, str]:
    """Return a budget as plain values, to the last digit."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def read_budget(told: Mapping[str, str]) -> Budget:
    """Read what `write_budget` wrote."""
    return Budget.computed(as_exact(told["epsilon"], "ε"), as_exact(told["delta"], "δ"))


def as_text(told: Mapping[str, Any]) -> str:
    """Return plain values as the one text that is hashed and kept."""
    return json.dumps(told, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _hash(number: int, time: str, kind: str, told: Mapping[str, Any], previous: str) -> str:
    return hashlib.sha256(as_text({"entry": [number, time, kind, told, previous]}).encode()).hexdigest()


def _seal(hashed: str, key: bytes) -> str:
    return hmac.digest(key, b"incrowd ledger entry\0" + hashed.encode(), "sha256").hex()
