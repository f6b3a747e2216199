"""The parts of an audit's page about protection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from incrowd.report.bars import Bar, bars, stacked
from incrowd.report.html import Child, Raw, element, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.remedy_parts import advice, what_to_do
from incrowd.report.section import Found, named, section

_BY_GROUPS = ("homogeneity", "likeliest-value", "skewness", "similarity")
"""Attacks that read a group's own shares."""


def promises(found: Found) -> Raw | None:
    """What was asked for, and what the groups turn out to satisfy."""
    rows: list[list[Child]] = [
        [
            f"{entry['statement']} ({entry['plain name']})" if "plain name" in entry else entry["statement"],
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
        _missing(found),
        table(["model", "basis", "achieved"], rows, numbers=(2,)),
    )


def attacks(found: Found) -> Raw:
    """All attacks, the most successful first."""
    risks = sorted(found["attacks"], key=lambda risk: (not risk["got through"], -risk["advantage"]))
    rows = [
        (
            named(risk),
            [
                Bar(risk["value"], percent(risk["value"]), risk["value"], _colour(risk)),
                Bar(risk["baseline"], percent(risk["baseline"]), risk["baseline"], "faint", " without"),
            ],
        )
        for risk in risks
    ]
    lines = [
        (
            named(risk),
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
        what_to_do(found),
        bars(rows, legend=[("got through, or exposes somebody", "bad"), ("does not", "good"),
                           ("without the release", "faint")],
             label="Success of each attack, and its baseline"),
        element("details", element("summary", "All numbers"),
                table(["attack", "threat", "right", "95 % interval", "baseline", "got through", "level", "in words"],
                      lines,
                      numbers=(2, 3, 4), class_="wide numbers")),
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
        advice(found, ["linkage"], "Finding people stays at the lowest level: nothing needs to be done."),
        element("div", *parts, class_="columns"),
    )  # fmt: skip


def worst_groups(found: Found) -> Raw | None:
    """Sensitive values in the groups that say most."""
    worst = found["crowds"]["worst groups"]
    if not any(worst.values()):
        return None
    parts: list[Child] = []
    acts: list[Child] = []
    for column, groups in worst.items():
        few = found["settings"]["fewest people told of"]
        rows = [
            (f"{entry['group']} of {number(entry['rows']) if entry['rows'] is not None else f'fewer than {few}'}",
             entry["shares"])
            for entry in groups
        ]  # fmt: skip
        parts += [element("h3", column), stacked(rows, label=f"Shares of the values of {column}")]
        told = advice(found, _BY_GROUPS, None, column=column)
        acts += [] if told is None else [told]
    return section(
        "inside",
        "Sensitive values in the worst groups",
        "The groups whose people are most alike in what should stay unknown, and all rows for comparison.",
        "Each line is a group, each piece a value's share, the largest first; which value it is, is not told. A line "
        "of one piece gives everybody in it away.",
        acts or "No group tells so much that an attack gets above the lowest level: nothing needs to be done.",
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
        _last_rung(rungs),
        bars(rows, legend=[("in the table", "a"), ("in the release", "b")], label="Crowd by what is known"),
    )


def _colour(risk: Found) -> str:
    return "bad" if risk["got through"] or risk["level"] != "low" else "good"


def _missing(found: Found) -> Child:
    """Return which claims are false, and which of the numbers protect nobody."""
    said: list[str] = [f"Not so: {claim}." for claim in found["verdict"].get("false claims", [])]
    numbers = [
        (f"{name}: {inner}" if inner else name, value)
        for name, entry in found["achieved"].items()
        for inner, value in (entry.items() if isinstance(entry, Mapping) else [("", entry)])
    ]
    nobody = [name for name, value in numbers if value == 1]
    if nobody:
        said.append(f"Protects nobody, since it is 1: {', '.join(nobody)}.")
    if not said:
        return "No number is 1, and no claim is false: nothing needs to be done here."
    said.append("What an attack makes of it, and which option changes that, is under “Attacks”.")
    return element("ul", *(element("li", sentence) for sentence in said))


def _last_rung(rungs: Sequence[Found]) -> str:
    before, after = (_told(rungs[-1], when) for when in ("before", "after"))
    if rungs[-1]["after"] is None:
        return (
            f"With everything known, this person’s crowd in the release is {after}: people like this one are not "
            "hidden. What hides them better is under “Crowds”."
        )
    return f"With everything known, {after} look like this person in the release, {before} in the table."


def _told(rung: Found, when: str) -> str:
    return f"fewer than {rung['fewer than']}" if rung[when] is None else number(rung[when])


def _value(value: float) -> Raw:
    return exact(number(value), value)
