"""Results that are planted, and what a claim makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from incrowd.experiments.claims import Claim, Verdict
from incrowd.experiments.results import SCHEMA

Line = tuple[str, str, int, str, object, str, float]


def results(*lines: Line) -> pl.DataFrame:
    """The numbers of one run."""
    return pl.DataFrame([(*line[:4], str(line[4]), *line[5:]) for line in lines], schema=SCHEMA, orient="row")


def runs(*each: pl.DataFrame) -> pl.DataFrame:
    """Several runs of an experiment."""
    return pl.concat([frame.with_columns(run=pl.lit(number, dtype=pl.Int64)) for number, frame in enumerate(each)])


def judge(claims: Sequence[Claim], part: str, frame: pl.DataFrame) -> Verdict:
    """The verdict on the one claim whose text has a part in it."""
    (claim,) = [claim for claim in claims if part in claim.text]
    return claim.judge(frame)


def holding(claims: Sequence[Claim], part: str, frame: pl.DataFrame) -> str:
    return judge(claims, part, frame).holding
