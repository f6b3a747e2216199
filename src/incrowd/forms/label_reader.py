"""Counts and rows from labels alone: what a reader of the files can tell, and so what the publisher is told as well.

A group's members are spread evenly over what their labels stand for, as `label_meanings.py` describes it. Numbers are
taken in steps of what the labels and the question are written in: whole ones, tenths, … Cost: one pass over a column's
distinct labels for each condition, and one over the lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Counts, Floats, Ints
from incrowd.core.labelled import Labelled
from incrowd.core.query import Condition, Query, listed, spelled
from incrowd.core.shown_weights import WeightedLines
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.label_meanings import ALPHABETS, Piece, point, step_of
from incrowd.forms.reading.labels import number_labels
from incrowd.hierarchies.values import as_dates, as_numbers, natural_kind, spelling_of

_MISSING_LABEL = -1
_MOST_STEPS = 2.0**53
"""Ranges of more steps are drawn from in wider ones."""


class ColumnReader(Protocol):
    """What a column shows, label by label."""

    def shares(self, condition: Condition) -> Floats:
        """Return, for each label, which share of those who show it satisfy a condition."""
        ...

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return a value for each of some labels, drawn evenly from those that it stands for."""
        ...


@dataclass(frozen=True, eq=False)
class LabelReader:
    """A release as its labels tell it: line i is `counts[i]` rows that show `shown[name][i]` in each column, by number.

    Lines are in an order that depends on nothing but what they show, so that chance and rounding are the same for
    whoever reads them.
    """

    columns: Mapping[str, ColumnReader]
    shown: Mapping[str, Ints]
    counts: Counts
    names: tuple[str, ...]
    """The columns in the order in which they are written."""
    weighted: WeightedLines | None = None
    """What its lines weigh, where there are survey weights."""

    @classmethod
    def of(cls, form: Labelled, described: Mapping[str, Any]) -> LabelReader:
        """Read the labels of a form as they are described."""
        columns: dict[str, ColumnReader] = {}
        shown: dict[str, Ints] = {}
        for name in form.shown.columns:
            numbers, labels = number_labels(form.shown.labels[name])
            columns[name] = _column_reader(name, labels, described["columns"][name])
            shown[name] = numbers[form.groups]
        for place, name in enumerate(form.schema.sensitive):
            there, codes = np.unique(form.sensitive[:, place], return_inverse=True)
            # By their texts: a file need not tell in which order the values were numbered.
            values = _as_files_tell(form.tally.trees[name].values.gather(there))
            order = spelled(values).arg_sort(nulls_last=False).to_numpy()
            number = np.empty(len(order), dtype=np.int64)
            number[order] = np.arange(len(order))
            columns[name], shown[name] = ValueColumn(name, values.gather(order)), number[codes]
        lines = np.lexsort([shown[name] for name in sorted(shown)]) if shown else np.arange(len(form.counts))
        return cls(
            columns,
            {name: numbers[lines] for name, numbers in shown.items()},
            form.counts[lines],
            form.schema.tallied,
            None if form.weighted is None else form.weighted.reordered(lines),
        )

    def count(self, query: Query, *, weighted: bool = True) -> float:
        """Estimate how many published rows satisfy every condition, or what they weigh, where there are weights."""
        found = self.counts.astype(np.float64)
        if weighted and self.weighted is not None:
            found = self.weighted.totals(len(self.counts))
        for name, condition in query.items():
            if name not in self.columns:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the release."
                    + did_you_mean(name, self.columns)
                )
            found *= self.columns[name].shares(condition)[self.shown[name]]
        return float(found.sum())

    def rows(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return one row for each published one, drawn from what its labels stand for."""
        lines = np.repeat(np.arange(len(self.counts)), self.counts)
        return pl.DataFrame([self.columns[name].draw(self.shown[name][lines], rng) for name in self.names])

    def row_weights(self) -> Floats | None:
        """Return the published weight of each of these rows, which come line by line."""
        return None if self.weighted is None else np.repeat(self.weighted.weights, self.weighted.counts)


def _column_reader(name: str, labels: pl.Series, told: Mapping[str, Any]) -> ColumnReader:
    # A label that is not described says nothing.
    pieces = [None if label is None else told["labels"].get(str(label), [{}]) for label in labels.to_list()]
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

    @classmethod
    def of(cls, name: str, labels: list[list[Piece] | None], told: Mapping[str, Any]) -> OrderedColumn:
        """Read pieces; open ends reach as far as is assumed."""
        pieces = [piece for one in labels if one is not None for piece in one]
        dates = told["kind"] == "dates"
        step = 1.0 if dates else step_of(piece[key] for piece in pieces for key in piece)
        reach = told["assumed"]
        low, high = (point(reach["from"]), point(reach["below"])) if reach is not None else (0.0, 1.0)
        lows, highs, exact = [], [], []
        for piece in pieces:
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
        )  # fmt: skip

    def shares(self, condition: Condition) -> Floats:
        """Return how much of what each label stands for is wanted."""
        wanted, missing = self._wanted(condition)
        width = np.where(self.exact, 1.0, np.maximum(self.highs - self.lows, 1e-300))
        inside = np.zeros(len(self.lows))
        for low, high, step in wanted:
            fits = (self.lows >= low) & (self.lows <= high)
            overlap = np.minimum(self.highs, high + step) - np.maximum(self.lows, low)
            inside += np.where(self.exact, fits, np.clip(overlap, 0.0, width))
        if wanted and not self.known and not self.missing.all():
            raise QueryError(f"column '{self.name}' shows nothing but '*': the release does not tell its values.")
        weights = np.where(self.exact, self.step, width)
        whole, part = self._sums(weights), self._sums(np.minimum(inside, width) * weights / width)
        found = np.divide(part, whole, out=np.zeros(len(self.missing)), where=whole > 0)
        found[self.missing] = float(missing)
        return found

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
        if not values:
            return []
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
        )

    def shares(self, condition: Condition) -> Floats:
        """Return which share of the names that each label stands for is wanted."""
        if isinstance(condition, tuple):
            raise QueryError(
                f"column '{self.name}' holds names: a range has no meaning there.  Hint: ask with a list of values."
            )
        wanted, missing = _texts(self.name, condition, names=True)
        amounts = np.zeros(len(self.texts))
        known = spelling_of(pl.Series(list(self.names), dtype=pl.String)).to_list()
        numbers = dict(zip(known, self.names.values(), strict=True))
        for spelling, text in sorted(wanted.items()):
            found = [*self._hidden(text), *([numbers[spelling]] if spelling in numbers else [])]
            if not found:
                raise self._unknown(text)
            amounts[found] += 1
        of_labels, whole = self._sums(amounts[self.pieces]), self._sums(self.sizes)
        shares = np.divide(of_labels, whole, out=np.zeros(len(whole)), where=whole > 0)
        shares[self.missing] = float(missing)
        return np.asarray(shares)

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

    def shares(self, condition: Condition) -> Floats:
        """Tell of each value whether it satisfies a condition."""
        if isinstance(condition, tuple):
            return self._in_range(condition).astype(np.float64)
        names = self.values.dtype == pl.String
        wanted, missing = _texts(self.name, condition, names=names)
        texts = (spelling_of(self.values) if names else spelled(self.values)).to_list()
        if names:
            known = self.values.drop_nulls().to_list()
            for spelling in sorted(set(wanted) - set(texts)):
                text = wanted[spelling]
                raise QueryError(f"column '{self.name}' has no value '{text}'.{did_you_mean(text, known)}")
        return np.array([missing if text is None else text in wanted for text in texts], dtype=np.float64)

    def _in_range(self, condition: tuple[Any, ...]) -> Bools:
        values = self.values
        if values.dtype == pl.String or not (values.dtype.is_numeric() or values.dtype.is_temporal()):
            raise QueryError(
                f"column '{self.name}' holds names: a range has no meaning there.  Hint: ask with a list of values."
            )
        dates = values.dtype.is_temporal()
        told = {"kind": "dates" if dates else "numbers", "assumed": None}
        asked, _ = OrderedColumn.of(self.name, [], told)._wanted(condition)
        points = np.array([np.nan if value is None else point(_plain(value)) for value in values.to_list()])
        low, high, _ = asked[0]
        return np.asarray((points >= low) & (points <= high))

    def draw(self, labels: Ints, rng: np.random.Generator) -> pl.Series:
        """Return the values as they are."""
        return self.values.gather(labels).alias(self.name)


def _as_files_tell(values: pl.Series) -> pl.Series:
    """Return values as the kind that every file tells: texts, too, have neither zones nor numbers of any length."""
    found = natural_kind(values)
    if found.dtype == pl.Datetime:
        zone = found.dtype.time_zone  # type: ignore[attr-defined]
        found = found.dt.cast_time_unit("us")
        return found if zone is None else found.dt.convert_time_zone("UTC")
    known = found.drop_nulls()
    if found.dtype.is_float() and not known.is_finite().all():
        return values.cast(pl.String)
    too_long = found.dtype.is_integer() and known.cast(pl.Int64, strict=False).null_count() > 0
    return found.cast(pl.String) if too_long else found


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _texts(column: str, condition: Condition, *, names: bool) -> tuple[dict[str, str], bool]:
    """Return the values of a condition as texts, and whether missing is one of them.

    Each text has a key, which is the same for all spellings of a value: in a column of names, `5` and `5.0` are one.
    """
    values = listed(condition)
    try:
        given = [value for value in values if value is not None]
        series = [pl.Series([value]) for value in given]
        texts = [str(spelled(one if names else natural_kind(one))[0]) for one in series]
    except (pl.exceptions.PolarsError, TypeError):
        raise QueryError(f"column '{column}': a condition is a value, a list of values, or a pair of bounds.") from None
    keys = spelling_of(pl.Series(texts, dtype=pl.String)).to_list() if names else texts
    return dict(zip(keys, texts, strict=True)), len(given) < len(values)
