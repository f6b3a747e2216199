"""What every model claims of itself, one function each: returns if the claim holds, raises `AssertionError` if not.

Each takes the model and a table in groups, every member with a value in the sensitive columns `s0` and `s1`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache

import numpy as np
import polars as pl

from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.tree import Tree
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.naive import DEFINITIONS, Definition, Members, count_groups

SENSITIVE = ("s0", "s1")
VALUES = (None, "a", "b", "c", "d")
Claim = Callable[[Model, Sequence[Members]], None]

_KEPT = 64
_COUNTED: dict[tuple[int, ...], tuple[Sequence[Members], Sequence[Members], Groups]] = {}
"""What was counted lately, with what it was counted of."""


def is_a_value(model: Model) -> None:
    """A model has a name, is said in words, and is a frozen dataclass: it can be a key, and be written to a recipe."""
    expect(model.name and str(model), "a model without a name or words", type(model).__name__)
    expect(is_frozen_dataclass(model), "a model that is no frozen dataclass", type(model).__name__)
    parameters = {field.name: getattr(model, field.name) for field in fields(model)}  # type: ignore[arg-type]
    again = type(model)(**parameters)
    expect(again == model and hash(again) == hash(model), "the same parameters give another model", model)
    expect(model.min_group >= 1, f"min_group is {model.min_group}", model)


def gives_one_verdict_per_group(model: Model, groups: Sequence[Members]) -> None:
    """There is a yes or no for every group, also where there are no groups."""
    for some in (groups, []):
        found = model.satisfied(_counted(some, groups))
        expect(found.shape == (len(some),), f"{found.shape} verdicts on {len(some)} groups", model)
        expect(found.dtype == np.bool_, f"verdicts are {found.dtype}, not yes or no", model)
        expect(not math.isnan(_achieved(model, some, groups)), f"{len(some)} groups achieve NaN", model)


def ignores_order_of_groups(model: Model, groups: Sequence[Members]) -> None:
    """The same groups the other way round get the same verdicts the other way round."""
    backwards = [list(members)[::-1] for members in groups][::-1]
    same = verdicts(model, backwards, groups) == verdicts(model, groups, groups)[::-1]
    expect(same, "another order of groups or members changes verdicts", model, groups)
    same = math.isclose(_achieved(model, backwards, groups), _achieved(model, groups, groups), abs_tol=1e-12)
    expect(same, "another order of groups or members changes what is achieved", model, groups)


def needs_its_min_group(model: Model, groups: Sequence[Members]) -> None:
    """No group with fewer rows than `min_group` satisfies it."""
    for members, verdict in zip(groups, verdicts(model, groups, groups), strict=True):
        large_enough = len(members) >= model.min_group
        expect(large_enough or not verdict, f"it holds for fewer than {model.min_group} rows", model, members)


def is_as_monotone_as_it_says(model: Model, groups: Sequence[Members]) -> None:
    """Where it says so, a table that satisfies it still does when two of its groups are joined."""
    if not model.monotone:
        return
    safe = [members for members, verdict in zip(groups, verdicts(model, groups, groups), strict=True) if verdict]
    while len(safe) > 1 and all(verdicts(model, safe, groups)):
        first, second, *others = safe
        safe = [*others, [*first, *second]]
        expect(all(verdicts(model, safe, groups)), "it holds for two groups, but not for both as one", model, groups)


def is_as_hereditary_as_it_says(model: Model, groups: Sequence[Members]) -> None:
    """Where it says so, a table that fails it everywhere still does when a group is split in two."""
    if not model.hereditary:
        return
    bad = [members for members, verdict in zip(groups, verdicts(model, groups, groups), strict=True) if not verdict]
    if any(verdicts(model, bad, groups)):  # a verdict may depend on the company, and here it is another one
        return
    for place, members in enumerate(bad):
        for size in range(1, len(members)):
            pieces = [*bad[:place], members[:size], members[size:], *bad[place + 1 :]]
            helped = any(verdicts(model, pieces, groups))
            expect(not helped, "it fails for a group, but not for a part of it", model, members, size)


EVERY_MODEL: Sequence[Claim] = (
    gives_one_verdict_per_group,
    ignores_order_of_groups,
    needs_its_min_group,
    is_as_monotone_as_it_says,
    is_as_hereditary_as_it_says,
)


def judges_each_group_alone(model: Model, groups: Sequence[Members]) -> None:
    """Judged together, groups get what each would get by itself, next to the same whole table."""
    alone = [verdict for members in groups for verdict in verdicts(model, [members], groups)]
    expect(verdicts(model, groups, groups) == alone, "groups are judged otherwise in company", model, groups)


def achieves_the_worst_group(model: Model, groups: Sequence[Members]) -> None:
    """All groups together achieve what the worst of them does."""
    alone = [_achieved(model, [members], groups) for members in groups]
    together = _achieved(model, groups, groups)
    expect(together in (min(alone), max(alone)), f"{together} is achieved by groups of {alone}", model, groups)


LOCAL_MODELS: Sequence[Claim] = (judges_each_group_alone, achieves_the_worst_group)
"""Claims of models whose verdict on a group depends on no other group."""


def ignores_names_of_values(model: Model, groups: Sequence[Members]) -> None:
    """Values are told apart, and what they are called does not matter; missing is one of them, if it counts."""
    counted = [value for value in VALUES if value is not None or model.missing == "counts"]
    renamed = {None: None} | dict(zip(counted, [*counted[1:], counted[0]], strict=True))
    others = [[{name: renamed[value] for name, value in member.items()} for member in members] for members in groups]
    same = verdicts(model, others, others) == verdicts(model, groups, groups)
    expect(same, "other names of values change verdicts", model, groups)


NOMINAL_MODELS: Sequence[Claim] = (ignores_names_of_values,)
"""Claims of models that know values neither by name nor by order."""


def agrees_with(definition: Definition | None, model: Model, groups: Sequence[Members]) -> None:
    """Every verdict is that of the definition: the one given, or the built-in one of the model's class."""
    definition = definition or DEFINITIONS.get(type(model))
    if definition is not None:
        table = [member for members in groups for member in members]
        expected = [definition(model, members, table) for members in groups]
        expect(verdicts(model, groups, groups) == expected, f"by definition, verdicts are {expected}", model, groups)


def achievement(model: Model, groups: Sequence[Members], whole: Sequence[Members]) -> tuple[float, bool]:
    """Return what groups of a table achieve, and whether all of them satisfy the model."""
    return _achieved(model, groups, whole), all(verdicts(model, groups, whole))


def satisfied_means_achieved(model: Model, seen: Sequence[tuple[float, bool]]) -> None:
    """What satisfies a model achieves more than what does not; or less, throughout, where less is better."""
    good = [achieved for achieved, satisfied in seen if satisfied]
    bad = [achieved for achieved, satisfied in seen if not satisfied]
    if good and bad:
        more = max(bad) <= min(good) + 1e-9 * abs(min(good))
        less = max(good) <= min(bad) + 1e-9 * abs(min(bad))
        reached = f"{min(good)} to {max(good)} satisfies it, {min(bad)} to {max(bad)} does not"
        expect(more or less, f"what is achieved does not say whether it is satisfied: {reached}", model)


def verdicts(model: Model, groups: Sequence[Members], whole: Sequence[Members]) -> list[bool]:
    """Return a model's verdicts on groups of a table, as plain values."""
    return [bool(verdict) for verdict in model.satisfied(_counted(groups, whole))]


def _achieved(model: Model, groups: Sequence[Members], whole: Sequence[Members]) -> float:
    return float(model.achieved(_counted(groups, whole)))


def _counted(groups: Sequence[Members], whole: Sequence[Members]) -> Groups:
    """Count groups of a table, once for all claims: they are the same lists, kept here so that no others are taken for
    them.
    """
    key = (*map(id, groups), id(whole))
    if key not in _COUNTED:
        if len(_COUNTED) >= _KEPT:
            _COUNTED.clear()
        counted = count_groups(groups, [member for members in whole for member in members], _trees())
        _COUNTED[key] = list(groups), whole, counted
    return _COUNTED[key][-1]


@cache
def _trees() -> dict[str, Tree]:
    return {name: Exact().build(name, pl.Series(VALUES, dtype=pl.String))[0] for name in SENSITIVE}
