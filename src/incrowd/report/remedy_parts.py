"""What to do about findings, as parts of a page: the change, and how far the attack gets before and after it."""

from __future__ import annotations

from collections.abc import Collection

from incrowd.report.html import Child, Raw, element, table
from incrowd.report.numbers import exact, percent
from incrowd.report.section import Found, named


def what_to_do(found: Found) -> Raw:
    """Return one line for each finding above the lowest level."""
    said = found["what to do"]
    rows = [
        (
            named(entry),
            _rate(entry["before"], entry["level"]),
            _changes(entry),
            _rate(entry["steps"][-1]["value"], entry["reaches"]) if entry["steps"] else "–",
        )
        for entry in said["findings"]
        if said["rows"] or "not measured" not in entry  # or the note says it of all of them
    ]
    lines = table(["finding", "now", "what changes it", "then"], rows) if rows else None
    return element("div", element("p", said["note"]), lines)


def advice(found: Found, attacks: Collection[str], otherwise: Child, *, column: str | None = None) -> Child:
    """Return what changes the findings of some attacks, as sentences; what is said `otherwise` if there are none."""
    entries = [
        entry
        for entry in found["what to do"]["findings"]
        if entry["attack"] in attacks and (column is None or entry.get("column") == column)
    ]
    if not entries:
        return otherwise
    return element("ul", *(element("li", entry["says"]) for entry in entries))


def _changes(entry: Found) -> Child:
    if "not measured" in entry:
        return f"Not measured: {entry['not measured']}"
    said = [step["change"] for step in entry["steps"]]
    text = ", then ".join(said)
    if entry["reaches"] == "low":
        return _sentence(text)
    tried = entry["tried"]
    if not tried:
        return "Nothing could be tried."
    least = min(tried, key=lambda one: one["value"])
    most = f"None of {len(tried)} changes that were tried makes it low. The most that any does: {least['change']}, "
    return [f"{_sentence(text)} " if text else "", most, exact(percent(least["value"]), least["value"]), "."]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _rate(value: float, level: str) -> Raw:
    badge = element("span", level, class_=f"badge {level.replace(' ', '-')}")
    return element("span", exact(percent(value), value), " ", badge)
