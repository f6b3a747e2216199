"""What Li, Qardaji & Su (2012) say of their Table 1 and figures, each with the numbers that decide it."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl

from incrowd.experiments.claims import NOT_MEASURED, Claim, Verdict, verdict
from incrowd.experiments.sdgs_algorithms import APART, BAD, SAID, SHARED

PRINTED = {
    "k = 20, β = 0.05": (6.83e-10, 2.50e-14, 3.19e-17, 1.76e-19, 3.97e-22, 2.00e-24),
    "k = 20, β = 0.1": (4.19e-6, 1.61e-9, 3.44e-12, 4.07e-14, 3.22e-16, 1.89e-18),
    "k = 20, β = 0.2": (2.16e-3, 8.02e-6, 1.89e-7, 6.03e-9, 4.79e-11, 1.59e-12),
}
"""Table 1 as it is printed, for ε = 0.25, 0.5, 0.75, 1, 1.5 and 2."""

_ABOUT = 0.25
_FEWEST_POINTS = 3
_LOW_AT_TWO = 0.1
_POWERS = 5
"""About five is four to six."""
_KEEPS_ITS_RATE = 0.5
"""An exponential falls by as many powers of ten in the last third as in the first; z to any power by 0.42 of it."""

_CLOSE = 1e-9
_DUPLICATES, _FIVE = 5, 5

Curve = list[tuple[float, float]]


def _curves(results: pl.DataFrame, figure: str, measure: str) -> dict[str, Curve]:
    """Return, by name, the points of each curve of a figure in the order of what they depend on."""
    found = results.filter((pl.col("figure") == figure) & (pl.col("measure") == measure))
    found = found.with_columns(at=pl.col("parameter").cast(pl.Float64)).sort("at")
    names = found["method"].unique(maintain_order=True).sort().to_list()
    return {str(name): list(found.filter(pl.col("method") == name).select("at", "value").iter_rows()) for name in names}


def _falls(curve: Curve) -> bool:
    """Whether a curve never rises and ends below half of where it starts.

    δ and ε are stairs, since k and n are whole numbers: a step may be flat. A curve that is flat throughout falls not.
    """
    rises = any(later > earlier for (_, earlier), (_, later) in pairwise(curve))
    return not rises and curve[-1][1] < curve[0][1] / 2


def _table_to_three_digits(results: pl.DataFrame) -> Verdict:
    found = _curves(results, "table 1", "δ")
    if not found:
        return NOT_MEASURED
    cells = sum(map(len, PRINTED.values()))
    pairs = [
        (value, printed)
        for name, row in PRINTED.items()
        for (_, value), printed in zip(found.get(name, []), row, strict=False)
    ]
    alike = sum(f"{value:.2e}" == f"{printed:.2e}" for value, printed in pairs)
    missing = f" {cells - len(pairs)} were not computed." if len(pairs) < cells else ""
    return verdict(cells, alike, f"{alike} of {cells} cells are the printed ones to three digits.{missing}")


def _falls_with_epsilon(results: pl.DataFrame) -> Verdict:
    curves = [
        curve
        for figure in ("table 1", "2", "3", "5")
        for curve in _curves(results, figure, "δ").values()
        if len(curve) > 1
    ]
    falls = sum(map(_falls, curves))
    return verdict(
        len(curves),
        falls,
        f"In {falls} of {len(curves)} curves, δ never rises with ε, and is more than halved.",
    )


def _falls_with_rate(results: pl.DataFrame) -> Verdict:
    curves = list(_curves(results, "3", "δ").values())  # in the order of β
    cases = falls = 0
    for small, large in pairwise(curves):
        at = dict(small)
        shared = [(at[epsilon], delta) for epsilon, delta in large if epsilon in at]
        cases, falls = cases + len(shared), falls + sum(first < second for first, second in shared)
    return verdict(
        cases, falls, f"In {falls} of {cases} pairs of neighbouring β at the same ε, the smaller has less δ."
    )


def _ten_more(results: pl.DataFrame) -> Verdict:
    deltas = {k: dict(curve).get(2.0) for k, curve in _by_k(results, "2").items()}
    known = sorted((k, delta) for k, delta in deltas.items() if delta)
    powers = [
        math.log10(before / after) * 10 / (larger - smaller) for (smaller, before), (larger, after) in pairwise(known)
    ]
    near = sum(abs(power - _POWERS) <= 1 for power in powers)
    told = ", ".join(f"{power:.1f}" for power in powers)
    return verdict(len(powers), near, f"At ε = 2, ten more in k take off {told} powers of ten.")


def _by_k(results: pl.DataFrame, figure: str) -> dict[int, Curve]:
    return {
        int(name.split(",")[0].removeprefix("k = ")): curve for name, curve in _curves(results, figure, "δ").items()
    }


def _equal_protection(results: pl.DataFrame) -> Verdict:
    needed = {
        name: [(int(name.split(",")[0].removeprefix("k = ")), found) for _, found in curve]
        for name, curve in _curves(results, "4", "k of equal δ").items()
    }
    pairs = [pair for each in needed.values() for pair in each]
    near = sum(abs(found / said - 1) <= _ABOUT for said, found in pairs)
    told = "; ".join(
        f"{min(found for _, found in each):.0f} to {max(found for _, found in each):.0f} in place of {each[0][0]}"
        for each in needed.values()
    )
    return verdict(
        len(pairs),
        near,
        f"The k with the δ of k = 15, β = 0.05 is within a quarter of the paper's in {near} of {len(pairs)} cases. "
        f"Over all ε up to 2, it is {told}.",
    )


def _one_is_sampling(results: pl.DataFrame) -> Verdict:
    curve = _by_k(results, "5").get(1, [])
    within = sum(delta < 0.025 for _, delta in curve)
    least = min((delta for _, delta in curve), default=0.0)
    return verdict(
        len(curve), within, f"δ is below β at {within} of {len(curve)} values of ε; it is {least:.4g} at best."
    )


def _two_is_more(results: pl.DataFrame) -> Verdict:
    at_two = {k: dict(curve)[2.0] for k, curve in _by_k(results, "5").items() if k >= 2}
    within = sum(delta < 0.001 for delta in at_two.values())
    told = ", ".join(f"{delta:.2g} (k = {k})" for k, delta in sorted(at_two.items()))
    return verdict(len(at_two), within, f"At ε = 2, δ is {told}.")


def _larger_k_smaller_epsilon(results: pl.DataFrame) -> Verdict:
    curves = [curve for curve in _curves(results, "6", "ε").values() if len(curve) > 1]
    falls = sum(map(_falls, curves))
    return verdict(
        len(curves),
        falls,
        f"In {falls} of {len(curves)} curves, ε never rises with k, and is more than halved.",
    )


def _exponential_decay(results: pl.DataFrame) -> Verdict:
    curves = [curve for curve in _curves(results, "7", "f(z)").values() if len(curve) > _FEWEST_POINTS]
    kept = [_rate_kept(curve) for curve in curves]
    low = [dict(curve).get(2.0, 1.0) < _LOW_AT_TWO for curve in curves]
    fast = sum(small and rate >= _KEEPS_ITS_RATE for small, rate in zip(low, kept, strict=True))
    told = ", ".join(f"{dict(curve).get(2.0, 1.0):.2g}" for curve in curves)
    rates = ", ".join(f"{rate:.2f}" for rate in kept)
    last = ", ".join(f"{curve[-1][1]:.2g}" for curve in curves)
    at = curves[0][-1][0] if curves else 0
    evidence = (
        f"f(2) is {told}, and f({at:.3g}) is {last}: γ is at most 1, so f falls to a bound and not to 0. In the last "
        f"third it falls at {rates} of the rate of the first; an exponential would keep it."
    )
    return verdict(len(curves), fast, evidence)


def _rate_kept(curve: Curve) -> float:
    """Return how fast the logarithm falls in the last third of a curve, by how fast it does in the first."""
    third = (len(curve) - 1) // 3
    first = math.log(curve[0][1]) - math.log(curve[third][1])
    last = math.log(curve[-1 - third][1]) - math.log(curve[-1][1])
    return last / first if first > 0 else 0.0


def _slower_decay(results: pl.DataFrame) -> Verdict:
    curves = {float(name.removeprefix("ε0 = ")): dict(curve) for name, curve in _curves(results, "7", "f(z)").items()}
    known = sorted(start for start in curves if start > 0.5)
    pairs = [
        (curves[small][at], curves[large][at]) for small, large in pairwise(known) for at in curves[small] if at > 1
    ]
    slower = sum(first < second for first, second in pairs)
    return verdict(
        len(pairs), slower, f"For ε0 above 0.5, the larger has the larger f in {slower} of {len(pairs)} cases."
    )


def _quarter_cuts_through(results: pl.DataFrame) -> Verdict:
    curves = {name: dict(curve) for name, curve in _curves(results, "7", "f(z)").items()}
    quarter = curves.pop("ε0 = 0.25", {})
    crossed = [
        name
        for name, curve in curves.items()
        if len({quarter[at] > curve[at] for at in quarter if at in curve and at > 1}) > 1
    ]
    if not quarter or not curves:
        return NOT_MEASURED
    said = f"It crosses {', '.join(crossed) or 'none'}, which is {len(crossed)} of {len(curves)} curves."
    return verdict(len(curves), len(crossed), said)


def _bound_holds(results: pl.DataFrame) -> Verdict:
    ratios = [value for curve in _curves(results, "7", "bound over δ").values() for _, value in curve]
    above = sum(ratio >= 1 for ratio in ratios)
    least = min(ratios, default=0.0)
    return verdict(
        len(ratios), above, f"The bound is above in {above} of {len(ratios)} cases; it is {least:.3g} times δ or more."
    )


def _amplifies(results: pl.DataFrame) -> Verdict:
    found = results.filter(pl.col("figure") == "section 5")["value"].to_list()
    near = sum(abs(epsilon - math.log(1.1)) < 1e-9 for epsilon in found)
    told = ", ".join(f"{epsilon:.6f}" for epsilon in found)
    return verdict(len(found), near, f"ln 2 at a rate of 0.1 becomes {told}; ln 1.1 is {math.log(1.1):.6f}.")


def _tail_is_delta(results: pl.DataFrame) -> Verdict:
    found = results.filter(pl.col("figure") == "1")
    tail = found.filter((pl.col("measure") == "probability") & (pl.col("method") == BAD))["value"].to_list()
    told = found.filter(pl.col("measure") == "δ")["value"].to_list()
    alike = sum(abs(math.fsum(tail) / delta - 1) < _CLOSE for delta in told)
    return verdict(len(told), alike, f"The outcomes beyond γn add up to {math.fsum(tail):.4g}.")


def _two_add_up(results: pl.DataFrame) -> Verdict:
    return _sums_hold(results, SHARED)


def _two_samples_add_up(results: pl.DataFrame) -> Verdict:
    return _sums_hold(results, APART)


def _sums_hold(results: pl.DataFrame, how: str) -> Verdict:
    found = results.filter(pl.col("figure") == "theorem 2")
    by = {name: dict(cells.select("parameter", "value").iter_rows()) for (name,), cells in found.group_by("method")}
    cases = [(name, cell[how], cell[SAID]) for name, cell in sorted(by.items()) if how in cell and SAID in cell]
    holds = sum(true <= said * (1 + _CLOSE) for _, true, said in cases)
    told = "; ".join(f"{name}: {true:.3f} against {said:.3f}" for name, true, said in cases)
    return verdict(len(cases), holds, f"ε of both together against the sum, {how}: {told}.")


def _duplicates_show_people(results: pl.DataFrame) -> Verdict:
    found = dict(results.filter(pl.col("figure") == "algorithm 1").select("measure", "value").iter_rows())
    if not found:
        return NOT_MEASURED
    groups, alone, smallest = (found[name] for name in ("groups", "groups of one person", "smallest group"))
    said = f"Its smallest group has {smallest:.0f} rows, and {alone:.0f} of {groups:.0f} groups are one person's row."
    return verdict(2, (smallest >= _DUPLICATES) + (2 * alone > groups), said)


def _delta_sampling(results: pl.DataFrame) -> Verdict:
    found = results.filter(pl.col("figure") == "algorithm 5")
    if found.is_empty():
        return NOT_MEASURED
    at = found.filter(pl.col("measure") == "δ at ε")["value"].to_list()
    by = dict(found.filter(pl.col("measure") != "δ at ε").select("measure", "value").iter_rows())
    rows, somebody = by["rows published on average"], by["probability that somebody is published"]
    said = (
        f"δ is {at[0]:g} at every ε, so no f falls; {rows:g} rows are published on average, some with {somebody:.4f}."
    )
    return verdict(2, (len(set(at)) == 1) + (abs(rows - _FIVE) < _CLOSE), said)


def _theorem_is_a_bound(results: pl.DataFrame) -> Verdict:
    times = results.filter(pl.col("measure") == "theorem 1 over exact")["value"].to_list()
    above = sum(each >= 1 - _CLOSE for each in times)
    most, least = max(times, default=0.0), min(times, default=0.0)
    return verdict(len(times), above, f"It is {least:.3g} to {most:.3g} times the exact δ.")


CLAIMS = (
    Claim("For k = 20, δ is as printed for every β and ε", "Table 1", _table_to_three_digits),
    Claim("δ falls as ε grows", "section 4, figures 2 and 3", _falls_with_epsilon),
    Claim("A smaller sampling probability lowers δ", "section 4, figure 3", _falls_with_rate),
    Claim("At ε = 2, ten more in k lower δ by about five powers of ten", "section 4, figure 2", _ten_more),
    Claim("k = 15, 22, 35, 60 at β = 0.05, 0.1, 0.2, 0.4 protect about alike", "figure 4", _equal_protection),
    Claim("With k = 1, protection is all from sampling, and δ is below β", "figure 5", _one_is_sampling),
    Claim("From k = 2 on, δ at ε = 2 is below 0.001 where β = 0.025", "figure 5", _two_is_more),
    Claim("With δ at most 1e-6, a larger k satisfies a smaller ε", "figure 6", _larger_k_smaller_epsilon),
    Claim("f decays exponentially fast beyond 1", "section 6, figure 7", _exponential_decay),
    Claim("The larger ε0, the slower f decays, for ε0 above 0.5", "section 6, figure 7", _slower_decay),
    Claim("For ε0 = 0.25, the curve of f cuts through the others", "section 6, figure 7", _quarter_cuts_through),
    Claim("The smooth bound is above what theorem 1 gives", "theorem 6", _bound_holds),
    Claim("The outcomes beyond γn add up to δ", "figure 1", _tail_is_delta),
    Claim(
        "k-Duplication is k-anonymous, and still shows single people",
        "section 3.2, algorithm 1",
        _duplicates_show_people,
    ),
    Claim("δ-sampling of 50 million rows publishes five as they are", "section 6, algorithm 5", _delta_sampling),
    Claim("Two algorithms after one sample cost the sum of both", "theorem 2, definition 4", _two_add_up),
    Claim("With a sample for each, they cost the sum", "beyond the paper", _two_samples_add_up),
    Claim("Theorem 1 is never below the exact δ", "theorem 1", _theorem_is_a_bound),
    Claim("An (ln 2)-private algorithm on a sample of 0.1 is (ln 1.1)-private", "section 5", _amplifies),
)
