"""What the paper claims, and how the results decide on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.experiments.claims import (
    NOT_MEASURED,
    Claim,
    Verdict,
    all_of,
    compare,
    extremes,
    paired,
    share_noise,
    undecided,
    verdict,
)
from incrowd.experiments.growth import grows_linearly
from incrowd.experiments.sattar.settings import (
    AS_THEY_ARE,
    AVG_K,
    AVG_K_NODES,
    BREAKS,
    CRITERION,
    DIFFGEN_GAIN,
    DIFFGEN_MAX,
    GAIN_AVG_K,
    GAIN_MAX_K,
    LAPLACE,
    LAPLACE_IN_ALL,
    MAJORITY,
    MAX_K,
    MAX_K_NODES,
    OURS,
    RAW,
)
from incrowd.metrics.learning import CLASSIFIERS
from incrowd.metrics.workload.sized import SHARES

CLOSE = 0.01
"""An accuracy within one point of another is close to it."""
DISTANCES = ("Kullback-Leibler", "city-block")
_SLIGHTLY = 2.0
_SLOWER = 1.05
"""CPU times of the same work differ by some hundredths from run to run."""
_SIZES_ALIKE = 0.1
"""Sizes of groups within a tenth of each other are alike: Max.k is found by trying, and a row more or less moves it."""
_UNCHANGED, _UNCHANGED_NOISE = 0.3, 0.01
"""Of 10,000 noisy answers, the share that is unchanged has a standard error of half a point."""
_ERROR, _ACCURACY, _TIME = "mean error", "accuracy", "CPU seconds"


def _of(results: pl.DataFrame, figure: str, measure: str | None = None, **more: str) -> pl.DataFrame:
    wanted = {"figure": figure, **({} if measure is None else {"measure": measure}), **more}
    return results.filter(pl.all_horizontal(pl.col(name) == value for name, value in wanted.items()))


def nothing_withheld(results: pl.DataFrame) -> Verdict:
    """At the paper's limit, no row of the census is withheld, and none that is published breaks the criterion.

    A table whose rows satisfy the criterion as they are decides nothing: no method is needed there.
    """
    census = _of(results, "2", parameter="0.6").filter(pl.col("dataset").str.starts_with("census"))
    cases = census.with_columns(what=pl.col("method") + " " + pl.col("measure")).pivot(
        on="what", index=["dataset", "rows"], values="value", aggregate_function="first", maintain_order=True
    )
    withheld, broken, bare = f"{OURS} withheld", f"{OURS} {BREAKS}", f"{AS_THEY_ARE} {BREAKS}"
    if not {withheld, broken, bare} <= set(cases.columns):
        lost = cases[withheld] if withheld in cases.columns else pl.Series(dtype=pl.Float64)
        # What is withheld whole has no published row to look at.
        return verdict(len(lost), 0, "Every row is withheld.") if (lost == 1).any() else NOT_MEASURED
    told = cases.filter(pl.col(bare).is_null() | (pl.col(bare) > 0))
    if told.is_empty():
        return undecided("The rows satisfy the criterion as they are: nothing can be told of a method.")
    holds = int(((told[withheld] == 0) & (told[broken] == 0)).sum())
    said = (
        f"Nothing withheld and nothing that breaks the criterion in {holds} of {told.height} cases; withheld are from "
        f"{_percent(extremes(told[withheld])[0])} to {_percent(extremes(told[withheld])[1])} of the sampled rows. At "
        f"most {_percent(extremes(told[broken].drop_nulls())[1])} of the published rows break the criterion; of the "
        f"rows as they are, {_percent(told[bare].drop_nulls())}."
    )
    return verdict(told.height, holds, said)


def fewer_withheld(results: pl.DataFrame) -> Verdict:
    """The more distortion is allowed, the fewer rows are withheld, at every step, until none is.

    Where nothing is withheld at any limit, there is nothing that could fall.
    """
    cases = _of(results, "2", "withheld").with_columns(pl.col("parameter").cast(pl.Float64)).sort("parameter")
    change, before = pl.col("value").diff().drop_nulls(), pl.col("value").shift().drop_nulls()
    steps = cases.group_by("dataset", "rows", maintain_order=True).agg(
        falls=((change < 0) | ((before == 0) & (change == 0))).all(),
        first=pl.col("value").first(),
        last=pl.col("value").last(),
        most=pl.col("value").max(),
        limits=pl.len(),
    )
    steps = steps.filter(pl.col("limits") > 1)
    if steps.is_empty():
        return NOT_MEASURED
    told = steps.filter(pl.col("most") > 0)
    if told.is_empty():
        return undecided("Nothing is withheld at any limit: there is nothing that could fall.")
    silent = steps.height - told.height
    said = (
        f"Falls with every step, until nothing is withheld, in {told['falls'].sum()} of {told.height} cases; on "
        f"average from {_percent(told['first'])} to {_percent(told['last'])}."
        + (f" In {silent} more, nothing is withheld at any limit, which decides nothing." if silent else "")
    )
    return verdict(told.height, int(told["falls"].sum()), said)


def more_k_needed(results: pl.DataFrame) -> Verdict:
    """Mondrian needs larger groups than local recoding makes: by a row at least, since means are rounded, and 10 %."""
    table = _of(results, "table 5").with_columns(parameter=pl.lit(""), measure=pl.lit("k"))
    pairs = paired(table, OURS, "Mondrian").with_columns(ratio=pl.col("theirs") / pl.col("ours"))
    if pairs.is_empty():
        return NOT_MEASURED
    said = "; ".join(
        "{} from {:.3g} to {:.3g}".format(what, *extremes(pairs[column]))
        for what, column in (("Max.k", "theirs"), ("Avg.k", "ours"), ("their ratio", "ratio"))
    )
    larger = (pairs["ratio"] >= 1 + _SIZES_ALIKE) & (pairs["theirs"] - pairs["ours"] >= 1)
    return verdict(pairs.height, int(larger.sum()), said + ".")


def max_k_shrinks(results: pl.DataFrame) -> Verdict:
    """The larger the table, the smaller Max.k, while Avg.k grows: both, or the claim does not hold."""
    return all_of([_changes(results, "Max.k", "Mondrian", -1), _changes(results, "Avg.k", OURS, 1)])


def _changes(results: pl.DataFrame, measure: str, method: str, direction: int) -> Verdict:
    """Judge, data set by data set, whether a size changes as it should from the smallest table to the largest."""
    ends = (
        _of(results, "table 5", measure, method=method)
        .sort("rows")
        .group_by("dataset", maintain_order=True)
        .agg(first=pl.col("value").first(), last=pl.col("value").last(), sizes=pl.col("rows").n_unique())
        .filter(pl.col("sizes") > 1)
    )
    if ends.is_empty():
        return NOT_MEASURED
    change = direction * (ends["last"] - ends["first"]) / ends["first"]
    said = "; ".join(f"{row['dataset']}: {measure} from {row['first']:g} to {row['last']:g}" for row in ends.to_dicts())
    return verdict(ends.height, int((change >= _SIZES_ALIKE).sum()), said + ", from the smallest table to the largest.")


def lower_error(theirs: str) -> Claim:
    """Answers are nearer to the truth than another method's."""
    return Claim(
        f"Query errors are always lower than those of {theirs}, for small, large and unbounded queries.",
        "§6.1.1, figure 4",
        lambda results: _lower_for_all_sizes(results, theirs),
    )


def _lower_for_all_sizes(results: pl.DataFrame, theirs: str) -> Verdict:
    found = _of(results, "4", _ERROR)
    sizes = set(paired(found, OURS, theirs)["parameter"])
    if sizes and not sizes >= set(SHARES):
        return undecided(f"Only {', '.join(sorted(sizes))} queries were measured.")
    return compare(found, OURS, theirs)


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
        lambda results: all_of([_more_accurate(results, other) for other in theirs]),
    )


def _more_accurate(results: pl.DataFrame, theirs: str, slack: float = 0.0) -> Verdict:
    """Compare accuracies of all four classifiers; where one of them is missing, the claim is not decided."""
    found = _of(results, "5", _ACCURACY)
    classifiers = set(paired(found, OURS, theirs)["parameter"])
    if not classifiers:
        return NOT_MEASURED
    if not set(CLASSIFIERS) <= classifiers:
        return undecided(f"Only {len(classifiers)} of {len(CLASSIFIERS)} classifiers were measured.")
    return compare(found, OURS, theirs, better="higher", slack=slack, noise=share_noise, floor=MAJORITY, style=".4f")


def near_baseline(results: pl.DataFrame) -> Verdict:
    """Classifiers do about as well as on raw data, and better than the largest class."""
    return _more_accurate(results, RAW, CLOSE)


def often_unchanged(results: pl.DataFrame) -> Verdict:
    """At every ε above 0.1, more than three answers in ten are not changed."""
    ratios = _of(results, "6", "unchanged").with_columns(pl.col("parameter").cast(pl.Float64))
    above = ratios.filter(pl.col("parameter") > 0.1)
    if above.is_empty():
        return NOT_MEASURED
    tables = above.group_by("dataset", "rows", maintain_order=True).agg(least=pl.col("value").min())
    nearest = above.filter(pl.col("parameter") == pl.col("parameter").min())
    many = above.filter(pl.col("value") > _UNCHANGED)["parameter"]
    clipped = _of(results, "6", "unchanged, no answer below 0", parameter="0.1")["value"]
    at_tenth = ratios.filter(pl.col("parameter") == 0.1)["value"]
    said = (
        (f"{_percent(at_tenth)} are unchanged at ε = 0.1 and " if len(at_tenth) else "")
        + f"{_percent(nearest['value'])} at {extremes(nearest['parameter'])[0]:g}; "
        + (f"above 30 % from ε = {extremes(many)[0]:g} on." if len(many) else "never above 30 % here.")
        + (
            f" If answers below 0 are shown as 0, which leaves empty ones as they were, {_percent(clipped)} at 0.1."
            if len(clipped)
            else ""
        )
    )
    return verdict(tables.height, int((tables["least"] > _UNCHANGED + _UNCHANGED_NOISE).sum()), said)


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
    if times.is_empty():
        return NOT_MEASURED
    return grows_linearly(
        {f"δ' = {limit}": part for (limit,), part in times.group_by("parameter", maintain_order=True)}
    )


def slightly_slower(results: pl.DataFrame) -> Verdict:
    """Local recoding takes a little longer than Mondrian: more, and at most twice as much."""
    times = _of(results, "10", _TIME).filter((pl.col("parameter") == "0.6") | (pl.col("method") == "Mondrian"))
    pairs = paired(times.with_columns(parameter=pl.lit("")), OURS, "Mondrian")
    if pairs.is_empty():
        return NOT_MEASURED
    ratios = pairs["ours"] / pairs["theirs"]
    said = "From {:.1f} to {:.1f} times Mondrian's CPU time at k = Avg.k.".format(*extremes(ratios))
    return verdict(len(ratios), int(((ratios > _SLOWER) & (ratios <= _SLIGHTLY)).sum()), said)


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
                compare(_of(results, "9", _ACCURACY), OURS, other, better="higher", noise=share_noise, style=".4f")
                for other in (DIFFGEN_MAX, DIFFGEN_GAIN)
            ]
        ),
    ),
    Claim("The method scales well with the number of records.", "§6.3, figure 10(a)", scales),
    Claim("It takes slightly longer than Mondrian.", "§6.3, figure 10(b)", slightly_slower),
)
