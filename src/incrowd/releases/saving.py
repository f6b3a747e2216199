"""Writing a release: into a new directory, all of it or nothing."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, get_args

import polars as pl
import polars.selectors as cs

from incrowd.errors import OutputError
from incrowd.progress import Progress, silent
from incrowd.releases.release import Release

Format = Literal["csv", "parquet", "arrow"]
FORMATS: tuple[str, ...] = get_args(Format)
_TABLES = ("data", "counts", "sensitive")
"""What releases of all forms are made of."""
_MEMBERS = {"recipe.toml", "summary.json", *(f"{table}.{format}" for table in _TABLES for format in FORMATS)}
_COMPACT = pl.CompatLevel.oldest()
"""Arrow's older texts hold what they show. The newer ones point into buffers, which Polars writes out as a whole: with
the texts of rows that are withheld."""
_BY_SUFFIX = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}


def save(
    release: Release,
    directory: str | Path,
    *,
    format: Format | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Path:
    """Write `data.FORMAT`, `recipe.toml` and `summary.json`; the format is the source's own by default."""
    from incrowd.recipe import Recipe

    if format is not None and format not in FORMATS:
        raise OutputError(f"unknown format '{format}'.  Hint: it is one of {', '.join(FORMATS)}.")
    if release.source.native == "spark":
        from incrowd.engines.spark.saving import save as save_with_spark

        where: Path = save_with_spark(release, directory, format=format, force=force, progress=progress)
        return where
    directory = Path(directory)
    chosen = format or natural_format(release)
    with new_directory(directory, force=force) as place:
        write_data(release, place / f"data.{chosen}", chosen, progress)
        for name, table in release.tables.items():
            _write_frame(table, place / f"{name}.{chosen}", chosen, release)
        recipe = Recipe.of(release, format=chosen).relative_to(directory)
        (place / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")
        summary = json.dumps(release.summary, indent=2, ensure_ascii=False, allow_nan=False)
        (place / "summary.json").write_text(summary + "\n", encoding="utf-8")
    return directory / f"data.{chosen}"


def natural_format(release: Release) -> str:
    """Return the format of the files that the table came from; CSV for anything else."""
    path = Path(str(release.source.description.get("path", "")))
    of_folder = "parquet" if path.name and path.is_dir() else "csv"  # only Parquet is read several files at once
    return _BY_SUFFIX.get(path.suffix.lower(), of_folder)


def _write_frame(table: pl.DataFrame, path: Path, format: str, release: Release) -> None:
    if format == "parquet":
        table.write_parquet(path)
    elif format == "arrow":
        table.write_ipc(path, compat_level=_COMPACT)
    else:
        table.write_csv(path, separator=str(release.source.description.get("separator", ",")))


def write_data(release: Release, path: Path, format: str, progress: Progress = silent) -> None:
    """Stream the published rows into one file."""
    batches = _reporting(release, progress)
    if format == "csv":
        separator = str(release.source.description.get("separator", ","))
        with path.open("wb") as file:
            for number, batch in enumerate(batches):
                # In a single column, a missing value without quotes would be a blank line, which is no row.
                null = '""' if batch.width == 1 else None
                plain = batch.with_columns(cs.duration().dt.to_string("iso"))
                plain.write_csv(file, include_header=number == 0, separator=separator, null_value=null)
        return
    first = next(batches)
    frame = _as_lazy(first, batches)
    if format == "parquet":
        frame.sink_parquet(path)
    else:
        frame.sink_ipc(path, compat_level=_COMPACT)


def _reporting(release: Release, progress: Progress) -> Iterator[pl.DataFrame]:
    written = 0
    progress("writing", 0.0)
    for batch in release.batches():
        yield batch
        written += batch.height
        progress("writing", written / max(release.rows, 1))


def _as_lazy(first: pl.DataFrame, rest: Iterator[pl.DataFrame]) -> pl.LazyFrame:
    """Present batches to Polars' streaming writers, one at a time."""
    from polars.io.plugins import register_io_source

    def produce(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield first
        yield from rest

    return register_io_source(produce, schema=first.schema)


@contextmanager
def new_directory(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a directory to write in that becomes `target` when all went well, and vanishes when anything did not."""
    require_free(target, force=force)
    target = target.absolute()
    new_parents = [parent for parent in target.parents if not parent.exists()]
    # Named before it is made: an interruption that arrives in between must know what to take away.
    place = target.parent / f".{target.name}.{secrets.token_hex(6)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=0o700)
        yield place
        place.chmod(0o777 & ~_umask())
        _move_into_place(place, target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or type(error).__name__}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _remove_empty(new_parents)


def require_free(target: Path, *, force: bool) -> None:
    """Refuse a place that is taken, or that nothing can be written to."""
    if target.exists() and not force:
        raise OutputError(
            f"{target} exists already.  Hint: choose another directory, or replace it with force (--force)."
        )
    if target.exists() and not (target.is_dir() and _is_release(target)):
        raise OutputError(
            f"{target} is not a release, or holds other files besides; it is not replaced.  "
            "Hint: choose another directory."
        )
    above = next((parent for parent in target.absolute().parents if parent.exists()), Path("/"))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{target} cannot be written: {above} is not a directory that you may write to.")


def require_directory(directory: Path) -> None:
    """Make a directory for loose files where there is none yet."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory} cannot be written: {error.strerror}.") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OutputError(f"{directory} is not a directory that you may write to.")


def _is_release(directory: Path) -> bool:
    found = {path.name for path in directory.iterdir()}
    return found <= _MEMBERS and (not found or "summary.json" in found)


def _remove_empty(directories: list[Path]) -> None:
    for directory in directories:  # from the innermost on
        with suppress(OSError):  # something is in it, or it was never made
            directory.rmdir()


def _move_into_place(place: Path, target: Path) -> None:
    if not target.exists():
        place.rename(target)
        return
    with tempfile.TemporaryDirectory(
        prefix=f".{target.name}.old.", dir=target.parent, ignore_cleanup_errors=True
    ) as beside:
        old = Path(beside) / "release"
        try:
            target.rename(old)
            place.rename(target)
        except BaseException:  # also when interrupted: the release that was there stays
            if old.exists() and not target.exists():
                old.rename(target)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
