"""Run Python as if only incrowd and one of its extras were installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HIDING = Path(__file__).parent / "hiding"


def run_with(
    extra: str | None, code: str, *arguments: str, hide: Iterable[str] = (), place: Path | None = None, **more: str
) -> str:
    """Run code where the core and one extra are installed, and not what is to be hidden besides; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment_with(extra, hide=hide, **more),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def environment_with(extra: str | None, *, hide: Iterable[str] = (), **more: str) -> dict[str, str]:
    """Return the environment of processes in which the core and one extra are installed."""
    hidden = sorted({*packages_without(extra), *hide})
    path = os.pathsep.join([str(HIDING), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **more, "HIDDEN_PACKAGES": ",".join(hidden), "PYTHONPATH": path}


@cache
def packages_without(extra: str | None) -> frozenset[str]:
    """Return what can be imported here and could not be where only the core and an extra are installed."""
    wanted = installed_with(extra)
    return frozenset(
        package
        for package, owners in packages_distributions().items()
        if not wanted & {canonicalize_name(owner) for owner in owners}
    )


def installed_with(extra: str | None) -> frozenset[str]:
    """Return the names of all distributions that pip would install."""
    found: set[tuple[str, str]] = set()
    to_do = [("incrowd", "")] if extra is None else [("incrowd", ""), ("incrowd", extra)]
    while to_do:
        name, wanted = one = to_do.pop()
        if one in found:
            continue
        found.add(one)
        for requirement in map(Requirement, _requires(name)):
            if requirement.marker is None or requirement.marker.evaluate({"extra": wanted}):
                needed = canonicalize_name(requirement.name)
                to_do += [(needed, ""), *((needed, more) for more in requirement.extras)]
    return frozenset(name for name, _ in found)


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:  # needed on another system only, or already too old to be there
        return []
