"""Run the right suite on everything that is registered, plugins included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from incrowd.common.extras import has_extra
from incrowd.core.families import FAMILIES, registered
from incrowd.models.bucket_size import BucketSize
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.testing.case import Case
from incrowd.testing.checks import (
    check_attack,
    check_change,
    check_form,
    check_hierarchy,
    check_method,
    check_metric,
    check_model,
    check_shows,
    check_sink,
)

_SMALL = Case(pl.DataFrame({"age": [1, 1, 2, 2, 3, 3], "ill": ["flu", "cold"] * 3}), quasi=("age",), sensitive=("ill",))


def check_registered(
    families: Iterable[str] | None = None,
    *,
    examples: int = 5,
    shrink: bool = False,
    only: Callable[[Any], bool] | None = None,
) -> dict[str, list[str]]:
    """Check all `examples()` of all registered parts; return what was checked, by family.

    `families` are those to look at (default: all that have a suite), `examples` how many tables each part is tried on,
    and `only` picks classes. What needs more than the suite's tables have is left out: models of labels, private
    methods, methods that show another form than labels, and sinks whose extra is not installed. Raises
    `AssertionError` that names the part which fails.

    >>> check_registered(["sinks"], examples=2, only=lambda sink: sink.extra is None)
    {'sinks': ['ArrowSink()', 'CsvSink()', 'ParquetSink()']}
    """
    found: dict[str, list[str]] = {}
    for family in SUITES if families is None else families:
        if family not in SUITES:
            known = ", ".join(SUITES)
            raise ValueError(f"there is no suite for '{family}', only for {known}.")
        found[family] = []
        for name, cls in registered(family).items():
            if only is not None and not only(cls):
                continue
            for part in cls.examples():
                try:
                    checked = SUITES[family](part, examples, shrink)
                except Exception as error:
                    whose = f"{FAMILIES[family].one} '{name}' of {cls.__module__}, {part!r}"
                    raise AssertionError(f"{whose}: {type(error).__name__}: {error}") from error
                if checked:
                    found[family].append(repr(part))
    return found


Suite = Callable[[Any, int, bool], bool]


def _model(model: Any, examples: int, shrink: bool) -> bool:
    if model.needs_table or model.counts_households:
        return False
    check_model(model, local=not model.whole_table, examples=examples, shrink=shrink)
    return True


def _method(method: Any, examples: int, shrink: bool) -> bool:
    if method.private:
        return False
    if _SMALL.publish(method, [BucketSize(2), DistinctLDiversity(2)]).form.labelled is None:
        return False
    check_method(method, examples=examples, shrink=shrink)
    check_shows(method, examples=max(examples // 2, 2), shrink=shrink)
    return True


def _sink(sink: Any, examples: int, shrink: bool) -> bool:
    if sink.extra is not None and not has_extra(sink.extra):
        return False
    check_sink(sink, examples=examples, shrink=shrink)
    return True


def _plain(check: Callable[..., None]) -> Suite:
    def run(part: Any, examples: int, shrink: bool) -> bool:
        check(part, examples=examples, shrink=shrink)
        return True

    return run


SUITES: Mapping[str, Suite] = {
    "models": _model,
    "methods": _method,
    "forms": _plain(check_form),
    "metrics": _plain(check_metric),
    "attacks": _plain(check_attack),
    "hierarchies": _plain(check_hierarchy),
    "changes": _plain(check_change),
    "sinks": _sink,
}
"""What runs on a part of each family; returns whether there was anything to run."""
