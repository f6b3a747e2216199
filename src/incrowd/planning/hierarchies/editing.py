"""One change to a hierarchy: values put into a group, a group renamed or dissolved, the cuts of a level moved.

What comes out is a hierarchy as recipes have them. Whether it covers its column is for whoever applies it to look at
(`look_at`): nothing is replaced here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incrowd.errors import HierarchyError
from incrowd.hierarchies.categories import Categories, TakenFrom
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.labels import ANY
from incrowd.planning.hierarchies.levels import Looked

Row = tuple[str, ...]


def edited(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    """Return the hierarchy with one change; `edit` names its `action` and what it takes.

    `group` (level, nodes, name), `rename` (level, node, name) and `dissolve` (level, node) are for names; `cuts`
    (level, cuts), `add level` and `remove level` (level) for numbers.
    """
    actions: dict[str, Callable[[Looked, Mapping[str, Any]], Hierarchy]] = {
        "group": _group,
        "rename": _rename,
        "dissolve": _dissolve,
        "cuts": _cuts,
        "add level": _add_level,
        "remove level": _remove_level,
    }
    action = edit.get("action")
    if action not in actions:
        raise HierarchyError(f"there is no such change.  Hint: it is one of {', '.join(actions)}.")
    if looked.tree is None:
        raise HierarchyError("the hierarchy does not cover its column.  Hint: choose another one first.")
    return actions[action](looked, edit)


def _group(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    """Give nodes of a level a parent of their own; where there is no level for it below the root, add one."""
    rows, level = _rows(looked), _level(edit)
    nodes, name = _texts(edit, "nodes"), _name(edit)
    if level >= len(rows[0]):
        raise HierarchyError(f"there is no level {level} to take nodes from.")
    lacking = set(nodes) - {row[level] for row in rows}
    if lacking or not nodes:
        raise HierarchyError(f"{len(lacking) or 'no'} of the nodes are at level {level}.  Hint: read the level again.")
    if level + 1 == len(rows[0]):
        return _categories(looked, [(*row, name if row[level] in nodes else row[level]) for row in rows])
    # All members of a group have one parent: that of the group where it is there already, else of the first member.
    model = next((row for row in rows if row[level + 1] == name), None)
    model = model or next(row for row in rows if row[level] in nodes)
    above = model[level + 2 :]
    return _categories(looked, [(*row[: level + 1], name, *above) if row[level] in nodes else row for row in rows])


def _rename(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    rows, level, node, name = _rows(looked), _level(edit), _text(edit, "node"), _name(edit)
    _require_group(rows, level, node)
    members = {row for row in rows if row[level] == node}

    def renamed(row: Row, at: int) -> str:
        # A shallow branch repeats its last group on the levels above: it is one group, and has one name.
        same = row[at] == node and at >= 1 and {other for other in rows if other[at] == node} == members
        return name if same and row in members else row[at]

    return _categories(looked, [tuple(renamed(row, at) for at in range(len(row))) for row in rows])


def _dissolve(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    """Take a group away: at its level, its members stand for themselves. A level that adds nothing goes, too."""
    rows, level, node = _rows(looked), _level(edit), _text(edit, "node")
    _require_group(rows, level, node)
    changed = [(*row[:level], row[level - 1], *row[level + 1 :]) if row[level] == node else row for row in rows]
    if all(row[level] == row[level - 1] for row in changed):
        changed = [(*row[:level], *row[level + 1 :]) for row in changed]
    return _categories(looked, changed)


def _cuts(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    """Set the cuts of one level. Finer levels get them, too, and coarser ones keep only what is left of theirs."""
    levels, level = _levels_of_cuts(looked), _level(edit)
    cuts = _numbers(edit)
    if not 1 <= level <= max(len(levels), 1):
        raise HierarchyError(f"there is no level {level} of ranges.  Hint: they go from 1 to {max(len(levels), 1)}.")
    if not levels:
        levels = [[]]
    finer = [sorted({*own, *cuts}) for own in levels[: level - 1]]
    coarser = [[cut for cut in own if cut in cuts] for own in levels[level:]]
    return _intervals([*finer, cuts, *coarser])


def _add_level(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    """Add a level below the root, with every second cut of the coarsest one."""
    levels = _levels_of_cuts(looked)
    if not levels or len(levels[-1]) < 2:
        raise HierarchyError("there are not enough cuts for another level.  Hint: set the cuts of a level first.")
    return _intervals([*levels, levels[-1][1::2]])


def _remove_level(looked: Looked, edit: Mapping[str, Any]) -> Hierarchy:
    levels, level = _levels_of_cuts(looked), _level(edit)
    if not 1 <= level <= len(levels):
        raise HierarchyError(f"there is no level {level} of ranges.")
    return _intervals([*levels[: level - 1], *levels[level:]])


def _rows(looked: Looked) -> list[Row]:
    """Return each value with its groups, the root left out."""
    tree = looked.tree
    if tree is None or tree.kind != "text":
        raise HierarchyError("only names can be grouped.  Hint: numbers have cuts.")
    rows = [row[:-1] for row in looked.rows_of_values()]
    if not rows:
        raise HierarchyError("the column has no values to group.")
    return rows


def _levels_of_cuts(looked: Looked) -> list[list[float]]:
    tree = looked.tree
    if tree is None or tree.kind != "number":
        raise HierarchyError("only numbers have cuts.  Hint: names can be grouped.")
    return [cuts for cuts in looked.cuts() if cuts]


def _categories(looked: Looked, rows: Sequence[Row]) -> Categories:
    """Return the tree. Where its values were read off the table, the recipe goes on saying so."""
    hierarchy = looked.hierarchy
    taken_from: TakenFrom | None = hierarchy.taken_from if isinstance(hierarchy, Categories) else "data"
    return Categories(tuple(rows), taken_from)


def _intervals(levels: Sequence[Sequence[float]]) -> Intervals:
    """Return the levels that cut anything; one that cuts as the one below it does adds nothing."""
    kept: list[tuple[float, ...]] = []
    for level in levels:
        if level and (not kept or tuple(level) != kept[-1]):
            kept.append(tuple(level))
    if not kept:
        raise HierarchyError("no cut is left.  Hint: a column without cuts has a flat hierarchy.")
    return Intervals(cuts=tuple(kept))


def _require_group(rows: Sequence[Row], level: int, node: str) -> None:
    if not 1 <= level < len(rows[0]):
        raise HierarchyError(f"there is no level {level} of groups.  Hint: they go from 1 to {len(rows[0]) - 1}.")
    if not any(row[level] == node for row in rows):
        raise HierarchyError(f"there is no such group at level {level}.  Hint: read the level again.")


def _level(edit: Mapping[str, Any]) -> int:
    level = edit.get("level")
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise HierarchyError("a change names its level: a whole number, 0 for the values.")
    return level


def _text(edit: Mapping[str, Any], key: str) -> str:
    found = edit.get(key)
    if not isinstance(found, str):
        raise HierarchyError(f"a change names its {key}: a text.")
    return found


def _name(edit: Mapping[str, Any]) -> str:
    name = _text(edit, "name").strip()
    if not name or name == ANY:
        raise HierarchyError(f"a group needs a name other than '{ANY}', which is the root's.")
    return name


def _texts(edit: Mapping[str, Any], key: str) -> set[str]:
    found = edit.get(key)
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
        raise HierarchyError(f"a change names its {key}: a list of texts.")
    return set(found)


def _numbers(edit: Mapping[str, Any]) -> list[float]:
    found = edit.get("cuts")
    if not isinstance(found, (list, tuple)) or not all(
        isinstance(one, (int, float)) and not isinstance(one, bool) and math.isfinite(one) for one in found
    ):
        raise HierarchyError("cuts are a list of numbers.")
    return sorted({float(one) for one in found})
