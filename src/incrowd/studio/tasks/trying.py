"""Try a recipe: on some rows, on all of them, and what became of single rows.

The table is opened once and counted once (`RememberingEngine`), so that one try after another is quick. Chance comes
from a fixed seed, so that two tries of one recipe agree; what is published is made anew, without it.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.auditing.run import ladder_of
from incrowd.common.surface import written_in
from incrowd.core.source import OpenedTable
from incrowd.engines.local import LocalEngine
from incrowd.engines.remembering import RememberingEngine
from incrowd.errors import QueryError
from incrowd.ledger import Ledger
from incrowd.planning.compare.candidates import candidate_of
from incrowd.planning.compare.compare import try_candidate
from incrowd.planning.compare.comparison import Outcome
from incrowd.planning.explaining import RowsBeside, rows_beside, why
from incrowd.planning.explaining.rows_beside import can_be_linked, columns_by_role
from incrowd.planning.profile.survey import sampled_rows
from incrowd.publishing.recipe import Recipe
from incrowd.publishing.release import Release
from incrowd.publishing.table import Table
from incrowd.sources import reading
from incrowd.sources.opening import open_table
from incrowd.studio.refusing import Refused
from incrowd.studio.source_options import as_read_options
from incrowd.studio.working import Task, Teller

SAMPLED_ROWS = 3_000
SEED = 0
_WITHOUT = ("ledger", "pseudonyms", "output", "compare", "seed")


def as_tried(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe without what a try must not do: pay from a ledger, or make a key."""
    return {key: value for key, value in recipe.items() if key not in _WITHOUT}


def ledger_of(asked: dict[str, Any]) -> Ledger | None:
    """Return the recipe's ledger as tries see it: earlier releases and the cap count, and nothing is written down."""
    named = asked["recipe"].get("ledger")
    return None if named is None else Ledger(Path(asked["base"]) / named).rehearsal()


def prepare(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> None:
    """Open the table and take a sample, before anybody waits for it."""
    _sample(memory, _opened(memory, asked))


def warm_up(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> None:
    """Import what a try needs, by publishing and attacking people who do not exist."""
    from incrowd.datasets import census

    rows = census(SAMPLED_ROWS, seed=1)  # as many as a try begins with: small tables take other ways
    quasi = ("age", "sex", "education", "marital", "race", "birth_place")
    described = {
        "incrowd": 1,
        "source": {"path": "-"},
        "models": [{"name": "k-anonymity", "k": 5}],
        "others": "drop",
        "columns": {**dict.fromkeys(quasi, "quasi"), "occupation": "sensitive"},
    }
    try_candidate(candidate_of(described, Path()), SEED, False, rows=rows)


def on_sample(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Publish and attack some of the rows: a first idea of risk and loss."""
    opened = _opened(memory, asked)
    rows = _sample(memory, opened)
    recipe = as_tried(asked["recipe"])
    # Some of the people beside releases of all of them would say little about all of them.
    ledger = ledger_of(asked) if memory["sampled"] == memory["total"] else None
    with written_in("recipe"):
        candidate = candidate_of(recipe, Path(asked["base"]))
        found = try_candidate(candidate, SEED, False, rows=rows, ledger=ledger, progress=tell.progress)
    return point(found, "sample", memory["sampled"])


def on_all(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Make the release of all rows; its rows can then be asked for."""
    memory.pop("release", None)
    memory.pop("beside", None)
    began = time.perf_counter()
    recipe = Recipe.from_dict(as_tried(asked["recipe"]), base=Path(asked["base"]))
    table, ledger = _table(memory, asked, recipe), ledger_of(asked)
    release = recipe.run(seed=SEED, table=table, ledger=ledger, progress=tell.progress)
    memory["release"], memory["try"] = release, asked["try"]
    groups = release.summary["groups"]
    linked = can_be_linked(release)
    return {
        "summary": _plain(release.summary),
        "rows_in": None if release.hides_rows else release.rows_in,
        "rows": release.rows,
        "withheld": None if release.hides_rows else release.withheld,
        "form": release.shown.name,
        "guarantees": _plain(release.stated_guarantees),
        # A seed is how two tries agree; what is published has none.
        "warnings": [text for text in release.warnings if not text.startswith("Made with a seed")],
        "group_sizes": {"smallest": groups["smallest"], "largest": groups["largest"], "groups": groups["number"]},
        "linked": linked,
        "has_solutions": release.solutions is not None,
        "seconds": round(time.perf_counter() - began, 3),
    }


def link_rows(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Find what became of each row, so that pages of them can be turned at once."""
    tell.progress("finding rows", 0.0)
    release = _release(memory, asked)
    if not can_be_linked(release):
        return {"linked": False, "rows": release.rows, "changed": None}
    try:
        beside = _beside(memory)
    except QueryError:  # a table with more rows than anybody looks at
        return {"linked": False, "rows": release.rows, "changed": None}
    tell.progress("finding rows", 0.6)
    changed = len(beside.changed_rows)
    tell.progress("finding rows", 1.0)
    return {"linked": True, "rows": len(beside.group_of), "changed": changed}


def rows(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Return some rows before and after, side by side."""
    release = _release(memory, asked)
    offset, limit, show = asked["offset"], asked["limit"], asked["show"]
    if "beside" not in memory:
        return _apart(release, offset, limit)
    beside = _beside(memory)
    found = beside.page(offset, limit, show=show)
    return {"linked": True, "roles": dict(columns_by_role(release, found["columns"])), **found}


def explain(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Tell why a row looks as it does, or is not there."""
    release = _release(memory, asked)
    if "beside" not in memory:
        raise Refused(422, f"no published row of {release.shown.name} is anybody's own.", kind="QueryError")
    beside = _beside(memory)
    if not 0 <= asked["row"] < len(beside.group_of):
        raise Refused(404, "there is no such row.")
    return why(beside, asked["row"])


def solutions(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """List what else a search over levels looked at."""
    found = _release(memory, asked).solutions
    if found is None:
        raise Refused(404, "this method explores no other solutions.")
    prefix = "level of "
    columns = [name.removeprefix(prefix) for name in found.columns if name.startswith(prefix)]
    method = dict(asked["method"]) if isinstance(asked["method"], dict) else {"name": asked["method"]}
    method = {key: value for key, value in method.items() if key not in ("min_levels", "max_levels", "levels")}
    lines = []
    for row in found.slice(asked["offset"], asked["limit"]).to_dicts():
        levels = {name: int(row.pop(prefix + name)) for name in columns}
        lines.append({"levels": levels, **row, "method": {**method, "levels": levels}})
    return {"columns": columns, "total": found.height, "offset": asked["offset"], "solutions": lines}


def ladder(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Return one unusual person's ladder, another one each time."""
    if memory.get("try") != asked["try"] or "release" not in memory:
        on_all(memory, asked, tell)
    release: Release = memory["release"]
    original = release.source if release.hides_rows else None
    return {"rungs": ladder_of(release, original=original, seed=asked["seed"])}


def point(found: Outcome, basis: str, rows: int | None) -> dict[str, Any]:
    """Return risk and loss as comparisons measure them."""
    return {
        "name": found.name,
        "basis": basis,
        "rows": rows,
        "risk": None if found.failed else found.risk("mean"),
        "loss": found.losses.get("queries"),
        "risks": {
            **dict(found.risks),
            **({} if found.failed else {"mean": found.risk("mean"), "worst": found.risk("worst")}),
        },
        "losses": dict(found.losses),
        "strongest": found.strongest,
        "withheld": found.withheld,
        "published": found.rows,
        "form": found.form,
        "failed": found.failed,
        "seconds": found.seconds,
    }


def _opened(memory: dict[str, Any], asked: dict[str, Any]) -> OpenedTable:
    """Return the recipe's table, opened once for as long as it is to be read in the same way."""
    key = json.dumps([asked["location"], asked["options"]], sort_keys=True, default=str)
    held: OpenedTable | None = memory.get("table")
    if held is None or memory.get("key") != key:
        memory.clear()
        with written_in("recipe"):
            held = open_table(asked["location"], as_read_options(asked["options"]))
        memory["table"], memory["key"], memory["counted"] = held, key, {}
    return held


def _sample(memory: dict[str, Any], opened: OpenedTable) -> OpenedTable:
    """Return about so many rows of it, the same ones every time."""
    if "sample" not in memory:
        import polars as pl

        with reading(opened):
            total = opened.frame.select(pl.len()).collect(engine="streaming").item()
        frame = sampled_rows(opened, total, SAMPLED_ROWS)
        memory["sample"], memory["sampled"], memory["total"] = frame, frame.height, total
    return replace(opened, frame=memory["sample"].lazy(), in_memory=True, stated=None, require_unchanged=_nothing)


def _nothing() -> None:
    """Rows in memory stay what they are."""


def _table(memory: dict[str, Any], asked: dict[str, Any], recipe: Recipe) -> Table:
    if recipe.population or recipe.tables:
        return recipe.table()
    opened = _opened(memory, asked)
    table = recipe.table(rows=opened)
    if type(table.engine) is LocalEngine:
        table = replace(table, engine=RememberingEngine(opened, memory["counted"]))
    return table


def _release(memory: dict[str, Any], asked: dict[str, Any]) -> Release:
    if "release" not in memory or memory.get("try") != asked["try"]:
        raise Refused(410, "the rows of this try are gone.", hint="try it again", kind="Gone")
    release: Release = memory["release"]
    return release


def _beside(memory: dict[str, Any]) -> RowsBeside:
    if "beside" not in memory:
        memory["beside"] = rows_beside(memory["release"])
    found: RowsBeside = memory["beside"]
    return found


def _apart(release: Release, offset: int, limit: int) -> dict[str, Any]:
    """Return rows of the table and rows of the release, which nothing links."""
    from incrowd.hierarchies.values import as_text

    source = release.source
    removed = release.schema.removed
    before: list[list[Any]] = []
    names: list[str] = []
    if isinstance(source, OpenedTable):
        names = [name for name in source.columns if name not in removed]
        with reading(source):
            frame = source.frame.select(names).slice(offset, limit).collect(engine="streaming")
        before = [list(row) for row in frame.select(as_text(frame[name]).alias(name) for name in names).rows()]
    batch = next(iter(release.batches()))
    shown = batch.slice(offset, limit)
    after = [list(row) for row in shown.select(as_text(shown[name]).alias(name) for name in shown.columns).rows()]
    return {
        "linked": False,
        "columns": names,
        "after_columns": list(batch.columns),
        "roles": dict(columns_by_role(release, names)),
        "total": release.rows,
        "offset": offset,
        "rows": [
            {
                "row": offset + place,
                "before": before[place] if place < len(before) else None,
                "after": after[place] if place < len(after) else None,
                "changed": None,
                "withheld": False,
                "crowd": None,
                "sure": False,
            }
            for place in range(max(len(before), len(after)))
        ],
    }


def _plain(value: Any) -> Any:
    from incrowd.common.plain import plain

    if isinstance(value, list):
        return [_plain(item) for item in value]
    found = plain(value)
    return {key: _plain(item) for key, item in found.items()} if isinstance(found, dict) else found


TASKS: dict[str, Task] = {
    "prepare": prepare,
    "warm up": warm_up,
    "link rows": link_rows,
    "try sample": on_sample,
    "try": on_all,
    "rows": rows,
    "why": explain,
    "solutions": solutions,
    "ladder": ladder,
}
