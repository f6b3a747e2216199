"""Attacks are right or wrong about what people truly have, also where chance changed what is published of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.run import aim

pytestmark = pytest.mark.usefixtures("few_queries")

ROWS = 1500
KINDS = ["flu", "cold", "gout", "HIV"]


@cache
def people() -> pl.DataFrame:
    """What somebody has follows from their age, nearly, and so is guessed well."""
    rng = np.random.default_rng(11)
    age = rng.integers(20, 60, ROWS)
    ill = np.where(rng.random(ROWS) < 0.9, (age - 20) // 10, rng.integers(0, 4, ROWS))
    return pl.DataFrame(
        {"age": age, "ill": [KINDS[one] for one in ill], "cost": ill * 1000 + rng.integers(0, 300, ROWS)}
    )


def released(changes: Any, sensitive: str = "ill", source: Any = None) -> ic.Release:
    ages = ic.FullDomain(levels={"age": 1})
    table = ic.read(
        people() if source is None else source, quasi=["age"], sensitive=[sensitive], others="drop", changes=changes,
        hierarchies={"age": ic.Intervals(widths=(10,), origin=20)},
    )  # fmt: skip
    return ic.publish(table, ic.KAnonymity(5), method=ages, seed=1)


@cache
def similar(*changes: Any) -> float:
    """How often the kind of cost is guessed, as these change it."""
    return guessed(released({"cost": changes[0]} if changes else {}, "cost"), ic.Similarity())


def guessed(release: ic.Release, attack: Any) -> float:
    (risk,) = ic.audit(release, attacks=[attack], learn=False, remedies=False).attacks
    return float(risk.value)


def naive_guess(release: ic.Release, column: str, drawn: float = 0.0) -> float:
    """Guess the most frequent published value of everybody's decade, one by one; compare with the true ones.

    Who knows that a share of the values was drawn by the frequencies of the table leaves these out first.
    """
    everybody = release.to_polars()[column].to_list()
    shown: dict[str, list[Any]] = {}
    for label, value in release.to_polars().select("age", column).rows():
        shown.setdefault(label, []).append(value)
    best: dict[str, list[Any]] = {}
    for label, values in shown.items():
        count = {one: values.count(one) - drawn * len(values) * everybody.count(one) / ROWS for one in set(values)}
        best[label] = [one for one in count if count[one] == max(count.values())]
    right = 0.0
    for age, true in people().select("age", column).rows():
        guesses = best[f"[{age // 10 * 10}, {age // 10 * 10 + 10})"]
        right += (true in guesses) / len(guesses)
    return right / ROWS


def test_guesses_are_held_against_true_values() -> None:
    for change in (None, ic.PRAM(0.9), ic.PRAM(0.45), ic.PRAM(0.3, invariant=True)):
        release = released({} if change is None else {"ill": change})
        value = guessed(release, ic.LikeliestValue())
        ways = [naive_guess(release, "ill"), naive_guess(release, "ill", 0.7 if change and change.invariant else 0.0)]
        assert value == pytest.approx(max(ways))


def test_the_less_is_kept_the_less_is_certain() -> None:
    sure = [
        ic.audit(released({"ill": ic.PRAM(keep)} if keep < 1 else {}), attacks=[ic.LikeliestValue()], learn=False,
                 remedies=False).attacks[0].worst
        for keep in (1.0, 0.8, 0.5, 0.25)
    ]  # fmt: skip
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > 0.8
    assert sure[-1] < 0.4
    blind = guessed(released({"ill": ic.PRAM(0.25)}), ic.LikeliestValue())
    assert blind < 0.75, "with four values, a quarter kept is nothing kept"


def test_noise_in_a_text_file_is_attacked_as_numbers_are(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    for change in (ic.Noise(2000.0), ic.RankSwapping(0.9)):
        texts = guessed(released({"cost": change}, "cost", tmp_path / "people.csv"), ic.Similarity())
        assert texts == similar(change)


def test_noise_and_swaps_hide_the_kind_of_number() -> None:
    plain = similar()
    for change in (ic.Noise(2000.0), ic.RankSwapping(0.9)):
        assert similar(change) < plain - 0.15
    near = similar(ic.Noise(20.0))
    assert near == pytest.approx(plain, abs=0.05), "a little noise hides little, and the audit says so"


def test_truth_is_what_the_table_has_in_the_words_of_the_release() -> None:
    release = released({"cost": [ic.Noise(500.0), ic.Rounding(1000)]}, "cost")
    target, _ = aim(release)
    assert target.truth is not None
    tree = target.truth.trees["cost"]
    found = dict(zip(tree.values.to_list(), target.truth.value_counts("cost").tolist(), strict=True))
    naive = people().select((pl.col("cost") + 500) // 1000 * 1000)["cost"].value_counts()
    assert {value: count for value, count in found.items() if count} == dict(naive.rows())
    shown = release.to_polars()["cost"].value_counts()
    seen = np.bincount(target.form.labelled.sensitive[:, 0], weights=target.form.labelled.counts, minlength=tree.size)  # type: ignore[union-attr]
    assert {value: count for value, count in zip(tree.values.to_list(), seen, strict=True) if count} == dict(
        shown.rows()
    )


# Texts of a CSV file are read as what they look like whoever has them, so each kind of file has one kind of people.
@pytest.mark.parametrize(("format", "several"), [("csv", True), ("parquet", False)])
def test_files_beside_the_table_are_audited_as_the_release_is(format: str, several: bool, tmp_path: Path) -> None:
    frame = people()[:500].with_columns(hours=pl.col("cost") // 7, pid=pl.int_range(500) // (2 if several else 1))
    frame = frame.with_columns(age=pl.col("age").first().over("pid"))
    path = tmp_path / f"people.{format}"
    frame.write_csv(path) if format == "csv" else frame.write_parquet(path)
    table = ic.read(
        path, person="pid", quasi=["age"], sensitive=["ill", "cost"], keep=["hours"],
        changes={"ill": ic.PRAM(0.6), "cost": [ic.Noise(300.0), ic.Rounding(100)], "hours": ic.Rounding(50)},
    )  # fmt: skip
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "release")
    opened = ic.open_release(tmp_path / "release", original=path)
    made, read = (one.audit(learn=False, remedies=False).to_dict() for one in (release, opened))
    assert made["attacks"] == read["attacks"]
    assert made["usefulness"] == read["usefulness"]
    later = ic.open_release(tmp_path / "release").audit(original=path, learn=False, remedies=False).to_dict()
    assert later["attacks"] == read["attacks"]


def test_usefulness_tells_what_a_change_costs() -> None:
    frames = {}
    for name, change in (("little", ic.PRAM(0.95)), ("much", ic.PRAM(0.4)), ("drawn", ic.PRAM(0.4, invariant=True))):
        useful = released({"ill": change}).audit(learn=False, remedies=False).usefulness
        (column,) = [one for one in useful["columns"] if one["column"] == "ill"]
        (pair,) = useful["pairs"]
        frames[name] = column["total variation"], pair["association after"] / pair["association before"]
    assert frames["little"][0] < frames["much"][0]
    assert frames["drawn"][0] < 0.05, "frequencies stay"
    assert frames["little"][1] > frames["much"][1], "what depends on what is lost with what is changed"


def test_values_that_chance_changed_rule_nobody_out_of_a_group() -> None:
    """Where labels overlap, who may be in which group is bounded by sensitive values, unless chance changed them."""
    rates = []
    for change in ({}, {"ill": ic.PRAM(0.1)}):
        frame = people()[:400].with_columns(sex=pl.int_range(400) % 2)
        table = ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], others="drop", changes=change)
        rates.append(guessed(ic.publish(table, ic.KAnonymity(4), method=ic.KMember(), seed=1), ic.Linkage()))
    assert rates[1] >= rates[0] > 1 / 400


def test_means_deviations_and_distances_of_all_changed_columns(tmp_path: Path) -> None:
    changes = {"ill": ic.PRAM(0.5), "cost": [ic.Noise(400.0), ic.Rounding(100)]}
    people().write_csv(tmp_path / "people.csv")
    table = ic.read(tmp_path / "people.csv", quasi=["age"], sensitive=["ill"], keep=["cost"], changes=changes)
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "release")
    opened = ic.open_release(tmp_path / "release", original=tmp_path / "people.csv")
    found, again = (one.audit(learn=False, remedies=False).usefulness["changed"] for one in (release, opened))
    assert found == again
    cost, ill = found
    old, new = people()["cost"].to_numpy(), release.to_polars()["cost"].cast(pl.Float64).to_numpy()
    assert cost["mean before"] == float(f"{old.mean():.3g}")
    assert cost["deviation after"] == float(f"{new.std():.3g}")
    assert cost["quartiles after"] == [float(f"{np.quantile(new, one):.3g}") for one in (0.25, 0.5, 0.75)]
    assert cost["distance"] == pytest.approx(
        max(abs((old <= one).mean() - (new <= one).mean()) for one in [*old, *new])
    )
    shares = [frame["ill"].value_counts(normalize=True).to_dict(as_series=False) for frame in (people(), release.data)]
    before, after = (dict(zip(one["ill"], one["proportion"], strict=True)) for one in shares)
    assert ill["distance"] == pytest.approx(sum(abs(before[one] - after[one]) for one in KINDS) / 2)
    page = release.audit(learn=False, remedies=False).to_html()
    assert "Changed columns" in page
    assert "by chance: 50 % stay as they are" in page


def test_columns_that_chance_changed_are_not_made_again_nor_known_beside_the_labels() -> None:
    table = ic.read(people(), quasi=["age"], sensitive=["ill"], keep=["cost"], changes={"cost": ic.Noise(50.0)})
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    assert release.kept_beside == ()
    assert release.not_remade is not None
    assert "chance changed" in release.not_remade
    rounded = ic.read(people(), quasi=["age"], sensitive=["ill"], keep=["cost"], changes={"cost": ic.Rounding(1000)})
    audited = ic.publish(rounded, ic.KAnonymity(5), seed=1).audit(learn=False)
    assert any(risk.beside == ("cost",) for risk in audited.attacks)
