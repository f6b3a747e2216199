"""The parts of an audit's page about use."""

from __future__ import annotations

from incrowd.report.bars import Bar, bars, heat_map
from incrowd.report.html import Raw, element, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.section import Found, section


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
        chart = bars(rows, legend=[("before", "a"), ("after", "b")], label=f"{column['column']}, before and after")
        off = column["total variation"]
        told = element("span", "off by ", exact(percent(off), off), " (total variation)")
        parts.append(
            element(
                "div",
                element("h3", column["column"], element("span", " ", told, class_="faint")),
                element("details", element("summary", f"{len(rows)} bars"), chart, open=None if len(rows) > 8 else ""),
            )
        )
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
        "The distribution of each column in the table and as the release lets one see it, labels spread evenly over "
        "what they stand for.",
        "Bars of equal length mean that counts of this column can be trusted. Values that fewer than five people have "
        "are joined with others.",
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
    rows = [
        (pair["one"], pair["two"], exact(percent(pair["total variation"]), pair["total variation"])) for pair in listed
    ]
    return section(
        "pairs",
        "What goes together",
        "How strongly pairs of columns depend on each other (Cramér's V), in the table and in the release.",
        "0 is not at all, 1 is completely. Below, how far the counts of all combinations of two columns are off.",
        "Where a dark cell has become pale, do not study that pair from this release. Slicing keeps pairs that it puts "
        "into one column.",
        *maps,
        element("details", element("summary", f"Joint counts of {len(listed)} pairs"),
                table(["one", "two", "total variation"], rows, numbers=(2,))),
    )  # fmt: skip


def queries(found: Found) -> Raw | None:
    """Counting queries."""
    listed = found["usefulness"].get("queries", [])
    if not listed:
        return None
    most = max(max(line["upper quartile"] for line in listed), 1e-9)
    rows = [
        (
            f"{line['queries']}{', weighted' if line.get('weighted') else ''} ({number(line['number'])})",
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
        "The relative error of random questions of the form “how many people have this, and this, and this”"
        + (", and of those from the file." if listed[-1]["queries"] == "from file" else "."),
        "Small questions are about less than 1 % of the people, large ones about more than 10 %. Half of the questions "
        "are answered better than the first bar, three quarters better than the second.",
        "Use the release for questions of a size that it answers well; for the others publish the counts themselves, "
        "with noise.",
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
        "How often classifiers predict a person's value right, taught by the release and by the raw table. "
        + (
            "The people whom they are tested on were taken out of both before."
            if all(line.get("held out") for line in listed)
            else "The people whom they are tested on were not taught by the raw table, and were counted in the release."
        ),
        "The release is worth what lies between guessing the majority and learning from the raw table.",
        "If it is close to the majority, this release is not for prediction: try a method made for a class attribute.",
        bars(rows, legend=[("the release", "b"), ("the raw table", "a"), ("always the most frequent", "faint")],
             label="Accuracies"),
    )  # fmt: skip


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
