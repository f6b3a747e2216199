"""Modules taken apart, for tests that read the code itself: each is parsed once."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_LOOKED_AT = (
    ast.ClassDef, ast.Call, ast.MatchClass, ast.Import, ast.ImportFrom, ast.Attribute, ast.Constant,
)  # fmt: skip


def text_of(path: Path) -> str:
    """Return a module's text, read once, and again when it has changed."""
    return _text_since(path, path.stat().st_mtime_ns)


@cache
def _text_since(path: Path, changed: int) -> str:
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(text: str) -> list[ast.AST]:
    """Return what rules look at: classes, calls, patterns, imports, attributes and constants."""
    collected = gc.isenabled()
    gc.disable()  # looking for garbage among so many nodes takes twice as long as making them
    try:
        return [node for node in _walked(ast.parse(text)) if isinstance(node, _LOOKED_AT)]
    finally:
        if collected:
            gc.enable()


def _walked(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes in the order of `ast.walk`, which takes half as long again."""
    found = [tree]
    for node in found:
        yield node
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
