"""incrowd: publish tables about people so that the people stay hidden and the data stays useful.

>>> import incrowd as ic
>>> people = ic.datasets.census(2000)
>>> table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop")
>>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(3)], method=ic.Mondrian())
>>> release.withheld
0

Every model, method, form, hierarchy, attack and metric can be had from here by the name of its class.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from incrowd.common.version import __version__ as __version__

# Each name is imported when it is first used: the command line answers `--help` without loading Polars.
_HOMES = {
    "Audit": "auditing.audit",
    "audit": "auditing.run",
    "Check": "publishing.check",
    "check": "publishing.check",
    "Comparison": "planning.compare",
    "compare": "planning.compare",
    "Guarantee": "core.model",
    "Hierarchy": "hierarchies.hierarchy",
    "Ledger": "ledger",
    "Method": "core.method",
    "Model": "core.model",
    "PrivateTable": "publishing.private_table",
    "PseudonymKey": "core.pseudonyms",
    "Recipe": "publishing.recipe",
    "Release": "publishing.release",
    "Risk": "core.risk",
    "Schema": "core.schema",
    "Table": "publishing.table",
    "open_release": "publishing.opening.open_release",
    "plan_release": "planning.sdgs",
    "publish": "publishing.publish",
    "publish_separately": "publishing.by_columns",
    "read": "publishing.table",
    "read_tables": "publishing.linked",
    "split_rows": "publishing.linked",
    "DifferentialPrivacy": "models.differential_privacy",
    "LDiversity": "models.distinct_l_diversity",
}
_MODULES = ("datasets", "errors")
_FAMILIES = (
    "models", "methods", "forms", "hierarchies", "dates", "changes", "attacks", "metrics", "set_models",
    "set_methods",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(name for name in __dir__() if name != "__version__")
    if name in _MODULES:
        return import_module(f"incrowd.{name}")
    found = getattr(import_module(f"incrowd.{_HOMES[name]}"), name) if name in _HOMES else _member(name)
    if found is None:
        raise AttributeError(f"module 'incrowd' has no attribute '{name}'")
    globals()[name] = found
    return found


def _member(name: str) -> Any:
    """Return the member of a family whose class has this name, if there is one."""
    if name.startswith("_") or not name[0].isupper():
        return None
    from incrowd.core.families import registered

    found = (registered(family).of_class(name) for family in _FAMILIES)
    return next((cls for cls in found if cls is not None), None)


def _members() -> list[Any]:
    from incrowd.core.families import registered

    return [cls for family in _FAMILIES for cls in registered(family).values()]


def __dir__() -> list[str]:
    return [*_HOMES, *_MODULES, *(cls.__name__ for cls in _members()), "__version__"]
