"""`incrowd experiment NAME`: a paper's evaluation as one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.command import Command
from incrowd.cli.stopping import stoppable

if TYPE_CHECKING:
    from incrowd.experiments.report import Findings

experiment = typer.Typer(
    help="Run a paper's evaluation: numbers, figures, and which of its claims hold.", no_args_is_help=True
)

_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="New directory for the results (default: NAME-experiment).")
]
_Rows = Annotated[list[str] | None, typer.Option("--rows", help="Sizes of the census; repeat, or separate by commas.")]
_TimeRows = Annotated[
    list[str] | None, typer.Option("--time-rows", help="Sizes of the census for times; repeat, or separate by commas.")
]
_Queries = Annotated[int | None, typer.Option(min=1, help="Random queries of each size.")]
_Folds = Annotated[int | None, typer.Option(min=2, help="Folds of the cross-validation.")]
_Repeats = Annotated[
    int | None, typer.Option(min=1, help="Runs with different seeds; a claim holds only if it holds in all.")
]
_Seed = Annotated[int, typer.Option(min=0, help="What chance starts from.")]
_Only = Annotated[
    list[str] | None, typer.Option("--only", help="Figures to measure, by number; repeat, or separate by commas.")
]
_Quick = Annotated[bool, typer.Option("--quick", help="A smaller run of a minute or so.")]
_Force = Annotated[bool, typer.Option("--force", help="Replace an experiment's results that are there already.")]
_Json = Annotated[bool, typer.Option("--json", help="Print what came out as JSON.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


@experiment.callback()
def experiments() -> None:
    """Run a paper's evaluation: numbers, figures, and which of its claims hold."""


@experiment.command()
@stoppable
def sattar(
    output: _Output = None,
    rows: _Rows = None,
    time_rows: _TimeRows = None,
    queries: _Queries = None,
    folds: _Folds = None,
    repeats: _Repeats = None,
    seed: _Seed = 0,
    only: _Only = None,
    quick: _Quick = False,
    force: _Force = False,
    as_json: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Sattar et al. (2013): expected confidence and local recoding against Mondrian and Laplace noise."""
    from incrowd.cli.output import showing_progress
    from incrowd.common.extras import require_extra
    from incrowd.experiments.report import require_place, write_report
    from incrowd.experiments.sattar import Settings, run

    changes: dict[str, Any] = {"seed": seed}
    given: dict[str, Any] = {"queries": queries, "folds": folds, "repeats": repeats, "rows": _numbers(rows, "--rows")}
    given |= {"time_rows": _numbers(time_rows, "--time-rows"), "only": _words(only)}
    changes |= {name: value for name, value in given.items() if value is not None}
    settings = Settings.quick(**changes) if quick else Settings(**changes)
    directory = output or Path("sattar-experiment")
    require_extra("experiments", "experiments and charts")
    require_place(directory, force=force)  # before the work, not after it
    with showing_progress(quiet=quiet or as_json) as progress:
        findings = run(settings, progress)
        report = write_report(findings, directory, force=force, progress=progress)
    _show(findings, report, as_json=as_json, quiet=quiet)


@experiment.command()
@stoppable
def slicing(
    output: _Output = None,
    rows: Annotated[int | None, typer.Option(min=100, help="Rows of the census.")] = None,
    time_rows: _TimeRows = None,
    queries: _Queries = None,
    l: Annotated[list[str] | None, typer.Option("--l", help="What ℓ to ask for; repeat, or use commas.")] = None,
    repeats: _Repeats = None,
    seed: _Seed = 0,
    quick: _Quick = False,
    force: _Force = False,
    as_json: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Li et al. (2012): generalization, bucketization and slicing under the same bound on guesses."""
    from incrowd.cli.output import showing_progress
    from incrowd.common.extras import require_extra
    from incrowd.experiments.report import require_place, write_report
    from incrowd.experiments.slicing import Settings, run

    given: dict[str, Any] = {"queries": queries, "rows": rows, "repeats": repeats, "l": _numbers(l, "--l")}
    given |= {"time_rows": _numbers(time_rows, "--time-rows")}
    changes = {"seed": seed, **{name: value for name, value in given.items() if value is not None}}
    settings = Settings.quick(**changes) if quick else Settings(**changes)
    directory = output or Path("slicing-experiment")
    require_extra("experiments", "experiments and charts")
    require_place(directory, force=force)  # before the work, not after it
    with showing_progress(quiet=quiet or as_json) as progress:
        findings = run(settings, progress)
        report = write_report(findings, directory, force=force, progress=progress)
    _show(findings, report, as_json=as_json, quiet=quiet)


@experiment.command()
@stoppable
def sdgs(output: _Output = None, force: _Force = False, as_json: _Json = False, quiet: _Quiet = False) -> None:
    """Li, Qardaji & Su (2012): sampling and suppression as differential privacy, Table 1, figures 1 to 7, theorem 2."""
    from incrowd.cli.output import showing_progress
    from incrowd.common.extras import require_extra
    from incrowd.experiments.report import require_place, write_report
    from incrowd.experiments.sdgs import run

    directory = output or Path("sdgs-experiment")
    require_extra("experiments", "experiments and charts")
    require_place(directory, force=force)
    with showing_progress(quiet=quiet or as_json) as progress:
        findings = run(progress)
        report = write_report(findings, directory, force=force, progress=progress)
    _show(findings, report, as_json=as_json, quiet=quiet)


@experiment.command()
@stoppable
def diffgen(
    output: _Output = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs that each number is the mean of.")] = None,
    repeats: _Repeats = None,
    seed: _Seed = 0,
    quick: _Quick = False,
    force: _Force = False,
    as_json: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Mohammed et al. (2011) and Qian et al.: accuracy and range counts of DiffGen and Consistent DiffGen."""
    from incrowd.cli.output import showing_progress
    from incrowd.common.extras import require_extra
    from incrowd.experiments.diffgen import Settings, run
    from incrowd.experiments.report import require_place, write_report

    given = {"runs": runs, "repeats": repeats}
    changes: dict[str, Any] = {"seed": seed, **{name: value for name, value in given.items() if value is not None}}
    settings = Settings.quick(**changes) if quick else Settings(**changes)
    directory = output or Path("diffgen-experiment")
    require_extra("experiments", "experiments and charts")
    require_place(directory, force=force)
    with showing_progress(quiet=quiet or as_json) as progress:
        findings = run(settings, progress)
        report = write_report(findings, directory, force=force, progress=progress)
    _show(findings, report, as_json=as_json, quiet=quiet)


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return tuple(word.strip() for text in given for word in text.split(",") if word.strip())


def _numbers(given: list[str] | None, option: str) -> tuple[int, ...] | None:
    words = _words(given)
    if words is None:
        return None
    try:
        numbers = tuple(int(word.replace("_", "")) for word in words)
    except ValueError:
        raise typer.BadParameter("it is whole numbers, such as 25000,50000", param_hint=option) from None
    if not numbers or min(numbers) < 1:
        raise typer.BadParameter("it is whole numbers above 0, such as 25000,50000", param_hint=option)
    return numbers


def _show(findings: Findings, report: Path, *, as_json: bool, quiet: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from incrowd.cli.output import print_json

    if as_json:
        print_json({"report": str(report), **findings.summary()})
        return
    if quiet:
        return
    styles = {
        "holds": "green",
        "holds in one run": "yellow",
        "holds in part": "yellow",
        "does not hold": "red",
        "not measured": "dim",
    }
    table = Table(title="Which of the paper's claims hold here", title_justify="left")
    for name in ("claim", "verdict", "evidence"):
        table.add_column(name)
    for claim, verdict in findings.verdicts:
        said = Text(verdict.holding, style=styles[verdict.holding])
        table.add_row(Text(f"{claim.text} ({claim.where})"), said, Text(verdict.evidence))
    console = Console()
    console.print(table)
    for note in findings.notes:
        console.print(Text(f"- {note}"))
    console.print(Text(f"{findings.results.height:,} numbers in {findings.seconds:,.0f} s; see {report}"))


COMMANDS = (Command(experiment, place=120, name="experiment"),)
