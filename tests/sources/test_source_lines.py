"""The fast look at lines and quotes against a slow one, with chunks so small that everything crosses their borders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.sources import content
from incrowd.sources.dialect import Dialect
from incrowd.sources.lines import Layout, examine

FIELDS = st.sampled_from(
    [b"", b"a", b"bcd", b'""', b'"x,y"', b'"a\nb"', b'"q""q"', b'"\r\n,"""', b" z", b'"' + b"k" * 70 + b'"']
)


class Irregular(Exception):
    pass


def slow_records(body: bytes, layout: Layout) -> list[tuple[int, int, bytes]]:
    """Return the start, number of fields and bytes of every record, byte by byte, by the rules of RFC 4180."""
    records, at = [], 0
    while at < len(body):
        start, fields = at, 1
        while True:
            at = slow_field(body, at)
            if at >= len(body) or body[at : at + 1] == b"\n":
                break
            if body[at - 1 : at] == b"\r" and layout.lost_return is None:
                layout.lost_return = at
            fields += 1
            at += 1
        records.append((start, fields, body[start:at]))
        at += 1
    return records


def slow_field(body: bytes, at: int) -> int:
    """Return where the field that starts here stops."""
    if body[at : at + 1] != b'"':
        while at < len(body) and body[at] not in b",\n":
            if body[at] in b'"':
                raise Irregular
            at += 1
        return at
    at += 1
    while True:
        at = body.find(b'"', at)
        if at < 0:
            raise Irregular
        if body[at + 1 : at + 2] != b'"':
            break
        at += 2
    at += 1
    if body[at : at + 1] == b"\r":
        at += 1
        if body[at : at + 1] not in (b"\n", b""):
            raise Irregular
    if body[at : at + 1] not in (b",", b"\n", b""):
        raise Irregular
    return at


def slow_layout(body: bytes, width: int) -> Layout:
    layout = Layout(quoted=b'"' in body, commas=b"," in body)
    try:
        records = slow_records(body, layout)
    except Irregular:
        return Layout(regular=False)
    for number, (start, fields, line) in enumerate(records):
        bare = line.strip(b" \r") if width > 1 else line.removesuffix(b"\r")
        if fields == 1 and not bare:
            layout.blank.append(number)
        elif fields != width:
            layout.total_ragged += 1
            layout.ragged = [*layout.ragged, (start, fields)][:3]
    return layout


def agree(body: bytes, width: int) -> None:
    fast = examine(content.Content.of(body), 0, Dialect(",", '"', padded=False), width)
    slow = slow_layout(body, width)
    assert fast.regular == slow.regular
    if slow.regular:
        assert fast == slow


@pytest.fixture(autouse=True, scope="module", params=[64, 192], ids=["chunks of a word", "chunks of three words"])
def tiny_chunks(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "CHUNK", request.param)
        yield


@settings(deadline=None)
@given(st.lists(st.sampled_from(b'ab,,\n\n" \r'), max_size=300), st.integers(1, 4))
def test_any_bytes(body: list[int], width: int) -> None:
    agree(bytes(body), width)


@settings(deadline=None)
@given(st.data(), st.sampled_from([1, 2, 3, 12]), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_tables_with_blank_and_ragged_lines(data: st.DataObject, width: int, newline: bytes, ends: bool) -> None:
    row = st.lists(FIELDS, min_size=width, max_size=width)
    odd_row = st.lists(FIELDS, max_size=width + 1)
    lines = data.draw(st.lists(st.one_of(row, row, row, row, odd_row), max_size=20))
    body = newline.join(b",".join(line) for line in lines) + newline * ends
    agree(body, width)


@pytest.mark.parametrize(
    "tail",
    [b'"a",b\n', b'"a"b,c\n', b'"a"\r\n', b'"a"\rb\n', b'"a"\r', b'"a""b"\n', b'""\n', b'""b\n', b'"a', b'"\n",b\n'],
)
@pytest.mark.parametrize("edge", [b",", b"\n", b"x"])
def test_a_quote_at_every_place_around_the_border_of_a_chunk(edge: bytes, tail: bytes) -> None:
    for filling in range(50, 70):
        for before in (b"", b'"q",'):
            agree(before + b"k" * filling + edge + tail + b"1,2\n" * 20, 2)


def test_the_slow_look_finds_what_it_should() -> None:
    assert slow_layout(b'1,2\n\n"3,\n",4\n5\n', 2) == Layout(
        quoted=True, blank=[1], ragged=[(13, 1)], total_ragged=1, commas=True
    )
    assert not slow_layout(b'1,2"\n', 2).regular
