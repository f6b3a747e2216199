"""Frames: what pandas, Polars and PyArrow can hold, and what becomes of it."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from incrowd.errors import SourceError
from incrowd.sources import open_source


def column(values: object) -> pl.Series:
    """Return what becomes of a column of a pandas frame."""
    return open_source(pd.DataFrame({"x": values})).frame.collect()["x"]


def test_polars_frame() -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    source = open_source(frame)
    assert (source.native, source.in_memory, source.columns) == ("polars", True, ("a", "b"))
    assert_frame_equal(source.frame.collect(), frame)


def test_polars_lazy_frame() -> None:
    source = open_source(pl.LazyFrame({"a": [1, 2]}))
    assert (source.native, source.in_memory) == ("polars-lazy", False)


def test_polars_lazy_frame_that_cannot_be_planned(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="columns cannot be read"):
        open_source(pl.LazyFrame({"a": [1]}).select("b"))
    with pytest.raises(SourceError, match="columns cannot be read"):
        open_source(pl.scan_parquet(tmp_path / "nobody.parquet"))


def test_nan_and_negative_zero() -> None:
    frame = pl.DataFrame(
        {
            "wide": [float("nan"), -0.0, 1.5, None],
            "narrow": pl.Series([float("nan"), -0.0, -1.5, None], dtype=pl.Float32),
        }
    )
    read = open_source(frame).frame.collect()
    assert read.rows() == [(None, None), (0.0, 0.0), (1.5, -1.5), (None, None)]
    assert not np.signbit(read["wide"][1])
    assert not np.signbit(read["narrow"][1])
    assert read.dtypes == [pl.Float64, pl.Float32]


def test_categories_become_text_and_decimals_stay() -> None:
    frame = pl.DataFrame(
        {
            "category": pl.Series(["a", None], dtype=pl.Categorical),
            "enum": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
            "price": [Decimal("1.50"), None],
        }
    )
    read = open_source(frame).frame.collect()
    assert read.rows() == [("a", "a", Decimal("1.50")), (None, "b", None)]
    assert read.dtypes[:2] == [pl.String, pl.String]


def test_all_null_column() -> None:
    read = open_source(pl.DataFrame({"a": [1, 2], "b": [None, None]})).frame.collect()
    assert read.schema == {"a": pl.Int64, "b": pl.String}
    assert column([None, None]).to_list() == [None, None]


def test_missing_words_in_text_only() -> None:
    frame = pl.DataFrame({"a": ["?", "x"], "b": [1, 2], "c": pl.Series(["NA", "?"], dtype=pl.Categorical)})
    assert open_source(frame, missing=["?", "NA", "1"]).frame.collect().rows() == [(None, 1, None), ("x", 2, None)]


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x", object()], ids=["list", "struct", "binary", "object"])
def test_nested_columns(value: object) -> None:
    frame = pl.DataFrame({"good": [1], "bad": pl.Series([value])})
    with pytest.raises(SourceError, match=r"the polars frame: 1 column holds .*'bad' \((List|Struct|Binary|Object)\)"):
        open_source(frame)


def test_no_columns() -> None:
    for frame in (pl.DataFrame(), pd.DataFrame(), pd.DataFrame(index=[1, 2]), pa.table({})):
        with pytest.raises(SourceError, match="no columns"):
            open_source(frame)


def test_no_rows() -> None:
    for frame in (pl.DataFrame({"a": []}), pd.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.string())})):
        assert open_source(frame).frame.collect().shape == (0, 1)


def test_pandas_frame() -> None:
    frame = pd.DataFrame({"age": [34, 51], "sex": ["f", None], "born": pd.to_datetime(["2020-01-02", None])})
    source = open_source(frame)
    assert (source.native, source.in_memory, source.columns) == ("pandas", True, ("age", "sex", "born"))
    assert source.frame.collect()["age"].to_list() == [34, 51]
    assert source.frame.collect()["sex"].to_list() == ["f", None]
    assert source.frame.collect_schema()["born"].is_temporal()


def test_pandas_index_is_neither_a_column_nor_a_position() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [1.5, "x", None], "c": pd.Categorical(["u", "v", "u"])}, index=[7, 7, 0])
    source = open_source(frame.rename_axis("row"))
    assert source.columns == ("a", "b", "c")
    assert source.frame.collect().rows() == [(1, "1.5", "u"), (2, "x", "v"), (3, None, "u")]


def test_pandas_frame_is_neither_changed_nor_watched() -> None:
    frame = pd.DataFrame({"i": [1, 2], "f": [1.0, -0.0], "o": pd.Series([1, "x"], dtype=object), "s": ["u", "v"]})
    before = frame.copy(deep=True)
    source = open_source(frame, missing=["u"])
    source.frame.collect()
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "i"], frame.loc[0, "f"], frame.loc[0, "o"] = 99, 99.0, 99
    assert source.frame.collect().rows()[0] == (1, 1.0, "1", None)


def test_mixed_types_become_text() -> None:
    values = [1, "a", None, 2.5, True, date(2020, 1, 2), np.datetime64("2020-01-03")]
    assert column(pd.Series(values, dtype=object)).to_list() == [
        "1",
        "a",
        None,
        "2.5",
        "True",
        "2020-01-02",
        "2020-01-03",
    ]


def test_mixed_missing_values_are_all_null() -> None:
    assert column(pd.Series(["a", None, np.nan, pd.NA, pd.NaT], dtype=object)).to_list() == ["a"] + [None] * 4


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (pd.Series([1, None], dtype=object), pl.Int64, [1, None]),
        (pd.Series([1, 2.5], dtype=object), pl.Float64, [1.0, 2.5]),
        (pd.Series([2**70, None], dtype=object), pl.Int128, [2**70, None]),
        (pd.Series([2**200, None], dtype=object), pl.String, [str(2**200), None]),
        (pd.Series([np.int64(1), 2, np.float32(2.5)], dtype=object), pl.Float64, [1.0, 2.0, 2.5]),
        (pd.Series([pd.Timestamp("2020-01-02"), None], dtype=object), pl.Datetime, [datetime(2020, 1, 2), None]),
        (pd.Series([True, None], dtype=object), pl.Boolean, [True, None]),
        (pd.Series([date(2020, 1, 2)], dtype=object), pl.Date, [date(2020, 1, 2)]),
        (pd.Series([Decimal("1.50")], dtype=object), pl.Decimal, [Decimal("1.50")]),
        (pd.Series([1, None], dtype="Int64"), pl.Int64, [1, None]),
        (pd.Series([True, None], dtype="boolean"), pl.Boolean, [True, None]),
        (pd.Series(["a", None], dtype="string"), pl.String, ["a", None]),
        (pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())), pl.String, ["a", None]),
        (pd.Series([1, 2, None], dtype="category"), pl.String, ["1", "2", None]),
        (pd.Series(["b", "a", None], dtype="category"), pl.String, ["b", "a", None]),
        (pd.Series(pd.cut([1, 9], [0, 5, 10])), pl.String, ["(0, 5]", "(5, 10]"]),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), pl.String, ["2020-01", "2020-02"]),
        (pd.Series(pd.interval_range(0, 2)), pl.String, ["(0, 1]", "(1, 2]"]),
        (pd.Series(pd.arrays.SparseArray([0, 0, 1])), pl.Int64, [0, 0, 1]),
        (pd.Series([1.0, np.nan]), pl.Float64, [1.0, None]),
    ],
    ids=str,
)
def test_pandas_types(values: object, dtype: type[pl.DataType], expected: list[object]) -> None:
    read = column(values)
    assert read.dtype == dtype
    assert read.to_list() == expected


def test_pandas_time_zone_is_kept() -> None:
    read = column(pd.Series(pd.to_datetime(["2020-01-02"]).tz_localize("Europe/Vienna")))
    assert isinstance(read.dtype, pl.Datetime)
    assert read.dtype.time_zone == "Europe/Vienna"


@pytest.mark.parametrize("value", [[1], (1, 2), {"a": 1}, {1}, b"x", np.array([1])])
def test_pandas_nested_objects(value: object) -> None:
    with pytest.raises(SourceError, match="column 'x' holds values that are not plain"):
        column(pd.Series([None, value, "text"], dtype=object))


def test_pandas_type_without_a_place() -> None:
    with pytest.raises(SourceError, match="column 'x' is of the type complex128"):
        column([1j])


def test_duplicate_column_names() -> None:
    with pytest.raises(SourceError, match=r"the pandas frame: more than one column is named 'a'\."):
        open_source(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    with pytest.raises(SourceError, match="named '1'"):
        open_source(pd.DataFrame([[1, 2]], columns=["1", 1]))
    with pytest.raises(SourceError, match="named 'a'"):
        open_source(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


def test_column_names_that_are_not_text() -> None:
    assert open_source(pd.DataFrame([[1, 2]])).columns == ("0", "1")
    with pytest.raises(SourceError, match="several levels"):
        open_source(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))
    with pytest.raises(SourceError, match="name is a float"):
        open_source(pd.DataFrame([[1]], columns=[1.5]))


def test_pyarrow_table() -> None:
    table = pa.table(
        {
            "age": [34, None],
            "sex": pa.array(["f", "m"]).dictionary_encode(),
            "weight": [float("nan"), -0.0],
            "nothing": pa.nulls(2),
        }
    )
    source = open_source(table)
    assert (source.native, source.in_memory) == ("pyarrow", True)
    assert source.frame.collect().rows() == [(34, "f", None, None), (None, "m", 0.0, None)]
    assert source.frame.collect_schema()["nothing"] == pl.String


def test_pyarrow_uuid_and_json() -> None:
    uuid = "12345678-9abc-def0-1234-56789abcdef0"
    storage = pa.array([bytes.fromhex(uuid.replace("-", "")), None], pa.binary(16))
    table = pa.table({"id": pa.ExtensionArray.from_storage(pa.uuid(), storage)})
    assert open_source(table).frame.collect()["id"].to_list() == [uuid, None]


def test_pyarrow_nested_columns() -> None:
    with pytest.raises(SourceError, match=r"'bad' \(List\)"):
        open_source(pa.table({"bad": [[1]]}))


def test_pyarrow_type_without_a_place() -> None:
    months = pa.array([pa.MonthDayNano([1, 2, 3])])
    with pytest.raises(SourceError, match="column 'bad' is of the type month_day_nano_interval"):
        open_source(pa.table({"bad": months}))


@pytest.mark.parametrize("thing", [None, 5, [1, 2], {"a": [1]}, np.zeros((2, 2)), pl.Series([1]), pd.Series([1])])
def test_unsupported_type(thing: object) -> None:
    with pytest.raises(SourceError, match=r"a \w+ is not a table .*pandas DataFrame.*Polars DataFrame.*PyArrow Table"):
        open_source(thing)


def test_neither_pandas_nor_pyarrow_is_imported_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    program = (
        "import sys\n"
        "from incrowd.sources import open_source\n"
        "open_source('people.csv').frame.collect()\n"
        "print([name for name in ('pandas', 'pyarrow', 'adbc_driver_postgresql', 'sqlite3') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def of_pandas(values: list) -> pl.Series:
    return column(pd.Series(values, dtype=object))


@pytest.mark.parametrize("word", ["NaN", "sNaN", "-NaN"])
def test_decimals_of_pandas_that_are_no_number_are_missing(word: str) -> None:
    assert of_pandas([Decimal("1.5"), Decimal(word)]).to_list() == [Decimal("1.5"), None]


def test_infinite_decimals_of_pandas_are_refused() -> None:
    with pytest.raises(SourceError, match="infinite decimals"):
        of_pandas([Decimal("1.5"), Decimal("Infinity")])


def test_decimals_of_pandas_with_too_many_digits_are_text() -> None:
    digits = ["1" * 45, "1" * 44 + "2"]
    assert of_pandas([Decimal(text) for text in digits]).to_list() == digits


def test_whole_numbers_of_pandas_stay_apart_beside_a_float() -> None:
    assert of_pandas([2**60, 2**60 + 1, 1.5]).n_unique() == 3
    assert of_pandas([1, 1.0, 1.5]).to_list() == [1.0, 1.0, 1.5]


def test_half_a_character_of_pandas_is_refused_and_not_quoted() -> None:
    with pytest.raises(SourceError, match="column 'x' holds text with half a character") as told:
        of_pandas(["Anna\ud800", "Bob"])
    assert "Anna" not in str(told.value)
    with pytest.raises(SourceError, match="name holds half a character"):
        open_source(pd.DataFrame({"x": [1]}).set_axis(pd.Index(["\udc00"], dtype=object), axis=1))
