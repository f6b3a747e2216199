"""What was done with each variable, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BY_ROLE = {
    "identifier": "removed",
    "pseudonym": "replaced by a keyed hash; whoever has the key can tell it again",
    "person": "used to tell whose a row is, and removed",
    "person-pseudonym": "used to tell whose a row is, and replaced by a keyed hash",
    "household": "used to tell who lives together, and removed",
    "person-household": "used to tell whose a row is and who lives together, and removed",
    "sensitive": "published as it is, within its group",
    "keep": "published as it is; no guarantee speaks of it",
    "other": "published as it is; no guarantee speaks of it",
    "drop": "removed",
    "weight": "published in classes, each shown by enough people",
    "date": "treated as a date",
    "items": "published as sets of items",
}


def techniques(columns: Mapping[str, Any], summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every variable of a recipe: its role, and what became of it."""
    scheme = summary.get("scheme", {}).get("columns", {})
    changes = summary.get("changes", {})
    return [_technique(name, told, scheme, str(summary.get("form")), changes) for name, told in columns.items()]


def _technique(
    name: str, told: Any, scheme: Mapping[str, Any], form: str, changes: Mapping[str, Any]
) -> dict[str, Any]:
    role = str(told.get("role", "other")) if isinstance(told, Mapping) else str(told)
    found: dict[str, Any] = {"variable": name, "role": role}
    if role == "quasi":
        found["technique"] = _generalized(scheme.get(name), form)
    elif role == "date" and isinstance(told, Mapping) and isinstance(told.get("date"), Mapping):
        found["technique"] = f"dates: {told['date'].get('kind', 'treated')}"
    else:
        found["technique"] = _BY_ROLE.get(role, "published as it is; no guarantee speaks of it")
    if isinstance(told, Mapping) and told.get("change") and role in ("sensitive", "keep", "other"):
        said = [str(change.get("says", "")) for change in changes.get(name, ()) if isinstance(change, Mapping)]
        where = "within its group" if role == "sensitive" else "no guarantee speaks of it"
        found["technique"] = f"changed before it was published ({', then '.join(said) or 'see the recipe'}); {where}"
    return found


def _generalized(scheme: Mapping[str, Any] | None, form: str) -> str:
    if scheme is None:
        return {
            "bucketized": "published as it is, apart from sensitive values, which are told of its bucket only",
            "sliced": "published as it is, permuted within its bucket against other columns",
            "noisy counts": "counted in boxes, with noise",
        }.get(form, "generalized")
    if "level" in scheme:
        return f"generalized to level {scheme['level']} of its hierarchy"
    number, shown_labels = scheme.get("number of labels"), scheme.get("labels", ())
    if shown_labels and len(shown_labels) == number and not any(_is_range(label) for label in shown_labels):
        return f"values or nodes of its hierarchy, group by group ({number} different ones)"
    shown = {"label": "labels", "midpoint": "midpoints", "mean": "means of groups", "bounds": "bounds"}
    what = shown.get(str(scheme.get("shows")), "labels")
    return "generalized group by group" + (f" ({number} different {what})" if number else "")


def _is_range(label: object) -> bool:
    return str(label).startswith(("[", "{", "<", ">", "*"))
