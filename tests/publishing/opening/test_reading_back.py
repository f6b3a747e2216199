"""A release that is read back from its files is judged as it was in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.forms.multisets import ShowMultisets
from incrowd.methods.diffgen import DiffGen
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.release import Release
from tests.auditing.audit_cases import HIERARCHIES, inhabitants, opened, plain

pytestmark = pytest.mark.usefixtures("few_queries", "few_questions")
"""What is compared is each answer of both; whether answers are good has tests of its own."""

K, L = [ic.KAnonymity(4)], [ic.ProbabilisticLDiversity(2)]
LABELLED = {
    "mondrian": (K, ic.Mondrian()),
    "mondrian tight": (K, ic.Mondrian(labels="tight")),
    "mondrian hierarchy": (K, ic.Mondrian(labels="hierarchy")),
    "full domain": (K, ic.FullDomain(max_withheld=0.1)),
    "local recoding": (K, ic.LocalRecoding()),
}
CUT = {
    "anatomy in one table": (L, ic.Anatomy(tables="one")),
    "slicing": ([ic.SlicedDiversity(2)], ic.Slicing()),
    "slicing with levels": ([ic.SlicedDiversity(2)], ic.Slicing(levels={"age": 1})),
}


def made(models: Any, method: Any, folder: Path, format: Any = "csv", *, missing: bool = True) -> tuple[Release, Path]:
    original = folder / "original.csv"
    inhabitants(missing=missing).write_csv(original)
    release = ic.publish(opened(original), models, method=method, seed=1)
    release.save(folder / "release", format=format)
    return release, original


# Without missing values there is a label less: one of each way to write labels shows that nobody waits for it.
@pytest.mark.parametrize(
    ("name", "missing"),
    [*((name, True) for name in LABELLED), ("mondrian tight", False), ("full domain", False)],
)
def test_labels_read_back_say_the_same(name: str, missing: bool, tmp_path: Path) -> None:
    release, original = made(*LABELLED[name], tmp_path, missing=missing)
    read = open_release(tmp_path / "release", original=original)
    assert plain(read.audit(remedies=False, learn=False)) == plain(release.audit(remedies=False, learn=False))


def test_the_format_does_not_matter(tmp_path: Path) -> None:
    release, original = made(*LABELLED["mondrian"], tmp_path)  # as CSV: above
    expected = plain(release.audit(remedies=False, learn=False))
    for format in ("parquet", "arrow"):
        release.save(tmp_path / format, format=format)
        read = open_release(tmp_path / format, original=original)
        assert plain(read.audit(remedies=False, learn=False)) == expected


@pytest.mark.parametrize("name", CUT)
def test_buckets_read_back_say_the_same(name: str, tmp_path: Path) -> None:
    release, original = made(*CUT[name], tmp_path)
    read = open_release(tmp_path / "release", original=original)
    # How many rows match nobody else takes the table's own combinations, which no file holds.
    assert plain(read.audit(remedies=False, learn=False), without=["warnings"]) == plain(
        release.audit(remedies=False, learn=False), without=["warnings"]
    )


def test_multisets_read_back_attack_the_same(tmp_path: Path) -> None:
    """Which value goes with which is another draw, and so is what singles somebody out by chance."""
    original = tmp_path / "original.csv"
    inhabitants().write_csv(original)
    release = ic.publish(opened(original), K, method=ic.Mondrian(), form=ShowMultisets(), seed=1)
    release.save(tmp_path / "release")
    read = open_release(tmp_path / "release", original=original)
    found, expected = (plain(each.audit(remedies=False, learn=False)) for each in (read, release))
    for one, other in zip(found["attacks"], expected["attacks"], strict=True):
        assert one == other or one["attack"] == other["attack"] == "singling-out"
    assert found["usefulness"]["columns"] == expected["usefulness"]["columns"]
    assert found["release"] == expected["release"]


def test_a_sample_is_read_back_as_one(tmp_path: Path) -> None:
    original = tmp_path / "original.csv"
    inhabitants().write_csv(original)
    release = ic.publish(opened(original), K, sample=0.5, seed=1)
    release.save(tmp_path / "release")
    read = open_release(tmp_path / "release", original=original)
    assert read.rate == release.rate
    assert plain(read.audit(remedies=False, learn=False)) == plain(release.audit(remedies=False, learn=False))


def test_a_kept_column_called_bucket_makes_no_buckets(tmp_path: Path) -> None:
    original = tmp_path / "original.csv"
    inhabitants().with_columns(bucket=1).write_csv(original)
    release = ic.publish(opened(original, keep=["bucket"]), K, seed=1)
    release.save(tmp_path / "release")
    read = open_release(tmp_path / "release", original=original)
    found, expected = (
        plain(each.audit(remedies=False, learn=False), without=["warnings", "release"]) for each in (read, release)
    )
    assert found == expected


def test_two_tables_read_back_attack_the_same(tmp_path: Path) -> None:
    """Which value goes with whom is dealt anew, so that pairs with the sensitive column are another draw."""
    release, original = made(L, ic.Anatomy(), tmp_path)
    read = open_release(tmp_path / "release", original=original)
    found, expected = (plain(each.audit(remedies=False, learn=False)) for each in (read, release))
    for pair, other in zip(found["usefulness"].pop("pairs"), expected["usefulness"].pop("pairs"), strict=True):
        if "ill" not in (pair["one"], pair["two"]):
            assert pair == other
        assert pair["total variation"] == pytest.approx(other["total variation"], abs=0.1)
    for each in (found, expected):  # counts them
        each["verdict"].pop("good for")
    assert found == expected


def test_noisy_counts_read_back_attack_the_same(tmp_path: Path) -> None:
    original = tmp_path / "original.csv"
    inhabitants().write_csv(original)
    hierarchies = {**HIERARCHIES, "ill": ic.Categories.from_tree(["heart, weak", "flu", "cold", '"none"'])}
    release = ic.publish(
        opened(original, hierarchies=hierarchies), method=DiffGen(2, steps=4, missing=("age", "town")), seed=1
    )
    release.save(tmp_path / "release")
    read = open_release(tmp_path / "release", original=original)
    assert read.hides_rows
    found, expected = (
        plain(read.audit(remedies=False, learn=False)),
        plain(release.audit(remedies=False, original=original, learn=False)),
    )
    assert found["attacks"] == expected["attacks"]
    assert found["usefulness"] == expected["usefulness"]
    assert "in" not in found["release"]["rows"]
    assert any("no file can prove it" in promise for promise in found["verdict"]["guaranteed"])


def test_without_the_original_the_groups_are_still_known(tmp_path: Path) -> None:
    release, _ = made(*LABELLED["mondrian"], tmp_path)
    found = open_release(tmp_path / "release").audit(remedies=False, learn=False)
    assert found.achieved["k"] == release.audit(remedies=False, learn=False).achieved["k"]
    assert found.usefulness == {}
    assert any(skipped.what == "usefulness" for skipped in found.skipped)
    assert {risk.attack for risk in found.attacks} >= {"linkage", "homogeneity"}


def test_a_claim_that_the_file_breaks_is_reported(tmp_path: Path) -> None:
    _, original = made([ic.KAnonymity(2)], ic.Mondrian(), tmp_path)
    recipe = tmp_path / "release" / "recipe.toml"
    said = recipe.read_text(encoding="utf-8")
    assert "k = 2" in said
    recipe.write_text(said.replace("k = 2", "k = 5"), encoding="utf-8")
    for given in (original, None):
        found = open_release(tmp_path / "release", original=given).audit(remedies=False, learn=False)
        assert any(warning.startswith("Claimed, and not found: 5-anonymity") for warning in found.warnings)
        assert not any("5-anonymity" in promise for promise in found.verdict["guaranteed"])
        assert 2 <= found.achieved["k"] < 5


def test_the_rows_of_a_release_that_was_read_are_those_of_its_file(tmp_path: Path) -> None:
    release, _ = made(*CUT["slicing"], tmp_path, "parquet")
    read = open_release(tmp_path / "release")
    assert read.to_polars().equals(release.to_polars())
    assert read.rows == release.rows


def test_a_label_that_is_also_a_value_is_read_as_it_was_written(tmp_path: Path) -> None:
    raw = pl.DataFrame({"code": ["*", "a", "b", "c"], "ill": ["x", "y", "x", "y"]})
    release = ic.publish(ic.read(raw, quasi=["code"], sensitive=["ill"]), ic.KAnonymity(4))
    release.save(tmp_path / "out")
    again = ic.open_release(tmp_path / "out", original=raw)
    assert again.form.count({"code": "*"}) == release.form.count({"code": "*"}) == 1


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_truth_values_are_read_back(tmp_path: Path, format: str) -> None:
    raw = pl.DataFrame({"age": [1, 1, 2, 2], "ill": [True, False, True, True]})
    release = ic.publish(ic.read(raw, quasi=["age"], sensitive=["ill"]), ic.KAnonymity(2))
    release.save(tmp_path / "out", format=format)
    again = ic.open_release(tmp_path / "out", original=raw)
    assert again.count({"ill": True}) == release.count({"ill": True}) == 3


def test_files_that_the_form_does_not_have_are_left_alone(tmp_path: Path) -> None:
    raw = pl.DataFrame({"age": [1, 1, 2, 2], "ill": ["x", "y", "x", "y"]})
    ic.publish(ic.read(raw, quasi=["age"], sensitive=["ill"]), ic.KAnonymity(2)).save(tmp_path / "out")
    (tmp_path / "out" / "sensitive.csv").write_text("")
    assert ic.open_release(tmp_path / "out", original=raw).rows == 4


def test_counts_beside_buckets_do_not_make_them_something_else(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("bucket,age,ill\n0,1,x\n0,2,y\n1,3,x\n1,4,y\n")
    (tmp_path / "counts.csv").write_text("a,b\n1,2\n")
    (tmp_path / "recipe.toml").write_text('[columns]\nage = "quasi"\nill = "sensitive"\n')
    opened = ic.open_release(tmp_path)
    assert (opened.form.name, len(opened.form.group_sizes)) == ("sliced", 2)
