"""The installed package: it is all there, nothing else is, and every module can be imported or names its extra."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "incrowd"
INSTALLERS = {"pip", "setuptools", "wheel"}
# Modules that only open where their extra is, and what they say elsewhere. Nothing imports those of Spark before then.
NEED_AN_EXTRA = {
    "incrowd.testing": ("incrowd[testing]",),
    "incrowd.engines.spark": ("pyspark", "py4j"),
    "incrowd.studio": ("starlette", "uvicorn"),
}


def faults(_: Path) -> Iterator[str]:
    """Yield what is wrong with the environment or with a module."""
    import incrowd
    from incrowd.common.extras import EXTRAS

    place = Path(incrowd.__file__).parent
    if not place.is_relative_to(sys.prefix):
        yield "incrowd is not that of this environment"
    for package in {package for brought in EXTRAS.values() for package in brought}:
        if find_spec(package) is not None:
            yield f"{package} is installed, so that this is not the core alone"
    names = {distribution.name.lower() for distribution in distributions()}
    if not names <= {name.partition("==")[0].lower() for name in _constraints()} | INSTALLERS | {"incrowd"}:
        yield f"constraints.txt does not name all of {', '.join(sorted(names))}"
    for path in SOURCE.rglob("*"):
        part = path.relative_to(SOURCE)
        built = path.suffix in (".cpp", ".hpp")  # what it is built of is not installed
        if path.is_file() and not built and "__pycache__" not in part.parts and not (place / part).is_file():
            yield f"{part} is not in the installed package"
    for module in pkgutil.walk_packages([str(place)], "incrowd.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            yield from _imported(module.name)


def _constraints() -> list[str]:
    return (SOURCE.parents[1] / "constraints.txt").read_text(encoding="utf-8").split()


def _imported(name: str) -> Iterator[str]:
    expected = next((said for start, said in NEED_AN_EXTRA.items() if name.startswith(start)), ())
    try:
        importlib.import_module(name)
    except ImportError as error:
        if not any(said in str(error) for said in expected):
            yield f"{name} cannot be imported: {error}"
