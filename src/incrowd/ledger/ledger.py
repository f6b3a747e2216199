"""The ledger of a data holding: what was published of it, and what that cost.

A directory with a file of entries (`ledger.sqlite`), and a key that is kept apart from it. What a release costs is
written down before its noise is drawn, and stays spent whatever becomes of the run: a run that is killed is marked by
the next one that looks. So the ledger may say too much, and never too little.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from incrowd.common.exact import Exact
from incrowd.common.extras import has_extra
from incrowd.common.secrecy import keep_private
from incrowd.common.writing import telling
from incrowd.core.people_memory import PeopleMemory, Placement
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.schema import Schema
from incrowd.dp.budget import Budget
from incrowd.errors import BudgetSpent, LedgerError
from incrowd.ledger.entries import Entry, Kind, broken, read_budget, write_budget
from incrowd.ledger.loss_distributions import cost_if_fixed
from incrowd.ledger.people_files import PeopleFiles
from incrowd.ledger.running import Running, is_dead
from incrowd.ledger.spending import added_up, cost_together
from incrowd.ledger.store import Store, create

_FILE, _RUNS, _PEOPLE = "ledger.sqlite", "running", "people"
_ENDS: tuple[Kind, ...] = ("made", "failed", "stopped")
_KEY_SUFFIX = ".key"


class Ledger:
    """Every release of a data holding: what it is, what it guarantees, what it cost; no value of any table.

    With `people=True`, a part that is as secret as the tables keeps who was published where.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "clinic"
    >>> ledger = Ledger.create(place, cap=2)
    >>> with ledger.start({"what": "a test"}, Budget("0.5")) as entry:
    ...     entry.done({"rows": 100})
    >>> print(ledger.spent, "of", ledger.cap)
    ε = 0.5 of ε = 2
    >>> ledger.verify()
    []
    """

    def __init__(self, directory: str | Path, *, key: str | Path | None = None) -> None:
        self.directory = Path(directory)
        self._store = Store(self.directory / _FILE)
        first = self._store.read()[0]
        self.key_file = Path(key) if key is not None else _beside(self.directory)
        self._key = PseudonymKey.load(self.key_file).secret
        if not hmac.compare_digest(str(first.told.get("key")), _check_of(self._key)):
            raise LedgerError(
                f"{self.key_file} is not the key of the ledger {self.directory}.  Hint: name it with key=."
            )
        self._begun = first
        self.only_looks = False
        """Whether releases are held against it and not written down: see `rehearsal`."""

    def rehearsal(self) -> Ledger:
        """Return the same for releases that are only looked at.

        They are judged with the earlier ones, and refused where their price does not fit the cap. Nothing is spent and
        nothing written down, and so they cannot be saved.
        """
        found = Ledger(self.directory, key=self.key_file)
        found.only_looks = True
        return found

    @classmethod
    def create(
        cls,
        directory: str | Path,
        *,
        cap: Budget | Exact | None = None,
        people: bool = False,
        key: str | Path | None = None,
    ) -> Ledger:
        """Make a ledger in a new directory, and a key for it in a file beside the directory, or where `key` says.

        `cap` is what all private releases together may cost everybody in the tables, an ε or a `Budget` with a δ;
        without one, costs are only counted. With `people=True` it keeps who was published in which group, to judge
        later releases: that part, `people/` in the directory, is as secret as the tables. Only you can read it; keep
        the key in another place.
        """
        if cap is not None and not isinstance(cap, Budget):
            cap = Budget(cap)
        directory = Path(directory)
        key_file = Path(key) if key is not None else _beside(directory)
        with telling(directory):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(directory.iterdir()):
                raise LedgerError(f"{directory} is not empty.  Hint: choose a new directory for the ledger.")
            keep_private(directory)
        secret = PseudonymKey.load_or_create(key_file).secret
        told: dict[str, Any] = {"key": _check_of(secret), "cap": None if cap is None else write_budget(cap)}
        if people:
            told["people"] = True
        with telling(directory):
            if people:
                (directory / _PEOPLE).mkdir(mode=0o700)
            (directory / _RUNS).mkdir(mode=0o700)
            create(directory / _FILE, secret, told)
        return cls(directory, key=key_file)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order."""
        return tuple(self._store.read())

    @property
    def cap(self) -> Budget | None:
        """What all private releases together may cost, as it was set when the ledger was begun."""
        told = self._begun.told["cap"]
        return None if told is None else read_budget(told)

    @property
    def keeps_people(self) -> bool:
        """Whether it keeps who was published in which group, and judges releases together."""
        return bool(self._begun.told.get("people"))

    def memory(self) -> tuple[PeopleMemory, tuple[int, ...]]:
        """Return who was published where in all releases so far, and the numbers of these; refuse what was changed."""
        numbers = _with_people(self.entries)
        placements = tuple(self._people.read(number, digest) for number, digest in numbers.items())
        return PeopleMemory(hmac.digest(self._key, b"incrowd ledger people\0", "sha256"), placements), tuple(numbers)

    @property
    def _people(self) -> PeopleFiles:
        return PeopleFiles(self.directory / _PEOPLE)

    @property
    def spent(self) -> Budget:
        """What all entries so far come to, by the tightest valid sum."""
        return self._cost(self.entries)

    @property
    def spent_if_fixed(self) -> Budget | None:
        """What they come to by privacy-loss distributions, if no price was chosen by what earlier releases showed.

        None where the cap has no δ that is larger than the prices', or `incrowd[accounting]` is not installed.
        """
        prices = [entry.price for entry in self.entries if entry.price is not None]
        if self.cap is None or self.cap.delta <= added_up(prices).delta or not has_extra("accounting"):
            return None
        return min(cost_if_fixed(prices, self.cap.delta), self.spent, key=lambda budget: budget.epsilon)

    @property
    def remaining(self) -> Budget | None:
        """What is surely left of the cap; None without one. Where many prices are small, more fits than this."""
        return None if self.cap is None else self.cap.less(self.spent)

    def _cost(self, entries: Sequence[Entry], *more: Budget) -> Budget:
        prices = [entry.price for entry in entries if entry.price is not None]
        cap = self.cap
        return added_up([*prices, *more]) if cap is None else cost_together([*prices, *more], cap.delta)

    def fingerprint(self, columns: Sequence[str], content: bytes = b"") -> str:
        """Return a text that tells a table from others, and nothing of it to whoever lacks the key."""
        message = b"incrowd ledger table\0" + json.dumps(list(columns)).encode() + b"\0" + content
        return hmac.digest(self._key, message, "sha256").hex()[:32]

    @contextmanager
    def start(self, told: Mapping[str, Any], price: Budget | None = None) -> Iterator[OpenEntry]:
        """Write down that something is about to be published, and its price, before anything is drawn.

        In the end there is an entry that says what came of it: made, or failed. Where the price does not fit the cap,
        `BudgetSpent` is raised and nothing is written.
        """
        self._refuse_in_rehearsals()
        token = secrets.token_hex(8)
        with telling(self.directory):
            running = Running(self.directory / _RUNS / token)
        try:
            self._mark_stopped()
            opened = OpenEntry(self, self._take("started", {**told, "run": token}, price))
            try:
                yield opened
            except BaseException as error:
                if not opened.ended:
                    self._add("failed", {"about": opened.entry.number, "error": type(error).__name__})
                raise
            if not opened.ended:
                opened.done({})
        finally:
            running.end()

    def answer(self, told: Mapping[str, Any], price: Budget) -> Entry:
        """Write down the price of one answer, before it is given."""
        return self._take("answered", told, price)

    def saved(self, about: int, told: Mapping[str, Any]) -> Entry:
        """Write down where a release was saved, and what its files are."""
        return self._add("saved", {"about": about, **told})

    def signed(self, release: str | Path, told: Mapping[str, Any]) -> Entry:
        """Write down who signed evidence about a saved release; one that is not in this ledger is refused."""
        place = Path(release)
        for fault in _strange(place, self.entries):
            raise LedgerError(f"{fault}  Hint: sign without the ledger, or publish it under this one.")
        mark = json.loads((place / "summary.json").read_text(encoding="utf-8"))["ledger"]
        return self._add("signed", {"about": mark["entry"], **told})

    def require_room(self, prices: Sequence[Budget]) -> None:
        """Raise `BudgetSpent` if the cap cannot pay for all of these together. Nothing is taken yet."""
        cap, total = self.cap, self._cost(self.entries, *prices)
        if cap is not None and not cap.covers(total):
            raise self._too_much(added_up(prices), self.entries, total)

    def _too_much(self, price: Budget, entries: Sequence[Entry], total: Budget) -> BudgetSpent:
        return BudgetSpent(
            f"this costs {price}, and {self._cost(entries)} of the ledger's {self.cap} is spent: together "
            f"{total}.  Hint: ask for less, or publish about other people under a ledger of their own."
        )

    def _refuse_in_rehearsals(self) -> None:
        if self.only_looks:
            raise LedgerError("nothing is written down in a rehearsal.  Hint: use the ledger itself.")

    def _take(self, kind: Kind, told: Mapping[str, Any], price: Budget | None) -> Entry:
        self._refuse_in_rehearsals()

        def decide(entries: list[Entry]) -> tuple[Kind, Mapping[str, Any]]:
            if price is None:
                return kind, told
            cap, total = self.cap, self._cost(entries, price)
            if cap is not None and not cap.covers(total):
                raise self._too_much(price, entries, total)
            return kind, {**told, "price": write_budget(price)}

        return self._store.add(self._key, decide)

    def _add(self, kind: Kind, told: Mapping[str, Any]) -> Entry:
        self._refuse_in_rehearsals()
        return self._store.add(self._key, lambda _: (kind, told))

    def _made(
        self, about: int, told: Mapping[str, Any], content: bytes | None, judged_with: Sequence[int] | None
    ) -> None:
        """Write down that a release is made; where other releases came in between that it was not judged with, refuse.

        What is kept of people is on the disk before the entry is: without the entry, it is nobody's.
        """
        if content is not None:
            told = {**told, "people": self._people.write(about, content)}

        def decide(entries: list[Entry]) -> tuple[Kind, Mapping[str, Any]]:
            if judged_with is not None and tuple(_with_people(entries)) != tuple(judged_with):
                raise Overtaken
            return "made", {"about": about, **told}

        self._store.add(self._key, decide)

    def _mark_stopped(self) -> None:
        """Write down which runs were killed before they came to an end. What they cost stays spent."""
        if self.only_looks:
            return
        locks = {path.name: path for path in (self.directory / _RUNS).iterdir()}
        entries = self.entries
        for entry in _unended(entries):
            if is_dead(self.directory / _RUNS / str(entry.told["run"])):
                with suppress(_AlreadyEnded):
                    self._store.add(self._key, partial(_stopped, entry))
        if self.keeps_people:
            ended = {entry.about for entry in self.entries if entry.kind in ("failed", "stopped")}
            self._people.remove(ended - set(_with_people(self.entries)))
        for entry in entries if locks else ():  # of those that were killed, the lock is still there
            lock = locks.get(str(entry.told.get("run")))
            if lock is not None and is_dead(lock):
                lock.unlink(missing_ok=True)

    def verify(self, releases: Sequence[str | Path] = ()) -> list[str]:
        """Return what is wrong, in words: with the chain of entries, and with the entries that releases carry."""
        self._mark_stopped()
        entries = self._store.read_all()
        found = list(broken(entries, self._key))
        if self.keeps_people:
            running = {entry.number for entry in _unended(entries)}
            found += self._people.strange(_with_people(entries), running)
        for release in releases:
            found += _strange(Path(release), entries)
        return found

    def __repr__(self) -> str:
        cap = "no cap" if self.cap is None else f"cap {self.cap}"
        return f"Ledger({len(self.entries)} entries; {self.spent} spent; {cap})"


class OpenEntry:
    """Something that is being published."""

    def __init__(self, ledger: Ledger, entry: Entry) -> None:
        self.ledger = ledger
        self.entry = entry
        self.ended = False

    def done(
        self, told: Mapping[str, Any], *, people: Placement | None = None, judged_with: Sequence[int] | None = None
    ) -> None:
        """Write down what came of it, and who is where, where the ledger keeps that.

        `judged_with` are the releases that it was judged with; `Overtaken` is raised where there are others by now.
        """
        content = None if people is None else people.to_bytes()
        self.ledger._made(self.entry.number, told, content, judged_with)
        self.ended = True

    @property
    def mark(self) -> dict[str, Any]:
        """What a release carries, to be found in the ledger again."""
        return {"entry": self.entry.number, "hash": self.entry.hash}


class Overtaken(Exception):
    """Another release was recorded meanwhile: what was judged is to be judged again, with that one."""


class _AlreadyEnded(Exception):
    """Another process has written the end of a run meanwhile."""


def _stopped(entry: Entry, entries: list[Entry]) -> tuple[Kind, Mapping[str, Any]]:
    if entry not in _unended(entries):
        raise _AlreadyEnded
    return "stopped", {"about": entry.number}


def hashes_of(directory: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a directory, by name."""
    found = {}
    for path in sorted(directory.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def described(schema: Schema) -> dict[str, Any]:
    """Return the roles of columns, as an entry tells them: names only."""
    return {
        "quasi-identifiers": sorted(schema.quasi),
        "sensitive": sorted(schema.sensitive),
        "kept": sorted((*schema.kept, *schema.dates)),
        "pseudonyms": sorted(schema.pseudonyms),
    }


def _with_people(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the releases that tell who was where, by their number, with the SHA-256 of what is kept of that."""
    return {
        entry.about: str(entry.told["people"]) for entry in entries if entry.kind == "made" and "people" in entry.told
    }


def _unended(entries: Sequence[Entry]) -> list[Entry]:
    ended = {entry.about for entry in entries if entry.kind in _ENDS}
    return [entry for entry in entries if entry.kind == "started" and entry.number not in ended]


def _strange(release: Path, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what a saved release and the ledger disagree about."""
    try:
        mark = json.loads((release / "summary.json").read_text(encoding="utf-8")).get("ledger")
    except (OSError, ValueError):
        yield f"{release} is not a release."
        return
    if not isinstance(mark, dict):
        yield f"{release} was made outside of any ledger."
        return
    if not any(entry.number == mark.get("entry") and entry.hash == mark.get("hash") for entry in entries):
        yield f"{release} has an entry that this ledger lacks: the ledger is another one, or an older copy of itself."
        return
    saved = [entry for entry in entries if entry.kind == "saved" and entry.about == mark["entry"]]
    if not any(entry.told.get("files") == hashes_of(release) for entry in saved):
        yield f"{release} is not as it was saved: its files have changed, or the run was killed before it was recorded."


def _beside(directory: Path) -> Path:
    directory = directory.absolute()
    return directory.with_name(directory.name + _KEY_SUFFIX)


def _check_of(key: bytes) -> str:
    return hmac.digest(key, b"incrowd ledger key\0", "sha256").hex()
