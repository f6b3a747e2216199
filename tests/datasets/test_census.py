"""The generated census: exact domains, real dependence, one table per seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from incrowd.datasets import (
    CENSUS_AGE_WIDTHS,
    CENSUS_DOMAINS,
    CENSUS_SALARY_WIDTHS,
    CENSUS_TREES,
    census,
    write_census,
)

# Sattar, Table 4.
DOMAIN_SIZES = {
    "age": 77,
    "sex": 2,
    "education": 14,
    "marital": 6,
    "race": 6,
    "birth_place": 41,
    "occupation": 50,
    "salary": 50,
}
QUASI_IDENTIFIERS = ["age", "sex", "education", "marital", "race", "birth_place"]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return census(200_000, seed=7)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    rows = 100
    # The package's name for the function hides the module of the same name from an import statement.
    monkeypatch.setattr(import_module("incrowd.datasets.census"), "BLOCK_ROWS", rows)
    return rows


def paths_to_leaves(tree: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict):
        for label, below in tree.items():
            yield from paths_to_leaves(below, (*above, label))
    else:
        assert isinstance(tree, list)
        for leaf in tree:
            yield (*above, leaf)


def mutual_information(table: pl.DataFrame, left: str, right: str) -> float:
    """Return the mutual information of two columns in bits."""
    joint = table.group_by(left, right).len()
    share = pl.col("len") / table.height
    expected = pl.col("len").sum().over(left) / table.height * pl.col("len").sum().over(right) / table.height
    return float(joint.select((share * (share / expected).log(2)).sum()).item())


class TestDomains:
    def test_sizes_are_those_of_the_paper(self, people: pl.DataFrame) -> None:
        assert {name: people[name].n_unique() for name in people.columns} == DOMAIN_SIZES

    def test_values_are_those_declared(self, people: pl.DataFrame) -> None:
        assert people.columns == list(CENSUS_DOMAINS)
        for name, domain in CENSUS_DOMAINS.items():
            assert set(people[name]) == set(domain)

    @pytest.mark.parametrize("seed", range(5))
    def test_every_value_occurs_among_100_000(self, seed: int) -> None:
        people = census(100_000, seed=seed)
        assert {name: people[name].n_unique() for name in people.columns} == DOMAIN_SIZES

    def test_types_are_plain(self, people: pl.DataFrame) -> None:
        numbers = {"age", "salary"}
        assert people.schema == {name: pl.Int64 if name in numbers else pl.String for name in DOMAIN_SIZES}

    def test_nothing_is_missing(self, people: pl.DataFrame) -> None:
        assert sum(people.null_count().row(0)) == 0


class TestTrees:
    def test_every_text_column_has_one(self) -> None:
        assert set(CENSUS_TREES) == set(DOMAIN_SIZES) - {"age", "salary"}

    @pytest.mark.parametrize("column", CENSUS_TREES)
    def test_leaves_are_the_domain(self, column: str) -> None:
        leaves = [path[-1] for path in paths_to_leaves(CENSUS_TREES[column])]
        assert len(leaves) == len(set(leaves)) == DOMAIN_SIZES[column]
        assert leaves == CENSUS_DOMAINS[column]

    @pytest.mark.parametrize(
        ("column", "depth"),
        [("sex", 1), ("race", 1), ("marital", 2), ("education", 3), ("birth_place", 3), ("occupation", 3)],
    )
    def test_leaves_are_equally_deep(self, column: str, depth: int) -> None:
        assert {len(path) for path in paths_to_leaves(CENSUS_TREES[column])} == {depth}

    @pytest.mark.parametrize("column", CENSUS_TREES)
    def test_labels_name_one_node(self, column: str) -> None:
        nodes = {path[:end] for path in paths_to_leaves(CENSUS_TREES[column]) for end in range(len(path) + 1)}
        labels = [node[-1] if node else "*" for node in nodes]
        assert len(labels) == len(set(labels))

    @pytest.mark.parametrize("widths", [CENSUS_AGE_WIDTHS, CENSUS_SALARY_WIDTHS])
    def test_intervals_nest(self, widths: tuple[int, ...]) -> None:
        assert all(wide % narrow == 0 for narrow, wide in pairwise(widths))


class TestDependence:
    @pytest.mark.parametrize(
        ("left", "right", "least_bits"),
        [
            ("age", "marital", 0.4),
            ("age", "education", 0.05),
            ("sex", "occupation", 0.15),
            ("education", "occupation", 0.4),
            ("education", "salary", 0.15),
            ("occupation", "salary", 0.5),
            ("age", "salary", 0.05),
            ("birth_place", "race", 0.2),
            ("birth_place", "education", 0.01),
        ],
    )
    def test_columns_tell_of_each_other(self, people: pl.DataFrame, left: str, right: str, least_bits: float) -> None:
        shuffled = people.with_columns(pl.col(right).shuffle(seed=1))
        real = mutual_information(people, left, right)
        assert real > least_bits
        assert real > 3 * mutual_information(shuffled, left, right)

    def test_the_young_are_single(self, people: pl.DataFrame) -> None:
        never = pl.col("marital").eq("Never married").mean()
        assert people.filter(pl.col("age") < 20).select(never).item() > 0.9
        assert people.filter(pl.col("age") > 60).select(never).item() < 0.15

    def test_degrees_take_time(self, people: pl.DataFrame) -> None:
        youngest = people.group_by("education").agg(pl.col("age").min())
        ages = dict(youngest.iter_rows())
        assert ages["Some high school"] == 17
        assert ages["Bachelor degree"] >= 21
        assert ages["Doctorate"] >= 26

    def test_schooling_pays(self, people: pl.DataFrame) -> None:
        median = dict(people.group_by("education").agg(pl.col("salary").median()).iter_rows())
        assert median["Some high school"] < median["Associate degree"] < median["Doctorate"]

    def test_those_from_afar_are_more_schooled(self, people: pl.DataFrame) -> None:
        degrees = ["Bachelor degree", "Master degree", "Professional degree", "Doctorate"]
        share = dict(people.group_by("birth_place").agg(pl.col("education").is_in(degrees).mean()).iter_rows())
        assert share["Mexico"] + 0.05 < share["United States"] < share["India"] - 0.05

    def test_most_are_born_at_home(self, people: pl.DataFrame) -> None:
        shares = people["birth_place"].value_counts(sort=True, normalize=True)
        assert shares.row(0)[0] == "United States"
        assert 0.75 < shares.row(0)[1] < 0.9
        assert shares.row(-1)[1] < 0.002

    def test_few_are_very_old(self, people: pl.DataFrame) -> None:
        assert 0.001 < people.select((pl.col("age") >= 90).mean()).item() < 0.01

    def test_the_very_old_are_women(self, people: pl.DataFrame) -> None:
        female = pl.col("sex").eq("Female").mean()
        assert people.filter(pl.col("age") > 85).select(female).item() > 0.6
        assert 0.47 < people.filter(pl.col("age") < 60).select(female).item() < 0.51

    def test_quasi_identifiers_repeat(self, people: pl.DataFrame) -> None:
        assert 30_000 < people.select(QUASI_IDENTIFIERS).n_unique() < 100_000


class TestSeed:
    def test_same_seed_same_table(self) -> None:
        assert census(5_000, seed=3).equals(census(5_000, seed=3))

    def test_other_seed_other_table(self) -> None:
        assert not census(5_000, seed=3).equals(census(5_000, seed=4))

    def test_default_seed_is_zero(self) -> None:
        assert census(100).equals(census(100, seed=0))
        assert census().height == 30_000


class TestRows:
    def test_no_rows_have_types(self) -> None:
        nobody = census(0)
        assert nobody.height == 0
        assert nobody.schema == census(1).schema

    @pytest.mark.parametrize("beyond", [-1, 0, 1, 99, 100, 101])
    def test_blocks_add_up(self, small_blocks: int, beyond: int) -> None:
        rows = 2 * small_blocks + beyond
        people = census(rows, seed=5)
        assert people.height == rows
        assert people.equals(census(rows, seed=5))

    def test_blocks_differ(self, small_blocks: int) -> None:
        people = census(3 * small_blocks)
        blocks = [people.slice(start, small_blocks) for start in range(0, people.height, small_blocks)]
        assert not blocks[0].equals(blocks[1])
        assert not blocks[1].equals(blocks[2])

    @pytest.mark.parametrize("arguments", [{"rows": -1}, {"rows": 1, "seed": -1}])
    def test_negative_arguments_are_refused(self, arguments: dict[str, int], tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="must be 0 or more, not -1"):
            census(**arguments)
        with pytest.raises(ValueError, match="must be 0 or more, not -1"):
            write_census(tmp_path / "people.csv", **arguments)


class TestWrite:
    @pytest.mark.parametrize("rows", [0, 99, 100, 101, 350])
    @pytest.mark.parametrize(
        ("name", "read"),
        [("people.csv", pl.read_csv), ("people.parquet", pl.read_parquet), ("PEOPLE.CSV", pl.read_csv)],
    )
    def test_file_holds_the_table(
        self, small_blocks: int, tmp_path: Path, rows: int, name: str, read: Callable[[Path], pl.DataFrame]
    ) -> None:
        path = tmp_path / name
        write_census(path, rows, seed=2)
        expected = census(rows, seed=2)
        # An empty CSV file has no values to tell types from.
        found = read(path) if rows or path.suffix == ".parquet" else pl.read_csv(path, schema=expected.schema)
        assert found.equals(expected)
        assert found.schema == expected.schema

    def test_unknown_suffix_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"'\.xlsx'.*\.csv or \.parquet"):
            write_census(tmp_path / "people.xlsx", 10)
        assert list(tmp_path.iterdir()) == []
