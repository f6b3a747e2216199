"""How frequent values are, as somebody says: from a file, from a recipe, on any level of a hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, SourceError
from incrowd.hierarchies.tree import Tree
from incrowd.models.knowledge import marginal_shares, read_marginals, require_marginals


def places() -> Tree:
    """Codes: 0 missing, 1 Italy, 2 Spain, 3 Japan, 4 China, 5 India."""
    tree = ic.Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan", "China", "India"]})
    return tree.build("place", pl.Series(["Italy"]))[0]


@pytest.mark.parametrize(
    ("given", "shares"),
    [
        ({"Italy": 0.5, "Japan": 0.25}, [0, 0.5, 0, 0.25, 0, 0]),
        ({"Europe": 0.6, "Asia": 0.3}, [0, 0.3, 0.3, 0.1, 0.1, 0.1]),  # evenly among a node's values
        ({"Italy": 0.5, "Europe": 0.2}, [0, 0.5, 0.2, 0, 0, 0]),  # a value of its own is not given twice
        ({"Italy": 0.5, "Spain": 0.1, "Europe": 0.4}, [0, 0.5, 0.1, 0, 0, 0]),  # nobody is left for the rest
        ({"Asia": 0.3, "*": 0.7}, [0.7 / 3, 0.7 / 3, 0.7 / 3, 0.1, 0.1, 0.1]),  # anything else, missing included
        ({"": 0.2, "Italy": 0.8}, [0.2, 0.8, 0, 0, 0, 0]),  # missing
        ({"Italy": 0.5, "Atlantis": 0.5}, [0, 0.5, 0, 0, 0, 0]),  # somebody who is not in the table
        ({"Italy": 0.0}, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_names_are_values_or_nodes(given: dict[str, float], shares: list[float]) -> None:
    assert marginal_shares("place", places(), given) == pytest.approx(np.array(shares))


def test_numbers_are_spelled_as_the_table_does() -> None:
    tree = ic.Intervals(widths=(10,)).build("age", pl.Series([21.0, 25.5, 34.0]))[0]
    shares = marginal_shares("age", tree, {"21": 0.1, "[20, 30)": 0.4, "[30, 40)": 0.5})
    assert shares == pytest.approx(np.array([0, 0.1, 0.4, 0.5]))


@pytest.mark.parametrize("given", [{}, {"Atlantis": 1.0}, {"italy": 1.0}])
def test_names_of_which_the_column_knows_none_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SchemaError, match="none of the given values is one of column 'place'"):
        marginal_shares("place", places(), given)


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text("probability,column,value\n0.5,sex,F\n0.25,age,30\n1e-3,age,\n")
    assert read_marginals(path) == {"sex": {"F": 0.5}, "age": {"30": 0.25, "": 0.001}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("column,value\nsex,F\n", "a file with the columns column, value, probability"),
        ("column,value,probability,source\nsex,F,1,me\n", "a file with the columns column, value, probability"),
        ("column,value,probability\nsex,F,half\n", "a probability, which is a number"),
        ("column,value,probability\nsex,F,\n", "a probability, which is a number"),
        ("column,value,probability\n,F,0.5\n", "every line names a column"),
        ("column,value,probability\nsex,F,0.5\nsex,F,0.4\n", "a value of column 'sex' has two probabilities"),
        ("column,value,probability\nsex,F,0.7\nsex,M,0.4\n", "the probabilities of 'sex' add up to 1.1"),
        ("column,value,probability\nsex,F,-0.1\n", "a probability of 'sex'"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "known.csv"
    path.write_text(text)
    with pytest.raises((SchemaError, RecipeError), match=problem):
        read_marginals(path)
    with pytest.raises(SourceError, match="there is no such file"):
        read_marginals(tmp_path / "unknown.csv")


@pytest.mark.parametrize("marginals", [{}, {"sex": {}}, {"sex": {"F": 1}}, {"sex": {"F": 0.7, "M": 0.3 + 1e-12}}])
def test_probabilities_add_up_to_one_at_most_give_or_take_rounding(marginals: Any) -> None:
    require_marginals("a test", marginals)


@pytest.mark.parametrize(
    ("marginals", "problem"),
    [
        ([], "marginals is a table of columns"),
        ({"sex": 0.5}, "each a table of values and their probabilities"),
        ({"sex": {"F": "much"}}, "a probability of 'sex'"),
        ({"sex": {"F": float("nan")}}, "a probability of 'sex'"),
        ({"sex": {"F": 0.7, "M": 0.31}}, r"^a test: the probabilities of 'sex' add up to 1\.01, which is more than 1"),
    ],
)
def test_what_is_no_table_of_probabilities_is_refused(marginals: Any, problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        require_marginals("a test", marginals)
