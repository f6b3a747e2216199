"""What *safe* means for sets of items, and checking it.

Every public name of the modules in this package can be imported from it; adding a module adds its names.
"""

from __future__ import annotations

from typing import Any

from incrowd.common.registry import find_in_package, names_in_package


def __getattr__(name: str) -> Any:
    return find_in_package(__name__, name)


def __dir__() -> list[str]:
    return names_in_package(__name__)
