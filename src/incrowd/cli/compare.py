"""`incrowd compare`: many ways to publish one table, side by side."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.command import Command

if TYPE_CHECKING:
    from rich.table import Table

    from incrowd.planning.compare import Candidate, Comparison

PAGE, NUMBERS, TABLE, KEPT = "comparison.html", "comparison.json", "comparison.csv", "results"


def compare(
    recipes: Annotated[
        list[Path],
        typer.Argument(
            help="Recipes; one may hold a grid of ways, in [\\[compare]]; one without is compared with what suits it."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory for the page, the numbers and the finished results.")
    ] = Path("comparison"),
    risk: Annotated[
        str, typer.Option(help="Which risk is compared: mean, worst, 'singling out', linkability or inference.")
    ] = "mean",
    loss: Annotated[str, typer.Option(help="Which loss is compared: queries, columns, pairs or learning.")] = "queries",
    learning: Annotated[bool, typer.Option(help="Also teach classifiers.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many at once (default: one for each core).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Makes chance repeatable.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Publish and attack a table in many ways; show what each gives away and what it is still good for.

    Finished results are kept in the output directory: an interrupted comparison goes on where it stopped.
    """
    from rich.console import Console
    from rich.text import Text

    from incrowd.cli.output import print_json, showing_progress
    from incrowd.core.release_directory import require_directory
    from incrowd.errors import escaped
    from incrowd.planning.compare import candidates_of
    from incrowd.planning.compare import compare as compare_all

    candidates = candidates_of(recipes)
    new = not os.path.lexists(output)  # `exists` fails where a name is too long
    require_directory(output)
    with showing_progress(quiet=as_json) as progress:
        found = compare_all(
            candidates,
            risk=risk,
            loss=loss,
            learn=learning or loss == "learning",
            keep=output / KEPT,
            jobs=jobs,
            seed=seed,
            progress=progress,
        )
        if new and not found.compared:
            shutil.rmtree(output, ignore_errors=True)  # a comparison of nothing leaves nothing behind
        _require_some(found)
        for name in (PAGE, NUMBERS, TABLE):
            found.save(output / name)
    if as_json:
        print_json(found.to_dict())
        return
    console = Console()
    console.print(ranking_table(found))
    for sentence in found.verdict:
        console.print(Text(escaped(sentence), style="bold"))
    for why, names in _failures(found).items():
        console.print(Text.assemble(("not made", "yellow"), " ", escaped(f"{', '.join(names)}: {why}")))
    for line in _what_to_write(found, candidates):
        console.print(Text(escaped(line)), soft_wrap=True)
    console.print(f"\nwritten to {output / PAGE}, {NUMBERS}, {TABLE}", highlight=False, markup=False)


def _what_to_write(found: Comparison, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Say which lines of a recipe make the best of both, unless an attack always beats that, too."""
    import tomli_w

    best = next((name for name, titles in found.winners.items() if "best of both" in titles), None)
    if best is None or any(point.always_beaten for point in found.points if point.name == best):
        return
    chosen = next(candidate for candidate in candidates if candidate.name == best)
    # Beside a recipe that names nothing to compare, only what differs from it.
    own = {} if candidates[0].asked_for else candidates[0].recipe
    parts = {key: chosen.recipe[key] for key in ("sample", "models", "method", "form") if chosen.recipe.get(key)}
    changed = {key: value for key, value in parts.items() if value != own.get(key)}
    if not changed:
        yield "To publish the best of both, publish the recipe as it is."
        return
    yield f"To publish {chosen.name}, write in the recipe:"
    yield from (f"  {line}" for line in tomli_w.dumps(changed).splitlines() if line)


def _failures(found: Comparison) -> dict[str, list[str]]:
    """Return why candidates were not compared, and which: many fail for the same reason."""
    reasons: dict[str, list[str]] = {}
    compared = {outcome.name for outcome in found.compared}
    for outcome in found.outcomes:
        if outcome.name not in compared:
            why = outcome.failed or f"it has no loss '{found.loss}' to compare.  Hint: choose another one with --loss."
            reasons.setdefault(why, []).append(outcome.name)
    return reasons


def _require_some(found: Comparison) -> None:
    """Refuse a comparison in which nothing could be made."""
    from incrowd.errors import RecipeError

    if not found.compared:
        reasons = _failures(found)
        told = "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items())
        raise RecipeError(
            f"none of the {len(found.outcomes)} ways can be made: "
            + (next(iter(reasons)) if len(reasons) == 1 else told)
        )


def ranking_table(found: Comparison) -> Table:
    """Lay out the ranking."""
    from rich.table import Table
    from rich.text import Text

    from incrowd.errors import escaped

    frontier = found.frontier
    table = Table(
        title="Risk and loss; ● is beaten by nothing on both", title_justify="left", box=None, padding=(0, 2, 0, 0)
    )
    table.add_column("")
    table.add_column("candidate")
    table.add_column("form")
    for name in (f"risk ({found.risk})", f"loss ({found.loss})", "seconds"):
        table.add_column(name, justify="right")
    for place, outcome in enumerate(found.ranked, start=1):
        risk, loss = found.point(outcome)
        on = outcome.name in frontier
        table.add_row(
            f"{place} ●" if on else f"{place}",
            Text(escaped(outcome.name), style="bold" if on else ""),
            outcome.form,
            f"{risk:.1%}",
            f"{loss:.1%}",
            f"{outcome.seconds:.1f}",
        )
    return table


COMMANDS = (Command(compare, place=80),)
