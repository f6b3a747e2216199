"""Levels that are stated beforehand, a number for each of some columns: what several methods take, and read alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from incrowd.common.parameters import require_whole
from incrowd.dp.boxes.box_cuts import Cut
from incrowd.errors import RecipeError
from incrowd.methods.lattice import LevelLimits, require_known

if TYPE_CHECKING:
    from incrowd.methods.private import PublicTable


def require_levels(owner: str, levels: object) -> None:
    """Refuse anything but whole numbers from 0 on by column."""
    if not isinstance(levels, Mapping):
        raise RecipeError(f"{owner}: levels are a number for each of some columns, not {levels!r}.")
    for column, level in levels.items():
        require_whole(owner, f"the level of {column}", level, at_least=0)


def cuts_at_levels(table: PublicTable, levels: Mapping[str, int]) -> list[Cut]:
    """Return each column of a public table in the nodes of its level, in its values where no level is stated."""
    require_known(list(levels), table.columns)
    limits = LevelLimits(levels, levels)
    return [
        Cut.at_level(tree, limits.of(name, tree.height).start, missing=missing)
        for name, tree, missing in zip(table.columns, table.trees, table.missing, strict=True)
    ]
