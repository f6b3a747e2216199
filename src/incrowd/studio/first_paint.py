"""What is seen before any script runs: what is open, the steps, and the recipe.

The page's own elements (`studio-…`) draw the same, and more, once they are defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.report.html import Child, Raw, element, joined

STEPS = {
    "open": "Open",
    "roles": "Roles",
    "hierarchies": "Hierarchies",
    "try": "Try",
    "compare": "Compare",
    "attack": "Attack",
    "publish": "Publish",
}


def first_paint(state: Mapping[str, Any]) -> str:
    """Return the body of the page for a state as `GET /api/state` has it."""
    project = state["current"]
    now = state["screen"] if state["screen"] in STEPS else "open"
    return joined(
        [
            element("a", "Skip to the work", class_="skip", href="#main"),
            element("studio-top", _top(state["name"], project)),
            element("studio-steps", _steps(project, now, state.get("room", ""))),
            element(
                "div",
                element(
                    "main",
                    element("studio-notices"),
                    element("studio-screen", element("h1", STEPS[now]), element("p", "Loading …", class_="lead")),
                    element("noscript", element("p", "The studio needs JavaScript. It is all from this computer.")),
                    id="main",
                    tabindex="-1",
                ),
                element("aside", element("studio-recipe", _recipe(project)), aria_label="Recipe"),
                class_="page",
            ),
        ]
    )


def _top(name: str, project: Mapping[str, Any] | None) -> Raw:
    return element(
        "header",
        element("span", name, class_="brand"),
        element("span", project["name"] if project else "No table is open", class_="project"),
        class_="top",
    )


def _steps(project: Mapping[str, Any] | None, now: str, room: str) -> Raw:
    place = list(STEPS).index(now)
    items: list[Child] = []
    for number, (name, title) in enumerate(STEPS.items()):
        link = element(
            "a",
            element("span", "✓" if number < place else str(number + 1), class_="dot", aria_hidden="true"),
            element("span", title, class_="name"),
            href=f"{room}/project/{project['id']}/{name}" if project else f"{room}/",
            class_="done" if number < place else None,
            aria_current="step" if name == now else None,
        )
        items.append(element("li", link))
    return element("nav", element("ol", *items), class_="steps", aria_label="Steps")


def _recipe(project: Mapping[str, Any] | None) -> Raw:
    text = project.get("text") if project else None
    if text is None:
        said = element("p", "Your choices stand here, as a file, once a table is open.", class_="faint")
    else:
        said = element("pre", text["toml"], id="recipe-text")
    return element("section", element("h2", "Recipe"), said, class_="recipe")
