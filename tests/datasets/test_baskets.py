"""The generator of baskets: sizes, popularity, and items that go together."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.datasets import basket_tree, baskets
from incrowd.datasets.baskets import basket_codes
from incrowd.hierarchies.categories import Categories


def test_sizes_are_as_asked():
    person, item = basket_codes(20_000, 1657)
    assert np.unique(person * 1657 + item).size == len(person)
    assert np.array_equal(np.unique(person), np.arange(20_000))
    assert len(person) / 20_000 == pytest.approx(6.6, abs=0.2)
    assert np.bincount(person).max() > 40
    popularity = np.sort(np.bincount(item, minlength=1657))
    assert popularity[-1] > 100 * np.median(popularity)


def test_items_of_a_department_go_together():
    person, item = basket_codes(20_000, 1657)
    department = item // 100
    pairs = person[1:] == person[:-1]
    together = (department[1:] == department[:-1])[pairs].mean()
    shares = np.bincount(department) / len(department)
    assert together > 1.5 * (shares**2).sum()


def test_every_item_is_in_the_tree():
    bought = baskets(1000, kinds=300, seed=5)
    tree, codes = Categories.from_tree(basket_tree(300)).build("item", bought["item"])
    assert tree.size == 301
    assert (codes > 0).all()


@pytest.mark.parametrize("people", [0, 1])
def test_few_people(people):
    assert baskets(people, kinds=1)["person"].n_unique() == people
    with pytest.raises(ValueError, match="kinds"):
        baskets(1, kinds=0)
