"""Verification looks at what is published and at nothing else: what breaks a model there is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.method import Method
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally
from incrowd.errors import ConformanceError
from incrowd.forms.verify import COUNT, groups_of, verify
from incrowd.testing.naive import groups_of_rows

SAFE = pl.DataFrame(
    {
        "age": ["<40", "<40", ">=40", ">=40"],
        "sex": ["*", "*", "F", "F"],
        "flu": ["yes", "no", "yes", "no"],
        COUNT: [2, 1, 3, 2],
    }
)
MODELS = [ic.KAnonymity(3), ic.LDiversity(2)]


def test_a_safe_table_is_guaranteed_with_what_it_achieves() -> None:
    guarantees = verify(SAFE, ["age", "sex"], ["flu"], MODELS)
    assert [(guarantee.model, guarantee.basis, guarantee.achieved) for guarantee in guarantees] == [
        (ic.KAnonymity(3), "verified", 3),
        (ic.LDiversity(2), "verified", 2),
    ]


@pytest.mark.parametrize(
    ("tampered", "broken"),
    [
        (SAFE.with_columns(age=pl.Series(["<40", "<30", ">=40", ">=40"])), "3-anonymity"),  # one label made finer
        (SAFE.with_columns(age=pl.Series(["<40", None, ">=40", ">=40"])), "3-anonymity"),  # missing is a label too
        (SAFE.with_columns(sex=pl.Series(["*", "*", "F", "M"])), "3-anonymity"),
        (SAFE.with_columns(pl.Series(COUNT, [1, 1, 3, 2])), "3-anonymity"),  # a row left out
        (SAFE.with_columns(flu=pl.Series(["yes", "yes", "yes", "no"])), "distinct 2-diversity"),  # a value changed
    ],
)
def test_a_tampered_table_is_refused(tampered: pl.DataFrame, broken: str) -> None:
    with pytest.raises(ConformanceError, match=f"does not satisfy .*{broken}.*nothing was published"):
        verify(tampered, ["age", "sex"], ["flu"], MODELS)


@dataclass(frozen=True)
class Careless(Method):
    """A method that publishes every value as it is, whatever is required."""

    name: ClassVar[str] = "careless"

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **_: Any) -> Recoding:
        columns = tuple(sorted(schema.quasi))
        codes = np.stack([tally.column(name) for name in columns], axis=1)
        tuples = np.arange(len(tally))
        return Recoding(tuples, tally.counts, tuples, columns, codes, codes + np.int32(1))


def test_what_a_careless_method_finds_is_not_released() -> None:
    table = ic.read(pl.DataFrame({"age": [20, 20, 30]}), quasi=["age"])
    assert ic.publish(table, ic.KAnonymity(1), method=Careless()).rows == 3
    with pytest.raises(ConformanceError, match="does not satisfy 2-anonymity"):
        ic.publish(table, ic.KAnonymity(2), method=Careless())


def test_the_error_quotes_no_value() -> None:
    table = ic.read(pl.DataFrame({"name of village": ["Nether Wallop", "Upper Slaughter"]}), quasi=["name of village"])
    with pytest.raises(ConformanceError) as caught:
        ic.publish(table, ic.KAnonymity(2), method=Careless())
    assert "Wallop" not in str(caught.value)


@pytest.mark.parametrize("quasi", ["group", "count", "code", "q0", "s0", "count of rows", "*", "^a.*$"])
@pytest.mark.parametrize("sensitive", ["value", "group ", "q1", "s1"])
def test_names_of_columns_do_not_matter(quasi: str, sensitive: str) -> None:
    frame = pl.DataFrame({quasi: ["a", "a", "b"], sensitive: ["x", "y", "z"], COUNT: [4, 2, 3]})
    found = groups_of(frame, [quasi], [sensitive])
    assert found.sizes.tolist() == [6, 3]
    assert found.sensitive[sensitive].distinct.tolist() == [2, 1]
    assert found.sensitive[sensitive].largest.tolist() == [4, 3]


def test_a_sensitive_column_called_group_is_not_taken_for_the_groups() -> None:
    frame = pl.DataFrame({"age": ["a", "a", "b", "b"], "group": [0, 0, 1, 1], COUNT: [1, 1, 1, 1]})
    assert groups_of(frame, ["age"], ["group"]).sensitive["group"].distinct.tolist() == [1, 1]
    with pytest.raises(ConformanceError, match="distinct 2-diversity"):
        verify(frame, ["age"], ["group"], [ic.LDiversity(2)])


def test_without_quasi_identifiers_all_rows_are_one_group() -> None:
    found = groups_of(SAFE, [], ["flu"])
    assert found.sizes.tolist() == [8]
    assert sorted(found.sensitive["flu"].counts.tolist()) == [3, 5]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "age": st.sampled_from([None, "a", "b", "*"]),
                "sex": st.sampled_from(["F", "M"]),
                "flu": st.sampled_from([None, "yes", "no"]),
                "pay": st.sampled_from([None, 1, 2, 3]),
            }
        ),
        min_size=1,
        max_size=40,
    )
)
def test_groups_are_those_that_a_reader_counts(rows: list[dict[str, Any]]) -> None:
    schema = {"age": pl.String, "sex": pl.String, "flu": pl.String, "pay": pl.Int64}
    counted = pl.DataFrame(rows, schema=schema).group_by(pl.all()).agg(pl.len().alias(COUNT))
    found = groups_of(counted, ["age", "sex"], ["flu", "pay"])
    expected = groups_of_rows(rows, ["age", "sex"], ["flu", "pay"])
    assert sorted(found.sizes.tolist()) == sorted(map(len, expected))
    for name in ("flu", "pay"):
        kinds = zip(found.sizes.tolist(), found.sensitive[name].distinct.tolist(), strict=True)
        assert sorted(kinds) == sorted((len(members), len({row[name] for row in members})) for members in expected)
