"""A section of a page: what it shows, how to read it and what to do about it come first; nobody has to guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.report.html import Child, Raw, element

Found = Mapping[str, Any]


def section(key: str, heading: str, shows: Child, read: Child, act: Child, *content: Child) -> Raw:
    """Return a section with its three sentences."""
    reading = element(
        "dl",
        element("dt", "What it shows"), element("dd", shows),
        element("dt", "How to read it"), element("dd", read),
        element("dt", "What to do about it"), element("dd", act),
        class_="reading",
    )  # fmt: skip
    return element("section", element("h2", heading), reading, *content, id=key)


def named(entry: Found) -> str:
    """Return an attack in technical and in plain words: `linkage: finding a person's row`."""
    name = f"{entry['attack']}, {entry['column']}" if "column" in entry else str(entry["attack"])
    return f"{name} ({entry['plain name']})" if "plain name" in entry else name


def titles(parts: Sequence[Raw]) -> list[tuple[str, str]]:
    """Return the key and heading of each section, for the page's navigation."""
    found = []
    for part in parts:
        key = part.split('id="', 1)[1].split('"', 1)[0]
        heading = part.split("<h2>", 1)[1].split("</h2>", 1)[0]
        found.append((key, heading))
    return found
