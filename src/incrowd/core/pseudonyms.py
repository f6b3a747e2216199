"""Pseudonyms: an identifier becomes a code that only the holder of a key can link back.

HMAC-SHA256 under a 256-bit key, cut to 128 bits. The same key gives the same pseudonym in every release, which lets a
study follow a person and lets anybody else do so too: use a new key where that is not wanted. The key lives in a file
of its own, mode 0600, outside of the release. A pseudonym protects no one by itself: see linkage (Senellart).

What is coded is an identifier's text, spelt alike on every engine and from every kind of source: 5, 5.0 and the text
`5` have one code; a time is written to the microsecond, and one with a zone in UTC, whatever zone it is kept in. The
text `5.0` has another code than `5`, and a decimal is written with as many places as its column has.
"""

from __future__ import annotations

import base64
import hmac
import secrets
import stat
from collections.abc import Sequence
from dataclasses import field
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.common import systems
from incrowd.common.arrays import Ints
from incrowd.common.paths import is_there
from incrowd.common.records import dataclass
from incrowd.common.writing import write_secret
from incrowd.errors import OutputError
from incrowd.hierarchies.values import as_text

_KEY_BYTES = 32
_PSEUDONYM_BYTES = 16


@dataclass(frozen=True)
class PseudonymKey:
    """The secret that turns identifiers into pseudonyms. Never printed.

    >>> key = PseudonymKey(bytes(32))
    >>> key.pseudonyms(pl.Series(["Bob", None, "Bob"])).n_unique()
    2
    """

    secret: bytes = field(repr=False)
    path: Path | None = field(default=None, compare=False)
    """The file that it is kept in, if any."""

    def __post_init__(self) -> None:
        if len(self.secret) < _KEY_BYTES:
            raise OutputError(f"a pseudonym key has at least {_KEY_BYTES} bytes, this one has {len(self.secret)}.")

    @classmethod
    def new(cls) -> PseudonymKey:
        """Draw a key from the operating system's randomness."""
        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def load(cls, path: str | Path) -> PseudonymKey:
        """Read a key that `save` wrote; refuse a file that others can read."""
        path = Path(path)
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise OutputError(f"pseudonym key {path} cannot be read: {type(error).__name__}.") from error
        if not systems.WINDOWS and mode & 0o077:
            raise OutputError(f"pseudonym key {path} can be read by others (mode {mode:04o}).  Hint: chmod 600 {path}")
        try:
            return cls(base64.b64decode(text.strip(), validate=True), path)
        except ValueError as error:
            raise OutputError(f"pseudonym key {path} is not a key: it should hold base64 text.") from error

    def save(self, path: str | Path) -> None:
        """Write the key to a new file that only its owner can read."""
        write_secret(path, base64.b64encode(self.secret))

    @classmethod
    def load_or_create(cls, path: str | Path) -> PseudonymKey:
        """Read the key, or draw and save a new one where there is none yet."""
        if is_there(path):
            return cls.load(path)
        cls.new().save(path)
        return cls.load(path)

    def pseudonyms(self, identifiers: pl.Series) -> pl.Series:
        """Return the pseudonym of every identifier; missing stays missing. One HMAC per distinct value."""
        text = identifier_text(identifiers)
        distinct = text.drop_nulls().unique()
        secret = self.secret
        codes = [
            base64.b32encode(hmac.digest(secret, value.encode(), "sha256")[:_PSEUDONYM_BYTES]).decode().rstrip("=")
            for value in distinct.to_list()
        ]
        key = pl.DataFrame({"value": distinct, "code": pl.Series(codes, dtype=pl.String)})
        found = pl.DataFrame({"value": text}).join(key, on="value", how="left", maintain_order="left")
        return found["code"].alias(identifiers.name)

    def draws(self, names: Sequence[bytes], below: int, purpose: str) -> Ints:
        """Return a whole number from 0 to `below` for each name, all equally likely, the upper end not included.

        Another purpose, or another `below`, gives other numbers. They tell nothing of pseudonyms, nor these of them:
        their key is made of this one by a text that no identifier can be, since it is no UTF-8.
        """
        secret = hmac.digest(self.secret, b"\xff" + f"{purpose}\0{below}".encode(), "sha256")
        return np.fromiter((_evenly(secret, name, below) for name in names), np.int64, len(names))


def _evenly(secret: bytes, name: bytes, below: int) -> int:
    """Return a number that no other is likelier than: words beyond the last multiple of `below` are not taken."""
    limit = 2**64 - 2**64 % below
    for attempt in count():
        digest = hmac.digest(secret, attempt.to_bytes(4) + name, "sha256")
        for first in range(0, 32, 8):
            word = int.from_bytes(digest[first : first + 8])
            if word < limit:
                return word % below
    raise AssertionError  # not reached


def identifier_text(identifiers: pl.Series) -> pl.Series:
    """Return the text of every identifier, of which the pseudonym is made: one text for one value.

    >>> from datetime import UTC, datetime
    >>> noon = pl.Series([datetime(2020, 1, 1, 12, tzinfo=UTC)])
    >>> identifier_text(noon.dt.convert_time_zone("Asia/Kolkata").dt.cast_time_unit("ms")).to_list()
    ['2020-01-01 12:00:00.000000+00:00']
    """
    kind = identifiers.dtype
    if not isinstance(kind, pl.Datetime):
        return as_text(identifiers)
    if kind.time_zone is not None:
        identifiers = identifiers.dt.convert_time_zone("UTC")
    if kind.time_unit == "ns":
        # Nanoseconds are written only where there are some.
        return as_text(identifiers).str.replace(r"(\.\d{6})000(\D|$)", "${1}${2}")
    return as_text(identifiers.dt.cast_time_unit("us"))
