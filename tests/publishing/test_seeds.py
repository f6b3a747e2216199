"""A seed replays chance, so nothing that is published may hold it, and every seeded release is marked."""

import json
import stat
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError
from incrowd.publishing.recipe import Recipe
from tests.cli.command import incrowd

SEED = 918_273_645
WAYS = {
    "mondrian": ([ic.KAnonymity(3)], ic.Mondrian(), None, 1),
    "a sample": ([ic.KAnonymity(3)], ic.Mondrian(), None, 0.5),
    "full domain": ([ic.KAnonymity(3)], ic.FullDomain(max_withheld=0.1), None, 1),
    "anatomy": ([ic.ProbabilisticLDiversity(2)], ic.Anatomy(), None, 1),
    "buckets": ([ic.LDiversity(2)], ic.Mondrian(), ic.ShowBuckets("one"), 1),
    "slicing": ([ic.SlicedDiversity(2)], ic.Slicing(), None, 1),
    "multisets": ([ic.LDiversity(2)], ic.Mondrian(), ic.ShowMultisets(), 1),
    "noisy counts": ([], ic.FlatHistogram(epsilon=1), None, 1),
}


def table() -> ic.Table:
    people = ic.datasets.census(200).select("sex", "education", "occupation")
    return ic.read(people, quasi=["sex", "education"], sensitive=["occupation"])


@cache
def published(name: str, *, seed: int | None) -> ic.Release:
    require, method, form, sample = WAYS[name]
    if name == "noisy counts":
        frame = pl.DataFrame({"age": list(range(20, 60)) * 4})
        made = ic.read(frame, quasi=["age"], hierarchies={"age": ic.Intervals(widths=(10, 20), lower=20, upper=60)})
        return ic.publish(made, method=method, seed=seed)
    return ic.publish(table(), require, method=method, form=form, sample=sample, seed=seed)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("name", WAYS)
def test_no_file_of_a_release_holds_the_seed(name: str, format: str, tmp_path: Path) -> None:
    published(name, seed=SEED).save(tmp_path / "out", format=format)
    files = list((tmp_path / "out").iterdir())
    assert len(files) >= 3
    for file in files:
        assert str(SEED).encode() not in file.read_bytes()
        assert SEED.to_bytes(4, "little") not in file.read_bytes()
    assert "seed" not in (tmp_path / "out" / "recipe.toml").read_text()


@pytest.mark.parametrize("name", WAYS)
def test_every_seeded_release_is_marked_also_when_read_back(name: str, tmp_path: Path) -> None:
    for seed in (SEED, None):
        release = published(name, seed=seed)
        directory = tmp_path / str(seed)
        release.save(directory)
        summary = json.loads((directory / "summary.json").read_text())
        opened = ic.open_release(directory)
        for told in (release.warnings, summary["warnings"], opened.warnings):
            assert any("not for publication" in warning for warning in told) == (seed is not None)
        assert (release.seeded, summary["seeded"], opened.seeded) == ((seed is not None),) * 3


def test_a_recipe_of_the_publisher_s_own_makes_the_release_again(tmp_path: Path) -> None:
    ic.datasets.census(200).select("sex", "education", "occupation").write_csv(tmp_path / "people.csv")
    source = ic.read(tmp_path / "people.csv", quasi=["sex", "education"], sensitive=["occupation"])
    release = ic.publish(source, ic.ProbabilisticLDiversity(2), method=ic.Anatomy(), seed=SEED)
    own = release.save_recipe(tmp_path / "own.toml")
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert Recipe.load(own).run().to_polars().equals(release.to_polars())
    with pytest.raises(OutputError, match="exists already"):
        release.save_recipe(own)


def test_the_publisher_s_recipe_does_not_go_into_a_release(tmp_path: Path) -> None:
    release = published("anatomy", seed=SEED)
    release.save(tmp_path / "out")
    with pytest.raises(OutputError, match="like a key"):
        release.save_recipe(tmp_path / "out" / "own.toml")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "data.csv", "recipe.toml", "sensitive.csv", "summary.json",
    ]  # fmt: skip


def test_the_command_keeps_the_recipe_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ic.datasets.census(200).select("sex", "education", "occupation").write_csv("people.csv")
    Path("r.toml").write_text(
        'incrowd = 1\nsource = { path = "people.csv" }\nmethod = { name = "anatomy" }\n'
        'models = [{ name = "probabilistic-l-diversity", l = 2 }]\n'
        '[columns]\nsex = "quasi"\neducation = "quasi"\noccupation = "sensitive"\n'
    )
    done = incrowd("publish", "r.toml", "-o", "one", "--seed", str(SEED), "--save-recipe", "own.toml")
    assert (done.code, "not for publication" in " ".join(done.out.split())) == (0, True)
    assert incrowd("publish", "own.toml", "-o", "two").code == 0
    for name in ("data.csv", "sensitive.csv"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    for place in ("own.toml", "three/own.toml", "one/own.toml", "x" * 5000):
        assert incrowd("publish", "r.toml", "-o", "three", "--save-recipe", place).code == 5
    assert not Path("three").exists()


@pytest.mark.parametrize("name", ["anatomy", "buckets", "slicing"])
def test_the_order_of_rows_links_no_more_than_chance(name: str) -> None:
    """Whose sensitive value is written beside whom says nothing: over many releases it is right as often as by chance.

    Everybody is somebody else: a bucket's n values fall to its n people in any order, so one of them is right on
    average, with a variance of one, however large the bucket is.
    """
    people = 240
    frame = pl.DataFrame({"age": range(people), "ill": [f"illness {number}" for number in range(people)]})
    require, method, form, _ = WAYS[name]
    if name == "anatomy":
        method = ic.Anatomy("one")
    if name == "slicing":
        method = ic.Slicing(columns=(("age",), ("ill",)))
    source = ic.read(frame, quasi=["age"], sensitive=["ill"])
    right, buckets = 0, 0
    for _ in range(10):
        rows = ic.publish(source, require, method=method, form=form).to_polars()
        right += rows.filter(pl.col("ill") == pl.format("illness {}", "age")).height
        buckets += rows["bucket"].n_unique()
    assert abs(right - buckets) < 6 * buckets**0.5
