"""Rules of public knowledge: people like this have that value with such a probability (Sattar et al. 2013, §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.query import matching_codes
from incrowd.errors import RecipeError, SchemaError, did_you_mean
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text

Mask = Mapping[str, NDArray[np.bool_]]
"""The codes of each column that a rule speaks of; of a column that is not mentioned, all."""

_PARTS = ("when", "then", "confidence")
_ENDS = {"from", "to"}


@dataclass(frozen=True)
class Rule:
    """Of the people to whom every condition applies, a share of `confidence` has the sensitive value `then`.

    Conditions are those of queries: a value, a list of values, or a pair `(low, high)`, in a recipe
    `{from = 40, to = 60}`.

    >>> Rule(when={"age": (40, 60), "sex": "M"}, then="prostate cancer", confidence=0.02).confidence
    0.02
    """

    when: Mapping[str, Any] = field(hash=False)
    then: str
    confidence: float

    def __post_init__(self) -> None:
        if not isinstance(self.when, Mapping) or not self.when:
            raise RecipeError("a rule says when it applies: a table of columns and conditions.")
        require_number("a rule", "confidence", self.confidence, at_least=0)
        if self.confidence > 1:
            raise RecipeError(f"a rule: confidence is a share, at most 1, not {self.confidence!r}.")
        object.__setattr__(self, "when", {column: _condition(asked) for column, asked in self.when.items()})

    def masks(self, trees: Mapping[str, Tree], columns: Sequence[str]) -> Mask:
        """Return, for each column that the rule speaks of, the codes to which it applies."""
        for column in self.when:
            if column not in columns:
                raise SchemaError(
                    f"a rule names '{column}', which is no quasi-identifier.{did_you_mean(column, columns)}"
                )
        return {
            column: matching_codes(column, trees[column], asked, unknown_names="nobody")
            for column, asked in self.when.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a table of a recipe."""
        when = {
            column: {end: bound for end, bound in zip(("from", "to"), asked, strict=True) if bound is not None}
            if isinstance(asked, tuple)
            else asked
            for column, asked in self.when.items()
        }
        return {"when": when, "then": self.then, "confidence": self.confidence}


def as_rules(rules: Iterable[Rule | Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Return rules, also where they come as tables of a recipe."""
    found = []
    for rule in rules:
        if isinstance(rule, Mapping):
            if set(rule) != set(_PARTS):
                raise RecipeError(f"a rule has the parts {', '.join(_PARTS)}.")
            rule = Rule(**rule)
        if not isinstance(rule, Rule):
            raise RecipeError("rules is a list of rules, each a table with when, then and confidence.")
        found.append(rule)
    return tuple(found)


def masks_by_value(
    rules: Sequence[Rule], sensitive: Tree, trees: Mapping[str, Tree], columns: Sequence[str]
) -> list[tuple[int, Mask, float]]:
    """Return each rule's sensitive code (-1 for a value that nobody has), whom it speaks of, and its confidence."""
    codes = {text: code for code, text in enumerate(as_text(sensitive.values).fill_null("").to_list())}
    masks = [rule.masks(trees, columns) for rule in rules]
    _refuse_overlap(rules, masks)
    return [(codes.get(str(rule.then), -1), mask, rule.confidence) for rule, mask in zip(rules, masks, strict=True)]


def _refuse_overlap(rules: Sequence[Rule], masks: Sequence[Mask]) -> None:
    for (rule, mask), (other, other_mask) in combinations(zip(rules, masks, strict=True), 2):
        shared = mask.keys() & other_mask.keys()
        if rule.then == other.then and all((mask[column] & other_mask[column]).any() for column in shared):
            raise SchemaError("two rules are about the same people and value.  Hint: make them exclude each other.")


def _condition(asked: Any) -> Any:
    if isinstance(asked, Mapping):
        if not asked or not set(asked) <= _ENDS:
            raise RecipeError("a rule's range is written {from = 40, to = 60}; either end may be left out.")
        return (asked.get("from"), asked.get("to"))
    return asked
