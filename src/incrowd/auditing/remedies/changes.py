"""What can be changed of how a release is made: columns that are kept, models, the method's options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from incrowd.common.records import dataclass
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.t_closeness import TCloseness


@dataclass(frozen=True)
class Way:
    """How a release is made, as far as audits change it."""

    models: tuple[Model, ...]
    method: AnyMethod
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """Another way, and what was changed."""

    says: str
    way: Way


def without_kept(way: Way, columns: Sequence[str]) -> Change:
    """Return the same way without some of the columns that are kept as they are."""
    left = tuple(name for name in way.kept if name not in columns)
    return Change(drop(columns), replace(way, kept=left))


def drop(columns: Sequence[str]) -> str:
    """Say that kept columns should not be."""
    names = ", ".join(f"'{name}'" for name in columns)
    return f"drop the kept column{'s' if len(columns) > 1 else ''} {names}"


def ladders(way: Way, sensitive: Sequence[str], *, labelled: bool) -> Iterator[list[Change]]:
    """Yield changes that protect more, in lists of the same change with rising strength."""
    for place, model in enumerate(way.models):
        name = model.strictness[0]
        yield [
            Change(
                f"set {name} = {vars(one)[name]:g} in {_named(one)} (now {vars(model)[name]:g})",
                replace(way, models=(*way.models[:place], one, *way.models[place + 1 :])),
            )
            for one in model.stricter()
        ]
    if labelled and not any(model.name == KAnonymity.name for model in way.models):
        yield [_added(way, one, "k") for one in KAnonymity(2).stricter()]
    spoken_of = {model.column for model in way.models if model.looks_at_values and not model.asks_nothing}
    if None not in spoken_of:
        for column in (name for name in sensitive if name not in spoken_of):
            yield [_added(way, one, "l") for one in DistinctLDiversity(1, column=column).stricter()]
            yield [_added(way, one, "t") for one in TCloseness(0.5, column=column).stricter()]
    yield [Change(says, replace(way, method=method)) for says, method in way.method.safer()]


def _added(way: Way, model: Model, name: str) -> Change:
    return Change(
        f"ask for {_named(model)} with {name} = {vars(model)[name]:g}", replace(way, models=(*way.models, model))
    )


def _named(model: Model) -> str:
    return model.name if model.column is None else f"{model.name} of {model.column}"
