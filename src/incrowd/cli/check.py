"""`incrowd check`: what any table achieves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.command import Command
from incrowd.cli.reading_options import Reading, takes_reading_options

if TYPE_CHECKING:
    from incrowd.core.model import Model
    from incrowd.publishing.check import Check
    from incrowd.publishing.table import Table


@takes_reading_options
def check(
    file: Annotated[
        str, typer.Argument(help="The directory of a release, a file of any kind that is read, or a database URL.")
    ],
    quasi: Annotated[
        list[str] | None, typer.Option("--quasi", "-q", help="Quasi-identifiers; repeat, or separate by commas.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option("--sensitive", "-s", help="Sensitive columns; repeat, or separate by commas.")
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option("--person", "-p", help="Columns that tell whose a row is, where somebody has several rows."),
    ] = None,
    household: Annotated[
        list[str] | None, typer.Option("--household", help="Columns that tell who lives together.")
    ] = None,
    items: Annotated[str | None, typer.Option("--items", help="The column of sets of items, if there is one.")] = None,
    item_separator: Annotated[
        str | None, typer.Option(help='What stands between items of a text (default: ";").')
    ] = None,
    known_items: Annotated[int, typer.Option(help="How many items of a person may be known.", min=1, max=8)] = 2,
    each_row_a_person: Annotated[
        bool, typer.Option("--each-row-a-person", help="Each row is a person, although some column repeats.")
    ] = False,
    k: Annotated[int | None, typer.Option("--k", help="Fail (exit code 1) unless the table is k-anonymous.")] = None,
    l: Annotated[
        int | None, typer.Option("--l", help="Fail (exit code 1) unless every sensitive column is distinct l-diverse.")
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            "--recipe",
            help="Check the models of this recipe against its table; roles are the recipe's. Fail (exit code 1) if one "
            "does not hold.",
        ),
    ] = None,
    *,
    reading: Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Tell which models a table achieves, also one that was not made here; of a release, whether its claims hold."""
    from rich.console import Console

    from incrowd.cli.output import print_json, showing_progress, summary_table
    from incrowd.publishing.check import check as check_table
    from incrowd.publishing.check import is_saved_release
    from incrowd.sources.opening import locate

    if recipe is None and not quasi and not is_saved_release(file):
        place = locate(file).path  # a file that is not there is told first
        release = "" if place is None or not place.is_dir() else f"{place} holds no release (no summary.json); "
        raise typer.BadParameter(f"{release}name the quasi-identifiers, or a --recipe that does", param_hint="--quasi")
    with showing_progress(quiet=as_json) as progress:
        progress("counting", 0.0)
        original, models, sample = _asked(recipe)
        found = check_table(
            file,
            quasi=_names(quasi) if quasi else None,
            sensitive=_names(sensitive) if sensitive else None,
            person=_names(person) if person else (),
            household=_names(household) if household else (),
            items=items,
            item_separator=item_separator,
            known_items=known_items,
            each_row_a_person=each_row_a_person,
            require=models,
            original=original,
            sample=sample,
            **reading,
        )
    failures = _failures(found, k, l) + [
        f"{model.statement}: {model.note or f'{model.failing_rows:,} rows in {model.failing_groups:,} groups fail'}"
        for model in found.models
        if model.satisfied is False
    ]
    if as_json:
        print_json({**found.to_dict(), "failures": failures})
    else:
        Console().print(summary_table("Checked", [*_lines(found), *(("not satisfied", text) for text in failures)]))
    if failures:
        raise typer.Exit(1)


def _asked(recipe: Path | None) -> tuple[Table | None, tuple[Model, ...], float | str]:
    """Return the table and the models of a recipe, and the share of the table that it samples."""
    from incrowd.publishing.recipe import Recipe

    if recipe is None:
        return None, (), 1
    loaded = Recipe.load(recipe)
    return loaded.table(), loaded.models, loaded.sample


def _names(given: list[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _failures(found: Check, k: int | None, l: int | None) -> list[str]:
    failures = []
    if k is not None and (found.k is None or found.k < k):
        failures.append(f"{k}-anonymity: k is {'not known' if found.k is None else found.k}")
    if k is not None and found.households is not None and found.households < k:
        failures.append(f"{k}-anonymity of households: k is {found.households}")
    if k is not None:
        few = {size: people for size, people in found.items.items() if people is not None and people < k}
        failures += [f"{size} known items: {people} people are left" for size, people in few.items()]
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
    counted = found.rows if found.people is None else found.people
    lines = [
        ("rows", f"{found.rows:,} in {found.groups:,} groups"),
        *([] if found.people is None else [("people", f"{found.people:,}; whatever follows counts people")]),
    ]
    if found.k is None or found.unique_rows is None:
        lines.append(("k-anonymity", "not known: people have several rows, and the files do not tell whose a row is"))
    else:
        unique = "unique rows" if found.people is None else "people who are unique"
        lines += [
            ("k-anonymity", f"k = {found.k}"),
            *([] if found.households is None else [("of households", f"k = {found.households}")]),
            *([] if found.smallest_bucket is None else [("buckets", f"of at least {found.smallest_bucket:,} rows")]),
            (unique, f"{found.unique_rows:,} ({found.unique_rows / max(counted, 1):.1%})"),
        ]
    lines += [
        ("groups by size", ", ".join(f"{size}: {number:,}" for size, number in found.by_size.items())),
    ]
    for size, people in found.items.items():
        lines.append((f"{size} known items", "shown by nobody" if people is None else f"leave {people:,} people"))
    if found.outside:
        lines.append(("no guarantee speaks of", ", ".join(found.outside)))
    for model in found.models:
        verdict = {True: "holds", False: "does not hold", None: "cannot be judged"}[model.satisfied]
        reached = "" if model.achieved is None else f", achieved {model.achieved:.4g}"
        note = f" ({model.note})" if model.note and model.satisfied is not False else ""
        lines.append((model.statement, verdict + reached + note))
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


COMMANDS = (Command(check, place=50),)
