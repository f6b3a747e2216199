"""What a ledger is told of a release: before it is made, once it is made, and once it is saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from incrowd.common.plain import parameters
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model, Promise
from incrowd.dp.budget import Budget
from incrowd.dp.promise import PrivacyPromise
from incrowd.ledger import Ledger, OpenEntry
from incrowd.ledger.ledger import described, hashes_of
from incrowd.methods.private import PrivateMethod
from incrowd.publishing.noisy_counts import promised_price
from incrowd.publishing.table import Table

if TYPE_CHECKING:
    from incrowd.publishing.release import Release


@contextmanager
def recorded(
    ledger: Ledger | None,
    table: Table,
    models: Sequence[Model],
    method: AnyMethod,
    rate: Fraction,
    promise: Promise | None,
    *,
    seeded: bool,
) -> Iterator[OpenEntry | None]:
    """Write down that a release is being made, and take its price; None where there is no ledger, or it only looks."""
    if ledger is None:
        yield None
        return
    price = _price(method, rate, promise)
    if ledger.only_looks:
        if price is not None:
            ledger.require_room([price])
        yield None
        return
    told = {
        "what": "release",
        "table": ledger.fingerprint(table.engine.source.columns),
        "columns": described(table.schema),
        "method": method.name,
        "parameters": parameters(method),
        "models": [str(model) for model in models],
        "sample": str(rate),
        "seeded": seeded,
    }
    with ledger.start(told, price) as entry:
        yield entry


def _price(method: AnyMethod, rate: Fraction, promise: Promise | None) -> Budget | None:
    """Return what a release costs everybody in the table, where its method is private."""
    if method.private:
        return promised_price(cast("PrivateMethod", method), rate)
    return promise.price if isinstance(promise, PrivacyPromise) else None


def outcome(release: Release) -> dict[str, Any]:
    """Return what a release came to, as an entry tells it; nothing that a private method keeps secret."""
    stated = [{"model": str(each.model), "basis": each.basis, "note": each.note} for each in release.guarantees]
    return {"rows": release.row_numbers, "guarantees": stated}


def record_saved(entry: OpenEntry, data: Path) -> None:
    """Write down what a release's files are, once they are all there; `data` is one of them."""
    place = Path(data).parent
    told: dict[str, Any] = {"directory": place.name}
    if place.is_dir():  # or it is on a file system of a cluster
        told["files"] = hashes_of(place)
    entry.ledger.saved(entry.entry.number, told)
