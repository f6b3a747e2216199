"""No command, however it ends, lets a value of the table out: into what it prints, a message, a log or a file.

Every cell of the table holds a word that occurs nowhere else. What a release may show is left out of the search: the
exact values of published people in columns that are kept, sensitive, or shown as they are.
"""

from __future__ import annotations

import io
import json
import logging
import os
import pickle
import sqlite3
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.errors import IncrowdError, UncoveredValue
from incrowd.planning.profile import profile
from tests.campaigns.campaign import Campaign
from tests.cli.command import incrowd


class Canaries(Campaign):
    """Tables with a word of their own in every cell, through all commands and all that can go wrong."""

    name: ClassVar[str] = "canaries"
    share: ClassVar[int] = 4

    def trial(self, number: int, place: Path) -> str | None:
        """Do one thing that may or may not fail, and look at all that it leaves."""
        rng = np.random.default_rng(number)
        here = Path.cwd()
        others = place / "tmp"
        others.mkdir()
        os.chdir(place)
        trial = _Trial(rng, place)
        heard = io.StringIO()
        listener = logging.StreamHandler(heard)
        logging.getLogger().addHandler(listener)
        try:
            with patch.object(tempfile, "tempdir", str(others)), warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                what = _ACTIONS[int(rng.integers(len(_ACTIONS)))]
                what(trial)
            trial.told += [str(warning.message) for warning in warned] + [heard.getvalue()]
            trial.leaves(place)
        finally:
            logging.getLogger().removeHandler(listener)
            os.chdir(here)
        return trial.broken(what.__name__)


class _Trial:
    """One table in an empty directory, and all that came out of it."""

    def __init__(self, rng: np.random.Generator, place: Path) -> None:
        self.rng, self.place = rng, place
        rows = int(rng.integers(3, 40))
        self.word = f"Zq{rng.integers(10**8, 10**9)}"
        self.frame = pl.DataFrame(
            {
                "name": [f"{self.word}name{row}x" for row in range(rows)],
                "note": [f"{self.word}note{row}x" for row in range(rows)],
                "city": [f"{self.word}city{row if rng.random() < 0.3 else row % 4}x" for row in range(rows)],
                "age": [int(age) for age in rng.integers(18, 90, rows)],
                "ill": [f"{self.word}ill{row % 5}x" for row in range(rows)],
                "work": [f"{self.word}work{row}x" for row in range(rows)],
            }
        )
        self.frame.write_csv(place / "people.csv")
        self.told: list[str] = []
        self.faults: list[str] = []
        self.roles = {"name": "identifier", "note": "drop", "city": "quasi", "age": "quasi", "ill": "sensitive"}
        self.roles["work"] = self.any("keep", "drop", "pseudonym")
        self.models: list[dict[str, Any]] = [{"name": "k-anonymity", "k": int(self.any(1, 2, 3, 5))}]
        self.more: dict[str, Any] = {}
        self.hierarchies: dict[str, Any] = {}

    def any(self, *among: Any) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def recipe(self, file: str = "people.recipe.toml") -> Path:
        import tomli_w

        columns = {name: {"role": role} for name, role in self.roles.items()}
        for name, hierarchy in self.hierarchies.items():
            columns[name]["hierarchy"] = hierarchy
        data = {"incrowd": 1, "source": {"path": "people.csv"}, "models": self.models, "columns": columns, **self.more}
        (self.place / file).write_text(tomli_w.dumps(data), encoding="utf-8")
        return Path(file)

    def run(self, *arguments: object) -> int:
        done = incrowd(*arguments)
        self.told += [done.out, done.err]
        if done.code == 6:
            self.faults.append(f"exit code 6: {arguments}: {done.err}")
        return done.code

    def raises(self, attempt: Callable[[], object]) -> None:
        """Do something in Python, and take whatever its error says, also in a traceback and when it is sent on."""
        out = io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(out):
                attempt()
        except IncrowdError as error:
            self.told += [str(error), repr(error), "".join(traceback.format_exception(error))]
            self.told.append(pickle.dumps(error).decode("latin-1"))
        self.told.append(out.getvalue())

    def leaves(self, place: Path) -> None:
        """Take what is left in files, but for those that are meant to hold the table: its own, recipes, the release."""
        for file in place.rglob("*"):
            first = file.relative_to(place).parts[0]
            mine = first in ("out", "a.html", "a.json") or first.startswith("people") or file.suffix == ".toml"
            if file.is_file() and not mine:
                self.told.append(f"{file.name}: " + file.read_bytes().decode("latin-1"))

    def search(self, texts: list[str], may_show: tuple[str, ...] = ()) -> None:
        """Look for words of the table; of some columns, they may be there."""
        for text in texts:
            at = text.find(self.word)
            while at >= 0:
                rest = text[at + len(self.word) :]
                column = next((name for name in self.frame.columns if rest.startswith(name)), "?")
                if column not in may_show:
                    self.faults.append(f"lets a value of '{column}' out: …{text[max(at - 200, 0) : at + 60]!r}…")
                    return
                at = text.find(self.word, at + 1)

    def broken(self, what: str) -> str | None:
        """Return what was let out, if anything was."""
        self.search(self.told)
        return f"{what}: {self.faults[0]}" if self.faults else None


def _published(trial: _Trial) -> None:
    """A whole run, with everything that may be done with a release; files of the release may show published cells."""
    trial.hierarchies = trial.any({}, {"city": {"kind": "masking", "mask": "#", "steps": [1, 2]}})
    trial.more = trial.any({}, {"sample": 0.5}, {"output": {"format": "parquet"}})
    trial.more |= trial.any(
        {}, {"method": {"name": "full-domain", "max_withheld": 0.5}}, {"method": {"name": "anatomy"}}
    )
    trial.run("publish", trial.recipe(), "-o", "out", *trial.any((), ("--json",), ("--quiet",)))
    release = trial.place / "out"
    if not release.exists():
        return
    for file in release.iterdir():
        texts = [file.read_bytes().decode("latin-1")]
        if file.suffix == ".parquet":
            texts.append(pl.read_parquet(file).write_csv())
        kept = ("work",) if trial.roles["work"] == "keep" else ()
        trial.search(texts, () if file.name in ("recipe.toml", "summary.json") else ("city", "ill", *kept))
    data = f"out/{_data(release)}"
    trial.run("check", *trial.any((data, "-q", "city,age", "-s", "ill"), ("people.csv", "-q", "city,age")))
    if trial.rng.random() < 0.9:  # the rest takes long
        return
    told, trial.told = trial.told, []
    original = trial.any((), ("--original", "people.csv"))
    output = trial.any("a.html", "a.json")
    trial.run(
        *trial.any(("audit", "out", "--no-learning", "-o", output), ("attack", "out"), ("attack", "out", "--json")),
        *original,
    )
    trial.told += [file.read_text(encoding="utf-8") for file in trial.place.glob("a.*")]
    # An audit tells how often values occur that many people have (auditing/suppression.py).
    trial.search(trial.told, ("city", "ill"))
    trial.told = told


def _data(release: Path) -> str:
    return next(file.name for file in release.iterdir() if file.name.startswith("data"))


def _profiled(trial: _Trial) -> None:
    """A profile, whose recipe lists values for the owner; what is printed does not, nor does the published recipe."""
    trial.run("profile", "people.csv", *trial.any((), ("--json",), ("-o", "new.toml")))


def _wrong_names(trial: _Trial) -> None:
    """Columns that are not there, without a role, or asked of the wrong command."""
    trial.roles = trial.any({**trial.roles, "cityy": "quasi"}, {"city": "quasi"}, {"town": "quasi", "age": "quasi"})
    trial.run("publish", trial.recipe(), "-o", "out")
    trial.run("check", "people.csv", "-q", trial.any("citty", "zzz"))
    trial.run("hierarchy", trial.recipe(), "-c", trial.any("city", "zzz"))


def _no_header(trial: _Trial) -> None:
    """A file whose first line is a person's, or that is no CSV at all."""
    first = trial.any(
        f"{trial.word}name1x,{trial.word}note1x,1987-11-03,10115\n",
        f"{trial.word}name1x,{trial.word}name1x,F\n",
        "{" + f'"name": "{trial.word}name1x"' + "}\n",
        f"<people><person name='{trial.word}name1x'/></people>",
        f"{trial.word}name1x" * 8 + "\n",
        f"{trial.word}name1x;;\n",
    )
    (trial.place / "people.csv").write_text(first * int(trial.any(1, 5)))
    trial.run("publish", trial.recipe(), "-o", "out")
    trial.run("check", "people.csv", "-q", "age")
    trial.run("check", "people.csv", "-q", "age", "--separator", trial.any(",", ";", "ab"))
    trial.raises(lambda: ic.read("people.csv", quasi=["age"]))
    trial.raises(lambda: ic.read("people.csv", quasi=[], others="drop"))


def _broken_file(trial: _Trial) -> None:
    """Quotes that stay open, short lines, bytes of no encoding, files of another kind."""
    data = (trial.place / "people.csv").read_bytes()
    half = int(trial.rng.integers(1, len(data)))
    broken = trial.any(
        data[:half] + b'"' + data[half:],
        data[:half],
        data[:half] + b"\xff\xfe\x00" + data[half:],
        data[:half] + b"\n" + data[half:],
        data.decode().encode("utf-16"),
        b"PAR1" + data + b"PAR1",
        b"\x1f\x8b" + data,
        b"PK\x03\x04" + data,
        data.replace(b",", b";", 3),
        data.replace(b"\n", b"\r", 2),
        b"",
    )
    (trial.place / "people.csv").write_bytes(broken)
    options = trial.any((), ("--separator", "|"), ("--encoding", "ascii"), ("--encoding", "nonsense"))
    trial.run("check", "people.csv", "-q", "age", *options)
    trial.run("publish", trial.recipe(), "-o", "out")
    trial.raises(lambda: ic.read("people.csv", quasi=["city"], others="keep").engine.distinct(["city"]))


def _uncovered(trial: _Trial) -> None:
    """Values that a hierarchy lacks, or cannot take."""
    declared = {"kind": "categories", "tree": ["Oslo", "Rome"]}
    trial.hierarchies = {
        "city": trial.any(
            declared,
            {"kind": "categories", "taken_from": "data", "tree": trial.frame["city"].unique().to_list()[1:] or ["x"]},
            {"kind": "intervals", "widths": [5]},
            {"kind": "dates"},
            {"kind": "masking"},
        )
    }
    if trial.rng.random() < 0.3:
        trial.more = {"method": {"name": "diffgen", "epsilon": 1.0}}
        trial.models = []
    recipe = trial.recipe()
    trial.run("publish", recipe, "-o", "out", *trial.any((), ("--json",)))
    trial.run("hierarchy", recipe, "-c", "city", "--check", "people.csv", *trial.any((), ("--json",)))
    hierarchy = ic.Categories.from_tree(["Oslo"])
    trial.raises(
        lambda: ic.publish(
            ic.read("people.csv", quasi=["city"], others="drop", hierarchies={"city": hierarchy}), ic.KAnonymity(2)
        )
    )
    error = UncoveredValue("city", trial.frame["city"].to_list(), trial.frame.height)
    trial.told += [str(error), repr(error), pickle.dumps(error).decode("latin-1")]
    if (trial.place / "out").exists():
        trial.told.append((trial.place / "out" / "summary.json").read_text())


def _impossible(trial: _Trial) -> None:
    """Models that nothing satisfies, and parameters of the wrong kind."""
    trial.models = [
        trial.any(
            {"name": "k-anonymity", "k": 10**6},
            {"name": "k-anonymity", "k": "many"},
            {"name": "distinct-l-diversity", "l": 10**6},
            {"name": "t-closeness", "t": 0.0},
            {"name": "k-map", "k": 2},
            {"name": "nothing"},
        )
    ]
    trial.more = trial.any({}, {"sample": 1e-9}, {"method": {"name": "slicing"}}, {"method": {"name": "sdgs"}})
    trial.run("publish", trial.recipe(), "-o", "out")
    more = trial.any(("compare", "-o", "compared", "--jobs", "1"), ("advise",), ("plan",))
    trial.run(more[0], trial.recipe(), *more[1:])


def _database(trial: _Trial) -> None:
    """A SQLite database, and queries that fail while they run."""
    with sqlite3.connect(trial.place / "people.db") as connection:
        connection.execute("create table people (name, city, age)")
        connection.executemany("insert into people values (?, ?, ?)", trial.frame.select("name", "city", "age").rows())
    connection.close()
    query = trial.any(
        "select * from people",
        "select * from nobody",
        "select json(city) from people",
        "select name, load_extension(name) from people",
        "select city, abs(-9223372036854775808) from people",
        "select city, city from people",
        "select cast(name as blob) b from people",
        "delete from people",
        "select printf('%s', city) regexp city from people",
    )
    trial.run("check", "sqlite:///people.db", "--query", query, "-q", trial.any("age", "nobody"))
    trial.run("check", "sqlite:///absent.db", "--query", query, "-q", "age")
    trial.raises(lambda: ic.read("sqlite:///people.db", query=query, quasi=["city"], others="drop"))


def _plugin_fails(trial: _Trial) -> None:
    """A part of another package that raises, and quotes the table when it does."""
    error = trial.any(ValueError, KeyError, RuntimeError, MemoryError)(f"{trial.word}name1x")
    with patch.object(ic.Mondrian, "search", side_effect=error):
        done = incrowd("publish", trial.recipe(), "-o", "out")
    trial.told += [done.out, done.err]


def _shown_as_text(trial: _Trial) -> None:
    """What Python prints of the things that hold a table."""
    frame = trial.any(trial.frame, trial.frame.to_pandas())
    table = ic.read(frame, quasi=["city", "age"], sensitive=["ill"], identifiers=["name"], others="drop")
    counted = table.engine.count(table.schema)
    objects: list[Any] = [table, table.schema, table.engine, counted, counted.tally, *counted.tally.trees.values()]
    profiled = profile(trial.frame)
    objects += [profiled, *profiled.columns]
    for thing in objects:
        trial.told += [repr(thing), str(thing)]
        if hasattr(thing, "_repr_html_"):
            trial.told.append(thing._repr_html_())
    trial.told.append(json.dumps(profiled.to_dict(), default=str))


def _odd_names(trial: _Trial) -> None:
    """Names of columns that a terminal would obey."""
    odd = trial.any("a\x1b[2Jb", "a\nb", "a\u202eb", "a\rb", "a\x07")
    frame = trial.frame.rename({"city": odd})
    table = ic.read(frame, quasi=["age"], sensitive=["ill"], others="keep")
    trial.raises(lambda: ic.read(frame, quasi=["age"]))
    trial.raises(lambda: ic.read(frame, quasi=[odd + "x"], others="drop"))
    trial.raises(lambda: ic.publish(table, ic.KAnonymity(10**6)))
    frame.write_parquet("people.parquet")
    trial.run("check", "people.parquet", "-q", trial.any(odd, odd + "x"))
    trial.run("profile", "people.parquet")
    forbidden = odd[1] if odd[1] != "\n" else odd
    if any(forbidden in text for text in trial.told if not text.startswith("\x80")):  # which is a pickle
        trial.faults.append(f"{odd!r} is printed as it is")


_ACTIONS = (
    _published, _published, _published, _profiled, _wrong_names, _no_header, _broken_file, _uncovered, _impossible,
    _database, _plugin_fails, _shown_as_text, _odd_names,
)  # fmt: skip
