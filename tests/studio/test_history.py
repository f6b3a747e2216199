"""Undo without end, a file that remembers, and what happens to it when things go wrong."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from incrowd.studio.history import History, at_path, without_path
from incrowd.studio.refusing import Refused

START = {
    "incrowd": 1,
    "models": [{"name": "k-anonymity", "k": 5}],
    "columns": {"age": {"role": "quasi"}, "sex": "quasi"},
}


def _change(recipe: dict[str, Any], k: int) -> dict[str, Any]:
    return at_path(recipe, ["models", 0, "k"], k)


moves = some.lists(
    some.one_of(
        some.tuples(some.just("k"), some.integers(2, 9)),
        some.tuples(some.just("drop"), some.sampled_from(["age", "sex", "zip"])),
        some.tuples(some.just("add"), some.sampled_from(["age", "sex", "zip"])),
        some.tuples(some.just("form"), some.booleans()),
        some.tuples(some.just("undo"), some.just(0)),
        some.tuples(some.just("redo"), some.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=22, deadline=None)
@given(moves=moves)
def test_history_is_that_of_a_list_and_is_read_back(moves: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("history") / "h.jsonl"
    history = History(file)
    history.add(START, "opened")
    past, now = [START], 0  # the oracle: all recipes as they were, and a place among them
    for kind, value in moves:
        if kind in ("undo", "redo"):
            place = now + (1 if kind == "redo" else -1)
            if not 0 <= place < len(past):
                with pytest.raises(Refused):
                    history.go(place)
                continue
            now = place
            history.go(place)
        else:
            before = past[now]
            after = {
                "k": lambda b, v: _change(b, v),
                "drop": lambda b, v: without_path(b, ["columns", v]),
                "add": lambda b, v: at_path(b, ["columns", v, "role"], "quasi"),
                "form": lambda b, v: at_path(b, ["form"], {"name": "buckets"}) if v else without_path(b, ["form"]),
            }[kind](before, value)
            history.add(after, kind)
            if after != before:
                past, now = [*past[: now + 1], after], now + 1
        assert (history.recipe, history.now, len(history.steps)) == (past[now], now, len(past))
    version = history.version
    history.close()
    again = History(file)
    assert [step.recipe for step in again.steps] == past
    assert (again.now, again.version) == (now, version)
    assert [list(step.recipe["columns"]) for step in again.steps] == [list(one["columns"]) for one in past]
    again.close()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "state" / "h.jsonl"
    history = History(file)
    history.add(START, "opened")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    history.close()


def test_a_step_that_was_half_written_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "h.jsonl"
    history = History(file)
    history.add(START, "opened")
    history.add(_change(START, 7), "k is 7")
    history.close()
    content = file.read_bytes()
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last + 1, last + 20, len(content) - 1):
        file.write_bytes(content[:cut])
        again = History(file)
        assert again.recipe == START
        again.add(_change(START, 9), "k is 9")
        again.close()
        once_more = History(file)
        assert once_more.recipe == _change(START, 9)
        once_more.close()


def test_on_a_full_disk_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "h.jsonl"
    history = History(file)
    history.add(START, "opened")
    content, real = file.read_bytes(), os.write

    def full(handle: int, data: bytes) -> int:
        real(handle, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        history.add(_change(START, 7), "k is 7")
    with pytest.raises(OSError, match="No space"):
        history.describe({"name": "x"})
    assert (history.recipe, history.version, file.read_bytes()) == (START, 1, content)
    monkeypatch.undo()
    history.add(_change(START, 8), "k is 8")
    history.close()
    assert History(file).recipe == _change(START, 8)


def test_a_table_is_open_in_one_studio_at_a_time(tmp_path: Path) -> None:
    first = History(tmp_path / "h.jsonl")
    with pytest.raises(Refused, match="another studio"):
        History(tmp_path / "h.jsonl")
    first.close()
    History(tmp_path / "h.jsonl").close()


def test_paths_lead_through_tables_and_lists() -> None:
    assert at_path({}, ["a", "b"], 1) == {"a": {"b": 1}}
    assert at_path({"a": [1]}, ["a", 1], 2) == {"a": [1, 2]}
    assert at_path({"columns": {"sex": "quasi"}}, ["columns", "sex", "hierarchy"], {"kind": "flat"}) == {
        "columns": {"sex": {"role": "quasi", "hierarchy": {"kind": "flat"}}}
    }
    assert without_path({"a": [1, 2]}, ["a", 0]) == {"a": [2]}
    assert without_path({"a": 1}, ["b", "c"]) == {"a": 1}
    for path in (["a", 2], [None], ["a", -1]):
        with pytest.raises(Refused):
            at_path({"a": [1]}, path, 0)
    before = {"a": {"b": [1]}}
    at_path(before, ["a", "b", 0], 2)
    assert before == {"a": {"b": [1]}}  # nothing is changed in place


def test_what_is_written_is_what_changes(tmp_path: Path) -> None:
    """A history of many steps over a recipe with many categories stays small."""
    many = at_path(
        START, ["columns", "job"], {"role": "quasi", "hierarchy": {"kind": "categories", "tree": ["x" * 9] * 999}}
    )
    history = History(tmp_path / "h.jsonl")
    history.add(many, "opened")
    size = (tmp_path / "h.jsonl").stat().st_size
    for k in range(2, 52):
        history.add(_change(history.recipe or {}, k), "k")
    assert (tmp_path / "h.jsonl").stat().st_size < 2 * size
    history.close()
    assert all(json.loads(line) for line in (tmp_path / "h.jsonl").read_text(encoding="utf-8").splitlines())
