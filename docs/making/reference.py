"""The reference, read off the code: every public name, recipe key, command and error, with parameters one a line."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import incrowd as ic
from docs.making.parts import FAMILIES, members
from docs.making.running import Page, as_output

_SECTION = re.compile(r"^(\w+(?:, \*{0,2}\w+)*) : (.*)$")
OTHER_FAMILIES = {
    "hierarchies": ("Hierarchies", "How a value becomes less specific, level by level."),
    "dates": ("Treatments of dates", "What becomes of the dates of a column."),
    "changes": ("Changes", "What becomes of a sensitive or kept column before it is published."),
}

MADE_BY_READERS = ("PrivateTable",)
"""Objects that you make yourself; all others are what functions return."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield every page of the reference as its path and text."""
    shown: set[str] = set()
    for family, (title, about) in {**FAMILIES, **OTHER_FAMILIES}.items():
        parts = [cls for cls in members(family).values() if cls.__name__ in ic.__all__]
        shown |= {cls.__name__ for cls in parts}
        yield f"reference/{family}.md", _family(family, title, about, parts)
    rest = [name for name in ic.__all__ if name not in shown]
    functions = [name for name in rest if inspect.isfunction(getattr(ic, name))]
    modules = [name for name in rest if inspect.ismodule(getattr(ic, name))]
    objects = [name for name in rest if name not in functions and name not in modules]
    yield "reference/functions.md", _names("Functions", "What you call.", functions)
    yield "reference/objects.md", _names("Objects", "What functions take and return.", objects)
    yield "reference/datasets.md", _datasets()
    yield "reference/errors.md", _errors()
    yield "reference/commands.md", _commands()
    yield "reference/recipe.md", _recipe()
    yield "reference/sources.md", _sources()


def _family(family: str, title: str, about: str, parts: list[Any]) -> str:
    lines = [f"# {title}", "", about, ""]
    for cls in parts:
        lines += [f"## {cls.__name__}", "", f'`name = "{cls.name}"` in recipes and commands.', ""]
        if family in FAMILIES:
            lines += [
                f"Explained, with a picture and an example: [{cls.name}](../understand/{family}/{cls.name}.md).",
                "",
            ]
        lines += [_signature(cls.__name__, cls), *documented(inspect.getdoc(cls) or ""), ""]
    return "\n".join(lines)


def _names(title: str, about: str, names: list[str]) -> str:
    lines = [f"# {title}", "", about, ""]
    for name in names:
        found = getattr(ic, name)
        lines += [f"## {name}", ""]
        if inspect.isclass(found):
            lines += [_signature(name, found)] if name in MADE_BY_READERS else []
            lines += [*documented(inspect.getdoc(found) or ""), ""]
            lines += _members_of(name, found)
        else:
            lines += [_signature(name, found), *documented(inspect.getdoc(found) or ""), ""]
    return "\n".join(lines)


def _members_of(name: str, cls: Any) -> list[str]:
    """Return what an object has: its methods with their parameters, its properties and fields."""
    lines: list[str] = []
    for attribute, found in sorted(inspect.getmembers(cls)):
        raw = inspect.getattr_static(cls, attribute)
        if attribute.startswith("_") or not _ours(raw):
            continue
        function = getattr(raw, "__func__", raw)
        if inspect.isfunction(function):
            lines += [
                f"### {name}.{attribute}",
                "",
                _signature(f"{name}.{attribute}", function),
                *documented(inspect.getdoc(found) or ""),
                "",
            ]
        elif isinstance(raw, property) or type(raw).__name__ == "cached_property":
            told = " ".join((inspect.getdoc(raw.fget if isinstance(raw, property) else raw.func) or "").split())
            lines += [f"### {name}.{attribute}", "", _escaped(told), ""]
    return lines


def _ours(raw: Any) -> bool:
    """Whether a member is written for this package, and says what it is."""
    function = getattr(raw, "__func__", None) or getattr(raw, "fget", None) or getattr(raw, "func", None) or raw
    return (getattr(function, "__module__", "") or "").startswith("incrowd.") and bool(inspect.getdoc(function))


def _signature(name: str, found: Any) -> str:
    """Return how it is called, one parameter a line."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return ""
    given = []
    keyword = False
    for one in signature.parameters.values():
        if one.name in ("self", "cls", "progress"):
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword:
            given.append("    *,")
            keyword = True
        star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is inspect.Parameter.empty else f" = {_default(one.default)}"
        given.append(f"    {star}{one.name}{default},")
    inner = "\n".join(given)
    called = f"{name}(\n{inner}\n)" if given else f"{name}()"
    return f"```{{code-block}} python\n{called}\n```\n"


def _default(value: Any) -> str:
    text = repr(value)
    return "..." if "<" in text else text


def documented(text: str) -> list[str]:
    """Return a docstring as Markdown: parameters as a list of definitions, examples as blocks."""
    lines: list[str] = []
    within: str | None = None
    for line in text.splitlines():
        stated = _SECTION.match(line)
        if line.startswith(">>>") or (within == "code" and line.strip()):
            if within != "code":
                lines += ["", "```{code-block} pycon"]
            within = "code"
            lines.append(line)
            continue
        if within == "code":
            lines += ["```", ""]
            within = None
        if line.strip() in ("Parameters", "----------"):
            continue
        if stated:
            names = ", ".join(f"`{name.strip()}`" for name in stated.group(1).split(","))
            lines += ["", names, f": {_escaped(stated.group(2))}"]
            within = "parameter"
        elif within == "parameter" and line.startswith("    "):
            lines.append(f"  {_escaped(line.strip())}")
        elif line.startswith("    "):
            lines.append(line)
        else:
            within = None
            lines.append(_escaped(line))
    if within == "code":
        lines.append("```")
    return lines


def _escaped(text: str) -> str:
    """Return a docstring's line as Markdown shows it: stars, dollars and brackets outside of code are themselves."""
    parts = text.split("`")
    return "`".join(part if place % 2 else re.sub(r"([*$<\[\]|^])", r"\\\1", part) for place, part in enumerate(parts))


def _datasets() -> str:
    lines = ["# Tables to try things on", "", "All are made up. `incrowd.datasets` has:", ""]
    for name in sorted(dir(ic.datasets)):
        found = getattr(ic.datasets, name)
        if inspect.isfunction(found) and not name.startswith("_"):
            lines += [
                f"## {name}",
                "",
                _signature(f"datasets.{name}", found),
                *documented(inspect.getdoc(found) or ""),
                "",
            ]
    return "\n".join(lines)


def _errors() -> str:
    from incrowd.cli import app
    from incrowd.errors import IncrowdError

    lines = ["# Errors and warnings", "", "```text", *_tree(ic.errors.__doc__ or ""), "```", ""]
    found = [
        cls for name, cls in vars(ic.errors).items()
        if inspect.isclass(cls) and issubclass(cls, (Exception, Warning)) and cls.__module__ == "incrowd.errors"
    ]  # fmt: skip
    for cls in found:
        bases = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
        told = " ".join((inspect.getdoc(cls) or "").split())
        lines += [f"## {cls.__name__}", "", _escaped(told), "", f"It is a kind of {bases}."]
        if issubclass(cls, IncrowdError):
            code = app.exit_code(cls.__new__(cls))
            lines += [f"On the command line, it ends in exit code {code}."]
        lines.append("")
    return "\n".join(lines)


def _tree(text: str) -> list[str]:
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


def _commands() -> str:
    import typer

    from incrowd.cli.app import _EPILOG, app

    root = typer.main.get_command(app)
    lines = ["# Commands", "", _EPILOG, ""]
    for name, command in root.commands.items():
        lines += _command(f"incrowd {name}", command, "##")
    return "\n".join(lines)


def _command(path: str, command: Any, mark: str) -> list[str]:
    lines = [f"{mark} {path}", "", _escaped(" ".join((command.help or "").split("\f")[0].split())), ""]
    if not getattr(command, "commands", {}):
        given = [(one.metavar or one.name).upper() for one in command.params if one.param_type_name == "argument"]
        lines += ["```text", " ".join([path, *given, "[OPTIONS]"]), "```", ""]
    for inner, found in getattr(command, "commands", {}).items():
        lines += _command(f"{path} {inner}", found, mark + "#")
    for given in command.params:
        if given.name == "help" or getattr(given, "hidden", False):
            continue
        if given.param_type_name == "argument":
            names = f"`{(given.metavar or given.name).upper()}`"
            told = getattr(given, "help", None) or ""
        else:
            names = ", ".join(f"`{text}`" for text in (*given.opts, *given.secondary_opts))
            told = given.help or ""
        default = given.default
        shown = (
            default is not None
            and default is not False
            and not callable(default)
            and default != ()
            and "sentinel" not in repr(default).lower()
        )
        more = f" Default: `{default}`." if shown else ""
        lines += [names, f": {_escaped(' '.join(told.split()))}{more}", ""]
    return lines


def _recipe() -> str:
    """Return every key that a recipe may have; one without a text is an error."""
    from docs.making.recipe_keys import KEYS, OUTPUT, SOURCE
    from incrowd.publishing import recipe_format
    from incrowd.studio.catalogue import catalogue

    for told, known, where in (
        (KEYS, recipe_format._KEYS, "a recipe"), (SOURCE, recipe_format._SOURCE_KEYS, "[source]"),
        (OUTPUT, recipe_format._OUTPUT_KEYS, "[output]"),
    ):  # fmt: skip
        if set(told) != set(known):
            raise KeyError(
                f"docs/making/recipe_keys.py: {where} has the keys {sorted(set(told) ^ set(known))} in one place only."
            )
    found = catalogue()
    lines = [
        "# Recipe", "",
        "A recipe is a TOML file that says how a release is made. It begins with `incrowd = 1`. Paths are relative to it.", "",
        "```toml", _RECIPE, "```", "", "## The whole recipe", "", *_defined(KEYS), "## [source]", "",
        "`[population]` and `[tables.NAME]` have the same keys.", "", *_defined(SOURCE), "## [output]", "", *_defined(OUTPUT),
        "## [columns.NAME]", "",
        *_defined({
            "role": "what the column is; see below.",
            "hierarchy": "how its values become less specific: `kind`, one of [the hierarchies](hierarchies.md), and its parameters.",
            "date": "what becomes of its dates: `kind`, one of [the treatments](dates.md), and its parameters.",
            "change": "what becomes of its values before they are published: `kind`, one of [the changes](changes.md), or a list of them.",
            "show": "what is published in place of labels; see below.",
        }),
        "## Roles", "", *_defined({role["name"]: f"{role['plain_name']}: {role['about']}." for role in found["roles"]}),
        "## What numbers show", "", *_defined({show["name"]: f"{show['about']}." for show in found["shows"]}),
    ]  # fmt: skip
    for family, where in (
        ("models", "[[models]]"),
        ("set_models", "[[models]], for sets"),
        ("methods", "[method]"),
        ("set_methods", "[items]"),
        ("forms", "[form]"),
        ("hierarchies", "hierarchy"),
        ("dates", "date"),
        ("changes", "change"),
    ):
        lines += [f"## {where}", "", "| name | keys |", "|---|---|"]
        for cls in members(family).values():
            keys = ", ".join(f"`{key}`" + (" (needed)" if needed else "") for key, needed in cls.recipe_keys().items())
            link = (
                f"[{cls.name}]({family}.md#{cls.__name__.lower()})" if cls.__name__ in ic.__all__ else f"`{cls.name}`"
            )
            lines.append(f"| {link} | {keys} |")
        lines.append("")
    return "\n".join(lines)


_RECIPE = """incrowd = 1

[source]
path = "patients.csv"

[[models]]
name = "k-anonymity"
k = 5

[method]
name = "mondrian"

[columns]
name = { role = "identifier" }
diagnosis = { role = "sensitive" }
age = { role = "quasi", hierarchy = { kind = "intervals", widths = [5, 10, 20] } }"""


def _defined(texts: dict[str, str]) -> list[str]:
    lines: list[str] = []
    for name, told in texts.items():
        lines += [f"`{name}`", f": {told}", ""]
    return lines


_FROM_AND_TO = """\
import incrowd as ic

ic.datasets.census(500, seed=1).write_parquet("people.parquet")
table = ic.read("people.parquet", quasi=["age", "sex"], sensitive=["occupation"], others="drop")
release = ic.publish(table, ic.KAnonymity(5))
print(release.save("people-release", format="csv").name)
"""


def _sources() -> str:
    from incrowd.core.families import registered

    with tempfile.TemporaryDirectory(prefix="incrowd-docs-") as place:
        printed = Page("reference/sources", Path(place)).python(_FROM_AND_TO)
    lines = ["# Sources, sinks and engines", "", "Where tables come from, where releases go, and where rows live.", ""]
    lines += [f"```python\n{_FROM_AND_TO}```\n{as_output(printed)}", ""]
    for family, title in (("sources", "Sources"), ("sinks", "Sinks"), ("engines", "Engines")):
        lines += [f"## {title}", "", "| name | is |", "|---|---|"]
        for name, cls in registered(family).items():
            if cls.__module__.startswith("incrowd."):
                lines.append(f"| `{name}` | {_escaped((inspect.getdoc(cls) or '').splitlines()[0])} |")
        lines.append("")
    return "\n".join(lines)
