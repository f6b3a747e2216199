"""No file of a release names a value that only people have who are not published: withheld, or not in the sample."""

from __future__ import annotations

import datetime
import re
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.core.families import registered
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from tests.campaigns.campaign import Campaign


class UnpublishedValues(Campaign):
    """Everybody has values that nobody else has; those of people who are not published must not be in any file."""

    name: ClassVar[str] = "unpublished"
    share: ClassVar[int] = 5

    def trial(self, number: int, place: Path) -> str | None:
        """Publish a table by some method in some form, and look for values of people who are not in it."""
        rng = np.random.default_rng(number)
        people = _people(rng, int(rng.integers(4, 60)))
        quasi = [str(name) for name in rng.permutation(_QUASI)[: rng.integers(1, 4)]]
        hierarchies = {name: _declared(rng, people[name]) for name in quasi if name in _LISTED and rng.random() < 0.5}
        method = _any(rng, [part for kind in registered("methods").values() for part in kind.examples()])
        form = _any(rng, [part for kind in registered("forms").values() for part in _showings(kind)])
        form = form if rng.random() < 0.3 and not method.private else None
        require = _any(rng, _MODELS) if rng.random() < 0.5 else ic.BucketSize(int(rng.integers(2, 5)))
        rate = _any(rng, (1, 1, 0.3, 0.6))
        if method.private:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = ic.read(people, quasi=quasi, sensitive=["ill"], others="drop", hierarchies=hierarchies)
                release = ic.publish(table, require, method=method, form=form, sample=rate, seed=number)
            except (Unsatisfiable, SchemaError, RecipeError):
                return None
            kind = _any(rng, ("csv", "parquet", "arrow"))
            release.save(place / "release", format=kind)
        told = _told(place / "release")
        published = {int(found) for found in re.findall(r"ill(\d+)ill", told)}
        if len(published) != release.rows:
            return f"{len(published)} people are found in the files of {release.rows} rows"
        for name in quasi:
            theirs = {_text(people[name][row]) for row in published}
            for row in set(range(people.height)) - published:
                value = _text(people[name][row])
                if value is not None and value not in theirs and value in told:
                    return f"{method!r}, {form!r}, {rate}, {kind}: '{name}' tells {value!r}, which only others have"
        return None


_QUASI = ("city", "code", "weight", "income", "born", "town")
_LISTED = ("city", "town")
_MODELS = (
    ic.KAnonymity(3),
    ic.DistinctLDiversity(2, column="ill"),
    *ic.ExpectedConfidence.examples(),
)


def _any(rng: np.random.Generator, among: Any) -> Any:
    return among[int(rng.integers(len(among)))]


def _showings(kind: Any) -> Any:
    return kind.examples() if hasattr(kind, "show") else ()


def _people(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    """Make people up. Nobody's number or date is a round one, so that no cut is somebody's value by chance."""
    born = [datetime.date(1930, 1, 2) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 30_000, rows)]
    frame = pl.DataFrame(
        {
            "city": [f"Y{word:04d}burg" for word in rng.permutation(9_000)[:rows]],
            "town": [f"X{word:04d}ville" for word in rng.integers(0, max(rows // 3, 1), rows)],
            "code": [f"{word:06d}7" for word in rng.permutation(900_000)[:rows] + 1],
            "weight": np.round(rng.normal(70, 10, rows), 6),
            "income": rng.integers(10_000, 900_000, rows) * 10 + 3,
            "born": [day.replace(day=max(day.day, 2)) for day in born],
            "ill": [f"ill{row}ill" for row in range(rows)],
        }
    )
    missing = rng.random(frame.shape) < (0.1 if rng.random() < 0.3 else 0)
    return frame.with_columns(
        pl.when(pl.Series(~missing[:, place])).then(pl.col(name)).alias(name)
        for place, name in enumerate(frame.columns)
        if name != "ill"
    )


def _declared(rng: np.random.Generator, values: pl.Series) -> ic.Categories:
    """Group names by the data, as a profile does, and say so."""
    names = sorted(values.drop_nulls().unique().to_list())
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(f"group {rng.integers(0, 4)}", []).append(name)
    return ic.Categories.from_tree(groups or ["nobody's"], taken_from="data")


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _told(release: Path) -> str:
    """Return all that the files of a release say."""
    told = []
    for file in sorted(release.iterdir()):
        told.append(file.read_bytes().decode("latin-1"))
        if file.suffix == ".parquet":
            told.append(pl.read_parquet(file).write_csv())
        if file.suffix == ".arrow":
            told.append(pl.read_ipc(file).write_csv())
    return "\n".join(told)
