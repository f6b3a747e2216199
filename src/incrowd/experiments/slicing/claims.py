"""What the paper claims, and how the results decide on it."""

from __future__ import annotations

import polars as pl

from incrowd.experiments.claims import NOT_MEASURED, Claim, Verdict, compare, verdict
from incrowd.experiments.slicing.membership import ADVANTAGE, MATCHING, PEOPLE_RATIO, RANDOM, RATIO
from incrowd.experiments.slicing.ways import BUCKETIZED, COARSE, GENERALIZED, SINGLE, SLICED, WIDE


def _of(results: pl.DataFrame, figure: str, measure: str) -> pl.DataFrame:
    return results.filter(pl.col("figure") == figure, pl.col("measure") == measure)


def _about(results: pl.DataFrame, target: str) -> pl.DataFrame:
    found = _of(results, "classifiers", "accuracy")
    sensitive = pl.col("parameter").str.contains("education").not_()
    return found.filter(sensitive if target == "sensitive" else ~sensitive)


def membership_is_hidden(results: pl.DataFrame, method: str = SLICED, people: str = MATCHING) -> Verdict:
    """The number of buckets that people match tells less than half of what it could, and bucketization more."""
    member = results.filter(pl.col("figure") == "membership")
    wide = member.pivot(
        on="measure", index=["dataset", "method", "parameter"], values="value", aggregate_function="first"
    )
    measure = ADVANTAGE.format(people)
    if measure not in wide.columns:
        return NOT_MEASURED
    sliced, bucketized = (wide.filter(pl.col("method") == name) for name in (method, BUCKETIZED))
    both = sliced.join(bucketized, on=["dataset", "parameter"], suffix=" there")
    holds = int(((both[measure] < 0.5) & (both[f"{measure} there"] >= 0.5)).sum())
    said = "; ".join(
        f"{row['dataset']}, {row['parameter']}: {row[measure]:.2f} (bucketization {row[f'{measure} there']:.2f}), with "
        f"{row[PEOPLE_RATIO]:.1f} fake people for each original (bucketization {row[f'{PEOPLE_RATIO} there']:.1f})"
        for row in both.to_dicts()
    )
    return verdict(both.height, holds, f"{measure[0].upper()}{measure[1:]}, from 0 to 1: {said}.")


def many_fakes(results: pl.DataFrame) -> Verdict:
    """There are more fake tuples than original ones."""
    ratios = _of(results, "membership", RATIO).filter(pl.col("method") == SLICED)
    if ratios.is_empty():
        return NOT_MEASURED
    said = "; ".join(f"{row['dataset']}, {row['parameter']}: {row['value']:.1f}" for row in ratios.to_dicts())
    return verdict(ratios.height, int((ratios["value"] > 1).sum()), f"Fake tuples for each original one: {said}.")


def linear_time(results: pl.DataFrame) -> Verdict:
    """Slicing's time grows no faster than the rows, by a tenth at most."""
    times = _of(results, "times", "seconds").filter(pl.col("method") == SLICED).sort("rows")
    if times.height < 2:
        return NOT_MEASURED
    first, last = times.row(0, named=True), times.row(-1, named=True)
    growth, rows = last["value"] / first["value"], last["rows"] / first["rows"]
    said = f"{first['value']:.2f} s for {first['rows']:,} rows, {last['value']:.2f} s for {last['rows']:,}."
    return verdict(1, int(growth <= 1.1 * rows), said)


CLAIMS = (
    Claim(
        "Slicing answers counting queries with a smaller error than generalization.",
        "utility",
        lambda results: compare(_of(results, "queries", "median error"), SLICED, GENERALIZED),
    ),
    Claim(
        "The sensitive attribute is learnt better from slicing than from bucketization.",
        "classification",
        lambda results: compare(_about(results, "sensitive"), SLICED, BUCKETIZED, better="higher", style=".4f"),
    ),
    Claim(
        "The sensitive attribute is learnt better from slicing than from generalization.",
        "classification",
        lambda results: compare(_about(results, "sensitive"), SLICED, GENERALIZED, better="higher", style=".4f"),
    ),
    Claim(
        "A quasi-identifier is learnt about as well from slicing as from bucketization, which keeps them together.",
        "classification",
        lambda results: compare(_about(results, "quasi"), SLICED, BUCKETIZED, better="higher", slack=0.02, style=".4f"),
    ),
    Claim(
        "A sliced table matches more fake tuples than original ones.",
        "membership disclosure",
        many_fakes,
    ),
    Claim(
        "Bucketization tells who is in the table; slicing does not: fake people match about as many buckets.",
        "membership disclosure",
        membership_is_hidden,
    ),
    Claim(
        "Slicing in buckets of 50 rows or more does not tell people in the table from fake people who match.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, WIDE),
    ),
    Claim(
        "Slicing does not tell people in the table from people with the same frequencies.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, SLICED, RANDOM),
    ),
    Claim(
        "Slicing with single columns in buckets of 50 does not tell people in the table from people with the same "
        "frequencies.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, SINGLE, RANDOM),
    ),
    Claim(
        "Slicing one level up in buckets of 50 does not tell people in the table from people with the same "
        "frequencies.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, COARSE, RANDOM),
    ),
    Claim("Slicing's time is linear in the rows.", "efficiency", linear_time),
)
