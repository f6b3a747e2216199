"""Counted crowds: rows show labels and how many show the same; the crowds are a table of their own, too.

A reader learns no more than from generalized rows, which could be counted, too; so verification, answers and views are
those of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Floats
from incrowd.core.form import Form, PublishedFiles
from incrowd.core.labelled import Labelled
from incrowd.core.model import Guarantee, Model
from incrowd.core.query import Query
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.core.view import View
from incrowd.errors import SchemaError
from incrowd.forms.generalized import Generalized

_NAMES = ("crowd", "crowd size", "_crowd")


@dataclass(frozen=True)
class ShowTiny(Showing):
    """Show labels that hold for all people of a group, and how many people that are.

    Parameters
    ----------
    least : what is said of smaller crowds is only that they have fewer people (default: 0, all are counted).
    """

    least: int = 0
    name: ClassVar[str] = "tiny-form"

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return one that counts all crowds, and one that does not."""
        return cls(), cls(least=4)

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> TinyForm:
        """Label every group and count it."""
        for name in (*schema.kept, *schema.pseudonyms):
            raise SchemaError(f"tiny-form: column '{name}' cannot be kept.  Hint: drop it.")
        return TinyForm(Generalized.of(tally, schema, recoding, rows_in=rows_in), self.least)


@dataclass(frozen=True, eq=False)
class TinyForm(Form):
    """Groups with labels, and their sizes."""

    labels: Generalized
    least: int = 0
    schema: Schema = field(init=False)
    tally: Tally = field(init=False)
    rows_in: int = field(init=False)
    name: ClassVar[str] = "tiny-form"
    other_tables: ClassVar[tuple[str, ...]] = ("crowds",)

    def __post_init__(self) -> None:
        for name in ("schema", "tally", "rows_in"):
            object.__setattr__(self, name, getattr(self.labels, name))

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return self.labels.rows

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        return self.labels.withheld

    @property
    def group_sizes(self) -> Counts:
        """Rows in each crowd."""
        return self.labels.group_sizes

    @property
    def crowd_name(self) -> str:
        """What the column of sizes is called."""
        return next(name for name in _NAMES if name not in self.schema.tallied)

    @property
    def labelled(self) -> Labelled | None:
        """The groups."""
        return self.labels

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return the crowds and their sizes."""
        shown = {name: self.labels.shown.labels[name] for name in self.schema.quasi}
        return {"crowds": pl.DataFrame({**shown, self.crowd_name: self._told(self.group_sizes)})}

    def losses(self) -> dict[str, Any]:
        """Return how many crowds there are."""
        return {"crowds": len(self.group_sizes)}

    def warnings(self) -> list[str]:
        """Return what the labels show beyond their groups."""
        return self.labels.warnings()

    def verify(self, require: Sequence[Model], before: Tally) -> list[Guarantee]:
        """Check every model on the labels."""
        return self.labels.verify(require, before)

    def count(self, query: Query) -> float:
        """Estimate as if a crowd's rows were spread evenly."""
        return self.labels.count(query)

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the rows with the sizes of their crowds."""
        sizes = np.repeat(self.group_sizes[self.labels.groups], self.labels.counts)
        first = 0
        for batch in self.labels.batches(rows_per_batch):
            told = self._told(sizes[first : first + batch.height])
            yield batch.with_columns(told.alias(self.crowd_name))
            first += batch.height

    def view(self) -> View:
        """Return the groups whose labels hold a person."""
        return self.labels.view()

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Draw values from what the labels stand for."""
        return self.labels.reconstruct(rng)

    def canonical(self, before: Tally) -> TinyForm:
        """Return it with labels as their readers see them."""
        return TinyForm(self.labels.canonical(before), self.least)

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Whether a table of crowds is among the files."""
        return "crowds" in files.others

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read the labels; sizes follow from them."""
        read, notes = Generalized.read_back(files)
        assert isinstance(read, Generalized)
        return cls(read, int(files.asked.get("least") or 0)), notes

    def _told(self, sizes: Counts) -> pl.Series:
        texts = pl.Series(sizes).cast(pl.String)
        return pl.select(
            pl.when(pl.Series(sizes >= self.least)).then(texts).otherwise(pl.lit(f"<{self.least}"))
        ).to_series()
