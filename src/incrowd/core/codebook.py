"""What a file of a statistics program says of its columns: labels of variables and of values, and codes for missing.

Values are shown by their labels, and written as codes again. Which way a column is shown depends on what the file says
of the column and never on its rows, so that no single row changes how the others are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TypeAlias

import polars as pl

from incrowd.common.records import dataclass
from incrowd.hierarchies.texts import plain
from incrowd.hierarchies.values import as_text

Code: TypeAlias = float | int | str
MissingCodes: TypeAlias = tuple[tuple[Code, Code], ...]
"""Runs of codes that mean missing, each from its first to its last."""

FEWEST_LABELS = 2
"""With fewer labels than these a number stays a number: 99 may be called `99 or older` among ages."""


@dataclass(frozen=True)
class Variable:
    """What is said of one column."""

    label: str | None = None
    """What it holds, in a sentence."""
    labels: Mapping[Code, str] = field(default_factory=dict)
    """What its codes mean, those for missing included."""
    missing: MissingCodes = ()
    format: str | None = None
    """How the program shows it, where it is a number or a date."""
    measure: str | None = None
    """Whether it is nominal, ordinal or a scale, where the program knows that."""

    def means_missing(self, code: Code) -> bool:
        """Whether a code means missing."""
        return any(_within(code, *run) for run in self.missing)

    @property
    def ordinary(self) -> dict[Code, str]:
        """The labels of codes that do not mean missing."""
        return {code: text for code, text in self.labels.items() if text and not self.means_missing(code)}

    @property
    def is_named(self) -> bool:
        """Whether values are shown by their labels."""
        return self.measure != "scale" and len(self.ordinary) >= FEWEST_LABELS

    def texts(self, *, missing_too: bool = False) -> dict[Code, str]:
        """Return the text that each code is shown as: its label, with the code behind where others have the same.

        >>> Variable(labels={1: "yes", 2: "no", 3: "no "}).texts()
        {1: 'yes', 2: 'no (2)', 3: 'no (3)'}
        """
        found = {code: text for code, text in self.labels.items() if text} if missing_too else self.ordinary
        looks = dict(zip(found, plain(pl.Series(list(found.values()), dtype=pl.String)).to_list(), strict=True))
        shown = {code: text or found[code].strip() for code, text in looks.items()}
        times = Counter(shown.values())
        return {code: f"{text} ({_spelt(code)})" if times[text] > 1 else text for code, text in shown.items()}

    def shown(self, values: pl.Series, *, missing_too: bool = False) -> pl.Series:
        """Return codes as texts: labels, and codes without a label as they are."""
        texts = self.texts(missing_too=missing_too)
        spelt = as_text(values)
        if not texts:
            return spelt
        known = pl.DataFrame(
            {
                "code": pl.Series(list(texts), dtype=values.dtype if values.dtype == pl.String else pl.Float64),
                "text": list(texts.values()),
            }
        )
        code = values if values.dtype == pl.String else values.cast(pl.Float64)
        rows = pl.DataFrame({"code": code, "spelt": spelt}).join(known, on="code", how="left", maintain_order="left")
        # A code that spells another one's label must not become that.
        own = pl.when(pl.col("spelt").is_in(list(texts.values()))).then(pl.col("spelt") + " (code)").otherwise("spelt")
        return rows.select(pl.coalesce("text", own).alias(values.name)).to_series()


@dataclass(frozen=True)
class Codebook:
    """What is said of each column of a file."""

    variables: Mapping[str, Variable]
    program: str = ""
    """Whose file it is: other programs have other formats, and other ways to declare what is missing."""
    missing_are_values: bool = False
    """Whether codes that mean missing were read as values."""
    by_codes: bool = False
    """Whether values were read as codes, and not by their labels."""

    def of(self, name: str) -> Variable:
        """Return what is said of a column, or nothing."""
        return self.variables.get(name, Variable())


def shared(books: Iterable[Codebook | None]) -> Codebook | None:
    """Return what several files say alike of their columns."""
    first, *others = books
    if first is None:
        return None
    alike = {
        name: said
        for name, said in first.variables.items()
        if all(other is not None and other.variables.get(name) == said for other in others)
    }
    return replace(first, variables=alike)


def _within(code: Code, first: Code, last: Code) -> bool:
    if isinstance(code, str) or isinstance(first, str) or isinstance(last, str):
        return str(first) <= str(code) <= str(last)
    return first <= code <= last


def _spelt(code: Code) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
