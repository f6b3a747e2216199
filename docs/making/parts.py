"""A page for each model, method, form, attack and metric: the registry says which there are, a text what they mean.

Texts are in docs/understand/FAMILY.toml. Everything else on a page is read off the class (parameters, cost) or made by
running it (picture, example). A part without a text is an error, and so is a text without a part.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import incrowd as ic
from docs.making import pictures
from docs.making.examples import example
from docs.making.running import Page, as_output
from incrowd.core.describing import described
from incrowd.core.families import registered

TEXTS = Path(__file__).parents[1] / "understand"
FAMILIES = {
    "models": ("Models", "What *safe* means. A release satisfies every model that you require, or is not made."),
    "methods": ("Methods", "How to get there: who hides together, or what is counted with noise."),
    "forms": ("Forms", "How a crowd is shown."),
    "attacks": ("Attacks", "What an adversary tries. An audit tries all that can be tried on a release."),
    "metrics": ("Metrics", "What a release is still good for, as a number with a direction."),
    "set_models": ("Models of sets", "What *safe* means where people have sets of items."),
    "set_methods": ("Methods for sets", "How sets of items are made safe."),
}
_ONE = {
    "models": "Model", "methods": "Method", "forms": "Form", "attacks": "Attack", "metrics": "Metric",
    "set_models": "Model of sets", "set_methods": "Method for sets",
}  # fmt: skip
NEEDED = ("idea", "formula", "where", "limits", "paper")
_COST = re.compile(r"Cost(?: per round)?: (.+?)(?:\n\n|$)", flags=re.DOTALL)


_TITLES = {
    "alpha-k-anonymity": "(α,k)-anonymity", "ke-anonymity": "(k,e)-anonymity", "km-anonymity": "kᵐ-anonymity",
    "lkc-privacy": "LKC-privacy", "delta-disclosure": "δ-disclosure privacy", "delta-presence": "δ-presence",
    "full-k-anonymity": "Full k-anonymity", "bayes-optimal-privacy": "Bayes-optimal privacy", "sdgs": "SDGS",
    "diffgen": "DiffGen", "consistent-diffgen": "Consistent DiffGen", "k-dgs": "k-DGS", "definetti": "deFinetti",
    "infogain-mondrian": "InfoGain Mondrian", "gcp": "Global certainty penalty (GCP)", "loss": "Iyengar's loss",
    "kl-divergence": "KL divergence", "basic-beta-likeness": "Basic β-likeness", "marginals": "Marginal synthesis",
    "enhanced-beta-likeness": "Enhanced β-likeness", "adaptive": "Adaptive synthesis", "k-marginal": "k-marginal score",
}  # fmt: skip
"""Names whose spelling says more than words and dashes."""


class MissingText(Exception):
    """A part has no text for its page, or a text has no part."""


def members(family: str) -> Mapping[str, Any]:
    """Return the parts of a family that are incrowd's own: plugins have pages of their own."""
    return {name: cls for name, cls in registered(family).items() if cls.__module__.startswith("incrowd.")}


@cache
def texts(family: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of a family by part; refuse any that is missing, incomplete or of no part."""
    found = tomllib.loads((TEXTS / f"{family}.toml").read_text(encoding="utf-8"))
    known = members(family)
    if set(found) != set(known):
        lacking, unknown = sorted(set(known) - set(found)), sorted(set(found) - set(known))
        raise MissingText(
            f"docs/understand/{family}.toml lacks {lacking}, and speaks of {unknown}, which is not there."
        )
    for name, text in found.items():
        lacks = [key for key in NEEDED if not text.get(key)]
        if lacks or not cost(known[name], text):
            raise MissingText(f"docs/understand/{family}.toml, {name}: {', '.join(lacks) or 'cost'} is missing.")
    return found


def cost(cls: Any, text: Mapping[str, Any]) -> str:
    """Return what a part costs: as its text says, or its module's docstring."""
    told = _COST.search(inspect.cleandoc(sys.modules[cls.__module__].__doc__ or ""))
    found = str(text.get("cost") or (" ".join(told.group(1).split()) if told else ""))
    return found[:1].upper() + found[1:]


def pages(place: Path) -> Iterator[tuple[str, str]]:
    """Yield every page of Understand as its path and text; examples run in `place`."""
    for family in FAMILIES:
        for name, cls in members(family).items():
            yield f"understand/{family}/{name}.md", page(family, name, cls, place)
        yield f"understand/{family}/index.md", _index(family)


def _index(family: str) -> str:
    title, about = FAMILIES[family]
    lines = [f"# {title}", "", about, "", "| | in plain words |", "|---|---|"]
    for name, cls in members(family).items():
        told = described(cls)
        lines.append(f"| [{name}]({name}.md) | {told['plain_name'] or told['about']} |")
    first, cls = next(iter(members(family).items()))
    lines += [
        "",
        f"Each has a page with a picture and an example. This is the picture of [{title_of(cls)}]({first}.md):",
        "",
    ]
    lines += ["```{raw} html", picture(family, first, texts(family)[first]), "```", ""]
    lines += ["```{toctree}", ":hidden:", "", *members(family), "```", ""]
    return "\n".join(lines)


def page(family: str, name: str, cls: Any, place: Path) -> str:
    """Return the page of one part."""
    text, told = texts(family)[name], described(cls)
    plain = f", {told['plain_name']}" if told["plain_name"] else ""
    code = example(family, name, text)
    printed = Page(f"{family}/{name}", place).python(code)
    lines = [
        f"# {title_of(cls)}", "",
f'<p class="part-name">{_ONE[family]}: {name}{plain}</p>', "",
        text["idea"], "",
        "```{math}", text["formula"], "```", "",
        text["where"], "",
        "```{raw} html", picture(family, name, text), "```", "",
        "## Example", "", f"```python\n{code}```\n{as_output(printed)}", "",
        "## What it does not protect" if family not in ("metrics", "attacks") else "## What it does not see", "",
        text["limits"], "",
    ]  # fmt: skip
    if "remedy" in text:
        lines += [f"What helps against it: {text['remedy']}.", ""]
    lines += ["## Parameters", "", *parameters(told), ""]
    lines += ["## Cost", "", cost(cls, text), "", "## Paper", "", text["paper"], ""]
    key = {"models": "[[models]]", "set_models": "[[models]]", "methods": "[method]", "forms": "[form]"}.get(family)
    if key:
        lines += [f'In a recipe, it is `name = "{name}"` in `{key}`.', ""]
    lines += [
        f"In Python, it is `incrowd.{cls.__name__}`; see the [reference](../../reference/{family}.md#{cls.__name__.lower()}).",
        "",
    ]
    return "\n".join(lines)


def title_of(cls: Any) -> str:
    """Return a part's name as a title.

    >>> title_of(ic.DiffGen), title_of(ic.KAnonymity), title_of(ic.EntropyLDiversity), title_of(ic.MInvariance)
    ('DiffGen', 'k-anonymity', 'Entropy ℓ-diversity', 'm-invariance')
    """
    name = str(cls.name)
    if name in _TITLES:
        return _TITLES[name]
    if name.startswith(("k-", "t-", "m-")):
        return name
    name = name.replace("-l-diversity", " ℓ-diversity").replace("beta-", "β-")
    return (name[0].upper() + name[1:]) if "ℓ" in name or "β" in name else name.replace("-", " ").capitalize()


def parameters(told: Mapping[str, Any]) -> list[str]:
    """Return a part's parameters, one a line."""
    found = [f"`{one['name']}`\n: {one['about'] or 'see its page.'}\n" for one in told["parameters"]]
    return found or ["It has none."]


def picture(family: str, name: str, text: Mapping[str, Any]) -> str:
    """Return the picture of a part, made by running it."""
    if family == "models":
        return pictures.of_model(_made(text["drawn"]))
    if family == "methods":
        if name == "scheme":
            return pictures.of_scheme()
        return pictures.of_method(
            _made(text["make"]), _made(text.get("require", "ic.KAnonymity(10)")), text.get("sample", 1)
        )
    if family == "forms":
        return pictures.of_form(_made(text["make"]))
    if family == "attacks":
        return pictures.of_attack(name)
    if family == "metrics":
        return pictures.of_metric(_made(text.get("example_metric") or f"ic.{members(family)[name].__name__}()"))
    require, items = ("ic.KmAnonymity(5, 2)", text["make"]) if family == "set_methods" else (text["make"], "None")
    return pictures.of_sets(_made(require), _made(items), sensitive=bool(text.get("sensitive")))


def _made(code: str) -> Any:
    return eval(code, {"ic": ic})
