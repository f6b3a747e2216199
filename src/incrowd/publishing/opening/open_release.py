"""A release that was written to files, here or by another tool, read back as an adversary and an analyst read it.

What each column is comes from the recipe that a release of our own carries, or from a small description of the columns
of a foreign one. Labels are read by the hierarchies that it names and by the values of the table before, of an external
table, or of the labels themselves, whichever is there. How files of a form are read is the form's own business.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from incrowd.auditing.reference_tables import read_truth
from incrowd.common.paths import is_there
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.changed import ChangeFacts
from incrowd.core.dated import DateFacts
from incrowd.core.engine import Counted, PublishedRows
from incrowd.core.families import published_forms, registered
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.formulas import restored
from incrowd.core.households import HouseholdFacts
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Statement
from incrowd.core.rows_beside import KeptTable
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.core.set_model import split_models
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.core.tally import Tally
from incrowd.engines.changing import without_chance
from incrowd.engines.local import LocalEngine
from incrowd.errors import SchemaError, SourceError, escaped
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.public import public_tree
from incrowd.publishing.beside_truth import count_truth
from incrowd.publishing.databases.releases import is_release_in_database, release_directory
from incrowd.publishing.linked import LinkedTables
from incrowd.publishing.opening.claims import judge_claims, judge_claims_of_people, with_weights
from incrowd.publishing.opening.description import Description
from incrowd.publishing.opening.items import judge_claims_of_sets, sets_in_files
from incrowd.publishing.opening.label_file import read_meanings
from incrowd.publishing.opening.people import crowds_in_files, tells_of_people
from incrowd.publishing.opening.summary import SUMMARY, read_summary, require_agreement, require_people
from incrowd.publishing.recipe_format import reading_of
from incrowd.publishing.release import Release
from incrowd.publishing.table import Table
from incrowd.sources import open_source, open_table, read_rows
from incrowd.sources.excel import ExcelWorkbook
from incrowd.sources.spss import SpssFile
from incrowd.sources.stata import StataFile


@dataclass(frozen=True)
class Elsewhere(AnyMethod):
    """The method of a release that was not made here."""

    name: ClassVar[str] = "another tool"
    listed: ClassVar[bool] = False


@dataclass(frozen=True)
class Stated(Statement):
    """A promise that a release's summary states and no file can prove."""

    statement: str
    name: ClassVar[str] = "stated"
    listed: ClassVar[bool] = False
    by_construction: ClassVar[bool] = True

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True, eq=False)
class RowsOfFile(PublishedRows):
    """Rows as they are in the published file."""

    file: OpenedTable

    def batches(self) -> Iterator[pl.DataFrame]:
        """Read them."""
        yield read_rows(self.file)


def open_release(
    place: str | Path,
    *,
    description: str | Path | Description | None = None,
    original: object = None,
    external: object = None,
) -> Release:
    """Read a release from a directory of our own, or from any file with a `description` of its columns.

    The values that labels stand for are those of the `original` or the `external` table, or whatever the hierarchies
    and labels name. What the release is said to satisfy is checked again on what is in the file. A release in a
    database is its URL, `#` and the release's name.
    """
    place = release_directory(str(place)) if is_release_in_database(place) else Path(place)
    _require_there(place)
    described = _described(place, description)
    if described.split is not None and (data := _file(place, "data")) is not None:
        described = described.settled(_open(data, described).columns)
    summary = read_summary(place, required=description is None and described.is_recipe)
    kind = published_forms().get(str(summary.get("form")))
    private = kind is not None and kind.private
    changes = ChangeFacts(described.changes, _told_changes(summary), described.banded)
    drawn = any(described.roles.get(name) == "sensitive" for name in changes.by_chance)
    counted = None
    if original is not None:
        published = _open(data, described) if drawn and (data := _data_file(place)) is not None else None
        counted = _open_original(original, described, changes, published, private=private)
    known = None if counted is None else counted.tally
    rate, rows_in = _sampled(summary, known)
    kinds = published_forms().values() if kind is None else [kind]
    others = {name for one in kinds for name in one.other_tables} if is_there(place) and place.is_dir() else set()
    others |= set(described.tables)
    files = _files(place, others, described, summary, known, rows_in, external)
    kind = kind or next((kind for kind in published_forms().values() if kind.recognizes(files)), Generalized)
    _require_tables(place, kind, described.tables, files, summary)
    form, notes = kind.read_back(files)
    # Other roles than the release's own make other groups.
    require_agreement(place, summary, form, groups=description is None)
    before = None if known is None else replace(known, rate=rate)
    models, of_sets = split_models(described.models)
    crowds = None
    counts_people = tells_of_people(summary) or (not summary and bool(described.person))
    if counts_people:
        people = None if counted is None or counted.people is None else replace(counted.people.tally, rate=rate)
        people = None if drawn else people  # who truly have other values than those that are judged
        events = {name: table.sensitive for name, table in described.tables.items() if table.sensitive}
        crowds = crowds_in_files(files, described.person_pseudonyms, people, events)
        if crowds is not None:
            require_people(place, summary, crowds)
        claims = judge_claims_of_people(models, crowds, people, all_rows=publishes_all(summary))
        if form.schema.weight is not None:  # whoever looks at weights, too, must find no less
            finer = crowds_in_files(files, described.person_pseudonyms, people, events, also=form.schema.weights)
            seen = judge_claims_of_people(models, finer, people, all_rows=publishes_all(summary))
            claims = tuple(with_weights(*both) for both in zip(claims, seen, strict=True))
    elif drawn and known is not None:  # values are judged as they are published, and the table has other ones
        claims = tuple(
            claim
            for model in models
            for claim in judge_claims(
                [model],
                form,
                None if model.looks_at_values else before,
                all_rows=publishes_all(summary),
            )
        )
    else:
        claims = judge_claims(models, form, before, all_rows=publishes_all(summary))
    claims += judge_claims_of_sets(of_sets, files, described)
    outside = _outside(files, form, described)
    return Release(
        shown=form,
        guarantees=(*(claim.found for claim in claims if claim.found is not None), *_stated(summary)),
        method=described.method if summary and described.method is not None else Elsewhere(),
        seed=None,
        source=files.data,
        published=RowsOfFile(files.data),
        rate=rate,
        foreign=known is None,
        notes=(*notes, *(claim.warning for claim in claims if claim.warning is not None)),
        claims=claims,
        outside=outside,
        outside_as_it_is=tuple(name for name in outside if name in files.data.columns and _as_it_is(name, described)),
        marked_as_seeded=summary.get("seeded") is True,
        item_numbers=summary.get("items"),
        told_weights=_told_weights(summary, form),
        told_totals=None if counted is None or counted.weighted is None else counted.weighted.totals(counted.tally),
        counts_people=counts_people,
        crowds=crowds,
        told_sets=sets_in_files(files, described),
        told_warnings=tuple(escaped(text) for text in summary.get("warnings", ())) if summary else None,
        told_labels=read_meanings(place, form.shown_labels()) if summary and not form.private else None,
        told_items=() if described.items not in files.data.columns else (described.items,),
        item_separator=described.item_separator,
        told_dates=_told_dates(files, described),
        told_roles=reading_of(
            described.roles,
            described.hierarchies,
            described.dates,
            described.changes,
            item_separator=described.item_separator,
        ),
        place=str(place),
        changes=changes,
        method_numbers=summary.get("method tells"),
        told_households=HouseholdFacts(described.household, described.person),
        told_tables=_event_tables(files, described, original),
        told_rows=_rows_of_original(original, described),
        asked_form=described.form,
        effort=described.effort,
        seconds=described.seconds,
        reopen=partial(open_release, place, description=description, external=external),
        files=_published_files(place, files.others),
        told_recipe=_recipe_text(place, description),
    )


def _published_files(place: Path, tables: Collection[str]) -> tuple[Path, ...]:
    """Return every file that is published, by name: those of a table in parts, too."""
    if not place.is_dir():
        return (place,)
    files = [found for name in ("data", *sorted(tables)) if (found := _file(place, name)) is not None]
    beside = [place / name for name in ("recipe.toml", "labels.json", "summary.json")]
    parts = [part for file in files for part in (sorted(file.rglob("*")) if file.is_dir() else [file])]
    return tuple(path for path in (*parts, *beside) if path.is_file())


def _recipe_text(place: Path, description: str | Path | Description | None) -> str | None:
    """Return the recipe or the description of a release, as it is written."""
    if isinstance(description, Description):
        return None
    path = place / "recipe.toml" if description is None else Path(description)
    return path.read_text(encoding="utf-8")


def _described(place: Path, description: str | Path | Description | None) -> Description:
    if isinstance(description, Description):
        return description
    if description is not None:
        return Description.load(description)
    if (place / "recipe.toml").is_file():
        return Description.load(place / "recipe.toml")
    raise SchemaError(
        f"{place} does not say what its columns are.  Hint: describe them in a TOML file: [columns] with "
        f'age = "quasi", disease = "sensitive"; and name it: {option("description", "columns.toml")}.'
    )


def _require_there(place: Path) -> None:
    try:
        place.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no name of a file"
        raise SourceError(f"{place} cannot be read: {reason}.") from None
    if place.is_dir() and not os.access(place, os.R_OK | os.X_OK):
        raise SourceError(f"{place} cannot be read: you may not look into this directory.")


def _files(
    place: Path,
    names: Collection[str],
    described: Description,
    summary: dict[str, Any],
    known: Tally | None,
    rows_in: int | None,
    external: object,
) -> PublishedFiles:
    data = _data_file(place)
    if data is None:
        raise SourceError(f"{place} holds no release: there is no data file in it.")
    others = {name: path for name in sorted(names) if (path := _file(place, name)) is not None}
    return PublishedFiles(
        data=_open(data, described),
        others={name: _open(path, described) for name, path in others.items()},
        schema=described.schema,
        described=frozenset(described.roles),
        summary=summary,
        asked=described.asked,
        slices=described.slices,
        known=known,
        rows_in=rows_in,
        meanings=read_meanings(place, described.schema.show) if described.schema.show else None,
        external=None if external is None else open_table(external, ReadOptions(lists=None)),
    )


def _data_file(place: Path) -> Path | None:
    return _file(place, "data") if is_there(place) and place.is_dir() else place


def _file(place: Path, name: str) -> Path | None:
    found = [path for format in registered("sinks") if os.path.lexists(path := place / f"{name}.{format}")]
    if len(found) > 1:
        raise SourceError(
            f"{place} holds both {found[0].name} and {found[1].name}: which one is the release's cannot be told.  "
            "Hint: remove the other one, or publish it again."
        )
    return found[0] if found else None


def _require_tables(
    place: Path, kind: type[Form], linked: Collection[str], files: PublishedFiles, summary: dict[str, Any]
) -> None:
    for name in (*kind.needed_tables(summary), *linked) if summary else ():
        if name not in files.others:
            raise SourceError(f"{place} is not all of a release: there is no table '{name}' in it.")


def _open(path: Path, described: Description) -> OpenedTable:
    if path.suffix.lower() != ".csv":
        lists = () if described.items is None else (described.items,)
        return open_table(str(path), ReadOptions(lists=lists, **_labelled(path, described)))
    a_file = is_there(path) and path.is_file()
    told = dict(described.reading) if a_file else {}
    if a_file and described.is_recipe and (path.parent / SUMMARY).is_file():
        # The recipe tells how the original is read; a release that was made here is UTF-8 with the usual quotes.
        told |= {"encoding": "utf-8", "quote": '"', "header": True, "written": "plain"}
    opened = open_source(str(path), **told)  # a CSV has no lists
    if not described.spreadsheet_safe:
        return opened
    frame = restored(opened.frame)
    return replace(opened, frame=frame, columns=tuple(frame.collect_schema().names()))


def _open_original(
    original: object, described: Description, changes: ChangeFacts, published: OpenedTable | None, *, private: bool
) -> Counted:
    """Count the table before, in the words of the release; beside what is `published`, where chance changed values."""
    if isinstance(original, Table) and not private and not changes.columns:
        return original.engine.count(original.schema, original.population)
    rows = _rows_of_original(original, described)
    opened = without_chance(_opened_original(original, described) if rows is None else rows, changes, private=private)
    schema: Schema = described.schema
    for name in schema.tallied:
        if name not in opened.columns:
            raise SchemaError(f"the original has no column '{name}', which the description names.")
    if private:  # its labels stand for the values that were declared, whether or not the table has them
        hierarchies = {**schema.quasi, **schema.sensitive}
        trees = {name: public_tree(name, hierarchies[name]) for name in hierarchies}
        truth = read_truth(opened, schema.tallied, trees)
        return Counted(truth, pl.DataFrame(), np.empty(0, dtype=np.int64))
    whose = tuple(name for name in described.person if name in opened.columns)
    weight = schema.weight if schema.weight in opened.columns else None
    schema = replace(schema, person=whose, weight=weight)
    return LocalEngine(opened).count(schema) if published is None else count_truth(opened, schema, changes, published)


def _opened_original(original: object, described: Description) -> OpenedTable:
    told: Mapping[str, Any] = {}
    if _is_text_file(original):
        told = described.original_reading
    elif isinstance(original, (str, Path)):
        workbook = Path(original).suffix.lower() in ExcelWorkbook.suffixes
        told = described.sheet if workbook else _labelled(Path(original), described)
    return open_table(original, ReadOptions(**told, lists=None))


def _labelled(path: Path, described: Description) -> Mapping[str, Any]:
    """Return how values with labels are shown, of a file that may have labels."""
    return described.labelled if path.suffix.lower() in (*SpssFile.suffixes, *StataFile.suffixes) else {}


def _is_text_file(original: object) -> bool:
    """Whether a table is read as CSV, whatever its file is called: no other kind of source has such files."""
    if not isinstance(original, (str, Path)) or not is_there(original) or not Path(original).is_file():
        return False
    others = {suffix for kind in registered("sources").values() if not kind.fallback for suffix in kind.suffixes}
    return Path(original).suffix.lower() not in others


def _rows_of_original(original: object, described: Description) -> OpenedTable | None:
    if original is None:
        return None
    if not isinstance(original, Table):
        return _opened_original(original, described)
    source = original.engine.source
    return source if isinstance(source, OpenedTable) else None


def _event_tables(files: PublishedFiles, described: Description, original: object) -> tuple[KeptTable, ...]:
    """Return published tables of events with what was kept of them, where linked tables are the original."""
    if not isinstance(original, LinkedTables):
        return ()
    found = []
    for name, before in original.events.items():
        if name not in files.others or name not in described.tables or not isinstance(before.source, OpenedTable):
            continue
        spoken_of = {*described.tables[name].sensitive, *described.tables[name].items, *described.person}
        columns = tuple(each for each in files.others[name].columns if each not in {*spoken_of, *before.schema.dates})
        found.append(KeptTable(columns, RowsOfFile(files.others[name]).batches, before.source, name))
    return tuple(found)


def _sampled(summary: dict[str, Any], known: Tally | None) -> tuple[Fraction, int | None]:
    """Return the rate at which rows were taken, as the summary says, and how many of the table's were."""
    rows = summary.get("rows", {})  # checked when it was read
    rate = as_rate(str(rows.get("sampling rate", 1)))
    if known is None:
        return rate, None
    taken = rows.get("in")
    return rate, taken if rate < 1 and isinstance(taken, int) and taken <= known.rows else known.rows


def _outside(files: PublishedFiles, form: Form, described: Description) -> tuple[str, ...]:
    """Return the columns that are written beside labels and sensitive values, whatever the description says of them."""
    if form.labelled is None:  # other forms have columns of their own, and none is kept beside them
        return ()
    spoken_of = {*form.schema.written_quasi, *form.schema.tallied, *form.schema.weights, described.items}
    found = [name for name in files.data.columns if name not in spoken_of]
    for name, table in described.tables.items():
        linked = files.others[name].columns if name in files.others else ()
        spoken_of = {*table.sensitive, *table.items, *described.person}
        found += [f"{column} of {name}" for column in linked if column not in spoken_of]
    return tuple(found)


def _told_changes(summary: dict[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Return what a summary tells of changed columns, as far as it is what a summary tells."""
    told = summary.get("changes")
    if not isinstance(told, Mapping):
        return {}
    sound = {name: listed for name, listed in told.items() if isinstance(listed, list)}
    return {name: listed for name, listed in sound.items() if all(isinstance(one, Mapping) for one in listed)}


def _told_weights(summary: dict[str, Any], form: Form) -> Mapping[str, Any] | None:
    return summary.get("weights") if form.schema.weight is not None else None


def _as_it_is(name: str, described: Description) -> bool:
    """Whether a column beside the labels is published as the table before has it, for all that is known."""
    by_chance = any(change.by_chance for change in described.changes.get(name, ()))
    return (
        not by_chance
        and name not in described.dates
        and described.roles.get(name) not in ("pseudonym", "person-pseudonym")
    )


def _told_dates(files: PublishedFiles, described: Description) -> DateFacts:
    columns = files.data.columns
    treatments = {name: treatment for name, treatment in described.dates.items() if name in columns}
    linked = described.person_pseudonyms if set(described.person_pseudonyms) <= set(columns) else ()
    return DateFacts(treatments, described.person, linked)


def publishes_all(summary: dict[str, Any]) -> bool:
    """Whether a release says that it publishes all rows of its table; one that was made elsewhere says nothing."""
    rows = summary.get("rows", {})
    return not summary or (rows.get("in") == rows.get("published") and "sampling rate" not in rows)


def _stated(summary: dict[str, Any]) -> list[Guarantee]:
    """Return what the summary states and no file can prove."""
    note = "as its summary says; no file can prove it"
    return [
        Guarantee(Stated(str(entry["statement"])), "by construction", entry.get("achieved") or 0.0, note=note)
        for entry in summary.get("guarantees", [])
        if entry.get("basis") == "by construction"
    ]
