"""A value that is its own label may be in the summary, which lists labels; one that is not published may not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import incrowd as ic
from incrowd.testing.case import Attempt, Case
from incrowd.testing.promises import quotes_no_value
from incrowd.testing.strategies import TELLTALE


def test_only_published_labels_may_be_listed() -> None:
    alone = Case(pl.DataFrame({"zip": [TELLTALE], "age": [3]}), ("age", "zip"))
    attempt = Attempt.of(alone, ic.Mondrian(), [ic.KAnonymity(1)])
    quotes_no_value(attempt)
    hidden = replace(attempt, published=attempt.published.with_columns(zip=pl.lit("*")))
    with pytest.raises(AssertionError, match="a row's value is quoted"):
        quotes_no_value(hidden)
