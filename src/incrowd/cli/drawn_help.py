"""Help is drawn by Rich. Half of the time that this takes goes into parts of Rich that no help of ours uses."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

_UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""What Typer's help imports for texts in Markdown, which ours are not, and for errors, which are told elsewhere."""


def prepare() -> None:
    """Import what draws help, without what it has no use for; nobody else sees that anything was left out."""
    if "typer.rich_utils" in sys.modules:
        return
    left_out = {name: _in_place_of(name, kind) for name, kind in _UNUSED.items() if name not in sys.modules}
    sys.modules.update(left_out)
    with suppress(Exception):  # another Typer, which uses more of it: it imports all that it needs when it is called
        import_module("typer.rich_utils")
    for name in left_out:
        del sys.modules[name]


def _in_place_of(name: str, kind: str) -> ModuleType:
    """Return a module whose class makes objects of the real one: a command of another package may need them."""

    def make(_: type, *arguments: Any, **options: Any) -> Any:
        return getattr(import_module(name), kind)(*arguments, **options)

    module = ModuleType(name)
    setattr(module, kind, type(kind, (), {"__new__": make}))
    return module
