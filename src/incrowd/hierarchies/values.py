"""What a column's values are: numbers, dates or names. Decided on the distinct values, never row by row."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from incrowd.common.arrays import Codes

_ISO_DATE = r"^\d{4}-\d{2}-\d{2}"
_LEADING_ZERO = r"^\s*[+-]?0\d"
_NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_IS_NUMBER = re.compile(_NUMBER).fullmatch
_BEGINS_LIKE_ONE = re.compile(r"\s*[+-]?(?:[.\d]|inf|nan)", re.IGNORECASE).match
"""How a number or a date begins: floats may have no digit."""
_IS_SHORT_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,14}").fullmatch
_LONG_WHOLE = r"^\s*[+-]?[0-9]{16}"
_EXACT_DIGITS = 15
"""A float holds every number of so many digits, and tells it from all others of as many."""
_DAY_LENGTH = len("1996-01-01")
_LATER_IN_THE_DAY = r"^.{10}(?: 00:00:00.|.(?:[^0]|0[^0]|00:[^0]|00:0[^0]|00:00:[^0]|00:00:0[^0]))"
"""A time of day that is not midnight, or one with a zone, of which midnight is another time elsewhere."""
_MOST_DIGITS = 38
"""As many digits as a decimal has."""
FEW = 500
"""So few texts are looked at one by one in less time than Polars takes to plan a join."""


def as_numbers(values: pl.Series) -> pl.Series | None:
    """Return the values as integers, floats or decimals, missing as null; None unless every value is a number.

    Texts are decimals where floats would take two of them for one.
    """
    dtype = values.dtype
    if dtype.is_integer() or dtype.is_decimal():
        return values
    if dtype.is_float():
        return values.fill_nan(None)
    if dtype != pl.String:
        return None
    text = values.str.strip_chars()
    for target in (pl.Int64, pl.Float64):
        numbers = text.cast(target, strict=False)
        if numbers.null_count() == values.null_count():
            return numbers if target == pl.Int64 else _told_apart(text, numbers.fill_nan(None))
    return None


def _told_apart(text: pl.Series, floats: pl.Series) -> pl.Series:
    """Return floats, or decimals where these are needed to tell the numbers apart and have the digits for it."""
    if _exact(text, floats):
        return floats
    scale = max(text.str.extract(r"\.([0-9]+)").str.len_chars().drop_nulls().unique().to_list(), default=0)
    if scale > _MOST_DIGITS or text.str.contains("[eE]").any() or text.str.contains(_LONG_WHOLE).any():
        return floats
    decimals = text.cast(pl.Decimal(_MOST_DIGITS, scale), strict=False)
    return decimals if decimals.null_count() == text.null_count() else floats


def as_dates(values: pl.Series) -> pl.Series | None:
    """Return the values as dates or times; None unless every value is one (ISO form where it is text)."""
    if values.dtype in (pl.Date, pl.Datetime):
        return values
    if values.dtype != pl.String or not values.str.contains(_ISO_DATE).all():  # 01/02/1999 may be January or February
        return None
    for target, form in ((pl.Date, "%Y-%m-%d"), (pl.Datetime("us"), None)):
        try:
            dates = values.str.strptime(target, form, strict=False)
        except pl.exceptions.ComputeError:  # no form fits any of the values
            continue
        if dates.null_count() == values.null_count():
            return dates
    return None


def as_points(numbers: pl.Series) -> NDArray[np.float64]:
    """Return numbers as floats that lie on the same side of every round bound: a decimal just below 10 stays below."""
    floats = numbers.cast(pl.Float64)
    if numbers.dtype.is_decimal() and len(numbers):
        before = math.ceil(math.log10(max(float(floats.abs().max() or 0), 1.0) + 1))  # type: ignore[arg-type]
        kept = max(_EXACT_DIGITS - before, 0)
        if kept < int(numbers.dtype.scale or 0):  # type: ignore[attr-defined]
            below = numbers.truncate(kept)
            step = pl.lit(Decimal(1).scaleb(-kept), dtype=numbers.dtype)
            floats = pl.select(
                pl.when(below > numbers).then(below - step).otherwise(below).cast(pl.Float64)
            ).to_series()
    return floats.to_numpy()


def as_bound(text: str, dtype: pl.DataType) -> pl.Series | None:
    """Return one number to compare a column's numbers with, exactly where these are exact; None if it is no number."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    exact = dtype.is_decimal() or (dtype.is_integer() and number.is_finite() and number == int(number))
    if not exact or not number.is_finite():
        return as_numbers(pl.Series([text]))
    if dtype.is_integer():
        wide = pl.Int128 if dtype.is_signed_integer() or number < 0 else pl.UInt128
        return pl.Series([int(number)], dtype=wide, strict=False) if abs(number) < 2**127 else None
    scale = max(-int(number.as_tuple().exponent), 0)
    if scale + max(number.adjusted() + 1, 0) > _MOST_DIGITS:
        return None
    return pl.Series([number], dtype=pl.Decimal(_MOST_DIGITS, scale))


def as_text(values: pl.Series) -> pl.Series:
    """Return the values as text, the way hierarchies spell them: 3.0 is `3`, a date is ISO; a decimal as it is."""
    if values.dtype.is_float():
        value, text = pl.col("value"), pl.col("value").cast(pl.String)
        whole = value.is_finite() & (value == value.floor())
        shorter = pl.when(whole).then(text.str.strip_suffix(".0")).otherwise(text)
        return values.to_frame("value").select(shorter).to_series().alias(values.name)
    return values.dt.to_string("iso") if values.dtype == pl.Duration else values.cast(pl.String)


def as_short_text(values: pl.Series) -> pl.Series:
    """Return the values as labels write them: as text, and the decimals 5.50 and 5.00 as `5.5` and `5`.

    Times end with their last digit that is not 0, and are dates where all of them are midnight.
    """
    text = as_text(values)
    if values.dtype == pl.Datetime:
        short = short_times(text)
        return short.str.head(_DAY_LENGTH) if not short.str.contains(_LATER_IN_THE_DAY).any() else short
    if not values.dtype.is_decimal() or not values.dtype.scale:  # type: ignore[attr-defined]
        return text
    return text.str.strip_chars_end("0").str.strip_suffix(".")


def as_bounds(values: pl.Series) -> pl.Series:
    """Return the values as bounds of ranges are written: as labels, and a midnight as its date, when the day begins.

    >>> as_bounds(pl.Series(["1996-01-01 00:00:00", "1996-01-01 07:30:00"]).str.to_datetime()).to_list()
    ['1996-01-01', '1996-01-01 07:30:00']
    """
    if values.dtype != pl.Datetime:
        return as_short_text(values)
    text = short_times(as_text(values))
    return pl.select(
        pl.when(text.str.contains(_LATER_IN_THE_DAY)).then(text).otherwise(text.str.head(_DAY_LENGTH))
    ).to_series()


def spelled(values: pl.Series) -> pl.Series:
    """Write values so that equal ones look alike: 1.10 and 1.1; and times of any unit and zone, as UTC has them."""
    if values.dtype == pl.Datetime:
        values = values.dt.cast_time_unit("us")
        if values.dtype.time_zone is not None:  # type: ignore[attr-defined]
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return as_bounds(values)
    return as_short_text(values)


def as_days(values: pl.Series) -> pl.Series:
    """Return times as days where all of them are midnight, and anything else as it is.

    >>> as_days(pl.Series(["1996-01-01 00:00:00"]).str.to_datetime()).to_list()
    [datetime.date(1996, 1, 1)]
    """
    if not isinstance(values.dtype, pl.Datetime) or values.dtype.time_zone is not None:
        return values
    nameless = values.alias("")  # a name may look like a pattern of names
    return values.cast(pl.Date) if (nameless.dt.truncate("1d") == nameless).all() else values


def short_times(text: pl.Series) -> pl.Series:
    """Return times without zeros at the end of their seconds.

    >>> short_times(pl.Series(["1996-01-01 07:30:00.000000", "1996-01-01 07:30:00.120000"])).to_list()
    ['1996-01-01 07:30:00', '1996-01-01 07:30:00.12']
    """
    return text.str.replace(r"(\.\d*?)0+(\D|$)", "${1}${2}").str.replace(r"\.(\D|$)", "${1}")


def natural_kind(values: pl.Series) -> pl.Series:
    """Return the values as what they look like: numbers, dates, or text.

    A code such as `01234` looks like a number, but its zeros mean something: it stays text. So do numbers with more
    digits than can be told apart. In text, `5` and `5.0` are one value, whatever else the column holds.
    """
    if values.dtype == pl.String:
        if values.null_count() == len(values):
            return values
        if len(values) <= FEW and (told := _told_at_once(values)) is not None:
            return told
        text = pl.col("text")
        digits, floats, zeros = (
            values.to_frame("text")
            .select(
                digits=text.str.contains("[0-9]").any(),
                floats=text.str.strip_chars().cast(pl.Float64, strict=False).count(),
                zeros=text.str.contains(_LEADING_ZERO).any(),
            )
            .row(0)
        )
        if not digits and floats < values.count():  # no number, unless `inf` is one, no date, and one spelling of each
            return values
        if not zeros:
            numbers = as_numbers(values)
            if numbers is not None and (not numbers.dtype.is_float() or _exact(values, numbers)):
                return numbers
        dates = as_dates(values)
        return one_spelling(values) if dates is None else dates
    for parse in (as_numbers, as_dates):
        parsed = parse(values)
        if parsed is not None:
            return parsed
    return as_text(values)


def _told_at_once(texts: pl.Series) -> pl.Series | None:
    """Return, without a plan of Polars, what a few texts look like that are short whole numbers, or not all numbers."""
    found = texts.to_list()
    known = [text for text in found if text is not None]
    if not all(map(_BEGINS_LIKE_ONE, known)):  # one of them is neither a number nor a date
        return one_spelling(texts)
    if all(map(_IS_SHORT_WHOLE, known)):
        return pl.Series(texts.name, [None if text is None else int(text) for text in found], dtype=pl.Int64)
    return None


def one_spelling(text: pl.Series) -> pl.Series:
    """Return texts with one spelling for each number: the shortest there is. All that is no number stays as it is."""
    if len(text) <= FEW and not any(map(_IS_NUMBER, map(str.strip, known_values(text).to_list()))):
        return text
    spelled = pl.DataFrame({"text": text, "value": _value_of(text)})
    if spelled["value"].n_unique() == text.n_unique():
        return text
    shortest = (
        spelled.unique().sort(pl.col("text").str.len_bytes(), "text").unique("value", keep="first", maintain_order=True)
    )
    found = spelled.join(shortest, on="value", how="left", nulls_equal=True, maintain_order="left")
    return found["text_right"].alias(text.name)


def spelling_of(text: pl.Series) -> pl.Series:
    """Return a text for each text, value by value, that is the same for all spellings of one number.

    >>> spelling_of(pl.Series(["5", "5.0", "5e0", "5 kg", None])).to_list()
    ['5', '5', '5', '5 kg', None]
    """
    return _value_of(text)


def spellings_of(texts: list[str]) -> list[str]:
    """Return the same for a few texts, without a series where none is a number."""
    if not any(_IS_NUMBER(text.strip()) for text in texts):
        return texts
    return spelling_of(pl.Series(texts, dtype=pl.String)).to_list()


def _value_of(text: pl.Series) -> pl.Series:
    """Return a text for each text that is the same for two spellings of one number, and for nothing else."""
    nameless = text.alias("text")  # a name may look like a pattern of names
    if not nameless.str.contains("[0-9]").any():
        return text.alias("value")  # no number is among them
    plain = pl.col("text").str.strip_chars()
    digits = plain.str.replace("[eE].*$", "").str.replace_all("[^0-9]", "").str.strip_chars("0").str.len_chars()
    number = plain.cast(pl.Float64, strict=False)
    by_float = plain.str.contains(_NUMBER) & (digits <= _EXACT_DIGITS) & number.is_finite()
    by_digits = plain.str.contains(_NUMBER) & ~plain.str.contains("[eE]")
    short = pl.when(plain.str.contains(".", literal=True)).then(plain.str.strip_chars_end("0")).otherwise(plain)
    short = short.str.strip_prefix("+").str.strip_suffix(".").str.replace(r"^(-?)\.", "${1}0.")
    value = (
        pl.when(by_float)
        .then(pl.when(number == 0).then(0.0).otherwise(number).cast(pl.String).str.strip_suffix(".0"))
        .when(by_digits)
        .then(short)
        .otherwise("text")
    )
    return nameless.to_frame().select(value.alias("value")).to_series()


def _exact(text: pl.Series, floats: pl.Series) -> bool:
    """Whether floats tell all numbers apart, and are as many digits long as these."""
    if not floats.is_finite().all():
        return False
    long = text.str.count_matches("[0-9]") > _EXACT_DIGITS
    return not long.any() or (
        not text.str.contains(_LONG_WHOLE).any() and _value_of(text).n_unique() == floats.n_unique()
    )


def known_values(values: pl.Series) -> pl.Series:
    """Return the values that are not missing; most columns miss nothing, and each step of Polars has its price."""
    return values.drop_nulls() if values.null_count() else values


def distinct_values(values: pl.Series) -> pl.Series:
    """Return the distinct values, sorted; a missing one is first."""
    if not (values.dtype == pl.String or values.dtype.is_integer()) or len(values) > FEW:
        return values.unique().sort()
    found = set(values.to_list())
    known = sorted(found - {None})  # texts by characters, which is the order of their bytes, too
    return pl.Series(values.name, [None, *known] if None in found else known, dtype=values.dtype)


def as_physical(values: pl.Series) -> pl.Series:
    """Return the numbers that Polars holds dates and times as; numbers are returned as they are."""
    return values if values.dtype.is_numeric() else values.to_physical()


def code_values(values: pl.Series) -> tuple[pl.Series, Codes]:
    """Return the sorted distinct values without missing, and each value's code among them; missing is 0."""
    missing = values.null_count() > 0
    distinct = distinct_values(known_values(values))
    if values.dtype == pl.String:
        return distinct, code_among(values, distinct)
    physical = as_physical(values)
    if not physical.dtype.is_numeric() or physical.dtype.is_decimal() or physical.dtype in (pl.Int128, pl.UInt128):
        return distinct, code_among(values, distinct)
    known = physical.fill_null(0) if missing else physical
    codes = (np.searchsorted(as_physical(distinct).to_numpy(), known.to_numpy()) + 1).astype(np.int32)
    if missing:
        codes[values.is_null().to_numpy()] = 0
    return distinct, codes


def code_among(values: pl.Series, distinct: pl.Series) -> Codes:
    """Return each value's place, from 1, in `distinct`; 0 where it is missing and -1 where it is not there."""
    if len(values) + len(distinct) <= FEW and values.dtype == distinct.dtype == pl.String:
        place: dict[str | None, int] = dict(zip(distinct.to_list(), range(1, len(distinct) + 1), strict=True))
        place[None] = 0
        return np.array([place.get(value, -1) for value in values.to_list()], dtype=np.int32)
    key = pl.DataFrame({"value": distinct, "code": np.arange(1, len(distinct) + 1, dtype=np.int32)})
    found = pl.DataFrame({"value": values}).join(key, on="value", how="left", maintain_order="left")
    codes = found["code"]
    if not codes.null_count():
        return codes.to_numpy().astype(np.int32)
    return np.where(found["value"].is_null().to_numpy(), 0, codes.fill_null(-1).to_numpy()).astype(np.int32)
