"""Evidence as one page: no script, no outside request; it opens anywhere, and prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from incrowd.report.html import Child, Raw, element, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.page import recommendation, whole_page
from incrowd.report.section import named

Found = Mapping[str, Any]
_KEPT = {True: "kept", False: "not kept", None: "not judged"}


def evidence_page(found: Found) -> str:
    """Return the page."""
    title = f"Evidence about the release {found['release']}"
    makers = {
        "published": _published, "variables": _variables, "risk": _risk, "adversaries": _adversaries,
        "usefulness": _usefulness, "assumptions": _assumptions, "context": _context, "ledger": _ledger,
        "hashes": _hashes,
    }  # fmt: skip
    parts = [
        element("section", element("h2", heading), *makers[key](found), id=key)
        for key, heading in found["sections"].items()
    ]
    content = element(
        "main",
        element("h1", title),
        element("p", element("strong", found["says"]), f" Made at {found['made at']} (UTC)."),
        recommendation(found),
        element("nav", *(element("a", text, href=f"#{key}") for key, text in found["sections"].items()),
                element("a", "Which standard asks for what", href="#standards")),
        *parts,
        element("section", element("h2", "Which standard asks for what"), *_standards(found), id="standards"),
        class_="incrowd",
    )  # fmt: skip
    return whole_page(title, content, found)


def _list(texts: Iterable[Child]) -> Raw:
    return element("ul", *(element("li", text) for text in texts))


def _published(found: Found) -> list[Child]:
    told = found["published"]
    rows = [(key, exact(number(value), value) if isinstance(value, (int, float)) else str(value))
            for key, value in told["rows"].items()]  # fmt: skip
    promises = [
        (one["statement"], one["basis"], _value(one.get("achieved")), one.get("note", "")) for one in told["guarantees"]
    ]
    return [
        element("p", f"Form: {told['form']}. Method: {told['method']['name'] if told['method'] else 'not told'}."),
        table(["rows", "number"], rows, numbers=(1,)),
        element("h3", "Guaranteed"),
        table(["guarantee", "basis", "reached", "note"], promises, numbers=(2,))
        if promises
        else element("p", "Nothing is promised."),
        *([element("h3", "Claimed, and not so"), _list(told["false claims"])] if told["false claims"] else []),
        *([element("h3", "Warnings"), _list(told["warnings"])] if told["warnings"] else []),
    ]


def _variables(found: Found) -> list[Child]:
    rows = [(one["variable"], one["role"], one["technique"]) for one in found["variables"]]
    return [table(["variable", "role", "technique"], rows)]


def _risk(found: Found) -> list[Child]:
    told = found["risk"]
    if told["private"]:
        return [
            element("p", "No row is anybody's: the release is made of noisy counts, and its risk is bounded by ε and "
                         "δ, which are among the guarantees. Sizes of groups say nothing about people."),
        ]  # fmt: skip
    measures = [
        ("prosecutor: maximum", "prosecutor", "maximum"), ("prosecutor: average", "prosecutor", "average"),
        ("journalist: maximum, at most", "journalist", "maximum at most"),
        ("journalist: average, at most", "journalist", "average at most"),
        ("marketer: average", "marketer", "average"),
    ]  # fmt: skip
    limits = {f"prosecutor: {name}": one["limit"] for name, one in told["thresholds"].items()}
    rows = [
        (label, _share(told["initial"], who, what), _percent(limits.get(label)), _share(told["residual"], who, what))
        for label, who, what in measures
    ]
    counts = [
        (label, _count(told["initial"], key), "", _count(told["residual"], key))
        for label, key in (("people", "people"), ("groups", "groups"), ("smallest group", "smallest group"),
                           ("alone in their group", "alone in their group"))
    ]  # fmt: skip
    verdicts = [
        element(
            "p",
            f"{one['measure']}: ",
            _percent(one["residual"]),
            " left, ",
            _percent(one["threshold"]),
            f" accepted (set by {one['set by']}): ",
            element("strong", _KEPT[one["kept"]]),
            ".",
        )
        for one in told["judged"]
    ]
    beside = told["residual"].get("columns that are not in it", [])
    warning = (
        f"These numbers leave out columns that are published beside the labels: {', '.join(beside)}. Whoever knows "
    )
    warning += "somebody's values there may find their row. What that comes to is among the attacks."
    return [
        element("p", warning, class_="note") if beside else None,
        element("p", "The probability that somebody's row is found by whoever knows all quasi-identifiers. A "
                     "journalist does not know who is in the table: the risk is at most a prosecutor's."),
        table(["measure", "before (initial)", "threshold", "after (residual)"], [*rows, *counts], numbers=(1, 2, 3)),
        *(verdicts or [element("p", "No threshold was set.  Set one in the answers, [thresholds].")]),
    ]  # fmt: skip


def _adversaries(found: Found) -> list[Child]:
    told = found["adversaries"]
    threats = [
        (threat, entry["asks"], _badge(entry["level"]), entry["says"]) for threat, entry in told["threats"].items()
    ]
    attacks = [
        (named(one), _percent(one["value"]), _percent(one["baseline"]), _badge(one["level"])) for one in told["attacks"]
    ]
    missing = [f"{one['what']}: {one['why']}" for one in told["not tried"]]
    return [
        table(["threat", "question", "level", "worst finding"], threats, class_="wide"),
        element("h3", "Every attack"),
        table(["attack", "right", "by guessing", "level"], attacks, numbers=(1, 2)),
        *([element("h3", "Not tried or measured"), _list(missing)] if missing else []),
    ]


def _usefulness(found: Found) -> list[Child]:
    told = found["usefulness"]
    losses = [
        (name, _value(value)) for name, value in told.get("losses", {}).items() if isinstance(value, (int, float))
    ]
    columns = [
        (one["column"], one.get("role", ""), _value(one.get("total variation"))) for one in told.get("columns", [])
    ]
    return [
        _list(told["says"]) if told["says"] else None,
        table(["loss", "value"], losses, numbers=(1,)) if losses else None,
        table(["column", "role", "distance of its distribution (0: same, 1: other)"], columns, numbers=(2,))
        if columns
        else None,
    ]


def _assumptions(found: Found) -> list[Child]:
    return [_list(found["assumptions"])]


def _context(found: Found) -> list[Child]:
    rows = [(one["asks"], one["answer"] or element("em", "open")) for one in found["context"]["questions"]]
    return [table(["question", "answer of the steward"], rows)]


def _ledger(found: Found) -> list[Child]:
    told = found["ledger"]
    if told is None:
        return [
            element("p", "No ledger was given: other releases about the same people are not part of this evidence.")
        ]
    rows = [
        ("entries", str(told["entries"])), ("releases", str(told["releases"])), ("spent", told["spent"]),
        ("cap", told["cap"] or "none"), ("last entry", element("span", told["last entry"] or "", class_="hash")),
        ("at", told["last time"] or ""),
    ]  # fmt: skip
    verdict = _list(told["faults"]) if told["faults"] else element("p", "The chain of entries is whole.")
    return [table(["ledger", ""], rows), verdict]


def _hashes(found: Found) -> list[Child]:
    told = found["hashes"]
    files = [
        (one["name"], exact(number(one["bytes"]), one["bytes"]), element("span", one["sha256"], class_="hash"))
        for one in told["files"]
    ]
    versions = ", ".join(f"{name} {one}" for name, one in told["versions"].items())
    return [table(["file", "bytes", "SHA-256"], files, numbers=(1,)), element("p", f"Versions: {versions}.")]


def _standards(found: Found) -> list[Child]:
    parts: list[Child] = [
        element("p", "Where a text's question is answered above. Being listed here does not mean that a demand is met.")
    ]
    for name, lines in found["standards"].items():
        rows = [
            (line["asks"], _joined(element("a", found["sections"][key], href=f"#{key}") for key in line["answered in"]))
            for line in lines
        ]
        parts += [element("h3", name), table(["asks", "see"], rows)]
    return parts


def _joined(links: Iterable[Child]) -> list[Child]:
    found: list[Child] = []
    for link in links:
        found += [", ", link] if found else [link]
    return found


def _badge(level: str) -> Raw:
    return element("span", level, class_=f"badge {level.replace(' ', '-')}")


def _share(told: Found | None, who: str, what: str) -> Child:
    return "not known" if told is None or who not in told else _percent(told[who][what])


def _count(told: Found | None, key: str) -> Child:
    value = None if told is None else told.get(key)
    return "not known" if value is None else exact(number(value), value)


def _percent(value: float | None) -> Child:
    return "" if value is None else exact(percent(value), value)


def _value(value: float | None) -> Child:
    return "" if value is None else exact(f"{value:.4g}", value)
