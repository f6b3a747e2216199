"""What the paper says of wide and sparse tables, and how the ratings decide on it."""

from __future__ import annotations

import polars as pl

from incrowd.experiments.claims import Claim, Verdict, compare
from incrowd.experiments.slicing.ratings import AT_RANDOM, EXPLAINED, ITEM_MEAN
from incrowd.experiments.slicing.ways import GENERALIZED, PAPER, RECOMMENDED, SLICED

EXPLAINED_NOISE = 0.02
"""Runs with other people differ by about one part in a hundred in how much of the error is explained."""


def predicts_better(results: pl.DataFrame, method: str, theirs: str) -> Verdict:
    """Ratings are predicted better than from another release, and better than by the items' means."""
    found = results.filter(pl.col("figure") == "ratings", pl.col("measure") == EXPLAINED)
    return compare(found, method, theirs, better="higher", noise=_noise, floor=ITEM_MEAN, style=".3f")


def _noise(pairs: pl.DataFrame) -> pl.Series:
    return pl.Series([EXPLAINED_NOISE] * pairs.height, dtype=pl.Float64)


def _beats_generalization(method: str, said: str, where: str) -> Claim:
    return Claim(
        f"Slicing handles wide and sparse tables: ratings are predicted better than from generalization ({said}).",
        where,
        lambda results: predicts_better(results, method, GENERALIZED),
    )


RATING_CLAIMS = (
    _beats_generalization(PAPER, "the paper's buckets", "Netflix, on generated ratings"),
    Claim(
        "Columns of correlated items predict ratings better than columns of items at random (the paper's buckets).",
        "Netflix, on generated ratings",
        lambda results: predicts_better(results, PAPER, AT_RANDOM),
    ),
    _beats_generalization(SLICED, "the default, buckets dealt down to ℓ", "beyond the paper"),
    _beats_generalization(RECOMMENDED, "the recommended setting", "beyond the paper"),
)
