"""Results that are planted, and what a claim makes of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from incrowd.experiments.claims import Claim, Verdict
from incrowd.experiments.results import SCHEMA

Line = tuple[str, str, int, str, object, str, float]
Planted = Mapping[str, tuple[list[Line], dict[str, list[Line]]]]
"""By a part of a claim's text: lines for which it holds, and lines for which it must fail, by the reason."""


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


def require_all_planted(claims: Sequence[Claim], parts: Collection[str]) -> None:
    """Every claim has results for which it must fail, and no results are of two claims."""
    assert [claim.text for claim in claims if sum(part in claim.text for part in parts) != 1] == []
    assert len(parts) == len(claims)


def failing(planted: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return parts of claims, each with a reason to fail, by what a test of them is called."""
    reasons = {text: one[1] if isinstance(one, tuple) else one for text, one in planted.items()}
    return {f"{text}: {why}": (text, why) for text, known in reasons.items() for why in known}


def require_holding(claims: Sequence[Claim], planted: Planted, text: str) -> None:
    """A claim holds for the lines that are planted for it, and is not measured without any."""
    assert holding(claims, text, results(*planted[text][0])) == "holds"
    assert holding(claims, text, results()) == "not measured"


def require_failing(claims: Sequence[Claim], planted: Planted, text: str, why: str) -> None:
    """A claim does not hold for lines of a method for which it must fail."""
    assert holding(claims, text, results(*planted[text][1][why])) == "does not hold"
