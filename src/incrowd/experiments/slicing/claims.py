"""What the paper claims, and how the results decide on it: for the paper's own buckets, and for other settings."""

from __future__ import annotations

import polars as pl

from incrowd.experiments.claims import NOT_MEASURED, Claim, Verdict, all_of, compare, share_noise, undecided, verdict
from incrowd.experiments.growth import grows_linearly
from incrowd.experiments.slicing.membership import (
    ADVANTAGE,
    MATCHED,
    MATCHING,
    ORIGINAL,
    PEOPLE_RATIO,
    RANDOM,
    RATIO,
    SHARE,
)
from incrowd.experiments.slicing.rating_claims import RATING_CLAIMS
from incrowd.experiments.slicing.ways import BUCKETIZED, COARSE, GENERALIZED, PAPER, RECOMMENDED, SLICED, WIDE

HIDDEN = 0.1
"""The largest advantage that is called hidden: of one person in the table and one who is not, an adversary who counts
matching buckets tells the right one in 55 of 100 cases, where guessing gets 50."""
TOLD = 0.5
"""The smallest advantage that is called told: the right one in 75 of 100 cases."""
ADVANTAGE_NOISE = 0.014
"""The largest difference of two cumulative shares of 20,000 people each is as large by chance in 5 of 100 cases."""
SIMILAR = 1.25
"""Numbers of matching buckets are similar if neither mean is more than a quarter larger than the other."""
ABOUT_AS_WELL = 0.02
"""An accuracy within two points of another is about as good."""
_ONCE = (
    " Buckets that are left as they are cut are regions, and everybody matches one of them or none: the paper's "
    "measure then asks only about those who match, and the claim about people with the same frequencies about all."
)
_MORE = 1.1
"""More fakes than originals: by a tenth, since a few buckets more or less move the ratio by some hundredths."""


def _of(results: pl.DataFrame, figure: str, measure: str) -> pl.DataFrame:
    return results.filter(pl.col("figure") == figure, pl.col("measure") == measure)


def _about(results: pl.DataFrame, target: str) -> pl.DataFrame:
    found = _of(results, "classifiers", "accuracy")
    sensitive = pl.col("parameter").str.contains("education").not_()
    return found.filter(sensitive if target == "sensitive" else ~sensitive)


def learnt_better(results: pl.DataFrame, method: str, theirs: str) -> Verdict:
    """The sensitive attribute is learnt better than from another release, and better than by the largest class."""
    found = _about(results, "sensitive")
    return compare(found, method, theirs, better="higher", noise=share_noise, floor="majority", style=".4f")


def learnt_as_well(results: pl.DataFrame, method: str) -> Verdict:
    """A quasi-identifier is learnt about as well as from bucketization, and better than by the largest class."""
    return compare(
        _about(results, "quasi"), method, BUCKETIZED, better="higher", slack=ABOUT_AS_WELL, noise=share_noise,
        floor="majority", style=".4f",
    )  # fmt: skip


def membership_is_hidden(results: pl.DataFrame, method: str = PAPER, people: str = MATCHING) -> Verdict:
    """The number of buckets that people match does not tell who is in the table, and is similar on average."""
    wide = _membership(results, method)
    measure, mine, others = ADVANTAGE.format(people), MATCHED.format(ORIGINAL), MATCHED.format(people)
    if wide.is_empty() or not {measure, mine} <= set(wide.columns):
        return NOT_MEASURED
    if others not in wide.columns:  # nobody but the people of the table matches: a match says it all
        wide = wide.with_columns(pl.lit(0.0).alias(others))
    means = wide.select(
        low=pl.min_horizontal(mine, pl.col(others).fill_null(0.0)),
        high=pl.max_horizontal(mine, pl.col(others).fill_null(0.0)),
    )
    similar = means["high"] <= SIMILAR * means["low"]
    hidden = wide[measure] <= HIDDEN - ADVANTAGE_NOISE
    # Of people at random, those who match nothing are told apart already, whatever the mean of the others is.
    holds = hidden & similar if people == MATCHING else hidden
    said = "; ".join(_told(row, measure, mine, others) for row in wide.to_dicts())
    once = people == MATCHING and bool((means["high"] == 1).all() and (means["low"] == 1).all())
    return verdict(
        wide.height,
        int(holds.sum()),
        f"{measure[0].upper()}{measure[1:]}, from 0 to 1: {said}.{_ONCE if once else ''}",
    )


def _told(row: dict[str, object], measure: str, mine: str, others: str) -> str:
    def number(name: str, style: str = ".2f") -> str:
        value = row.get(name)
        return "none" if value is None else format(value, style)

    return (
        f"{row['dataset']}, {row['parameter']}: {number(measure)} (original people match {number(mine)} buckets, the "
        f"others {number(others)}; {number(PEOPLE_RATIO, ',.4g')} fake people for each original; of people at random, "
        f"{number(SHARE, '.0%')} match)"
    )


def membership_is_told(results: pl.DataFrame) -> Verdict:
    """Bucketization tells who is in the table."""
    wide, measure = _membership(results, BUCKETIZED), ADVANTAGE.format(MATCHING)
    if wide.is_empty() or measure not in wide.columns:
        return NOT_MEASURED
    least = float(wide[measure].to_numpy().min())
    told = int((wide[measure] >= TOLD + ADVANTAGE_NOISE).sum())
    return verdict(wide.height, told, f"Of bucketization, it is {least:.2f} or more.")


def _membership(results: pl.DataFrame, method: str) -> pl.DataFrame:
    member = results.filter(pl.col("figure") == "membership", pl.col("method") == method)
    return member.pivot(
        on="measure", index=["dataset", "parameter"], values="value", aggregate_function="first", maintain_order=True
    )


def many_fakes(results: pl.DataFrame, method: str = PAPER) -> Verdict:
    """There are more fake tuples than original ones."""
    ratios = _of(results, "membership", RATIO).filter(pl.col("method") == method)
    if ratios.is_empty():
        return NOT_MEASURED
    said = "; ".join(f"{row['dataset']}, {row['parameter']}: {row['value']:,.4g}" for row in ratios.to_dicts())
    return verdict(ratios.height, int((ratios["value"] >= _MORE).sum()), f"Fake tuples for each original one: {said}.")


def linear_time(results: pl.DataFrame, method: str = PAPER) -> Verdict:
    """Slicing's time grows no faster than the rows."""
    times = _of(results, "times", "seconds").filter(pl.col("method") == method)
    return undecided("No times were measured.") if times.is_empty() else grows_linearly({"": times})


def _in_setting(method: str, said: str, where: str | None) -> tuple[Claim, ...]:
    """Return the paper's claims about slicing in one setting."""
    return (
        Claim(
            f"Slicing answers counting queries with a smaller error than generalization ({said}).",
            where or "utility",
            lambda results: compare(_of(results, "queries", "median error"), method, GENERALIZED),
        ),
        Claim(
            f"The sensitive attribute is learnt better from slicing than from bucketization ({said}).",
            where or "classification",
            lambda results: learnt_better(results, method, BUCKETIZED),
        ),
        Claim(
            f"The sensitive attribute is learnt better from slicing than from generalization ({said}).",
            where or "classification",
            lambda results: learnt_better(results, method, GENERALIZED),
        ),
        Claim(
            "A quasi-identifier is learnt about as well from slicing as from bucketization, which keeps them together "
            f"({said}).",
            where or "classification",
            lambda results: learnt_as_well(results, method),
        ),
        Claim(
            f"A sliced table matches more fake tuples than original ones ({said}).",
            where or "membership disclosure",
            lambda results: many_fakes(results, method),
        ),
        Claim(
            "Bucketization tells who is in the table; slicing does not: fake people match about as many buckets "
            f"({said}).",
            where or "membership disclosure",
            lambda results: all_of([membership_is_hidden(results, method), membership_is_told(results)]),
        ),
        Claim(
            f"Slicing does not tell people in the table from people with the same frequencies ({said}).",
            "beyond the paper",
            lambda results: membership_is_hidden(results, method, RANDOM),
        ),
    )


CLAIMS = (
    *_in_setting(PAPER, "the paper's buckets", None),
    Claim("Slicing's time is linear in the rows (the paper's buckets).", "efficiency", linear_time),
    *_in_setting(SLICED, "the default, buckets dealt down to ℓ", "beyond the paper"),
    Claim(
        "Slicing's time is linear in the rows (the default, buckets dealt down to ℓ).",
        "beyond the paper",
        lambda results: linear_time(results, SLICED),
    ),
    *_in_setting(RECOMMENDED, "the recommended setting", "beyond the paper"),
    Claim(
        "Slicing in buckets of 50 rows or more does not tell people in the table from fake people who match.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, WIDE),
    ),
    Claim(
        "Slicing one level up in buckets of 50 does not tell people in the table from people with the same "
        "frequencies.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, COARSE, RANDOM),
    ),
    *RATING_CLAIMS,
)
