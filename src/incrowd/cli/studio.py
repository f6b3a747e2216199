"""`incrowd studio`: the same in a browser, on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.command import Command


def studio(
    file: Annotated[
        Path | None, typer.Argument(help="The table to open (default: choose one in the page).", show_default=False)
    ] = None,
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder that files may be opened from and written to; repeat (default: FILE's, or this one)."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port (default: any that is free).")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    remember: Annotated[
        bool, typer.Option(help="Remember recipes and their history for the next time, in a file of yours alone.")
    ] = True,
    upload_limit: Annotated[
        int, typer.Option(min=1, help="The largest file, in megabytes, that may be dropped into the page.")
    ] = 2048,
) -> None:
    """Open a page in the browser to publish a table without writing a line; nothing leaves this machine."""
    import webbrowser

    from incrowd.cli.stopping import Stopped
    from incrowd.common.extras import require_extra
    from incrowd.common.importing import without_collecting
    from incrowd.errors import SourceError

    require_extra("studio", "pages in the browser")
    if file is not None and not file.exists():
        raise SourceError(f"{file}: there is no such file.")
    with without_collecting():
        from incrowd.studio.server import bound, serve
        from incrowd.studio.studio import Studio, state_folder

    own = [] if file is None else [file.resolve().parent]
    folders = [*(folder or ()), *own] or [Path.cwd()]
    for named in folders:
        if not named.is_dir():
            raise SourceError(f"{named}: there is no such folder.")
    made = Studio(folders, store=state_folder() if remember else None, upload_limit=upload_limit << 20)
    first = None if file is None else made.folders.require(file.resolve())
    listening = bound(port)

    def ready(link: str) -> None:
        typer.echo(f"The studio is open at\n  {link}\nThe link works once. End with Ctrl-C.")
        if browser:
            webbrowser.open(link)

    try:
        serve(made, listening, first=first, ready=ready)
    except (KeyboardInterrupt, Stopped):  # how it is meant to end
        raise typer.Exit from None
    finally:
        typer.echo("The studio is closed.")


COMMANDS = (Command(studio, place=15),)
