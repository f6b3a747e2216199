"""Writing a release with Spark: all of it or nothing, also where the driver or an executor is lost on the way.

Executors write parts into a hidden directory beside the place asked for; `recipe.toml` follows, then `summary.json`,
and last of all one renaming, which refuses where anything is by then. Whoever dies before that leaves no release, and
no hidden directory either: on a machine's own file system a process that outlives the driver takes it away
(`core/killed_runs.py`), on others Java does when it ends. A
release that is replaced on one of Hadoop's file systems steps aside for a moment, under a hidden name; if the driver
dies in that moment, the next run puts it back. A file system that cannot rename a directory in one step (those of
object stores) is written in place, and there it is `summary.json`, written last, that makes a directory a release:
nothing keeps apart two runs that write to the same place at the same time.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.progress import Progress
from incrowd.core.engine import ReleaseTexts
from incrowd.core.killed_runs import cleared_if_killed
from incrowd.core.release_directory import RELEASE, new_directory
from incrowd.engines.spark.arrow_batches import to_spark
from incrowd.engines.spark.counting import name_of
from incrowd.engines.spark.formulas import formulas_counted, neutralized
from incrowd.engines.spark.keyed_codes import as_text
from incrowd.engines.spark.published import Published
from incrowd.engines.spark.session import setting
from incrowd.engines.spark.sets import lists_as_text
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import OutputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FORMATS = ("parquet", "csv")
_HERE, _OLD = "file://", ".old"
_RENAMES_AT_ONCE = ("file", "hdfs", "viewfs", "webhdfs", "swebhdfs")


def save(
    source: SparkSource,
    rows: Mapping[str, Published],
    texts: ReleaseTexts,
    target: str | Path,
    *,
    format: str | None,
    force: bool,
    progress: Progress,
) -> Path | str:
    """Write `data.FORMAT`, a directory of parts, with `recipe.toml` and `summary.json`; return where the data are.

    `rows` are the tables that are on Spark, by the names of their files: `data`, and tables of events.
    """
    chosen = format or "parquet"
    if chosen not in FORMATS:
        raise OutputError(f"Spark does not write '{chosen}'.  Hint: it is one of {', '.join(FORMATS)}.")
    progress("writing", 0.0)
    if isinstance(target, str) and target.startswith(_HERE):
        target = target.rstrip("/")
        _save_here(source, rows, texts, Path(url2pathname(urlsplit(target).path)), chosen, force)
        where: str | Path = f"{target}/data.{chosen}"
    elif isinstance(target, str) and is_remote(target):
        where = _save_remotely(source, rows, texts, target.rstrip("/"), chosen, force)
    else:
        where = _save_here(source, rows, texts, Path(target), chosen, force)
    progress("writing", 1.0)
    return where


def as_address(path: PurePath) -> str:
    """Return a path as Hadoop wants it: with slashes, and one before the drive that Windows has.

    >>> from pathlib import PurePosixPath, PureWindowsPath
    >>> as_address(PureWindowsPath("C:/my tables")), as_address(PurePosixPath("/my tables"))
    ('file:///C:/my tables', 'file:///my tables')
    """
    return f"{_HERE}/{path.as_posix().lstrip('/')}"


def is_remote(target: object) -> bool:
    """Whether a place is one of Spark's file systems: `hdfs://…`, `s3a://…`, `file:///…`."""
    return isinstance(target, str) and "://" in target


def _save_here(
    source: SparkSource, rows: Mapping[str, Published], texts: ReleaseTexts, directory: Path, format: str, force: bool
) -> Path:
    with cleared_if_killed(directory), new_directory(directory, force=force) as place:
        # Hadoop takes a path as it is: what is escaped, such as a space, would be another directory.
        _write_tables(source, rows, texts, as_address(place.absolute()), format)
        if not (place / f"data.{format}" / "_SUCCESS").exists():
            raise OutputError(
                f"{directory} cannot be written: Spark does not see this machine's directories, and wrote elsewhere.  "
                "Hint: choose a place that both see, or an address such as hdfs://…."
            )
        (place / "recipe.toml").write_text(texts.recipe(format, directory), encoding="utf-8", newline="\n")
        if texts.labels is not None:
            (place / "labels.json").write_text(texts.labels, encoding="utf-8", newline="\n")
        (place / "summary.json").write_text(texts.full_summary, encoding="utf-8", newline="\n")
    return directory / f"data.{format}"


def _save_remotely(
    source: SparkSource, rows: Mapping[str, Published], texts: ReleaseTexts, target: str, format: str, force: bool
) -> str:
    files = _Files(source.session, target)
    parent, _, name = target.rpartition("/")
    place = f"{parent}/.{name}.{secrets.token_hex(6)}" if files.renames else target
    if files.renames:
        _put_back(files, parent, name)
    taken = files.exists(target)
    if taken and not force:
        raise OutputError(f"{target} exists already.  Hint: choose another directory, or replace it with force.")
    if taken:
        _require_release(files, target)
    if place != target:
        files.delete_on_exit(place)
    try:
        if place == target and taken:
            files.delete(f"{target}/summary.json")  # from here on it is no release any more
            files.delete(target)
        _write_tables(source, rows, texts, place, format)
        files.write(f"{place}/recipe.toml", texts.recipe(format, None))
        if texts.labels is not None:
            files.write(f"{place}/labels.json", texts.labels)
        files.write(f"{place}/summary.json", texts.full_summary)
        if place != target:
            if taken:
                _require_release(files, target)  # again: much may have happened in the meantime
                files.rename(target, f"{place}{_OLD}")
            files.rename(place, target)
            files.delete(f"{place}{_OLD}")
    except BaseException:
        if place != target and not files.exists(target) and files.exists(f"{place}{_OLD}"):
            files.rename(f"{place}{_OLD}", target)
        files.delete(place)
        raise
    return f"{target}/data.{format}"


def _require_release(files: _Files, target: str) -> None:
    found = {name for name in files.names(target) if not name.endswith(".crc")}
    others = found - RELEASE.members()
    if others and RELEASE.marker in found:
        others -= RELEASE.named_in(files.read(f"{target}/{RELEASE.marker}"))
    if RELEASE.marker not in found or others:
        raise OutputError(
            f"{target} is not a release, or holds other files besides; it is not replaced.  "
            "Hint: choose another directory."
        )


def _put_back(files: _Files, parent: str, name: str) -> None:
    """Put a release back that stepped aside for a run that died, or take it away where the new one is there."""
    for old in files.names(parent) if files.exists(parent) else []:
        if old.startswith(f".{name}.") and old.endswith(_OLD):
            if files.exists(f"{parent}/{name}"):
                files.delete(f"{parent}/{old}")
            else:
                files.rename(f"{parent}/{old}", f"{parent}/{name}")


def _write_tables(
    source: SparkSource, rows: Mapping[str, Published], texts: ReleaseTexts, place: str, format: str
) -> None:
    for name, published in rows.items():
        watched, require_unchanged = published.watched()
        days = _days_alone(source, watched) if format == "csv" and name == "data" else ()
        _write(watched, f"{place}/{name}.{format}", format, texts, days)
        require_unchanged()
    for name, table in texts.tables.items():
        made = to_spark(source.session, table).coalesce(1)
        _write(made, f"{place}/{name}.{format}", format, texts)


def _days_alone(source: SparkSource, frame: DataFrame) -> tuple[str, ...]:
    """Return the kept columns of times that are all midnight in the table: one pass, where there are such columns."""
    names = [
        field.name
        for field in frame.schema.fields
        if isinstance(field.dataType, T.TimestampNTZType) and field.name in source.columns
    ]
    times = {name: F.col(source.number(name)) for name in names}
    kept = [name for name in names if isinstance(source.rows.schema[source.number(name)].dataType, T.TimestampNTZType)]
    if not kept:
        return ()
    midnight = [times[name].cast("date").cast("timestamp_ntz") == times[name] for name in kept]
    found = source.rows.agg(*(F.bool_and(here).alias(f"c{place}") for place, here in enumerate(midnight))).first()
    assert found is not None  # an aggregate of everything is one row
    return tuple(name for name, alone in zip(kept, found, strict=True) if alone)


def _write(frame: DataFrame, place: str, format: str, texts: ReleaseTexts, days: Collection[str] = ()) -> None:
    try:
        count_formulas, require_apart = None, None
        if format == "csv":
            frame, require_apart = lists_as_text(frame, texts.item_separator)
        if format == "csv" and texts.spreadsheet_safe:
            frame = neutralized(frame)
        elif format == "csv":
            frame, count_formulas = formulas_counted(frame, texts.formulas)
        writer = (_as_one_machine_writes(frame, days) if format == "csv" else frame).write.mode("error")
        if format == "parquet":
            # By itself Spark writes instants in an old type that has no zone.
            with setting(frame.sparkSession, "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"):
                writer.parquet(place)
        else:
            # Spaces around a text that is kept are its own.
            writer = writer.options(ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)
            writer.csv(place, header=True, sep=texts.separator, escape='"', emptyValue="")
        if count_formulas is not None:
            count_formulas()
        if require_apart is not None:
            require_apart()
    except (PySparkException, Py4JJavaError) as error:
        name = name_of(error)
        raise OutputError(
            f"Spark could not write the release ({name}); there is none.  Hint: Spark's own log tells more; run again."
        ) from None


def _as_one_machine_writes(frame: DataFrame, days: Collection[str]) -> DataFrame:
    """Return the frame with times and durations in ISO's form, `days` without times, and 1 for 1.0."""
    fields = frame.schema.fields
    numbered = frame.toDF(*(f"c{place}" for place in range(len(fields))))
    columns = [
        _spelt(F.col(f"c{place}"), field.dataType, day=field.name in days).alias(f"c{place}")
        for place, field in enumerate(fields)
    ]
    return numbered.select(*columns).toDF(*frame.columns)


def _spelt(column: Column, kind: T.DataType, *, day: bool) -> Column:
    if isinstance(kind, T.DayTimeIntervalType):
        return as_text(column, kind)
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        return F.regexp_replace(column.cast("string"), r"\.0$", "")
    if not isinstance(kind, (T.TimestampType, T.TimestampNTZType)):
        return column
    if day:
        return column.cast("date")
    # To the last digit of the seconds that is not 0: a pattern would write a fixed number of them.
    text = F.translate(column.cast("string"), " ", "T")
    return text if isinstance(kind, T.TimestampNTZType) else F.concat(text, F.date_format(column, "xx"))


class _Files:
    """A file system of Hadoop's, as far as it is needed."""

    def __init__(self, session: SparkSession, place: str) -> None:
        if type(session).__module__.startswith("pyspark.sql.connect"):
            raise OutputError(
                f"{place} cannot be written in a session of Spark Connect, which has no access to file systems.  "
                "Hint: choose a directory that this machine and Spark's server both see, or a session of Spark's own."
            )
        jvm: Any = session._jvm
        gateway: Any = session.sparkContext._gateway
        self._jvm, self._new_array = jvm, gateway.new_array
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        try:
            self._configuration = session._jsc.hadoopConfiguration()
            self._system = self._path(place).getFileSystem(self._configuration)
            self._system.exists(self._path(place))
        except Exception as error:
            if not type(error).__module__.startswith("py4j"):
                raise
            raise OutputError(f"{place} cannot be written: Spark has no access to this file system.") from None

    @property
    def renames(self) -> bool:
        """Whether a directory is renamed in one step."""
        return str(self._system.getUri().getScheme()) in _RENAMES_AT_ONCE

    def exists(self, place: str) -> bool:
        return bool(self._system.exists(self._path(place)))

    def delete(self, place: str) -> None:
        self._system.delete(self._path(place), True)

    def delete_on_exit(self, place: str) -> None:
        """Delete a place when Java ends, which it does when this process is gone; what was renamed by then stays."""
        self._system.create(self._path(f"{place}/.made"), False).close()  # only what is there can be marked
        self._system.deleteOnExit(self._path(place))
        self._system.delete(self._path(f"{place}/.made"), False)

    def names(self, place: str) -> list[str]:
        return [str(status.getPath().getName()) for status in self._system.listStatus(self._path(place))]

    def rename(self, place: str, target: str) -> None:
        """Move a directory; the plain rename would move it into a directory that is there by then."""
        context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self._path(target).toUri(), self._configuration
        )
        nothing_special = self._new_array(self._jvm.org.apache.hadoop.fs.Options.Rename, 0)
        try:
            context.rename(self._path(place), self._path(target), nothing_special)
        except Py4JJavaError as error:
            if "FileAlreadyExists" in name_of(error) or self.exists(target):
                raise OutputError(f"{target} exists already.  Hint: choose another directory, or replace it.") from None
            raise OutputError(
                f"{target} cannot be written: the finished release could not be moved there ({name_of(error)})."
            ) from None

    def read(self, place: str) -> str:
        stream = self._system.open(self._path(place))
        try:
            return bytes(stream.readAllBytes()).decode(errors="replace")
        finally:
            stream.close()

    def write(self, place: str, text: str) -> None:
        stream = self._system.create(self._path(place), False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
