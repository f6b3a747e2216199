"""What goes wrong is told in one line, with its exit code and no value of the table, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.publishing.recipe import Recipe
from tests.cli.command import Done, everything, incrowd

SECRET = "S3CRET"
PEOPLE = "".join(["name,age,ill\n", *(f"{SECRET} {n},{20 + n % 5},{SECRET} flu\n" for n in range(20))])
RECIPE = """
incrowd = 1
source = { path = "people.csv" }
models = [{ name = "k-anonymity", k = 4 }]
output = { directory = "out" }
[columns]
name = "identifier"
age = "quasi"
ill = "sensitive"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table and its recipe in the current directory."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("people.recipe.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def people(text: str | bytes) -> None:
    Path("people.csv").write_bytes(text if isinstance(text, bytes) else text.encode())


def recipe(old: str, new: str) -> None:
    assert old in RECIPE
    Path("people.recipe.toml").write_text(RECIPE.replace(old, new), encoding="utf-8")


def refused(code: int, *words: str, command: tuple[str, ...] = ("publish", "people.recipe.toml")) -> None:
    """Run a command that must fail: one line says why, and everything else is as it was."""
    before = everything(Path())
    done = incrowd(*command)
    told = done.err.splitlines()
    assert done.code == code, done
    assert len(told) == 1
    assert told[0].startswith("incrowd: ")
    for word in words:
        assert word in told[0]
    assert done.out == ""
    assert SECRET not in done.err
    assert everything(Path()) == before


def published() -> pl.DataFrame:
    """Publish what only looks bad."""
    done = incrowd("publish", "people.recipe.toml", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    return pl.read_csv("out/data.csv", infer_schema=False)


def test_good_input_is_published() -> None:
    assert published().height == 20


def test_empty_file() -> None:
    people("")
    refused(3, "people.csv: the file is empty")
    refused(3, "people.csv: the file is empty", command=("check", "people.csv", "-q", "age"))


def test_header_only() -> None:
    people("name,age,ill\n")
    refused(3, "the table has columns but no rows")
    refused(3, "the table has columns but no rows", command=("check", "people.csv", "-q", "age"))


def test_one_row() -> None:
    people(f"name,age,ill\n{SECRET},31,flu\n")
    refused(4, "4-anonymity: all 1 rows together reach 1", "Hint: ")


def test_all_null_column() -> None:
    people("".join(["name,age,ill\n", *(f"x{place},,flu\n" for place in range(5))]))
    assert published()["age"].to_list() == [None] * 5


def test_constant_column() -> None:
    people("".join(["name,age,ill\n", *(f"x{place},31,flu\n" for place in range(5))]))
    assert published()["age"].to_list() == ["31"] * 5


def test_duplicate_column_names() -> None:
    people(f"name,age,age,ill\n{SECRET},1,2,flu\n")
    refused(3, "of the first line are the same", "Hint: ")
    refused(3, "of the first line are the same", command=("check", "people.csv", "-q", "age"))


def test_mixed_types_in_a_numeric_column() -> None:
    people(PEOPLE + f"x,{SECRET},flu\n")
    recipe('age = "quasi"', 'age = { role = "quasi", hierarchy = { kind = "intervals", widths = [5] } }')
    refused(3, "column 'age': 1 distinct value not in its hierarchy.", "Hint: ")


def test_a_value_that_the_category_tree_lacks() -> None:
    recipe('age = "quasi"', 'age = { role = "quasi", hierarchy = { kind = "categories", tree = ["20", "21"] } }')
    people(PEOPLE + f"x,{SECRET},flu\n")
    refused(3, "column 'age': 4 distinct values not in its hierarchy.")


def test_nul_bytes() -> None:
    people(PEOPLE.encode() + f"x,\0{SECRET},flu\n".encode())
    refused(3, "people.csv: line 22 holds a zero byte", "Hint: ")


def test_wrong_separator_stated() -> None:
    recipe('path = "people.csv"', 'path = "people.csv", separator = ";"')
    refused(3)
    refused(3, command=("check", "people.csv", "-q", "age", "--separator", ";"))


def test_ragged_lines() -> None:
    people(PEOPLE + f"x,31\ny,32,{SECRET},{SECRET}\n")
    refused(3, "people.csv", "line 22", "line 23")


def test_damaged_parquet() -> None:
    pl.read_csv("people.csv").write_parquet("people.parquet")
    Path("people.parquet").write_bytes(Path("people.parquet").read_bytes()[:-20])
    recipe("people.csv", "people.parquet")
    refused(3, "people.parquet")


def test_k_larger_than_the_table() -> None:
    recipe("k = 4", "k = 21")
    refused(4, "no grouping satisfies what is required. 21-anonymity: all 20 rows together reach 20", "Hint: ")


def test_diversity_that_no_grouping_reaches() -> None:
    recipe('models = [{ name = "k-anonymity", k = 4 }]', 'models = [{ name = "distinct-l-diversity", l = 2 }]')
    refused(4, "distinct 2-diversity: all 20 rows together reach 1")


def test_diversity_without_a_sensitive_column() -> None:
    recipe('ill = "sensitive"', 'ill = "drop"')
    Path("people.recipe.toml").write_text(
        Path("people.recipe.toml").read_text().replace('"k-anonymity", k = 4', '"distinct-l-diversity", l = 2')
    )
    refused(3, "diversity needs a sensitive column", "Hint: ")


def test_unknown_column_in_the_recipe() -> None:
    recipe('age = "quasi"', 'age = "quasi"\nagee = "quasi"')
    refused(3, "column 'agee' (quasi) is not in the table", "did you mean 'age'?")


def test_column_without_a_role() -> None:
    recipe('ill = "sensitive"\n', "")
    refused(3, "column 'ill' has no role", "Hint: ")


def test_recipe_that_is_not_toml() -> None:
    Path("people.recipe.toml").write_text("incrowd : 1\n", encoding="utf-8")
    refused(3, "recipe people.recipe.toml is not TOML")


def test_recipe_that_is_not_there() -> None:
    refused(3, "recipe nowhere.toml cannot be read: No such file", command=("publish", "nowhere.toml"))


def test_recipe_of_another_version() -> None:
    recipe("incrowd = 1", "incrowd = 2")
    refused(3, "a recipe starts with `incrowd = 1`")


@pytest.mark.parametrize("line", ['seed = "x"', "seed = -1", "source = 5", "sead = 5", 'others = "hide"'])
def test_recipe_with_a_wrong_line(line: str) -> None:
    text = RECIPE.replace("source = { path = ", "source = {path =") if "source" in line else RECIPE
    text = text.replace('source = {path ="people.csv" }', line) if "source" in line else f"{line}\n{text}"
    Path("people.recipe.toml").write_text(text, encoding="utf-8")
    refused(3)


def test_source_that_is_not_there() -> None:
    Path("people.csv").unlink()
    refused(3, "people.csv: there is no such file")
    refused(3, "people.csv: there is no such file", command=("check", "people.csv", "-q", "age"))


@pytest.mark.parametrize("where", ["taken", "taken/out", "taken/deep/er"])
def test_output_directory_that_cannot_be_written(where: str) -> None:
    Path("taken").write_text("mine", encoding="utf-8")
    refused(5, where, command=("publish", "people.recipe.toml", "-o", where))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a file system that nobody can write to")
def test_output_on_a_file_system_that_nobody_can_write_to() -> None:
    refused(5, "cannot be written", command=("publish", "people.recipe.toml", "-o", "/proc/incrowd/out"))


def test_output_directory_that_exists() -> None:
    Path("out").mkdir()
    refused(5, "out exists already", "--force")


def test_output_directory_that_is_no_release_is_not_forced() -> None:
    Path("out").mkdir()
    Path("out/thesis.txt").write_text("mine", encoding="utf-8")
    refused(5, "out is not a release", command=("publish", "people.recipe.toml", "--force"))


def test_the_output_is_looked_at_before_the_table_is() -> None:
    Path("out").mkdir()
    people("")
    refused(5, "out exists already")


def test_key_that_others_can_read() -> None:
    recipe('name = "identifier"', 'name = "pseudonym"')
    Path("people.recipe.toml").write_text(f'pseudonyms = {{ key = "key" }}\n{Path("people.recipe.toml").read_text()}')
    ic.PseudonymKey.new().save("key")
    Path("key").chmod(0o644)
    refused(5, "pseudonym key key can be read by others", "chmod 600")


def test_a_demo_does_not_write_over_somebody_s_people() -> None:
    refused(5, "people.csv is not the demo's", command=("demo", "--output", "."))


@pytest.mark.parametrize(
    "command",
    [
        ("publsh", "people.recipe.toml"),
        ("publish",),
        ("publish", "people.recipe.toml", "--fast"),
        ("publish", "people.recipe.toml", "--format", "orc"),
        ("publish", "people.recipe.toml", "--seed", "-1"),
        ("check", "people.csv"),
        ("check", "people.csv", "-q", "age", "--k", "many"),
        ("demo", "--rows", "0"),
    ],
    ids=" ".join,
)
def test_wrong_usage(command: tuple[str, ...]) -> None:
    before = everything(Path())
    done = incrowd(*command)
    assert (done.code, done.out) == (2, "")
    assert "Usage: " in done.err
    assert "Traceback" not in done.err
    assert everything(Path()) == before


def test_a_fault_quotes_nothing_and_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(f"cannot parse '{SECRET}'")

    monkeypatch.delenv("INCROWD_DEBUG", raising=False)
    monkeypatch.setattr(Recipe, "run", broken)
    refused(6, "a fault in incrowd itself (ValueError at test_bad_input.py:", "Hint: please report it")
    monkeypatch.setenv("INCROWD_DEBUG", "1")
    with pytest.raises(ValueError, match=SECRET):
        incrowd("publish", "people.recipe.toml")


def test_a_method_s_fault_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ic.errors.ConformanceError("the method's table does not satisfy 4-anonymity")

    monkeypatch.setattr(Recipe, "run", broken)
    refused(6, "the method's table does not satisfy 4-anonymity")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, signal.SIGINT, signal.SIGTERM], ids=str)
def test_an_interruption_inside_the_run(
    monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException] | signal.Signals
) -> None:
    def interrupted(self: ic.Release, *, runs: bool) -> None:
        yield next(self.published.batches())
        if isinstance(interruption, signal.Signals):
            signal.raise_signal(interruption)
        else:
            raise interruption

    monkeypatch.setattr(ic.Release, "batches_to_write", interrupted)
    refused(130, "interrupted; no release was written")


def test_an_interruption_that_comes_when_the_release_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.core import release_directory

    put = release_directory._put

    def interrupted(*given: Any) -> None:
        put(*given)
        monkeypatch.setattr(release_directory, "_settle", lambda *_: signal.raise_signal(signal.SIGTERM) or True)

    monkeypatch.setattr(
        release_directory, "partial", lambda function, *given: lambda place: release_directory._settle(*given, place)
    )
    monkeypatch.setattr(release_directory, "_put", interrupted)
    done = incrowd("publish", "people.recipe.toml")
    assert (done.code, done.err) == (130, "incrowd: interrupted; the release was written.\n")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "data.csv",
        "labels.json",
        "recipe.toml",
        "summary.json",
    ]
    assert not list(Path().glob(".out.*"))


LONG = "n" * 300


@pytest.mark.parametrize(
    "command",
    [
        ("publish", "people.recipe.toml", "-o", LONG),
        ("publish", "people.recipe.toml", "-o", "two\nlines"),
        ("publish", "people.recipe.toml", "-o", "\udcff"),
        ("publish", "people.recipe.toml", "-o", "link", "--force"),
        ("publish", "people.recipe.toml", "-o", "dangling"),
        ("profile", "people.csv", "-o", LONG),
        ("profile", "people.csv", "-o", "two\nlines"),
        ("hierarchy", "people.recipe.toml", "--column", "age", "--write", LONG),
        ("demo", "-o", LONG),
        ("compare", "people.recipe.toml", "-o", LONG),
        ("plan", "--figures", LONG),
        ("experiment", "sdgs", "-o", LONG),
    ],
    ids=lambda command: " ".join(command)[:40].encode("ascii", "replace").decode(),
)
def test_names_that_nothing_can_be_written_to(command: tuple[str, ...]) -> None:
    Path("real").mkdir()
    Path("link").symlink_to("real")
    Path("dangling").symlink_to("nowhere")
    refused(5, "link" if "link" in command else "", command=command)


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "people.csv", "--force", "-o", "full/page.html"),
        ("hierarchy", "people.recipe.toml", "--column", "age", "--force", "--write", "full/page.html"),
        ("audit", "out", "--no-learning", "-o", "full/page.html"),
    ],
    ids=lambda command: command[0],
)
def test_a_full_disk_leaves_the_file_that_was_there(full_disk: Path, command: tuple[str, ...]) -> None:
    if not full_disk.is_mount():
        pytest.skip("files that may not grow are no full disk for small ones")
    assert incrowd("publish", "people.recipe.toml", "--quiet").code == 0
    (full_disk / "page.html").write_text("old")
    with suppress(OSError), (full_disk / "rest").open("wb", buffering=0) as rest:
        for _ in range(1000):
            rest.write(b"x" * 4096)
    before = everything(Path())
    done = incrowd(*command)
    assert (done.code, done.err.partition(": ")[2]) == (
        5,
        "full/page.html cannot be written: No space left on device.\n",
    )
    assert everything(Path()) == before


def test_an_interruption_that_compiled_code_loses_ends_the_run_at_its_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from incrowd.engines.local import LocalEngine

    count = LocalEngine.count

    def losing(self: LocalEngine, schema: ic.Schema, population: object = None, **_: object) -> object:
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            return count(self, schema)
        return None

    monkeypatch.setattr(LocalEngine, "count", losing)
    refused(130, "interrupted; no release was written")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes a while to publish."""
    folder = tmp_path_factory.mktemp("large")
    ic.datasets.census(200_000).write_csv(folder / "people.csv")
    (folder / "people.recipe.toml").write_text(
        'incrowd = 1\nothers = "keep"\nsource = { path = "people.csv" }\nmodels = [{ name = "k-anonymity", k = 4 }]\n'
        '[columns]\nage = "quasi"\nsex = "quasi"\nbirth_place = "quasi"\n',
        encoding="utf-8",
    )
    return folder


def interrupted(recipe: Path, output: Path, number: signal.Signals, begun: Callable[[], bool]) -> Done:
    """Publish in a process of its own, and end it as soon as it has begun to do something."""
    command = [sys.executable, "-m", "incrowd", "publish", str(recipe), "-o", str(output / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not begun() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return Done(process.returncode, out, err)


# One signal each: `test_an_interruption_inside_the_run` has both, and one function takes both in.


def test_run_interrupted_while_it_writes(large: Path, tmp_path: Path) -> None:
    output = tmp_path / "releases"
    output.mkdir()
    done = interrupted(large / "people.recipe.toml", output, signal.SIGINT, lambda: any(output.iterdir()))
    assert done == Done(130, "", "incrowd: interrupted; no release was written.\n")
    assert everything(output) == {}


def test_run_interrupted_while_it_reads(tmp_path: Path) -> None:
    pipe, output = tmp_path / "pipe", tmp_path / "releases"
    os.mkfifo(pipe)
    opened = []

    def somebody_reads() -> bool:
        with suppress(OSError):  # nobody does yet
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    try:
        done = interrupted(pipe, output, signal.SIGTERM, somebody_reads)
    finally:
        for handle in opened:
            os.close(handle)
    assert done == Done(130, "", "incrowd: interrupted; no release was written.\n")
    assert not output.exists()


def test_a_message_is_one_line_that_a_terminal_can_show() -> None:
    recipe('age = "quasi"', 'age = "quasi"\n"long\\n' + "n" * 9000 + '" = "quasi"')
    refused(3, "is not in the table")
    assert len(incrowd("publish", "people.recipe.toml").err) < 2100


def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from incrowd.cli import app

    def publish() -> None:
        raise MemoryError(SECRET)

    monkeypatch.setattr(app, "asked_for", lambda _: publish)
    with pytest.raises(SystemExit) as left:
        app.main()
    assert left.value.code == app.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert "not enough memory" in said
    assert SECRET not in said
