"""Column sets as data stewards have them, with the role that a careful person would give to each column.

`role_corpus.txt` has one line a table: its name, then columns as `name|role|values`, separated by `;`. What the values
look like is one word of `VALUES`. The tables are made up; their columns are those of clinics, registers, schools, banks
and surveys in several languages. Those after the blank line were written after the vocabulary and never used to mend
it. `python -m tests.planning.profile.role_corpus` prints precision and recall by role.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from incrowd.planning.profile import profile

ROWS = 240

CORPUS = Path(__file__).with_suffix(".txt")

_WORDS = (
    "Oslo",
    "Bergen",
    "Rome",
    "Lima",
    "Kyiv",
    "Pune",
    "Cork",
    "Graz",
    "Lyon",
    "Faro",
    "Gent",
    "Nice",
    "Bari",
    "Lodz",
)
_NAMES = (
    "Anna",
    "Bert",
    "Carla",
    "David",
    "Eva",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jan",
    "Kira",
    "Luis",
    "Mona",
    "Noor",
)
_LAST = ("Smith", "Meyer", "Rossi", "Nowak", "Silva", "Jansen", "Lopez", "Dubois", "Okafor", "Larsen", "Weber", "Conti")


def _day(chance: random.Random, first: int, last: int) -> str:
    start = date(first, 1, 1)
    return str(start + timedelta(days=chance.randrange(365 * (last - first))))


VALUES: dict[str, Callable[[random.Random, int], object]] = {
    "id": lambda c, row: f"P{row * 7919 % 100_003:06d}",
    "serial": lambda c, row: 10_000 + row * 7919 % 90_001,
    "number": lambda c, row: row + 1,
    "hash": lambda c, row: f"{row * 2654435761 % 2**32:08x}-{row:04x}q",
    "name": lambda c, row: f"{c.choice(_NAMES)} {c.choice(_LAST)}{chr(97 + row % 26)}{chr(97 + row // 26 % 26)}",
    "word": lambda c, row: c.choice(_LAST) + c.choice(("", "sen", "er", "ova")),
    "email": lambda c, row: f"{c.choice(_NAMES).lower()}{row}@example.org",
    "phone": lambda c, row: f"+49 30 {1_000_000 + row * 7919 % 900_001}",
    "iban": lambda c, row: f"DE{10 + row % 80}{10**17 + row * 7919:018d}",
    "ssn": lambda c, row: f"{100 + row % 800}-{10 + row % 80}-{1000 + row * 37 % 8999}",
    "ip": lambda c, row: f"10.{row % 250}.{c.randrange(250)}.{c.randrange(250)}",
    "address": lambda c, row: f"{c.choice(_WORDS)} road {c.randrange(1, 99)}",
    "birth": lambda c, row: _day(c, 1935, 2005),
    "day": lambda c, row: _day(c, 2021, 2023),
    "year": lambda c, row: c.randrange(1935, 2005),
    "age": lambda c, row: c.randrange(18, 93),
    "two": lambda c, row: c.choice(("a", "b")),
    "few": lambda c, row: f"kind {c.choice('abcde')}",
    "some": lambda c, row: c.choice(_WORDS),
    "zip": lambda c, row: f"{10115 + c.randrange(60) * 13}",
    "small": lambda c, row: c.randrange(0, 40),
    "big": lambda c, row: c.randrange(60, 200),
    "ratio": lambda c, row: round(c.uniform(1, 40), 1),
    "money": lambda c, row: round(c.uniform(900, 9000), 2),
    "weight": lambda c, row: round(c.uniform(200, 1900), 3),
    "lat": lambda c, row: round(c.uniform(46, 54), 4),
    "lon": lambda c, row: round(c.uniform(6, 15), 4),
    "free": lambda c, row: f"seen on day {row}, feels {c.choice(_WORDS)} and wants to talk about it again soon",
}


def tables(*, unseen: bool) -> dict[str, tuple[pl.DataFrame, dict[str, str]]]:
    """Return every table with the roles that its columns have."""
    made = {}
    known, others = CORPUS.read_text(encoding="utf-8").split("\n\n")
    for line in (others if unseen else known).strip().split("\n")[1:]:
        name, _, listed = line.partition(": ")
        columns = [tuple(part.strip() for part in column.split("|")) for column in listed.split(";")]
        chance = random.Random(name)
        frame = pl.DataFrame(
            {column: [VALUES[look](chance, row) for row in range(ROWS)] for column, _, look in columns}
        )
        made[name] = frame, {column: role for column, role, _ in columns}
    return made


def judged(*, unseen: bool = False) -> list[tuple[str, str, str, str]]:
    """Return table, column, true role and proposed role; who is who in several rows is an identifier here."""
    same = {"person": "identifier", "household": "identifier"}
    return [
        (name, column.name, roles[column.name], same.get(column.role, column.role))
        for name, (frame, roles) in tables(unseen=unseen).items()
        for column in profile(frame).columns
    ]


def precision_and_recall(found: Sequence[tuple[str, str, str, str]]) -> dict[str, tuple[float, float, int]]:
    """Return precision, recall and how many columns have it, by role."""
    right = Counter(true for _, _, true, proposed in found if true == proposed)
    wanted, given = Counter(true for _, _, true, _ in found), Counter(proposed for *_, proposed in found)
    return {
        role: (right[role] / max(given[role], 1), right[role] / wanted[role], wanted[role]) for role in sorted(wanted)
    }


def main() -> None:
    """Print both tables."""
    for unseen in (False, True):
        found = judged(unseen=unseen)
        print(f"{len({name for name, *_ in found})} tables{', unseen' if unseen else ''}, {len(found)} columns")
        print(f"{'role':<12}{'precision':>10}{'recall':>8}{'columns':>9}")
        for role, (precision, recall, columns) in precision_and_recall(found).items():
            print(f"{role:<12}{precision:>10.3f}{recall:>8.3f}{columns:>9}")
        for name, column, true, proposed in found:
            if true != proposed:
                print(f"{name}: '{column}' is {true}, proposed is {proposed}")


if __name__ == "__main__":
    main()
