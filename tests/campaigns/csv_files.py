"""CSV files of every kind, whole and damaged: read as Python's own reader reads them, or refused with a clear error."""

from __future__ import annotations

import csv
import gzip
import io
import os
import random
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from incrowd.errors import IncrowdError, ReadingWarning
from incrowd.sources import open_source, read_rows
from tests.campaigns.campaign import Campaign

# A return that ends no line is text to us and an error to Python's reader, so that this stands for it there.
_LONE_RETURN = "\U000f1234"
_NAMES = (
    "age", "Age", "name", "zip code", "größe", "id", "1", "n", "c0", "tuple", "*", "^a.*$", "a,b", 'the "x"', "it's",
    " padded ", "", "line\nbreak", "日本", "x" * 300, "count", "group", "\\", "#", "null", "é", "a;b", "a|b", "12:30",
)  # fmt: skip
_TEXTS = (
    "", " ", "a", "Ä", "naïve", "日本語", "O'Brien", "5\" pipe", 'say "hi"', "x,y", "x;y", "a|b", "a\tb", "12:30:59",
    "-", "'quoted'", '"', "''", '""', "NA", "null", "NaN", "nan", "inf", "-inf", "None", "?", "#", "# comment", "\\N",
    "a\\b", "line\nbreak", "line\r\nbreak", "x\ry", " leading", "trailing ", "\u00a0", "\u2028", "\x85", "\x1c", "\x1f",
    "\x07", "true", "False", "=1+1", "@x", "x" * 3000, "\U0001f600",
)  # fmt: skip
_NUMBERS = (
    "0", "-0", "-0.0", "007", "1.50", "+5", "-3", "1e5", "1E-7", "1e400", "0x1F", "1_000", "1,5", "1.000,50", ".5",
    "5.", "5", "5.0", "9223372036854775808", "123456789012345678901234567890", "0.1", "１２", "²", "1/2", "50%", "€5",
)  # fmt: skip
_DATES = (
    "2024-02-29", "2023-02-29", "29.02.2024", "02/29/2024", "2024-02-29T24:00:00", "2024-02-29 12:30", "0000-00-00",
    "9999-12-31", "12:30", "24:00", "20240229", "1970-01-01T00:00:00Z", "infinity",
)  # fmt: skip
_ENCODINGS = ("utf-8",) * 6 + ("utf-8-sig", "cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32", "cp437", "shift_jis")
_JUNK = (b"\0", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1a", b'"', b"'", b"\r", b"\n", b"\x1f\x8b")


@dataclass(frozen=True)
class _File:
    """A table as text, and how its bytes are made of it."""

    text: str
    rows: list[list[str]]
    quote: str
    encoding: str
    line: str
    """One more row, like those that are there."""

    def bytes(self) -> bytes:
        return self.text.encode(self.encoding, errors="replace")


class CsvFiles(Campaign):
    """Whatever a file holds, it is read right or refused; one more row does not change how the others are read."""

    name: ClassVar[str] = "csv"
    share: ClassVar[int] = 20

    def trial(self, number: int, place: Path) -> str | None:
        """Make a file, damage it at times, and read it in every way there is."""
        chance = random.Random(number)
        made = _made(chance)
        content = made.bytes()
        damaged = chance.random() < 0.4
        if damaged:
            content = _damaged(content, chance)
        if chance.random() < 0.05:
            content = gzip.compress(content)
        path = place / "people.csv"
        _write(path, content)
        with _standard_error() as said:
            wrong = self._read(path, made, content, damaged)
            if wrong is None and chance.random() < 0.1:
                wrong = _commands(path, place, chance.choice(made.rows[0]) or "age")
        if wrong is None and "panicked" in said[0]:
            wrong = "Polars panicked"
        return None if wrong is None else f"{wrong}: {content[:300]!r}"

    def _read(self, path: Path, made: _File, content: bytes, damaged: bool) -> str | None:
        try:
            source = open_source(path, written="plain")
            rows = read_rows(source)
        except IncrowdError:
            return None
        found = dict(source.description)
        read = [list(source.columns), *map(list, rows.rows())]
        if not any(_same(read, expected) for expected in _oracles(content, found)):
            return f"not what Python's reader reads ({found})"
        # Few rows do not tell whether apostrophes quote.
        if damaged or not made.line or made.quote == "'" or ("'" in made.text and '"' not in made.text):
            return None
        return self._read_with_one_more(path, made, found, read)

    def _read_with_one_more(
        self, path: Path, made: _File, found: dict[str, object], read: list[list[str | None]]
    ) -> str | None:
        text = made.text if made.text.endswith(("\n", "\r")) else made.text + made.line[-1:]
        other = path.with_name("longer.csv")
        _write(other, replace(made, text=text + made.line).bytes())
        try:
            source = open_source(other, written="plain")
            rows = read_rows(source)
        except IncrowdError as error:
            return f"with one more row it is refused ({error})"
        if {**source.description, "path": ""} != {**found, "path": ""}:
            return f"one more row changed how it is read ({found}, then {dict(source.description)})"
        if [list(source.columns), *map(list, rows.rows())][: len(read)] != read:
            return "one more row changed what was read of the others"
        return None


def _made(chance: random.Random) -> _File:
    width = chance.choice((1, 2, 2, 3, 3, 4, 6))
    names = chance.sample(_NAMES[:6], min(width, 6)) if chance.random() < 0.7 else chance.choices(_NAMES, k=width)
    kinds = [chance.choice((_TEXTS, _TEXTS[:6], _NUMBERS, _NUMBERS[:4], _DATES, _DATES[:1])) for _ in names]
    height = chance.choice((0, 1, 1, 2, 5, 20, 60))
    rows = [[chance.choice(kind) for kind in kinds] for _ in range(height)]
    separator = chance.choice(",,,;;\t|:")
    end = chance.choice(("\n", "\n", "\n", "\r\n", "\r\n", "\r"))
    quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    padding = " " if chance.random() < 0.1 else ""
    quote = "'" if chance.random() < 0.1 else '"'

    def line(row: list[str]) -> str:
        if end == "\r":
            row = [value.replace("\n", " ") for value in row]  # Python's writer does not quote it then
        text = io.StringIO()
        csv.writer(text, delimiter=separator, quotechar=quote, quoting=quoting, lineterminator=end).writerow(row)
        # By the writer's own marks this is wrong where a field holds the separator: then it is a damaged file.
        return text.getvalue().replace(separator, separator + padding) if padding else text.getvalue()

    lines = [line(names), *map(line, rows)]
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        lines.insert(chance.randrange(len(lines) + 1), end)
    text = "".join(lines)
    if chance.random() < 0.3:
        text = text.removesuffix(end)
    encoding = chance.choice(_ENCODINGS)
    return _File(text, [names, *rows], quote, encoding, line(chance.choice(rows)) if rows else "")


def _damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(content) + 1)
        match chance.choice(("cut", "junk", "junk", "junk", "drop", "twice", "random", "ragged")):
            case "cut":
                content = content[:at]
            case "junk":
                content = content[:at] + chance.choice(_JUNK) * chance.choice((1, 1, 2, 50)) + content[at:]
            case "drop":
                content = content[:at] + content[at + chance.choice((1, 5, 20)) :]
            case "twice":
                content = content[:at] + content
            case "random":
                content = content[:at] + chance.randbytes(chance.choice((1, 10, 100))) + content[at:]
            case _:
                content += chance.choice((b"a,b,c,d,e,f,g,h\n", b"x", b",\n", b"\n\n", b"a;b;c\n", b'"open\n'))
    return content


def _oracles(content: bytes, found: dict[str, object]) -> Iterator[list[list[str]]]:
    """Yield what Python's reader makes of the file in the dialect that was found, with spaces kept and without."""
    data = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    text = data.decode(str(found["encoding"]), errors="surrogateescape").removeprefix("\ufeff")
    # Where cp1252 has no character, a byte is the character of its number.
    text = "".join(chr(ord(letter) - 0xDC00) if "\udc80" <= letter <= "\udcff" else letter for letter in text)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    # At the very end, it ends a line.
    text = text.removesuffix("\r")
    text = _LONE_RETURN.join(
        piece if place == 0 or piece.startswith("\n") else "\0" + piece for place, piece in enumerate(text.split("\r"))
    )
    text = text.replace(_LONE_RETURN + "\n", "\r\n").replace(_LONE_RETURN + "\0", _LONE_RETURN)
    lines = [line + "\n" for line in text.split("\n")]
    try:
        reader = _reader(lines, found, padded=True)  # a space before a name is never part of it
        header = next(
            record for record in reader if len(record) > 1 or not all(map(_is_blank, ([name] for name in record)))
        )
    except csv.Error:
        return
    for padded in (False, True):
        with suppress(csv.Error):
            body = list(_reader(lines[reader.line_num :], found, padded=padded))
            yield [
                [name.replace(_LONE_RETURN, "\r").strip() for name in header],
                *(record for record in body if record and not (len(header) > 1 and _is_blank(record))),
            ]


def _reader(lines: list[str], found: dict[str, object], *, padded: bool) -> Any:
    return csv.reader(
        lines,
        delimiter=str(found.get("separator", "\x1f")),
        quotechar=str(found["quote"]) or None,
        quoting=csv.QUOTE_MINIMAL if found["quote"] else csv.QUOTE_NONE,
        skipinitialspace=padded,
    )


def _is_blank(record: list[str]) -> bool:
    return len(record) == 1 and not record[0].replace(_LONE_RETURN, "").strip()


def _same(read: list[list[str | None]], expected: list[list[str]]) -> bool:
    plain = [[value.replace(_LONE_RETURN, "\r") or None for value in record] for record in expected[1:]]
    return [expected[0], *plain] == read


def _commands(path: Path, place: Path, column: str) -> str | None:
    """Run the commands that read a file; each ends well or with an error of ours."""
    from typer.testing import CliRunner

    from incrowd.cli.app import app

    recipe = place / "recipe.toml"
    commands = [
        ["profile", str(path), "--output", str(recipe)],
        ["publish", str(recipe), "--output", str(place / "release"), "--quiet"],
        ["check", str(path), "--quasi", column],
    ]
    for command in commands:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)
            done = CliRunner().invoke(app, command)
        if done.exception is not None and not isinstance(done.exception, (IncrowdError, SystemExit)):
            return f"incrowd {command[0]} fails in itself ({done.exception!r})"
    return None


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.utime(path, (0, 0))  # an old file: one that was just written is waited for


@contextmanager
def _standard_error() -> Iterator[list[str]]:
    """Catch what libraries write to the process' standard error; it is in the list afterwards."""
    said: list[str] = []
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            said.append(caught.read().decode(errors="replace"))
