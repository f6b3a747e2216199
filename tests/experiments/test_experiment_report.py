"""A report: all of it or nothing, and never over anything else."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import OutputError
from incrowd.experiments.charts import Axis, lines
from incrowd.experiments.claims import Claim, Verdict
from incrowd.experiments.report import Findings, Section, markdown_table, require_place, write_report
from incrowd.experiments.results import Results


def findings(chart=None, holding="holds") -> Findings:
    results = Results()
    for rows, value in ((10, 0.123456), (20, 2345.678)):
        results.add("1", "census", rows, "ours", "small", "error", value)
    frame = results.frame()

    def draw():
        return lines(frame, Axis("rows", "rows"), Axis("value", "error"), {"ours": "#000"}, title="Ours")

    sections = [
        Section("figure-1", "Figure 1: errors", "What it is.", frame, chart or draw),
        Section("x", "Text", "Only."),
    ]
    claim = Claim("It | works.", "§1", lambda told: Verdict(holding, f"{told.height} numbers."))
    settings = {"rows": [10, 20000], "seed": 0, "adult": True}
    return Findings("demo", "A paper.", settings, frame, sections, [claim], ["A note."], 12.3, chance=False)


def test_everything_is_written(tmp_path: Path) -> None:
    report = write_report(findings(), tmp_path / "deep" / "out")
    assert report == tmp_path / "deep" / "out" / "report.md"
    found = {str(path.relative_to(report.parent)) for path in report.parent.rglob("*") if path.is_file()}
    assert found == {"results.csv", "report.md", "experiment.json", "figures/figure-1.png", "figures/figure-1.svg"}
    text = report.read_text(encoding="utf-8")
    assert "rows 10, 20,000; seed 0; adult yes" in text
    assert "| It \\| works. | §1 | **holds** | 2 numbers. |" in text
    assert "![Figure 1: errors](figures/figure-1.png)" in text
    assert "- A note." in text
    assert pl.read_csv(report.parent / "results.csv").columns == [
        "figure", "dataset", "rows", "method", "parameter", "measure", "value", "run",
    ]  # fmt: skip
    told = json.loads((report.parent / "experiment.json").read_text(encoding="utf-8"))
    assert told["claims"] == [{"claim": "It | works.", "where": "§1", "verdict": "holds", "evidence": "2 numbers."}]


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken():
        raise RuntimeError("no chart")

    with pytest.raises(RuntimeError, match="no chart"):
        write_report(findings(broken), tmp_path / "deep" / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_report(findings(), out)
    with pytest.raises(OutputError, match="exists already"):
        write_report(findings(), out)
    write_report(findings(holding="does not hold"), out, force=True)
    assert "does not hold" in (out / "report.md").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def broken():
        raise RuntimeError("no chart")

    with pytest.raises(RuntimeError):
        write_report(findings(broken), out, force=True)
    assert "does not hold" in (out / "report.md").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_only_an_experiment_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("a file")
    out = tmp_path / "out"
    write_report(findings(), out)
    (out / "notes.txt").write_text("mine")
    for taken in ("mine", "file", "out"):
        with pytest.raises(OutputError, match="is not an experiment's, or holds other files"):
            require_place(tmp_path / taken, force=True)


def test_tables_in_markdown() -> None:
    frame = pl.DataFrame({"a|b": ["x", None], "n": [12345, 1], "v": [0.123456, 2345.6]})
    assert markdown_table(frame).splitlines() == [
        "| a\\|b | n | v |",
        "|---|---:|---:|",
        "| x | 12,345 | 0.1235 |",
        "|  | 1 | 2,346 |",
    ]
