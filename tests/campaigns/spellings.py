"""Cells are one value exactly where they should be, from every kind of source, whatever else is in the column."""

from __future__ import annotations

import random
import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import polars as pl

import incrowd as ic
from incrowd.core.tally import code_table
from incrowd.hierarchies.flat import Exact, Flat
from tests.campaigns.campaign import Campaign

ACCENTS = ("Ren\u00e9", "\u00c5ngstr\u00f6m", "na\u00efve word")
WORDS = ("HIV", "flu", *ACCENTS, "NA", "None", "n/a", "-", "=x", "Nan", "1-2", "5a")
SPACES = ("", "", "", " ", "  ", "\u00a0", "\u3000", "\t")
MISSING = ("", " ", "\u00a0", "NaN", "nan", "nan ")
Cell = tuple[str, object]
"""How a cell is written, and what it is."""


class Spellings(Campaign):
    """Columns of words, numbers, codes and missing values in many spellings, from every kind of source."""

    name: ClassVar[str] = "spellings"
    share: ClassVar[int] = 20

    def trial(self, number: int, place: Path) -> str | None:
        """Write a column, read it back, and compare who is equal to whom."""
        chance = random.Random(number)
        kinds = chance.sample((_word, _number, _long_number, _code, _missing), k=chance.randint(1, 5))
        cells = [chance.choice(kinds)(chance) for _ in range(chance.randint(2, 60))]
        frame = pl.DataFrame({"x": [text for text, _ in cells], "y": ["y"] * len(cells)})
        source = chance.choice(("csv", "parquet", "arrow", "polars", "pandas", "pyarrow", "categories"))
        hierarchy = chance.choice((Flat(), Exact()))
        table = ic.read(_handed_over(frame, source, place), quasi=["y"], sensitive=["x"])
        raw, counts = table.engine.distinct(["x", "y"])
        tally, tuple_of = code_table(raw, counts, {"x": hierarchy, "y": Flat()}, texts=table.engine.source.texts)
        code_of = dict(zip(raw["x"].to_list(), tally.column("x")[tuple_of].tolist(), strict=True))
        codes = [code_of[text if text in code_of else None] for text, _ in cells]
        meant: dict[object, int] = {}
        for (_, value), code in zip(cells, codes, strict=True):
            if meant.setdefault(value, code) != code:
                return f"{source}, {hierarchy.name}: one value has two codes"
        if len(set(meant.values())) < len(meant):
            return f"{source}, {hierarchy.name}: two values have one code"
        return None if meant.get(None, 0) == 0 else f"{source}, {hierarchy.name}: a missing value has a code"


def _handed_over(frame: pl.DataFrame, source: str, place: Path) -> object:
    match source:
        case "csv":
            frame.write_csv(place / "t.csv", quote_style="always")
            return place / "t.csv"
        case "parquet":
            frame.write_parquet(place / "t.parquet")
            return place / "t.parquet"
        case "arrow":
            frame.write_ipc(place / "t.arrow")
            return place / "t.arrow"
        case "pandas":
            return frame.to_pandas()
        case "pyarrow":
            return frame.to_arrow()
        case "categories":
            return frame.with_columns(pl.all().cast(pl.Categorical))
        case _:
            return frame


def _padded(chance: random.Random, text: str) -> str:
    return chance.choice(SPACES) + text + chance.choice(SPACES)


def _word(chance: random.Random) -> Cell:
    word = chance.choice(WORDS)
    return _padded(chance, unicodedata.normalize(chance.choice(("NFC", "NFD")), word)), word


def _number(chance: random.Random) -> Cell:
    value = Decimal(chance.randint(-20, 20)) / chance.choice((1, 1, 4))
    text = format(value, "f")
    if chance.random() < 0.5:
        text += ("" if "." in text else ".") + "0" * chance.randint(0, 3)
    sign = chance.choice(("", "+")) if value >= 0 else ""
    return _padded(chance, sign + text), value.normalize() + 0


def _long_number(chance: random.Random) -> Cell:
    text = f"0.123456789012345678{chance.randint(10, 99)}"
    return _padded(chance, text + "0" * chance.randint(0, 2)), Decimal(text).normalize()


def _code(chance: random.Random) -> Cell:
    text = f"0{chance.randint(0, 9)}{chance.choice(('', '0', '.0', '.00'))}"
    return _padded(chance, text), text


def _missing(chance: random.Random) -> Cell:
    return chance.choice(MISSING), None
