"""All kinds of parts that a release is made, attacked and measured with, and where each kind's members are found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.changes.change import Change
from incrowd.common.registry import Family, Members, members
from incrowd.common.renaming import with_new_names
from incrowd.core.attack import Attack
from incrowd.core.engine import Engine
from incrowd.core.form import Form
from incrowd.core.method import AnyMethod, Method
from incrowd.core.metric import Metric
from incrowd.core.model import Model
from incrowd.core.recoding import Showing
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.sink import Sink
from incrowd.core.source import Source
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import RecipeError, did_you_mean
from incrowd.hierarchies.hierarchy import Hierarchy

FAMILIES = {
    family.name: family
    for family in (
        Family("models", "incrowd.models", Model, "model"),
        Family("methods", "incrowd.methods", AnyMethod, "method", base=Method),
        Family("forms", "incrowd.forms", Showing, "form", beside=(Form,)),
        Family("metrics", "incrowd.metrics", Metric, "metric"),
        Family("attacks", "incrowd.attacks", Attack, "attack"),
        Family("hierarchies", "incrowd.hierarchies", Hierarchy, "hierarchy"),
        Family("dates", "incrowd.dates", DateTreatment, "treatment"),
        Family("changes", "incrowd.changes", Change, "change"),
        Family("sources", "incrowd.sources", Source, "source"),
        Family("sinks", "incrowd.publishing.sinks", Sink, "sink"),
        Family("engines", "incrowd.engines", Engine, "engine"),
        Family("set_models", "incrowd.models.sets", SetModel, "model of sets"),
        Family("set_methods", "incrowd.methods.sets", SetMethod, "method for sets"),
    )
}
_PUBLISHED_FORMS = Family("forms", "incrowd.forms", Form, "form", beside=(Showing,))


def registered(family: str) -> Members:
    """Return the classes of a family by name, with plugins.

    Families are `models`, `methods`, `forms`, `metrics`, `attacks`, `hierarchies`, `dates`, `changes`, `sources`,
    `sinks` and `engines`.

    >>> registered("models")["k-anonymity"](5)
    KAnonymity(k=5)
    """
    return members(FAMILIES[family])


def published_forms() -> Mapping[str, type[Form]]:
    """Return the forms that releases are published in, by the name that their summary gives."""
    return members(_PUBLISHED_FORMS)


def make_registered(family: str, described: Any, *, key: str = "name", base: Path | None = None) -> Any:
    """Build a registered object from what a recipe says: its name, or a table with its name and parameters."""
    noun = FAMILIES[family].one
    if not isinstance(described, (str, Mapping)):
        raise RecipeError(f"[{noun}] is a table, not {type(described).__name__}.")
    given: dict[str, Any] = {key: described} if isinstance(described, str) else dict(described)
    name = given.pop(key, None)
    known = registered(family)
    if not isinstance(name, str) or name not in known:
        said = f"without a {key}" if name is None else f"called {name!r}"
        raise RecipeError(f"there is no {noun} {said}.{did_you_mean(str(name), known)}")
    cls = known[name]
    try:
        given = with_new_names(f"{noun} '{name}'", given, cls.renamed)
    except TypeError as error:
        raise RecipeError(f"{error}") from None
    keys = cls.recipe_keys()
    for unknown in (parameter for parameter in given if parameter not in keys):
        raise RecipeError(f"{noun} '{name}' has no '{unknown}'.{did_you_mean(unknown, keys)}")
    lacking = [parameter for parameter, needed in keys.items() if needed and parameter not in given]
    if lacking:
        raise RecipeError(f"{noun} '{name}' needs {' and '.join(lacking)}.")
    try:
        return cls.from_recipe(given, base or Path())
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise RecipeError(f"{noun} '{name}': a parameter is of the wrong kind ({error}).") from error
    except pl.exceptions.PolarsError as error:
        raise RecipeError(f"{noun} '{name}': a parameter is of the wrong kind ({type(error).__name__}).") from error


def require_member(family: str, made: object) -> None:
    """Refuse an object that does not inherit from its family's protocol, and so lacks what is declared there."""
    protocol = FAMILIES[family].protocol
    if protocol not in type(made).__mro__:
        base = FAMILIES[family].base or protocol
        raise RecipeError(
            f"{type(made).__name__} is no {FAMILIES[family].one}.  Hint: let its class inherit from "
            f"{base.__module__}.{base.__name__}, which declares what one can do, with defaults."
        )
