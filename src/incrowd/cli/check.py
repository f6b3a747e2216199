"""`incrowd check`: what any table achieves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from incrowd.checking import Check


def check(
    file: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or a database URL.")],
    quasi: Annotated[
        list[str], typer.Option("--quasi", "-q", help="Quasi-identifiers; repeat, or separate by commas.")
    ],
    sensitive: Annotated[
        list[str] | None, typer.Option("--sensitive", "-s", help="Sensitive columns; repeat, or separate by commas.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Fail (exit code 1) unless the table is k-anonymous.")] = None,
    l: Annotated[
        int | None, typer.Option("--l", help="Fail (exit code 1) unless every sensitive column is distinct l-diverse.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="A SELECT or a table's name, for a database.")] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of a CSV file (default: found out).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a CSV file (default: found out).")] = None,
    missing: Annotated[list[str] | None, typer.Option(help='Text that means missing, such as "?"; repeat.')] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Tell which models a table achieves, also one that was not made here."""
    from rich.console import Console

    from incrowd.checking import check as check_table
    from incrowd.cli.showing import print_json, showing_progress, summary_table

    with showing_progress(quiet=as_json) as progress:
        progress("counting", 0.0)
        found = check_table(
            file,
            quasi=_names(quasi),
            sensitive=_names(sensitive or []),
            query=query,
            separator=separator,
            encoding=encoding,
            missing=missing or (),
        )
    failures = _failures(found, k, l)
    if as_json:
        print_json({**found.to_dict(), "failures": failures})
    else:
        Console().print(summary_table("Checked", [*_lines(found), *(("not satisfied", text) for text in failures)]))
    if failures:
        raise typer.Exit(1)


def _names(given: list[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _failures(found: Check, k: int | None, l: int | None) -> list[str]:
    failures = []
    if k is not None and found.k < k:
        failures.append(f"{k}-anonymity: k is {found.k}")
    if l is not None:
        if not found.sensitive:
            failures.append(f"distinct {l}-diversity: no sensitive column was named")
        failures += [
            f"distinct {l}-diversity of {name}: l is {column.distinct_l}"
            for name, column in found.sensitive.items()
            if column.distinct_l < l
        ]
    return failures


def _lines(found: Check) -> list[tuple[str, str]]:
    lines = [
        ("rows", f"{found.rows:,} in {found.groups:,} groups"),
        ("k-anonymity", f"k = {found.k}"),
        ("unique rows", f"{found.unique_rows:,} ({found.unique_rows / found.rows:.1%})"),
        ("groups by size", ", ".join(f"{size}: {number:,}" for size, number in found.by_size.items())),
    ]
    for name, column in found.sensitive.items():
        bound = "for no c" if column.recursive_c is None else f"for c > {column.recursive_c:.4g}"
        lines.append(
            (
                f"l-diversity of {name}",
                f"distinct l = {column.distinct_l}, entropy l = {column.entropy_l:.4g}, "
                f"probabilistic l = {column.probabilistic_l:.4g}, recursive (c,2) {bound}",
            )
        )
    return lines
