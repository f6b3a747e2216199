"""The recipe that gives a new table the labels of a release in files: its own, with another source and method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.core.show import ALL
from incrowd.errors import RecipeError
from incrowd.methods.scheme import Scheme
from incrowd.publishing.recipe import Recipe
from incrowd.sources.spss import SpssFile
from incrowd.sources.stata import StataFile

_ABOUT_TEXTS, _ABOUT_LABELS = ("missing", "exact_text"), ("value_labels", "missing_codes")
"""What tells which cells are one value must be the same for both tables; how their files are written need not."""


def recipe_to_apply(release: Path, source: str, reading: Mapping[str, Any]) -> Recipe:
    """Return the recipe; `reading` is how the new file is read, where that is stated."""
    recipe = Recipe.load(release / "recipe.toml")
    if recipe.tables:
        raise RecipeError(
            f"{release} has linked tables, and a scheme is that of one table.  Hint: apply it in Python to tables that "
            "`incrowd.read_tables` links."
        )
    labelled = Path(source).suffix.lower() in (*SpssFile.suffixes, *StataFile.suffixes)
    told = (*_ABOUT_TEXTS, *(_ABOUT_LABELS if labelled else ()))
    kept = {key: value for key, value in recipe.source.items() if key in told}
    place = {"url": source} if "://" in source else {"path": str(Path(source).absolute())}
    return replace(
        recipe,
        source={**place, **kept, **reading},
        roles={name: role for name, role in recipe.roles.items() if role != "drop"},
        others="drop",
        method=Scheme(str(release.absolute())),
        form=None,
        sample=1,
        output={},
        show={ALL: "label", **recipe.show},
    )
