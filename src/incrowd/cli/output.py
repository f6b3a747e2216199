"""What several commands show: a console, progress, a release's summary."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from incrowd.common.progress import Progress

_SECONDS_BEFORE_PROGRESS = 2.0
_SOME_LABELS = 4


def print_json(data: Any) -> None:
    """Print data for a machine, and nothing else."""
    utf8 = (sys.stdout.encoding or "").lower() in ("utf-8", "utf8")
    typer.echo(json.dumps(data, indent=2, ensure_ascii=not utf8))


@contextmanager
def showing_progress(*, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar with the time left on the error stream, for work that takes longer than two seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from incrowd.cli.stopping import heeding
    from incrowd.common.progress import silent

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield heeding(silent)
        return
    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("· left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def report(stage: str, done: float) -> None:
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=None)
        # A share of 0 says nothing about the time left: the bar pulses until there is a first result.
        bar.update(tasks[stage], completed=done, total=1.0 if done > 0 else None)

    timer = threading.Timer(_SECONDS_BEFORE_PROGRESS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield heeding(report)
    finally:
        timer.cancel()
        bar.stop()


def summary_table(title: str, lines: Sequence[tuple[str, str]]) -> Table:
    """Lay out pairs of words and values."""
    from rich.table import Table
    from rich.text import Text

    from incrowd.errors import escaped

    table = Table(title=title, show_header=False, box=None, padding=(0, 2, 0, 0), title_justify="left")
    for word, value in lines:
        table.add_row(Text(escaped(word), style="bold"), Text(escaped(value)))
    return table


def release_lines(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a release's summary as words and values; a private one does not tell how many rows there were."""
    rows, groups, loss = summary["rows"], summary["groups"], summary["loss"]
    told = f"{rows['published']:,} published"
    if "in" in rows:
        told = f"{rows['in']:,} in = {told} + {rows['withheld']:,} withheld"
    mean = rows["published"] / max(groups["number"], 1)
    people = summary.get("people")
    of_people = []
    if people is not None:
        among = f"{people['in the smallest group']:,} to {people['in the largest group']:,} in a group"
        of_people = [("people", f"{people['published']:,} published, {among}")]
    lines = [
        ("rows", told),
        *of_people,
        *(("guarantee", _guarantee(promise)) for promise in summary["guarantees"]),
        (
            "groups",
            f"{groups['number']:,}, of {groups['smallest']:,} to {groups['largest']:,} rows, {mean:.1f} on average",
        ),
    ]
    if "method tells" in summary:
        lines.append(("withheld", "; ".join(f"{number:,} {why}" for why, number in summary["method tells"].items())))
    lines += [(f"column {name}", _recoded(column)) for name, column in _columns(summary)]
    for name, told in summary.get("changes", {}).items():
        lines.append((f"column {name}", ", then ".join(str(change["says"]) for change in told)))
    if "weights" in summary:
        lines.append(("weights", _weights(summary["weights"])))
    if "gcp" in loss:
        lines.append(("information loss", f"{loss['gcp']:.1%} (GCP); discernibility {loss['discernibility']:,.0f}"))
    if "ncp" in loss:
        lines.append(("most generalized", _widest(loss["ncp"])))
    return [*lines, *(("note", warning) for warning in summary["warnings"])]


def _columns(summary: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the columns of a release's scheme, with what became of each."""
    return list(summary.get("scheme", {}).get("columns", {}).items())


def _recoded(column: Mapping[str, Any]) -> str:
    """Return which level or cuts a column got, with its first labels."""
    from incrowd.forms.told_scheme import recoded_says

    some = column["labels"][:_SOME_LABELS]
    more = ", …" if column["number of labels"] > len(some) else ""
    return f"{recoded_says(dict(column))}: {', '.join(some)}{more}"


def _weights(told: Mapping[str, Any]) -> str:
    kept, changed = told["kept as they are"], told["replaced by a mean"]
    before, after = told["total before"], told["total as published"]
    return f"{kept:,} kept, {changed:,} replaced by a mean; total {after:,.6g}, before {before:,.6g}"


def _guarantee(promise: Mapping[str, Any]) -> str:
    achieved = "" if promise["basis"] == "by construction" else f"; achieved {_achieved(promise['achieved'])}"
    note = f"; {promise['note']}" if promise.get("note") else ""
    return f"{promise['statement']}, {promise['basis']}{achieved}{note}"


def _achieved(value: float | None) -> str:
    return "no bound" if value is None else f"{value:.4g}"


def _widest(penalties: Mapping[str, float]) -> str:
    widest = sorted(penalties.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{name} {penalty:.1%}" for name, penalty in widest)
