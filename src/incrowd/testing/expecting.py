"""The suite's own assertion: unlike the statement, it still checks when Python runs optimized."""

from __future__ import annotations


def expect(condition: object, problem: str, *context: object) -> None:
    """Raise `AssertionError` unless the condition holds; what it was tried on is only written out then."""
    if not condition:
        raise AssertionError(": ".join([problem, *map(str, context)]))


def is_frozen_dataclass(instance: object) -> bool:
    """Whether an instance's class is a dataclass that cannot be changed, and so can be a key."""
    parameters = getattr(type(instance), "__dataclass_params__", None)
    return bool(getattr(parameters, "frozen", False))
