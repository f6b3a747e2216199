"""What any table achieves, also one that was not made here: the models' parameters, read off its groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.engines.sources import open_source, reading
from incrowd.errors import EmptyTable, SchemaError
from incrowd.groups import Groups
from incrowd.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)
from incrowd.releases.release import finite, size_distribution
from incrowd.schema import Schema
from incrowd.verification import COUNT, groups_of


@dataclass(frozen=True)
class SensitiveCheck:
    """How diverse a sensitive column is in the worst group; `recursive_c` is the bound below which (c,2) fails."""

    distinct_l: int
    entropy_l: float
    probabilistic_l: float
    recursive_c: float | None


@dataclass(frozen=True)
class Check:
    """What a table achieves."""

    rows: int
    groups: int
    k: int
    unique_rows: int
    by_size: dict[str, int]
    sensitive: dict[str, SensitiveCheck]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def check(
    source: object,
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    query: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> Check:
    """Read off what a table achieves; a missing value is a value like any other.

    >>> import incrowd as ic
    >>> check(ic.datasets.senellart_patients(), quasi=["zip", "age"], sensitive=["disease"]).k
    1
    """
    opened = open_source(source, query=query, separator=separator, quote=quote, encoding=encoding, missing=missing)
    schema = Schema.of(opened.columns, quasi=quasi, sensitive=sensitive, others="drop")
    if not schema.quasi:
        raise SchemaError("no column is a quasi-identifier.  Hint: name those that outsiders may know.")
    columns = cs.by_name(*schema.tallied)
    with reading(opened):
        counted = opened.frame.group_by(columns).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    if counted.height == 0:
        raise EmptyTable("the table has columns but no rows.")
    return check_groups(groups_of(counted, tuple(schema.quasi), tuple(schema.sensitive)))


def check_groups(groups: Groups) -> Check:
    """Read off what groups achieve."""
    return Check(
        rows=int(groups.sizes.sum()),
        groups=len(groups),
        k=int(KAnonymity(1).achieved(groups)),
        unique_rows=int(np.count_nonzero(groups.sizes == 1)),
        by_size=size_distribution(groups.sizes),
        sensitive={
            name: SensitiveCheck(
                distinct_l=int(DistinctLDiversity(1, column=name).achieved(groups)),
                entropy_l=EntropyLDiversity(1, column=name).achieved(groups),
                probabilistic_l=ProbabilisticLDiversity(1, column=name).achieved(groups),
                recursive_c=finite(RecursiveLDiversity(1, 2, column=name).achieved(groups)),
            )
            for name in groups.sensitive
        },
    )
