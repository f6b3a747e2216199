"""Words become their first letters: Rome → R… → anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_text, code_among


@dataclass(frozen=True)
class TinyHierarchy(Hierarchy):
    """Keep the first letters of a word.

    Parameters
    ----------
    letters : how many (default: 1).
    """

    letters: int = 1
    name: ClassVar[str] = "tiny-hierarchy"

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Put words with the same first letters together."""
        text = as_text(values)
        words = text.drop_nulls().unique()
        above = words.str.slice(0, self.letters) + "…"
        frame = pl.DataFrame({"word": words, "above": above}).sort("above", "word")
        tree = grow(column, frame["word"], "text", [frame["above"]], from_data=False)
        return tree, code_among(text, frame["word"])
