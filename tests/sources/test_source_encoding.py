"""Encodings: stated, marked, or found over the whole file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from incrowd.errors import SourceError
from incrowd.sources import content, open_source

Write = Callable[..., Path]

TEXT = "name,stadt\nJürgen,Köln\nZoë,Łódź €\n"
ROWS = [("Jürgen", "Köln"), ("Zoë", "Łódź €")]
LATIN = "name,stadt\nJürgen,Köln\nZoë,Århus\n"
LATIN_ROWS = [("Jürgen", "Köln"), ("Zoë", "Århus")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_with_and_without_mark_is_scanned(file: Write, encoding: str) -> None:
    source = open_source(file(TEXT.encode(encoding)))
    assert (source.in_memory, source.description["encoding"]) == (False, "utf-8")
    assert source.columns == ("name", "stadt")
    assert source.frame.collect().rows() == ROWS


def test_utf8_mark_before_a_quoted_name(file: Write) -> None:
    assert open_source(file('\ufeff"a b",c\n"1",2\n')).columns == ("a b", "c")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_utf16_and_utf32_with_mark(file: Write, encoding: str) -> None:
    source = open_source(file(TEXT.encode(encoding)))
    assert (source.in_memory, source.description["encoding"]) == (True, encoding)
    assert source.frame.collect().rows() == ROWS


def test_utf16_big_endian_with_mark(file: Write) -> None:
    assert open_source(file(b"\xfe\xff" + TEXT.encode("utf-16-be"))).frame.collect().rows() == ROWS


def test_utf16_without_mark_can_be_stated(file: Write) -> None:
    path = file(TEXT.encode("utf-16-le"))
    with pytest.raises(SourceError, match=r"zero byte.*utf-16-le"):
        open_source(path)
    assert open_source(path, encoding="utf-16-le").frame.collect().rows() == ROWS


def test_cp1252(file: Write) -> None:
    source = open_source(file("preis,ort\n5 €,Köln\n".encode("cp1252")), written="plain")
    assert (source.in_memory, source.description["encoding"]) == (True, "cp1252")
    assert source.frame.collect().rows() == [("5 €", "Köln")]


@pytest.mark.parametrize("encoding", [None, "cp1252"])
def test_a_byte_that_cp1252_has_no_character_for_changes_no_other(file: Write, encoding: str | None) -> None:
    source = open_source(file(b"a,b\n5 \x80,K\xf6ln\n\x81,x\n"), encoding=encoding)
    assert source.description["encoding"] == "cp1252"
    assert source.frame.collect().rows() == [("5 €", "Köln"), ("\x81", "x")]


def test_latin1_late_in_file(file: Write) -> None:
    lines = b"a,b\n" + b"Anna,Bonn\n" * 300_000
    source = open_source(file(lines + "Jürgen,Köln\n".encode("latin-1")))
    assert source.frame.collect().rows()[-1] == ("Jürgen", "Köln")


def test_some_lines_not_utf8_among_many_that_are(file: Write) -> None:
    lines = b"a,b\n" + "Jürgen,Köln\n".encode() * 100_000 + "Zoë,Köln\n".encode("latin-1")
    with pytest.raises(SourceError, match=r"line 100002 holds bytes that are not UTF-8"):
        open_source(file(lines))


def test_stated_utf8_that_is_not(file: Write) -> None:
    with pytest.raises(SourceError, match=r'line 3 holds bytes that are not UTF-8.*encoding="cp1252"'):
        open_source(file(b"a,b\nAnna,Bonn\nJ\xfcrgen,K\xf6ln\n"), encoding="UTF8")


def test_stated_encoding_that_does_not_fit(file: Write) -> None:
    with pytest.raises(SourceError, match=r"not in the encoding utf-16-le \(byte "):
        open_source(file(b"a,b\nx,\xdc\xdc\xdcy\n" + b"\xdc" * 9), encoding="utf-16-le")


@pytest.mark.parametrize("encoding", ["klingon", "base64"])
def test_unknown_encoding(file: Write, encoding: str) -> None:
    with pytest.raises(SourceError, match=f"no text encoding '{encoding}'"):
        open_source(file("a,b\n1,2\n"), encoding=encoding)


def test_stated_latin1(file: Write) -> None:
    source = open_source(file(LATIN.encode("latin-1")), encoding="latin-1")
    assert source.frame.collect().rows() == LATIN_ROWS


@pytest.mark.parametrize("shift", range(5))
@pytest.mark.parametrize("character", ["é", "€", "😀"])
def test_a_character_across_the_border_of_two_chunks(file: Write, character: str, shift: int) -> None:
    head = "a,b\n"
    filling = "x" * (content.CHUNK - len(head) - shift)
    source = open_source(file(f"{head}{filling}{character},2\n"))
    assert not source.in_memory
    assert source.frame.collect().rows() == [(filling + character, "2")]


def test_half_a_character_at_the_end(file: Write) -> None:
    with pytest.raises(SourceError, match="line 3 holds bytes that are not UTF-8"):
        open_source(file("a,b\né,ü\nx,".encode() + "€".encode()[:2]), encoding="utf-8")


@pytest.mark.parametrize(
    "encoding",
    ["hex", "zip", "rot13", "idna", "punycode", "undefined", "unicode_escape", "no such", "\0", "\ud800", "x" * 10_000],
)
def test_what_is_no_encoding_of_text_files_is_refused(file: Write, encoding: str) -> None:
    with pytest.raises(SourceError, match="there is no text encoding") as caught:
        open_source(file("a,b\n1,2\n"), encoding=encoding)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-32-be", "ascii"])
def test_a_mark_that_contradicts_the_stated_encoding(file: Write, encoding: str) -> None:
    with pytest.raises(SourceError, match=f"the mark of UTF-8, but the encoding is stated as {encoding}"):
        open_source(file(b"\xef\xbb\xbfa,b\n1,2\n"), encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", None])
def test_a_mark_that_fits_is_no_part_of_the_first_name(file: Write, encoding: str | None) -> None:
    opened = open_source(file("\ufeffa,b\n1,2\n".encode("utf-16-le")), encoding=encoding)
    assert opened.columns == ("a", "b")


def test_utf_16_of_an_odd_number_of_bytes(file: Write) -> None:
    with pytest.raises(SourceError, match="not in the encoding utf-16"):
        open_source(file("a,b\n1,2\n".encode("utf-16")[:-1]))


def test_halves_of_characters_are_no_text(file: Write) -> None:
    with pytest.raises(SourceError, match="not in the encoding utf-7"):
        open_source(file(b"+2AA-,b\n1,2\n"), encoding="utf-7")
