"""The option `--if-unsafe`: what becomes of a release that would tell too much together with earlier ones."""

from __future__ import annotations

from typing import Literal

import typer


def as_way(given: str | None) -> Literal["refuse", "withhold"] | None:
    """Return what was asked for, or refuse another word."""
    if given is None:
        return None
    if given == "refuse":
        return "refuse"
    if given == "withhold":
        return "withhold"
    raise typer.BadParameter("it is refuse or withhold", param_hint="--if-unsafe")
