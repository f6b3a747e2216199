"""Tables on Spark that many tests publish: each of their tallies is counted once, and coded once if it stays there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from incrowd.errors import TallyTooLarge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def counted_once(*frames: DataFrame) -> Iterator[None]:
    """Remember, inside of this, what was counted of some frames; whatever else is published is counted as ever.

    What is coded is held by the executors in a way that a release cannot let go of. That releases do let go of theirs
    is what `test_spark_large.py` shows of a frame that is not among these.
    """
    from incrowd.engines.spark import counting, large
    from incrowd.engines.spark.named_rows import NamedRows

    distinct, code, people = counting.distinct_tuples, large.code_on_spark, NamedRows.people
    counts: dict[Any, Any] = {}
    coded: dict[Any, Any] = {}
    found: dict[Any, Any] = {}

    def of_frames(source: Any) -> tuple[Any, ...] | None:
        given = [place for place, frame in enumerate(frames) if frame is source.given]
        return (*given, source.missing, source.exact_text) if given else None

    def distinct_once(source: Any, columns: Sequence[str]) -> Any:
        table, limit = of_frames(source), counting.driver_tuples(source.session)
        if table is None:
            return distinct(source, columns)
        key = table, tuple(columns), limit
        if key not in counts:
            try:
                counts[key] = distinct(source, columns)
            except TallyTooLarge as error:
                counts[key] = error.tuples
                raise
        if isinstance(counts[key], int):
            raise counting.too_large(counts[key], limit)
        return counts[key]

    def code_once(source: Any, counted: Any, schema: Any) -> Any:
        table = of_frames(source)
        if table is None:
            return code(source, counted, schema)
        key = table, schema.tallied, schema.person, repr({**schema.quasi, **schema.sensitive})
        if key not in coded:
            coded[key] = held(code(source, counted, schema))
        return coded[key]

    def people_once(named: Any, tally: Any, *, values: bool) -> Any:
        if not any(tally is one for one in coded.values()):
            return people(named, tally, values=values)
        key = id(tally), values
        if key not in found:
            found[key] = held(people(named, tally, values=values))
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "distinct_tuples", distinct_once)
        patch.setattr(large, "code_on_spark", code_once)
        patch.setattr(NamedRows, "people", people_once)
        yield


def held(tally: Any) -> Any:
    """Return a coded tally that is a frame by itself."""
    frame = tally.frame.localCheckpoint()
    tally.frame.unpersist()
    return replace(tally, frame=frame)
