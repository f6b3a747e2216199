"""What every change of a column promises, one function each: returns if the promise is kept, raises `AssertionError` if
not.

Each takes a table with a changed column, and what was published of it.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import tomli_w

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.core.changed import ChangeFacts
from incrowd.core.families import make_registered, registered
from incrowd.engines.changing import without_chance
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.values import as_text
from incrowd.methods.mondrian import Mondrian
from incrowd.models.k_anonymity import KAnonymity
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.release import Release
from incrowd.sources import open_source, read_rows
from incrowd.testing.case import Case
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.reading import is_missing
from incrowd.testing.strategies import TELLTALE


@dataclass(frozen=True, eq=False)
class ChangedCase:
    """A case of which one column was changed and published."""

    case: Case
    change: Change
    column: str
    release: Release
    published: pl.DataFrame

    @classmethod
    def of(cls, case: Case, change: Change, column: str) -> ChangedCase:
        """Publish a case whose column is changed; raises what publishing raises."""
        case = replace(case, changes={column: (change,)})
        release = _publish(case)
        return cls(case, change, column, release, release.to_polars())

    def __repr__(self) -> str:
        return f"ChangedCase({self.change} of {self.column!r}, {self.case})"


def hierarchy_for(values: pl.Series) -> Hierarchy:
    """Return a hierarchy for a column, which is not made from its data."""
    if values.dtype.is_numeric():
        return Intervals(widths=(10, 50))
    return Dates() if values.dtype.is_temporal() else Masking()


def is_a_value(change: Change) -> None:
    """A change has a name, is a frozen dataclass, says what it does, and survives being written to a recipe."""
    expect(change.name, "a change without a name", type(change).__name__)
    expect(is_frozen_dataclass(change), "a change that is no frozen dataclass", type(change).__name__)
    expect(change.says(), "a change that does not say what it does", change)
    described = tomllib.loads(tomli_w.dumps({"name": change.name, **change.to_recipe()}))
    if registered("changes").get(change.name) is type(change):
        again = make_registered("changes", described)
    else:
        del described["name"]
        again = type(change).from_recipe(described, Path())
    expect(again.to_recipe() == change.to_recipe(), f"a recipe makes another one of it, {again}", change)


def keeps_rows_and_missing(tried: ChangedCase) -> None:
    """[2, 4] Rows in = rows published + rows withheld, and a missing value stays missing."""
    rows, withheld = tried.case.frame.height, tried.release.withheld
    expect(tried.published.height + withheld == rows, "rows were lost", tried)
    missing = sum(map(is_missing, tried.case.frame[tried.column].to_list()))
    shown = tried.published[tried.column].null_count()
    expect(missing - withheld <= shown <= missing, f"{shown} of {missing} values are missing", tried)


def ignores_row_order(tried: ChangedCase) -> None:
    """[3] The same rows in another order give the same release, and so does the same seed."""
    frame = tried.case.frame
    for rows in (frame, frame[np.random.default_rng(frame.height).permutation(frame.height)]):
        again = _publish(tried.case.with_rows(rows)).to_polars()
        expect(again.equals(tried.published), "another order of rows gives another release", tried)


def without_chance_by_value(tried: ChangedCase) -> None:
    """Without chance, what becomes of a value is the same in all rows, and what is published are these values."""
    if tried.change.by_chance:
        return
    before = open_source(tried.case.frame)
    facts = ChangeFacts(tried.case.changes, banded=tried.case.table().schema.banded)
    after = read_rows(without_chance(before, facts))
    became = Counter(zip(map(repr, read_rows(before)[tried.column]), map(repr, after[tried.column]), strict=True))
    values = Counter(value for value, _ in became)
    expect(max(values.values(), default=0) <= 1, "one value became several", tried)
    made = {text for text in as_text(after[tried.column]).to_list() if text is not None}
    shown = {text for text in as_text(tried.published[tried.column]).to_list() if text is not None}
    expect(shown <= made, f"{sorted(shown - made)} are published, and nobody has them", tried)


def reads_back(tried: ChangedCase) -> None:
    """[1, 12] Its files hold the same rows, satisfy the same models, and tell of the same change."""
    with tempfile.TemporaryDirectory() as place:
        tried.release.save(Path(place) / "release", format="parquet")
        opened = open_release(Path(place) / "release", original=tried.case.frame)
        rows = [as_text(frame[tried.column]).to_list() for frame in (opened.to_polars(), tried.published)]
        expect(rows[0] == rows[1], "files hold other values", tried)
        expect(not opened.false_claims, f"files deny {opened.false_claims}", tried)
        told = {name: [change.to_recipe() for change in made] for name, made in opened.changes.columns.items()}
        expect(told == {tried.column: [tried.change.to_recipe()]}, f"files tell of {told}", tried)
        expect(opened.changes.told == json.loads(json.dumps(tried.release.changes.told)), "files tell otherwise", tried)


def quotes_no_value(tried: ChangedCase) -> None:
    """[8] The summary tells what was done to a column, and quotes none of its values."""
    summary = tried.release.summary
    told = json.dumps([summary["changes"], summary["warnings"]], ensure_ascii=False)
    expect(TELLTALE not in told, "a row's value is quoted", tried)
    expect(tried.change.says() in told, "the summary does not say what was done", tried)


Promise = Callable[[ChangedCase], None]
PROMISES: Sequence[Promise] = (
    keeps_rows_and_missing,
    ignores_row_order,
    without_chance_by_value,
    reads_back,
    quotes_no_value,
)


def _publish(case: Case) -> Release:
    return case.publish(Mondrian(), [KAnonymity(2)])
