"""What every model claims of itself, one function each: returns if the claim holds, raises `AssertionError` if not.

Each takes the model and a few groups of members, every member with a value in the sensitive columns `s0` and `s1`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np

from incrowd.models import Model
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.naive import DEFINITIONS, Definition, Members, count_groups

SENSITIVE = ("s0", "s1")
Claim = Callable[[Model, Sequence[Members]], None]


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
        found = model.satisfied(count_groups(some, SENSITIVE))
        expect(found.shape == (len(some),), f"{found.shape} verdicts on {len(some)} groups", model)
        expect(found.dtype == np.bool_, f"verdicts are {found.dtype}, not yes or no", model)
        expect(not math.isnan(_achieved(model, some)), f"{len(some)} groups achieve NaN", model)


def judges_each_group_alone(model: Model, groups: Sequence[Members]) -> None:
    """Judged together, groups get what each would get by itself."""
    alone = [verdict for members in groups for verdict in verdicts(model, [members])]
    expect(verdicts(model, groups) == alone, "groups are judged otherwise in company", model, groups)


def ignores_order_of_groups(model: Model, groups: Sequence[Members]) -> None:
    """The same groups the other way round get the same verdicts the other way round."""
    backwards = [list(members)[::-1] for members in groups][::-1]
    same = verdicts(model, backwards) == verdicts(model, groups)[::-1]
    expect(same, "another order of groups or members changes verdicts", model, groups)
    same = math.isclose(_achieved(model, backwards), _achieved(model, groups))
    expect(same, "another order of groups or members changes what is achieved", model, groups)


def ignores_names_of_values(model: Model, groups: Sequence[Members]) -> None:
    """Values are told apart, and what they are called does not matter; missing is one of them."""
    present = sorted({value for members in groups for member in members for value in member.values()}, key=repr)
    renamed = dict(zip(present, [*present[1:], present[0]], strict=True))
    others = [[{name: renamed[value] for name, value in member.items()} for member in members] for members in groups]
    expect(verdicts(model, others) == verdicts(model, groups), "other names change verdicts", model, groups)


def is_as_monotone_as_it_says(model: Model, groups: Sequence[Members]) -> None:
    """Where it says so, joining groups that satisfy it never breaks it."""
    if not model.monotone:
        return
    safe = [members for members, verdict in zip(groups, verdicts(model, groups), strict=True) if verdict]
    for first, second in pairwise(safe):
        joined = verdicts(model, [[*first, *second]])
        expect(joined == [True], "it holds for each of two groups, but not for both as one", model, first, second)


def needs_its_min_group(model: Model, groups: Sequence[Members]) -> None:
    """No group with fewer rows than `min_group` satisfies it."""
    for members, verdict in zip(groups, verdicts(model, groups), strict=True):
        large_enough = len(members) >= model.min_group
        expect(large_enough or not verdict, f"it holds for fewer than {model.min_group} rows", model, members)


def achieves_the_worst_group(model: Model, groups: Sequence[Members]) -> None:
    """All groups together achieve what the worst of them does."""
    alone = [_achieved(model, [members]) for members in groups]
    together = _achieved(model, groups)
    expect(together in (min(alone), max(alone)), f"{together} is achieved by groups of {alone}", model, groups)


CLAIMS: Sequence[Claim] = (
    gives_one_verdict_per_group,
    judges_each_group_alone,
    ignores_order_of_groups,
    ignores_names_of_values,
    is_as_monotone_as_it_says,
    needs_its_min_group,
    achieves_the_worst_group,
)


def agrees_with(definition: Definition | None, model: Model, groups: Sequence[Members]) -> None:
    """Every verdict is that of the definition: the one given, or the built-in one of the model's class."""
    definition = definition or DEFINITIONS.get(type(model))
    if definition is not None:
        expected = [definition(model, members) for members in groups]
        expect(verdicts(model, groups) == expected, f"by definition, verdicts are {expected}", model, groups)


def achievement(model: Model, groups: Sequence[Members]) -> tuple[float, bool]:
    """Return what groups achieve and whether all of them satisfy the model."""
    return _achieved(model, groups), all(verdicts(model, groups))


def satisfied_means_achieved(model: Model, seen: Sequence[tuple[float, bool]]) -> None:
    """What satisfies a model achieves more than what does not; or less, throughout, where less is better."""
    good = [achieved for achieved, satisfied in seen if satisfied]
    bad = [achieved for achieved, satisfied in seen if not satisfied]
    if good and bad:
        more = min(good) * (1 + 1e-9) >= max(bad)
        less = max(good) <= min(bad) * (1 + 1e-9)
        reached = f"{min(good)} to {max(good)} satisfies it, {min(bad)} to {max(bad)} does not"
        expect(more or less, f"what is achieved does not say whether it is satisfied: {reached}", model)


def verdicts(model: Model, groups: Sequence[Members]) -> list[bool]:
    """Return the model's verdicts as plain values."""
    return [bool(verdict) for verdict in model.satisfied(count_groups(groups, SENSITIVE))]


def _achieved(model: Model, groups: Sequence[Members]) -> float:
    return model.achieved(count_groups(groups, SENSITIVE))
