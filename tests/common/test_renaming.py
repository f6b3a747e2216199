"""Options that were renamed keep their old names for a version: as keywords, as attributes and in recipes."""

from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.common.renaming import with_new_names
from incrowd.core.families import FAMILIES, make_registered, registered
from incrowd.errors import RecipeError
from incrowd.planning.sampling import advise_sampling

OLD: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    (
        "methods",
        "slicing",
        {"number": 3, "company": 1, "apart": True, "least": 50, "fakes": 0.5},
        {
            "column_count": 3,
            "sensitive_group_size": 1,
            "separate_sensitive": True,
            "min_bucket_size": 50,
            "fake_ratio": 0.5,
        },
    ),
    (
        "methods",
        "full-domain",
        {"limit": 0.05, "lowest": {"age": 1}, "highest": {"sex": 0}, "seconds": 9.5},
        {"max_withheld": 0.05, "min_levels": {"age": 1}, "max_levels": {"sex": 0}, "max_seconds": 9.5},
    ),
    (
        "methods",
        "local-recoding",
        {"limit": 0.3, "lowest": {"age": 1}, "choose": "least-loss"},
        {"max_distortion": 0.3, "min_levels": {"age": 1}, "column_choice": "least-loss"},
    ),
    ("methods", "microaggregation", {"size": 7}, {"group_size": 7}),
    ("methods", "diffgen", {"epsilon": 1, "structure": "1/3"}, {"epsilon": 1, "structure_share": "1/3"}),
    ("methods", "consistent-diffgen", {"epsilon": 1, "structure": "1/3"}, {"epsilon": 1, "structure_share": "1/3"}),
    ("models", "delta-presence", {"most": 0.5, "least": 0.1}, {"max_presence": 0.5, "min_presence": 0.1}),
    ("models", "population-uniqueness", {"share": 0.1}, {"max_share": 0.1}),
    ("metrics", "distortion", {"published": True}, {"published_only": True}),
    ("attacks", "extreme-values", {"few": 3}, {"fewer_than": 3}),
    ("attacks", "minimality", {"crowds": 20}, {"max_groups": 20}),
]
"""What the last version's recipes say of each class, and what that is now."""

EACH = pytest.mark.parametrize(("family", "name", "old", "new"), OLD, ids=[name for _, name, _, _ in OLD])


def replaced(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    return [(before, now) for before, now in zip(old, new, strict=True) if before != now]


def said(owner: str, old: str, new: str) -> str:
    return f"{owner}: '{old}' is now called '{new}'; the old name will go with the next version."


def test_every_renamed_option_is_tested() -> None:
    renamed = {
        (family, name): dict(cls.renamed)
        for family in FAMILIES
        for name, cls in registered(family).items()
        if cls.renamed
    }
    assert renamed == {(family, name): dict(replaced(old, new)) for family, name, old, new in OLD}


@EACH
def test_old_keywords_make_the_same_and_warn(family: str, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    cls = registered(family)[name]
    with pytest.warns(FutureWarning) as caught:
        made = cls(**old)
    assert made == cls(**new)
    assert [str(warning.message) for warning in caught] == [said(cls.__name__, *pair) for pair in replaced(old, new)]
    assert replace(made) == made  # copying uses the new names


@EACH
def test_old_attributes_are_read_and_warn(family: str, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    cls = registered(family)[name]
    made = cls(**new)
    for before, now in replaced(old, new):
        with pytest.warns(FutureWarning) as caught:
            assert getattr(made, before) == getattr(made, now)
        assert str(caught[0].message) == said(cls.__name__, before, now)
    assert not {before for before, _ in replaced(old, new)} & {field.name for field in fields(cls)}


@EACH
def test_old_recipes_load_and_are_written_anew(
    family: str, name: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    with pytest.warns(FutureWarning) as caught:
        made = make_registered(family, {"name": name, **old})
    owner = f"{FAMILIES[family].one} '{name}'"
    assert [str(warning.message) for warning in caught] == [said(owner, *pair) for pair in replaced(old, new)]
    assert made == registered(family)[name](**new)
    written = made.to_recipe()
    assert new.items() <= written.items()
    assert not set(written) & {before for before, _ in replaced(old, new)}
    assert make_registered(family, {"name": name, **written}) == made


@EACH
def test_both_names_are_an_error(family: str, name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    for before, now in replaced(old, new):
        both = {**new, before: new[now]}
        with pytest.warns(FutureWarning), pytest.raises(TypeError, match=f"'{before}' is given twice"):
            registered(family)[name](**both)
        with pytest.warns(FutureWarning), pytest.raises((TypeError, RecipeError), match=f"'{before}' is given twice"):
            make_registered(family, {"name": name, **both})


def test_a_name_in_the_new_place_is_not_given_twice() -> None:
    assert with_new_names("x", {"new": 1}, {"old": "new"}) == {"new": 1}
    with pytest.raises(TypeError, match="max_withheld"):
        ic.FullDomain(0.1, max_withheld=0.2)  # type: ignore[misc]


def test_a_whole_recipe_of_the_last_version(tmp_path: Path) -> None:
    people = ic.datasets.census(300)
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "recipe.toml").write_text(
        """
incrowd = 1
seed = 1
source = { path = "people.csv" }
others = "drop"
models = [{ name = "k-anonymity", k = 3 }]
method = { name = "full-domain", limit = 0.1, highest = { sex = 0 } }
[columns]
age = "quasi"
sex = "quasi"
occupation = "sensitive"
""",
        encoding="utf-8",
    )
    with pytest.warns(FutureWarning) as caught:
        recipe = ic.Recipe.load(tmp_path / "recipe.toml")
    assert len(caught) == 2
    assert recipe.method == ic.FullDomain(max_withheld=0.1, max_levels={"sex": 0})
    release = ic.publish(recipe.table(), recipe.models, method=recipe.method, seed=recipe.seed)
    told = release.summary["method"]["parameters"]
    assert told["max_withheld"] == 0.1
    assert "limit" not in told
    release.save(tmp_path / "made")
    saved = (tmp_path / "made" / "recipe.toml").read_text(encoding="utf-8")
    assert "max_withheld = 0.1" in saved
    assert "limit" not in saved


def test_the_share_is_kept_exactly_under_its_old_name() -> None:
    with pytest.warns(FutureWarning, match="structure_share"):
        assert ic.DiffGen(1, structure=Fraction(1, 3)).structure_share == "1/3"  # type: ignore[call-arg]


def test_advice_by_its_old_limits() -> None:
    people = pl.DataFrame({"age": [20, 20, 30, 30], "ill": ["a", "b", "a", "b"]})
    table = ic.read(people, quasi=["age"], sensitive=["ill"])
    new = advise_sampling(table, rates=[1], max_distortions=[0.5, 1], require=[ic.KAnonymity(2)], seed=0)
    with pytest.warns(FutureWarning) as caught:
        old = advise_sampling(table, rates=[1], limits=[0.5, 1], require=[ic.KAnonymity(2)], seed=0)
    assert old.equals(new)
    assert [str(warning.message) for warning in caught] == [said("advise_sampling", "limits", "max_distortions")]
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="'limits' is given twice"):
        advise_sampling(table, max_distortions=[0.5], limits=[0.5])
