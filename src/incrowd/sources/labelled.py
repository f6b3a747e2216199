"""Files of statistics programs through pyreadstat, with what they say of their columns; all rows come into memory.

Columns with value labels hold the labels, and codes that the file declares as missing are missing. What the file says
is kept beside the rows, so that a release of the same kind has it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from incrowd.common.extras import needing_extra
from incrowd.common.surface import option
from incrowd.core.codebook import Code, Codebook, MissingCodes, Variable
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_file, refuse_duplicates, require_readable_name
from incrowd.sources.stamps import watch
from incrowd.sources.whole_numbers import as_whole

_USED = ("encoding", "value_labels", "missing_codes")


def open_labelled(
    path: Path,
    options: ReadOptions,
    kind: str,
    *,
    program: str,
    codes_for_missing: bool = False,
    catalogue: Path | None = None,
) -> OpenedTable:
    """Open a file of a `program`, of one of the kinds that pyreadstat names by their suffix.

    `codes_for_missing`: whether files of this kind declare codes that mean missing. `catalogue` is a file beside it
    that holds the labels.
    """
    options.refuse_all_but(_USED, f"{path}: this is a file of {program}")
    require_readable_name(path)
    unchanged = watch(path, *([] if catalogue is None else [catalogue]))
    frame, told, catalogued = _read(path, kind, catalogue, options.encoding, program, user_missing=codes_for_missing)
    refuse_duplicates(told.column_names, str(path))
    by_codes, values_too = options.value_labels == "codes", options.missing_codes == "values"
    book = replace(_codebook(told, catalogued, program), missing_are_values=values_too, by_codes=by_codes)
    columns = [
        _column(frame[name], told.readstat_variable_types.get(name), book.of(name), by_codes, values_too)
        for name in told.column_names
    ]
    stated = {
        "encoding": options.encoding, "value_labels": options.value_labels, "missing_codes": options.missing_codes
    }  # fmt: skip
    found = {name: given for name, given in stated.items() if given is not None}
    rows = pl.DataFrame(columns).lazy()
    opened = opened_file(rows, path, options, in_memory=True, found=found, unchanged=unchanged)
    return replace(opened, codebook=book, found_out=())


def _read(
    path: Path, kind: str, catalogue: Path | None, encoding: str | None, program: str, *, user_missing: bool
) -> tuple[pl.DataFrame, Any, Mapping[str, Mapping[Code, str]]]:
    """Return the rows, what the file says of its columns, and the labels of a catalogue."""
    with needing_extra("statistics", f"files of {program}"):
        import pyreadstat
    readers: dict[str, Any] = {
        "sav": pyreadstat.read_sav,
        "por": pyreadstat.read_por,
        "dta": pyreadstat.read_dta,
        "sas7bdat": pyreadstat.read_sas7bdat,
        "xpt": pyreadstat.read_xport,
    }
    asked: dict[str, Any] = {"user_missing": True} if user_missing else {}
    if kind == "por":
        if encoding is not None:
            raise SourceError(f"{path}: a portable file has no encoding, so {option('encoding')} cannot be used.")
    else:
        asked["encoding"] = encoding
    try:
        frame, told = readers[kind](str(path), output_format="polars", **asked)
        labels: Any = {} if catalogue is None else pyreadstat.read_sas7bcat(str(catalogue))[1].value_labels
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, LookupError) as error:
        raise SourceError(f"{path}: the file of {program} cannot be read{_why(error)}") from None
    return frame, told, labels


def _why(error: Exception) -> str:
    """Return what pyreadstat says where it cannot quote a cell."""
    if "encoding" in str(error):
        stated = option("encoding", "cp1252", section="source")
        return f": its texts are not in the encoding that it tells.  Hint: state another, such as {stated}."
    if isinstance(error, OverflowError):
        return ": it holds a date beyond the year 9999."
    return ".  Hint: it is damaged, or of a version that is not supported."


def _codebook(told: Any, catalogued: Mapping[str, Mapping[Code, str]], program: str) -> Codebook:
    variables = {}
    for name, label in zip(told.column_names, told.column_labels, strict=True):
        is_text = told.readstat_variable_types.get(name) == "string"
        labels: dict[Code, str] = dict(told.variable_value_labels.get(name, {}))
        labels |= catalogued.get(told.variable_to_label.get(name, ""), {})
        variables[name] = Variable(
            label or None,
            # Letters among a number's codes are the program's own missing values (Stata's .a).
            {code: text for code, text in labels.items() if is_text or not isinstance(code, str)},
            _runs(told.missing_ranges.get(name, [])),
            None if is_text else told.original_variable_types.get(name),
            told.variable_measure.get(name),
        )
    return Codebook(variables, program)


def _runs(declared: Iterable[Any]) -> MissingCodes:
    return tuple((one["lo"], one["hi"]) if isinstance(one, Mapping) else (one, one) for one in declared)


def _column(values: pl.Series, kind: str | None, said: Variable, by_codes: bool, values_too: bool) -> pl.Series:
    """Return one column as it is shown."""
    if values.dtype in (pl.Null, pl.Object):
        values = values.cast(pl.String if kind == "string" else pl.Float64, strict=False)
    nameless = values.alias("")  # Polars takes a name like "^a.*$" for a pattern
    if nameless.dtype == pl.String:
        nameless = nameless.replace("", None)
    if not values_too:
        nameless = _without(nameless, said.missing)
    if said.is_named and not by_codes and (nameless.dtype.is_numeric() or nameless.dtype == pl.String):
        return said.shown(nameless, missing_too=values_too).alias(values.name)
    if nameless.dtype == pl.Datetime:
        nameless = nameless.dt.round("1ms")  # they are seconds in a float, which has no more digits
    return as_whole(nameless).alias(values.name)


def _without(values: pl.Series, missing: MissingCodes) -> pl.Series:
    """Return values with null where a code means missing."""
    frame = values.alias("code").to_frame()
    for first, last in missing:
        comparable = isinstance(first, str) == (values.dtype == pl.String)
        if comparable and (values.dtype.is_numeric() or values.dtype == pl.String):
            frame = frame.with_columns(
                pl.when(~cs.by_name("code").as_expr().is_between(pl.lit(first), pl.lit(last))).then("code")
            )
    return frame.to_series().alias(values.name)
