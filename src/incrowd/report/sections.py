"""The parts of an audit's page after the verdict: each with what it shows, how to read it, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.report.bars import Bar, bars, heat_map, stacked
from incrowd.report.html import Child, Raw, element, table
from incrowd.report.numbers import exact, number, percent

Found = Mapping[str, Any]


def section(key: str, heading: str, shows: str, read: str, act: str, *content: Child) -> Raw:
    """Return a section; the three sentences come first, so that nobody has to guess."""
    reading = element(
        "dl",
        element("dt", "What it shows"), element("dd", shows),
        element("dt", "How to read it"), element("dd", read),
        element("dt", "What to do about it"), element("dd", act),
        class_="reading",
    )  # fmt: skip
    return element("section", element("h2", heading), reading, *content, id=key)


def attacks(found: Found) -> Raw:
    """All attacks, the most successful first."""
    risks = sorted(found["attacks"], key=lambda risk: (not risk["got through"], -risk["advantage"]))
    rows = [
        (
            _name(risk),
            [
                Bar(risk["value"], percent(risk["value"]), risk["value"], "bad" if risk["got through"] else "good"),
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
            f"{percent(risk['interval'][0])} to {percent(risk['interval'][1])}",
            exact(percent(risk["baseline"]), risk["baseline"]),
            "yes" if risk["got through"] else "no",
            element("span", risk["says"], " ", element("span", f"(Baseline: {risk['baseline is']}.)", class_="faint")),
        )
        for risk in risks
    ]
    skipped = [(entry["what"], entry["why"]) for entry in found["not tried"]]
    return section(
        "attacks",
        "Attacks",
        "How often an adversary is right with the release in hand, and how often without it.",
        "Only the difference counts: a long red bar beside an equally long grey one tells nothing that was not known. An "
        "attack got through if its whole 95 % interval lies above the baseline.",
        "Look at the attack with the largest difference. Linkage shrinks with k; inference with diversity, closeness or "
        "noise; membership and singling out with noise or a sample.",
        bars(rows, legend=[("got through", "bad"), ("did not", "good"), ("without the release", "faint")],
             label="Success of each attack, and its baseline"),
        element("details", element("summary", "All numbers"),
                table(["attack", "threat", "right", "95 % interval", "baseline", "got through", "in words"], lines,
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
    records = found["crowds"]["risk by record"]
    found_rows = [
        (
            entry["chance"],
            [Bar(entry["share"], percent(entry["share"]), entry["share"], "bad" if entry["above"] >= 0.2 else "a")],
        )
        for entry in records
    ]
    return section(
        "crowds",
        "Crowds",
        f"{number(sizes['number'])} groups of people who look alike: the smallest has {number(sizes['smallest'])} rows, the "
        f"middle one {number(sizes['median'])}, the largest {number(sizes['largest'])}.",
        "Left, how many groups there are of each size. Right, how many people are found with which chance by somebody "
        "who knows all their quasi-identifiers.",
        "Red bars are people who are found with a chance above one in five: ask for a larger k. Very large groups cost "
        "use: allow finer levels, or withhold a few outliers.",
        element(
            "div",
            element("div", element("h3", "Groups by size"), bars(drawn, label="Groups by size")),
            element(
                "div", element("h3", "People by the chance of being found"), bars(found_rows, label="Risk by record")
            )
            if records
            else None,
            class_="columns",
        ),
    )


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
        "Each line is a group, each piece a value's share, the largest first; which value it is, is not told. A line of "
        "one piece gives everybody in it away.",
        "Where the first piece is much longer than in the last line, ask for diversity (l) or closeness (t).",
        *parts,
    )


def columns(found: Found) -> Raw | None:
    """Every column before and after."""
    listed = found["usefulness"].get("columns", [])
    if not listed:
        return None
    parts = []
    for column in listed:
        shown = column["bars"]
        most = max((max(bar["before"], bar["after"]) for bar in shown), default=1) or 1
        rows = [
            (
                bar["value"],
                [
                    Bar(bar["before"] / most, percent(bar["before"]), bar["before"], "a"),
                    Bar(bar["after"] / most, percent(bar["after"]), bar["after"], "b"),
                ],
            )
            for bar in shown
        ]
        told = f"off by {percent(column['total variation'])} (total variation)"
        parts.append(
            element(
                "div",
                element("h3", column["column"], element("span", f"  {told}", class_="faint")),
                element("details", element("summary", f"{len(rows)} bars"),
                        bars(rows, legend=[("before", "a"), ("after", "b")], label=f"{column['column']}, before and after"),
                        open="" if len(rows) <= 8 else None),
            )
        )  # fmt: skip
    numbers = [
        (
            column["column"],
            *(
                exact(f"{column[name]:.3f}", column[name]) if name in column else ""
                for name in ("total variation", "hellinger", "kl", "wasserstein")
            ),
        )
        for column in listed
    ]
    return section(
        "columns",
        "Columns before and after",
        "The distribution of each column in the table and as the release lets one see it, labels spread evenly over what "
        "they stand for.",
        "Bars of equal length mean that counts of this column can be trusted. Values that fewer than five people have "
        "are not shown.",
        "A column that matters and is far off: give it a larger weight, finer levels, or publish fewer other columns.",
        element("div", *parts, class_="columns"),
        table(["column", "total variation", "Hellinger", "KL (nats)", "Wasserstein"], numbers, numbers=(1, 2, 3, 4)),
    )


def pairs(found: Found) -> Raw | None:
    """What goes together, before and after."""
    listed = found["usefulness"].get("pairs", [])
    if not listed:
        return None
    names = sorted({pair[side] for pair in listed for side in ("one", "two")})
    maps = [
        heat_map(names, {(pair["one"], pair["two"]): pair[f"association {when}"] for pair in listed}, caption=when)
        for when in ("before", "after")
    ]
    off = sum(pair["total variation"] for pair in listed) / len(listed)
    return section(
        "pairs",
        "What goes together",
        "How strongly pairs of columns depend on each other (Cramér's V), in the table and in the release.",
        f"0 is not at all, 1 is completely. On average the pairs' joint counts are off by {percent(off)}.",
        "Where a dark cell has become pale, do not study that pair from this release. Slicing keeps pairs that it puts "
        "into one column.",
        *maps,
    )


def queries(found: Found) -> Raw | None:
    """Counting queries."""
    listed = found["usefulness"].get("queries", [])
    if not listed:
        return None
    most = max(max(line["upper quartile"] for line in listed), 1e-9)
    rows = [
        (
            line["queries"],
            [
                Bar(line["median error"] / most, percent(line["median error"]), line["median error"], "a", " median"),
                Bar(line["upper quartile"] / most, percent(line["upper quartile"]), line["upper quartile"], "faint",
                    " 3 of 4"),
            ],
        )
        for line in listed
    ]  # fmt: skip
    return section(
        "queries",
        "Counting queries",
        f"The relative error of {number(sum(line['number'] for line in listed))} random questions of the form “how many "
        "people have this, and this, and this”.",
        "Small questions are about less than 1 % of the people, large ones about more than 10 %. Half of the questions "
        "are answered better than the first bar, three quarters better than the second.",
        "Use the release for questions of a size that it answers well; for the others publish the counts themselves, with "
        "noise.",
        bars(rows, label="Relative errors"),
    )


def learning(found: Found) -> Raw | None:
    """Classifiers."""
    listed = found["usefulness"].get("learning", [])
    if not listed:
        return None
    rows = [
        (
            f"{line['target']}, {line['classifier']}",
            [
                Bar(line["accuracy"], percent(line["accuracy"]), line["accuracy"], "b"),
                Bar(
                    line["accuracy on raw data"],
                    percent(line["accuracy on raw data"]),
                    line["accuracy on raw data"],
                    "a",
                ),
                Bar(line["majority"], percent(line["majority"]), line["majority"], "faint"),
            ],
        )
        for line in listed
    ]
    return section(
        "learning",
        "Learning from it",
        "How often classifiers predict a person's value right, taught by the release and by the raw table.",
        "The release is worth what lies between guessing the majority and learning from the raw table.",
        "If it is close to the majority, this release is not for prediction: try a method made for a class attribute.",
        bars(rows, legend=[("the release", "b"), ("the raw table", "a"), ("always the most frequent", "faint")],
             label="Accuracies"),
    )  # fmt: skip


def ladder(found: Found) -> Raw | None:
    """One person's ladder."""
    rungs = found["ladder"]
    if not rungs:
        return None
    top = math.log(1 + max(rung[when] or 0 for rung in rungs for when in ("before", "after")))

    def bar(rung: Found, when: str, colour: str) -> Bar:
        value = rung[when]
        few = rung["fewer than"]
        shown = few - 1 if value is None else value
        text = f"fewer than {few}" if value is None else number(value)
        return Bar(math.log(1 + shown) / max(top, 1e-9), text, shown, colour)

    rows = [
        (f"{'knowing ' if place == 0 else '+ '}{rung['learnt']}", [bar(rung, "before", "a"), bar(rung, "after", "b")])
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


def losses(found: Found) -> Raw | None:
    """The metrics of what labels lose."""
    listed = found["usefulness"].get("losses", {})
    if not listed:
        return None
    rows = [(name, exact(number(value), value)) for name, value in listed.items()]
    return section(
        "losses",
        "Information lost by labels",
        "The field's own measures of how much less the labels say than the values did.",
        "Most go from 0 (nothing lost) to 1 (everything); discernibility and group sizes grow with the rows.",
        "Use them to compare releases of the same table, not releases of different ones.",
        table(["metric", "value"], rows, numbers=(1,)),
    )


SECTIONS = (attacks, crowds, worst_groups, columns, pairs, queries, learning, ladder, losses)


def _name(risk: Found) -> str:
    return f"{risk['attack']}, {risk['column']}" if "column" in risk else str(risk["attack"])


def titles(parts: Sequence[Raw]) -> list[tuple[str, str]]:
    """Return the key and heading of each section, for the page's navigation."""
    found = []
    for part in parts:
        key = part.split('id="', 1)[1].split('"', 1)[0]
        heading = part.split("<h2>", 1)[1].split("</h2>", 1)[0]
        found.append((key, heading))
    return found
