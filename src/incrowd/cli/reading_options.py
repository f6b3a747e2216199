"""Options that tell how a table is read, the same for every command that reads one.

A command takes all of them as one argument, `reading`, and is decorated with `takes_reading_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

Reading = dict[str, Any]
"""The keywords of `incrowd.read` that are stated; nothing where nothing is."""

_PARAMETER = "reading"
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "query": (str | None, typer.Option(help="A SELECT or a table's name, for a database.")),
    "separator": (str | None, typer.Option(help="Separator of a CSV file (default: found out).")),
    "quote": (str | None, typer.Option(help='Sign around texts of a CSV file, or "" for none (default: found out).')),
    "encoding": (str | None, typer.Option(help="Encoding of a CSV file (default: found out).")),
    "missing": (list[str] | None, typer.Option(help='Text that means missing, such as "?"; repeat.')),
    "header": (
        str | None,
        typer.Option(
            help="Of a CSV file: no, if its first line is a row; the columns' names, separated by commas; or yes, if "
            "the first line holds names."
        ),
    ),
    "decimal": (str | None, typer.Option(help='Decimal sign of a CSV file, "," or "." (default: found out).')),
    "written": (
        list[str] | None,
        typer.Option(
            help="How a column of a CSV file is written: born=dd.mm.yyyy, income=1.234,5; repeat. Or plain: as it is "
            "(default: found out)."
        ),
    ),
    "exact_text": (
        bool,
        typer.Option("--exact-text", help="Tell texts apart that differ in spaces around them, or in Unicode."),
    ),
    "sheet": (str | None, typer.Option(help="Sheet of a workbook, by name or number (default: found out).")),
    "header_row": (
        int | None,
        typer.Option(min=1, help="Row of a workbook that names the columns (default: the first)."),
    ),
    "value_labels": (
        str | None,
        typer.Option(help="text or codes: how values with labels are shown (default: text)."),
    ),
    "missing_codes": (
        str | None,
        typer.Option(help="missing or values: what SPSS' codes for missing are (default: missing)."),
    ),
}


def takes_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options that tell how a table is read, in the place of its argument `reading`."""

    @wraps(command)
    def run(**given: Any) -> None:
        asked = {name: given.pop(name) for name in _OPTIONS}
        command(**given, **{_PARAMETER: _stated(asked)})

    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    for own in signature(command).parameters.values():
        if own.name != _PARAMETER:
            parameters.append(own.replace(annotation=hints[own.name]))
            continue
        for name, (kind, option) in _OPTIONS.items():
            default = False if kind is bool else None
            parameters.append(Parameter(name, own.kind, default=default, annotation=Annotated[kind, option]))
    # Typer, and `options_of`, read what a command takes from both of these.
    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {own.name: own.annotation for own in parameters} | {"return": None}
    return run


def _stated(asked: Reading) -> Reading:
    """Return what is stated as `incrowd.read` takes it."""
    sheet = asked["sheet"]
    told = {
        **asked,
        "missing": list(asked["missing"] or ()),
        "sheet": int(sheet) if sheet is not None and sheet.isdecimal() else sheet,  # digits are its number
        "header": stated_header(asked["header"]),
        "written": stated_ways(asked["written"]),
    }
    return {name: value for name, value in told.items() if value not in (None, []) and (value or name != "exact_text")}


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
