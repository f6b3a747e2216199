"""An experiment's results on disk: numbers, figures, and a text that says which claims hold. All of it or nothing.

results.csv        one line per number
figures/*.png|svg  one chart per figure
report.md          tables, figures, and the verdict on every claim
experiment.json    what was run and what came out, for machines; marks the directory as an experiment's
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.common.version import __version__
from incrowd.core.release_directory import Contents, new_directory, require_free
from incrowd.experiments.charts import save
from incrowd.experiments.claims import Claim, Verdict, over_runs

MARKER = "experiment.json"
_MEMBERS = frozenset({MARKER, "results.csv", "report.md", "figures"})
_EXPERIMENT = Contents("an experiment's", MARKER, lambda: _MEMBERS, or_empty=False)


@dataclass(frozen=True)
class Section:
    """One figure or table of the paper: what was measured, as a table, and the chart if there is one."""

    name: str
    heading: str
    text: str
    table: pl.DataFrame | None = None
    chart: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Findings:
    """All that an experiment found."""

    name: str
    paper: str
    settings: Mapping[str, Any]
    results: pl.DataFrame
    sections: Sequence[Section]
    claims: Sequence[Claim]
    notes: Sequence[str] = ()
    seconds: float = 0.0
    chance: bool = True
    """Whether chance has a part in the numbers: then one run is not enough for a claim to hold."""
    verdicts: list[tuple[Claim, Verdict]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "verdicts", [(claim, over_runs(claim, self.results, chance=self.chance)) for claim in self.claims]
        )

    def summary(self) -> dict[str, Any]:
        """Return what a machine may want to know."""
        return {
            "experiment": self.name,
            "paper": self.paper,
            "incrowd": __version__,
            "settings": dict(self.settings),
            "seconds": round(self.seconds, 1),
            "numbers": self.results.height,
            "claims": [
                {"claim": claim.text, "where": claim.where, "verdict": found.holding, "evidence": found.evidence}
                for claim, found in self.verdicts
            ],
            "notes": list(self.notes),
        }


def write_report(findings: Findings, directory: Path, *, force: bool = False, progress: Progress = silent) -> Path:
    """Write everything into a new directory; return the path of the report."""
    with new_directory(directory, force=force, contents=_EXPERIMENT) as place:
        _write(findings, place, progress)
    return directory / "report.md"


def require_place(directory: Path, *, force: bool) -> None:
    """Refuse a place that is taken by anything but an experiment that may be replaced."""
    require_free(directory, force=force, contents=_EXPERIMENT)


def _write(findings: Findings, place: Path, progress: Progress) -> None:
    findings.results.write_csv(place / "results.csv")
    figures = place / "figures"
    figures.mkdir()
    drawn = [section for section in findings.sections if section.chart is not None]
    for number, section in enumerate(drawn):
        progress("drawing", number / len(drawn))
        assert section.chart is not None
        save(section.chart(), figures / section.name)
    progress("drawing", 1.0)
    (place / "report.md").write_text(report_text(findings), encoding="utf-8", newline="\n")
    told = json.dumps(findings.summary(), indent=2, ensure_ascii=False, allow_nan=False)
    (place / MARKER).write_text(told + "\n", encoding="utf-8", newline="\n")


def report_text(findings: Findings) -> str:
    """Return the report as Markdown."""
    settings = "; ".join(f"{name.replace('_', ' ')} {_told(value)}" for name, value in findings.settings.items())
    parts = [
        f"# Experiment: {findings.name}",
        f"{findings.paper}\n\nMade by `incrowd experiment {findings.name}` (incrowd {__version__}) in "
        f"{findings.seconds:,.0f} seconds. Settings: {settings}.",
        "## Which of the paper's claims hold here",
        claims_table(findings.verdicts),
    ]
    if findings.notes:
        parts += ["## What to know", "\n".join(f"- {note}" for note in findings.notes)]
    for section in findings.sections:
        parts += [f"## {section.heading}", section.text]
        if section.chart is not None:
            parts.append(f"![{section.heading}](figures/{section.name}.png)")
        if section.table is not None:
            parts.append(markdown_table(section.table))
    return "\n\n".join(parts) + "\n"


def claims_table(verdicts: Sequence[tuple[Claim, Verdict]]) -> str:
    """Return the claims with their verdicts as a table."""
    frame = pl.DataFrame(
        {
            "claim": [claim.text for claim, _ in verdicts],
            "where": [claim.where for claim, _ in verdicts],
            "verdict": [f"**{found.holding}**" for _, found in verdicts],
            "evidence": [found.evidence for _, found in verdicts],
        }
    )
    return markdown_table(frame)


def markdown_table(frame: pl.DataFrame) -> str:
    """Return a table in Markdown; numbers to four digits, nothing where there is nothing."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    head = "| " + " | ".join(_escaped(name) for name in frame.columns) + " |"
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    rows = ["| " + " | ".join(_cell(value) for value in row) + " |" for row in frame.iter_rows()]
    return "\n".join([head, rule, *rows])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _told(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_told(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
