"""How the cells of a text column are written, and their one spelling: `1.234,5` is 1234.5, `31.12.1999` is 1999-12-31.

A way of writing is applied value by value: what fits is spelled anew, and all else stays as it is. So no row changes
how another one is read. Which columns are written in which way is stated, or found out (`ways_of_writing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, Protocol

import polars as pl

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.errors import SourceError, similar_columns

Decimal = Literal[",", "."]

DECIMALS: tuple[Decimal, ...] = (",", ".")
_SPACES = "\u00a0\u202f\u2009 "
_APOSTROPHES = "'’"
_SIGN = "[+−-]"
# Signs and codes of money; a column is a number only where all of its cells have the same one.
UNITS = (
    "%", "€", "$", "£", "¥", "₹", "₺", "₽", "₩", "₪", "R$", "US$", "zł", "Kč", "kr", "Ft", "lei", "Fr.",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "PLN", "CZK", "HUF", "RON", "SEK", "NOK", "DKK", "BRL", "MXN",
    "CAD", "AUD", "TRY", "RUB", "ZAR",
)  # fmt: skip
_NUMBER_EXAMPLES: dict[Decimal, str] = {",": "1.234,5", ".": "1,234.5"}
_FIELDS = {"dd": r"\d{1,2}", "mm": r"\d{1,2}", "yyyy": r"\d{4}", "mmm": "[A-Za-z]{3}"}
_DIRECTIVES = {"dd": "%d", "mm": "%m", "yyyy": "%Y", "mmm": "%b"}
_DATE = re.compile(
    r"^(?:(?P<first>dd|mmm|mm)(?P<one>[./ -]?)(?P<second>dd|mmm|mm)(?P=one)(?P<last>yyyy)"
    r"|(?P<year>yyyy)(?P<two>[./ -]?)(?P<month>mm)(?P=two)(?P<day>dd))(?P<time>[ T]hh:mm(?P<seconds>:ss)?)?$"
)


class Written(Protocol):
    """A way to write the cells of a column."""

    @property
    def says(self) -> str:
        """The way in the words of `written`: `dd.mm.yyyy`."""
        ...

    def fits(self, column: pl.Expr) -> pl.Expr:
        """Whether a text is written in this way."""
        ...

    def respelled(self, column: pl.Expr) -> pl.Expr:
        """Return texts that are written in this way in their one spelling, and all others as they are."""
        ...


@dataclass(frozen=True)
class WrittenNumber:
    """Numbers with a decimal comma or point, separators of thousands, and a sign for money or per cent."""

    decimal: Decimal
    unit: str = ""

    @property
    def says(self) -> str:
        """An example of such a number."""
        return _NUMBER_EXAMPLES[self.decimal] + (f" {self.unit}" if self.unit else "")

    @cached_property
    def _pattern(self) -> str:
        unit = rf"(?:{re.escape(self.unit)})?[{_SPACES}]*" if self.unit else ""
        return rf"^({_SIGN}?)[{_SPACES}]*{unit}({_SIGN}?{_digits(self.decimal)})[{_SPACES}]*{unit}$"

    def fits(self, column: pl.Expr) -> pl.Expr:
        """By a pattern; a code with a leading zero is no number."""
        return column.str.strip_chars().str.contains(self._pattern)

    def respelled(self, column: pl.Expr) -> pl.Expr:
        """Leave out thousands and unit, and write a point."""
        text = column.str.strip_chars()
        sign = text.str.extract(self._pattern, 1)
        number = text.str.extract(self._pattern, 2).str.replace_all(f"[{_thousands(self.decimal)}]", "")
        if self.decimal == ",":
            number = number.str.replace(",", ".", literal=True)
        plain = (sign + number).str.replace("−", "-", literal=True)
        return pl.when(self.fits(column)).then(plain).otherwise(column)


@dataclass(frozen=True)
class WrittenDate:
    """Days, with or without a time of day, in the order of a country."""

    says: str

    @cached_property
    def _parts(self) -> re.Match[str]:
        found = _DATE.match(self.says)
        assert found is not None
        return found

    @cached_property
    def _pattern(self) -> str:
        return "^" + self._spelled(_FIELDS, r"\d{1,2}:\d{2}", r":\d{2}") + "$"

    def _spelled(self, fields: dict[str, str], clock: str, seconds: str) -> str:
        parts = self._parts
        names = (parts["first"], parts["second"], parts["last"]) if parts["first"] else ("yyyy", "mm", "dd")
        between = parts["one"] if parts["first"] else parts["two"]
        day = re.sub(r"\.", r"\\.", between) if fields is _FIELDS else between
        time = parts["time"] or ""
        return day.join(fields[name] for name in names) + (
            (time[0] + clock + (seconds if parts["seconds"] else "")) if time else ""
        )

    def _parsed(self, column: pl.Expr) -> pl.Expr:
        text = column.str.strip_chars()
        kind = pl.Datetime("us") if self._parts["time"] else pl.Date
        # Polars itself would take the year 99, and a short one in front of anything.
        looks = pl.when(text.str.contains(self._pattern)).then(text)
        return looks.str.strptime(kind, self._spelled(_DIRECTIVES, "%H:%M", ":%S"), strict=False)

    def fits(self, column: pl.Expr) -> pl.Expr:
        """Whether there is such a day in the calendar."""
        return self._parsed(column).is_not_null()

    def respelled(self, column: pl.Expr) -> pl.Expr:
        """Write as ISO 8601 does."""
        iso = "%Y-%m-%d" + (" %H:%M:%S" if self._parts["time"] else "")
        return pl.coalesce(self._parsed(column).dt.to_string(iso), column)


def way_of_writing(text: str) -> Written | None:
    """Return the way that a text names: an example of a number, or the parts of a date; None where it is neither.

    >>> way_of_writing("1.234,5 €"), way_of_writing("dd.mm.yyyy").says, way_of_writing("soon")
    (WrittenNumber(decimal=',', unit='€'), 'dd.mm.yyyy', None)
    """
    for decimal, example in _NUMBER_EXAMPLES.items():
        if text.startswith(example):
            unit = text.removeprefix(example).strip()
            return WrittenNumber(decimal, unit) if not unit or unit in UNITS else None
    parts = _DATE.match(text)
    if parts is None or (parts["first"] and {parts["first"][0], parts["second"][0]} != {"d", "m"}):
        return None
    return WrittenDate(text)


def respelled_texts(texts: pl.Series, way: str) -> pl.Series:
    """Return texts that are written in a way that is stated in their one spelling, and all others as they are.

    >>> respelled_texts(pl.Series(["31.12.1999", "soon", None]), "dd.mm.yyyy").to_list()
    ['1999-12-31', 'soon', None]
    """
    found = way_of_writing(way)
    assert found is not None
    return texts.to_frame("text").select(found.respelled(pl.col("text"))).to_series()


def require_columns(stated: Iterable[str], columns: Sequence[str], where: str) -> None:
    """Refuse ways of writing of columns that are not there."""
    for name in stated:
        if name not in columns:
            raise SourceError(f"{where}: {option('written')} names a column '{name}'.{similar_columns(name, columns)}")


def stated_way(column: str, text: object, where: str) -> Written:
    """Return the way that is stated for a column, or raise `SourceError`."""
    found = way_of_writing(text) if isinstance(text, str) else None
    if found is None:
        raise SourceError(
            f"{where}: column '{column}' cannot be written like that.  Hint: '1.234,5' or '1,234.5' for numbers, also "
            "with a unit ('1,234.5 $', '1.234,5 %'); 'dd.mm.yyyy', 'mm/dd/yyyy', 'yyyy/mm/dd hh:mm' and the like for "
            "dates."
        )
    return found


def _thousands(decimal: Decimal) -> str:
    return ("." if decimal == "," else ",") + _SPACES + _APOSTROPHES


def _digits(decimal: Decimal) -> str:
    """Return the pattern of a number without a sign: one kind of separator between its thousands, or none."""
    grouped = "|".join(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+" for mark in _thousands(decimal))
    point = re.escape(decimal)
    return rf"(?:(?:0|[1-9]\d*|{grouped})(?:{point}\d+)?|{point}\d+)(?:[eE][+-]?\d+)?"
