"""Releases whose files were damaged: whatever reads them says so, or says what the files say. It never fails in itself.

Each trial takes a small release, damages one to three things in it, and gives it to the commands that read releases, by
the function that the command line runs.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import tomli_w

import incrowd as ic
from incrowd.errors import ConformanceError, IncrowdError
from tests.campaigns.campaign import Campaign
from tests.campaigns.kept import kept_directory
from tests.cli.command import incrowd

_SECONDS = 60
_AGES = {"young": ["20", "25", "30"], "old": ["40", "45", "50"]}
_PEOPLE = 72


def _people() -> pl.DataFrame:
    ages = [age for ages in _AGES.values() for age in ages]
    return pl.DataFrame(
        {
            "age": [int(ages[number % 6]) for number in range(_PEOPLE)],
            "town": [("Rome", "Oslo", None, "Bern, CH")[number % 4] for number in range(_PEOPLE)],
            "ill": [("flu", "cold", "gout")[(number // 2) % 3] for number in range(_PEOPLE)],
            "note": [f"note {number}" for number in range(_PEOPLE)],
        }
    )


def _methods() -> dict[str, tuple[list[Any], Any, Any]]:
    """Ways to publish, one or more for every form: models, method, form."""
    return {
        "mondrian": ([ic.KAnonymity(3), ic.LDiversity(2)], ic.Mondrian(), None),
        "full domain": ([ic.KAnonymity(3)], ic.FullDomain(max_withheld=0.2), None),
        "tight": ([ic.KAnonymity(4)], ic.KMember(labels="tight"), None),
        "anatomy": ([ic.ProbabilisticLDiversity(2)], ic.Anatomy(), None),
        "one table": ([ic.ProbabilisticLDiversity(2)], ic.Anatomy(tables="one"), None),
        "slicing": ([ic.SlicedDiversity(2)], ic.Slicing(), None),
        "multisets": ([ic.KAnonymity(4)], ic.Mondrian(), ic.ShowMultisets()),
        "flat": ([], ic.FlatHistogram(2, missing=("town",)), None),
        "diffgen": ([], ic.ConsistentDiffGen(2, missing=("town",)), None),
        "synthetic": ([], ic.MarginalSynthesis(2, missing=("town",)), None),
        "sampled": ([], ic.SDGS(2, epsilon=2), None),
    }


@functools.cache
def whole(name: str, format: str, kept: bool) -> Path:
    """Return an undamaged release beside its table, made once in this process."""
    place = kept_directory()
    _people().write_csv(place / "people.csv")
    models, method, form = _methods()[name]
    age = ic.Categories.from_tree(_AGES)
    towns = ic.Categories.from_tree({"north": ["Oslo"], "south": ["Rome", "Bern, CH"]})
    keep = ["note"] if kept and not method.private and form is None and name in ("mondrian", "full domain") else []
    table = ic.read(
        place / "people.csv",
        quasi=["age", "town"],
        sensitive=["ill"],
        keep=keep,
        others="drop",
        hierarchies={"age": age, "town": towns, "ill": ic.Categories((("flu",), ("cold",), ("gout",)))},
    )
    sample = "1/2" if name == "sampled" else 1
    extra = {} if form is None else {"form": form}
    release = ic.publish(table, models, method=method, seed=1, sample=sample, **extra)
    release.save(place / "out", format=format)  # type: ignore[arg-type]
    return place


class Damaged(Campaign):
    """Releases that lack something, hold something else, or contradict themselves."""

    name = "damaged"
    share = 12

    def trial(self, number: int, place: Path) -> str | None:
        """Damage a release, and read it in one of the ways."""
        chance = random.Random(number)
        method, format = chance.choice(list(_methods())), chance.choice(["csv", "parquet", "arrow"])
        shutil.copytree(whole(method, format, chance.random() < 0.3), place, dirs_exist_ok=True)
        release = place / "out"
        done = []
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            if release.is_dir():
                done.append(chance.choice(DAMAGES)(chance, release))
        reader = chance.choice(READERS)
        told = f"{method}, {format}: {'; '.join(done)}; {reader.__name__}"
        try:
            with _within(_SECONDS):
                wrong = reader(chance, place)
        finally:
            _make_removable(place)
        return None if wrong is None else f"{told}: {wrong}"


def _file(chance: random.Random, release: Path) -> Path:
    """Return one of the files; a data file is as likely as a text."""
    found = sorted(release.iterdir())
    return chance.choice(found) if found else release / "summary.json"


def remove(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    _take_away(path)
    return f"no {path.name}"


def empty(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    _take_away(path)
    path.write_bytes(b"")
    return f"empty {path.name}"


def truncate(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    data = _bytes(path)
    _take_away(path)
    path.write_bytes(data[: chance.randrange(len(data) + 1)])
    return f"truncated {path.name}"


def flip(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    data = bytearray(_bytes(path))
    for _ in range(chance.choice([1, 1, 4, 50])):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)
    _take_away(path)
    path.write_bytes(data)
    return f"other bytes in {path.name}"


def other_kind(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    contents = chance.choice([b"PAR1", b"ARROW1\0\0", b"\xff\xfe\0\0", b"{}", b"[]", b"null", b"\0" * 50, b"x\n" * 9,
                              b"[" * 100_000, b"PAR1" + os.urandom(4) + b"PAR1", b"\xef\xbb\xbf"])  # fmt: skip
    _take_away(path)
    path.write_bytes(contents)
    return f"{path.name} is {contents[:10]!r}"


def swap(chance: random.Random, release: Path) -> str:
    first, second = _file(chance, release), _file(chance, release)
    one, other = _bytes(first), _bytes(second)
    for path, data in ((first, other), (second, one)):
        _take_away(path)
        path.write_bytes(data)
    return f"{first.name} and {second.name} exchanged"


def rename(chance: random.Random, release: Path) -> str:
    path = _file(chance, release)
    name = chance.choice(["data.csv", "data.parquet", "data.arrow", "sensitive.csv", "counts.parquet", "summary.json",
                          "recipe.toml", "DATA.CSV", "x" * 250])  # fmt: skip
    if path.exists() and path != release / name:
        _take_away(release / name)
        path.rename(release / name)
    return f"{path.name} renamed {name}"


def another_format(chance: random.Random, release: Path) -> str:
    """Add the data a second time, in another format, with other rows."""
    frame = _frame(release)
    if frame is None:
        return "nothing"
    format = chance.choice(["csv", "parquet", "arrow"])
    _write(frame.head(chance.randrange(frame.height + 1)), release / f"data.{format}")
    return f"also data.{format}"


def no_file(chance: random.Random, release: Path) -> str:
    """Put something in place of a file that is none."""
    path = _file(chance, release)
    _take_away(path)
    kind = chance.choice(["directory", "full directory", "pipe", "loop", "dangling", "device", "mute", "to itself"])
    match kind:
        case "directory":
            path.mkdir()
        case "full directory":
            path.mkdir()
            (path / f"part-0{path.suffix}").write_bytes(b"x")
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "dangling":
            path.symlink_to("nowhere")
        case "device":
            path.symlink_to("/dev/null")
        case "mute":
            path.write_bytes(b"x")
            path.chmod(0)
        case "to itself":
            path.symlink_to(".")
    return f"{path.name} is a {kind}"


def no_directory(chance: random.Random, release: Path) -> str:
    kind = chance.choice(["gone", "file", "pipe", "empty", "link"])
    _take_away(release)
    match kind:
        case "file":
            release.write_text("x")
        case "pipe":
            os.mkfifo(release)
        case "empty":
            release.mkdir()
        case "link":
            release.symlink_to("out")
    return f"the release is {kind}"


_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**400, 1.5, -0.0, float("nan"), float("inf"), 1e308, "", "x", "*", "nan", "1/2", "1/0",
    "\ud800", "a\0b", "x" * 10_000, [], {}, [[]], [None], ["age"], [["age"], ["town"]], [["nobody"]], {"x": 1},
    [1, "x"],
)  # fmt: skip


def summary(chance: random.Random, release: Path) -> str:
    """Give the summary another value somewhere, or take one away."""
    path = release / "summary.json"
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return "nothing"
    where = _somewhere(chance, data)
    if where is None:
        return "nothing"
    holder, key, trail = where
    value = chance.choice([*_ODD, _deep()])
    if chance.random() < 0.25:
        del holder[key]
        said = f"summary without {trail}"
    else:
        holder[key] = value
        said = f"summary {trail} = {str(value)[:30]!r}"
    try:
        path.write_text(json.dumps(data), encoding="utf-8")
    except RecursionError:
        path.write_text('{"rows": ' + "[" * 50_000, encoding="utf-8")
    return said


def recipe(chance: random.Random, release: Path) -> str:
    """Give the recipe another value somewhere, or take one away."""
    path = release / "recipe.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "nothing"
    where = _somewhere(chance, data)
    if where is None:
        return "nothing"
    holder, key, trail = where
    value = chance.choice([value for value in _ODD if value is not None and value != "\ud800" and value != [None]])
    if isinstance(value, int) and abs(value) > 2**62:
        value = 2**62
    if chance.random() < 0.25:
        del holder[key]
        said = f"recipe without {trail}"
    elif chance.random() < 0.2 and isinstance(holder, dict):
        holder[chance.choice(["age", "name", "slices", "others", "x", ""])] = value
        said = f"recipe {trail} and {str(value)[:30]!r} beside"
    else:
        holder[key] = value
        said = f"recipe {trail} = {str(value)[:30]!r}"
    path.write_text(tomli_w.dumps(data), encoding="utf-8")
    return said


def recipe_lines(chance: random.Random, release: Path) -> str:
    """Take lines of the recipe away, repeat them or mix them."""
    path = release / "recipe.toml"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return "nothing"
    if not lines:
        return "nothing"
    at = chance.randrange(len(lines))
    match chance.choice(["away", "again", "mixed"]):
        case "away":
            del lines[at]
        case "again":
            lines.insert(chance.randrange(len(lines)), lines[at])
        case _:
            chance.shuffle(lines)
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"recipe line {at}"


def table(chance: random.Random, release: Path) -> str:
    """Change what a table says: columns, labels, types, rows."""
    paths = [path for path in sorted(release.iterdir()) if path.suffix in (".csv", ".parquet", ".arrow")]
    if not paths:
        return "nothing"
    path = chance.choice(paths)
    frame = _frame_of(path)
    if frame is None or not frame.width:
        return "nothing"
    column = chance.choice(frame.columns)
    other = [
        name for name in ("age", "town", "ill", "count", "bucket", "_bucket", "x", "") if name not in frame.columns
    ]
    changes: dict[str, Callable[[], pl.DataFrame]] = {
        "without": lambda: frame.drop(column),
        "renamed": lambda: frame.rename({column: chance.choice(other)}),
        "null": lambda: frame.with_columns(pl.lit(None, dtype=frame.schema[column]).alias(column)),
        "other labels": lambda: frame.with_columns(pl.Series(column, [_label(chance) for _ in range(frame.height)])),
        "one label": lambda: _with_one(chance, frame, column),
        "numbers": lambda: frame.with_columns(pl.int_range(frame.height).alias(column) * chance.choice([1, -1, 2**40])),
        "floats": lambda: frame.with_columns(pl.lit(chance.choice([0.5, float("nan"), float("inf")])).alias(column)),
        "dates": lambda: frame.with_columns(pl.date(2000, 1, 1).alias(column)),
        "truths": lambda: frame.with_columns(pl.lit(True).alias(column)),
        "lists": lambda: frame.with_columns(pl.lit([1]).alias(column)),
        "bytes": lambda: frame.with_columns(pl.lit(b"\xff").alias(column)),
        "fewer": lambda: frame.head(chance.randrange(frame.height + 1)),
        "more": lambda: pl.concat([frame, frame.head(1 + chance.randrange(frame.height or 1))]),
        "no rows": lambda: frame.head(0),
        "shuffled": lambda: frame.sample(fraction=1, shuffle=True, seed=1),
        "column more": lambda: frame.with_columns(pl.lit("x").alias(chance.choice(other))),
        "reversed": lambda: frame.select(frame.columns[::-1]),
    }  # fmt: skip
    change = chance.choice(list(changes))
    try:
        _write(changes[change](), path)
    except (pl.exceptions.PolarsError, TypeError):
        return "nothing"
    return f"{path.name} {column}: {change}"


DAMAGES: list[Callable[[random.Random, Path], str]] = [
    remove, empty, truncate, flip, other_kind, swap, rename, another_format, no_file, no_directory,
    *[summary] * 6, *[recipe] * 6, recipe_lines, *[table] * 8,
]  # fmt: skip


def by_audit(chance: random.Random, place: Path) -> str | None:
    original = ["--original", place / "people.csv"] if chance.random() < 0.6 else []
    return _command("audit", place / "out", *original, "--no-learning", "--json")


def by_audit_page(chance: random.Random, place: Path) -> str | None:
    return _command("audit", place / "out", "--no-learning", "-o", place / "page.html")


def by_attack(chance: random.Random, place: Path) -> str | None:
    return _command("attack", place / "out", "--original", place / "people.csv")


def by_check(chance: random.Random, place: Path) -> str | None:
    found = sorted((place / "out").iterdir()) if (place / "out").is_dir() else []
    tables = [path for path in found if path.suffix in (".csv", ".parquet", ".arrow")] or [place / "out"]
    roles = ["--recipe", place / "out" / "recipe.toml"] if chance.random() < 0.5 else ["-q", "age,town", "-s", "ill"]
    return _command("check", chance.choice(tables), *roles)


def by_compare(chance: random.Random, place: Path) -> str | None:
    return _command("compare", place / "out" / "recipe.toml", "-o", place / "compared", "--jobs", 1)


def by_earlier(chance: random.Random, place: Path) -> str | None:
    good = whole("mondrian", "csv", False)
    return _command("audit", good / "out", "--earlier", place / "out", "--original", good / "people.csv",
                    "--no-learning")  # fmt: skip


def by_force(chance: random.Random, place: Path) -> str | None:
    return _command("publish", whole("mondrian", "csv", False) / "out" / "recipe.toml", "-o", place / "out", "--force")


def by_opening(chance: random.Random, place: Path) -> str | None:
    """Open it, and hold what it says against its files."""
    try:
        opened = ic.open_release(place / "out", original=chance.choice([None, place / "people.csv"]))
        opened.to_polars()
        said = opened.summary
        str(opened)
    except ConformanceError as error:
        return f"ConformanceError: {error}"
    except IncrowdError:
        return None
    return _contradiction(opened, said, place / "out")


READERS: list[Callable[[random.Random, Path], str | None]] = [
    by_audit, by_audit, by_audit_page, by_attack, by_check, by_compare, by_earlier, by_force,
    *[by_opening] * 6,
]  # fmt: skip


def _contradiction(opened: Any, said: dict[str, Any], release: Path) -> str | None:
    """Tell where an opened release says something else than its files do."""
    written = json.loads((release / "summary.json").read_bytes())
    frame = opened.to_polars()
    if said["rows"]["published"] != frame.height:
        return f"says {said['rows']['published']} rows and has {frame.height}"
    if written["rows"]["published"] != frame.height:
        return f"accepted: the summary says {written['rows']['published']} rows, the data has {frame.height}"
    if written["form"] != said["form"]:
        return f"accepted: the summary says '{written['form']}', it was read as '{said['form']}'"
    return None


def _command(*arguments: object) -> str | None:
    done = incrowd(*arguments)
    if done.code == 6 or done.code not in (0, 1, 3, 4, 5):
        return f"exit {done.code}: {done.err.strip()[-400:]}"
    if done.code != 0 and done.code != 1 and len(done.err.splitlines()) != 1:
        return f"exit {done.code}, told in {len(done.err.splitlines())} lines: {done.err.strip()[-300:]}"
    return None


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _take_away(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _frame(release: Path) -> pl.DataFrame | None:
    return next((_frame_of(path) for path in sorted(release.iterdir()) if path.stem == "data"), None)


def _frame_of(path: Path) -> pl.DataFrame | None:
    readers: dict[str, Callable[..., pl.DataFrame]] = {".parquet": pl.read_parquet, ".arrow": pl.read_ipc}
    try:
        if not path.is_file():
            return None
        return readers[path.suffix](path) if path.suffix in readers else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, KeyError):
        return None


def _write(frame: pl.DataFrame, path: Path) -> None:
    new = path.with_name("new")
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}[path.suffix](new)
    _take_away(path)
    new.rename(path)


def _label(chance: random.Random) -> str | None:
    return chance.choice([None, "*", "[20, 30)", "[30, 20)", ">=", "{a, b", '"', "20-40", "young", "south", "flu:2, :1",
                          "flu:99999999999", "1e400", "-", "x" * 5000, "\0", "20:2"])  # fmt: skip


def _with_one(chance: random.Random, frame: pl.DataFrame, column: str) -> pl.DataFrame:
    values = frame[column].cast(pl.String).to_list()
    values[chance.randrange(len(values))] = _label(chance)
    return frame.with_columns(pl.Series(column, values, dtype=pl.String))


def _somewhere(chance: random.Random, data: Any) -> tuple[Any, Any, str] | None:
    places: list[tuple[Any, Any, str]] = []

    def walk(holder: Any, trail: str) -> None:
        keys = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            places.append((holder, key, f"{trail}/{key}"))
            walk(holder[key], f"{trail}/{key}")

    walk(data, "")
    return chance.choice(places) if places else None


def _deep() -> Any:
    found: Any = 1
    for _ in range(500):
        found = [found]
    return found


def _make_removable(place: Path) -> None:
    for path in place.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)
