"""A comparison as a page: the frontier of risk and loss, and the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.common.version import __version__
from incrowd.report.html import Raw, element, joined, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.page import whole_page
from incrowd.report.scatter import Point, legend, scatter
from incrowd.report.section import section
from incrowd.report.style import STYLE

_THREATS = ("singling out", "linkability", "inference")
_LOSSES = ("queries", "columns", "pairs", "learning")


def comparison_page(found: Mapping[str, Any], *, title: str = "Ways to publish one table") -> str:
    """Return a page that opens offline."""
    return whole_page(title, comparison_body(found, title), found)


def comparison_fragment(found: Mapping[str, Any]) -> str:
    """Return the chart and the ranking, as a notebook shows them."""
    return joined([element("style", Raw(STYLE)), element("div", _frontier(found), _ranking(found), class_="incrowd")])


def comparison_body(found: Mapping[str, Any], title: str) -> Raw:
    """Return everything that is seen."""
    listed = found["candidates"]
    best = [entry for entry in listed if entry["on the frontier"]]
    cards = [_card(_together(titles), _named(name, listed)) for name, titles in found["winners"].items()]
    told = f"{len(listed)} ways to publish the same table; nothing beats {len(best)} of them on risk and loss at once."
    return element(
        "main",
        element("h1", title),
        element("p", told, class_="faint"),
        *(element("p", element("strong", sentence)) for sentence in found["verdict"]),
        element("div", *cards, class_="cards"),
        _frontier(found),
        _ranking(found),
        _failed(found),
        element(
            "p", f"incrowd {__version__}. Every number on this page is in the JSON that it carries.", class_="faint"
        ),
        class_="incrowd",
    )


def _named(name: str, listed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next(entry for entry in listed if entry["name"] == name)


def _together(titles: Sequence[str]) -> str:
    """Write several titles as one: `Least risk, best of both`."""
    return ", ".join(titles)[:1].upper() + ", ".join(titles)[1:]


def _card(heading: str, entry: Mapping[str, Any]) -> Raw:
    promised = element("ul", *(element("li", promise) for promise in entry["promises"]))
    return element(
        "div",
        element("h3", heading),
        element("p", element("strong", f"{entry['rank']}. {entry['name']}")),
        element("p", "risk ", exact(percent(entry["risk"]), entry["risk"]), ", loss ",
                exact(percent(entry["loss"]), entry["loss"])),
        promised,
        class_="card",
    )  # fmt: skip


def _frontier(found: Mapping[str, Any]) -> Raw:
    points = [
        Point(entry["rank"], entry["name"], entry["form"], entry["risk"], entry["loss"], entry["on the frontier"])
        for entry in found["candidates"]
    ]
    return section(
        "frontier",
        "Risk against loss",
        f"Every candidate by its risk ({found['risk is']}) and its loss ({found['loss is']}).",
        "Left is safer, low is more useful. Numbers are ranks in the table below. Of the green ones, none is beaten on "
        "both; whatever is above the green line is, by some green one.",
        "Decide first which risk is acceptable, then take the lowest green point left of it.",
        legend(points),
        scatter(points, x_title="risk: advantage of attacks", y_title=f"loss: {found['loss']}"),
    )


def _ranking(found: Mapping[str, Any]) -> Raw:
    losses = [name for name in _LOSSES if any(name in entry["losses"] for entry in found["candidates"])]
    head = [
        "",
        "candidate",
        "form",
        "risk",
        *_THREATS,
        *(f"loss: {name}" for name in losses),
        "rows",
        "strongest attack",
        "seconds",
    ]
    rows = []
    for entry in found["candidates"]:
        name = element("strong", entry["name"]) if entry["on the frontier"] else entry["name"]
        rows.append(
            [
                f"{entry['rank']}{' ●' if entry['on the frontier'] else ''}",
                name,
                entry["form"],
                exact(percent(entry["risk"]), entry["risk"]),
                *(_share(entry["risks"], threat) for threat in _THREATS),
                *(_share(entry["losses"], loss) for loss in losses),
                number(entry["rows"]),
                entry["strongest attack"],
                f"{entry['seconds']:.1f}",
            ]
        )
    right = (3, *range(4, 4 + len(_THREATS) + len(losses) + 1), len(head) - 1)
    return section(
        "ranking",
        "All candidates",
        "Risks are what the best attack of each kind adds to guessing, as a share of what guessing leaves open; losses "
        "are errors.",
        "● is on the frontier. The same candidate may be good at one loss and bad at another: look at the one that "
        "your users need.",
        "Audit the one that you choose, with everything that an adversary might have, before you publish it.",
        table(head, rows, numbers=right, class_="ranking wide"),
    )


def _failed(found: Mapping[str, Any]) -> Raw | None:
    if not found["failed"]:
        return None
    rows = [(entry["name"], entry["why"]) for entry in found["failed"]]
    return element("details", element("summary", f"Could not be made: {len(rows)}"), table(["candidate", "why"], rows))


def _share(values: Mapping[str, float], name: str) -> Raw | str:
    return exact(percent(values[name]), values[name]) if name in values else "–"
