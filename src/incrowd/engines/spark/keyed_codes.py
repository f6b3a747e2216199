"""The same pseudonyms as on one machine, in functions that Spark compiles: HMAC-SHA256, cut to 128 bits, in base 32.

HMAC is two rounds of SHA-256, and a group of 20 bits is five digits in base 16 and four in base 32. The key comes in a
frame of one row and not in the query, since queries are shown in Spark's pages and logs. Texts, whole numbers, truth
values and dates are spelt by Spark; other types by Polars on the executors, a batch of Arrow at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.engines.spark.arrow_batches import to_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from incrowd.core.pseudonyms import PseudonymKey

_BLOCK = 64
_INNER, _OUTER = "hmac_inner", "hmac_outer"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SPELT_ALIKE = (T.StringType, T.CharType, T.VarcharType, T.IntegralType, T.BooleanType, T.DateType)


def with_pseudonyms(rows: DataFrame, columns: Sequence[str], key: PseudonymKey) -> DataFrame:
    """Return the rows with some columns under pseudonyms; missing stays missing."""
    if not columns:
        return rows
    secret = key.secret if len(key.secret) <= _BLOCK else hashlib.sha256(key.secret).digest()
    block = secret.ljust(_BLOCK, b"\0")
    pads = {
        _INNER: [bytes(byte ^ 0x36 for byte in block)],
        _OUTER: [bytes(byte ^ 0x5C for byte in block)],
    }
    keyed = rows.crossJoin(F.broadcast(to_spark(rows.sparkSession, pl.DataFrame(pads))))
    replaced = {name: _pseudonym(as_text(F.col(name), rows.schema[name].dataType)) for name in columns}
    return keyed.withColumns(replaced).drop(_INNER, _OUTER)


def _pseudonym(text: Column) -> Column:
    inner = F.sha2(F.concat(F.col(_INNER), text.cast("binary")), 256)
    digest = F.sha2(F.concat(F.col(_OUTER), F.unhex(inner)), 256)
    padded = F.concat(F.substring(digest, 1, 32), F.lit("000"))
    groups = [F.lpad(F.conv(F.substring(padded, first, 5), 16, 32), 4, "0") for first in range(1, 36, 5)]
    return F.translate(F.substring(F.concat(*groups), 1, 26), _DIGITS, _BASE32)


def as_text(values: Column, kind: T.DataType) -> Column:
    """Return the values as text, spelt as on one machine."""
    if isinstance(kind, _SPELT_ALIKE):
        return values.cast("string")

    import pyarrow as pa

    def spelt(batch: Any) -> Any:
        from incrowd.core.pseudonyms import identifier_text

        return identifier_text(pl.Series(batch)).to_arrow(compat_level=pl.CompatLevel.oldest()).cast("string")

    spelt.__annotations__ = {"batch": pa.Array, "return": pa.Array}  # Spark tells kinds of functions by these
    spell: Any = F.arrow_udf(spelt, T.StringType())  # type: ignore[attr-defined]
    spelling: Column = spell(values)
    return spelling
