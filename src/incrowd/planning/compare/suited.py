"""Ways to publish that suit a recipe which asks for none to be compared: one of each family that its table allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

ALONE = ("person", "person-pseudonym", "person-household", "household", "items", "weight", "keep", "date", "pseudonym")
"""Roles of columns that buckets, slices and noisy counts do not take."""
_PUBLIC = {"categories", "intervals"}


def suited(recipe: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield entries as `[[compare]]` has them, beside the recipe itself."""
    models = [model if isinstance(model, Mapping) else {"name": model} for model in recipe.get("models", [])]
    k = next((model["k"] for model in models if model.get("name") == "k-anonymity" and "k" in model), 5)
    own = recipe.get("method", {"name": "mondrian"})
    name = own if isinstance(own, str) else own.get("name", "mondrian")
    yield from (
        {"method": method, "models": models}
        for method in _groupings()
        if method["name"] != name or len(method) > 1 or not isinstance(own, Mapping) or len(own) > 1
    )
    if isinstance(k, int):
        stricter = [{**model, "k": 4 * k} if model.get("name") == "k-anonymity" else model for model in models]
        if stricter != models:
            yield {"method": own if isinstance(own, Mapping) else {"name": own}, "models": stricter}
    roles = {column: _role(described) for column, described in _columns(recipe).items()}
    secret = [column for column, role in roles.items() if role == "sensitive"]
    if any(role in ALONE for role in roles.values()) or "tables" in recipe or "split" in recipe:
        return
    if len(secret) == 1:
        diverse = {"name": "distinct-l-diversity", "l": 2, "column": secret[0]}
        yield {"method": {"name": "anatomy"}, "models": [diverse]}
        yield {"method": {"name": "slicing"}, "models": [{"name": "sliced-diversity", "l": 2}]}
    if secret and all(_is_public(described) for described in _columns(recipe).values()):
        yield {"method": {"name": "marginals", "epsilon": 1}, "models": []}


def _groupings() -> Iterator[dict[str, Any]]:
    yield {"name": "mondrian"}
    yield {"name": "mondrian", "labels": "hierarchy"}
    yield {"name": "full-domain", "max_withheld": 0.05}
    yield {"name": "local-recoding"}
    yield {"name": "microaggregation"}


def _columns(recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    columns = recipe.get("columns", {})
    return columns if isinstance(columns, Mapping) else {}


def _role(described: Any) -> str:
    return str(described.get("role", "")) if isinstance(described, Mapping) else str(described)


def _is_public(described: Any) -> bool:
    """Whether the values of a column are told without looking at the table, as private methods need them."""
    if _role(described) not in ("quasi", "sensitive"):
        return True
    hierarchy = described.get("hierarchy") if isinstance(described, Mapping) else None
    if not isinstance(hierarchy, Mapping) or hierarchy.get("kind") not in _PUBLIC or "taken_from" in hierarchy:
        return False
    return hierarchy["kind"] == "categories" or "cuts" in hierarchy or {"lower", "upper"} <= set(hierarchy)
