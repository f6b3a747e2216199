"""What `incrowd/__init__.pyi` says, so that editors and type checkers know what `incrowd` offers by name.

Names are found at run time by walking the families' packages (`incrowd/common/registry.py`), which no type checker
does. This reads the same packages as text, so that nobody keeps a list. The file is made with the package and is not
kept in the repository.
"""

from __future__ import annotations

import ast
from pathlib import Path

FAMILIES = (
    "models", "methods", "forms", "hierarchies", "dates", "changes", "attacks", "metrics", "models/sets",
    "methods/sets",
)  # fmt: skip


def stub(package: Path) -> str:
    """Return the text of the stub."""
    homes: dict[str, str] = {}
    facade = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    constants = {
        target.id: ast.literal_eval(node.value)
        for node in facade.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("_HOMES", "_MODULES")
    }
    homes |= constants["_HOMES"]
    for family in FAMILIES:
        for path in sorted((package / family).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            base = "Showing" if family == "forms" else None  # the forms that are asked for, not those that are made
            homes |= dict.fromkeys(members(tree, base), f"{family.replace('/', '.')}.{path.stem}")
    lines = [f"from incrowd import {module} as {module}" for module in constants["_MODULES"]]
    lines += [f"from incrowd.{home} import {name} as {name}" for name, home in sorted(homes.items())]
    return "\n".join([*lines, "", "__version__: str", ""])


def members(tree: ast.Module, base: str | None = None) -> list[str]:
    """Return the public classes of a module that have a name of their own, and are listed by it."""
    found = []
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_") or not node.bases:
            continue
        declared = {
            item.target.id: item.value
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        hidden = "listed" in declared and not ast.literal_eval(declared["listed"] or ast.Constant(True))
        bases = {one.id for one in node.bases if isinstance(one, ast.Name)}
        if isinstance(declared.get("name"), ast.Constant) and not hidden and (base is None or base in bases):
            found.append(node.name)
    return found
