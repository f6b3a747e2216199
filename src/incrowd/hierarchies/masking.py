"""Masking: characters of a code are replaced one after the other, from either end (75001 → 7500* → 750**)."""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.errors import HierarchyError
from incrowd.hierarchies import labels
from incrowd.hierarchies.hierarchy import HiddenCharacters, Hierarchy
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_text, code_among

_LONGEST = 32


@dataclass(frozen=True)
class Masking(Hierarchy):
    """Replace characters by a mask.

    Parameters
    ----------
    side : "right" or "left": where masking starts (default: "right").
    steps : how many characters are masked at each level, ascending (default: 1, 2, 3, …).
    mask : the character that replaces others (default: "*").

    >>> tree, codes = Masking().build("zip", pl.Series(["75001", "75002", "75110"]))
    >>> tree.names[2].to_list()
    [None, '750**', '751**']
    """

    side: Literal["right", "left"] = "right"
    steps: tuple[int, ...] = ()
    mask: str = "*"
    name: ClassVar[str] = "masking"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        if self.side not in ("right", "left"):
            raise HierarchyError(f"masking: side is 'right' or 'left', not '{self.side}'.")
        if len(self.mask) != 1:
            raise HierarchyError("masking: the mask is one character.")
        if any(a >= b for a, b in zip((0, *self.steps), self.steps, strict=False)):
            raise HierarchyError("masking: steps are ascending numbers of characters, from 1.")

    def hidden_characters(self, name: str) -> HiddenCharacters | None:
        """Return how many characters at the side are the mask."""
        left = name.rstrip(self.mask) if self.side == "right" else name.lstrip(self.mask)
        return HiddenCharacters(len(name) - len(left), self.side, self.mask) if len(left) < len(name) else None

    def placed(self, values: pl.Series) -> pl.Series:
        """Take codes for missing that have too few characters for the last step, or hold the mask itself."""
        text = as_text(values)
        long_enough = text.str.len_chars() > max(self.steps, default=0)
        return pl.select(pl.when(long_enough & ~text.str.contains(self.mask, literal=True)).then(text)).to_series()

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Mask every distinct value step by step."""
        text = as_text(values)
        distinct = text.drop_nulls().unique()
        longest = max(distinct.str.len_chars().to_list(), default=1)
        if longest > _LONGEST and not self.steps:
            raise HierarchyError(
                f"column '{column}': values of up to {longest} characters would need as many levels.  "
                "Hint: give masking its steps, or another hierarchy."
            )
        if self.mask == labels.ANY and longest > 1 and (distinct.str.len_chars() == 1).any():
            raise HierarchyError(
                f"column '{column}': a value of one character would be masked to '*', which stands for anything.  "
                "Hint: choose another mask, such as '#'."
            )
        steps = [step for step in (self.steps or range(1, longest)) if step < longest]
        frame = pl.DataFrame({"0": distinct}).with_columns(
            self._masked(step).alias(str(level)) for level, step in enumerate(steps, start=1)
        )
        # Nodes are in one piece when values are sorted by their ancestors from the top.
        frame = frame.sort([str(level) for level in range(len(steps), -1, -1)])
        leaves, *ancestors = frame.get_columns()
        try:
            tree = grow(column, leaves, "text", ancestors, from_data=False)
        except HierarchyError:  # whose message would quote the value
            raise HierarchyError(
                f"column '{column}': a value looks like the masked form of others.  Hint: choose another mask."
            ) from None
        return tree, code_among(text, leaves)

    def _masked(self, step: int) -> pl.Expr:
        value = pl.col("0")
        length = value.str.len_chars().cast(pl.Int64)
        hidden = pl.min_horizontal(length, pl.lit(step))
        mask = pl.lit(self.mask).repeat_by(hidden).list.join("")
        if self.side == "right":
            return pl.concat_str(value.str.slice(0, length - hidden), mask)
        return pl.concat_str(mask, value.str.slice(hidden))
