"""`incrowd publish --engine spark`, and what is said where Spark is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, SourceError
from incrowd.publishing.recipe import Recipe
from tests.cli.command import incrowd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FRAME = ic.datasets.census(600, seed=2).select("age", "sex", "race")
RECIPE = """incrowd = 1
seed = 4
[source]
{source}
[[models]]
name = "k-anonymity"
k = 5
[columns]
age = "quasi"
sex = "quasi"
race = "sensitive"
"""


def write_recipe(folder: Path, source: str) -> Path:
    path = folder / "people.toml"
    path.write_text(RECIPE.format(source=source))
    return path


def released(recipe: Path, spark: SparkSession) -> pl.DataFrame:
    return Recipe.load(recipe).run(session=spark).to_polars()


def expected(frame: pl.DataFrame) -> pl.DataFrame:
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["race"])
    made = ic.publish(table, ic.KAnonymity(5), seed=4).to_polars()
    return made.sort(made.columns)


def same(made: pl.DataFrame, frame: pl.DataFrame = FRAME) -> bool:
    return made.sort(made.columns).equals(expected(frame))


def test_the_command(quick: str, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "people.parquet")
    recipe = write_recipe(tmp_path, 'path = "people.parquet"')
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "incrowd",
            "publish",
            str(recipe),
            "--engine",
            "spark",
            "--master",
            "local[1]",
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "JDK_JAVA_OPTIONS": quick,
        },
    )
    told = json.loads(done.stdout)
    assert told["rows"]["published"] == 600
    assert same(pl.read_parquet(Path(told["data"]) / "*.parquet"))
    again = Recipe.load(tmp_path / "people-release" / "recipe.toml").run().to_polars()
    assert same(again), "the recipe that was written makes the same release on one machine"


@pytest.mark.parametrize("odd", [False, True])
def test_csv(spark: SparkSession, tmp_path: Path, odd: bool) -> None:
    """Text as on one machine: codes keep their zeros, and an empty field is missing."""
    frame = FRAME.with_columns(
        race=pl.when(pl.int_range(600) % 9 == 0).then(None).otherwise(pl.lit('a "b"; ') + pl.col("race")),
        sex=pl.lit("0") + (pl.int_range(600) % 3).cast(pl.String),
    )
    frame.write_csv(
        tmp_path / "people.csv", separator=";" if odd else ",", quote_style="always" if odd else "necessary"
    )
    recipe = write_recipe(tmp_path, 'path = "people.csv"')
    local = Recipe.load(recipe).run().to_polars()
    assert released(recipe, spark).sort(local.columns).equals(local.sort(local.columns))


PRIVATE = """incrowd = 1
seed = 4
[source]
path = "people.csv"
[method]
name = "flat-histogram"
epsilon = 1000000
error_share = 0
[columns]
age = {{ role = "quasi", hierarchy = {{ kind = "intervals", widths = [1], lower = 0, upper = 9 }} }}
sex = {{ role = "quasi", hierarchy = {{ kind = "categories", tree = ["f", "m"] }} }}
"""


def test_private_methods_read_lines_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """A row that is quoted, padded, torn, undeclared or in no encoding changes no other row, on either engine."""
    folder = tmp_path / "people.csv"
    folder.mkdir()
    odd = b'1;"f"\n 2 ; m \n3;"f\n4\n5,f\n6;f;f\n\n7;\xff\n"8";"m"\n9;f\r\n'
    (folder / "a.csv").write_bytes(b"\nage;sex\n" + b"1;f\n" * 40 + odd)
    (folder / "b.csv").write_bytes(b"\xef\xbb\xbfage;sex\r\n" + b"2;m\r\n" * 30)
    (tmp_path / "people.toml").write_text(PRIVATE.format())
    on_spark = released(tmp_path / "people.toml", spark)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "people.csv").write_bytes(b"age;sex\n" + b"1;f\n" * 40 + odd + b"2;m\r\n" * 30)
    (tmp_path / "one" / "people.toml").write_text(PRIVATE.format())
    here = Recipe.load(tmp_path / "one" / "people.toml").run().to_polars()
    assert on_spark.sort(on_spark.columns).equals(here.sort(here.columns))
    counted = dict(on_spark.group_by("age", "sex").len().select(pl.concat_str("age", "sex"), "len").iter_rows())
    assert counted == {"1f": 41, "2m": 31, "8m": 1, "9f": 1}
    (folder / "b.csv").write_bytes(b"sex;age\nm;2\n")
    with pytest.raises(SourceError, match="do not have the same header"):
        released(tmp_path / "people.toml", spark)


def test_a_short_line_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex,race\n1,secret,b\n2,secret\n" * 20)
    with pytest.raises(SourceError) as raised:
        released(write_recipe(tmp_path, 'path = "people.csv"'), spark)
    assert "secret" not in str(raised.value)


def test_a_folder_a_table_and_a_database(spark: SparkSession, tmp_path: Path) -> None:
    from incrowd.engines.spark.arrow_batches import to_spark

    (tmp_path / "people").mkdir()
    for part in range(2):
        FRAME[part * 300 : (part + 1) * 300].write_parquet(tmp_path / "people" / f"{part}.parquet")
    assert same(released(write_recipe(tmp_path, 'path = "people"'), spark))
    to_spark(spark, FRAME).createOrReplaceTempView("people")
    in_catalogue = write_recipe(tmp_path, 'table = "people"')
    assert same(released(in_catalogue, spark))
    with pytest.raises(RecipeError, match="--engine spark"):
        Recipe.load(in_catalogue).run()
    # Derby comes with Spark.
    url = "jdbc:derby:memory:clinic;create=true;user=anna;password=s3cret"
    to_spark(spark, FRAME).write.jdbc(url, "people", mode="overwrite")
    made = Recipe.load(write_recipe(tmp_path, f'url = "{url}"\nquery = "SELECT * FROM people"')).run(session=spark)
    assert same(made.to_polars().rename(str.lower))
    assert "s3cret" not in Recipe.of(made).to_toml()


def test_a_table_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    for source in ('path = "nothing"', 'table = "nothing"'):
        with pytest.raises(SourceError, match="Spark cannot open it"):
            released(write_recipe(tmp_path, source), spark)


def test_what_is_missing_is_said_and_the_core_imports_neither_spark_nor_java(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    code = """
import json, sys
import incrowd as ic
table = ic.read(ic.datasets.census(100), quasi=["age"], others="drop")
ic.publish(table, ic.KAnonymity(5)).to_polars()
import incrowd.cli.publish, incrowd.publishing.recipe
told = [sorted(name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j"))]
from incrowd.engines.spark.session import start
from incrowd.errors import MissingExtra, SourceError
sys.modules["pyspark"] = None
try:
    start("local[1]")
except MissingExtra as error:
    told.append(str(error))
del sys.modules["pyspark"]
try:
    start("local[1]")
except SourceError as error:
    told.append(str(error))
print(json.dumps(told))
"""
    without_java = {**os.environ, "PATH": str(tmp_path), "JAVA_HOME": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=without_java)
    loaded, no_pyspark, no_java = json.loads(done.stdout)
    assert loaded == []
    assert no_pyspark == (
        "sessions and frames of Spark need pyspark, which is not installed.  Hint: pip install 'incrowd[spark]'."
    )
    assert no_java.startswith("Spark needs Java, and there is none here.  Hint: install Java 17 or 21")


def test_a_master_without_spark_is_a_mistake() -> None:
    done = incrowd("publish", "x.toml", "--master", "local[1]")
    assert done.code == 2
    assert "--engine spark" in done.err


def test_csv_whose_columns_were_reordered_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "people.csv"  # Spark reads a folder of files as one table
    folder.mkdir()
    (folder / "a.csv").write_text("age,sex,race\n" + "1,f,b\n" * 20)
    (folder / "b.csv").write_text("race,sex,age\n" + "b,f,1\n" * 20)
    with pytest.raises(SourceError):
        released(write_recipe(tmp_path, 'path = "people.csv"'), spark)


def test_csv_whose_names_are_padded_or_quoted_is_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text('age, "sex", race\n' + "1, f, b\n" * 20)
    assert released(write_recipe(tmp_path, 'path = "people.csv"'), spark).height == 20


def test_a_file_without_a_header_and_with_national_spellings(spark: SparkSession, tmp_path: Path) -> None:
    rows = [f"{20 + n % 7};{n % 28 + 1:02}.03.1950;{n % 4 + 1}.{n % 10}00,5;{'ab'[n % 2]}" for n in range(120)]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    recipe = tmp_path / "german.toml"
    recipe.write_text(
        'incrowd = 1\nseed = 4\n[source]\npath = "people.csv"\nheader = ["age", "born", "pay", "ill"]\n'
        '[source.written]\nborn = "dd.mm.yyyy"\npay = "1.234,5"\n[[models]]\nname = "k-anonymity"\nk = 5\n'
        '[columns]\nage = "quasi"\nborn = "quasi"\npay = "sensitive"\nill = "keep"\n'
    )
    made, here = released(recipe, spark), Recipe.load(recipe).run().to_polars()
    assert made.sort(made.columns).equals(here.sort(here.columns))
    assert made.height == 120
    text = recipe.read_text()
    recipe.write_text(text.replace('path = "people.csv"\n', 'path = "people.csv"\ndecimal = ","\n'))
    with pytest.raises(SourceError, match=r"decimal in \[source\] cannot be used on Spark.*source\.written"):
        Recipe.load(recipe).run(session=spark)
    recipe.write_text(text.replace("pay = ", "paye = ", 1))
    with pytest.raises(SourceError, match="did you mean 'pay'"):
        Recipe.load(recipe).run(session=spark)


def test_midnight_and_whole_numbers_in_a_csv_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [20, 30] * 10,
            "day": [datetime(2020, 1, 1 + row) for row in range(20)],
            "moment": [datetime(2020, 1, 1, row % 3, 0, 0, 120000 * (row % 2)) for row in range(20)],
            "number": [None if row % 5 == 0 else float(row) for row in range(20)],
        }
    )
    frame.write_parquet(tmp_path / "p.parquet")
    recipe = tmp_path / "p.toml"
    recipe.write_text(
        'incrowd = 1\nseed = 4\n[source]\npath = "p.parquet"\n[[models]]\nname = "k-anonymity"\nk = 5\n'
        '[columns]\nage = "quasi"\nday = "keep"\nmoment = "keep"\nnumber = "keep"\n'
    )
    found = []
    for name, session in (("there", spark), ("here", None)):
        Recipe.load(recipe).run(session=session).save(tmp_path / name, format="csv")
        path = tmp_path / name / "data.csv"
        parts = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        rows = pl.concat([pl.read_csv(part, infer_schema=False) for part in parts])
        found.append(rows.sort(rows.columns))
    assert found[0].equals(found[1])
    assert set(found[0]["day"].str.len_chars()) == {10}
