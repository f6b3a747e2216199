"""The parts of an audit's page about protection."""

from __future__ import annotations

import math
from collections.abc import Mapping

from incrowd.report.bars import Bar, bars, stacked
from incrowd.report.html import Child, Raw, element, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.section import Found, section


def promises(found: Found) -> Raw | None:
    """What was asked for, and what the groups turn out to satisfy."""
    rows: list[list[Child]] = [
        [
            entry["statement"],
            ", ".join(filter(None, (entry["basis"], entry.get("note")))),
            "" if entry["achieved"] is None else _value(entry["achieved"]),
        ]
        for entry in found["guarantees"]
    ]
    for name, value in found["achieved"].items():
        for inner, number_found in value.items() if isinstance(value, Mapping) else [("", value)]:
            rows.append([f"{name}: {inner}" if inner else name, "found", "" if number_found is None
                         else _value(number_found)])  # fmt: skip
    if not rows:
        return None
    return section(
        "promises",
        "What it satisfies",
        "The promises of the release, and the strictest models that its groups turn out to satisfy, asked for or not.",
        "k and the three l count people and values: larger is safer, 1 protects nobody. t is the distance between a "
        "group's values and everybody's: 0 is safest, 1 protects nobody. A promise by construction cannot be checked "
        "on the release; it rests on the method.",
        "If a number is 1, that kind of protection is missing. Whether it is needed is for the attacks to say.",
        table(["model", "basis", "achieved"], rows, numbers=(2,)),
    )


def attacks(found: Found) -> Raw:
    """All attacks, the most successful first."""
    risks = sorted(found["attacks"], key=lambda risk: (not risk["got through"], -risk["advantage"]))
    rows = [
        (
            _name(risk),
            [
                Bar(risk["value"], percent(risk["value"]), risk["value"], _colour(risk)),
                Bar(risk["baseline"], percent(risk["baseline"]), risk["baseline"], "faint", " without"),
            ],
        )
        for risk in risks
    ]
    lines = [
        (
            _name(risk),
            risk["threat"],
            exact(percent(risk["value"]), risk["value"]),
            element("span", exact(percent(risk["interval"][0]), risk["interval"][0]), " to ",
                    exact(percent(risk["interval"][1]), risk["interval"][1])),
            exact(percent(risk["baseline"]), risk["baseline"]),
            "yes" if risk["got through"] else "no",
            risk["level"],
            element("span", risk["says"], " ", element("span", f"(Baseline: {risk['baseline is']}.)", class_="faint")),
        )
        for risk in risks
    ]  # fmt: skip
    skipped = [(entry["what"], entry["why"]) for entry in found["not tried"]]
    return section(
        "attacks",
        "Attacks",
        "How often an adversary is right with the release in hand, and how often without it.",
        "Only the difference counts: a long red bar beside an equally long grey one tells nothing that was not known. "
        "An attack got through if its whole 95 % interval lies above the baseline by a percent and more. "
        "Its level is never low where it exposes anybody for sure, however few they are among all.",
        "Look at the attack with the largest difference. Linkage shrinks with k; inference with diversity, closeness "
        "or noise; membership and singling out with noise or a sample.",
        bars(rows, legend=[("got through, or exposes somebody", "bad"), ("does not", "good"),
                           ("without the release", "faint")],
             label="Success of each attack, and its baseline"),
        element("details", element("summary", "All numbers"),
                table(["attack", "threat", "right", "95 % interval", "baseline", "got through", "level", "in words"],
                      lines,
                      numbers=(2, 3, 4))),
        element("details", element("summary", f"Not tried or measured: {len(skipped)}"),
                table(["what", "why"], skipped)) if skipped else None,
    )  # fmt: skip


def crowds(found: Found) -> Raw | None:
    """Group sizes, and how easily each record is found."""
    sizes = found["crowds"]["sizes"]
    by_size = sizes["by size"]
    most = max(by_size.values(), default=1)
    drawn = [(f"{name} rows", [Bar(many / most, number(many), many)]) for name, many in by_size.items()]
    parts = [element("div", element("h3", "Groups by size"), bars(drawn, label="Groups by size"))]
    records = [
        (
            entry["chance"],
            [Bar(entry["share"], percent(entry["share"]), entry["share"], "bad" if entry["up to"] > 0.2 else "a")],
        )
        for entry in found["crowds"]["risk by record"]
    ]
    if records:
        chart = bars(records, label="People by the chance of being found")
        parts.append(element("div", element("h3", "People by the chance of being found"), chart))
    numbers = {name: exact(number(sizes[name]), sizes[name]) for name in ("number", "smallest", "median", "largest")}
    return section(
        "crowds",
        "Crowds",
        element("span", numbers["number"], " groups of people who look alike: the smallest has ", numbers["smallest"],
                " rows, the middle one ", numbers["median"], ", the largest ", numbers["largest"], "."),
        "First, how many groups there are of each size; then, how many people are found with which chance by somebody "
        "who knows all their quasi-identifiers. Where fewer than five people would have a bar of their own, it is "
        "joined with the next.",
        "Red bars are people who may be found with a chance above one in five: ask for a larger k. Very large groups "
        "cost use: allow finer levels, or withhold a few outliers.",
        element("div", *parts, class_="columns"),
    )  # fmt: skip


def worst_groups(found: Found) -> Raw | None:
    """Sensitive values in the groups that say most."""
    worst = found["crowds"]["worst groups"]
    if not any(worst.values()):
        return None
    parts: list[Child] = []
    for column, groups in worst.items():
        few = found["settings"]["fewest people told of"]
        rows = [
            (f"{entry['group']} of {number(entry['rows']) if entry['rows'] is not None else f'fewer than {few}'}",
             entry["shares"])
            for entry in groups
        ]  # fmt: skip
        parts += [element("h3", column), stacked(rows, label=f"Shares of the values of {column}")]
    return section(
        "inside",
        "Sensitive values in the worst groups",
        "The groups whose people are most alike in what should stay unknown, and all rows for comparison.",
        "Each line is a group, each piece a value's share, the largest first; which value it is, is not told. A line "
        "of one piece gives everybody in it away.",
        "Where the first piece is much longer than in the last line, ask for diversity (l) or closeness (t).",
        *parts,
    )


def ladder(found: Found) -> Raw | None:
    """One person's ladder."""
    rungs = found["ladder"]
    if not rungs:
        return None
    top = math.log(1 + max(rung[when] or rung["fewer than"] for rung in rungs for when in ("before", "after")))

    def bar(rung: Found, when: str, colour: str) -> Bar:
        value = rung[when]
        few = rung["fewer than"]
        text = f"fewer than {few}" if value is None else number(value)
        return Bar(math.log(1 + (few - 1 if value is None else value)) / max(top, 1e-9), text, value, colour)

    rows = [
        (f"{'+ ' if place else 'knowing '}{rung['learnt']}", [bar(rung, "before", "a"), bar(rung, "after", "b")])
        for place, rung in enumerate(rungs)
    ]
    return section(
        "ladder",
        "One person’s ladder",
        "How the crowd of one person, picked at random among those who stand out most, shrinks with each thing that "
        "somebody knows of them.",
        "Lengths are on a logarithmic scale. In the raw table few facts suffice; in the release the crowd stops "
        "shrinking.",
        "If the last rung of the release is still “fewer than five”, people like this one are not hidden.",
        bars(rows, legend=[("in the table", "a"), ("in the release", "b")], label="Crowd by what is known"),
    )


def _colour(risk: Found) -> str:
    return "bad" if risk["got through"] or risk["level"] != "low" else "good"


def _name(risk: Found) -> str:
    return f"{risk['attack']}, {risk['column']}" if "column" in risk else str(risk["attack"])


def _value(value: float) -> Raw:
    return exact(number(value), value)
