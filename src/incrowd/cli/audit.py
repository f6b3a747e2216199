"""`incrowd audit` and `incrowd attack`: what a release withstands, and what it is still good for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.command import Command
from incrowd.cli.reading_options import Reading, takes_reading_options
from incrowd.common.paths import is_there

if TYPE_CHECKING:
    from rich.table import Table

    from incrowd.core.risk import Risk
    from incrowd.publishing.release import Release

_RELEASE = typer.Argument(
    help="A release's directory, a release in a database, or any published file (with --description)."
)
_ORIGINAL = typer.Option("--original", help="The table that the release was made from: only it tells who is right.")
_EXTERNAL = typer.Option("--external", help="A table about people that an adversary may have.")
_EARLIER = typer.Option("--earlier", help="Another release about overlapping people; repeat.")
_DESCRIPTION = typer.Option("--description", help="What the columns of a foreign release are (TOML), or a recipe.")
_THREADS = typer.Option(min=1, help="How many threads there may be (default: INCROWD_THREADS, or one for each core).")
_SEED = typer.Option(min=0, help="Picks the people who are attacked and the queries that are asked.")


@takes_reading_options
def audit(
    release: Annotated[str, _RELEASE],
    original: Annotated[str | None, _ORIGINAL] = None,
    external: Annotated[str | None, _EXTERNAL] = None,
    earlier: Annotated[list[Path] | None, _EARLIER] = None,
    description: Annotated[Path | None, _DESCRIPTION] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the audit there: .html for a page, .json for numbers.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="Counting queries that matter to you, in a TOML file: [\\[queries]]."),
    ] = None,
    learning: Annotated[bool, typer.Option(help="Also teach classifiers (takes some seconds more).")] = True,
    remedies: Annotated[
        bool, typer.Option(help="Also measure which options would change the findings (takes some 10 seconds more).")
    ] = True,
    seed: Annotated[int, _SEED] = 0,
    threads: Annotated[int | None, _THREADS] = None,
    *,
    reading: Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON.")] = False,
) -> None:
    """Attack a release in every way, measure what it is still good for and what to do, and say to whom it may go.

    Exit code 1 if the release does not satisfy what it is said to satisfy.
    """
    from rich.console import Console
    from rich.text import Text

    from incrowd.auditing.run import audit as audit_release
    from incrowd.cli.output import print_json, showing_progress, summary_table
    from incrowd.errors import escaped

    with showing_progress(quiet=as_json) as progress:
        table = _original(original, reading)
        opened, others = _open(release, table, external, earlier, description, progress)
        found = audit_release(
            opened,
            original=table if others else None,  # other releases may have columns that this one has not
            external=external,
            earlier=others,
            queries=queries,
            learn=learning,
            remedies=remedies,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        written = None if output is None else found.save(output)
    if as_json:
        print_json(found.to_dict())
        _fail_for_false_claims(found.false_claims)
        return
    console = Console()
    said = found.recommendation.to_dict()
    style = {"the public": "bold green", "known recipients": "bold yellow", "nobody outside": "bold red"}
    console.print(Text(escaped(said["sentence"]), style=style[said["may go to"]]))
    console.print(Text(said["note"], style="dim"))
    console.print()
    console.print(summary_table("Audited", _verdict_lines(found.verdict)))
    console.print()
    console.print(_risks_table(found.attacks))
    console.print()
    todo = [
        (remedy.name, remedy.says.removeprefix(f"{remedy.name}: "))
        for remedy in found.remedies.found
        if found.remedies.rows or not remedy.why_not  # or the note says it of all of them
    ]
    console.print(summary_table("What to do", [*todo, ("", found.remedies.note)]))
    if found.skipped:
        console.print()
        console.print(summary_table("Not tried or measured", [(entry.what, entry.why) for entry in found.skipped]))
    for warning in found.warnings:
        console.print(Text.assemble(("note", "yellow"), " ", escaped(warning)))
    if written is not None:
        console.print(f"\nwritten to {written}", highlight=False)
    _fail_for_false_claims(found.false_claims)


@takes_reading_options
def attack(
    release: Annotated[str, _RELEASE],
    with_: Annotated[
        list[str] | None, typer.Option("--with", "-w", help="Name of an attack; repeat (default: all of them).")
    ] = None,
    original: Annotated[str | None, _ORIGINAL] = None,
    external: Annotated[str | None, _EXTERNAL] = None,
    earlier: Annotated[list[Path] | None, _EARLIER] = None,
    description: Annotated[Path | None, _DESCRIPTION] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", help='Show one person\'s ladder: "age=34, sex=F" in the order they are learnt.'),
    ] = None,
    seed: Annotated[int, _SEED] = 0,
    threads: Annotated[int | None, _THREADS] = None,
    *,
    reading: Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Try some attacks on a release; or follow one person through it, attribute by attribute."""
    from rich.console import Console
    from rich.text import Text

    from incrowd.auditing.run import aim, attack_all, every_attack
    from incrowd.cli.output import print_json, showing_progress, summary_table
    from incrowd.common.threads import using
    from incrowd.errors import escaped

    with showing_progress(quiet=as_json) as progress, using(threads):
        table = _original(original, reading)
        opened, others = _open(release, table, external, earlier, description, progress)
        target, _ = aim(opened, original=table if others else None, external=external, earlier=others, seed=seed)
        if person is not None:
            rungs = _climb(target, person)
        else:
            chosen = _chosen(every_attack(target), with_)
            risks, skipped = attack_all(target, chosen, seed=seed, progress=progress)
    if person is not None:
        lines = [
            (rung["learnt"], f"{rung['before']:,} in the table, {rung['after']:,} in the release") for rung in rungs
        ]
        print_json(rungs) if as_json else Console().print(summary_table("Crowd by what is known", lines))
        return
    if as_json:
        told = [{"what": entry.what, "why": entry.why} for entry in skipped]
        print_json({"attacks": [risk.to_dict() for risk in risks], "not tried": told})
        return
    console = Console()
    console.print(_risks_table(risks))
    for entry in skipped:
        console.print(Text(escaped(f"{entry.what}: not tried, {entry.why}")))


def _fail_for_false_claims(claims: Sequence[str]) -> None:
    """A release that does not satisfy what it claims has failed, whatever else is found of it."""
    if claims:
        raise typer.Exit(1)


def _original(original: str | None, reading: Reading) -> object:
    """Return the table before; it is read as the release's recipe says, unless options say otherwise."""
    if not reading:
        return original
    if original is None:
        options = " and ".join("--" + name.replace("_", "-") for name in reading)
        raise typer.BadParameter(f"{options} tells how the table before is read: name it", param_hint="--original")
    from incrowd.core.source import ReadOptions
    from incrowd.sources import open_table

    return open_table(original, ReadOptions(**reading, lists=None))


def _open(
    release: str,
    original: object,
    external: str | None,
    earlier: list[Path] | None,
    description: Path | None,
    progress: Any,
) -> tuple[Release, list[Release]]:
    """Open a release and those before it; all are read by the same values."""
    from incrowd.publishing.opening.open_release import open_release

    progress("reading", 0.0)
    opened = open_release(release, description=description, original=original, external=external)
    # Another release may have columns and hierarchies of its own, so it is read by its own recipe if it has one.
    others = [
        _open_other(path, None if is_there(path / "recipe.toml") else description, original, external)
        for path in earlier or []
    ]
    progress("reading", 1.0)
    return opened, others


def _open_other(path: Path, description: Path | None, original: object, external: str | None) -> Release:
    """Open another release: by the values of the table, or, where it has others, by those of its own labels."""
    from incrowd.errors import HierarchyError, SchemaError, UncoveredValue, UnreadableLabel
    from incrowd.publishing.opening.open_release import open_release

    try:
        return open_release(path, description=description, original=original, external=external)
    except (HierarchyError, SchemaError, UncoveredValue, UnreadableLabel):
        return open_release(path, description=description)


def _chosen(attacks: Sequence[Any], names: list[str] | None) -> list[Any]:
    from incrowd.errors import AttackError, did_you_mean

    known = sorted({attack.name for attack in attacks})
    for name in names or []:
        if name not in known:
            raise AttackError(f"there is no attack '{name}'.{did_you_mean(name, known)}")
    return [attack for attack in attacks if not names or attack.name in names]


def _climb(target: Any, person: str) -> list[dict[str, Any]]:
    import numpy as np
    import polars as pl

    from incrowd.attacks.ladder import ladder
    from incrowd.errors import AttackError, did_you_mean
    from incrowd.hierarchies.coding import code_values

    given: dict[str, str] = {}
    for part in person.split(","):
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in target.view.columns:
            raise AttackError(
                f"a person is described by quasi-identifiers, as in age=34: '{part.strip()}' is not."
                + did_you_mean(name.strip(), target.view.columns)
            )
        given[name.strip()] = value.strip()
    codes = np.zeros(len(target.view.columns), dtype=np.int32)
    for place, name in enumerate(target.view.columns):
        if name in given:
            codes[place] = code_values(target.view.trees[name], pl.Series([given[name]]))[0]
            if codes[place] < 0:
                raise AttackError(f"'{name}' has no such value in the table.")
    rungs = ladder(target, codes, [*given, *(name for name in target.view.columns if name not in given)])
    return [{"learnt": rung.learnt, "before": rung.before, "after": rung.after} for rung in rungs[: len(given) + 1]]


def _verdict_lines(verdict: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("claimed, and not so", claim) for claim in verdict.get("false claims", [])]
    lines += [("guaranteed", promise) for promise in verdict["guaranteed"]]
    strongest = verdict["strongest attack"]
    if strongest is None:
        lines.append(("strongest attack", "none did better than guessing"))
    else:
        plain = f" ({strongest['plain name']})" if "plain name" in strongest else ""
        lines.append(("strongest attack", f"{strongest['attack']}{plain}: {strongest['says']}"))
    lines += [("good for", said) for said in verdict["good for"]]
    return lines + [(threat, found["level"]) for threat, found in verdict["threats"].items()]


def _risks_table(risks: Sequence[Risk]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from incrowd.report.numbers import percent

    table = Table(title="Attacks", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for name in ("attack", "threat"):
        table.add_column(name)
    for name in ("right", "95 % interval", "baseline"):
        table.add_column(name, justify="right")
    table.add_column("got through")
    table.add_column("level")
    for risk in sorted(risks, key=lambda risk: (not risk.got_through, -risk.advantage)):
        name = risk.attack if risk.column is None else f"{risk.attack} ({risk.column})"
        table.add_row(
            Text(name),
            risk.threat,
            percent(risk.value, 2),
            f"{percent(risk.low)} to {percent(risk.high)}",
            percent(risk.baseline, 2),
            Text("yes", style="red") if risk.got_through else Text("no", style="green"),
            Text(risk.level, style={"low": "green", "noticeable": "yellow", "high": "red"}[risk.level]),
        )
    return table


COMMANDS = (
    Command(audit, place=60),
    Command(attack, place=70),
)
