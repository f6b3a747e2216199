"""A release that was written to files, here or by another tool, read back as an adversary and an analyst read it.

What each column is comes from the recipe that a release of our own carries, or from a small description of the columns
of a foreign one. Labels are read by the hierarchies that it names and by the values of the table before, of an external
table, or of the labels themselves, whichever is there. A set of names that are no neighbours in their hierarchy is read
as everything between them, and the audit says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.auditing.description import Description
from incrowd.auditing.people import read_truth
from incrowd.auditing.reading_labels import count_lines, empty_tally, read_labels
from incrowd.auditing.reading_slices import bucket_column, dealt_multisets, read_rows, read_slices, written_rows
from incrowd.auditing.trees import tree_of_labels
from incrowd.engines.local import LocalEngine
from incrowd.engines.sources import Source, open_source
from incrowd.errors import IncrowdError, SchemaError, SourceError
from incrowd.hierarchies.public import public_tree
from incrowd.hierarchies.tree import Tree
from incrowd.models.model import Guarantee, Model
from incrowd.releases.bucketized import BucketizedTable
from incrowd.releases.form import Form
from incrowd.releases.multisets import MultisetTable
from incrowd.releases.release import Release
from incrowd.releases.sliced import SlicedTable
from incrowd.sampling import as_rate
from incrowd.schema import Schema
from incrowd.tally import Tally

_WITHOUT_BUCKETS = ("generalized", "noisy counts")
_SUFFIXES = (".csv", ".parquet", ".arrow")


@dataclass(frozen=True)
class Elsewhere:
    """The method of a release that was not made here."""

    name: ClassVar[str] = "another tool"


@dataclass(frozen=True)
class Stated:
    """A promise that a release's summary states and no file can prove."""

    statement: str
    name: ClassVar[str] = "stated"

    def __str__(self) -> str:
        return self.statement


def open_release(
    place: str | Path,
    *,
    description: str | Path | Description | None = None,
    original: object = None,
    external: object = None,
) -> Release:
    """Read a release from a directory of our own, or from any file with a `description` of its columns.

    The values that labels stand for are those of the `original` or the `external` table, or whatever the hierarchies
    and labels name. What the release is said to satisfy is checked again on what is in the file.
    """
    place = Path(place)
    described = _described(place, description)
    schema, summary = described.schema, _summary(place)
    data = _file(place, "data") if place.is_dir() else place
    if data is None:
        raise SourceError(f"{place} holds no release: there is no data file in it.")
    published = _open(data, described)
    noisy = summary.get("form") == "noisy counts"
    known = None if original is None else _open_original(original, described, schema, noisy=noisy)
    people = None if external is None else external if isinstance(external, Source) else open_source(external)
    notes: list[str] = []
    bucket = None if summary.get("form") in _WITHOUT_BUCKETS else bucket_column(published.columns, described.roles)
    rate, rows_in = _sampled(summary, known)
    if bucket is not None:
        form = _read_sliced(place, published, described, summary, bucket, known, people)
    else:
        counted = count_lines(published, schema)
        tally = known if known is not None else empty_tally(_trees(schema, counted, people))
        own = getattr(described.method, "labels", None)
        form, widened = read_labels(
            counted,
            schema,
            tally,
            rows_in=rows_in,
            written="tight" if own == "tight" or not summary else "region",
            noisy=noisy,
        )
        if widened:
            notes.append(
                f"Sets of names that are no neighbours are read as everything between them: {', '.join(widened)}."
            )
    guarantees, broken = _guarantees(described, form, known, summary)
    return Release(
        form=form,
        guarantees=guarantees,
        method=described.method if summary and described.method is not None else Elsewhere(),  # type: ignore[arg-type]
        seed=None,
        source=published,
        make_batches=lambda: iter([read_rows(published)]),
        rate=rate,
        foreign=known is None,
        notes=(*notes, *broken),
    )


def _described(place: Path, description: str | Path | Description | None) -> Description:
    if isinstance(description, Description):
        return description
    if description is not None:
        return Description.load(description)
    if place.is_dir() and (place / "recipe.toml").exists():
        return Description.load(place / "recipe.toml")
    raise SchemaError(
        f"{place} does not say what its columns are.  Hint: describe them in a TOML file: [columns] with "
        'age = "quasi", disease = "sensitive" (--description).'
    )


def _summary(place: Path) -> dict[str, Any]:
    try:
        found = json.loads((place / "summary.json").read_text(encoding="utf-8")) if place.is_dir() else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _file(place: Path, name: str) -> Path | None:
    return next((place / f"{name}{suffix}" for suffix in _SUFFIXES if (place / f"{name}{suffix}").exists()), None)


def _open(path: Path, described: Description) -> Source:
    return open_source(str(path), **described.reading if path.suffix.lower() == ".csv" else {})


def _open_original(original: object, described: Description, schema: Schema, *, noisy: bool) -> Tally:
    is_file = isinstance(original, (str, Path)) and Path(original).suffix.lower() == ".csv"
    opened = original if isinstance(original, Source) else open_source(original, **described.reading if is_file else {})
    for name in schema.tallied:
        if name not in opened.columns:
            raise SchemaError(f"the original has no column '{name}', which the description names.")
    if noisy:  # its labels stand for the values that were declared, whether or not the table has them
        hierarchies = {**schema.quasi, **schema.sensitive}
        return read_truth(opened, schema.tallied, {name: public_tree(name, hierarchies[name]) for name in hierarchies})
    return LocalEngine(opened).count(schema).tally


def _sampled(summary: dict[str, Any], known: Tally | None) -> tuple[Fraction, int | None]:
    """Return the rate at which rows were taken, as the summary says, and how many of the table's were."""
    rows = summary.get("rows", {})
    rate = as_rate(str(rows.get("sampling rate", 1)))
    if known is None:
        return rate, None
    taken = rows.get("in")
    return rate, taken if rate < 1 and isinstance(taken, int) and taken <= known.rows else known.rows


def _read_sliced(
    place: Path,
    published: Source,
    described: Description,
    summary: dict[str, Any],
    bucket: str,
    known: Tally | None,
    people: Source | None,
) -> Form:
    schema = described.schema
    second = _file(place, "sensitive") if place.is_dir() else None
    rows = written_rows(published, None if second is None else _open(second, described), schema, bucket)
    for name in schema.tallied:
        if name not in rows.columns:
            raise SchemaError(f"the published table has no column '{name}', which the description names.")
    kind: type[SlicedTable] = SlicedTable if second is None else BucketizedTable
    if summary.get("form") == MultisetTable.name:
        kind, rows = MultisetTable, dealt_multisets(rows, schema, bucket)
    columns: Sequence[Sequence[str]] | None = described.slices or summary.get("loss", {}).get("columns")
    if columns is None:  # quasi-identifiers as they are, sensitive values permuted
        columns = [list(schema.quasi), *([name] for name in schema.sensitive)]
    trees = known.trees if known is not None else _trees(schema, rows, people)
    levels = dict(getattr(described.method, "levels", None) or {})
    return read_slices(rows, schema, trees, columns, bucket=bucket, levels=levels, truth=known, kind=kind)


def _trees(schema: Schema, rows: pl.DataFrame, people: Source | None) -> dict[str, Tree]:
    """Return the trees by which labels are read where the table before is not known."""
    hierarchies = {**schema.quasi, **schema.sensitive}
    return {name: tree_of_labels(name, hierarchy, rows[name], people) for name, hierarchy in hierarchies.items()}


def _guarantees(
    described: Description, form: Form, known: Tally | None, summary: dict[str, Any]
) -> tuple[tuple[Guarantee, ...], list[str]]:
    """Return what holds of what is in the file, and what is claimed and does not."""
    found: list[Guarantee] = []
    broken = []
    for model in described.models:
        try:
            found += form.verify([model], form.tally if known is None else known)
        except IncrowdError as error:
            broken.append(f"Claimed, and not found: {model} ({error})")
    for entry in summary.get("guarantees", []):
        if entry.get("basis") == "by construction":
            stated: Model = Stated(str(entry["statement"]))  # type: ignore[assignment]
            note = "as its summary says; no file can prove it"
            found.append(Guarantee(stated, "by construction", entry.get("achieved") or 0.0, note=note))
    return tuple(found), broken
