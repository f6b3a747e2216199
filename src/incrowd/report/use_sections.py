"""The parts of an audit's page about use."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.report.bars import Bar, bars
from incrowd.report.html import Raw, element, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.section import Found, section

_FIRST = 12
"""So many pairs are shown at first."""

_FAR, _KEPT, _WELL = 0.05, 0.8, 0.1
"""A column is far off from here on; an association is kept from here on; a question is answered well up to here."""


def _furthest(listed: Sequence[Found]) -> str:
    far = [column for column in listed if column["total variation"] > _FAR]
    if not far:
        return f"All {len(listed)} columns are within {percent(_FAR)}: use their counts."
    named = ", ".join(f"{column['column']} ({percent(column['total variation'])})" for column in far)
    return (
        f"Do not trust counts of these columns, which are off by more than {percent(_FAR)}: {named}. What another "
        "option would change was not measured here: list options under [[compare]] in the recipe, and run "
        "incrowd compare --loss columns."
    )


def _lost(listed: Sequence[Found]) -> str:
    strong = [pair for pair in listed if pair["association before"] >= 0.1]
    lost = [pair for pair in strong if pair["association after"] < _KEPT * pair["association before"]]
    if not lost:
        return f"All {len(strong)} associations of 0.1 and more keep {percent(_KEPT, 0)} of their strength: use them."
    named = ", ".join(f"{pair['one']} × {pair['two']}" for pair in lost[:_FIRST])
    more = f" and {len(lost) - _FIRST} more" if len(lost) > _FIRST else ""
    return (
        f"Do not study these pairs from this release, which keep less than {percent(_KEPT, 0)} of their strength: "
        f"{named}{more}. incrowd compare --loss pairs measures which options keep more."
    )


def _answered(listed: Sequence[Found]) -> str:
    kinds = [(line["queries"], line["median error"]) for line in listed]
    well = [f"{kind} ({percent(error)} off)" for kind, error in kinds if error <= _WELL]
    badly = [f"{kind} ({percent(error)} off)" for kind, error in kinds if error > _WELL]
    said = [f"Use it for these questions: {', '.join(well)}."] if well else []
    if badly:
        said.append(
            f"Do not use it for these: {', '.join(badly)}. Publish such counts themselves, with noise, or measure "
            "other options with incrowd compare --loss queries."
        )
    return " ".join(said)


def _learnt(listed: Sequence[Found]) -> str:
    best = max(listed, key=lambda line: line["accuracy"] - line["majority"])
    gained, possible = best["accuracy"] - best["majority"], best["accuracy on raw data"] - best["majority"]
    told = f"{best['target']} with {best['classifier']}"
    if gained <= 0.01:
        return f"Do not predict from it: even {told} is right no more often than always saying the most frequent."
    if possible <= 0:
        return f"Use it to predict {told}: it is no worse than the raw table."
    return (
        f"Use it to predict {told}: it keeps {percent(min(gained / possible, 1.0), 0)} of what the raw table teaches "
        "beyond the most frequent value. incrowd compare --learning --loss learning measures other options."
    )


def columns(found: Found) -> Raw | None:
    """Every column before and after."""
    listed = sorted(found["usefulness"].get("columns", []), key=lambda column: -column["total variation"])
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
        _furthest(listed),
        element("div", *parts, class_="columns"),
        table(["column", "total variation", "Hellinger", "KL (nats)", "Wasserstein"], numbers, numbers=(1, 2, 3, 4)),
    )


def changed(found: Found) -> Raw | None:
    """Columns that were changed before they were published."""
    listed = found["usefulness"].get("changed", [])
    if not listed:
        return None

    def told(column: Found, what: str) -> str:
        if f"{what} before" not in column:
            return "–"
        both = [column[f"{what} {when}"] for when in ("before", "after")]
        shown = [" / ".join(map(number, one)) if isinstance(one, list) else number(one) for one in both]
        return " → ".join(shown)

    rows = [
        (
            column["column"],
            column["says"],
            *(told(column, what) for what in ("mean", "deviation", "quartiles")),
            exact(percent(column["distance"]), column["distance"]) if "distance" in column else "–",
        )
        for column in listed
    ]
    far = [
        f"{column['column']} ({percent(column['distance'])})" for column in listed if column.get("distance", 0) > _FAR
    ]
    return section(
        "changed",
        "Changed columns",
        "What changes did to each column as a whole: in the table, and as it is published.",
        "The distance is the largest difference of two shares of people: of those up to any number, or of those with "
        "any of some names. What goes together with other columns is below, and how well true values are guessed, "
        "above.",
        "Correct for known chance: summary.json tells probabilities and variances, and release.count corrects for PRAM."
        + (f" Published values alone are off by more than {percent(_FAR)}: {', '.join(far)}." if far else ""),
        table(["column", "change", "mean", "deviation", "quartiles", "distance"], rows, numbers=(5,), class_="wide"),
    )


def pairs(found: Found) -> Raw | None:
    """What goes together, before and after."""
    listed = sorted(
        found["usefulness"].get("pairs", []),
        key=lambda pair: (-abs(pair["association before"] - pair["association after"]), -pair["total variation"]),
    )
    if not listed:
        return None
    drawn = [
        (
            f"{pair['one']} × {pair['two']}",
            [
                Bar(value, f"{value:.2f}", value, colour)
                for value, colour in ((pair["association before"], "a"), (pair["association after"], "b"))
            ],
        )
        for pair in listed
    ]
    legend = [("before", "a"), ("after", "b")]
    rows = [
        (pair["one"], pair["two"], exact(percent(pair["total variation"]), pair["total variation"]))
        for pair in sorted(listed, key=lambda pair: -pair["total variation"])
    ]
    return section(
        "pairs",
        "What goes together",
        "How strongly pairs of columns depend on each other (Cramér's V), in the table and in the release.",
        "0 is not at all, 1 is completely; the pairs that changed most come first. Below, how far the counts of all "
        "combinations of two columns are off.",
        _lost(listed),
        bars(drawn[:_FIRST], legend=legend, label="Associations, before and after"),
        element("details", element("summary", f"{len(drawn) - _FIRST} more pairs, which changed less"),
                bars(drawn[_FIRST:], legend=legend, label="More associations")) if len(drawn) > _FIRST else None,
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
        _answered(listed),
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
        _learnt(listed),
        bars(rows, legend=[("the release", "b"), ("the raw table", "a"), ("always the most frequent", "faint")],
             label="Accuracies"),
    )  # fmt: skip


def losses(found: Found) -> Raw | None:
    """The metrics of what labels lose."""
    listed = found["usefulness"].get("losses", {})
    if not listed:
        return None
    plain = found["usefulness"].get("names of losses", {})
    rows = [
        (f"{name} ({plain[name]})" if plain.get(name) else name, exact(number(value), value))
        for name, value in listed.items()
    ]
    return section(
        "losses",
        "Information lost by labels",
        "The field's own measures of how much less the labels say than the values did, with what each counts.",
        "Most go from 0 (nothing lost) to 1 (everything); discernibility and group sizes grow with the rows.",
        "Use them to compare releases of the same table, not releases of different ones.",
        table(["metric", "value"], rows, numbers=(1,)),
    )
