"""`incrowd evidence`: what a reviewer asks about a release, on one page, signed; and verifying it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.command import Command


def evidence(
    release: Annotated[
        Path | None, typer.Argument(help="A release's directory; with --verify, the directory of the evidence.")
    ] = None,
    original: Annotated[
        str | None, typer.Option("--original", help="The table that the release was made from: initial risk needs it.")
    ] = None,
    external: Annotated[
        str | None, typer.Option("--external", help="A table about people that an adversary may have.")
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option("--earlier", help="Another release about overlapping people; repeat.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Recipients, controls, agreement, thresholds: a TOML file.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option("--ledger", help="The ledger of the data holding.")] = None,
    ledger_key: Annotated[
        Path | None, typer.Option("--ledger-key", help="Its key (default: beside the directory, NAME.key).")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Sign with this secret key of the steward.")] = None,
    signed_by: Annotated[str | None, typer.Option("--signed-by", help="Who signs: a name, an office.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory (default: RELEASE-evidence, beside it).")
    ] = None,
    learning: Annotated[bool, typer.Option(help="Also teach classifiers (takes some seconds more).")] = True,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify signed evidence; neither data nor ledger are needed.")
    ] = False,
    public_key: Annotated[
        Path | None, typer.Option("--public-key", help="With --verify: the steward's public key, ending in .pub.")
    ] = None,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", help="Make a key of a steward: this file, and FILE.pub.")
    ] = None,
    questions: Annotated[
        bool, typer.Option("--questions", help="Print a file of questions, to answer and give as --answers.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write what a reviewer asks about RELEASE as one page and one JSON, and sign it. It is no legal determination.

    With --verify, exit code 1 if one byte was changed.
    """
    if questions:
        from incrowd.evidence.context import questions_file

        typer.echo(questions_file(), nl=False)
        return
    if new_key is not None:
        _make_key(new_key)
        return
    if release is None:
        raise typer.BadParameter("name the directory of a release", param_hint="RELEASE")
    if verify:
        _verify(release, public_key, as_json=as_json)
        return
    if key is not None and not signed_by:
        raise typer.BadParameter("say who signs: --signed-by NAME", param_hint="--signed-by")
    from incrowd.cli.output import print_json, showing_progress
    from incrowd.evidence import make_evidence, sign
    from incrowd.evidence import verify as verify_signature
    from incrowd.evidence.context import Context
    from incrowd.ledger import Ledger
    from incrowd.publishing.opening.open_release import open_release

    place = output or release.parent / f"{release.name}-evidence"
    context = None if answers is None else Context.load(answers)
    book = None if ledger is None else Ledger(ledger, key=ledger_key)
    with showing_progress(quiet=as_json) as progress:
        found = make_evidence(
            release,
            original=original,
            external=external,
            earlier=[open_release(one) for one in earlier or ()],
            context=context,
            ledger=book,
            learn=learning,
            progress=progress,
        )
        written = [*found.save(place)]
        if key is not None:
            written.append(sign(place, key, signed_by=str(signed_by)))
            if book is not None:
                told = verify_signature(place)
                book.signed(release, {"signed by": told.signed_by, "fingerprint of the key": told.fingerprint})
    if as_json:
        print_json(found.to_dict())
        return
    for path in written:
        typer.echo(f"written to {path}")
    for asks in found.found["context"]["open"]:
        typer.echo(f"open question: {asks}")


def _make_key(path: Path) -> None:
    from incrowd.evidence import new_key

    secret, public, fingerprint = new_key(path)
    typer.echo(f"{secret}: secret. Keep it where only the steward can read it, and keep a copy.")
    typer.echo(f"{public}: for everybody who verifies. Its fingerprint is {fingerprint}")


def _verify(place: Path, public_key: Path | None, *, as_json: bool) -> None:
    from incrowd.cli.output import print_json
    from incrowd.evidence import verify

    found = verify(place, public_key=public_key)
    if as_json:
        print_json(found.to_dict())
    else:
        for fault in found.faults:
            typer.echo(fault)
        if found.holds:
            typer.echo(f"Every byte is as it was signed by {found.signed_by} at {found.signed_at} (UTC).")
            typer.echo(f"Fingerprint of the key: {found.fingerprint}")
            if public_key is None:
                typer.echo("Compare it with the steward's, or name the public key with --public-key.")
    if not found.holds:
        raise typer.Exit(1)


COMMANDS = (Command(evidence, place=75),)
