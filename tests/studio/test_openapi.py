"""What is documented is what is answered."""

from __future__ import annotations

import re
from typing import Any

from tests.studio.running import Browser


def test_every_route_is_documented(browser: Browser) -> None:
    from incrowd.studio.routes import application, endpoints
    from incrowd.studio.studio import Studio

    told = browser.get("/openapi.json").json
    documented = {(path, method.upper()) for path, methods in told["paths"].items() for method in methods}
    routes = application(Studio([], store=None)).routes
    answered = {
        (re.sub(r":\w+}", "}", route.path), method) for route in routes for method in route.methods if method != "HEAD"
    }
    assert documented == answered
    assert len(answered) == len(endpoints())
    for methods in told["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert operation["responses"]


def test_parameters_of_paths_are_documented(browser: Browser) -> None:
    for path, methods in browser.get("/openapi.json").json["paths"].items():
        for operation in methods.values():
            told = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
            assert told == set(re.findall(r"{(\w+)}", path))


def test_the_catalogue_is_the_registry(browser: Browser) -> None:
    from incrowd.common.registry import members
    from incrowd.core.families import registered
    from incrowd.planning.rules import RULES
    from incrowd.publishing.recipe import Recipe
    from incrowd.publishing.recipe_format import ROLES

    found: dict[str, Any] = browser.get("/api/catalogue").json
    for family in ("models", "methods", "forms", "hierarchies", "dates", "changes", "attacks", "sinks"):
        assert [part["name"] for part in found[family]] == list(registered(family))
        for part in found[family]:
            assert part["about"]
            keys = registered(family)[part["name"]].recipe_keys()
            assert {one["name"]: one["needed"] for one in part["parameters"]} == dict(keys)
    assert [role["name"] for role in found["roles"]] == list(ROLES)
    assert [rule["name"] for rule in found["rules"]] == list(members(RULES))
    assert [kind["name"] for kind in found["methods"] if kind["usual"]] == [Recipe({}, {}, {}, ()).method.name]
    # Each single value of a recipe is one that a recipe takes, and means what it means there.
    start = {"incrowd": 1, "source": {"path": "x.csv"}, "models": [{"name": "k-anonymity", "k": 2}], "columns": {}}
    tried = {"sample": 0.5, "seed": 3, "show": "mean", "if_unsafe": "withhold", "effort": 2, "seconds": 1.5}
    assert {one["name"] for one in found["recipe"]} == set(tried)
    for one in found["recipe"]:
        made = Recipe.from_dict({**start, one["name"]: tried[one["name"]]})
        assert vars(made)[one["name"]] in (tried[one["name"]], {"*": tried[one["name"]]})
        for choice in one["choices"] or ():
            Recipe.from_dict({**start, one["name"]: choice})
