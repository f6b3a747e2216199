"""`incrowd hierarchy`: show a hierarchy level by level, and check it against a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from incrowd.cli.command import Command
from incrowd.cli.reading_options import Reading, takes_reading_options
from incrowd.common.records import dataclass

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from incrowd.core.source import OpenedTable
    from incrowd.errors import UncoveredValue
    from incrowd.hierarchies.hierarchy import Hierarchy
    from incrowd.hierarchies.tree import Tree
    from incrowd.publishing.recipe import Recipe

_EXAMPLES = 4


@takes_reading_options
def hierarchy(
    file: Annotated[Path, typer.Argument(help="A hierarchy's CSV file, or a recipe (with --column).")],
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The recipe's column, or the column of the file to check.")
    ] = None,
    check: Annotated[
        str | None, typer.Option(help="A table whose values must all be in the hierarchy; exit code 1 if not.")
    ] = None,
    level: Annotated[int | None, typer.Option(help="Show every node of one level; 0 are the values.")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write all levels as a CSV file: one line per value, separated by ';'.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    *,
    reading: Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a hierarchy level by level, and check that it covers a table."""
    from rich.console import Console

    from incrowd.cli.output import print_json

    if write is not None:
        _require_free(write, force=force)
    if reading and check is None:
        raise typer.BadParameter("options of reading are those of the table to check: name it", param_hint="--check")
    found = _look(file, column, check, reading)
    if as_json:
        print_json(_as_dict(found, level))
    else:
        console = Console()
        if found.tree is not None:
            console.print(_title(found, found.tree), markup=False, highlight=False, style="italic")
            console.print(_level_table(found, found.tree, level))
        if found.check is not None or found.uncovered is not None:
            console.print(_verdict(found), markup=False, highlight=False, soft_wrap=True)
    if found.uncovered is not None:
        raise typer.Exit(1)
    if write is not None and found.tree is not None:
        _write(found.hierarchy, found.tree, write)
        if not as_json:
            Console().print(f"Written to {write}.", markup=False, highlight=False, soft_wrap=True)


@dataclass(frozen=True, eq=False)
class _Found:
    """A hierarchy that has met values, or could not."""

    hierarchy: Hierarchy
    column: str
    check: str | None
    values: int
    tree: Tree | None
    uncovered: UncoveredValue | None

    @property
    def shows_values(self) -> bool:
        """Whether the lowest level is the hierarchy's own; otherwise it is what the table holds."""
        from incrowd.hierarchies.categories import Categories

        return isinstance(self.hierarchy, Categories) and self.hierarchy.taken_from is None

    @property
    def names_values(self) -> bool:
        """Whether the names of nodes are made of values that only the table tells, such as masked ones."""
        return self.tree is not None and self.tree.kind == "text" and not self.tree.declared


def _look(file: Path, column: str | None, check: str | None, reading: Reading) -> _Found:
    from incrowd.errors import UncoveredValue
    from incrowd.hierarchies.categories import Categories

    hierarchy, recipe = _load(file, column)
    name = column or file.stem
    values = _values(hierarchy, recipe, column, check, reading)
    known = len(values.drop_nulls())
    try:
        return _Found(hierarchy, name, check, known, hierarchy.build(name, values)[0], None)
    except UncoveredValue as error:
        tree = hierarchy.build(name, values.clear())[0] if isinstance(hierarchy, Categories) else None
        return _Found(hierarchy, name, check, known, tree, error)


def _load(file: Path, column: str | None) -> tuple[Hierarchy, Recipe | None]:
    from incrowd.errors import RecipeError, did_you_mean
    from incrowd.hierarchies.automatic import Automatic
    from incrowd.hierarchies.categories import Categories
    from incrowd.hierarchies.flat import Exact
    from incrowd.publishing.recipe import Recipe

    if file.suffix.lower() != ".toml":
        return Categories.read_csv(file), None
    recipe = Recipe.load(file)
    if column is None:
        raise RecipeError(f"recipe {file} has a hierarchy for each column.  Hint: name one with --column.")
    if column not in recipe.roles:
        raise RecipeError(f"recipe {file} has no column '{column}'.{did_you_mean(column, recipe.roles)}")
    role = recipe.roles[column]
    if role not in ("quasi", "sensitive"):
        raise RecipeError(f"recipe {file}: column '{column}' has the role '{role}' and so no hierarchy.")
    return recipe.hierarchies.get(column) or (Automatic() if role == "quasi" else Exact()), recipe


def _values(
    hierarchy: Hierarchy, recipe: Recipe | None, column: str | None, check: str | None, reading: Reading
) -> pl.Series:
    """Return the distinct values that the hierarchy meets: none where it needs none and no table is to be checked."""
    import polars as pl

    from incrowd.errors import SchemaError
    from incrowd.hierarchies.categories import Categories
    from incrowd.sources import open_source

    if check is not None:
        if column is None:
            raise SchemaError("which column is to be checked?  Hint: name it with --column.")
        missing = recipe.source.get("missing", ()) if recipe is not None else ()
        return _distinct(open_source(check, **{"missing": missing, **reading}), column, check)
    if recipe is None or column is None or isinstance(hierarchy, Categories):
        return pl.Series([], dtype=pl.String)
    return _distinct(cast("OpenedTable", recipe.table().engine.source), column, "the recipe's source")


def _distinct(source: OpenedTable, column: str, where: str) -> pl.Series:
    import polars.selectors as cs

    from incrowd.errors import SchemaError, similar_columns
    from incrowd.sources import reading

    if column not in source.columns:
        raise SchemaError(f"{where} has no column '{column}'.{similar_columns(column, source.columns)}")
    with reading(source):
        return source.frame.select(cs.by_name(column)).unique().collect(engine="streaming").to_series()


def _names(tree: Tree, level: int) -> list[str]:
    """Return the nodes of a level; missing is under the root in every hierarchy and is not listed."""
    names = tree.names[level].to_list()
    return names if level == tree.height else names[1:]


def _require_level(tree: Tree, level: int) -> None:
    from incrowd.errors import HierarchyError

    if not 0 <= level <= tree.height:
        raise HierarchyError(
            f"there is no level {level}.  Hint: they go from 0, the values, to {tree.height}, the root."
        )


def _nodes(tree: Tree, level: int) -> list[tuple[str, int]]:
    """Return the nodes of a level, and how many values each holds."""
    import numpy as np

    _require_level(tree, level)
    below = np.bincount(tree.nodes[level, 1:], minlength=len(tree.names[level])).tolist()
    return list(zip(_names(tree, level), below if level == tree.height else below[1:], strict=True))


def _examples(found: _Found, tree: Tree, level: int) -> list[str]:
    """Return a few nodes of a level, evenly spread; values of a table only where they are asked for (--level 0)."""
    if (level == 0 and not found.shows_values) or (found.names_values and level < tree.height):
        return []
    names = _names(tree, level)
    step = -(-len(names) // _EXAMPLES) or 1
    return names[::step]


def _as_dict(found: _Found, level: int | None) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": found.hierarchy.name, "column": found.column}
    if found.tree is not None:
        tree = found.tree
        data["made_from_data"] = tree.from_data
        data["levels"] = [
            {"level": place, "nodes": len(_names(tree, place)), "examples": _examples(found, tree, place)}
            for place in range(tree.height + 1)
        ]
        if level is not None:
            data["nodes"] = [{"name": name, "values": values} for name, values in _nodes(tree, level)]
    if found.check is not None or found.uncovered is not None:
        missing = found.uncovered
        data["check"] = {
            "file": found.check,
            "values": found.values,
            "uncovered": 0 if missing is None else missing.total,
        }
    return data


def _title(found: _Found, tree: Tree) -> str:
    from incrowd.planning.profile.readable import plain

    made = ", made from the data" if tree.from_data else ""
    return f"{plain(found.column)}: {found.hierarchy.name}{made}"


def _level_table(found: _Found, tree: Tree, level: int | None) -> Table:
    from rich.table import Table
    from rich.text import Text

    from incrowd.planning.profile.readable import plain

    table = Table(box=None)
    if level is not None:
        table.add_column(f"level {level}", overflow="fold")
        table.add_column("values", justify="right")
        for name, values in _nodes(tree, level):
            table.add_row(Text(plain(name)), f"{values:,}")
        return table
    table.add_column("level", justify="right")
    table.add_column("nodes", justify="right")
    table.add_column("for example", overflow="fold")
    for place in range(tree.height + 1):
        names = _names(tree, place)
        examples = _examples(found, tree, place)
        shown = ", ".join(plain(name) for name in examples) + (", …" if len(examples) < len(names) else "")
        table.add_row(
            str(place),
            f"{len(names):,}",
            Text(shown if examples else "the values themselves" if not place else "made of the values"),
        )
    return table


def _verdict(found: _Found) -> str:
    from incrowd.planning.profile.readable import count, plain

    values = count(found.values, "distinct value")
    where = f"'{plain(found.column)}'" + (f" in {found.check}" if found.check is not None else "")
    if found.uncovered is None:
        return f"{where}: all {values} are in the hierarchy."
    missing = found.uncovered
    told = f"{where}: {missing.total:,} of {values} not in the hierarchy"
    if not on_terminal():
        return told + "."
    more = ", …" if missing.total > len(missing.values) else ""
    return f"{told}: {', '.join(plain(repr(value)) for value in missing.values)}{more}"


def on_terminal() -> bool:
    """Whether a person reads what is printed, who may see some values that the hierarchy lacks."""
    return sys.stdout.isatty()


def _require_free(path: Path, *, force: bool) -> None:
    from incrowd.common.writing import require_name, telling
    from incrowd.errors import OutputError

    require_name(path)
    with telling(path):
        exists = path.exists()
    if exists and not force:
        raise OutputError(f"{path} exists already.  Hint: choose another name, or replace it: --force.")


def _write(hierarchy: Hierarchy, tree: Tree, path: Path) -> None:
    from incrowd.hierarchies.categories import Categories
    from incrowd.hierarchies.values import as_text

    if not isinstance(hierarchy, Categories):
        levels = [as_text(tree.values).to_list()[1:]]
        for place in range(1, tree.height):
            levels.append(tree.names[place].gather(tree.nodes[place, 1:]).to_list())
        hierarchy = Categories(tuple(zip(*levels, strict=True)))
    hierarchy.write_csv(path)


COMMANDS = (Command(hierarchy, place=30),)
