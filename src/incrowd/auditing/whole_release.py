"""The whole release: what is kept beside the labels is published, too, and whoever knows it finds rows by it.

Columns that are kept as they are, and that the table before has by the same name, are known to the adversary as the
quasi-identifiers are; where the table before is not given, those that an external table has. Pseudonyms and treated
dates are not looked up: no other table holds them as they are published. Cost: the tables and the published rows are
read once more, and sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.auditing.dated_rows import groups_by_labels
from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.source import OpenedTable
from incrowd.core.tally import Population, Tally, group_tuples
from incrowd.forms.beside_labels import tree_of_texts, with_columns_beside
from incrowd.forms.generalized import Generalized
from incrowd.forms.reading.labels import tally_of_nobody
from incrowd.hierarchies.coding import code_values, exact_codes
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text, code_among, one_spelling
from incrowd.sources import reading

_COUNT = "\0count"
KeptCodes = Mapping[str, Codes | None]
"""The codes of columns that are kept, where a table has them."""


@dataclass(frozen=True, eq=False)
class WholeRelease:
    """A release in whose groups people also share what is kept beside the labels, and who is looked for in it."""

    columns: tuple[str, ...]
    """The columns that are known besides the quasi-identifiers."""
    form: Generalized
    truth: Tally | None
    external: Population | None


def whole_release(
    form: Labelled,
    published: Iterable[pl.DataFrame],
    beside: Sequence[str],
    before: OpenedTable | None,
    external: OpenedTable | None,
) -> WholeRelease | None:
    """Return the whole release, as far as another table has the columns beside the labels; None if none has any."""
    quasi, secret = form.shown.columns, tuple(form.schema.sensitive)
    known = before or external
    columns = () if known is None else tuple(sorted(name for name in beside if name in known.columns))
    if not columns or (before is not None and not {*quasi, *secret} <= set(before.columns)):
        return None
    rows = pl.concat([batch.select(cs.by_name(*form.schema.written_quasi, *secret, *columns)) for batch in published])
    groups = groups_by_labels(rows, form)
    if groups is None:
        return None
    counted = [
        None if source is None else _counted(source, (*quasi, *secret, *columns)) for source in (before, external)
    ]
    found = {name: code_alike([rows, *counted], name) for name in columns}
    trees = {**form.tally.trees, **{name: tree for name, (tree, _) in found.items()}}
    kept_codes = [{name: codes[place] for name, (_, codes) in found.items()} for place in range(3)]
    truth = None
    if before is not None and counted[0] is not None:
        truth = _truth(counted[0], before, (*quasi, *secret, *columns), kept_codes[1], trees)
        if truth is None:
            return None
    people = None
    if external is not None and counted[1] is not None:
        people = _population(counted[1], external, (*quasi, *columns), kept_codes[2], trees)
    whole = with_columns_beside(
        form,
        truth or tally_of_nobody(trees),
        groups,
        sensitive_codes(form, rows),
        {name: _there(kept_codes[0][name]) for name in columns},
    )
    return WholeRelease(columns, whole, truth, people)


def sensitive_codes(form: Labelled, rows: pl.DataFrame) -> Codes:
    """Return the sensitive codes of published rows."""
    codes = [code_values(form.tally.trees[name], rows[name]) for name in form.schema.sensitive]
    return np.stack(codes, axis=1) if codes else np.zeros((rows.height, 0), dtype=np.int32)


def _counted(source: OpenedTable, names: Sequence[str]) -> pl.DataFrame:
    """Return the distinct rows of a table in those of the columns that it has, with their counts."""
    known = [name for name in dict.fromkeys(names) if name in source.columns]
    with reading(source):
        return source.frame.group_by(cs.by_name(*known)).agg(pl.len().alias(_COUNT)).collect(engine="streaming")


def _truth(
    counted: pl.DataFrame, source: OpenedTable, names: Sequence[str], beside: KeptCodes, trees: dict[str, Tree]
) -> Tally | None:
    """Return the table before; None where it has values that the release's own trees lack."""
    names = tuple(sorted(names))
    codes, totals = _distinct(counted, source, names, beside, trees)
    return None if (codes < 0).any() else Tally(names, codes, totals, trees)


def _population(
    counted: pl.DataFrame, source: OpenedTable, names: Sequence[str], beside: KeptCodes, trees: dict[str, Tree]
) -> Population:
    known = tuple(sorted(name for name in names if name in counted.columns))
    codes, totals = _distinct(counted, source, known, beside, trees)
    fitting = (codes >= 0).all(axis=1)
    return Population(known, np.ascontiguousarray(codes[fitting]), totals[fitting])


def _distinct(
    counted: pl.DataFrame, source: OpenedTable, names: Sequence[str], beside: KeptCodes, trees: dict[str, Tree]
) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    codes = np.empty((counted.height, len(names)), dtype=np.int32)
    for place, name in enumerate(names):
        known = beside.get(name)
        codes[:, place] = _by_distinct(trees[name], counted[name], source.texts) if known is None else known
    index, first = group_tuples(codes + 1, [trees[name].size + 1 for name in names])
    totals = np.bincount(index, weights=counted[_COUNT].to_numpy(), minlength=len(first)).astype(np.int64)
    return codes.take(first, axis=0), totals


def _by_distinct(tree: Tree, values: pl.Series, texts: TextRules) -> Codes:
    """Return the code of each value, each distinct one being read once: reading texts is slow."""
    values = values.alias("")  # a name may be a pattern of names
    if values.dtype != pl.String:
        return exact_codes(tree, texts.read(values))
    distinct = values.unique()
    return np.asarray(exact_codes(tree, texts.read(distinct))[_places(values, distinct)])


def _places(values: pl.Series, distinct: pl.Series) -> Ints:
    """Return the place of each text among all distinct ones, of which one may be missing."""
    # Polars numbers the values of an Enum in the order given, which is faster than a join.
    known = distinct.is_not_null().to_numpy()
    places = np.append(np.flatnonzero(known), np.flatnonzero(~known)[:1])
    numbers = values.cast(pl.Enum(distinct.drop_nulls())).to_physical().cast(pl.Int64).fill_null(len(places) - 1)
    return np.asarray(places[numbers.to_numpy()])


def code_alike(frames: Sequence[pl.DataFrame | None], name: str) -> tuple[Tree, list[Codes | None]]:
    """Return a tree of what is in a column of some tables, and the codes of each; None for a table without it.

    The same value is spelled alike in all of them: 3.0 is 3, and nothing is missing.
    """
    there = [frame is not None and name in frame.columns for frame in frames]
    texts = [as_text(frame[name]) for frame in frames if frame is not None and name in frame.columns]
    every = pl.concat([text.rename("") for text in texts])
    distinct = every.unique()
    spelled = one_spelling(distinct)
    spelled = spelled.set(spelled == "", None)
    tree = tree_of_texts([spelled])
    codes = code_among(spelled, tree.values.slice(1))[_places(every, distinct)]
    ends = np.cumsum([len(text) for text in texts])
    parts = iter(np.split(codes, ends[:-1]))
    return tree, [next(parts) if has else None for has in there]


def _there(codes: Codes | None) -> Codes:
    assert codes is not None
    return codes
