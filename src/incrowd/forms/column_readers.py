"""What each column of a release shows, label by label: which share of a label a question is about, and values to draw.

Numbers are taken in steps of what the labels and the question are written in: whole ones, tenths, … Cost: one pass over
a column's distinct labels for each condition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.query import Condition, listed, spelled_alone
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.label_meanings import ALPHABETS, Piece, point, step_of
from incrowd.forms.likely_values import likely_names, likely_points
from incrowd.forms.reading.labels import number_labels
from incrowd.hierarchies.values import (
    as_dates,
    as_numbers,
    as_short_text,
    as_text,
    natural_kind,
    spelled,
    spelling_of,
    spellings_of,
)

_MISSING_LABEL = -1
_MOST_STEPS = 2.0**53
"""Ranges of more steps are drawn from in wider ones."""
_WHOLE = 1.0 - 1e-9
"""A share from here on is all of it: the rest is rounding."""


class ColumnReader(Protocol):
    """What a column shows, label by label."""

    ordered: ClassVar[bool]
    """Whether its values are numbers or dates."""

    def shares(self, condition: Condition) -> Floats:
        """Return, for each label, which share of those who show it satisfy a condition."""
        ...

    def certain(self, condition: Condition) -> tuple[Bools, Bools]:
        """Return which labels satisfy a condition whatever is behind them, and which may."""
        ...

    @property
    def room(self) -> Floats:
        """How many values each label stands for."""
        ...

    def likely(self, rows: Floats) -> ColumnReader:
        """Return a reader that takes values for as frequent as all labels tell, where so many rows show each label."""
        ...

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return a value for each of some labels, drawn evenly from those that it stands for."""
        ...


def column_of_labels(name: str, labels: pl.Series, told: Mapping[str, Any]) -> ColumnReader:
    """Read a column's distinct labels as they are described."""
    # A label that is not described says nothing. A file may write the number 1 as 1.0.
    texts, known = labels.cast(pl.String), told["labels"]
    numbers = as_short_text(texts.cast(pl.Float64, strict=False)) if told["kind"] == "numbers" else texts
    pieces = [
        None if text is None else known.get(text, known.get(number, [{}]))
        for text, number in zip(texts.to_list(), numbers.to_list(), strict=True)
    ]
    return (NamedColumn if told["kind"] == "names" else OrderedColumn).of(name, pieces, told)


@dataclass(frozen=True, eq=False)
class OrderedColumn:
    """Numbers or dates: label i stands for the pieces `offsets[i]` to `offsets[i + 1]`, from `lows` up to `highs`.

    A piece that is a single value is `exact`, and counts as one step.
    """

    name: str
    dates: bool
    offsets: Ints
    lows: Floats
    highs: Floats
    exact: Bools
    missing: Bools
    step: float
    known: bool
    """Whether any label tells where the values are."""
    open_below: Bools
    open_above: Bools
    """Which pieces have an end that is only assumed."""
    masses: tuple[Floats, Floats] | None = None
    """Cuts and the mass below each, where values are not taken to be spread evenly."""
    ordered: ClassVar[bool] = True

    @classmethod
    def of(cls, name: str, labels: list[list[Piece] | None], told: Mapping[str, Any]) -> OrderedColumn:
        """Read pieces; open ends reach as far as is assumed."""
        pieces = [piece for one in labels if one is not None for piece in one]
        dates = told["kind"] == "dates"
        step = 1.0 if dates else step_of(piece[key] for piece in pieces for key in piece)
        reach = told["assumed"]
        low, high = (point(reach["from"]), point(reach["below"])) if reach is not None else (0.0, 1.0)
        lows, highs, exact, below, above = [], [], [], [], []
        for piece in pieces:
            below.append("value" not in piece and "from" not in piece)
            above.append(not {"value", "to", "below"} & set(piece))
            lows.append(_or(piece.get("value", piece.get("from")), low))
            highs.append(
                point(piece["to"]) + step if "to" in piece else _or(piece.get("value", piece.get("below")), high)
            )
            exact.append("value" in piece)
        offsets = np.concatenate(([0], np.cumsum([0 if one is None else len(one) for one in labels])))
        return cls(
            name, dates, offsets.astype(np.int64), np.array(lows, dtype=np.float64),
            np.array(highs, dtype=np.float64), np.array(exact, dtype=bool),
            np.array([one is None for one in labels], dtype=bool), step, reach is not None,
            np.array(below, dtype=bool), np.array(above, dtype=bool),
        )  # fmt: skip

    def shares(self, condition: Condition) -> Floats:
        """Return how much of what each label stands for is wanted."""
        wanted, missing = self._wanted(condition)
        inside = self._inside(wanted)
        if wanted and not self.known and not self.missing.all():
            raise QueryError(f"column '{self.name}' shows nothing but '*': the release does not tell its values.")
        weights = self._amounts(self.lows, self._ends)
        if self.masses is None:
            weights = np.where(self.exact, self.step, weights)  # also where a step is too small to be added
        whole, part = self._sums(weights), self._sums(inside * weights)
        found = np.divide(part, whole, out=np.zeros(len(self.missing)), where=whole > 0)
        found[self.missing] = float(missing)
        return found

    @property
    def _ends(self) -> Floats:
        return np.where(self.exact, self.lows + self.step, self.highs)

    def _amounts(self, lows: Floats, highs: Floats) -> Floats:
        """Return how much lies between points: their distance, or the mass there."""
        if self.masses is None:
            with np.errstate(invalid="ignore"):
                width = highs - lows
            return np.maximum(np.where(np.isnan(width), self.step, width), 1e-300)  # an infinite value is a point
        below = [np.interp(points, *self.masses) for points in (lows, highs)]
        return np.maximum(below[1] - below[0], 1e-300)

    def _inside(self, wanted: list[tuple[float, float, float]]) -> Floats:
        """Return which share of each piece is in any of some ranges."""
        whole, inside = self._amounts(self.lows, self._ends), np.zeros(len(self.lows))
        for low, high, step in wanted:
            fits = (self.lows >= low) & (self.lows <= high)
            first, last = np.maximum(self.lows, low), np.minimum(self._ends, high + step)
            part = np.where(last > first, self._amounts(first, np.maximum(last, first)) / whole, 0.0)
            inside += np.where(self.exact, fits, part)
        return np.minimum(inside, 1.0)

    def likely(self, rows: Floats) -> OrderedColumn:
        """Return a reader that takes values for as frequent as all labels tell."""
        if not self.known or not len(self.lows):
            return self
        return replace(self, masses=likely_points(self.offsets, self.lows, self._ends, rows))

    def certain(self, condition: Condition) -> tuple[Bools, Bools]:
        """Return which labels satisfy a condition whatever is behind them, and which may.

        An end that is only assumed may be further away, and `*` may also be a missing value.
        """
        wanted, missing = self._wanted(condition)
        inside = self._inside(wanted)
        sure, possible = inside >= _WHOLE, inside > 0
        lowest = min((low for low, _, _ in wanted), default=np.inf)
        highest = max((high for _, high, _ in wanted), default=-np.inf)
        sure &= (~self.open_below | (lowest == -np.inf)) & (~self.open_above | (highest == np.inf))
        sure &= ~(self.open_below & self.open_above)
        possible |= self.open_below & (lowest < self.highs) | self.open_above & (highest >= self.lows)
        possible |= self.open_below & self.open_above & missing
        all_sure = self._sums((~sure).astype(np.float64)) == 0
        any_possible = self._sums(possible.astype(np.float64)) > 0
        return np.where(self.missing, missing, all_sure), np.where(self.missing, missing, any_possible)

    @property
    def room(self) -> Floats:
        """How many steps each label stands for."""
        return np.maximum(self._sums(np.where(self.exact, 1.0, (self.highs - self.lows) / self.step)), 1.0)

    def _sums(self, amounts: Floats) -> Floats:
        before = np.concatenate(([0.0], np.cumsum(amounts)))
        return np.asarray(before[self.offsets[1:]] - before[self.offsets[:-1]])

    def _wanted(self, condition: Condition) -> tuple[list[tuple[float, float, float]], bool]:
        """Return ranges, both ends included, each with the step that it is written in; and whether missing is asked."""
        if isinstance(condition, tuple):
            if len(condition) != 2:
                raise QueryError(f"column '{self.name}': a range is a pair (low, high); None leaves an end open.")
            low, high = (None if bound is None else self._points([bound])[0] for bound in condition)
            step = self._step([bound for bound in (low, high) if bound is not None])
            return [(-np.inf if low is None else low, np.inf if high is None else high, step)], False
        values = listed(condition)
        points = sorted(set(self._points([value for value in values if value is not None])))
        return [(value, value, self._step([value])) for value in points], any(value is None for value in values)

    def _points(self, values: list[Any]) -> list[float]:
        kinds = {type(value) for value in values}
        quick = kinds == {date} if self.dates else kinds in ({int}, {float}) and max(map(abs, values)) < _MOST_STEPS
        if quick or not values:  # most questions are about such values: no series is needed to read them
            return [point(_plain(value)) for value in values]
        try:
            given = pl.Series(values)
            parsed = as_dates(given) if self.dates else as_numbers(given)
        except (pl.exceptions.PolarsError, TypeError):
            parsed = None
        if parsed is None or parsed.null_count():
            kind = "date" if self.dates else "number"
            raise QueryError(f"column '{self.name}': a condition is not of the column's kind ({kind}).")
        if not self.dates:
            return [float(value) for value in parsed.to_list()]
        return [point(value.isoformat()) for value in parsed.to_list()]

    def _step(self, points: list[float]) -> float:
        if self.dates:
            return 1.0 if all(value.is_integer() for value in points) else 1 / 86_400
        return min(self.step, step_of(points))

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return numbers in steps of the labels' own, or days."""
        piece = _pick(self.offsets, labels, rng)
        there = piece >= 0
        lows, highs = self.lows[piece], self.highs[piece]
        step = np.maximum(self.step, (highs - lows) / _MOST_STEPS)
        steps = np.maximum(np.ceil((highs - lows) / step - 1e-9), 1).astype(np.int64)
        drawn = lows + rng.integers(0, np.where(self.exact[piece], 1, steps)) * step
        if self.dates:
            days = pl.Series(self.name, np.where(there, np.floor(drawn), 0).astype(np.int32)).cast(pl.Date)
            return pl.select(pl.when(pl.Series(there)).then(days)).to_series().alias(self.name)
        values = _rounded(drawn, self.step)
        whole = self.step >= 1 and bool((values[there] == np.floor(values[there])).all())
        whole = whole and bool((np.abs(values[there]) < 2.0**63).all())
        column = pl.Series(self.name, np.where(there, values, 0.0))
        column = column.cast(pl.Int64) if whole else column
        return pl.select(pl.when(pl.Series(there)).then(column)).to_series().alias(self.name)


def _rounded(values: Floats, step: float) -> Floats:
    """Leave out the digits that rounding added to numbers that are told in steps; numbers too large for that stay."""
    with np.errstate(over="ignore"):
        found = np.round(values, max(12, round(-np.log10(step))))
    return np.where(np.isfinite(found), found, values)


def _or(value: Any, otherwise: float) -> float:
    return otherwise if value is None else point(value)


def _pick(offsets: Ints, labels: Ints, rng: np.random.Generator) -> Ints:
    """Return a piece of each label, drawn evenly; -1 where it has none."""
    lengths = offsets[labels + 1] - offsets[labels]
    chosen = offsets[labels] + rng.integers(0, np.maximum(lengths, 1))
    return np.where(lengths > 0, chosen, _MISSING_LABEL)


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """Names: label i stands for the pieces `offsets[i]` to `offsets[i + 1]`, which are `texts` by number.

    Piece j stands for `sizes[j]` names: one, or as many as may be behind the hidden characters of a code.
    """

    name: str
    texts: tuple[str, ...]
    offsets: Ints
    pieces: Ints
    sizes: Floats
    missing: Bools
    names: Mapping[str, int]
    """The names among the texts, with their numbers."""
    patterns: Mapping[str, int]
    """The codes with hidden characters."""
    mask: Mapping[str, str]
    anything: Bools
    """Which labels are `*`."""
    masses: Floats | None = None
    """How frequent each text is, where names are not taken to be equally frequent."""
    ordered: ClassVar[bool] = False

    @classmethod
    def of(cls, name: str, labels: list[list[Piece] | None], told: Mapping[str, Any]) -> NamedColumn:
        """Read names; `*` is any of those that are assumed."""
        anything = [{"value": value} for value in told["assumed"]]
        whole = [() if one is None else anything if one == [{}] else one for one in labels]
        known = [piece for one in whole for piece in one if piece]
        names = tuple(dict.fromkeys([*told["assumed"], *(piece["value"] for piece in known if "value" in piece)]))
        patterns = tuple(dict.fromkeys(piece["pattern"] for piece in known if "pattern" in piece))
        numbers = {text: number for number, text in enumerate(names)}
        hidden = {text: number for number, text in enumerate(patterns, start=len(names))}
        mask = told.get("mask", {})
        alphabet = float(ALPHABETS[mask["stands for"]]) if mask else 1.0
        return cls(
            name,
            (*names, *patterns),
            np.concatenate(([0], np.cumsum([sum(map(bool, one)) for one in whole]))).astype(np.int64),
            np.array([numbers[one["value"]] if "value" in one else hidden[one["pattern"]] for one in known], np.int64),
            np.array([alphabet ** one.get("hidden", 0) for one in known], dtype=np.float64),
            np.array([one is None for one in labels], dtype=bool),
            numbers,
            hidden,
            mask,
            np.array([one == [{}] for one in labels], dtype=bool),
        )

    def shares(self, condition: Condition) -> Floats:
        """Return which share of the names that each label stands for is wanted."""
        if isinstance(condition, tuple):
            raise QueryError(
                f"column '{self.name}' holds names: a range has no meaning there.  Hint: ask with a list of values."
            )
        wanted, missing = _texts(self.name, condition, names=True)
        amounts = np.zeros(len(self.texts))
        for spelling, text in sorted(wanted.items()):
            found = [*self._hidden(text), *([self._by_spelling[spelling]] if spelling in self._by_spelling else [])]
            if not found:
                raise self._unknown(text)
            amounts[found] += 1
        weights = self.sizes if self.masses is None else self.masses[self.pieces]
        of_labels, whole = self._sums(amounts[self.pieces] * (weights / self.sizes)), self._sums(weights)
        shares = np.divide(of_labels, whole, out=np.zeros(len(whole)), where=whole > 0)
        shares[self.missing] = float(missing)
        return np.asarray(shares)

    def certain(self, condition: Condition) -> tuple[Bools, Bools]:
        """Return which labels satisfy a condition whatever is behind them, and which may: `*` may be anything."""
        shares = self.shares(condition)
        return (shares >= _WHOLE) & ~self.anything, (shares > 0) | self.anything

    def likely(self, rows: Floats) -> NamedColumn:
        """Return a reader that takes names for as frequent as all labels tell."""
        return (
            replace(self, masses=likely_names(self.offsets, self.pieces, self.sizes, rows, len(self.texts)))
            if len(self.pieces)
            else self
        )

    @property
    def room(self) -> Floats:
        """How many names each label stands for."""
        return np.maximum(self._sums(self.sizes), 1.0)

    @cached_property
    def _by_spelling(self) -> dict[str, int]:
        """The names' numbers, by what all spellings of a name have in common."""
        known = spelling_of(pl.Series(list(self.names), dtype=pl.String)).to_list()
        return dict(zip(known, self.names.values(), strict=True))

    def _sums(self, amounts: Floats) -> Floats:
        """Add up amounts of pieces, label by label: apart, since a code may stand for more names than floats tell."""
        label_of = np.repeat(np.arange(len(self.missing)), np.diff(self.offsets))
        return np.bincount(label_of, weights=amounts, minlength=len(self.missing)).astype(np.float64)

    def _unknown(self, text: str) -> QueryError:
        if not self.texts:
            return QueryError(f"column '{self.name}' shows nothing but '*': the release does not tell its values.")
        return QueryError(f"column '{self.name}' has no value '{text}'.{did_you_mean(text, self.names)}")

    def _hidden(self, text: str) -> Iterator[int]:
        """Yield the codes with hidden characters that a name may be behind."""
        if not self.patterns:
            return
        mask = self.mask["character"]
        for hidden in range(1, len(text) + 1):
            shown = text[: len(text) - hidden] + mask * hidden
            if self.mask["side"] == "left":
                shown = mask * hidden + text[hidden:]
            if shown in self.patterns:
                yield self.patterns[shown]

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return names, drawn by how many a piece stands for; codes with hidden characters stay as they are."""
        ends = np.cumsum(self.sizes)
        starts = np.concatenate(([0.0], ends))
        low, high = starts[self.offsets[labels]], starts[self.offsets[labels + 1]]
        drawn = low + rng.random(len(labels)) * (high - low)
        piece = np.clip(np.searchsorted(ends, drawn, side="right"), self.offsets[labels], self.offsets[labels + 1] - 1)
        there = high > low
        texts = pl.Series([*self.texts, None], dtype=pl.String)
        pieces = np.append(self.pieces, len(self.texts))
        return texts.gather(pieces[np.where(there, piece, len(self.pieces))]).alias(self.name)


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A column that is published as it is: label i is the value `values[i]`."""

    name: str
    values: pl.Series
    ordered: ClassVar[bool] = False

    def shares(self, condition: Condition) -> Floats:
        """Tell of each value whether it satisfies a condition."""
        if isinstance(condition, tuple):
            return self._in_range(condition).astype(np.float64)
        ordered = self.values.dtype.is_numeric() or self.values.dtype.is_temporal()
        names = self.values.dtype == pl.String
        wanted, missing = _texts(self.name, condition, names=names)
        if ordered:
            self._as_ordered._wanted(condition)  # refused here, where it is of another kind
        else:
            for spelling in sorted(set(wanted) - set(self._spellings)):
                text, known = wanted[spelling], spelled(self.values).drop_nulls().to_list()
                raise QueryError(f"column '{self.name}' has no value '{text}'.{did_you_mean(text, known)}")
        return np.array([missing if text is None else text in wanted for text in self._spellings], dtype=np.float64)

    @cached_property
    def _spellings(self) -> list[str | None]:
        """What all spellings of each value have in common."""
        return (spelling_of(self.values) if self.values.dtype == pl.String else spelled(self.values)).to_list()

    def certain(self, condition: Condition) -> tuple[Bools, Bools]:
        """Tell of each value whether it satisfies a condition; both are the same."""
        found = self.shares(condition) > 0
        return found, found

    def likely(self, rows: Floats) -> ValueColumn:
        """Return itself: values are told."""
        return self

    @property
    def room(self) -> Floats:
        """A value stands for itself."""
        return np.ones(len(self.values))

    def _in_range(self, condition: tuple[Any, ...]) -> Bools:
        values = self.values
        if values.dtype == pl.String or not (values.dtype.is_numeric() or values.dtype.is_temporal()):
            raise QueryError(
                f"column '{self.name}' holds names: a range has no meaning there.  Hint: ask with a list of values."
            )
        asked, _ = self._as_ordered._wanted(condition)
        low, high, _ = asked[0]
        return np.asarray((self._points >= low) & (self._points <= high))

    @cached_property
    def _points(self) -> Floats:
        return np.array([np.nan if value is None else point(_plain(value)) for value in self.values.to_list()])

    @cached_property
    def _as_ordered(self) -> OrderedColumn:
        told = {"kind": "dates" if self.values.dtype.is_temporal() else "numbers", "assumed": None}
        return OrderedColumn.of(self.name, [], told)

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return the values as they are."""
        return self.values.alias("").gather(labels).alias(self.name)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _texts(column: str, condition: Condition, *, names: bool) -> tuple[dict[str, str], bool]:
    """Return the values of a condition as texts, and whether missing is one of them.

    Each text has a key, which is the same for all spellings of a value: in a column of names, `5` and `5.0` are one.
    """
    values = listed(condition)
    try:
        given = [value for value in values if value is not None]
        texts = [_text(value, names=names) for value in given]
    except (pl.exceptions.PolarsError, TypeError):
        raise QueryError(f"column '{column}': a condition is a value, a list of values, or a pair of bounds.") from None
    keys = spellings_of(texts) if names else texts
    return dict(zip(keys, texts, strict=True)), len(given) < len(values)


def _text(value: object, *, names: bool) -> str:
    if names or type(value) in (int, date) or (type(value) is float and math.isfinite(value)):
        return spelled_alone(value)  # such values are of their natural kind
    return str(spelled(natural_kind(pl.Series([value])))[0])


def _as_files_tell(values: pl.Series) -> pl.Series:
    """Return values as the kind that every file tells: texts, too, have neither zones nor numbers of any length."""
    found = natural_kind(values)
    if found.dtype == pl.Datetime:
        zone = found.dtype.time_zone  # type: ignore[attr-defined]
        found = found.dt.cast_time_unit("us")
        return found if zone is None else found.dt.convert_time_zone("UTC")
    known = found.drop_nulls()
    if found.dtype.is_float() and not known.is_finite().all():
        return as_text(values)
    too_long = found.dtype.is_integer() and known.cast(pl.Int64, strict=False).null_count() > 0
    return found.cast(pl.String) if too_long else found


def number_values(name: str, values: pl.Series) -> tuple[Ints, ValueColumn]:
    """Return each value by number, and the distinct ones by their texts.

    A file need not tell in which order the values were numbered.
    """
    natural = _as_files_tell(values)
    numbers, texts = number_labels(spelled(natural))
    first = np.zeros(len(texts), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return numbers, ValueColumn(name, natural.alias("").gather(first))


@dataclass(frozen=True, eq=False)
class SetColumn:
    """Sets of items: set i shows the labels `members[offsets[i]:offsets[i + 1]]`, each of which is one of its items."""

    labels: NamedColumn
    offsets: Ints
    members: Ints
    ordered: ClassVar[bool] = False

    @classmethod
    def of(cls, name: str, lists: pl.Series, told: Mapping[str, Any]) -> SetColumn:
        """Read distinct lists of labels as these are described."""
        lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        shown = lists.filter(pl.Series(lengths > 0)).explode()
        members, labels = number_labels(shown.cast(pl.String))
        pieces: list[list[Piece] | None] = [told["labels"].get(label, [{}]) for label in labels.to_list()]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return cls(NamedColumn.of(name, pieces, told), offsets, members)

    def shares(self, condition: Condition) -> Floats:
        """Return how likely each set holds all items of a condition, each label standing for any of its items."""
        wanted = [condition] if isinstance(condition, tuple) else listed(condition)
        owner, found = self._owner, np.ones(len(self.offsets) - 1)
        for item in wanted:
            of_labels = self.labels.shares(item)
            best = np.zeros(len(found))
            np.maximum.at(best, owner, of_labels[self.members])
            found *= best
        return found

    def certain(self, condition: Condition) -> tuple[Bools, Bools]:
        """Return which sets hold all items for sure; any may, since items may have been left out."""
        return self.shares(condition) >= _WHOLE, np.ones(len(self.offsets) - 1, dtype=bool)

    def likely(self, rows: Floats) -> SetColumn:
        """Return itself."""
        return self

    @property
    def _owner(self) -> Ints:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def room(self) -> Floats:
        """How many items the widest label of each set stands for."""
        found = np.ones(len(self.offsets) - 1)
        np.maximum.at(found, self._owner, self.labels.room[self.members])
        return found

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return nothing: sets are no features to learn from."""
        return pl.Series(self.labels.name, [None] * len(labels), dtype=pl.Null)
