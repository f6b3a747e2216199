"""Parquet: a file, a folder of files, or all the files that match a pattern, scanned where they are."""

from __future__ import annotations

import glob
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_file, require_readable_name
from incrowd.sources.stamps import watch

# With the byte that follows in every such file: a CSV file's first column may well be named PAR1.
_MAGIC = b"PAR1\x15"


@dataclass(frozen=True)
class ParquetFiles(Source):
    """Parquet files; folders and patterns are always taken for several of them."""

    name: ClassVar[str] = "parquet"
    accepts: ClassVar[str] = "the path of a Parquet file, of a folder of them, or a pattern"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def recognizes(self, location: Location) -> bool:
        """By the first bytes, or where there are several files."""
        return location.path is not None and (location.head.startswith(_MAGIC) or not location.path.is_file())

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Scan the files."""
        path = location.path
        assert path is not None
        several = not path.is_file()
        options.refuse_all_but((), f"{path}: this is Parquet")
        if several:
            root, files = _members(path)
            unchanged = watch(*files)
            return opened_file(_several(path, root, files), path, options, unchanged=unchanged)
        unchanged = watch(path)
        _parquet_schema(path)
        frame = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)
        return opened_file(frame, path, options, unchanged=unchanged)


def _begins_right(path: Path) -> bool:
    if not path.is_file():
        raise SourceError(f"{path}: this is not a file.")
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


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
        require_readable_name(member)
        if not _begins_right(member):
            raise SourceError(f"{member}: this is not a Parquet file, and only Parquet files are read several at once.")
    return root, found


def _several(path: Path, root: Path, files: list[Path]) -> pl.LazyFrame:
    """Scan many Parquet files; folders like year=2024 below the first name a column and its value."""
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
        raise SourceError(f"{path}: the Parquet file is damaged or incomplete.") from None
