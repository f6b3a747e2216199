"""Everything that a reviewer asks about a release, from its files: numbers first, then one page that shows them."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.common.version import __version__
from incrowd.common.writing import write_text
from incrowd.errors import SourceError
from incrowd.evidence.context import Context
from incrowd.evidence.page import evidence_page
from incrowd.evidence.risks import judged, measured, thresholds
from incrowd.evidence.standards import SECTIONS, STANDARDS
from incrowd.evidence.variables import techniques
from incrowd.ledger import Ledger
from incrowd.publishing.check import check
from incrowd.publishing.opening.description import Description
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.release import Release

SAYS = "This is evidence, not a legal determination."
_LIBRARIES = ("numpy", "polars")


@dataclass(frozen=True)
class Evidence:
    """Evidence about one release, as plain values."""

    found: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        return dict(self.found)

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.found, indent=2, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """Return one page that opens offline and can be printed."""
        return evidence_page(self.found)

    def save(self, directory: str | Path) -> tuple[Path, Path]:
        """Write `evidence.html` and `evidence.json` into a directory."""
        page, numbers = Path(directory) / "evidence.html", Path(directory) / "evidence.json"
        write_text(page, self.to_html() + "\n", parents=True)
        write_text(numbers, self.to_json() + "\n", parents=True)
        return page, numbers


def make_evidence(
    release: str | Path,
    *,
    original: str | Path | None = None,
    external: str | Path | None = None,
    earlier: Sequence[Release] = (),
    context: Context | None = None,
    ledger: Ledger | None = None,
    seed: int = 0,
    learn: bool = True,
    progress: Progress = silent,
) -> Evidence:
    """Gather evidence about a release that was saved to a directory.

    Parameters
    ----------
    release : the directory of the release.
    original : the table that it was made of: initial risk and usefulness need it (default: neither is told).
    external : a table about people that an adversary may have (default: none).
    earlier : other releases about overlapping people (default: none).
    context : what the steward answered, and thresholds (default: all questions are open).
    ledger : the ledger of the data holding (default: none; the evidence says so).
    seed : picks the people who are attacked.
    learn : also teach classifiers (default: True).
    """
    place = Path(release)
    if not (place / "recipe.toml").is_file():
        raise SourceError(f"{place} is no release that was made here: there is no recipe.toml in it.")
    told = context or Context()
    opened = open_release(place, original=original, external=external)
    audit = opened.audit(original=original if earlier else None, external=external, earlier=earlier,
                         learn=learn, remedies=False, seed=seed, progress=progress)  # fmt: skip
    found = audit.to_dict()
    summary = json.loads((place / "summary.json").read_text(encoding="utf-8"))
    recipe = tomllib.loads((place / "recipe.toml").read_text(encoding="utf-8"))
    residual = {} if opened.hides_rows else measured(check(str(place)))
    limits = thresholds(told.thresholds, opened.guarantees)
    initial = None if original is None else measured(_check_before(original, place))
    return Evidence(
        {
            "format": 1,
            "kind": "incrowd evidence",
            "says": SAYS,
            "made at": datetime.now(UTC).isoformat(timespec="seconds"),
            "release": place.resolve().name,
            "recommendation": found["recommendation"],
            "published": {
                "rows": summary.get("rows", {}),
                **({"people": summary["people"]} if "people" in summary else {}),
                "form": summary.get("form"),
                "method": summary.get("method"),
                "guarantees": summary.get("guarantees", []),
                "false claims": found["verdict"].get("false claims", []),
                "warnings": found["warnings"],
            },
            "variables": techniques(recipe.get("columns", {}), summary),
            "risk": {
                "initial": initial,
                "thresholds": limits,
                "residual": residual,
                "judged": judged(residual, limits),
                "private": opened.hides_rows,
            },
            "adversaries": {
                "threats": found["verdict"]["threats"],
                "attacks": found["attacks"],
                "not tried": found["not tried"],
                "external table": external is not None,
                "earlier releases": len(earlier),
            },
            "usefulness": _usefulness(found),
            "assumptions": _assumptions(
                summary, original is not None, external is not None, ledger is not None, opened
            ),
            "context": told.to_dict(),
            "ledger": None if ledger is None else _state(ledger, place),
            "hashes": {
                "files": found["published"].get("files", []),
                "versions": {
                    "incrowd": __version__,
                    "python": platform.python_version(),
                    **{name: version(name) for name in _LIBRARIES},
                },
                "seeded": bool(summary.get("seeded")),
            },
            "sections": dict(SECTIONS),
            "standards": {
                name: [{"asks": asks, "answered in": list(parts)} for asks, parts in lines]
                for name, lines in STANDARDS.items()
            },
        }
    )


def _check_before(original: str | Path, place: Path) -> Any:
    """Return what the table itself looks like, before anything was done to it."""
    described = Description.load(place / "recipe.toml")
    roles = described.roles
    text = Path(original).suffix.lower() in (".csv", ".tsv", ".txt", "")
    return check(
        str(original),
        quasi=[name for name, role in roles.items() if role == "quasi"],
        sensitive=[name for name, role in roles.items() if role == "sensitive"],
        person=described.person,
        each_row_a_person=not described.person,
        **(dict(described.original_reading) if text else dict(described.sheet)),
    )


def _usefulness(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an audit says in short; the rest is the audit's own page."""
    use = found["usefulness"]
    if not use:
        return {"measured": False, "says": ["Not measured: the table before was not given."]}
    return {
        "measured": True,
        "says": found["verdict"]["good for"],
        "losses": use.get("losses", {}),
        "columns": [
            {key: column[key] for key in ("column", "role", "total variation") if key in column}
            for column in use.get("columns", [])
        ],
        "queries": use.get("queries", []),
    }


def _assumptions(
    summary: Mapping[str, Any], knows_table: bool, knows_others: bool, has_ledger: bool, opened: Release
) -> list[str]:
    """Return what the numbers rest on, in plain words."""
    found = [
        "Adversaries know at most the quasi-identifiers of a person, and where a line says so, the columns that are "
        "kept. Whoever knows more may find more.",
        "Guarantees that are verified were checked again on the published files. Those by construction rest on the "
        "method.",
    ]
    if opened.hides_rows:
        found.append("Noise was drawn once, from the operating system's randomness, and is not published.")
    else:
        found.append(
            "A prosecutor's risk takes every member of a group for equally probable: nothing else tells them apart."
        )
    if "people" not in summary:
        found.append("Each row is one person: no column tells whose a row is.")
    if not knows_table:
        found.append("The table before was not given: nobody could check who is right, and usefulness is not measured.")
    if not knows_others:
        found.append("No other table about these people was given, so that linking the release to one was not tried.")
    if not has_ledger:
        found.append("No ledger was given: other releases about the same people, and budgets, are not part of this.")
    if summary.get("seeded"):
        found.append("Made with a seed: whoever knows it can undo what chance hides. It is not for publication.")
    return found


def _state(ledger: Ledger, place: Path) -> dict[str, Any]:
    """Return what a ledger says: budgets, releases, and whether it and this release fit together."""
    entries, cap = ledger.entries, ledger.cap
    return {
        "entries": len(entries),
        "releases": sum(entry.kind == "made" for entry in entries),
        "last entry": entries[-1].hash if entries else None,
        "last time": entries[-1].time if entries else None,
        "spent": str(ledger.spent),
        "cap": None if cap is None else str(cap),
        "faults": ledger.verify([place]),
    }
