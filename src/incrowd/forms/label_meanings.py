"""What the labels of a release stand for, as plain values: `labels.json`, which travels with the release.

Nothing here comes from the table: whoever has the labels and the hierarchies of the recipe can write the same. So an
analyst who opens the files counts as the publisher does (`label_reader.py`).

    {"format": 1, "columns": {"age": {"kind": "numbers", "labels": {"[20, 30)": [{"from": 20, "below": 30}],
                                                                    "<20": [{"below": 20}], "25": [{"value": 25}]},
                                      "assumed": {"from": 15, "below": 35}}}}

Where a column shows numbers in place of labels, `shown` tells how, in which columns, and which label each of them
stands for: `{"as": "mean", "columns": ["age"], "values": [[24.2, "[20, 30)"]]}`.

A label stands for any of its pieces. An open end reaches as far as `assumed`, and `*`, which is an empty piece, is all
of that: in columns of names, any of the names in the list there. Dates are written in ISO form. Where characters of a
code are masked, `hidden` is how many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from incrowd.core.form import Form
from incrowd.errors import HierarchyError, SchemaError
from incrowd.forms.reading.foreign_labels import standard_label
from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.calendar import days_of, range_of_days
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import HiddenCharacters, Hierarchy
from incrowd.hierarchies.public import public_tree
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_short_text, distinct_values, known_values

FORMAT = 1
ALPHABETS = {"digits": 10, "letters and digits": 36}
"""How many characters may be behind a masked one."""
_FROM_TO = re.compile(r"^\s*(-?[\d.]+)\s*-\s*(-?[\d.]+)\s*$")
_YEARS = re.compile(r"^(\d{4}s?)\s*-\s*(\d{4}s?)$")

_TINY = 1e-6
"""Numbers below it are told to six digits, however many zeros these come after."""
LARGEST = 1e300
"""Numbers beyond it say nothing here."""
_ENDS = {
    "numbers": (-LARGEST, LARGEST),
    "dates": tuple(
        (end - datetime(1970, 1, 1)) / timedelta(days=1) for end in (datetime.min, datetime(9999, 12, 31, 23, 59, 59))
    ),
}
"""Nothing reaches further: numbers that can be written, and the days of the calendar."""

Piece = dict[str, Any]


def describe_labels(form: Form, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """Return what all labels of a form stand for, as plain values."""
    known = len(form.tally) > 0
    columns = {
        name: describe_column(
            name, distinct_values(labels), tree, hierarchies.get(name), known=known, items=name in form.schema.items
        )
        for name, (tree, labels) in form.shown_labels().items()
    }
    if form.labelled is not None:
        shown = form.labelled.shown
        for name, values in shown.stand_ins.items():
            columns[name]["shown"] = {
                "as": form.schema.show[name],
                "columns": values.columns,
                "values": _values_and_labels(values, shown.labels[name]),
            }
    return {"format": FORMAT, "columns": columns}


def describe_items(name: str, labels: pl.Series, hierarchy: Hierarchy | None) -> dict[str, Any]:
    """Return what labels of items stand for, by the hierarchy and their texts alone."""
    distinct = distinct_values(labels)
    tree, _ = Exact().build(name, distinct)
    return describe_column(name, distinct, tree, hierarchy, known=True, items=True)


def _values_and_labels(values: pl.DataFrame, labels: pl.Series) -> list[list[Any]]:
    """Return each distinct row of numbers with the label that it stands for, in an order that only these give."""
    texts = [
        as_short_text(column.alias("")).alias(column.name) if column.dtype.is_temporal() else column
        for column in values.get_columns()
    ]
    found = pl.DataFrame([*texts, labels.alias("\0label")]).unique().sort(pl.all(), nulls_last=False)
    return [list(row) for row in found.iter_rows()]


def describe_column(
    name: str, labels: pl.Series, tree: Tree, hierarchy: Hierarchy | None, *, known: bool, items: bool = False
) -> dict[str, Any]:
    """Return what some labels of a column stand for."""
    texts = [str(label) for label in known_values(labels).to_list()]
    kind = "names" if items else _kind(tree, texts, hierarchy, known=known)
    declared = None if hierarchy is None else _declared(name, hierarchy)
    nodes = {} if declared is None else _leaves(declared)
    read = _Pieces(kind, nodes, hierarchy)
    # Names of groups that were made up for items say nothing to anybody else.
    unknown = _groups_of_items(tree) if items and declared is None else set[str]()
    meanings: dict[str, list[Piece]] = {text: [{}] if text in unknown else list(read.pieces(text)) for text in texts}
    if kind == "names":
        assumed: Any = _names(meanings, declared)
    else:
        assumed = _reach(meanings, kind)
    told: dict[str, Any] = {"kind": kind, "labels": meanings, "assumed": assumed}
    if read.mask is not None:
        codes = (str(text) for pieces in meanings.values() for piece in pieces for text in piece.values())
        shown = "".join(codes).replace(read.mask.mask, "")  # their numbers of hidden characters are digits, too
        alphabet = "digits" if shown.isdigit() else "letters and digits"
        told["mask"] = {"character": read.mask.mask, "side": read.mask.side, "stands for": alphabet}
    return told


def _groups_of_items(tree: Tree) -> set[str]:
    above = {text for names in tree.names[1:] for text in names.to_list() if text is not None}
    return above - set(as_short_text(tree.values).drop_nulls().to_list()) if tree.from_data else set()


def _kind(tree: Tree, texts: list[str], hierarchy: Hierarchy | None, *, known: bool) -> str:
    """Return what a column holds: as the table has it where that is known, and else as its labels look."""
    if tree.ordered:
        return "dates" if tree.values.dtype.is_temporal() else "numbers"
    if known:
        return "names"
    written = [standard_label(text) for text in texts if text != syntax.ANY]
    if not tree.from_data or not any(isinstance(syntax.read(text, ordered=True), syntax.Range) for text in written):
        return "names"
    # A file of another tool: only its labels tell, and `[1910, 1920)` are years where the hierarchy is one of dates.
    for kind in ("dates",) if hierarchy is not None and hierarchy.of_dates else ("numbers", "dates"):
        if all(_Pieces(kind, {}, None).reads(text) for text in written):
            return kind
    return "names"


def _declared(name: str, hierarchy: Hierarchy) -> Tree | None:
    try:
        return public_tree(name, hierarchy)
    except (SchemaError, HierarchyError):
        return None


def _leaves(tree: Tree) -> dict[str, list[str]]:
    """Return the values under each named node; a name that several levels have is that of the lowest."""
    values = as_short_text(tree.values).to_list()
    found: dict[str, list[str]] = {}
    for level in range(tree.height, 0, -1):
        order = np.argsort(tree.nodes[level], kind="stable")
        starts = np.searchsorted(tree.nodes[level][order], np.arange(len(tree.names[level]) + 1))
        for node, text in enumerate(tree.names[level].to_list()):
            if text is not None and text != syntax.ANY:
                found[text] = [
                    values[code] for code in order[starts[node] : starts[node + 1]] if values[code] is not None
                ]
    for text in values:
        if text is not None:
            found[text] = [text]
    return found


def _names(meanings: Mapping[str, list[Piece]], declared: Tree | None) -> list[str]:
    """Return the names that `*` may stand for: those that were declared, or that some label names."""
    if declared is not None and not declared.ordered:
        return [text for text in as_short_text(declared.values).to_list() if text is not None]
    return sorted({piece["value"] for pieces in meanings.values() for piece in pieces if "value" in piece})


def _reach(meanings: Mapping[str, list[Piece]], kind: str) -> dict[str, Any] | None:
    """Return how far open ends are taken to reach: a quarter of the way between the outermost bounds, beyond these."""
    pieces = [piece for some in meanings.values() for piece in some]
    bounds = sorted(point(piece[key]) for piece in pieces for key in ("from", "below", "to", "value") if key in piece)
    if not bounds:
        return None
    step = 1.0 if kind == "dates" else step_of(piece[key] for piece in pieces for key in piece)
    low, high = bounds[0], bounds[-1]
    further = max(math.ceil((high - low) / 4 / step) * step if high > low else abs(high) / 2, step)
    open_low = any("from" not in piece and "value" not in piece for piece in pieces)
    open_high = any("below" not in piece and "to" not in piece and "value" not in piece for piece in pieces)
    if open_low:
        low = max(low - further, 0.0) if low >= 0 and kind == "numbers" else low - further
    high += further if open_high else step
    first, last = _ENDS[kind]
    return {"from": _plain_point(max(low, first), kind), "below": _plain_point(min(high, last), kind)}


def _plain_point(value: float, kind: str) -> Any:
    if kind == "dates":
        whole = float(value).is_integer()
        moment = datetime(1970, 1, 1) + timedelta(days=value)
        return moment.date().isoformat() if whole else moment.isoformat()
    return int(value) if float(value).is_integer() else value


def point(value: Any) -> float:
    """Return a number as it is, and a date as days since 1970; a time of a zone is that of UTC."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        zone = moment.utcoffset() or timedelta()
        return (moment.replace(tzinfo=None) - datetime(1970, 1, 1) - zone) / timedelta(days=1)
    return float(value)


def step_of(values: Any) -> float:
    """Return the smallest step between numbers as they are written: 1 where all are whole, 0.1, 0.01, …"""
    decimals = 0
    for value in values:
        if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
            text = f"{value:.12f}".rstrip("0")
            written = len(text) - text.index(".") - 1
            if abs(value) < _TINY:
                written = -int(Decimal(f"{value:.6g}").normalize().as_tuple().exponent)
            decimals = max(decimals, written)
    return float(10.0 ** -min(decimals, 300))


class _Pieces:
    """Reads the labels of one column."""

    def __init__(self, kind: str, nodes: Mapping[str, list[str]], hierarchy: Hierarchy | None) -> None:
        self._kind = kind
        self._nodes = nodes
        self._hierarchy = hierarchy
        self.mask: HiddenCharacters | None = None

    def reads(self, text: str) -> bool:
        """Whether a label is one of numbers or dates."""
        try:
            pieces = list(self.pieces(text))
        except ValueError:
            return False
        kind = (int, float) if self._kind == "numbers" else str
        return all(piece and all(isinstance(value, kind) for value in piece.values()) for piece in pieces)

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield what a label stands for, one of."""
        if text in self._nodes and self._kind == "names":
            yield from ({"value": value} for value in self._nodes[text])
            return
        match syntax.read(standard_label(text) if self._kind != "names" else text, ordered=self._kind != "names"):
            case syntax.Anything():
                yield {}
            case syntax.Range(low, high, closed):
                if self._kind == "dates":
                    low, high, closed = range_of_days(low, high, closed=closed)
                ends = [("from", low), ("to" if closed else "below", high)]
                given = {key: self._value(bound) for key, bound in ends if bound is not None}
                yield {key: value for key, value in given.items() if self._is_point(value)}
            case syntax.OneOf(names):
                for name in names:
                    yield from self._named(name)
            case syntax.Name(name):
                yield from self._named(name)

    def _named(self, name: str) -> Iterator[Piece]:
        if name in self._nodes:
            yield from ({"value": self._value(value)} for value in self._nodes[name])
            return
        if self._kind == "dates" and (span := _calendar(name)) is not None:
            yield span
            return
        hidden = None if self._hierarchy is None else self._hierarchy.hidden_characters(name)
        if hidden is not None:
            self.mask = hidden
            yield {"pattern": name, "hidden": hidden.number}
            return
        if self._kind == "numbers" and (match := _FROM_TO.match(name)):
            yield {"from": self._value(match[1]), "to": self._value(match[2])}
            return
        value = self._value(name)
        yield {"value": value} if self._is_point(value) else {}  # or a name that says nothing of numbers

    def _is_point(self, value: Any) -> bool:
        return self._kind == "names" or (not isinstance(value, str) if self._kind == "numbers" else _is_date(value))

    def _value(self, text: str) -> Any:
        if self._kind != "numbers":
            return text.replace(" ", "T", 1) if self._kind == "dates" and len(text) > 10 else text
        try:
            whole = int(text)
        except ValueError:
            pass
        else:
            return whole if abs(whole) <= LARGEST else text
        try:
            found = float(text)
        except ValueError:
            return text
        return found if math.isfinite(found) and abs(found) <= LARGEST else text


def _is_date(text: object) -> bool:
    try:
        datetime.fromisoformat(str(text))
    except ValueError:
        return False
    return True


def _calendar(name: str) -> Piece | None:
    """Return the days of a month, quarter, year or decade, or from one to another."""
    found = _YEARS.match(name)
    ends = (name, name) if found is None else (found[1], found[2])
    if any(days_of(end) is None for end in ends):
        return None
    low, high, closed = range_of_days(*ends, closed=True)
    return {"from": low, "to" if closed else "below": high}
