"""A Spark frame as a table that can be read: checked and normalized as any other; no row is read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.records import dataclass
from incrowd.errors import SourceError
from incrowd.hierarchies.texts import TextRules
from incrowd.sources.normalize import refuse_duplicates

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WHERE = "the Spark frame"
_PLAIN = (
    T.StringType,
    T.CharType,
    T.VarcharType,
    T.BooleanType,
    T.IntegralType,
    T.FloatType,
    T.DoubleType,
    T.DecimalType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
    T.NullType,
)


@dataclass(frozen=True, eq=False)
class SparkSource:
    """Rows that Spark can read, as often as needed.

    In `rows`, column i is called `ci`, so that neither dots, nor letter case, nor names of ours stand in the way; NaN
    and the words in `missing` are null, and there is no negative zero.
    """

    given: DataFrame
    columns: tuple[str, ...]
    missing: tuple[str, ...] = ()
    description: Mapping[str, object] = field(default_factory=lambda: {"frame": "spark"})
    native: str = "spark"
    found_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    exact_text: bool = False
    codebook: None = None  # Spark reads no file that has one

    @property
    def texts(self) -> TextRules:
        """Which of its texts are one value, and which are missing."""
        return TextRules(self.exact_text, self.missing)

    @property
    def session(self) -> SparkSession:
        """The session that the frame belongs to."""
        return self.given.sparkSession

    @cached_property
    def rows(self) -> DataFrame:
        """The normalized rows."""
        numbered = self.given.toDF(*(f"c{place}" for place in range(len(self.columns))))
        return numbered.select(*(_normalized(column, self.missing) for column in numbered.schema.fields))

    def number(self, name: str) -> str:
        """Return what a column is called in `rows`."""
        return f"c{self.columns.index(name)}"


def open_spark(
    frame: DataFrame,
    *,
    missing: Sequence[str] = (),
    exact_text: bool = False,
    description: Mapping[str, object] | None = None,
    lists: Sequence[str] | None = (),
) -> SparkSource:
    """Take a Spark frame in; refuse columns that hold more than plain values, or lists of these in `lists`.

    With `lists=None`, any column may hold lists.
    """
    columns = tuple(frame.columns)
    if not columns:
        raise SourceError(f"{_WHERE}: there are no columns.")
    refuse_duplicates(columns, _WHERE)
    refuse_nested(frame, lists)
    told = {"frame": "spark", **({"missing": list(missing)} if missing else {})}
    described = told if description is None else description
    return SparkSource(frame, columns, tuple(missing), described, exact_text=exact_text)


def refuse_nested(frame: DataFrame, lists: Sequence[str] | None) -> None:
    """Refuse columns that hold anything but plain values, or lists of plain values where there may be lists."""
    nested = [
        f"'{column.name}' ({column.dataType.simpleString()})"
        for column in frame.schema.fields
        if not isinstance(column.dataType, _PLAIN)
        and not (_holds_lists(column.dataType) and (lists is None or column.name in lists))
    ]
    if nested:
        noun = "column holds" if len(nested) == 1 else "columns hold"
        raise SourceError(
            f"{_WHERE}: {len(nested)} {noun} values that are not plain: {', '.join(nested)}.  "
            "Hint: drop or flatten them."
        )


def _holds_lists(kind: T.DataType) -> bool:
    return isinstance(kind, T.ArrayType) and isinstance(kind.elementType, _PLAIN)


def _normalized(column: T.StructField, missing: Sequence[str]) -> Column:
    values, kind = F.col(column.name), column.dataType
    if isinstance(kind, T.NullType):
        values = values.cast("string")
    elif isinstance(kind, (T.FloatType, T.DoubleType)):
        values = F.when(values == 0, F.lit(0.0).cast(kind)).when(~F.isnan(values), values)
    elif isinstance(kind, (T.StringType, T.CharType, T.VarcharType)) and missing:
        values = F.when(~values.isin(list(missing)), values)
    return values.alias(column.name)
