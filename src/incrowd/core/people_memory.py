"""Who was published where: what must be known to publish about the same people again, and to judge it.

People are known by a keyed hash of what they are called, so that nobody without the key can look somebody up. All the
same this is as secret as the table: it tells which sensitive values go with which people, and groups of them can be
told apart. It is kept in files that only their owner can read, with the key in another one.
"""

from __future__ import annotations

import hmac
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.common.writing import write_secret
from incrowd.core.people import distinct_pairs
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.errors import LedgerError, SchemaError
from incrowd.hierarchies.value_sets import number_sets
from incrowd.hierarchies.values import as_text

NO_SIGNATURE = -1
"""The signature of people who have none: they are new."""
_FORMAT = 1
_ABOUT = "about.json"
_APART = "\x1f"
"""Stands between the parts of somebody's name."""


@dataclass(frozen=True, eq=False)
class PlacedValues:
    """What published people have in a sensitive column: person `owner[i]`, by place, has `names[codes[i]]`.

    `made_up` are values that a group shows and nobody has: groups, codes, and how many. A missing value is None.
    """

    owner: Ints
    codes: Codes
    names: tuple[str | None, ...]
    made_up: tuple[Ints, Codes, Counts] = field(
        default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    )


@dataclass(frozen=True, eq=False)
class Placement:
    """One release: person `people[p]` was published in group `groups[p]`, as a reader tells groups apart.

    `links` are marks of what a reader can follow somebody by, from this release to others that have the same mark.
    """

    people: Ints
    groups: Ints
    values: Mapping[str, PlacedValues]
    method: str = ""
    links: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.people)

    def without(self, groups: Ints) -> Placement:
        """Return it as if some groups had not been published."""
        kept = ~np.isin(self.groups, groups)
        place = np.cumsum(kept) - 1
        values = {}
        for name, found in self.values.items():
            there = kept[found.owner]
            made_up = ~np.isin(found.made_up[0], groups)
            of_nobody, codes, counts = found.made_up
            values[name] = replace(
                found,
                owner=place[found.owner[there]],
                codes=found.codes[there],
                made_up=(of_nobody[made_up], codes[made_up], counts[made_up]),
            )
        return replace(self, people=self.people[kept], groups=self.groups[kept], values=values)

    def to_bytes(self) -> bytes:
        """Return it as the content of a file."""
        about = {
            "format": _FORMAT,
            "method": self.method,
            "links": list(self.links),
            "columns": {name: list(found.names) for name, found in self.values.items()},
        }
        arrays: dict[str, NDArray[Any]] = {"people": self.people, "groups": self.groups}
        for place, found in enumerate(self.values.values()):
            parts: tuple[NDArray[Any], ...] = (found.owner, found.codes, *found.made_up)
            arrays |= {f"c{place}.{at}": part for at, part in enumerate(parts)}
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as files:
            files.writestr(_ABOUT, json.dumps(about, ensure_ascii=False))
            for name, array in arrays.items():
                content = io.BytesIO()
                np.save(content, array, allow_pickle=False)
                files.writestr(name, content.getvalue())
        return made.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Placement:
        """Read what `to_bytes` wrote."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as files:
                about = json.loads(files.read(_ABOUT))

                def array(name: str) -> Ints:
                    return np.asarray(np.load(io.BytesIO(files.read(name)), allow_pickle=False))

                values = {}
                for place, (name, names) in enumerate(about["columns"].items()):
                    owner, codes, groups, made_up, counts = (array(f"c{place}.{at}") for at in range(5))
                    none = (groups, made_up.astype(np.int32), counts)
                    values[name] = PlacedValues(owner, codes.astype(np.int32), tuple(names), none)
                return cls(array("people"), array("groups"), values, about["method"], tuple(about["links"]))
        except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
            raise LedgerError("what is kept of people's groups cannot be read: somebody changed it.") from error


@dataclass(frozen=True, eq=False)
class Signatures:
    """The sets of values that people were published among: `of[p]` is the number of person p's, or -1.

    Set s are the texts `sets[s]`.
    """

    of: Ints
    sets: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, eq=False)
class PeopleMemory:
    """All releases so far, by who was where. Secret: never printed.

    >>> memory = PeopleMemory(bytes(32))
    >>> names = pl.DataFrame({"name": ["Bob", "Eve", "Bob"]})
    >>> bob, eve, again = memory.known_as(names)
    >>> bob == again, bob == eve
    (np.True_, np.False_)
    """

    secret: bytes = field(repr=False)
    placements: tuple[Placement, ...] = field(default=(), repr=False)

    @classmethod
    def new(cls) -> PeopleMemory:
        """Begin one, with a key of the operating system's randomness."""
        return cls(PseudonymKey.new().secret)

    def known_as(self, names: pl.DataFrame) -> Ints:
        """Return the keyed hash of everybody whom a row of `names` names: the first 64 bits of an HMAC-SHA256."""
        parts = [as_text(names[name]).alias(f"c{place}") for place, name in enumerate(names.columns)]
        joined = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=_APART)).to_series()
        secret = hmac.digest(self.secret, b"\xffpeople", "sha256")
        found = b"".join(hmac.digest(secret, name.encode(), "sha256")[:8] for name in joined.to_list())
        return np.frombuffer(found, dtype=np.int64)

    def mark(self, what: str, content: bytes = b"") -> str:
        """Return a text that tells what links rows from other such things, and nothing of it without the key."""
        return hmac.digest(self.secret, b"\xfflink\0" + what.encode() + b"\0" + content, "sha256").hex()[:32]

    def with_one_more(self, placement: Placement) -> PeopleMemory:
        """Return it with another release."""
        return replace(self, placements=(*self.placements, placement))

    def signatures(self, people: Ints, column: str, method: str) -> Signatures:
        """Return the set of values that each person was published among when a method last placed them."""
        found = np.full(len(people), NO_SIGNATURE, dtype=np.int64)
        sets: dict[tuple[str | None, ...], int] = {}
        for placement in reversed(self.placements):
            if placement.method != method or column not in placement.values:
                continue
            place = np.searchsorted(placement.people, people)
            there = np.flatnonzero((place < len(placement)) & (found == NO_SIGNATURE))
            there = there[placement.people[place[there]] == people[there]]
            set_of, distinct = _values_of_groups(placement, column)
            number = np.array([sets.setdefault(texts, len(sets)) for texts in distinct], dtype=np.int64)
            if len(there):
                found[there] = number[set_of[placement.groups[place[there]]]]
        return Signatures(found, tuple(sets))

    def save(self, path: str | Path, *, key: str | Path | None = None) -> None:
        """Write it to a new file, and its key to another one (default: beside it, NAME.key); only you can read them.

        Keep the key in another place. Both together are as secret as the tables.
        """
        path = Path(path)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as files:
            for number, placement in enumerate(self.placements):
                files.writestr(str(number), placement.to_bytes())
        write_secret(path, made.getvalue())
        PseudonymKey(self.secret).save(_key_file(path, key))

    @classmethod
    def load(cls, path: str | Path, *, key: str | Path | None = None) -> PeopleMemory:
        """Read what `save` wrote."""
        path = Path(path)
        secret = PseudonymKey.load(_key_file(path, key)).secret
        try:
            with zipfile.ZipFile(path) as files:
                number = len(files.namelist())
                placements = tuple(Placement.from_bytes(files.read(str(each))) for each in range(number))
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            raise LedgerError(f"{path} is no memory of people's groups: {type(error).__name__}.") from error
        return cls(secret, placements)


def placed(
    people: Ints, groups: Ints, values: Mapping[str, PlacedValues], method: str, links: Sequence[str]
) -> Placement:
    """Return a placement of people in the order of their hashes, so that nothing is left of the table's order."""
    order = np.argsort(people, kind="stable")
    ordered = people[order]
    if (ordered[1:] == ordered[:-1]).any():  # once in ten million tables of a million people
        raise SchemaError("two people have the same hash.  Hint: begin another ledger, with another key.")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    moved = {name: replace(found, owner=place[found.owner]) for name, found in values.items()}
    return Placement(ordered, groups[order], moved, method, tuple(links))


def _values_of_groups(placement: Placement, column: str) -> tuple[Ints, list[tuple[str | None, ...]]]:
    """Return the number of each group's set of values, and these sets as sorted texts."""
    found = placement.values[column]
    group_of, codes, _ = found.made_up
    size = len(found.names)
    groups, values = distinct_pairs(
        np.concatenate([placement.groups[found.owner], group_of]), np.concatenate([found.codes, codes]), size
    )
    present, renumbered = np.unique(groups, return_inverse=True)
    set_of, sets = number_sets(renumbered, values, size)
    number = np.full(int(placement.groups.max(initial=-1)) + 1, NO_SIGNATURE, dtype=np.int64)
    number[present] = set_of
    ends = sets.offsets.tolist()
    listed = [[found.names[code] for code in sets.codes[low:high].tolist()] for low, high in pairwise(ends)]
    return number, [tuple(sorted(texts, key=lambda text: (text is not None, text or ""))) for texts in listed]


def _key_file(path: Path, key: str | Path | None) -> Path:
    return path.with_name(path.name + ".key") if key is None else Path(key)
