"""A whole page from an audit's numbers: the verdict on one screen, then the evidence. No script, no outside request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from incrowd.common.version import __version__
from incrowd.report.html import Child, Raw, element, joined, table
from incrowd.report.numbers import exact, number, percent
from incrowd.report.section import named, titles
from incrowd.report.sections import SECTIONS
from incrowd.report.style import PAGE_STYLE, STYLE

_COLOURS = {"the public": "good", "known recipients": "warn", "nobody outside": "bad"}


def page(found: Mapping[str, Any], *, title: str = "Audit of a release") -> str:
    """Return a page that opens offline; the numbers it shows are also in it, as JSON."""
    return whole_page(title, body(found, title), found)


def whole_page(title: str, content: Child, data: Mapping[str, Any]) -> str:
    """Return a document around some content."""
    # A closing tag inside a text would end the script element.
    carried = Raw(json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", title),
        element("style", Raw(PAGE_STYLE)),
    )
    script = element("script", carried, type="application/json", id="numbers")
    return "<!doctype html>\n" + element("html", head, element("body", content, script), lang="en")


def fragment(found: Mapping[str, Any]) -> str:
    """Return the verdict alone, as a notebook shows it."""
    return joined(
        [element("style", Raw(STYLE)), element("div", recommendation(found), *verdict(found), class_="incrowd")]
    )


def body(found: Mapping[str, Any], title: str) -> Raw:
    """Return everything that is seen."""
    parts = [part for part in (make(found) for make in SECTIONS) if part is not None]
    links = [element("a", Raw(heading), href=f"#{key}") for key, heading in titles(parts)]
    return element(
        "main",
        element("h1", title),
        recommendation(found),
        element("p", _about(found), class_="faint"),
        _published(found),
        *verdict(found),
        element("nav", *links),
        *parts,
        _colophon(found),
        class_="incrowd",
    )


def recommendation(found: Mapping[str, Any]) -> Raw:
    """Return the one sentence that comes first, and all reasons where it does not hold them."""
    said = found["recommendation"]
    reasons, (whom, colon, why) = said["because"], said["sentence"].partition(":")
    whole = all(reason.rstrip(".") in why for reason in reasons)
    return element(
        "div",
        element("p", element("strong", whom + colon), why),
        None if whole else element("details", element("summary", f"All {len(reasons)} reasons"), _list(reasons)),
        element("p", said["note"], class_="faint"),
        class_=f"leading {_COLOURS[said['may go to']]}",
    )


def _published(found: Mapping[str, Any]) -> Raw | None:
    """Return which files this is about, and how they were made."""
    said = found["published"]
    if not said:
        return None
    rows = [
        (
            file["name"],
            exact(f"{number(file['bytes'])} bytes", file["bytes"]),
            file["changed on"],
            element("span", file["sha256"], class_="hash"),
        )
        for file in said["files"]
    ]
    head: list[Child] = ["made in this session: there are no files yet, and no hash of them"]
    if rows:
        first = said["files"][0]
        head = [element("strong", first["name"]), f", last changed on {first['changed on']}, SHA-256 ", rows[0][-1]]
    recipe = said.get("recipe")
    return element(
        "div",
        element("p", f"Audited on {said['audited on']} (UTC): ", head, "."),
        element("details", element("summary", f"All {len(rows)} files, with their hashes"),
                table(["file", "size", "last changed", "SHA-256"], rows)) if len(rows) > 1 else None,
        element("details", element("summary", "Recipe, or what describes its columns"),
                element("pre", recipe)) if recipe else None,
        class_="published",
    )  # fmt: skip


def verdict(found: Mapping[str, Any]) -> list[Raw]:
    """Return one screen: what is guaranteed, what got through, what it is good for."""
    said = found["verdict"]
    strongest = said["strongest attack"]
    attack: list[Child] = [element("p", "No attack did better than guessing.")]
    if strongest is not None:
        attack = [
            element("p", element("strong", named(strongest)), ": ",
                    exact(percent(strongest["value"]), strongest["value"]),
                    " right, against ", exact(percent(strongest["baseline"]), strongest["baseline"]),
                    f" ({strongest['baseline is']})."),
            element("p", strongest["says"]),
        ]  # fmt: skip
    cards = [
        element("div", element("h3", "Guaranteed"), _guaranteed(found), class_="card"),
        element("div", element("h3", "Strongest attack that got through"), *attack, class_="card"),
        element(
            "div",
            element("h3", "Still good for"),
            _list(said["good for"])
            if said["good for"]
            else element("p", "Not measured: the table before is not known."),
            class_="card",
        ),
    ]
    threats = [
        element(
            "div",
            element("h3", threat),
            element("p", element("span", entry["level"], class_=f"badge {entry['level'].replace(' ', '-')}"), " ",
                    element("span", entry["asks"], class_="faint")),
            element("p", element("span", f"{named(entry)}: ", class_="faint") if "attack" in entry else None,
                    entry["says"]),
            class_="card",
        )
        for threat, entry in said["threats"].items()
    ]  # fmt: skip
    claims = [
        element("p", element("strong", "Claimed, and not so: "), claim, class_="note")
        for claim in said.get("false claims", [])
    ]
    said_before = [str(claim) for claim in said.get("false claims", [])]
    others = [text for text in found["warnings"] if not any(claim in text for claim in said_before)]
    notes = [element("p", warning, class_="note") for warning in others]
    return [*claims, element("div", *cards, class_="cards"), element("div", *threats, class_="cards"), *notes]


def _about(found: Mapping[str, Any]) -> str:
    about = found["release"]
    rows = about["rows"]
    told = f"{number(rows['published'])} rows published"
    if "withheld" in rows:
        told += f", {number(rows['withheld'])} withheld"
    quasi, sensitive = about["columns"]["quasi-identifiers"], about["columns"]["sensitive"]
    known = f" Outsiders may know {', '.join(quasi)}." if quasi else ""
    hidden = f" To be hidden: {', '.join(sensitive)}." if sensitive else ""
    items = about.get("items")
    sets = (
        f" Of sets of items, {items['item loss']:.1%} of the detail is lost and "
        f"{items['frequent itemsets kept']:.1%} of the {number(items['frequent itemsets'])} frequent items and pairs "
        "are kept."
        if items and "frequent itemsets kept" in items
        else ""
    )
    recoded = "; ".join(f"{name}: {column['says']}" for name, column in about.get("recoded", {}).items())
    columns = f" What became of columns: {recoded}." if recoded else ""
    changed = "; ".join(f"{name}: {says}" for name, says in about.get("changed", {}).items())
    columns += f" Changed before publication: {changed}." if changed else ""
    return f"{about['form'].capitalize()}, made by {about['method']['name']}; {told}.{known}{hidden}{columns}{sets}"


def _guaranteed(found: Mapping[str, Any]) -> Raw:
    """Return what is promised, with what that means."""
    plain = [entry.get("plain name", "") for entry in found["guarantees"]] or [""]
    told = zip(found["verdict"]["guaranteed"], plain, strict=True)
    items = [(text, element("div", words, class_="faint") if words else None) for text, words in told]
    return element("ul", *(element("li", *item) for item in items))


def _list(items: list[str]) -> Raw:
    return element("ul", *(element("li", item) for item in items))


def _colophon(found: Mapping[str, Any]) -> Raw:
    settings = "; ".join(f"{name}: {value}" for name, value in found["settings"].items())
    return element(
        "p",
        f"incrowd {__version__}. {settings}. Every number on this page is in the JSON that it carries.",
        class_="faint",
    )
