"""A release: what is published, what it promises, and where it can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import ConformanceError, QueryError
from incrowd.methods.method import Method
from incrowd.models.model import Guarantee
from incrowd.progress import Progress, silent
from incrowd.promise import Promise
from incrowd.releases.form import Form
from incrowd.releases.generalized import Generalized
from incrowd.releases.query import Query

if TYPE_CHECKING:
    from incrowd.auditing import Audit
    from incrowd.engines.engine import Origin
    from incrowd.forms import Showing
    from incrowd.releases.saving import Format


@dataclass(frozen=True, eq=False)
class Release:
    """A table that can be published, and the evidence for it."""

    form: Form
    guarantees: tuple[Guarantee, ...]
    method: Method
    seed: int | None
    source: Origin
    make_batches: Callable[[], Iterator[pl.DataFrame]]
    make_frame: Callable[[], Any] | None = None
    """Makes the published rows where the table's own rows are, for engines that have frames of their own."""
    pseudonym_key: Path | None = None
    """The file of the key, never the key itself."""
    rate: Fraction = Fraction(1)
    """The probability with which each row of the table was taken into the sample that is published."""
    population: Origin | None = None
    asked_form: Showing | None = None
    """The form that was asked for, where it is not the method's own."""
    promise: Promise | None = None
    """What the method promises by its construction; how many rows the table has is then a secret."""
    foreign: bool = False
    """Whether it was read from a file: what its labels stand for is known, and not the table that it was made of."""
    notes: tuple[str, ...] = ()
    """What is to be said about how it was read."""
    solutions: pl.DataFrame | None = None
    """What else a search over level vectors looked at, the best first: to compare, and to pick another from."""

    @property
    def generalized(self) -> Generalized:
        """The release's form where it is generalized values: groups with labels."""
        if not isinstance(self.form, Generalized):
            raise QueryError(f"this release is {self.form.name}: its groups have no labels.")
        return self.form

    @property
    def rows_in(self) -> int:
        """Rows of the table, or of the sample of it that was taken."""
        return self.form.rows_in

    @property
    def left_out(self) -> int:
        """Rows of the table that the sample left out."""
        return self.form.tally.rows - self.form.rows_in

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return self.form.rows

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        return self.form.withheld

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the published rows batch by batch, in an order that says nothing about the table's."""
        published = 0
        for batch in self.make_batches():
            published += batch.height
            yield batch
        if published != self.rows:
            raise ConformanceError(
                f"{published} rows came out where {self.rows} were checked; has the source changed meanwhile?"
            )

    def to_polars(self) -> pl.DataFrame:
        """Return the published rows as a Polars frame."""
        return _own_texts(pl.concat(list(self.batches())))

    @cached_property
    def data(self) -> Any:
        """The published rows as the kind of frame that was handed in (Polars where it was a file or a database)."""
        if self.source.native == "spark":
            from incrowd.engines.spark.publishing import published

            return published(self).frame
        frame = self.to_polars()
        match self.source.native:
            case "pandas":
                return frame.to_pandas()
            case "pyarrow":
                return frame.to_arrow()
            case "polars-lazy":
                return frame.lazy()
            case _:
                return frame

    def count(self, query: Query) -> float:
        """Estimate how many rows satisfy every condition of a query, spreading each group's members evenly.

        A condition is a value, a list of values, or a pair `(low, high)`, both included:
        `{"age": (30, 39), "sex": "F"}`. Of a sample, it estimates the rows of the table that it was taken from.
        """
        return self.form.count(query) / float(self.rate)

    def training_set(
        self, target: str, *, seed: int | None = None
    ) -> tuple[pl.DataFrame, pl.Series, NDArray[np.float64]]:
        """Return features, classes and weights to learn `target` from, as scikit-learn takes them.

        Rows are made that could be behind the release: labels become values drawn evenly from what they stand for, and
        rows of a bucket are taken as they are written.
        """
        from incrowd.releases.training import training_set

        return training_set(self.form, target, np.random.default_rng(seed))

    @property
    def promises(self) -> list[dict[str, Any]]:
        """The guarantees as plain numbers and texts."""
        return [
            {
                "model": guarantee.model.name,
                "parameters": parameters(guarantee.model),
                "statement": str(guarantee.model),
                "basis": guarantee.basis,
                "achieved": finite(guarantee.achieved),
                **({"note": guarantee.note} if guarantee.note else {}),
            }
            for guarantee in self.guarantees
        ]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What a machine may want to know about the release; holds no value of any row."""
        sizes = np.sort(self.form.group_sizes)
        return {
            "format": 1,
            "rows": self.row_numbers,
            "guarantees": self.promises,
            "method": {"name": self.method.name, "parameters": parameters(self.method)},
            "groups": {
                "number": len(sizes),
                "smallest": int(sizes[0]) if len(sizes) else 0,
                "median": float(np.median(sizes)) if len(sizes) else 0.0,
                "largest": int(sizes[-1]) if len(sizes) else 0,
                "by size": size_distribution(sizes),
            },
            "form": self.form.name,
            "loss": self.form.losses() if self.promise is None else {},  # losses tell of rows that are not published
            **({} if self.promise is None else {"privacy": dict(self.promise.told)}),
            "warnings": self.warnings,
        }

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """What is published besides the rows, by name: some forms need more than one table."""
        return self.form.tables()

    @property
    def hides_rows(self) -> bool:
        """Whether the number of the table's rows must not be told."""
        return self.promise is not None or getattr(self.form, "private", False)

    @property
    def row_numbers(self) -> dict[str, Any]:
        """How many rows there are, as far as that may be told."""
        if self.foreign:
            return {"published": self.rows}
        if self.hides_rows:  # how many rows there were would give somebody away
            return {"published": self.rows, "sampling rate": float(self.rate)}
        numbers: dict[str, Any] = {"in": self.rows_in, "published": self.rows, "withheld": self.withheld}
        if self.rate < 1:
            numbers |= {"left out by sampling": self.left_out, "sampling rate": float(self.rate)}
        return numbers

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know before signing."""
        found = [*self.notes, *self.form.warnings()]
        if self.promise is not None:
            found += self.promise.warnings(self.rows, self.rate)
        if self.form.schema.kept:
            found.append(
                f"Columns published as they are, outside of every guarantee: {', '.join(self.form.schema.kept)}."
            )
        if self.form.schema.pseudonyms:
            found.append(
                f"Pseudonyms link the rows of one person to each other: {', '.join(self.form.schema.pseudonyms)}."
            )
        return found

    def save(
        self,
        directory: str | Path,
        *,
        format: Format | None = None,
        force: bool = False,
        progress: Progress = silent,
    ) -> Path:
        """Write data, recipe and summary into a new directory, all or nothing; return the path of the data file.

        A release of a Spark frame is written by Spark: its data are a directory of parts, and the place may be on any
        file system that Spark knows (`hdfs://…`).
        """
        from incrowd.releases.saving import save

        return save(self, directory, format=format, force=force, progress=progress)

    def audit(
        self,
        *,
        original: object = None,
        external: object = None,
        earlier: Sequence[Release] = (),
        queries: str | Path | None = None,
        learn: bool = True,
        seed: int = 0,
        progress: Progress = silent,
    ) -> Audit:
        """Attack the release in every way and measure what it is still good for; see `incrowd.audit`."""
        from incrowd.auditing import audit

        return audit(
            self,
            original=original,
            external=external,
            earlier=earlier,
            queries=queries,
            learn=learn,
            seed=seed,
            progress=progress,
        )

    def _repr_html_(self) -> str:
        from incrowd.report.notebook import release_html

        return release_html(self)

    def __repr__(self) -> str:
        promises = ", ".join(str(guarantee.model) for guarantee in self.guarantees)
        withheld = "" if self.hides_rows else f", {self.withheld} withheld"
        return f"Release({self.rows} rows in {len(self.form.group_sizes)} groups{withheld}; {promises})"


def _own_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a frame texts of its own: those of withheld rows may lie in the same buffers, and would be written out."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    copies = [pl.Series(name, frame[name].to_arrow(compat_level=pl.CompatLevel.oldest())) for name in texts]
    return frame.with_columns(copies)


def parameters(made: Any) -> dict[str, Any]:
    """Return the parameters of a model or method as plain numbers and texts, also where NumPy's were given."""
    return {field.name: plain(getattr(made, field.name)) for field in fields(made)}


def plain(value: Any) -> Any:
    """Return what JSON and TOML can hold: lists for tuples, Python's numbers for NumPy's."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def finite(number: float) -> float | None:
    """JSON has no infinity: None stands for it."""
    return number if np.isfinite(number) else None


def size_distribution(sizes: np.ndarray[Any, Any]) -> dict[str, int]:
    """Count groups by size: 1, 2, 3-4, 5-8, 9-16, …

    >>> size_distribution(np.array([1, 2, 3, 4, 9]))
    {'1': 1, '2': 1, '3-4': 2, '9-16': 1}
    """
    powers, counts = np.unique(np.ceil(np.log2(np.maximum(sizes, 1))).astype(int), return_counts=True)
    names = [str(2**power) if power < 2 else f"{2 ** (power - 1) + 1}-{2**power}" for power in powers.tolist()]
    return dict(zip(names, counts.tolist(), strict=True))
