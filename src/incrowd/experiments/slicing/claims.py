"""What the paper claims, and how the results decide on it."""

from __future__ import annotations

import polars as pl

from incrowd.experiments.claims import NOT_MEASURED, Claim, Verdict, compare, verdict
from incrowd.experiments.slicing.measuring import BUCKETIZED, GENERALIZED, SLICED, WIDE


def _of(results: pl.DataFrame, figure: str, measure: str) -> pl.DataFrame:
    return results.filter(pl.col("figure") == figure, pl.col("measure") == measure)


def _about(results: pl.DataFrame, target: str) -> pl.DataFrame:
    found = _of(results, "classifiers", "accuracy")
    sensitive = pl.col("parameter").str.contains("education").not_()
    return found.filter(sensitive if target == "sensitive" else ~sensitive)


def membership_is_hidden(results: pl.DataFrame, method: str = SLICED) -> Verdict:
    """Fake people match slicing's buckets about as often as they match none of bucketization's."""
    shares = _of(results, "membership", "share that matches a bucket").with_columns(
        kind=pl.col("parameter").str.split(", ").list.last(), case=pl.col("parameter").str.split(", ").list.first()
    )
    wide = shares.pivot(on="kind", index=["dataset", "method", "case"], values="value", aggregate_function="first")
    if wide.is_empty():
        return NOT_MEASURED
    sliced, bucketized = (wide.filter(pl.col("method") == name) for name in (method, BUCKETIZED))
    both = sliced.join(bucketized, on=["dataset", "case"], suffix=" there")
    holds = int(((both["fake"] > 0.5 * both["original"]) & (both["fake there"] < 0.5 * both["original there"])).sum())
    said = "; ".join(
        f"{row['dataset']}, {row['case']}: {row['fake']:.0%} of fake people match a bucket of the sliced table, "
        f"{row['fake there']:.0%} one of the bucketized"
        for row in both.to_dicts()
    )
    return verdict(both.height, holds, said + ".")


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
        "Bucketization tells who is in the table; slicing does not.",
        "membership disclosure",
        membership_is_hidden,
    ),
    Claim(
        "In buckets of 50 rows or more, slicing does not tell who is in the table.",
        "beyond the paper",
        lambda results: membership_is_hidden(results, WIDE),
    ),
    Claim("Slicing's time is linear in the rows.", "efficiency", linear_time),
)
