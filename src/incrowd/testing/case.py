"""A small table with a role and a hierarchy for every column: what a promise is tried on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
import polars as pl

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release
from incrowd.publishing.table import Table, read


@dataclass(frozen=True, eq=False)
class Case:
    """A table, and what each of its columns is. Two that hold the same are equal, whatever objects they are made of."""

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)

    def table(self) -> Table:
        """Open the table."""
        return read(
            self.frame,
            quasi=self.quasi,
            sensitive=self.sensitive,
            keep=self.kept,
            hierarchies=dict(self.hierarchies),
            changes=self.changes,
        )

    def publish(self, method: Method, require: Sequence[Model], *, seed: int = 0) -> Release:
        """Publish the table, with labels; `numbers.py` looks at what else may be shown."""
        return publish(self.table(), require, method=method, show="label", seed=seed)

    def hierarchy(self, name: str) -> Hierarchy:
        """Return a quasi-identifier's hierarchy."""
        return self.hierarchies.get(name, Automatic())

    def with_rows(self, frame: pl.DataFrame) -> Case:
        """Return the same roles over other rows."""
        return replace(self, frame=frame)

    def shuffled(self) -> Case:
        """Return the same table with its rows in another order."""
        rows = self.frame.height
        return self.with_rows(self.frame[np.random.default_rng(rows).permutation(rows)])

    def respelled(self) -> Case:
        """Return the same table with NaN for null, and -0.0 for 0.0."""
        floats = [name for name, dtype in self.frame.schema.items() if dtype.is_float()]
        return self.with_rows(
            self.frame.with_columns(
                pl.when(pl.col(name) == 0).then(-0.0).otherwise(pl.col(name).fill_null(float("nan"))).alias(name)
                for name in floats
            )
        )

    def reordered(self) -> Case:
        """Return the same table with its columns, and the lists that name them, the other way round."""
        return replace(
            self,
            frame=self.frame.select(self.frame.columns[::-1]),
            quasi=self.quasi[::-1],
            sensitive=self.sensitive[::-1],
            kept=self.kept[::-1],
        )

    def __repr__(self) -> str:
        columns = {name: (str(self.frame[name].dtype), self.frame[name].to_list()) for name in self.frame.columns}
        return (
            f"Case(columns={columns}, quasi={self.quasi}, sensitive={self.sensitive}, kept={self.kept}, "
            f"hierarchies={dict(self.hierarchies)})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Case) or self._told != other._told:
            return False
        return (self.hierarchies, self.changes) == (other.hierarchies, other.changes)

    def __hash__(self) -> int:
        return hash(self._told)

    @cached_property
    def _told(self) -> str:
        return repr(self)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A case that a method has published under some models; `before` is what the table was before it did."""

    case: Case
    before: pl.DataFrame
    method: Method
    require: tuple[Model, ...]
    release: Release
    published: pl.DataFrame

    @classmethod
    def of(cls, case: Case, method: Method, require: Sequence[Model]) -> Attempt:
        """Publish a case; raises what publishing raises."""
        before = case.frame.clone()
        release = case.publish(method, require)
        return cls(case, before, method, tuple(require), release, release.to_polars())

    @cached_property
    def is_same_retold(self) -> bool:
        """Whether the table is published the same with its rows in another order, and with NaN for null as well.

        One release shows that for several promises. Where it is another, each promise looks for itself.
        """
        return self.is_what_becomes_of(self.case.respelled().shuffled())

    def is_what_becomes_of(self, case: Case) -> bool:
        """Whether another case is published the same, by the same method and under the same models."""
        return case.publish(self.method, self.require).to_polars().equals(self.published)

    @cached_property
    def searched_again(self) -> tuple[Sequence[str], bool]:
        """What the method tells of its progress on the release's tally, and whether it leaves that tally alone."""
        told: list[str] = []
        tally, schema = self.release.form.tally, self.release.form.schema
        codes, counts = tally.codes.copy(), tally.counts.copy()
        self.method.search(
            tally,
            schema,
            self.require,
            rng=np.random.default_rng(0),
            progress=lambda stage, done: told.append(stage),
        )
        return told, np.array_equal(tally.codes, codes) and np.array_equal(tally.counts, counts)

    @property
    def min_group(self) -> int:
        """The smallest group that all models together allow."""
        return max(model.min_group for model in self.require)

    def __repr__(self) -> str:
        return f"Attempt({self.method}, require={list(map(str, self.require))}, {self.case})"
