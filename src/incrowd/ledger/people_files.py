"""The secret part of a ledger: one file for each release, with who was published in which group.

A file is written and on the disk before its entry is added, which holds its hash. So there is no entry without its
file, and a file without an entry is that of a run that was killed: the next run that looks removes it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from incrowd.common import systems
from incrowd.common.records import dataclass
from incrowd.common.writing import telling
from incrowd.core.people_memory import Placement
from incrowd.errors import LedgerError

_UNFINISHED = ".new"


@dataclass(frozen=True)
class PeopleFiles:
    """A directory of such files, named by the number of the entry that started the release."""

    directory: Path

    def write(self, number: int, content: bytes) -> str:
        """Write a file that only its owner can read, and return its SHA-256; an older one is replaced."""
        self._require_there()
        new = self._path(number).with_suffix(_UNFINISHED)
        with telling(new):
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path(number))
            if not systems.WINDOWS:  # the name, too, is on the disk before the entry is
                place = os.open(self.directory, os.O_RDONLY)
                try:
                    os.fsync(place)
                finally:
                    os.close(place)
        return hashlib.sha256(content).hexdigest()

    def read(self, number: int, digest: str) -> Placement:
        """Read a file; refuse one that is not as it was written."""
        self._require_there()
        try:
            content = self._path(number).read_bytes()
        except OSError as error:
            raise LedgerError(
                f"the ledger does not keep any more who was published where in release {number}, so that nothing can "
                "be judged together with it.  Hint: put back its file in people/, or begin another ledger."
            ) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise LedgerError(f"what the ledger keeps of the people of release {number} was changed.")
        return Placement.from_bytes(content)

    def remove(self, numbers: Collection[int]) -> None:
        """Remove what runs left that came to nothing."""
        for number in numbers:
            self._path(number).unlink(missing_ok=True)
            self._path(number).with_suffix(_UNFINISHED).unlink(missing_ok=True)

    def strange(self, known: Mapping[int, str], running: Collection[int]) -> Iterator[str]:
        """Yield what is wrong with the files, in words; those of `running` entries may come and go."""
        if not self.directory.is_dir():
            yield "the part that keeps who was published where is missing."
            return
        for number, digest in known.items():
            path = self._path(number)
            if not path.is_file():
                yield f"what is kept of the people of release {number} is missing."
            elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                yield f"what is kept of the people of release {number} was changed."
        for path in sorted(self.directory.iterdir()):
            told = path.stem.isdecimal() and (int(path.stem) in known or int(path.stem) in running)
            if not told:
                yield f"people/{path.name} is of no release of this ledger."

    def _path(self, number: int) -> Path:
        return self.directory / f"{number}.people"

    def _require_there(self) -> None:
        if not self.directory.is_dir():
            raise LedgerError(
                f"{self.directory} is missing, where this ledger keeps who was published in which group.  Hint: put it "
                "back; without it, only private releases can be recorded."
            )
