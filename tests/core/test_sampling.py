from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.sampling import as_rate, draw_sample
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.publishing.recipe import Recipe

FRAME = ic.datasets.census(2000, seed=1)


def census(**options: object) -> ic.Table:
    return ic.read(FRAME, quasi=["age", "sex"], sensitive=["occupation"], others="drop", **options)  # type: ignore[arg-type]


def test_every_row_stays_with_the_given_probability() -> None:
    tally = census().engine.count(census().schema).tally
    shares = [
        draw_sample(tally, Fraction(3, 10), np.random.default_rng(seed)).tally.rows / tally.rows for seed in range(40)
    ]
    # The standard error of a share of 2000 rows is 0.0102, that of the mean of 40 such shares 0.0016.
    assert abs(np.mean(shares) - 0.3) < 0.008
    assert 0.006 < np.std(shares) < 0.016


def test_a_sample_and_what_it_left_out_are_the_table() -> None:
    tally = census().engine.count(census().schema).tally
    drawn = draw_sample(tally, Fraction(1, 2), np.random.default_rng(5))
    kept = np.zeros(len(tally), dtype=np.int64)
    kept[drawn.tuples] = drawn.tally.counts
    assert np.array_equal(kept + drawn.left_out, tally.counts)
    assert drawn.tally.rate == Fraction(1, 2)
    assert (drawn.tally.counts > 0).all()


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan"), "half", None, "1e-999999999", "1/0", True])
def test_a_rate_outside_of_its_range_is_refused(rate: object) -> None:
    with pytest.raises(RecipeError, match="sample is a share of the rows"):
        as_rate(rate)  # type: ignore[arg-type]


def test_nine_tenths_is_nine_tenths() -> None:
    assert as_rate(0.9) == Fraction(9, 10)


def test_the_numbers_of_a_sampled_release_add_up() -> None:
    release = ic.publish(census(), ic.KAnonymity(5), sample=0.9, seed=3)
    assert release.rows_in == release.rows + release.withheld
    assert release.rows_in + release.left_out == 2000
    assert 1700 < release.rows_in < 1900
    told = release.summary["rows"]
    assert told["left out by sampling"] == release.left_out
    assert told["sampling rate"] == 0.9
    assert release.to_polars().height == release.rows
    assert abs(release.count({}) - 2000) < 100, "an estimate of the whole table, not of the sample"


def test_a_sample_keeps_the_same_rows_each_time_it_is_read() -> None:
    keyed = FRAME.with_row_index("row").select("age", "sex", "row")
    release = ic.publish(ic.read(keyed, quasi=["age", "sex"], keep=["row"]), ic.KAnonymity(5), sample=0.5)
    first, again = release.to_polars(), release.to_polars()
    assert first.equals(again)
    assert first["row"].n_unique() == release.rows


def test_which_of_equal_rows_a_sample_takes_is_up_to_chance() -> None:
    """Of 40 equal rows 200 times, by where they stand: of each 40th part of the table, and of every 40th row."""
    table = ic.read(pl.DataFrame({"age": [30] * 800, "row": range(800)}), quasi=["age"], keep=["row"])
    taken: Counter[tuple[str, int]] = Counter()
    for seed in range(10):
        rows = ic.publish(table, ic.KAnonymity(2), sample=0.5, seed=seed).to_polars()["row"].to_list()
        taken.update(("part", row // 20) for row in rows)
        taken.update(("every", row % 40) for row in rows)
    # 100 of 200 are to be expected, and 7 is the standard deviation: taking rows in order would give 200 and 0.
    assert len(taken) == 80
    assert min(taken.values()) > 65
    assert max(taken.values()) < 135


def test_an_empty_sample_is_no_release() -> None:
    table = ic.read(pl.DataFrame({"age": [30]}), quasi=["age"])
    with pytest.raises(Unsatisfiable, match="came out empty"):
        ic.publish(table, ic.KAnonymity(1), sample=1e-12, seed=0)


def test_a_recipe_keeps_rate_and_population(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "people.csv")
    FRAME.head(500).write_csv(tmp_path / "table.csv")
    table = ic.read(
        tmp_path / "table.csv",
        quasi=["age", "sex"],
        sensitive=["occupation"],
        others="drop",
        population=tmp_path / "people.csv",
    )
    release = ic.publish(table, ic.KAnonymity(3), sample=Fraction(2, 3), seed=7)
    release.save(tmp_path / "out")
    recipe = Recipe.load(tmp_path / "out" / "recipe.toml")
    assert recipe.sample == "2/3"
    assert recipe.population == {**recipe.population, "path": "../people.csv"}
    own = Recipe.load(release.save_recipe(tmp_path / "own.toml"))
    assert own.run().to_polars().equals(pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False))
    assert Recipe.from_dict(recipe.to_dict(), base=recipe.base) == recipe


def test_a_population_must_have_the_quasi_identifiers() -> None:
    with pytest.raises(SchemaError, match="the population lacks the quasi-identifier 'sex'"):
        census(population=FRAME.select("age"))


def test_a_population_shares_the_tables_codes() -> None:
    table = ic.read(
        pl.DataFrame({"age": [30, 50], "sex": ["F", "M"]}),
        quasi=["age", "sex"],
        population=pl.DataFrame({"sex": ["F", "F", "M", "X"], "age": [30, 30, 50, 70]}),
    )
    tally = table.engine.count(table.schema, table.population).tally
    assert tally.population is not None
    named = [
        tuple(tally.trees[name].values[int(code)] for name, code in zip(tally.population.columns, row, strict=True))
        for row in tally.population.codes
    ]
    assert dict(zip(named, tally.population.counts.tolist(), strict=True)) == {
        (30, "F"): 2,
        (50, "M"): 1,
        (70, "X"): 1,
    }
    assert tally.rows == 2
