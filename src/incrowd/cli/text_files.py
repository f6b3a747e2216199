"""Options that say how a CSV file is written, for every command that reads one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Header = Annotated[
    str | None,
    typer.Option(
        "--header",
        help="Of a CSV file: no, if its first line is a row; the columns' names, separated by commas; or yes, if the "
        "first line holds names.",
    ),
]
DecimalSign = Annotated[
    str | None, typer.Option("--decimal", help='Decimal sign of a CSV file, "," or "." (default: found out).')
]
WrittenAs = Annotated[
    list[str] | None,
    typer.Option(
        "--written",
        help="How a column of a CSV file is written: born=dd.mm.yyyy, income=1.234,5; repeat. Or plain: as it is "
        "(default: found out).",
    ),
]


def stated_header(text: str | None) -> bool | list[str] | None:
    """Return what `--header` says.

    >>> stated_header("no"), stated_header("age, sex"), stated_header(None)
    (False, ['age', 'sex'], None)
    """
    if text is None or text in ("yes", "no"):
        return None if text is None else text == "yes"
    return [name.strip() for name in text.split(",")]


def stated_ways(texts: Sequence[str] | None) -> dict[str, str] | str | None:
    """Return what `--written` says.

    >>> stated_ways(["born=dd.mm.yyyy", "a=b=1.234,5 €"]), stated_ways(["plain"]), stated_ways(None)
    ({'born': 'dd.mm.yyyy', 'a=b': '1.234,5 €'}, 'plain', None)
    """
    if not texts or list(texts) == ["plain"]:
        return "plain" if texts else None
    ways: dict[str, str] = {}
    for text in texts:
        column, equals, way = text.rpartition("=")
        if not equals or not column:
            raise typer.BadParameter("write COLUMN=WAY, for example born=dd.mm.yyyy", param_hint="--written")
        ways[column] = way
    return ways
