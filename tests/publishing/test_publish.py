"""The whole path: what cannot be had is refused before any work, and everything else goes through the same steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally
from incrowd.errors import EmptyTable, IncrowdError, RecipeError, SchemaError, Unsatisfiable
from incrowd.publishing.publish import nobody
from incrowd.publishing.table import Table

PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63],
        "sex": ["F", "M"] * 6,
        "ill": ["flu", "cold", "gout"] * 4,
        "note": list(range(12)),
    }
)
AGES = ic.Intervals(widths=(10, 20, 40), lower=0, upper=80)
SEXES = ic.Categories.from_tree(["F", "M"])
NOISY = ic.FlatHistogram(epsilon=2)


def table(frame: pl.DataFrame = PEOPLE, **roles: Any) -> Table:
    given = {"quasi": ["age", "sex"], "sensitive": ["ill"], "others": "drop", **roles}
    return ic.read(frame, **given)


def declared(frame: pl.DataFrame = PEOPLE, **roles: Any) -> Table:
    """A table of which every value is declared, as private methods need it."""
    return table(frame, sensitive=[], hierarchies={"age": AGES, "sex": SEXES}, **roles)


@dataclass(frozen=True)
class Untouchable(ic.Mondrian):
    """A method that must not be asked."""

    name: ClassVar[str] = "untouchable"

    def search(self, *given: Any, **named: Any) -> Recoding:
        raise AssertionError("work was done before a refusal")


@dataclass(frozen=True)
class Watched(ic.Method):
    """A method that keeps what it was asked, and cannot judge all groups together."""

    name: ClassVar[str] = "watched"
    asked: ClassVar[list[tuple[Any, ...]]] = []

    def search(self, tally: Tally, schema: ic.Schema, require: Sequence[ic.Model], **given: Any) -> Recoding:
        self.asked.append((tally.rows, tuple(require)))
        return ic.Mondrian().search(tally, schema, require, **given)


@dataclass(frozen=True)
class LooksLikeAModel:
    """All that a model has, and no inheritance."""

    name: ClassVar[str] = "look-alike"
    min_group: ClassVar[int] = 1

    def satisfied(self, groups: Groups) -> Any:
        return np.ones(len(groups), dtype=bool)


class LooksLikeAMethod:
    name = "look-alike"
    private = False
    guarantees = ()

    def search(self, *given: Any, **named: Any) -> Recoding:
        raise AssertionError


class LooksLikeAForm:
    name = "look-alike"

    def show(self, *given: Any, **named: Any) -> Any:
        raise AssertionError


# --- refusals ---


def test_what_does_not_inherit_from_its_protocol_is_refused_with_what_to_do() -> None:
    hint = r"  Hint: let its class inherit from incrowd\.core\.{}, which declares what one can do, with defaults\.$"
    with pytest.raises(RecipeError, match="^LooksLikeAModel is no model" + r"\." + hint.format(r"model\.Model")):
        ic.publish(table(), LooksLikeAModel(), method=Untouchable())  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match=r"^LooksLikeAMethod is no method\."):
        ic.publish(table(), ic.KAnonymity(2), method=LooksLikeAMethod())  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match=r"^LooksLikeAForm is no form\."):
        ic.publish(table(), ic.KAnonymity(2), method=Untouchable(), form=LooksLikeAForm())  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(RecipeError, match="seed"):
        ic.publish(table(), ic.KAnonymity(2), method=Untouchable(), seed=seed)


@pytest.mark.parametrize("sample", [0, -0.5, 1.5, "many"])
def test_a_sample_is_a_share(sample: Any) -> None:
    with pytest.raises(IncrowdError):
        ic.publish(table(), ic.KAnonymity(2), method=Untouchable(), sample=sample)


def test_nothing_required_is_refused() -> None:
    for nothing in ((), []):
        with pytest.raises(RecipeError, match=r"^nothing is required of the release\.  Hint: ask for a model"):
            ic.publish(table(), nothing, method=Untouchable())


def test_what_no_table_can_be_checked_for_cannot_be_required() -> None:
    for models in (ic.DifferentialPrivacy("1"), [ic.KAnonymity(2), ic.DifferentialPrivacy("1")]):
        with pytest.raises(SchemaError, match=r"is a promise of the method: it cannot be checked on a table"):
            ic.publish(table(), models, method=Untouchable())  # type: ignore[arg-type]


def test_a_model_of_everything_published_refuses_columns_outside_of_it() -> None:
    with pytest.raises(SchemaError, match=r"speaks of every published column, and 'note' would be published outside"):
        ic.publish(table(keep=["note"]), ic.FullKAnonymity(2), method=Untouchable())
    with pytest.raises(SchemaError, match=r"speaks of every published column, and 'note'"):
        ic.publish(table(keep=["note"]), ic.KAnonymity(2), method=ic.KDGS(2))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"form": ic.ShowGeneralized()}, "publishes noisy counts, and no other form"),
        ({"require": [ic.KAnonymity(2)]}, "2-anonymity cannot be asked of noisy counts"),
        ({"table": declared(keep=["note"])}, "column 'note' cannot be published beside noisy counts"),
        ({"table": declared(pseudonyms=["note"])}, "column 'note' cannot be published beside noisy counts"),
        ({"form": LooksLikeAForm()}, "LooksLikeAForm is no form"),
        ({"require": [ic.DifferentialPrivacy("1")]}, "is a promise of the method"),
    ],
)
def test_a_private_method_refuses_what_noisy_counts_cannot_be(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(IncrowdError, match=problem):
        ic.publish(**{"table": declared(), "method": NOISY, **given})


def test_refusals_come_in_order_and_before_the_table_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = table(keep=["note"])
    monkeypatch.setattr(type(opened.engine), "count", lambda *given: pytest.fail("the table was counted"))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"seed": -1, "method": LooksLikeAMethod()}, "seed"),
        ({"method": LooksLikeAMethod(), "require": ()}, "is no method"),
        ({"require": (), "form": LooksLikeAForm()}, "nothing is required"),
        ({"require": [ic.DifferentialPrivacy("1"), LooksLikeAModel()]}, "is a promise of the method"),
        ({"require": [ic.FullKAnonymity(2), LooksLikeAModel()], "form": LooksLikeAForm()}, "is no model"),
        ({"require": [ic.FullKAnonymity(2)], "form": LooksLikeAForm()}, "is no form"),
        ({"require": [ic.FullKAnonymity(2)], "sample": 7}, "speaks of every published column"),
        ({"require": [ic.KAnonymity(2)], "sample": 7}, "sampl|rate|share"),
    ]
    for given, problem in refused:
        with pytest.raises(IncrowdError, match=problem):
            ic.publish(**{"table": opened, "require": [ic.KAnonymity(2)], **given})


def test_a_method_with_a_promise_shows_generalized_values_only() -> None:
    method = ic.SDGS(2, levels={"age": 3, "sex": 1})
    with pytest.raises(RecipeError, match=r"^sdgs publishes generalized values, and no other form"):
        ic.publish(declared(), method=method, sample=0.5, form=ic.ShowMultisets())


# --- the path ---


def test_one_model_is_as_good_as_a_list_of_one() -> None:
    alone, listed = (ic.publish(table(), models, seed=1) for models in (ic.KAnonymity(3), [ic.KAnonymity(3)]))
    assert alone.to_polars().equals(listed.to_polars())
    assert alone.guarantees == listed.guarantees
    assert isinstance(alone.method, ic.Mondrian)


def test_one_seed_is_one_release() -> None:
    method = ic.Slicing()
    made = [ic.publish(table(), ic.SlicedDiversity(2), method=method, seed=seed) for seed in (3, 3, 4, None)]
    frames = [release.to_polars() for release in made]
    assert frames[0].equals(frames[1])
    assert not frames[0].equals(frames[2])
    assert [release.seed for release in made] == [3, 3, 4, None]


def test_a_form_that_is_asked_for_comes_before_the_method_s_own() -> None:
    own = ic.publish(table(), ic.LDiversity(2), method=ic.Anatomy(), seed=0)
    asked = ic.publish(table(), ic.LDiversity(2), method=ic.Anatomy(), form=ic.ShowMultisets(), seed=0)
    assert (own.form.name, own.asked_form) == ("bucketized", None)
    assert (asked.form.name, asked.asked_form) == ("multisets", ic.ShowMultisets())
    assert ic.publish(table(), ic.KAnonymity(3)).form.name == "generalized"


def test_what_a_method_guarantees_is_added_once() -> None:
    method = ic.KDGS(3, levels={"age": 2, "sex": 1})
    opened = table(sensitive=[], hierarchies={"age": AGES, "sex": SEXES})
    for require in ((), [ic.FullKAnonymity(3)], [ic.KAnonymity(2), ic.FullKAnonymity(3)]):
        release = ic.publish(opened, require, method=method)
        stated = [guarantee.model for guarantee in release.guarantees]
        assert stated.count(ic.FullKAnonymity(3)) == 1
        assert set(stated) == {*require, ic.FullKAnonymity(3)}
        assert {guarantee.basis for guarantee in release.guarantees} == {"verified"}


def test_a_sample_is_searched_and_the_rest_is_left_out() -> None:
    Watched.asked.clear()
    release = ic.publish(table(), ic.KAnonymity(2), method=Watched(), sample=0.5, seed=1)
    assert Watched.asked == [(release.rows_in, (ic.KAnonymity(2),))]
    assert release.rate == Fraction(1, 2)
    assert release.rows_in + release.left_out == PEOPLE.height
    assert release.rows + release.withheld == release.rows_in < PEOPLE.height


def test_a_model_of_the_whole_table_is_searched_group_by_group_and_checked_as_it_is() -> None:
    Watched.asked.clear()
    model = ic.MarketerRisk(0.5)
    release = ic.publish(table(), model, method=Watched())
    assert Watched.asked == [(PEOPLE.height, (model.for_each_group,))]
    assert release.guarantees[0].model == model
    assert model.for_each_group != model


def test_what_cannot_be_satisfied_is_said_so() -> None:
    with pytest.raises(Unsatisfiable, match="13-anonymity"):
        ic.publish(table(), ic.KAnonymity(13))


def test_progress_goes_from_reading_to_the_search() -> None:
    told: list[tuple[str, float]] = []
    ic.publish(table(), ic.KAnonymity(2), progress=lambda stage, done: told.append((stage, done)))
    assert told[:2] == [("reading", 0.0), ("reading", 1.0)]
    assert all(0 <= done <= 1 for _, done in told)
    assert len(told) > 2


def test_the_caller_s_frame_and_table_are_as_they_were() -> None:
    frame, opened = PEOPLE.clone(), table()
    first = ic.publish(opened, ic.KAnonymity(3), seed=0)
    again = ic.publish(opened, ic.KAnonymity(3), seed=0)
    assert frame.equals(PEOPLE)
    assert first.to_polars().equals(again.to_polars())


# --- nobody ---


def test_a_table_without_rows_is_refused_unless_that_would_tell() -> None:
    empty = declared(PEOPLE.clear())
    refusing = replace(NOISY, undeclared="refuse")
    for method in (ic.Mondrian(), refusing):
        with pytest.raises(EmptyTable, match="columns but no rows"):
            ic.publish(empty, () if method is refusing else ic.KAnonymity(2), method=method)
    release = ic.publish(empty, method=NOISY, seed=1)
    assert release.hides_rows
    assert "in" not in release.row_numbers
    assert release.to_polars().columns == ["age", "sex"]
    assert [guarantee.basis for guarantee in release.guarantees] == ["by construction"]


def test_nobody_is_counted_as_nobody() -> None:
    counted = nobody(declared().schema)
    assert (counted.tally.rows, len(counted.tally), counted.tally.columns) == (0, 0, ("age", "sex"))
    assert counted.raw.width == 0


def test_a_private_release_tells_neither_its_population_nor_a_key(tmp_path: Path) -> None:
    from incrowd.publishing.recipe import Recipe

    places = ic.Categories.from_tree(["a", "b"])
    (tmp_path / "all.csv").write_text("place\na\nb\n")
    frame = pl.DataFrame({"place": ["a", "b", "a"]})
    table = ic.read(frame, quasi=["place"], hierarchies={"place": places}, population=tmp_path / "all.csv")
    key = ic.PseudonymKey(bytes(32), tmp_path / "key")
    release = ic.publish(table, method=ic.FlatHistogram(1), pseudonym_key=key)
    recipe = Recipe.of(release).to_dict()
    assert "population" not in recipe
    assert "pseudonyms" not in recipe
