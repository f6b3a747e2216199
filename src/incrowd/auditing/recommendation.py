"""Whether a release may leave the house, to whom, and why not: one sentence, decided by the rules of docs/audit.md.

All rules are here. They look at what an audit found, and at nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from incrowd.auditing.suppression import FEW
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.risk import LEVELS, Level, Risk, Threat

Recipients = Literal["the public", "known recipients", "nobody outside"]
"""To whom a release may go, the widest circle first."""

THREATS: tuple[Threat, ...] = ("singling out", "linkability", "inference")

NOT_LEGAL = "A recommendation by fixed rules, not a legal determination."

_SAID = 3
"""So many reasons are in the sentence; all of them are listed beside it."""


@dataclass(frozen=True)
class Recommendation:
    """To whom a release may go, and why no further."""

    may_go_to: Recipients
    because: tuple[str, ...]
    """Every reason, the gravest first; of a release that may go to the public, what it rests on."""

    @property
    def sentence(self) -> str:
        """The recommendation as one sentence: to whom, a colon, and why."""
        said = "; ".join(_clause(reason) for reason in self.because[:_SAID])
        more = len(self.because) - _SAID
        said += f"; and {more} more" if more > 0 else ""
        return {
            "the public": f"This release may leave the house, also to the public: {said}.",
            "known recipients": (
                "This release may leave the house under an agreement with known recipients, and not to the public: "
                f"{said}."
            ),
            "nobody outside": f"This release should not leave the house: {said}.",
        }[self.may_go_to]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain texts."""
        return {
            "may go to": self.may_go_to,
            "sentence": self.sentence,
            "because": list(self.because),
            "note": NOT_LEGAL,
        }


def recommend(
    *,
    attacks: Sequence[Risk],
    guaranteed: Sequence[str],
    false_claims: Sequence[str],
    seeded: bool,
    warnings: Sequence[str],
) -> Recommendation:
    """Return to whom a release may go: to nobody if anything forbids it, to known recipients if anything limits it.

    `guaranteed` are the statements that hold, `warnings` those of the release itself.
    """
    tried = {risk.threat for risk in attacks}
    forbidden = [f"it is said to satisfy what it does not, {claim}" for claim in false_claims]
    if seeded:
        forbidden.append("it was made with a seed, and whoever guesses it can undo what chance hides")
    if not tried:
        forbidden.append("no attack could be tried, so that nothing is known of what it withstands")
    forbidden += _by_threat([risk for risk in attacks if risk.reaches_people], ("high",))
    if forbidden:
        return Recommendation("nobody outside", tuple(forbidden))
    limited = _by_threat(attacks, ("noticeable", "high"))
    limited += [f"{threat} could not be tried" for threat in THREATS if threat not in tried]
    if not guaranteed:
        limited.append("nothing is guaranteed")
    limited += [f"it warns: {warning}" for warning in warnings]
    if limited:
        return Recommendation("known recipients", tuple(limited))
    holds = f"{' and '.join(guaranteed)} {'holds' if len(guaranteed) == 1 else 'hold'}"
    return Recommendation("the public", (holds, "every threat was tried and is low", "it warns of nothing"))


def _by_threat(attacks: Sequence[Risk], levels: Sequence[Level]) -> list[str]:
    """Return one reason for each threat, the worst attack's, the worst threat first."""
    worst: dict[str, Risk] = {}
    for risk in sorted(attacks, key=gravity, reverse=True):
        if risk.level in levels:
            worst.setdefault(risk.threat, risk)
    return [_reason(risk) for risk in worst.values()]


def gravity(risk: Risk) -> tuple[int, bool, float, bool, float]:
    """Order attacks: by level; of one level those that reach people, then by the share of people who are exposed, then
    by how far they got.
    """
    exposed = risk.exposed / max(risk.people, 1)
    return LEVELS.index(risk.level), risk.reaches_people, exposed, risk.got_through, risk.advantage


def _reason(risk: Risk) -> str:
    named = f"{risk.full_name}, “{risk.plain_name}”" if risk.plain_name else risk.full_name
    numbers = f"{percent(risk.value)} right, {percent(risk.baseline)} without the release"
    if risk.exposed:
        some = f"{risk.exposed:,}" if risk.exposed >= FEW else f"fewer than {FEW}"
        numbers += f", and {some} of {risk.people:,} people exposed for sure"
    return f"{risk.threat} is {risk.level} ({named}: {numbers})"


def _clause(reason: str) -> str:
    """Return a reason as part of a sentence: its own first sentence, without the full stop."""
    return reason.partition(". ")[0].rstrip(".")
