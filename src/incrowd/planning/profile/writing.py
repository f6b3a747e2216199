"""A profile as a recipe that can be edited and run: TOML with a reason above every column.

No comment quotes a value of the table, and no name, whatever it holds, can end a comment's line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import tomli_w

from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.notes import PROPOSED_K
from incrowd.planning.profile.number_levels import reason_of
from incrowd.planning.profile.plan import Asked, Plan, PlannedColumn
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.profile.readable import count, listed, plain, share
from incrowd.publishing.recipe_format import VERSION, hierarchy_to_dict

if TYPE_CHECKING:
    from incrowd.planning.rules.rule import Rule

MOST_ALIKE = 0.9
"""Where one value fills more of a column, two values in every group would cost much detail: it is left to the user."""
_LINE = 110
_METHOD = '''# Mondrian makes small groups of people who are alike. Labels of the hierarchies below are round, and the
# same for everybody; labels = "region" keeps more detail, and tells an attacker more.
[method]
name = "mondrian"
labels = "hierarchy"'''
_PLAIN_DIALECT = {"separator": ",", "quote": '"', "encoding": "utf-8"}
_SQLITE = "sqlite:///"
_ROLES = (
    ("quasi", "outsiders may know it: it is generalized along its hierarchy"),
    ("sensitive", "nobody should learn it: it is published, in diverse groups"),
    ("person", "it tells whose a row is, where somebody has several rows: guarantees count people"),
    ("household", "it tells who lives together: k-anonymity counts households, too"),
    ("identifier", "it points at one person: it is not published"),
    ("pseudonym", "an identifier that is published under a code"),
    ("date", "dates that are published after a treatment, outside of every guarantee"),
    ("weight", "a survey's weight: it is published rounded, and used by counts and risks of a population"),
    ("drop", "it is not published"),
    ("keep", "it is published as it is, outside of every guarantee"),
)


def recipe_text(profile: Profile, *, recipe_path: str | Path, rule: Rule | None = None) -> str:
    """Return the recipe for a profiled table, to be written to `recipe_path`; paths in it are relative to that.

    It asks for what a `rule` asks for, or for what looks reasonable.
    """
    recipe_path = Path(recipe_path)
    source = _source(profile.source, recipe_path.parent)
    output = _table("output", {"directory": f"{_stem(recipe_path)}-release"})
    about = "\n".join(_about_columns())
    if rule is None:
        columns = [_column(column, profile.rows) for column in profile.columns]
        sections = [_head(profile), source, _models(profile), _METHOD, output, about, *columns]
    else:
        plan = rule.plan(profile)
        columns = [_planned_column(planned, profile.rows) for planned in plan.columns]
        models = [_asked("[models]", asked) for asked in plan.models]
        sections = [_rule_head(profile, plan), source, *models, _asked("method", plan.method), output, about, *columns]
    return "\n\n".join(sections) + "\n"


def _head(profile: Profile) -> str:
    lines = [f"A proposal for {count(profile.rows, 'row')}, made by looking at the table. Read it, edit it, run it."]
    if profile.quasi is not None:
        unique = share(profile.quasi.unique_rows, profile.quasi.rows)
        lines.append(f"On the proposed quasi-identifiers together, {unique} of the rows are unique.")
    lines += profile.trial
    lines += [f"Note: {note}" for note in profile.notes]
    return "\n".join([*map(_comment, lines), f"incrowd = {VERSION}", *_each_row(profile)])


def _rule_head(profile: Profile, plan: Plan) -> str:
    """Say what the rule does not establish before anything else."""
    lines = [
        f"{plan.title}: a recipe for {count(profile.rows, 'row')}, made by looking at the table. Read it, edit it, "
        "run it.",
        "What it does NOT establish:",
        *(f"- {text}" for text in plan.not_established),
        "Questions that a person has to answer:",
        *(f"- {text}" for text in plan.questions),
        *profile.trial,
        *(f"Note: {note}" for note in profile.notes),
    ]
    sample = [] if plan.sample is None else [_comment(plan.sample.why), *_entries(plan.sample.entries)]
    told = any(planned.role.startswith("person") for planned in plan.columns)  # whose a row is
    each_row = [] if told else _each_row(profile)
    return "\n".join([*map(_comment, lines), f"incrowd = {VERSION}", *sample, *each_row])


def _each_row(profile: Profile) -> Iterator[str]:
    """Say that each row is a person, where names repeat and a number of the person's own does not."""
    identifiers = profile.named("identifier")
    repeated = [column.name for column in identifiers if column.distinct + column.missing < profile.rows]
    numbers = [column.name for column in identifiers if column.distinct == profile.rows and not column.unsure]
    if repeated and numbers and not profile.named("person"):
        yield _comment(
            f"{listed(repeated)} repeats, but {listed(numbers[:1])} is another one in each row. If that is a number of "
            "a person, and not of a visit, each row is a person; if not, remove this line and name the person:"
        )
        yield "each_row_a_person = true"


def _about_columns() -> Iterator[str]:
    yield "# The columns, and why each has its role:"
    for role, meaning in _ROLES:
        yield f"#   {role:<11} {meaning}"
    yield '# taken_from = "data" says that values were read off this table, and a release names only those of published'
    yield "# people. Where all values are publicly known, list all of them and remove it."
    yield "# To group the values of a tree, write a line for each group, and groups in groups as tables:"
    yield "#   [columns.NAME.hierarchy.tree]"
    yield '#   "a group" = ["a value", "another"]'


def _source(description: Mapping[str, object], directory: Path) -> str:
    described = {
        key: value for key, value in description.items() if value is not None and _PLAIN_DIALECT.get(key) != value
    }
    if "path" in described:
        described["path"] = _relative(str(described["path"]), directory)
    elif "url" in described:
        described["url"] = _relative_url(str(described["url"]), directory)
    else:
        return _comment("The table was in memory: name its file or database here.") + '\n[source]\n# path = "table.csv"'
    written = described.pop("written", None)
    source = _table("source", described)
    if not isinstance(written, Mapping):
        return source if written is None else f"{source}\n{_entry('written', written)}"
    why = "How these columns are written, found in all of their rows. Stated here, no row can change it:"
    return f"{source}\n\n{_comment(why)}\n" + _table("source.written", written)


def _relative(path: str, directory: Path) -> str:
    there = Path(path)
    try:
        # Resolved, since a step up from behind a symbolic link leads elsewhere.
        return Path(os.path.relpath(there.parent.resolve() / there.name, directory.resolve())).as_posix()
    except ValueError:  # another drive
        return Path(path).absolute().as_posix()


def _relative_url(url: str, directory: Path) -> str:
    """A SQLite file is named relative to the recipe like any other; other databases are where they are."""
    if url.startswith(_SQLITE) and not url.startswith(_SQLITE + "/"):
        return _SQLITE + _relative(url.removeprefix(_SQLITE), directory)
    return url


def _models(profile: Profile) -> str:
    why = f"Everybody hides among at least {PROPOSED_K} people who look alike; 3 to 20 are usual, more is safer."
    models = [_comment(why) + f'\n[[models]]\nname = "k-anonymity"\nk = {PROPOSED_K}']
    sensitive = profile.named("sensitive")
    models += [_asked("[models]", diversity(column)) for column in sensitive if column.distinct > 1]
    if not sensitive:
        why = "With a sensitive column, ask that every group holds at least two of its values:"
        models.append(_asked("[models]", Asked(why, {"name": "distinct-l-diversity", "l": 2}, off=True)))
    return "\n\n".join(models)


def diversity(column: ColumnProfile) -> Asked:
    """Return that groups hold two values of a sensitive column; switched off where that would cost much."""
    model = {"name": "distinct-l-diversity", "l": 2, "column": column.name}
    largest = column.largest_share
    if largest is None or largest <= MOST_ALIKE:
        why = "In each group at least two values of this column, so that nobody's is known for certain:"
        return Asked(why, model)
    why = f"One value fills {share(largest, 1)} of this column: two in every group cost much detail. To ask for them:"
    return Asked(why, model, off=True)


def _asked(header: str, asked: Asked) -> str:
    table = _table(header, asked.entries)
    if asked.off:
        table = "\n".join(f"# {plain(line)}" for line in table.split("\n"))
    return f"{_comment(asked.why)}\n{table}"


def _column(column: ColumnProfile, rows: int) -> str:
    return _planned_column(PlannedColumn(column, column.role, ""), rows)


def _planned_column(planned: PlannedColumn, rows: int) -> str:
    column = planned.column
    about = count(column.distinct, "distinct value")
    if not column.distinct_exact:
        about = "about " + about
    missing = "none missing" if not column.missing else f"{share(column.missing, rows)} missing"
    unsure = "Unsure: " if column.unsure else ""
    label = f"“{column.label}”: " if column.label else ""
    lines = [_comment(f"{label}{about}, {missing}. {_capitalized(unsure + column.reason)}.")]
    if planned.why:
        lines.append(_comment(f"Rule: {planned.why}."))
    lines += [f"[columns.{_key(column.name)}]", _entry("role", planned.role), *_entries(planned.entries)]
    if column.hierarchy is not None and planned.role == "quasi":
        lines += _hierarchy(column.name, column.hierarchy)
    return "\n".join(lines)


def _hierarchy(name: str, hierarchy: Hierarchy) -> Iterator[str]:
    described = {"kind": hierarchy.name, **_stated(hierarchy)}
    inline = f"hierarchy = {_inline(described)}"
    if not isinstance(hierarchy, Categories):
        if (why := reason_of(hierarchy)) is not None:
            yield _comment(why)
        if isinstance(hierarchy, Flat):
            yield _comment('Too many values to list here. To group them: { kind = "categories", file = "groups.csv" }.')
        yield inline
        return
    tree = described["tree"]
    if isinstance(tree, list) and len(inline) <= _LINE:
        yield inline
        return
    header = f"columns.{_key(name)}.hierarchy"
    yield f"\n[{header}]"
    yield 'kind = "categories"'
    yield _entry("taken_from", described["taken_from"])
    if isinstance(tree, list):
        yield f"tree = {_wrapped(tree)}"
        return
    yield f"\n[{header}.tree]"
    for group, values in tree.items():
        yield f"{_key(group)} = {_wrapped(values)}"


def _stated(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return the parameters of a hierarchy that are not what they would be anyway."""
    described = {key: value for key, value in hierarchy_to_dict(hierarchy).items() if key != "kind"}
    defaults = {field.name: field.default for field in fields(hierarchy)}  # type: ignore[arg-type]
    return {key: value for key, value in described.items() if value != defaults.get(key, MISSING)}


def _wrapped(values: Sequence[str]) -> str:
    """Return a list on one line, or on several of about the same length."""
    items = [_value(value) + "," for value in values]
    if sum(map(len, items)) + len(items) <= _LINE - 20:
        return _value(list(values))
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) >= _LINE:
            lines.append("")
        lines[-1] += f" {item}"
    return "[\n" + "".join(f" {line}\n" for line in lines) + "]"


def _table(name: str, entries: Mapping[str, Any]) -> str:
    return "\n".join([f"[{name}]", *_entries(entries)])


def _entries(entries: Mapping[str, Any]) -> Iterator[str]:
    return (_entry(key, value) for key, value in entries.items())


def _entry(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(name: str) -> str:
    """Return a name as a key of TOML, quoted where it must be."""
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def _value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)  # widths = [5, 10] is easier to read than [5.0, 10.0]
    if isinstance(value, Mapping):
        return _inline(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n")


def _inline(entries: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(_entry(key, value) for key, value in entries.items()) + " }"


def _comment(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    lines = wrap(plain(text), _LINE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"# {line}" for line in lines)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _stem(recipe_path: Path) -> str:
    return recipe_path.name.removesuffix(".toml").removesuffix(".recipe") or "table"
