"""Which texts are one value: those that look alike. Decided on distinct values, never row by row.

Spaces around a text say nothing, and `é` is one letter whether it is written as one character or as two. A text that
is empty, or that is `NaN` or `nan`, is missing. Other words for missing (`NA`, `NULL`, `None`, `?`) are texts like any
other unless they are listed: NA may be Namibia, and None an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.hierarchies.values import FEW, code_among, known_values

NO_NUMBER = ("NaN", "nan")
"""How programs write a number that is none."""


@dataclass(frozen=True)
class TextRules:
    """How the texts of a table are read: those in `missing` are missing, and `exact` ones are compared as they are."""

    exact: bool = False
    missing: tuple[str, ...] = ()

    def read(self, values: pl.Series) -> pl.Series:
        """Return a column's values with one text for each value; columns that hold no text are returned as they are."""
        if self.exact or values.dtype != pl.String:
            return values
        return plain(values, self.missing)


AS_THEY_LOOK = TextRules()
"""How texts are read unless somebody says otherwise."""


def plain(texts: pl.Series, missing: Sequence[str] = ()) -> pl.Series:
    """Return texts without spaces around them, in Unicode's composed form (NFC), and missing where they say so.

    >>> plain(pl.Series(["HIV", "HIV ", "nan", " "])).to_list()
    ['HIV', 'HIV', None, None]
    """
    words = plain(pl.Series(missing, dtype=pl.String)).drop_nulls().to_list() if missing else []
    if len(texts) <= FEW and _plain_already(texts, words):
        return texts
    looks = pl.col("text").str.strip_chars().str.normalize("NFC")
    found = pl.DataFrame({"text": texts}).select(looks).to_series().alias(texts.name)
    for word in ("", *NO_NUMBER, *words):  # each at once: another plan of Polars takes ten times as long for few texts
        missed = found == word
        if missed.any():
            found = found.set(missed, None)
    return found


def _plain_already(texts: pl.Series, missing: Sequence[str]) -> bool:
    """Tell, without a plan of Polars, that a few texts have but letters of ASCII, none is spaced and none missing."""
    known = set(known_values(texts).to_list())
    letters = "".join(known)
    if not (letters.isascii() and letters.isprintable()) or known.intersection(("", *NO_NUMBER, *missing)):
        return False
    return not any(text[0] == " " or text[-1] == " " for text in known)


def code_names(texts: pl.Series, names: pl.Series) -> Codes:
    """Return each text's place, from 1, in `names`; 0 where it is missing and -1 where it is not there.

    A text that is not there as it is written is looked for as it looks.
    """
    codes = code_among(texts, names)
    lost = codes < 0
    if not lost.any():
        return codes
    looks = pl.DataFrame({"name": plain(names), "code": np.arange(1, len(names) + 1, dtype=np.int32)})
    asked = pl.DataFrame({"name": plain(texts.filter(pl.Series(lost)))})
    found = asked.join(looks.drop_nulls().unique("name", keep="first"), on="name", how="left", maintain_order="left")
    codes[lost] = found["code"].fill_null(-1).to_numpy()
    return codes
