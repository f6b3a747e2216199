"""The command line: the same words as the API."""

from incrowd.cli.app import main

__all__ = ["main"]
