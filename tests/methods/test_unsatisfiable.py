"""What cannot be had is `Unsatisfiable`, whoever asked which method for it: no built-in part blames another."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.families import make_registered
from incrowd.errors import ConformanceError, IncrowdError, Unsatisfiable
from tests.odd_values import GOOD, good_parts

STRICT: dict[str, dict[str, Any]] = {
    "alpha-k-anonymity": {"alpha": 0.4, "k": 3},
    "basic-beta-likeness": {"beta": 0.5},
    "bayes-optimal-privacy": {"tau": 0.2},
    "confidence-bounds": {"bounds": {"flu": 0.4, "gout": 0.3}},
    "delta-disclosure": {"delta": 1.0},
    "enhanced-beta-likeness": {"beta": 0.5},
    "individual-risk": {"risk": 0.3},
    "journalist-risk": {"risk": 0.3},
    "k-map": {"k": 4},
    "recursive-l-diversity": {"c": 1.0, "l": 2},
    "t-closeness": {"t": 0.15},
}
METHODS = [(kind, given) for kind, given in good_parts("methods") if not kind.private]


def people(dice: random.Random) -> pl.DataFrame:
    """Return a small table; one in three people has the flu."""
    rows = dice.choice((4, 9, 20))
    return pl.DataFrame(
        {
            "age": [dice.randint(18, 40) for _ in range(rows)],
            "sex": [dice.choice("FM") for _ in range(rows)],
            "zip": [f"{dice.randint(100, 104):05}" for _ in range(rows)],
            "ill": [dice.choice(("flu", "flu", "cold", "cold", "gout", "ague")) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize(("kind", "given"), METHODS, ids=lambda value: getattr(value, "name", ""))
def test_no_method_breaks_its_promise(kind: Any, given: dict[str, Any]) -> None:
    dice = random.Random(kind.name)
    method = make_registered("methods", {"name": kind.name, **given})
    forms = [None, None, *(make_registered("forms", {"name": one.name, **how}) for one, how in good_parts("forms"))]
    for model, keys in good_parts("models"):
        asked = dice.choice((keys, STRICT.get(model.name, keys)))
        require, form = make_registered("models", {"name": model.name, **asked}), dice.choice(forms)
        frame, rate = people(dice), dice.choice((Fraction(1), Fraction(1), Fraction(2, 3)))
        quasi = dice.sample(["age", "sex", "zip"], 2)
        table = ic.read(frame, quasi=quasi, sensitive=["ill"], others="drop", population=frame)
        try:
            ic.publish(table, require, method=method, form=form, sample=rate, seed=dice.randrange(1000))
        except ConformanceError as error:
            pytest.fail(f"{method} with {require} as {form}: {error}")
        except IncrowdError:
            continue


@pytest.mark.parametrize("method", [ic.Anatomy(), ic.Slicing(sensitive_group_size=0)], ids=lambda method: method.name)
@pytest.mark.parametrize("model", [ic.TCloseness(0.05), ic.BasicBetaLikeness(0.1), ic.DeltaDisclosure(0.1)], ids=str)
def test_buckets_that_are_dealt_for_something_else(method: Any, model: Any) -> None:
    table = ic.read(people(random.Random(3)), quasi=["age", "sex", "zip"], sensitive=["ill"])
    with pytest.raises(Unsatisfiable, match=rf"{method.name} deals .* do not satisfy .*reaches .*Hint: "):
        ic.publish(table, [ic.LDiversity(2), model], method=method, seed=1)


def test_another_form_than_the_method_judged() -> None:
    table = ic.read(people(random.Random(3)), quasi=["age", "sex", "zip"], sensitive=["ill"])
    models = [ic.RecursiveLDiversity(0.5, 1), ic.KAnonymity(2)]
    with pytest.raises(Unsatisfiable, match="anatomy"):
        ic.publish(table, models, method=ic.Anatomy(), form=ic.ShowGeneralized(), seed=1)


def test_the_sweep_judges_the_labels_that_it_shows() -> None:
    frame = pl.DataFrame({"age": [20, 21, 40, 41], "ill": ["flu", "cold", "flu", "cold"]})
    population = pl.DataFrame({"age": [20, 21, *range(30, 60)], "ill": ["flu"] * 32})
    table = ic.read(
        frame, quasi=["age"], sensitive=["ill"], population=population, hierarchies={"age": ic.Intervals(widths=(30,))}
    )
    release = ic.publish(table, ic.KMap(4), method=ic.LevelSweep(), seed=1)
    assert release.guarantees[0].achieved >= 4


def test_every_part_that_needs_parameters_has_some() -> None:
    families = ("models", "methods", "dates", "set_models")
    assert {kind.name for family in families for kind, _ in good_parts(family)} >= set(GOOD)
