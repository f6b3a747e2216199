"""A folder of files of one kind, or all files that match a pattern: their rows are those of one table.

Folders of Parquet files are scanned at once, see parquet.py.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass
from incrowd.core.codebook import shared
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import require_readable_name

_BESIDE = (".", "_")
"""What the names of files begin with that are no tables: those of the system, and marks that programs leave."""


@dataclass(frozen=True)
class FolderOfFiles(Source):
    """Files with the same columns: CSV, Arrow, Excel, or of a statistics program."""

    name: ClassVar[str] = "folder"
    accepts: ClassVar[str] = "the path of a folder of such files, or a pattern"

    def recognizes(self, location: Location) -> bool:
        """Where there are several files, and none of them is Parquet."""
        if location.path is None or location.path.is_file():
            return False
        found = members(location.path)
        return bool(found) and not any(path.suffix.lower() == ".parquet" for path in found)

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Open each file, and read them as one table."""
        path = location.path
        assert path is not None
        files = members(path)
        tables = _opened(files, options)
        columns = tables[0].columns
        for file, table in zip(files[1:], tables[1:], strict=True):
            _require_same(file, table, files[0], tables[0])
        frame = pl.concat(_alike([table.frame.select(columns) for table in tables], path), how="vertical_relaxed")
        stated = {**tables[0].description, "path": str(path)}

        def require_unchanged() -> None:
            for table in tables:
                table.require_unchanged()

        return replace(
            tables[0],
            frame=frame,
            # How one file turned out to be written need not be true of the others.
            description={key: told for key, told in stated.items() if key not in tables[0].found_out},
            found_out=(),
            in_memory=all(table.in_memory for table in tables),
            require_unchanged=require_unchanged,
            codebook=shared(table.codebook for table in tables),
        )


def members(path: Path) -> list[Path]:
    """Return the files of a folder, at any depth, or those that match a pattern, by name."""
    if path.is_dir():
        inside = ((file, file.relative_to(path).parts) for file in path.rglob("*") if file.is_file())
        return sorted(file for file, parts in inside if not any(part.startswith(_BESIDE) for part in parts))
    return sorted(Path(found) for found in glob.glob(str(path), recursive=True))  # noqa: PTH207, as in parquet.py


def _opened(files: Sequence[Path], options: ReadOptions) -> list[OpenedTable]:
    from incrowd.sources.opening import kind_of_source, locate  # which finds this kind among others

    tables: list[OpenedTable] = []
    first: str | None = None
    for file in files:
        require_readable_name(file)
        location = locate(file)
        kind = kind_of_source(location, options)
        if first is not None and kind.name != first:
            raise SourceError(f"{file}: this file is {kind.name}, and {files[0]} is {first}; all must be of one kind.")
        first = kind.name
        tables.append(kind.open(location, options))
    return tables


def _require_same(file: Path, table: OpenedTable, first: Path, expected: OpenedTable) -> None:
    different = sorted(set(table.columns) ^ set(expected.columns))
    if different:
        listed = ", ".join(f"'{name}'" for name in different)
        raise SourceError(f"{file}: its columns are not those of {first}; they differ in {listed}.")


def _alike(frames: Sequence[pl.LazyFrame], path: Path) -> list[pl.LazyFrame]:
    """Return frames whose columns are of one type, or all numbers; one without any value may be of any type."""
    schemas = [frame.collect_schema() for frame in frames]
    changed = list(frames)
    for name in schemas[0]:
        kinds = {schema[name] for schema in schemas}
        if len(kinds) == 1 or all(kind.is_numeric() for kind in kinds):
            continue
        filled = [at for at, frame in enumerate(frames) if not _is_empty(frame, name)]
        wanted = {schemas[at][name] for at in filled}
        if len(wanted) > 1:
            raise SourceError(f"{path}: column '{name}' is of another type in some of the files.")
        one = next(iter(wanted), schemas[0][name])
        changed = [
            frame.with_columns(cs.by_name(name).as_expr().cast(one)) if at not in filled else frame
            for at, frame in enumerate(changed)
        ]
    return changed


def _is_empty(frame: pl.LazyFrame, name: str) -> bool:
    return bool(frame.select(cs.by_name(name).is_null().all()).collect(engine="streaming").item())
