"""The accountant: sums, maxima and samples that nest, and a limit that holds."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.dp import Accountant, Budget
from incrowd.dp.amplification import amplified
from incrowd.errors import BudgetSpent, IncrowdError, RecipeError


def test_questions_add_up() -> None:
    accountant = Accountant()
    assert accountant.total() == Budget.nothing()
    for _ in range(10):
        accountant.spend("a count", Budget(0.1, "1e-9"))
    assert accountant.total() == Budget(1, "1e-8")
    assert accountant.remaining is None
    assert len(accountant.steps) == len(accountant.entries) == 10


def test_disjoint_parts_cost_what_the_dearest_costs() -> None:
    accountant = Accountant()
    accountant.spend("first", Budget(1))
    with accountant.parallel("leaves"):
        accountant.spend("left", Budget("0.5", "1e-6"))
        accountant.spend("right", Budget("0.7"))
        assert accountant.total() == Budget("1.7", "1e-6")
    assert accountant.total() == Budget("1.7", "1e-6")
    assert accountant.steps == (Budget(1), Budget("0.7", "1e-6"))


def test_sequences_within_parts() -> None:
    accountant = Accountant()
    with accountant.parallel("halves"):
        with accountant.sequence("left"):
            accountant.spend("a", Budget(1))
            accountant.spend("b", Budget(2))
        with accountant.sequence("right"):
            accountant.spend("c", Budget("2.5"))
    assert accountant.total() == Budget(3)
    assert [entry.blocks for entry in accountant.entries] == [("halves", "left")] * 2 + [("halves", "right")]


def test_questions_to_a_sample_cost_less_together() -> None:
    accountant = Accountant()
    with accountant.sampled("0.1"):
        accountant.spend("a", Budget(1))
        accountant.spend("b", Budget(1))
    assert accountant.total() == amplified(Budget(2), "0.1")
    assert accountant.entries[0].blocks == ("sample at rate 0.1",)
    with pytest.raises(RecipeError, match="sampling rate"), accountant.sampled(0):
        pass


def test_the_limit_holds_and_what_is_refused_is_not_written_down() -> None:
    accountant = Accountant(limit=Budget(1, "1e-6"))
    accountant.spend("a", Budget("0.9"))
    for too_much in (Budget("0.2"), Budget("0.05", "1e-5")):
        with pytest.raises(BudgetSpent, match="'b' costs"):
            accountant.spend("b", too_much)
    assert accountant.total() == Budget("0.9")
    assert len(accountant.entries) == 1
    accountant.spend("c", Budget("0.1", "1e-6"))
    assert accountant.remaining == Budget.nothing()
    with pytest.raises(BudgetSpent, match="ε = 0 of ε = 1, δ = 1e-06 is left"):
        accountant.spend("d", Budget("1e-9"))
    assert issubclass(BudgetSpent, IncrowdError)


def test_the_limit_knows_about_blocks() -> None:
    accountant = Accountant(limit=Budget(1))
    with accountant.parallel("leaves"):
        for leaf in range(100):
            accountant.spend(f"leaf {leaf}", Budget(1))
    with pytest.raises(BudgetSpent), accountant.parallel("more leaves"):
        accountant.spend("one", Budget("0.1"))
    sampling = Accountant(limit=Budget("0.2"))
    with sampling.sampled("0.1"):
        sampling.spend("a", Budget(1))
        with pytest.raises(BudgetSpent):
            sampling.spend("b", Budget(1))
    assert sampling.total() == amplified(Budget(1), "0.1")


def test_what_was_asked_before_an_error_was_asked() -> None:
    accountant = Accountant()

    def fail() -> None:
        with accountant.parallel("leaves"), accountant.sequence("left"):
            accountant.spend("a", Budget(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert accountant.total() == Budget(1)
    accountant.spend("b", Budget(1))
    assert accountant.total() == Budget(2)


def test_empty_blocks_cost_nothing() -> None:
    accountant = Accountant()
    with accountant.parallel("none"), accountant.sampled("0.5"), accountant.sequence("none"):
        pass
    assert accountant.total() == Budget.nothing()
    assert accountant.steps == ()


def test_nothing_is_free_and_delta_stays_below_one() -> None:
    accountant = Accountant()
    with pytest.raises(RecipeError, match="costs nothing"):
        accountant.spend("a", Budget.nothing())
    accountant.spend("a", Budget(1, "0.6"))
    with pytest.raises(BudgetSpent, match="nothing would be promised"):
        accountant.spend("b", Budget(1, "0.4"))


def test_it_can_be_written_down() -> None:
    accountant = Accountant(limit=Budget(1))
    with accountant.sampled("0.5", "half"), accountant.parallel("leaves"):
        accountant.spend("left", Budget("1/3"))
    written = json.loads(json.dumps(accountant.as_dict()))
    assert written["limit"] == {"ε": "1", "δ": "0"}
    assert written["questions"] == [
        {"question": "left", "within": "half at rate 0.5 › leaves", "adds up": "parallel", "ε": "1/3", "δ": "0"}
    ]
    assert Fraction(written["total"]["ε"]) == accountant.total().epsilon
    assert Accountant().as_dict()["limit"] is None
    assert str(accountant).splitlines()[0] == "left: ε = 0.333333"


budgets = st.builds(Budget, st.fractions(min_value=Fraction(1, 100), max_value=3), st.just(0) | st.just("1e-9"))
trees = st.recursive(
    budgets,
    lambda inner: st.tuples(st.sampled_from(["parallel", "sequence", "sampled"]), st.lists(inner, max_size=4)),
    max_leaves=12,
)


def naive(tree: object) -> Budget:
    if isinstance(tree, Budget):
        return tree
    kind, parts = tree  # type: ignore[misc]
    prices = [naive(part) for part in parts]
    if kind == "parallel":
        return Budget.computed(
            max((price.epsilon for price in prices), default=Fraction(0)),
            max((price.delta for price in prices), default=Fraction(0)),
        )
    total = sum(prices, start=Budget.nothing())
    return amplified(total, "0.3") if kind == "sampled" and total else total


def enter(accountant: Accountant, tree: object) -> None:
    if isinstance(tree, Budget):
        accountant.spend("it", tree)
        return
    kind, parts = tree  # type: ignore[misc]
    opened = accountant.sampled("0.3") if kind == "sampled" else getattr(accountant, kind)("block")
    with opened:
        for part in parts:
            enter(accountant, part)


@given(st.lists(trees, max_size=3))
def test_any_nest_of_blocks_adds_up(nest: list[object]) -> None:
    accountant = Accountant()
    for tree in nest:
        enter(accountant, tree)
    assert accountant.total() == naive(("sequence", nest))
    assert sum(accountant.steps, start=Budget.nothing()) == accountant.total()
