"""Separators and quotes found in the first lines."""

from __future__ import annotations

import pytest

from incrowd.sources.content import Content
from incrowd.sources.dialect import NOTHING, Dialect, detect


def found(text: str) -> Dialect:
    return detect(Content.of(text.encode()), separator=None, quote=None, where="here")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":"])
def test_each_separator(separator: str) -> None:
    text = "a,b,c\n1,2,3\n4,5,6\n".replace(",", separator)
    assert found(text) == Dialect(separator, '"', padded=False)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("name;height\nA;1,80\nB;1,75\n", ";"),  # decimal commas
        ("name;height\nA;1,80\nB;175\n", ";"),
        ("time,value\n12:30,1\n12:45,2\n", ","),  # times of day
        ("h:m:s,value\n12:30:01,1\n12:45:02,2\n", ","),
        ("id|name\n1|Doe, John\n2|Roe, Jane\n", "|"),  # commas in every row
        ("id|full, name|x\n1|Doe, John|y\n2|Roe, Jane|z\n", "|"),
        ('id,note\n1,"a;b;c"\n2,"d;e;f"\n', ","),  # other separators inside of quotes
        ('"x;y",b\n"1;2",3\n', ","),
        ("a,b,c\n1,2,3\n1,2\n1,2,3,4\n", ","),  # ragged lines
        ("a,b\n1,2,3\n1,2,3\n", ","),  # a header that is too short
        ("a,b,c\n", ","),  # no rows
        ("a\tb c,d\n1\t2, 3\n", "\t"),
        ("a;b\n" + '1;"' + "x\n" * 300 + '"\n', ";"),  # a quoted field longer than the sample
    ],
)
def test_separator(text: str, separator: str) -> None:
    assert found(text).separator == separator


@pytest.mark.parametrize("text", ["name\nA\nB\n", "height\n1,80\n1,75\n", "name, first\nAnna\nBert\n", "t\n12:30\n"])
def test_single_column(text: str) -> None:
    assert found(text).separator == NOTHING


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a,b\n'x,y',1\n'it''s',2\n", "'"),
        ("a;b\n'x';'y'\n'z';'w'\n", "'"),
        ("a,b\n'x,y',1\nz,2\nw,3\nv,4\n", "'"),  # without it, a line is too long
        ("'a';'b'\n'x';1\ny;2\nz;3\nw;4\n", "'"),  # the header says so
        ("a,b\nO'Brien,1\nD'Arcy,2\n", '"'),  # apostrophes in names
        ("a,b\n'tis,1\nx,2\n", '"'),
        ("a,b\n'x',1\n'y',2\n'tis,3\n", '"'),
        ("a,b\nrock,'n'\nx,2\ny,3\nz,4\n", '"'),  # one value that happens to look quoted
        ("a,b\n'x',\"y\"\n'z',\"w\"\n", '"'),
        ("a,b\n'x'y,1\n'z'y,2\n", '"'),
    ],
)
def test_quote(text: str, quote: str) -> None:
    assert found(text).quote == quote


def test_a_long_first_line_does_not_hide_the_separator() -> None:
    names = [f"column_{n}" for n in range(50_000)]
    assert found(";".join(names) + "\n" + ";".join("1" * len(names)) + "\n").separator == ";"


def test_a_name_that_holds_the_end_of_a_line_hides_no_padding() -> None:
    assert found('"a", "b\nc"\n"1", """2"""\n').padded
