"""CSV: what a table is, what is no table, and what the message says."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from incrowd.errors import EmptyTable, SourceError
from incrowd.sources import open_source
from incrowd.sources.unusual import read as read_unusual

Write = Callable[..., Path]


def rows(path: Path, **stated: object) -> list[tuple[object, ...]]:
    return open_source(path, **stated).frame.collect().rows()


def test_every_column_is_text_and_stays_as_it_is(file: Write) -> None:
    source = open_source(file("zip,price,when\n007,1.50,2020-01-02\n1e5,-0,NaN\n"))
    assert source.columns == ("zip", "price", "when")
    assert source.frame.collect_schema().dtypes() == [pl.String] * 3
    assert source.frame.collect().rows() == [("007", "1.50", "2020-01-02"), ("1e5", "-0", "NaN")]


def test_a_utf8_file_is_scanned_and_can_be_read_twice(file: Write) -> None:
    source = open_source(file("a,b\n1,2\n"))
    assert not source.in_memory
    assert source.native == "file"
    assert_frame_equal(source.frame.collect(), source.frame.collect(engine="streaming"))


def test_a_relative_path_is_still_found_from_another_folder(file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file("a,b\n1,2\n")
    monkeypatch.chdir(path.parent)
    source = open_source(path.name)
    (path.parent / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent / "elsewhere")
    assert source.frame.collect().rows() == [("1", "2")]
    assert source.description["path"] == path.name


def test_the_description_opens_the_same_table_again(file: Write) -> None:
    source = open_source(file("a;b\n?;'x;y'\n1;'z'\n".encode("cp1252")), missing=["?"])
    assert source.description == {
        "path": source.description["path"],
        "separator": ";",
        "quote": "'",
        "encoding": "utf-8",
        "missing": ["?"],
    }
    description = dict(source.description)
    again = open_source(description.pop("path"), **description)
    assert again.frame.collect().rows() == source.frame.collect().rows() == [(None, "x;y"), ("1", "z")]


def test_empty_fields_are_null_quoted_or_not(file: Write) -> None:
    assert rows(file('a,b,c\n,"",x\n"y",,""\n')) == [(None, None, "x"), ("y", None, None)]


def test_missing_words_are_null_quoted_or_not(file: Write) -> None:
    path = file('a,b\n?,"NA"\nna,?\n"? ",NAN\n')
    assert rows(path, missing=["?", "NA"]) == [(None, None), ("na", None), ("? ", "NAN")]


def test_missing_must_be_a_list(file: Write) -> None:
    with pytest.raises(SourceError, match="list of texts"):
        open_source(file("a\n1\n"), missing="NA")


def test_one_row(file: Write) -> None:
    assert rows(file("a,b\n1,2")) == [("1", "2")]


def test_header_without_rows_is_a_table_without_rows(file: Write) -> None:
    for content in ("a,b", "a,b\n", "a,b\r\n\r\n"):
        source = open_source(file(content))
        assert (source.columns, source.frame.collect().height) == (("a", "b"), 0)


def test_all_null_column(file: Write) -> None:
    assert rows(file("a,b\n1,\n2,\n")) == [("1", None), ("2", None)]


def test_single_column(file: Write) -> None:
    source = open_source(file("name\nAnna\n\nBert\n"))
    assert source.columns == ("name",)
    assert source.frame.collect().rows() == [("Anna",), ("Bert",)]
    assert "separator" not in source.description


def test_single_column_of_text_with_separators(file: Write) -> None:
    lines = ["height", "1,80", "1;75", "180", "a\tb|c"]
    source = open_source(file("\n".join(lines)))
    assert source.columns == (lines[0],)
    assert source.frame.collect().rows() == [(line,) for line in lines[1:]]


def test_single_column_with_a_stated_separator(file: Write) -> None:
    source = open_source(file("name\nAnna\n"), separator=";")
    assert source.frame.collect().rows() == [("Anna",)]
    assert source.description["separator"] == ";"


def test_single_column_quoted_empty_is_a_row_and_a_blank_line_is_not(file: Write) -> None:
    assert rows(file('name\n""\n\nAnna\n \n')) == [(None,), ("Anna",), (" ",)]


def test_single_column_windows_lines(file: Write) -> None:
    assert rows(file("name\r\nAnna\r\n\r\nBert\r\n\r\n")) == [("Anna",), ("Bert",)]


def test_windows_lines(file: Write) -> None:
    assert rows(file('a,b\r\n1,"x\r\ny"\r\n,\r\n"2",""\r\n')) == [("1", "x\r\ny"), (None, None), ("2", None)]


def test_old_macintosh_lines(file: Write) -> None:
    source = open_source(file("a,b\r1,2\r3,4\r"))
    assert source.in_memory
    assert source.frame.collect().rows() == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blank_lines_are_no_people(file: Write, newline: str) -> None:
    lines = ["", "a,b", "", "  ", "1,2", "", ",", "   ", '"3","4"', "", ""]
    assert rows(file(newline.join(lines))) == [("1", "2"), (None, None), ("3", "4")]


def test_empty_rows_stay_where_there_is_no_blank_line(file: Write) -> None:
    assert rows(file("a,b\n,\n1,2\n,\n")) == [(None, None), ("1", "2"), (None, None)]


def test_many_blank_lines_in_a_large_file(file: Write) -> None:
    records = [f'"{n}\n",{n}' if n % 3 else f"{n},{n}" for n in range(120_000)]
    for at in range(0, len(records), 7):
        records[at] = ""
    read = open_source(file("a,b\n" + "\n".join(records) + "\n")).frame.collect(engine="streaming")
    kept = [n for n in range(len(records)) if n % 7]
    assert read["b"].cast(int).to_list() == kept
    assert read["a"].str.strip_chars("\n").cast(int).to_list() == kept


def test_names_are_trimmed_and_may_be_quoted(file: Write) -> None:
    source = open_source(file('a , "b,c",d""e,"f ""g""\nh"\n1,2,3,4\n'))
    assert source.columns == ("a", "b,c", 'd""e', 'f "g"\nh')
    assert source.frame.collect().rows() == [("1", "2", "3", "4")]


def test_spaces_after_every_separator_are_no_part_of_the_value(file: Write) -> None:
    path = file("age, work, sex\n39, State-gov, Male\n50, ?, Female\n28, , Male\n")
    assert rows(path, missing=["?"]) == [
        ("39", "State-gov", "Male"),
        ("50", None, "Female"),
        ("28", None, "Male"),
    ]


def test_spaces_after_every_separator_and_quotes_after_them(file: Write) -> None:
    path = file('age, work\n39, "State, federal"\n50, "She said ""no"""\n7, "\n"\n')
    assert rows(path) == [("39", "State, federal"), ("50", 'She said "no"'), ("7", "\n")]


def test_spaces_before_every_quote(file: Write) -> None:
    assert rows(file('a, b\n1, "x, y"\n2, "z"\n')) == [("1", "x, y"), ("2", "z")]


def test_spaces_after_some_separators_are_part_of_the_value(file: Write) -> None:
    assert rows(file("a,b,c\n1, x,y\n2,z,w\n")) == [("1", " x", "y"), ("2", "z", "w")]
    assert rows(file('a,b,c\n1, x,"y"\n2, z,"w"\n')) == [("1", " x", "y"), ("2", " z", "w")]


def test_spaces_inside_of_quotes_are_part_of_the_value(file: Write) -> None:
    assert rows(file('a,b\n1," x"\n2," y"\n')) == [("1", " x"), ("2", " y")]


def test_quotes_that_quote_nothing_are_text(file: Write) -> None:
    source = open_source(file('size,name\n5" pipe,Anna\n6" pipe,"\nBob,7"\n'.replace(',"', ',x"')))
    assert not source.in_memory
    assert source.frame.collect().rows() == [('5" pipe', "Anna"), ('6" pipe', 'x"'), ("Bob", '7"')]


def test_quotes_in_the_middle_beside_quoted_fields(file: Write) -> None:
    source = open_source(file('size,name\n5" pipe,"An,na"\n\n6,"B""b"\n,""\n'))
    assert source.in_memory
    assert source.frame.collect().rows() == [('5" pipe', "An,na"), ("6", 'B"b'), (None, None)]


def test_quotes_in_the_middle_beside_quoted_fields_far_into_the_file(file: Write) -> None:
    lines = ["a,b", *['"x",1'] * 100_000, '5" pipe,2']
    source = open_source(file("\n".join(lines)))
    assert source.frame.collect().rows()[-2:] == [("x", "1"), ('5" pipe', "2")]


def test_quotes_are_text_if_so_stated(file: Write) -> None:
    assert rows(file('a,b\n"x,y"\n'), quote="") == [('"x', 'y"')]


def test_backslash_escape_is_an_error_not_a_guess(file: Write) -> None:
    with pytest.raises(SourceError, match=r"line 2 has text after a closing quote.*written twice"):
        open_source(file('a,b\n"x\\"y",1\n'))


def test_gzip(file: Write) -> None:
    source = open_source(file(gzip.compress(b"a,b\n1,2\n"), "people.csv.gz"))
    assert source.in_memory
    assert source.frame.collect().rows() == [("1", "2")]


def test_damaged_gzip(file: Write) -> None:
    whole = gzip.compress(b"a,b\n" + os.urandom(1000))
    with pytest.raises(SourceError, match="gzip file is damaged"):
        open_source(file(whole[:-200]))


def test_gzip_of_nothing(file: Write) -> None:
    with pytest.raises(EmptyTable):
        open_source(file(gzip.compress(b"")))


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_empty_file(file: Write, content: bytes) -> None:
    with pytest.raises(EmptyTable):
        open_source(file(content))


def test_ragged_short(file: Write) -> None:
    with pytest.raises(SourceError, match=r"header has 3 fields, but line 3 has 2, line 6 has 1\.") as caught:
        open_source(file("a,b,c\n1,2,3\n4,5\n\n6,7,8\n9\n"))
    assert not isinstance(caught.value, EmptyTable)


def test_ragged_long(file: Write) -> None:
    with pytest.raises(SourceError, match=r"header has 2 fields, but line 3 has 4\."):
        open_source(file("a,b\n1,2\n3,4,5,6\n"))


def test_ragged_short_and_long_in_balance(file: Write) -> None:
    with pytest.raises(SourceError, match=r"header has 3 fields, but line 2 has 2, line 3 has 4\."):
        open_source(file("a,b,c\n1,2\n1,2,3,4\n1,2,3\n"))


def test_ragged_last_line_without_newline(file: Write) -> None:
    with pytest.raises(SourceError, match=r"line 3 has 1\."):
        open_source(file("a,b\n1,2\n3"))


def test_ragged_everywhere_as_with_row_names(file: Write) -> None:
    with pytest.raises(SourceError, match=r"header has 2 fields, but line 2 has 3, .*line 4 has 3, and 7 more"):
        open_source(file("a,b\n" + "1,2,3\n" * 10))


def test_ragged_lines_are_counted_as_an_editor_does(file: Write) -> None:
    with pytest.raises(SourceError, match=r"but line 8 has 3, line 9 has 1\."):
        open_source(file('\n"a\nb",c\n\n1,"x\n\n"\n4,5,6\n"7,\n8"\n'))


def test_ragged_far_into_a_large_file(file: Write) -> None:
    lines = ["1,2,3"] * 300_000
    lines[250_000] = "1,2"
    lines[250_001] = "1,2,3,4"
    with pytest.raises(SourceError, match=r"line 250002 has 2, line 250003 has 4\."):
        open_source(file("a,b,c\n" + "\n".join(lines)))


def test_ragged_beside_odd_quotes(file: Write) -> None:
    with pytest.raises(SourceError, match=r"header has 2 fields, but line 5 has 3, line 6 has 1\."):
        open_source(file('a,b\n5" pipe,"x\ny"\n\n1,2,3\n4\n'))


def test_unclosed_quote(file: Write) -> None:
    with pytest.raises(SourceError, match=r"line 3 opens a quote that is never closed"):
        open_source(file('a,b\n1,2\n3,"4\n5,6\n'))


def test_unclosed_quote_in_a_large_file(file: Write) -> None:
    with pytest.raises(SourceError, match=r"line 3 opens a quote that is never closed"):
        open_source(file('a,b\n1,2\n3,"4\n' + "5,6\n" * 100_000))


def test_unclosed_quote_in_the_header(file: Write) -> None:
    with pytest.raises(SourceError, match="the header opens a quote that is never closed"):
        open_source(file('a,"b\n1,2\n'))


def test_nul_bytes(file: Write) -> None:
    with pytest.raises(SourceError, match="line 3 holds a zero byte"):
        open_source(file(b"a,b\n1,2\n3,\x004\n" + b"5,6\n" * 100))


def test_duplicate_column_names(file: Write) -> None:
    with pytest.raises(SourceError, match=r"columns 1 and 3; columns 4 and 5 of the first line are the same"):
        open_source(file("a,b,a, c d,c d\n1,2,3,4,5\n"))


def test_duplicate_values_in_a_file_without_header_are_not_quoted(file: Write) -> None:
    with pytest.raises(SourceError, match=r"looks like a row") as caught:
        open_source(file("39,Anna,Anna\n40,Bert,Carl\n"))
    assert "Anna" not in str(caught.value)
    with pytest.raises(SourceError, match=r"columns 1 and 2 of the first line are the same.*header=False") as caught:
        open_source(file("Anna,Anna\nBert,Carl\n"))
    assert "Anna" not in str(caught.value)


def test_empty_column_names(file: Write) -> None:
    with pytest.raises(SourceError, match=r"no name for column 3\."):
        open_source(file(",b, \n1,2,3\n"))
    with pytest.raises(SourceError, match=r"no name for column 2\."):
        open_source(file("a,,c\n1,2,3\n"))


def test_wrong_separator(file: Write) -> None:
    with pytest.raises(SourceError, match=r'single column; it looks separated by a semicolon.*separator=";"'):
        open_source(file("a;b\n1;2\n"), separator=",")


def test_stated_separator_that_no_detection_would_choose(file: Write) -> None:
    assert rows(file("a^b\n1^2\n"), separator="^") == [("1", "2")]


@pytest.mark.parametrize("separator", ["", ";;", "é", "\n", " "])
def test_impossible_separator(file: Write, separator: str) -> None:
    with pytest.raises(SourceError, match=r"separator=.* must be one ASCII character"):
        open_source(file("a;b\n1;2\n"), separator=separator)


def test_impossible_quote(file: Write) -> None:
    with pytest.raises(SourceError, match=r"quote=.* must be one ASCII character"):
        open_source(file("a;b\n1;2\n"), quote="''")


def test_carriage_return_in_the_middle_is_kept(file: Write) -> None:
    assert rows(file("a,b\nx\ry,z\n")) == [("x\ry", "z")]


def test_the_reader_of_odd_quotes_agrees_with_the_fast_one(file: Write) -> None:
    from incrowd.sources.content import load
    from incrowd.sources.dialect import Dialect
    from incrowd.sources.header import read_header

    path = file('a,b\n1,"x,""y"""\n\n"",\n" ", z\n"l\n\n",é\n')
    content, dialect = load(path), Dialect(",", '"', padded=False)
    header = read_header(content, dialect, where="here")
    slow = read_unusual(content.whole("here")[header.offset :], dialect, header, where="here")
    assert slow.fill_null("").rows() == open_source(path).frame.collect().fill_null("").rows()


@pytest.mark.parametrize("body", ["1\r,2\n", "3,4\n1\r,2", "1,2\r\n1\r,2\r\n", '"x",2\n"a\r,b"\r,2\n'])
def test_carriage_return_before_a_separator_is_an_error_since_polars_drops_it(file: Write, body: str) -> None:
    with pytest.raises(SourceError, match="carriage return in the middle"):
        open_source(file("a,b\n" + body))


def test_carriage_return_inside_of_quotes_is_kept(file: Write) -> None:
    assert rows(file('a,b\n"x\r,y",2\n')) == [("x\r,y", "2")]


def test_a_mark_at_the_first_row_is_not_dropped_in_silence(file: Write) -> None:
    with pytest.raises(SourceError, match=r"line 3 begins with a byte order mark.  Hint: remove it"):
        open_source(file("\ufeffa,b\n\n\ufeff1,2\n"))
    assert rows(file("a,b\n1,2\n\ufeff3,4\n")) == [("1", "2"), ("\ufeff3", "4")]


def test_a_return_that_is_the_only_value_of_the_first_row(file: Write) -> None:
    assert rows(file("a\r\n\r\r\nx\r\n")) == [("\r",), ("x",)]
