"""Writing a release: into a new directory, all of it or nothing."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Protocol

import polars as pl

from incrowd.common.paths import is_there
from incrowd.common.progress import Progress, silent
from incrowd.common.writing import require_name, telling, write_secret
from incrowd.core.engine import LinkedRows, PublishedRows, ReleaseTexts
from incrowd.core.families import registered
from incrowd.core.formulas import neutralized
from incrowd.core.items import lists_as_text
from incrowd.core.release_directory import new_directory
from incrowd.core.runs import rows_in
from incrowd.core.sink import Sink
from incrowd.errors import FormulaWarning, OutputError
from incrowd.hierarchies.values import as_days
from incrowd.publishing.databases.releases import is_database, new_release, shown
from incrowd.publishing.days_alone import midnights_as_days
from incrowd.publishing.recipe_format import Publication, recipe_of
from incrowd.sources.folder import members

Format = Literal["csv", "parquet", "arrow", "xlsx", "sav", "dta", "xpt"] | str


class Savable(Publication, Protocol):
    """A release, as far as it is written to files."""

    @property
    def published(self) -> PublishedRows:
        """The published rows, wherever they are made."""
        ...

    @property
    def tables_of_form(self) -> Mapping[str, pl.DataFrame]:
        """What is published besides them."""
        ...

    @property
    def linked(self) -> Mapping[str, LinkedRows]:
        """Tables of events."""
        ...

    @property
    def rows(self) -> int:
        """How many rows are published."""
        ...

    @property
    def label_meanings(self) -> dict[str, Any] | None:
        """What its labels stand for, where it has any."""
        ...

    @property
    def summary(self) -> dict[str, Any]:
        """What a machine may want to know."""
        ...

    @property
    def values_of_columns(self) -> Mapping[str, pl.Series]:
        """All values that some columns may have as they are written."""
        ...

    def batches_to_write(self, *, runs: bool = False) -> Iterator[pl.DataFrame]:
        """Yield the published rows, equal ones once with `runs`, and check that they are as many as were verified."""
        ...


def formats() -> tuple[str, ...]:
    """Return the names of all kinds of files that a release can be written to."""
    return tuple(registered("sinks"))


def save(
    release: Savable,
    directory: str | Path,
    *,
    format: Format | None = None,
    force: bool = False,
    spreadsheet_safe: bool = False,
    progress: Progress = silent,
) -> Path:
    """Write `data.FORMAT`, `recipe.toml`, `labels.json` if there are labels, and `summary.json`.

    The format is the source's own by default. In a database, all of this are tables.
    """
    if format is not None and format not in formats():
        raise OutputError(f"unknown format '{format}'.  Hint: it is one of {', '.join(formats())}.")
    texts = ReleaseTexts(
        release.tables_of_form,
        release.linked,
        lambda chosen, place: recipe_of(
            release, format=chosen, seen_from=place, spreadsheet_safe=spreadsheet_safe and _in_spreadsheets(chosen)
        ),
        lambda: _summary(release, Path(shown(directory) if is_database(directory) else directory)),
        str(release.source.description.get("separator", ",")),
        release.schema.item_separator,
        None if (labels := release.label_meanings) is None else json.dumps(labels, ensure_ascii=False) + "\n",
        spreadsheet_safe=spreadsheet_safe,
    )
    if isinstance(directory, str) and is_database(directory):
        if format is not None:
            raise OutputError("a database has tables and no files.  Hint: leave the format out.")
        return _save_to_database(release, directory, texts, force=force, progress=progress)  # type: ignore[return-value]
    elsewhere = release.published.save(texts, directory, format=format, force=force, progress=progress)
    if elsewhere is not None:
        _warn(texts)
        return elsewhere  # type: ignore[return-value]  # a place that is none of this machine's is a text
    directory = Path(directory)
    chosen = format or natural_format(release)
    sink: Sink = registered("sinks")[chosen]()
    codebook = release.source.codebook
    with new_directory(directory, force=force) as place:
        tables = _tables(release, texts, progress, days=not sink.keeps_types, runs=sink.takes_runs)
        batches = tables.pop("data")
        if not sink.takes_lists:
            batches = (lists_as_text(batch, texts.item_separator) for batch in batches)
        rows = _for_spreadsheets(batches, sink, texts)
        sink.write_labelled(rows, place / f"data.{chosen}", separator=texts.separator, codebook=codebook)
        for name, batches in tables.items():
            others = _for_spreadsheets(batches, sink, texts)
            told = release.event_tables[name].source.codebook if name in release.event_tables else None
            target = place / f"{name}.{chosen}"
            sink.write_labelled(others, target, separator=texts.separator, codebook=told or codebook)
        (place / "recipe.toml").write_text(texts.recipe(chosen, directory), encoding="utf-8", newline="\n")
        if texts.labels is not None:
            (place / "labels.json").write_text(texts.labels, encoding="utf-8", newline="\n")
        (place / "summary.json").write_text(texts.full_summary, encoding="utf-8", newline="\n")
    _warn(texts)
    return directory / f"data.{chosen}"


def _save_to_database(release: Savable, place: str, texts: ReleaseTexts, *, force: bool, progress: Progress) -> str:
    """Write all tables of a release, and the texts beside them, in one transaction."""
    with new_release(place, force=force) as new:
        for name, batches in _tables(release, texts, progress, days=not new.has_times).items():
            new.write(name, (lists_as_text(batch, texts.item_separator) for batch in batches))
        labels = {} if texts.labels is None else {"labels.json": texts.labels}
        new.write_files({"recipe.toml": texts.recipe("parquet", None), **labels, "summary.json": texts.full_summary})
    return shown(place)


def _tables(
    release: Savable, texts: ReleaseTexts, progress: Progress, *, days: bool, runs: bool = False
) -> dict[str, Iterator[pl.DataFrame]]:
    """Return all tables by name, the rows first; with `days`, times are days where all of a column are midnight."""
    rows = _reporting(release, progress, runs=runs)
    events = {name: table.rows.batches() for name, table in texts.linked.items()}
    if not days:
        return {"data": rows, **{name: iter([table]) for name, table in texts.tables.items()}, **events}
    others = {name: pl.DataFrame(list(map(as_days, table.get_columns()))) for name, table in texts.tables.items()}
    sources = {name: table.source for name, table in release.event_tables.items()}
    own = {name: midnights_as_days(batches, sources.get(name), {}) for name, batches in events.items()}
    return {
        "data": midnights_as_days(rows, release.source, release.values_of_columns, tuple(release.schema.changes)),
        **{name: iter([table]) for name, table in others.items()},
        **own,
    }


def _summary(release: Savable, directory: Path) -> str:
    with telling(directory):  # what is told of the rows may need to make them
        return json.dumps(release.summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def require_own_place(path: Path, directory: Path | None = None) -> None:
    """Refuse a place for the publisher's own recipe that is taken, cannot be, or is in a release (`directory`)."""
    require_name(path)
    within = directory is not None and directory.absolute() in path.absolute().parents
    if within or is_there(path.parent / "summary.json"):
        raise OutputError(
            f"{path} is in the directory of a release, and whoever has the seed can undo what chance hides.  "
            "Hint: keep this recipe elsewhere, like a key."
        )
    with telling(path):
        path.parent.stat()
        with suppress(FileNotFoundError):
            path.lstat()
            raise OutputError(f"{path} exists already.  Hint: choose another name for the recipe.")


def save_recipe(release: Publication, path: str | Path) -> Path:
    """Write the recipe that makes a release again, seed included, to a new file that only its owner can read."""
    path = Path(path)
    require_own_place(path)
    recipe = recipe_of(release, seen_from=path.parent, own=True)
    write_secret(path, recipe.encode())
    return path


def _in_spreadsheets(format: str) -> bool:
    return bool(registered("sinks")[format].opened_by_spreadsheets)


def _for_spreadsheets(batches: Iterator[pl.DataFrame], sink: Sink, texts: ReleaseTexts) -> Iterator[pl.DataFrame]:
    """Count cells that a spreadsheet would run, or make them plain text, where people open such files in one."""
    if not sink.opened_by_spreadsheets:
        return batches
    return map(neutralized, batches) if texts.spreadsheet_safe else texts.formulas.counting(batches)


def _warn(texts: ReleaseTexts) -> None:
    if texts.formulas.warning is not None:
        warnings.warn(texts.formulas.warning, FormulaWarning, stacklevel=4)


def natural_format(release: Savable) -> str:
    """Return the format of the files that the table came from; CSV for anything else."""
    path = Path(str(release.source.description.get("path", "")))
    if path.name and not path.is_file():
        inside = members(path)
        path = next((file for file in inside if file.suffix.lower() == ".parquet"), inside[0] if inside else path)
    if path.suffix.lower() in (".gz", ".zst"):
        path = path.with_suffix("")
    kinds = registered("sinks").items()
    return next((name for name, kind in kinds if path.suffix.lower() in kind.suffixes), "csv")


def _reporting(release: Savable, progress: Progress, *, runs: bool) -> Iterator[pl.DataFrame]:
    written = 0
    progress("writing", 0.0)
    for batch in release.batches_to_write(runs=runs):
        yield batch
        written += rows_in(batch)
        progress("writing", written / max(release.rows, 1))
