"""What the paper claims, and how the results decide on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.experiments.claims import NOT_MEASURED, Claim, Verdict, all_of, compare, extremes, paired, verdict
from incrowd.experiments.sattar.settings import (
    AVG_K,
    AVG_K_NODES,
    CRITERION,
    DIFFGEN_GAIN,
    DIFFGEN_MAX,
    GAIN_AVG_K,
    GAIN_MAX_K,
    LAPLACE,
    LAPLACE_IN_ALL,
    MAX_K,
    MAX_K_NODES,
    OURS,
    RAW,
)
from incrowd.metrics.learning import CLASSIFIERS

CLOSE = 0.01
"""An accuracy within one point of another is close to it."""
DISTANCES = ("Kullback-Leibler", "city-block")
_LINEAR = 1.1
_SLIGHTLY = 2.0
_ERROR, _ACCURACY, _TIME = "mean error", "accuracy", "CPU seconds"


def _of(results: pl.DataFrame, figure: str, measure: str | None = None, **more: str) -> pl.DataFrame:
    wanted = {"figure": figure, **({} if measure is None else {"measure": measure}), **more}
    return results.filter(pl.all_horizontal(pl.col(name) == value for name, value in wanted.items()))


def nothing_withheld(results: pl.DataFrame) -> Verdict:
    """At the paper's limit, no row of the census is withheld."""
    shares = _of(results, "2").filter(pl.col("dataset").str.starts_with("census"), pl.col("parameter") == "0.6")
    if shares.is_empty():
        return NOT_MEASURED
    withheld = shares["value"]
    least, most = extremes(withheld)
    said = (
        f"Nothing withheld in {(withheld == 0).sum()} of {len(withheld)} cases; from {_percent(least)} to "
        f"{_percent(most)} of the sampled rows."
    )
    return verdict(len(withheld), int((withheld == 0).sum()), said)


def fewer_withheld(results: pl.DataFrame) -> Verdict:
    """The more distortion is allowed, the fewer rows are withheld."""
    cases = _of(results, "2").with_columns(pl.col("parameter").cast(pl.Float64)).sort("parameter")
    steps = cases.group_by("dataset", "rows", maintain_order=True).agg(
        falls=(pl.col("value").diff().drop_nulls() <= 0).all(),
        first=pl.col("value").first(),
        last=pl.col("value").last(),
    )
    if steps.is_empty():
        return NOT_MEASURED
    said = (
        f"Falls with every step in {steps['falls'].sum()} of {steps.height} cases; on average from "
        f"{_percent(steps['first'])} to {_percent(steps['last'])}."
    )
    return verdict(steps.height, int(steps["falls"].sum()), said)


def more_k_needed(results: pl.DataFrame) -> Verdict:
    """Mondrian needs groups several times as large as those of local recoding."""
    table = _of(results, "table 5").with_columns(parameter=pl.lit(""), measure=pl.lit("k"))
    pairs = paired(table, OURS, "Mondrian").with_columns(ratio=pl.col("theirs") / pl.col("ours"))
    if pairs.is_empty():
        return NOT_MEASURED
    said = "; ".join(
        "{} from {:.3g} to {:.3g}".format(what, *extremes(pairs[column]))
        for what, column in (("Max.k", "theirs"), ("Avg.k", "ours"), ("their ratio", "ratio"))
    )
    return verdict(pairs.height, int((pairs["ratio"] > 1).sum()), said + ".")


def max_k_shrinks(results: pl.DataFrame) -> Verdict:
    """The larger the table, the smaller Max.k, while Avg.k grows."""
    table = _of(results, "table 5").filter(pl.col("method").is_in([OURS, "Mondrian"])).sort("rows")
    ends = table.group_by("dataset", "measure", maintain_order=True).agg(
        first=pl.col("value").first(), last=pl.col("value").last(), sizes=pl.len()
    )
    ends = ends.filter(pl.col("sizes") > 1)
    holds = pl.when(pl.col("measure") == "Max.k").then(pl.col("last") <= pl.col("first"))
    ends = ends.with_columns(holds=holds.otherwise(pl.col("last") >= pl.col("first")))
    if ends.is_empty():
        return NOT_MEASURED
    said = "; ".join(
        f"{row['dataset']}: {row['measure']} from {row['first']:g} to {row['last']:g}" for row in ends.to_dicts()
    )
    return verdict(ends.height, int(ends["holds"].sum()), said + ", from the smallest table to the largest.")


def lower_error(theirs: str) -> Claim:
    """Answers are nearer to the truth than another method's."""
    return Claim(
        f"Query errors are always lower than those of {theirs}, for small, large and unbounded queries.",
        "§6.1.1, figure 4",
        lambda results: compare(_of(results, "4", _ERROR), OURS, theirs),
    )


def also_lower_error(theirs: str) -> Claim:
    """The same against methods that the paper does not compare with."""
    return Claim(
        f"Query errors are lower than those of {theirs}.",
        "beyond the paper",
        lambda results: compare(_of(results, "4", _ERROR), OURS, theirs),
    )


def better_accuracy(*theirs: str) -> Claim:
    """Classifiers do better than on another method's release."""
    return Claim(
        f"All four classifiers are more accurate than with {' and '.join(theirs)}.",
        "§6.1.2, figure 5",
        lambda results: all_of(
            [compare(_of(results, "5", _ACCURACY), OURS, other, better="higher", style=".4f") for other in theirs]
        ),
    )


def near_baseline(results: pl.DataFrame) -> Verdict:
    """Classifiers do about as well as on raw data."""
    return compare(_of(results, "5", _ACCURACY), OURS, RAW, better="higher", slack=CLOSE, style=".4f")


def often_unchanged(results: pl.DataFrame) -> Verdict:
    """Above ε = 0.1, more than three answers in ten are not changed."""
    ratios = _of(results, "6", "unchanged").with_columns(pl.col("parameter").cast(pl.Float64))
    above = ratios.filter(pl.col("parameter") > 0.1)
    if above.is_empty():
        return NOT_MEASURED
    nearest = above.filter(pl.col("parameter") == pl.col("parameter").min())
    many = above.filter(pl.col("value") > 0.3)["parameter"]
    clipped = _of(results, "6", "unchanged, no answer below 0", parameter="0.1")["value"]
    said = (
        f"{_percent(ratios.filter(pl.col('parameter') == 0.1)['value'])} are unchanged at ε = 0.1 and "
        f"{_percent(nearest['value'])} at {extremes(nearest['parameter'])[0]:g}; "
        + (f"above 30 % from ε = {extremes(many)[0]:g} on." if len(many) else "never above 30 % here.")
        + f" If answers below 0 are shown as 0, which leaves empty ones as they were, {_percent(clipped)} at 0.1."
    )
    return verdict(nearest.height, int((nearest["value"] > 0.3).sum()), said)


def noise_hurts_small(results: pl.DataFrame) -> Verdict:
    """Noise distorts small answers more than local recoding does."""
    return compare(_of(results, "7", _ERROR, parameter="small"), OURS, LAPLACE)


def histograms_nearer(results: pl.DataFrame) -> Verdict:
    """Histograms of local recoding are nearer to the true ones than noisy ones are, by both distances."""
    found = [(measure, compare(_of(results, "8", measure), OURS, LAPLACE)) for measure in DISTANCES]
    return all_of([replace(each, evidence=f"{measure}: {each.evidence}") for measure, each in found])


def scales(results: pl.DataFrame) -> Verdict:
    """Time grows about as the number of rows does."""
    times = _of(results, "10", _TIME, method=OURS)
    slopes = [
        (limit, float(np.polyfit(np.log(part["rows"].to_numpy()), np.log(part["value"].to_numpy()), 1)[0]))
        for (limit,), part in times.group_by("parameter", maintain_order=True)
        if part["rows"].n_unique() > 1
    ]
    if not slopes:
        return NOT_MEASURED
    largest = times.filter(pl.col("rows") == times["rows"].max())
    said = (
        "CPU seconds grow as rows to the power of "
        + ", ".join(f"{slope:.2f} (δ' = {limit})" for limit, slope in slopes)
        + f"; {extremes(largest['value'])[1]:.1f} s for {extremes(times['rows'])[1]:,.0f} rows."
    )
    return verdict(len(slopes), sum(slope <= _LINEAR for _, slope in slopes), said)


def slightly_slower(results: pl.DataFrame) -> Verdict:
    """Local recoding takes a little longer than Mondrian: more, and at most twice as much."""
    times = _of(results, "10", _TIME).filter((pl.col("parameter") == "0.6") | (pl.col("method") == "Mondrian"))
    pairs = paired(times.with_columns(parameter=pl.lit("")), OURS, "Mondrian")
    if pairs.is_empty():
        return NOT_MEASURED
    ratios = pairs["ours"] / pairs["theirs"]
    said = "From {:.1f} to {:.1f} times Mondrian's CPU time at k = Avg.k.".format(*extremes(ratios))
    return verdict(len(ratios), int(((ratios > 1) & (ratios <= _SLIGHTLY)).sum()), said)


def _percent(shares: pl.Series | float) -> str:
    """Write a share, or the mean of several."""
    share = float(np.mean(shares.to_numpy() if isinstance(shares, pl.Series) else shares))
    return f"{100 * share:.3g} %"


CLAIMS = (
    Claim("With δ' = 0.6, all records satisfy the criterion; none is withheld.", "§6.1.1, figure 2", nothing_withheld),
    Claim("The higher the distortion limit, the fewer records are withheld.", "figure 2", fewer_withheld),
    Claim("Mondrian satisfies the criterion only with groups larger than ours.", "Table 5", more_k_needed),
    Claim("The larger the table, the smaller Max.k, while Avg.k grows.", "Table 5", max_k_shrinks),
    lower_error(MAX_K),
    lower_error(AVG_K),
    also_lower_error(MAX_K_NODES),
    also_lower_error(AVG_K_NODES),
    also_lower_error(CRITERION),
    better_accuracy(MAX_K, GAIN_MAX_K),
    better_accuracy(AVG_K, GAIN_AVG_K),
    Claim(
        f"Accuracy is very close to the baseline of raw data (within {100 * CLOSE:g} point, {len(CLASSIFIERS)} "
        "classifiers).",
        "§6.1.2, figure 5",
        near_baseline,
    ),
    Claim("With ε > 0.1, more than 30 % of noisy answers are unchanged.", "§6.2, figure 6", often_unchanged),
    Claim("Noisy answers at ε = 0.1 err more on small queries.", "§6.2.1, figure 7", noise_hurts_small),
    Claim(
        "Noisy answers err more if one ε = 0.1 has to do for all of the queries.",
        "beyond the paper",
        lambda results: compare(_of(results, "7", _ERROR), OURS, LAPLACE_IN_ALL),
    ),
    Claim("Both distances of histograms are smaller than with noise.", "§6.2.1, figure 8", histograms_nearer),
    Claim(
        "A decision tree does better than on DiffGen's table.",
        "§6.2.2, figure 9",
        lambda results: all_of(
            [
                compare(_of(results, "9", _ACCURACY), OURS, other, better="higher", style=".4f")
                for other in (DIFFGEN_MAX, DIFFGEN_GAIN)
            ]
        ),
    ),
    Claim("The method scales well with the number of records.", "§6.3, figure 10(a)", scales),
    Claim("It takes slightly longer than Mondrian.", "§6.3, figure 10(b)", slightly_slower),
)
