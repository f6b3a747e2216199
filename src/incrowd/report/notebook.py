"""What a notebook shows of something: a heading and its parts, in the style of the reports."""

from __future__ import annotations

from incrowd.report.html import Child, Raw, element, joined
from incrowd.report.style import STYLE


def framed(heading: str, *parts: Child) -> str:
    """Return parts under a heading. Notebooks are saved with what they show, so no value of a table's row is in it."""
    return joined([element("style", Raw(STYLE)), element("div", element("strong", heading), *parts, class_="incrowd")])
