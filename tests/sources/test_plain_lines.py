"""Tuples that are counted from lines are those that Polars counts of the same rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.common.threads import using
from incrowd.core.source import ReadOptions
from incrowd.engines.local import LocalEngine
from incrowd.sources import plain_lines


def counted(engine: LocalEngine, columns: list[str]) -> Counter[tuple[Any, ...]]:
    raw, counts = engine.distinct(columns)
    assert raw.columns == columns
    assert set(raw.dtypes) == {pl.String}
    found = Counter(dict(zip(raw.rows(), counts.tolist(), strict=True)))
    assert len(found) == raw.height  # every tuple once
    return found


def both(path: Path, columns: list[str], **how: Any) -> tuple[Counter[tuple[Any, ...]], Counter[tuple[Any, ...]]]:
    """Count by lines, which must be possible, and by Polars."""
    engine = LocalEngine.open(path, ReadOptions(**how))
    assert engine.source.counter is not None
    assert engine.source.counter.distinct(columns) is not None
    frame_alone = replace(engine, source=replace(engine.source, faster=None))
    return counted(engine, columns), counted(frame_alone, columns)


FIELDS = st.one_of(
    st.sampled_from(["", "a", "b", " a", "a ", "1", "01", "?", "NA", "é", "日本語", "x" * 8, "x" * 9, "x" * 16]),
    st.integers(0, 20).map(lambda number: f"the same beginning {number:02} and the same end"),
    st.text(
        st.characters(codec="utf-8", exclude_characters='\0\n\r",\x1f\ufeff', exclude_categories=["Cs"]), max_size=40
    ),
)


@settings(max_examples=35, deadline=None)
@given(data=st.data())
def test_lines_are_counted_as_polars_counts_rows(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    width = data.draw(st.integers(2, 5))
    rows = data.draw(st.lists(st.tuples(*[FIELDS] * width), max_size=30)) * data.draw(st.sampled_from([1, 3]))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    names = [f"column{place}" for place in range(width)]
    text = end.join(",".join(row) for row in [names, ["first"] * width, *rows])
    path = tmp_path_factory.mktemp("lines") / "rows.csv"
    path.write_bytes((text + data.draw(st.sampled_from(["", end]))).encode())
    columns = data.draw(st.permutations(names))[: data.draw(st.integers(1, width))]
    lines, frame = both(path, columns, separator=",", written="plain", missing=["?", "NA"])
    assert lines == frame


@pytest.mark.parametrize(
    "body",
    ["1,2\r\n3,4\r", "1,2\n3,4\r", "1,x\ry\n3,4\n", "1,x\r\r\n3,4\n", "1,2\n3,\r", ",\n,\n", "1,2\r\n3,4\n", "", "1,2"],
    ids=repr,
)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "marked"])
def test_ends_of_lines(body: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(f"{mark}a,b\n{body}".encode())
    lines, frame = both(path, ["b", "a"], separator=",", written="plain")
    assert lines == frame


# Many tuples are also listed by several threads, and many texts parted by Polars.
@pytest.mark.parametrize(("threads", "different"), [(1, 11), (2, 11), (3, 11), (7, 11), (3, 40_009)])
def test_threads_share_a_file(threads: int, different: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_lines, "_WORTH_SHARING", 1)
    path, rows = tmp_path / "rows.csv", 500 if different == 11 else 100_000
    path.write_text(
        "a;b\n" + "".join(f"{row % 7};{'long ' * (row % 5)}{row % different or ''}\n" for row in range(rows))
    )
    with using(threads):
        lines, frame = map(dict, both(path, ["b", "a"]))  # counters of so many take long to compare
    assert lines == frame
    assert sum(lines.values()) == rows
    counter = LocalEngine.open(path, ReadOptions()).source.counter
    assert counter is not None
    with using(threads):
        listed = counter.distinct(["b", "a"], each_once=False)
    assert listed is not None
    times: Counter[tuple[str | None, ...]] = Counter()
    for row, number in zip(listed[0].rows(), listed[1].tolist(), strict=True):
        times[row] += number
    assert dict(times) == lines


def test_a_line_may_be_longer_than_a_piece_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1," + "x" * 700_000 + "\n2,y\n1," + "x" * 700_000)
    lines, frame = both(path, ["a", "b"])
    assert lines == frame == {("1", "x" * 700_000): 2, ("2", "y"): 1}


def test_what_reads_values_anew_joins_tuples(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("born;income\n01.02.1990;1.234,5\n1.2.1990;1234,5\n03.02.1990;2.000,5\n?;?\n;\n")
    written = {"born": "dd.mm.yyyy", "income": "1.234,5"}
    lines, frame = both(path, ["born", "income"], written=written, missing=["?"])
    assert lines == frame
    assert max(lines.values()) == 2
    found, frame = both(path, ["income"], missing=["?"])  # found out, not stated
    assert found == frame
    assert found[("1234.5",)] == 2


@pytest.mark.parametrize(
    "text",
    ['a,b\n"1",2\n', "a,b\n1,2\n\n3,4\n", "a, b\n1, 2\n3, 4\n", 'a,b\n1,"x,\ny"\n'],
    ids=["quoted", "blank", "padded", "open"],
)
def test_other_files_are_left_to_polars(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    engine = LocalEngine.open(path, ReadOptions())
    assert engine.source.counter is None


def test_a_frame_that_is_changed_is_counted_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,sex\n30,F\n31,F\n32,M\n")
    engine = LocalEngine.open(path, ReadOptions())
    fewer = replace(engine.source, frame=engine.source.frame.head(1))
    assert fewer.counter is None
    assert counted(replace(engine, source=fewer), ["age"]) == {("30",): 1}


def test_a_line_that_came_later_with_other_fields_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,sex\n30,F\n31,F\n")
    engine = LocalEngine.open(path, ReadOptions())
    counter = engine.source.counter
    assert counter is not None
    path.write_text("age,sex\n30,F,31\nF\n\n")
    assert counter.distinct(["age"]) is None


ODD_LINES = st.sampled_from(
    [
        *(b"", b" ", b"  \r", b"\r\r", b"\r\r\r", b"1", b"1,2,3,4", b" 1 , 2,3 ", b",,", b" , ,", b"1,2,3\r"),
        *(b"1,2,3\r\r", b"1,2,\r", b"a\rb,2,3", b"?,NA, ?", b"01.02.1990,1.234,5", b"\0,1,2"),
        *(b"\xff,\xfe\xff,3", b"\xc3\xa9,\xc3,x", b"\xe2\x82,\xf0\x9f,\xed\xa0\x80"),
    ]
)


@settings(max_examples=35, deadline=None)
@given(
    lines=st.lists(ODD_LINES, max_size=12), end=st.sampled_from([b"", b"\n"]), columns=st.permutations(["a", "b", "c"])
)
def test_lines_by_themselves_are_counted_as_polars_reads_them(
    lines: list[bytes], end: bytes, columns: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("lines") / "rows.csv"
    path.write_bytes(b"\n".join([b"a, b,c", *lines]) + end)
    how: dict[str, Any] = {"written": {"a": "dd.mm.yyyy"}, "missing": ["?"], "only_stated": True}
    lines_alone, frame = both(path, columns[:2], **how)
    assert lines_alone == frame


@pytest.mark.parametrize("byte", ['"', "\x1f"])
def test_a_byte_in_one_row_changes_the_way_and_no_other_row(byte: str, tmp_path: Path) -> None:
    path, odd = tmp_path / "rows.csv", tmp_path / "odd.csv"
    path.write_text("a,b\n1, x \n2\n \n1,x\n")
    odd.write_text(path.read_text() + f"7,{byte}\n")
    plain, other = (LocalEngine.open(one, ReadOptions(only_stated=True)) for one in (path, odd))
    assert plain.source.counter is not None
    assert other.source.counter is None
    more = counted(other, ["a", "b"])
    more.subtract(counted(plain, ["a", "b"]))
    assert more.total() == 1  # one row more, and nothing else
    assert sorted(more.values())[-2:] in ([0, 1], [1])
