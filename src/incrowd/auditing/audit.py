"""An audit: all that was found out about a release, as plain numbers and sentences. Every view of it, in the terminal,
as JSON or as a page, shows these and no others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from incrowd.auditing.learnt import Learnt, headline
from incrowd.auditing.recommendation import THREATS, Recommendation, gravity, recommend
from incrowd.auditing.remedies.remedy import Remedies
from incrowd.auditing.suppression import FEW
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.common.writing import write_text
from incrowd.core.risk import QUESTIONS, Risk
from incrowd.errors import OutputError


@dataclass(frozen=True)
class Skipped:
    """What was not tried or measured, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Audit:
    """The evidence about one release.

    `about` describes it; `guarantees` are what it promises, each with its basis; `achieved` what its groups turn out to
    satisfy; `usefulness` holds tables of what it is still good for.
    """

    about: Mapping[str, Any]
    guarantees: Sequence[Mapping[str, Any]]
    achieved: Mapping[str, Any]
    attacks: tuple[Risk, ...]
    skipped: tuple[Skipped, ...]
    usefulness: Mapping[str, Any]
    crowds: Mapping[str, Any]
    ladder: Sequence[Mapping[str, Any]]
    warnings: Sequence[str]
    settings: Mapping[str, Any]
    false_claims: Sequence[str] = ()
    """What the release is said to satisfy, and does not."""
    own_warnings: Sequence[str] = ()
    """Those of the warnings that are the release's own, and not about how it was audited."""
    remedies: Remedies = field(default_factory=Remedies)
    """What would change the findings, as far as that was measured."""
    published: Mapping[str, Any] = field(default_factory=dict)
    """The published files with their hashes, the recipe, and the day of the audit."""

    @cached_property
    def recommendation(self) -> Recommendation:
        """Whether the release may leave the house, to whom, and why not; see `auditing/recommendation.py`."""
        return recommend(
            attacks=self.attacks,
            guaranteed=[str(guarantee["statement"]) for guarantee in self.guarantees],
            false_claims=self.false_claims,
            seeded=bool(self.about.get("seeded")),
            warnings=self.own_warnings,
        )

    @property
    def guaranteed(self) -> list[str]:
        """What is promised, as sentences."""
        promises = [_promise(guarantee) for guarantee in self.guarantees]
        return promises or ["Nothing is promised: what follows is what was found."]

    @property
    def strongest(self) -> Risk | None:
        """The attack with the largest advantage of those that got through or expose anybody; None if none does."""
        through = [risk for risk in self.attacks if risk.got_through or risk.exposed]
        return max(through, key=lambda risk: risk.advantage, default=None)

    @cached_property
    def threats(self) -> dict[str, dict[str, Any]]:
        """For each thing that authorities ask about: how far the worst attack got.

        The level is that of the worst attack, and is never low where anybody is exposed.
        """
        found: dict[str, dict[str, Any]] = {}
        for threat in THREATS:
            tried = [risk for risk in self.attacks if risk.threat == threat]
            worst = max(tried, key=gravity, default=None)
            if worst is None:
                found[threat] = {
                    "asks": QUESTIONS[threat],
                    "level": "not tried",
                    "says": "No attack of this kind could be tried.",
                }
                continue
            found[threat] = {
                "asks": QUESTIONS[threat],
                "level": worst.level,
                "attack": worst.attack,
                **({"plain name": worst.plain_name} if worst.plain_name else {}),
                "value": worst.value,
                "baseline": worst.baseline,
                "advantage": worst.advantage,
                "says": worst.says + _exposed(worst),
            }
        return found

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """One screen: what is guaranteed, the strongest attack that got through, what the data is still good for."""
        strongest = self.strongest
        return {
            **({"false claims": list(self.false_claims)} if self.false_claims else {}),
            "guaranteed": self.guaranteed,
            "strongest attack": None if strongest is None else strongest.to_dict(),
            "good for": _good_for(self.usefulness),
            "threats": self.threats,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        return {
            "format": 1,
            "recommendation": self.recommendation.to_dict(),
            "release": dict(self.about),
            "published": dict(self.published),
            "verdict": self.verdict,
            "guarantees": [dict(guarantee) for guarantee in self.guarantees],
            "achieved": dict(self.achieved),
            "attacks": [risk.to_dict() for risk in self.attacks],
            "not tried": [{"what": skipped.what, "why": skipped.why} for skipped in self.skipped],
            "usefulness": dict(self.usefulness),
            "crowds": dict(self.crowds),
            "ladder": [dict(rung) for rung in self.ladder],
            "what to do": self.remedies.to_dict(),
            "warnings": list(self.warnings),
            "settings": dict(self.settings),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """Return one page that needs nothing else: it opens offline, in light and dark."""
        from incrowd.report import page

        return page(self.to_dict())

    def save(self, path: str | Path) -> Path:
        """Write a page (`.html`) or JSON (`.json`), by the path's suffix."""
        path = Path(path)
        kinds = {".html": self.to_html, ".json": self.to_json}
        if path.suffix.lower() not in kinds:
            raise OutputError(f"an audit is written as .html or .json, not as '{path.suffix}'.")
        text = kinds[path.suffix.lower()]()
        write_text(path, text + "\n", parents=True)
        return path

    def _repr_html_(self) -> str:
        from incrowd.report import fragment

        return fragment(self.to_dict())

    def __repr__(self) -> str:
        levels = ", ".join(f"{threat}: {found['level']}" for threat, found in self.threats.items())
        return f"Audit({len(self.attacks)} attacks; {levels})"


def _exposed(risk: Risk) -> str:
    """Return how many people the adversary is sure about."""
    if not risk.exposed:
        return ""
    some = f"{risk.exposed:,}" if risk.exposed >= FEW else f"fewer than {FEW}"
    return f" Exposed for sure: {some} of {risk.people:,}."


def _promise(guarantee: Mapping[str, Any]) -> str:
    basis = {"verified": "verified on what is published", "by construction": "by construction of the method"}
    note = f" ({guarantee['note']})" if guarantee.get("note") else ""
    return f"{guarantee['statement']}: {basis.get(str(guarantee['basis']), guarantee['basis'])}{note}"


def _good_for(usefulness: Mapping[str, Any]) -> list[str]:
    """Return what the numbers mean to somebody who wants to use the data."""
    said = []
    columns = usefulness.get("columns", [])
    if columns:
        kept = [column for column in columns if column["total variation"] <= 0.05]
        said.append(f"{len(kept)} of {len(columns)} columns keep their distribution to within 5 %.")
    pairs = [pair for pair in usefulness.get("pairs", []) if pair["association before"] >= 0.1]
    if pairs:
        kept_pairs = [pair for pair in pairs if pair["association after"] >= 0.8 * pair["association before"]]
        said.append(
            f"{len(kept_pairs)} of {len(pairs)} associations between columns keep at least 80 % of their strength."
        )
    for line in usefulness.get("queries", []):
        kind = "The queries from the file" if line["queries"] == "from file" else f"{line['queries']} counting queries"
        kind += " (weighted)" if line.get("weighted") else ""
        said.append(f"{kind[0].upper()}{kind[1:]} have a median error of {percent(line['median error'], 0)}.")
    learnt = usefulness.get("learning", [])
    if learnt:
        said.append(_learnt(headline(learnt)))
    return said


def _learnt(best: Learnt | None) -> str:
    if best is None:
        return "Prediction: not even the raw table teaches more than which value of a column is the most frequent."
    told = f"{best.target} is predicted right for {percent(best.accuracy, 0)} of the people who were not learnt from"
    others = f"the raw table teaches {percent(best.on_raw_data, 0)}, guessing the most frequent value gives"
    if not best.taught:
        return f"{told}: no better than guessing. Where {others} {percent(best.majority, 0)}."
    return f"{told} ({best.classifier}); {others} {percent(best.majority, 0)}."
