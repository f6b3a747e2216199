"""NIST's scores by their formulas, in plain Python on saved files."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError
from incrowd.forms.spreading import expected_counts, expected_pairs, meaning_of_lines
from tests.metrics.recoded import torn_labels

COLUMNS = ["ill", "sex", "town"]


def people(rows: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "town": rng.choice(list("abcdef"), rows, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]),
            "sex": rng.choice(["f", "m", "x"], rows, p=[0.5, 0.49, 0.01]),
            "ill": [None if x == 9 else f"i{x}" for x in rng.integers(0, 10, rows)],
        }
    )


def of_files(directory: Path) -> tuple[Any, Any, list[dict[str, str]]]:
    table = ic.read(people(), quasi=["town", "sex"], sensitive=["ill"])
    release = ic.open_release(directory, original=table)
    with (directory / "data.csv").open(newline="") as file:
        return release.table_before, release.form, list(csv.DictReader(file))


def meant(label: str, values: list[str]) -> list[str]:
    """What a label stands for: itself, a set of names, or anything."""
    if label == "*":
        return values
    return [one.strip() for one in label.strip("{}").split(",")] if label.startswith("{") else [label]


@pytest.mark.parametrize("model", [ic.KAnonymity(1), ic.KAnonymity(4), ic.KAnonymity(60)], ids=str)
def test_scores_are_those_of_the_formulas(model: Any, tmp_path: Path) -> None:
    table = ic.read(people(), quasi=["town", "sex"], sensitive=["ill"])
    ic.publish(table, model, method=ic.FullDomain(max_withheld=0.05)).save(tmp_path / "out")
    before, form, written = of_files(tmp_path / "out")
    rows = [{name: value or "" for name, value in row.items()} for row in people().to_dicts()]
    values = {name: sorted({row[name] for row in rows}) for name in COLUMNS}
    for k in (1, 2):
        far = []
        for chosen in combinations(COLUMNS, k):
            old = Counter(tuple(row[name] for name in chosen) for row in rows)
            new: Counter[tuple[str, ...]] = Counter()
            for row in written:
                sets = [meant(row[name], values[name]) if name != "ill" else [row[name]] for name in chosen]
                cells = [(one,) for one in sets[0]] if k == 1 else [(a, b) for a in sets[0] for b in sets[1]]
                for cell in cells:
                    new[cell] += 1 / len(cells)  # type: ignore[assignment]
            far.append(sum(abs(old[c] / len(rows) - new[c] / len(written)) for c in {*old, *new}) / 2)
        expected = 1000 * (1 - sum(far) / len(far))
        assert ic.KMarginal(k).measure(before, form) == pytest.approx(expected, abs=1e-6)
    seen = Counter(tuple(row[name] for name in COLUMNS) for row in rows)
    alone = [row for row, number in seen.items() if number == 1]
    shown = {tuple(row[name] for name in COLUMNS) for row in written}
    found = sum(row in shown for row in alone) / len(alone)
    assert ic.UniqueExactMatches().measure(before, form) == pytest.approx(found)


def test_three_columns_are_drawn(tmp_path: Path) -> None:
    table = ic.read(people(), quasi=["town", "sex"], sensitive=["ill"])
    ic.publish(table, ic.KAnonymity(1), method=ic.FullDomain()).save(tmp_path / "exact")
    before, form, _ = of_files(tmp_path / "exact")
    assert ic.KMarginal(3).measure(before, form) == ic.KMarginal(2).measure(before, form) == 1000
    assert ic.UniqueExactMatches().measure(before, form) == 1
    ic.publish(table, ic.KAnonymity(100), method=ic.FullDomain()).save(tmp_path / "coarse")
    before, form, _ = of_files(tmp_path / "coarse")
    assert 300 < ic.KMarginal(3).measure(before, form) < ic.KMarginal(2).measure(before, form) < 1000
    assert ic.UniqueExactMatches().measure(before, form) == 0
    with pytest.raises(RecipeError):
        ic.KMarginal(0)


def test_names_that_are_no_neighbours_are_spread_over_themselves() -> None:
    for recoded in torn_labels():
        form, names = recoded.release, recoded.quasi
        shown = [labels for _, labels in recoded.rows if labels is not None]
        meant = [{name: recoded.may_be(name, labels[name]) for name in names} for labels in shown]
        for name in names:
            expected = [
                sum(value in one[name] and 1 / len(one[name]) for one in meant) for value in recoded.known(name)
            ]
            assert expected_counts(recoded.tally, form, name)[1:] == pytest.approx(expected)
            drawn = meaning_of_lines(recoded.tally, form, name)
            lines, widths = np.arange(len(form.counts)), drawn.widths(recoded.tree(name).size)
            values = [
                {
                    recoded.tree(name).values[int(drawn.codes(lines[one : one + 1], np.array([place]))[0])]
                    for place in range(widths[one])
                }
                for one in lines
            ]
            assert {frozenset(one) for one in values} == {frozenset(one[name]) for one in meant}
        if len(names) == 2:
            first, second = names
            pairs = expected_pairs(recoded.tally, form, first, second)
            for row, one in enumerate(recoded.known(first), start=1):
                for column, two in enumerate(recoded.known(second), start=1):
                    share = sum(
                        (one in cell[first] and two in cell[second]) / (len(cell[first]) * len(cell[second]))
                        for cell in meant
                    )
                    assert pairs[row, column] == pytest.approx(share, abs=1e-9)
