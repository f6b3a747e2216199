"""The command line: the same words as the API."""

from incrowd.common.importing import without_collecting

with without_collecting():
    from incrowd.cli.app import main

__all__ = ["main"]
