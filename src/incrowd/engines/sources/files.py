"""Tables in files: what a file is, is told by its first bytes before its name.

Parquet (a file, a folder of files, a pattern) and Arrow IPC are scanned where they are; anything that is not known to
be something else is CSV.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import polars as pl

from incrowd.engines.sources.csv import open_csv
from incrowd.engines.sources.normalize import normalized
from incrowd.engines.sources.source import Source
from incrowd.errors import SourceError

# With the byte that follows in every such file: a CSV file's first column may well be named PAR1.
_PARQUET, _ARROW, _ARROW_STREAM = b"PAR1\x15", b"ARROW1\0\0", b"\xff\xff\xff\xff"
_BINARY_SUFFIXES = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}
_NOT_TABLES = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook.  Hint: unpack it, or save the sheet as CSV.",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook.  Hint: save the sheet as CSV.",
    b"SQLite format 3\0": "an SQLite database.  Hint: open 'sqlite:///' followed by the path, with query=.",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard.  Hint: decompress it, or use gzip.",
    b"BZh91AY&SY": "compressed with bzip2.  Hint: decompress it, or use gzip.",
    b"%PDF": "a PDF document.",
}


def open_file(
    path: Path, *, separator: str | None, quote: str | None, encoding: str | None, missing: Sequence[str]
) -> Source:
    """Open a file, a folder of Parquet files, or all the Parquet files that match a pattern."""
    where = str(path)
    stated = {"separator": separator, "quote": quote, "encoding": encoding}
    if _is_several(path):
        _refuse_csv_keywords(stated, "Parquet", where)
        frame, found, in_memory = _several(path), dict[str, object](), False
    else:
        frame, found, in_memory = _open_one(path, stated)
    frame = normalized(frame, missing=missing, where=where)
    description = {"path": where, **found, **({"missing": list(missing)} if missing else {})}
    found_out = tuple(key for key in found if stated.get(key) is None)
    return Source(frame, tuple(frame.collect_schema().names()), "file", description, in_memory, found_out)


def _open_one(path: Path, stated: dict[str, str | None]) -> tuple[pl.LazyFrame, dict[str, object], bool]:
    head = _first_bytes(path)
    where = str(path)
    if head.startswith(_PARQUET):
        _refuse_csv_keywords(stated, "Parquet", where)
        _parquet_schema(path)
        return pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False), {}, False
    if head.startswith(_ARROW):
        _refuse_csv_keywords(stated, "Arrow", where)
        return _arrow(path), {}, False
    if head.startswith(_ARROW_STREAM):
        _refuse_csv_keywords(stated, "Arrow", where)
        return _arrow_stream(path), {}, True
    kind = next((text for magic, text in _NOT_TABLES.items() if head.startswith(magic)), None)
    if kind:
        raise SourceError(f"{path}: the file is {kind}")
    expected = _BINARY_SUFFIXES.get(path.suffix.lower())
    if expected:
        raise SourceError(f"{path}: by its name the file is {expected}, but it does not begin like one.")
    return open_csv(path, **stated)


def _first_bytes(path: Path) -> bytes:
    if not path.exists():
        raise SourceError(f"{path}: there is no such file.")
    if not path.is_file():
        raise SourceError(f"{path}: this is not a file.")
    with path.open("rb") as file:
        return file.read(16)


def _is_several(path: Path) -> bool:
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def _members(path: Path) -> tuple[Path, list[Path]]:
    """Return the Parquet files of a folder, at any depth, or those that match a pattern, and the folder they are in."""
    if path.is_dir():
        root, found, none = path, sorted(path.rglob("*.parquet")), "the folder holds no .parquet file."
    else:
        fixed = takewhile(lambda part: not glob.has_magic(part), path.parts)
        matches = glob.glob(str(path), recursive=True)  # noqa: PTH207, Path takes no absolute pattern
        root, found, none = Path(*fixed), sorted(map(Path, matches)), "no file matches this pattern."
    if not found:
        raise SourceError(f"{path}: {none}")
    for member in found:
        if not _first_bytes(member).startswith(_PARQUET):
            raise SourceError(f"{member}: this is not a Parquet file, and only Parquet files are read several at once.")
    return root, found


def _several(path: Path) -> pl.LazyFrame:
    """Scan many Parquet files; folders like year=2024 below the first name a column and its value."""
    root, files = _members(path)
    _refuse_different_columns(files)
    inner = {key for file in files for key in _partition_keys(file.relative_to(root).parent)}
    # Polars looks for such names in the whole path, also above the folder that was asked for.
    outer = _partition_keys(root.absolute()) - inner
    if inner and outer & set(_parquet_schema(files[0])):
        raise SourceError(
            f"{path}: the folder's own path contains '=', which hides a column.  Hint: rename the folder."
        )
    frame = pl.scan_parquet([file.absolute() for file in files], glob=False, hive_partitioning=bool(inner))
    return frame.drop(outer) if inner else frame


def _partition_keys(folder: Path) -> set[str]:
    return {part.partition("=")[0] for part in folder.parts if "=" in part}


def _refuse_different_columns(paths: list[Path]) -> None:
    first, *others = [_parquet_schema(path) for path in paths]
    for path, schema in zip(paths[1:], others, strict=True):
        different = sorted(name for name, _ in set(schema.items()) ^ set(first.items()))
        if different:
            listed = ", ".join(f"'{name}'" for name in dict.fromkeys(different))
            raise SourceError(f"{path}: its columns are not those of {paths[0]}; they differ in {listed}.")


def _parquet_schema(path: Path) -> dict[str, pl.DataType]:
    try:
        return pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError):
        raise _damaged(path, "Parquet") from None


def _arrow(path: Path) -> pl.LazyFrame:
    try:
        frame = pl.scan_ipc(path.absolute(), glob=False)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError):
        raise _damaged(path, "Arrow") from None
    return frame


def _arrow_stream(path: Path) -> pl.LazyFrame:
    try:
        return pl.read_ipc_stream(path).lazy()
    except (pl.exceptions.PolarsError, OSError):
        raise _damaged(path, "Arrow") from None


def _damaged(path: Path, kind: str) -> SourceError:
    return SourceError(f"{path}: the {kind} file is damaged or incomplete.")


def _refuse_csv_keywords(stated: dict[str, str | None], kind: str, where: str) -> None:
    refuse_keywords(stated, f"{where}: this is {kind}")


def refuse_keywords(stated: dict[str, str | None], what: str) -> None:
    """Raise a `SourceError` if a keyword is stated for a source that it means nothing for."""
    names = [f"{name}=" for name, value in stated.items() if value is not None]
    if names:
        raise SourceError(f"{what}, so {' and '.join(names)} cannot be used.")
