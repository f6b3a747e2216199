"""Every command's help, and each command at work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bare_install.documents import DOCUMENTS


def faults(place: Path) -> Iterator[str]:
    """Yield which command does not explain itself, and which is in no document: those of the documents are run."""
    paths = list(_paths())
    shown = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    for words in paths:
        if len(words) == 1 and f"    incrowd {words[0]} " not in shown:
            yield f"no document shows `incrowd {words[0]}`, so that nothing runs it here"
    with ThreadPoolExecutor(2) as pool:
        yield from filter(None, pool.map(lambda words: _help(words, place), paths))


def _paths() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and of every command below another."""
    import typer.main

    from incrowd.cli.app import app

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, child in getattr(command, "commands", {}).items():
            yield from below(child, (*words, name))

    yield from below(typer.main.get_command(app), ())


def _help(words: tuple[str, ...], place: Path) -> str | None:
    done = subprocess.run(
        [sys.executable, "-m", "incrowd", *words, "--help"], cwd=place, capture_output=True, text=True, timeout=60
    )
    if done.returncode == 0 and "Usage:" in done.stdout and not done.stderr:
        return None
    return f"incrowd {' '.join(words)} --help ends in {done.returncode}: {done.stderr.strip()}"
