"""The outcome of a comparison: risk against loss, and which candidates nothing else beats on both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from incrowd.common.records import dataclass
from incrowd.common.writing import write_text
from incrowd.errors import OutputError, RecipeError
from incrowd.planning.compare.winning import Point, beaten, verdict, winners

RiskAxis = Literal["mean", "worst", "singling out", "linkability", "inference"]
LossAxis = Literal["queries", "columns", "pairs", "learning"]
RISKS: tuple[str, ...] = get_args(RiskAxis)
LOSSES: tuple[str, ...] = get_args(LossAxis)

LOSS_MEANING = {
    "queries": "median relative error of counting queries",
    "columns": "mean total variation of columns",
    "pairs": "mean total variation of pairs of columns",
    "learning": "accuracy lost against learning from the raw table",
}
RISK_MEANING = {
    "mean": "advantage of the best attack, averaged over singling out, linkability and inference",
    "worst": "advantage of the best attack of all",
    "singling out": "advantage of the best attack that singles out",
    "linkability": "advantage of the best attack that links",
    "inference": "advantage of the best attack that infers",
}


@dataclass(frozen=True)
class Outcome:
    """What one candidate came to: `risks` are advantages by threat, `losses` by what is measured; or why it failed."""

    name: str
    method: str
    form: str
    promises: tuple[str, ...]
    rows: int
    withheld: int | None
    risks: Mapping[str, float]
    losses: Mapping[str, float]
    strongest: str
    seconds: float
    failed: str = ""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Read an outcome that was written down."""
        return cls(**{**data, "promises": tuple(data["promises"])})

    def risk(self, axis: str) -> float:
        """Return the risk that is drawn."""
        values = list(self.risks.values())
        if axis == "mean":
            return sum(values) / max(len(values), 1)
        return max(values, default=0.0) if axis == "worst" else self.risks.get(axis, 0.0)


@dataclass(frozen=True)
class Comparison:
    """All outcomes, ranked: first those that nothing else beats on risk and loss at once, by their sum."""

    outcomes: tuple[Outcome, ...]
    risk: str = "mean"
    loss: str = "queries"

    def __post_init__(self) -> None:
        if self.risk not in RISKS:
            raise RecipeError(f"the risk that is compared is one of {', '.join(RISKS)}, not '{self.risk}'.")
        if self.loss not in LOSSES:
            raise RecipeError(f"the loss that is compared is one of {', '.join(LOSSES)}, not '{self.loss}'.")

    @property
    def compared(self) -> list[Outcome]:
        """Outcomes with both numbers."""
        return [outcome for outcome in self.outcomes if not outcome.failed and self.loss in outcome.losses]

    @property
    def frontier(self) -> set[str]:
        """The names of the candidates that no other is at least as good as on both, and better on one."""
        return {outcome.name for outcome in self.compared} - beaten(self.points)

    @property
    def points(self) -> list[Point]:
        """What is compared of each candidate."""
        return [Point(one.name, *self.point(one), one.risk("worst"), one.strongest) for one in self.compared]

    @property
    def winners(self) -> dict[str, list[str]]:
        """What each of the best candidates is best at: least risk, best of both, least loss."""
        return winners(self.points)

    @property
    def verdict(self) -> list[str]:
        """Who wins, in sentences, and whom an attack always beats."""
        return list(verdict(self.points))

    def point(self, outcome: Outcome) -> tuple[float, float]:
        """Return risk and loss."""
        return outcome.risk(self.risk), outcome.losses[self.loss]

    @property
    def ranked(self) -> list[Outcome]:
        """Compared outcomes, the frontier first, each part by the sum of risk and loss as shares of the largest."""
        most = [max((self.point(outcome)[side] for outcome in self.compared), default=1.0) or 1.0 for side in (0, 1)]
        frontier = self.frontier

        def order(outcome: Outcome) -> tuple[bool, float, str]:
            risk, loss = self.point(outcome)
            return outcome.name not in frontier, risk / most[0] + loss / most[1], outcome.name

        return sorted(self.compared, key=order)

    def table(self) -> pl.DataFrame:
        """Return the ranking as a table."""
        frontier = self.frontier
        rows = [
            {
                "rank": place,
                "candidate": outcome.name,
                "form": outcome.form,
                "on the frontier": outcome.name in frontier,
                "risk": self.point(outcome)[0],
                **{
                    f"risk: {threat}": outcome.risks.get(threat)
                    for threat in ("singling out", "linkability", "inference")
                },
                **{f"loss: {name}": outcome.losses.get(name) for name in LOSSES},
                "rows": outcome.rows,
                "withheld": outcome.withheld,
                "seconds": outcome.seconds,
            }
            for place, outcome in enumerate(self.ranked, start=1)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        frontier = self.frontier
        return {
            "format": 1,
            "risk": self.risk,
            "risk is": RISK_MEANING[self.risk],
            "loss": self.loss,
            "loss is": LOSS_MEANING[self.loss],
            "frontier": sorted(frontier),
            "winners": self.winners,
            "verdict": self.verdict,
            "candidates": [
                {
                    "rank": place,
                    "name": outcome.name,
                    "on the frontier": outcome.name in frontier,
                    "risk": self.point(outcome)[0],
                    "loss": self.point(outcome)[1],
                    "method": outcome.method,
                    "form": outcome.form,
                    "promises": list(outcome.promises),
                    "rows": outcome.rows,
                    "withheld": outcome.withheld,
                    "risks": dict(outcome.risks),
                    "losses": dict(outcome.losses),
                    "strongest attack": outcome.strongest,
                    "seconds": outcome.seconds,
                }
                for place, outcome in enumerate(self.ranked, start=1)
            ],
            "failed": [{"name": outcome.name, "why": outcome.failed} for outcome in self.outcomes if outcome.failed],
        }

    def to_html(self) -> str:
        """Return one page that needs nothing else."""
        from incrowd.report.comparison import comparison_page

        return comparison_page(self.to_dict())

    def save(self, path: str | Path) -> Path:
        """Write a page (`.html`), JSON (`.json`) or the ranked table (`.csv`), by the path's suffix."""
        path = Path(path)
        kinds: dict[str, Callable[[], str]] = {
            ".html": self.to_html,
            ".json": lambda: json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False),
            ".csv": lambda: self.table().write_csv(),
        }
        if path.suffix.lower() not in kinds:
            raise OutputError(f"a comparison is written as .html, .json or .csv, not as '{path.suffix}'.")
        write_text(path, kinds[path.suffix.lower()]().rstrip("\n") + "\n", parents=True)
        return path

    def _repr_html_(self) -> str:
        from incrowd.report.comparison import comparison_fragment

        return comparison_fragment(self.to_dict())

    def __repr__(self) -> str:
        return f"Comparison({len(self.compared)} candidates, {len(self.frontier)} on the frontier)"


def threats_of(attacks: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the advantage of the best attack that got through, for each threat that was tried."""
    found: dict[str, float] = {}
    for risk in attacks:
        threat = str(risk["threat"])
        found[threat] = max(found.get(threat, 0.0), float(risk["advantage"]) if risk["got through"] else 0.0)
    return found
