"""What goes out with a version: metadata, what is in the distributions, workflows; and code that suits every system."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def loaded(name: str) -> ModuleType:
    """Return a file of the repository that is no module of a package, as one."""
    path = Path(__file__).parents[2] / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
