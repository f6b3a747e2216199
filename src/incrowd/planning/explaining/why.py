"""Why a row looks as it does in a release, or why it is not there: numbers, and sentences that say them.

For the owner of the table, on the owner's screen: it names values of the row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools
from incrowd.core.model import verified_models
from incrowd.core.set_model import split_models
from incrowd.forms.verify import COUNT, groups_of
from incrowd.planning.explaining.rows_beside import RowsBeside

Told = dict[str, Any]


def why(beside: RowsBeside, row: int) -> Told:
    """Explain one row: how many look like it before and after, what each label stands for, and what each model finds.

    >>> import incrowd as ic
    >>> from incrowd.planning.explaining.rows_beside import rows_beside
    >>> table = ic.read(ic.datasets.census(50), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> told = why(rows_beside(ic.publish(table, ic.KAnonymity(5))), 0)
    >>> told["withheld"], told["crowd"] >= 5, told["models"][0]["holds"]
    (False, True, True)
    """
    alike = _alike(beside, row)
    before = int(beside.labelled.tally.counts[alike].sum())
    withheld = bool(beside.withheld[row])
    group = int(beside.group_of[row])
    crowd = 0 if withheld else int(beside.labelled.group_sizes[group])
    models = _of_rows_alike(beside, alike) if withheld else _of_group(beside, group)
    columns = [] if withheld else [_column(beside, name, row, group) for name in beside.release.schema.quasi]
    told: Told = {
        "row": row,
        "withheld": withheld,
        "crowd": crowd,
        "alike_before": before,
        "columns": columns,
        "models": models,
        "sure": bool(beside.sure[row]),
    }
    return {**told, "sentences": list(_sentences(beside, told))}


def _alike(beside: RowsBeside, row: int) -> Bools:
    """Return which tuples of the table have the row's own quasi-identifiers."""
    tally = beside.labelled.tally
    own = int(beside.tuple_of[row])
    same = np.ones(len(tally), dtype=bool)
    for name in beside.release.schema.quasi:
        codes = tally.column(name)
        same &= codes == codes[own]
    return same


def _of_group(beside: RowsBeside, group: int) -> list[Told]:
    """Judge the group that a row is published in, by what is written of it."""
    form, schema = beside.labelled, beside.release.schema
    mine = np.flatnonzero(form.groups == group)
    found = groups_of(
        form.lines_at(mine),
        schema.written_quasi,
        tuple(schema.sensitive),
        before=form.tally,
        stands_for=beside.regions.of(np.full(len(mine), group)),
    )
    return _judged(beside, found)


def _of_rows_alike(beside: RowsBeside, alike: Bools) -> list[Told]:
    """Judge the rows that have the same quasi-identifiers as one that is withheld, as if these were published."""
    tally, schema = beside.labelled.tally, beside.release.schema
    names = (*schema.quasi, *schema.sensitive)
    lines = pl.DataFrame(
        {
            **{name: tally.trees[name].values.gather(tally.column(name)[alike]) for name in names},
            COUNT: tally.counts[alike],
        }
    )
    return _judged(beside, groups_of(lines, tuple(schema.quasi), tuple(schema.sensitive), before=tally))


def _judged(beside: RowsBeside, groups: Any) -> list[Told]:
    found = []
    models, _ = split_models(verified_models(beside.release.guarantees))
    for model in models:
        if model.whole_table or model.counts_households or (model.needs_table and groups.regions is None):
            continue  # what is only known of all groups, or of who lives together
        holds, reached = bool(model.satisfied(groups).all()), float(model.achieved(groups))
        found.append(
            {
                "statement": str(model),
                "holds": holds,
                "value": reached if math.isfinite(reached) else None,
                "sentence": f"{model}: {'holds' if holds else 'does not hold'} here ({reached:.4g}).",
            }
        )
    return found


def _column(beside: RowsBeside, name: str, row: int, group: int) -> Told:
    """Say what the label of one column stands for."""
    form = beside.labelled
    tree = form.tally.trees[name]
    place = form.shown.columns.index(name)
    low, high = int(form.shown.lows[group, place]), int(form.shown.highs[group, place])
    width = float(tree.widths(np.array([low]), np.array([high]))[0])
    here = np.array([row])
    before, after = beside.before(name, here)[0], beside.after(name, here)
    shown = None if after is None else after[0]
    values, all_values = high - low, tree.leaves - 1
    sentence = (
        f"{name} is shown as it is."
        if shown == before
        else f"{name} is shown as {shown}, which stands for {values:,} of its {all_values:,} values."
    )
    return {"name": name, "before": before, "after": shown, "stands_for": values, "share": width, "sentence": sentence}


def _sentences(beside: RowsBeside, told: Told) -> Sequence[str]:
    before, crowd = told["alike_before"], told["crowd"]
    rows = "This row is the only one" if before == 1 else f"{before:,} rows, this one among them, are the only ones"
    first = f"{rows} with these quasi-identifiers in the table."
    if not told["withheld"]:
        changed = [column["name"] for column in told["columns"] if column["before"] != column["after"]]
        how = f"{', '.join(changed)} became less exact" if changed else "nothing had to change"
        said = [first, f"In the release {crowd:,} rows show the same: {how}."]
        return (
            said if told["sure"] else [*said, "Equal rows of other people are in other groups: it may be one of those."]
        )
    said = [first, "It is withheld: the method found no group for it that satisfies what is required."]
    failing = [model["statement"] for model in told["models"] if not model["holds"]]
    if failing:
        said.append(f"By themselves, the rows with its quasi-identifiers do not satisfy {', '.join(failing)}.")
    if beside.release.rate < 1:
        said.append(f"Only a sample of {float(beside.release.rate):.0%} of the rows is published: it may not be drawn.")
    return said
