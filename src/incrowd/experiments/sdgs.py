"""Li, Qardaji & Su (2012) as one experiment: Table 1, figures 1-7, and which of the paper's statements hold.

No table is read, and what chance there is has a fixed seed: all of it follows from formulas, or from counting all
outcomes (`sdgs_algorithms.py`). Cost: a few seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from incrowd.common.progress import Progress, silent
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.sampled_suppression import delta_of, least_epsilon
from incrowd.dp.sdgs_parameters import smallest_epsilon, smallest_k
from incrowd.dp.smooth_bound import SmoothBound
from incrowd.errors import RecipeError
from incrowd.experiments.charts import Axis, lines, shades
from incrowd.experiments.report import Findings, Section
from incrowd.experiments.results import Results
from incrowd.experiments.sdgs_algorithms import (
    BAD,
    LIKELY,
    measure_curve,
    measure_delta_sampling,
    measure_duplication,
    measure_exact,
    measure_shared_sample,
)
from incrowd.experiments.sdgs_claims import CLAIMS

PAPER = (
    "Ninghui Li, Wahbeh Qardaji & Dong Su (2012): Provably Private Data Anonymization: Or, k-Anonymity Meets "
    "Differential Privacy."
)
TABLE_EPSILONS = ("0.25", "0.5", "0.75", "1.0", "1.5", "2.0")
TABLE_RATES = ("0.05", "0.1", "0.2")
FIGURES = {
    "2": tuple((k, "0.2") for k in (5, 10, 20, 30, 50)),
    "3": tuple((20, rate) for rate in ("0.05", "0.1", "0.2", "0.3", "0.4")),
    "4": ((15, "0.05"), (22, "0.1"), (35, "0.2"), (60, "0.4")),
    "5": tuple((k, "0.025") for k in (1, 2, 3, 4, 5)),
}
"""k and β of each curve of δ against ε."""
_EPSILONS = (*(step / 10 for step in range(1, 21)), 0.25, 0.75)
_KS = (*range(5, 30, 2), *range(30, 101, 5))
_KS_RATES = ("0.05", "0.1", "0.2", "0.3", "0.4")
_SMOOTH = ("0.25", "0.5", "0.75", "1", "1.5", "2")
_SMOOTH_RATE = "0.2"
_TIMES = tuple(1 + step / 10 for step in range(31))
_NO_TABLE = "theorem 1"
_BLUES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")


def run(progress: Progress = silent) -> Findings:
    """Compute everything."""
    start = time.perf_counter()
    results = Results()
    steps = (
        _measure_table,
        measure_curve,
        _measure_curves,
        _measure_equal_ks,
        _measure_ks,
        _measure_smooth,
        _measure_amplification,
        measure_shared_sample,
        measure_duplication,
        measure_delta_sampling,
        _measure_exact,
    )
    for place, measure in enumerate(steps):
        progress("computing", place / len(steps))
        measure(results)
    progress("computing", 1.0)
    results.note("Figure 7 does not say its sampling rate; it is drawn for β = 0.2.")
    frame = results.frame()
    settings = {"table_k": 20, "smooth_rate": _SMOOTH_RATE}
    seconds = time.perf_counter() - start
    shown, notes = tuple(sections(frame)), tuple(results.notes)
    return Findings("sdgs", PAPER, settings, frame, shown, CLAIMS, notes, seconds, chance=False)


def curve_name(k: int, rate: str) -> str:
    """Say which curve it is."""
    return f"k = {k}, β = {rate}"


def _measure_table(results: Results) -> None:
    for rate in TABLE_RATES:
        for epsilon in TABLE_EPSILONS:
            results.add("table 1", _NO_TABLE, 0, curve_name(20, rate), epsilon, "δ", delta_of(20, rate, epsilon))


def _measure_curves(results: Results) -> None:
    for figure, curves in FIGURES.items():
        for k, rate in curves:
            for epsilon in sorted({least_epsilon(rate), *_EPSILONS}):
                if epsilon >= least_epsilon(rate):
                    name = curve_name(k, rate)
                    results.add(figure, _NO_TABLE, 0, name, epsilon, "δ", delta_of(k, rate, epsilon))


def _measure_equal_ks(results: Results) -> None:
    """Find the k that gives each rate of figure 4 the δ of its first pair."""
    (first_k, first_rate), *others = FIGURES["4"]
    for k, rate in others:
        for epsilon in sorted(_EPSILONS):
            if epsilon >= least_epsilon(rate):
                same = smallest_k(
                    epsilon=epsilon, delta=delta_of(first_k, first_rate, epsilon), rate=rate, bound=delta_of
                )
                results.add("4", _NO_TABLE, 0, curve_name(k, rate), epsilon, "k of equal δ", same)


def _measure_ks(results: Results) -> None:
    for rate in _KS_RATES:
        for k in _KS:
            try:
                epsilon = smallest_epsilon(delta="1e-6", k=k, rate=rate, bound=delta_of)
            except RecipeError:  # for so small a k, no ε is large enough
                continue
            results.add("6", _NO_TABLE, 0, f"β = {rate}", k, "ε", epsilon)


def _measure_smooth(results: Results) -> None:
    for epsilon in _SMOOTH:
        bound = SmoothBound.of(20, rate=_SMOOTH_RATE, epsilon=epsilon)
        for times in _TIMES:
            results.add("7", _NO_TABLE, 0, f"ε0 = {epsilon}", times, "f(z)", bound.falls_to(times))
            exact = delta_of(20, _SMOOTH_RATE, float(epsilon) * times)
            results.add("7", _NO_TABLE, 0, f"ε0 = {epsilon}", times, "bound over δ", bound.delta_at(times) / exact)


def _measure_amplification(results: Results) -> None:
    """Work out the paper's example of section 5."""
    left = amplified(Budget(math.log(2)), 0.1).epsilon
    results.add("section 5", _NO_TABLE, 0, "ε = ln 2, β = 0.1", "", "ε of the sample", float(left))


def _measure_exact(results: Results) -> None:
    measure_exact(results, TABLE_RATES, TABLE_EPSILONS)


def sections(results: pl.DataFrame) -> Iterator[Section]:
    """Yield Table 1 and the figures."""
    table = results.filter(pl.col("figure") == "table 1")
    yield Section("table-1", "Table 1: δ by β and ε, for k = 20", "What theorem 1 gives.", _scientific(table))
    exact = results.filter((pl.col("figure") == "exact") & (pl.col("measure") == "exact δ"))
    yield Section(
        "table-1-exact",
        "Table 1 with the exact δ",
        "What δ is, by all outcomes of all crowds; theorem 1 is a bound. This is what `sdgs` promises.",
        _scientific(exact),
    )
    curve = _numbered(results.filter((pl.col("figure") == "1") & (pl.col("measure") == "probability")), "count")
    said_of = "k = 20, β = 0.2, ε = 1, the crowd in which one person shows most easily"
    yield Section(
        "figure-1",
        "Figure 1: βn and γn on a binomial curve",
        f"How many of a crowd are sampled; {said_of}.",
        None,
        lambda: lines(
            curve, Axis("count", "people of the crowd in the sample"), Axis("value", "probability", ".0e", log=True),
            {LIKELY: _BLUES[3], BAD: "#cb181d"}, title="Beyond γn, one person shows", subtitle=said_of,
        ),
    )  # fmt: skip
    shared = results.filter(pl.col("figure") == "theorem 2")
    yield Section(
        "theorem-2",
        "Theorem 2: two algorithms after a sample",
        "The ε of two randomized answers, by all their outcomes.",
        shared.pivot(on="parameter", index="method", values="value", aggregate_function="first", maintain_order=True),
    )
    said = {
        "2": ("A larger k lowers δ by orders of magnitude", "β = 0.2"),
        "3": ("A smaller sample lowers δ by orders of magnitude", "k = 20"),
        "4": ("A larger sample needs a larger k", "pairs of k and β of about the same protection"),
        "5": ("From k = 2 on, withholding adds to what sampling protects", "β = 0.025"),
    }
    for figure, (title, subtitle) in said.items():
        found = _numbered(results.filter((pl.col("figure") == figure) & (pl.col("measure") == "δ")), "ε").with_columns(
            inverse=1 / pl.col("value")
        )
        yield _section(
            figure, f"1/δ against ε ({subtitle})", found, Axis("ε", "ε"), Axis("inverse", "1/δ", ".0e", log=True),
            title=title, subtitle=f"1/δ against ε; {subtitle}",
        )  # fmt: skip
    yield _section(
        "6", "ε by k, for δ = 1e-6", _numbered(results.filter(pl.col("figure") == "6"), "k"),
        Axis("k", "k", zero=False), Axis("value", "smallest ε", log=True),
        title="ε falls with k, and more so with a smaller sample", subtitle="the smallest ε with δ ≤ 1e-6",
    )  # fmt: skip
    smooth = results.filter((pl.col("figure") == "7") & (pl.col("measure") == "f(z)"))
    yield _section(
        "7", "f(z) of the smooth bound", _numbered(smooth, "z"),
        Axis("z", "z = ε/ε0", zero=False), Axis("value", "f(z) = δ(ε)/δ(ε0)", ".0e", log=True),
        title="Worse breaches are far less likely", subtitle=f"f-smooth bound of theorem 6; k = 20, β = {_SMOOTH_RATE}",
    )  # fmt: skip


def _section(figure: str, heading: str, found: pl.DataFrame, x: Axis, y: Axis, **said: Any) -> Section:
    names: Sequence[str] = found["method"].unique(maintain_order=True).to_list()
    return Section(
        f"figure-{figure}",
        f"Figure {figure}: {heading}",
        f"{said['subtitle'][0].upper()}{said['subtitle'][1:]}.",
        None,
        lambda: lines(found, x, y, shades(names, _BLUES), **said),
    )


def _numbered(found: pl.DataFrame, name: str) -> pl.DataFrame:
    return found.with_columns(pl.col("parameter").cast(pl.Float64).alias(name))


def _scientific(table: pl.DataFrame) -> pl.DataFrame:
    """Return one line per curve and one column per ε, as the paper writes them."""
    written = table.with_columns(pl.Series("value", [f"{value:.2e}" for value in table["value"]]))
    return written.pivot(
        on="parameter", index="method", values="value", aggregate_function="first", maintain_order=True
    ).rename({"method": "δ for ε ="})
