"""The scheme of a release, applied to other rows: the same labels, and nothing new.

Where all groups share levels, columns are recoded one by one: a value gets the label of the release that holds it, or,
where the hierarchy says so without looking at data, the name of its node at that level. Elsewhere a row must fit the
labels of a group of the release; of several, it gets the tightest. What fits none, and groups that fail a model, are
withheld. Cost: one pass over a column's values per distinct label, and `kernels/boxes_and_points_pairs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.labelled import ShownGroups
from incrowd.core.method import Method
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import WITHHELD, Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.show import Show
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.forms.generalized import Generalized
from incrowd.forms.label_meanings import point
from incrowd.forms.reading.labels import number_labels, runs_of_labels
from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.meaning import label_masks
from incrowd.hierarchies.naming import Pieces
from incrowd.hierarchies.others_apart import NOT_LISTED, OthersApart
from incrowd.hierarchies.tree import Tree
from incrowd.kernels.boxes_and_points_pairs import boxes_of_points
from incrowd.methods.grouping import Grouper

FITS_NO_GROUP = "fit no group of the scheme"
IN_FAILING_GROUPS = "in groups that fail a model"


@dataclass(frozen=True, eq=False)
class SchemeGroups:
    """What the groups of a release show: a label in each column, and numbers in place of some of these."""

    labels: pl.DataFrame
    """A row for each group; columns are the quasi-identifiers."""
    stand_ins: Mapping[str, pl.DataFrame]
    meanings: Mapping[str, Any]
    """What the labels stand for, as `labels.json` tells it."""
    levels: Mapping[str, int] | None
    """The level of each column, where all groups share it."""
    show: Mapping[str, Show]

    @property
    def by_column(self) -> bool:
        """Whether columns are recoded one by one, so that there may be combinations that the release lacks."""
        return self.levels is not None and not self.stand_ins

    @classmethod
    def of(cls, shown: ShownGroups, schema: Schema, meanings: Mapping[str, Any]) -> SchemeGroups:
        """Return the scheme of groups that are shown."""
        labels = pl.DataFrame({name: shown.labels[name].cast(pl.String) for name in shown.columns})
        levels = None if shown.levels is None else dict(zip(shown.columns, shown.levels, strict=True))
        return cls(labels, shown.stand_ins, meanings, levels, dict(schema.show)).sorted()

    def sorted(self) -> SchemeGroups:
        """Return the groups in an order that depends on nothing but what they show."""
        keys = [
            self.labels,
            *(frame.rename({c: f"\0{n} {c}" for c in frame.columns}) for n, frame in self.stand_ins.items()),
        ]
        order = pl.concat(keys, how="horizontal").select(pl.struct(pl.all()).arg_sort()).to_series()
        return replace(
            self, labels=self.labels[order], stand_ins={name: frame[order] for name, frame in self.stand_ins.items()}
        )

    @cached_property
    def room(self) -> Floats:
        """The logarithm of the share of all combinations of values that the labels of each group stand for."""
        found = np.zeros(self.labels.height)
        for name in self.labels.columns:
            label_of, distinct = number_labels(self.labels[name])
            told = self.meanings["columns"][name]
            shares = np.array([_share(told, label) for label in distinct.to_list()])
            found += np.log(shares)[label_of]
        return found


@dataclass(frozen=True, eq=False)
class _ShowScheme(Showing):
    """Show groups by the labels of a scheme."""

    labels: pl.DataFrame
    stand_ins: Mapping[str, pl.DataFrame]
    levels: tuple[int, ...] | None
    name: ClassVar[str] = "generalized"

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> Generalized:
        """Count what is published of a tally."""
        used = np.unique(recoding.groups[recoding.published])
        place = np.full(self.labels.height + 1, WITHHELD, dtype=np.int64)
        place[used] = np.arange(len(used))
        lows, highs = (
            np.empty((len(used), len(recoding.columns)), np.int32),
            np.empty((len(used), len(recoding.columns)), np.int32),
        )
        texts: dict[str, pl.Series] = {}
        torn: dict[str, tuple[Ints, Pieces]] = {}
        for at, name in enumerate(recoding.columns):
            texts[name] = self.labels[name].alias("").gather(used)
            label_of, distinct = number_labels(texts[name])
            low, high, pieces = runs_of_labels(name, tally.trees[name], distinct, ours=True)
            lows[:, at], highs[:, at] = low[label_of], high[label_of]
            if pieces is not None:
                torn[name] = (label_of, pieces)
        shown = ShownGroups(
            recoding.columns, texts, lows, highs, place[recoding.groups], torn,
            stand_ins={name: frame[used] for name, frame in self.stand_ins.items()}, levels=self.levels,
        )  # fmt: skip
        return Generalized.shown_as(tally, schema, recoding, shown, rows_in=rows_in)


@dataclass(frozen=True)
class Scheme(Method):
    """The labels of an earlier release, given to other rows; what fits none, or fails a model, is withheld.

    Parameters
    ----------
    release : the directory of the release whose scheme it is (default: "", none; `Release.scheme` knows its own).

    So a second delivery looks like the first one. `incrowd apply RELEASE new.csv` does it from files alone. Models are
    verified on the new release by itself. Whoever has both releases can compare them: audit the second one with
    `earlier=[first]`.
    """

    release: str = field(default="", repr=False)  # a place on this machine, which no summary tells
    groups: SchemeGroups | None = field(default=None, compare=False, repr=False)
    name: ClassVar[str] = "scheme"

    @classmethod
    def recipe_keys(cls) -> Mapping[str, bool]:
        """The release; its groups are read from there."""
        return {"release": False}

    @classmethod
    def from_recipe(cls, given: Mapping[str, Any], base: Path) -> Self:
        """Make one from the keys of a recipe."""
        return cls(str(base / str(given["release"])) if given.get("release") else "")

    def to_recipe(self) -> dict[str, Any]:
        """Return where the release is."""
        return {"release": self.release} if self.release else {}

    def seen_from(self, moved: Callable[[object], str]) -> Self:
        """Return it with the path as it reads from elsewhere."""
        return replace(self, release=moved(self.release)) if self.release else self

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """None: there is no scheme without a release."""
        return ()

    def counted_as(self, schema: Schema) -> Schema:
        """Values that a category tree does not list are no error here: their rows fit no group."""
        quasi, sensitive = (
            {name: OthersApart(one) if isinstance(one, Categories) else one for name, one in columns.items()}
            for columns in (schema.quasi, schema.sensitive)
        )
        return replace(schema, quasi=quasi, sensitive=sensitive)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Give each tuple the labels that hold it. Deterministic: `rng` is not used."""
        scheme = self.groups
        if scheme is None:
            raise RecipeError('the method scheme names no release.  Hint: release = "first-release".')
        columns = tuple(sorted(schema.quasi))
        if set(columns) != set(scheme.labels.columns):
            raise RecipeError(
                f"the scheme has the quasi-identifiers {', '.join(scheme.labels.columns)}, and the table has others.  "
                "Hint: give its columns the roles that they had."
            )
        masks = {name: _masks(name, tally.trees[name], scheme.labels[name]) for name in columns}
        if scheme.by_column:
            group_of, labels = _by_column(tally, columns, scheme, masks)
        else:
            group_of, labels = _by_group(tally, columns, scheme, masks), scheme.labels
        for name in schema.sensitive:
            group_of = np.where(_not_listed(tally.trees[name])[tally.column(name)], WITHHELD, group_of)
        fits = group_of != WITHHELD
        group_of = _without_failing(tally, schema, require, group_of)
        unfit, failing = tally.counts[~fits].sum(), tally.counts[fits & (group_of == WITHHELD)].sum()
        if not (group_of != WITHHELD).any():
            raise Unsatisfiable(
                f"nothing is left: of {tally.rows:,} rows, {int(unfit):,} fit no group of the scheme, and "
                f"{int(failing):,} are in groups that fail a model.  Hint: publish the table by itself."
            )
        levels = None if scheme.levels is None else tuple(scheme.levels[name] for name in columns)
        nothing = np.zeros((labels.height, len(columns)), dtype=np.int32)
        return Recoding(
            np.arange(len(tally)), tally.counts, group_of, columns, nothing, nothing + 1,
            "level" if scheme.levels is not None else "region",
            form=_ShowScheme(labels, {} if scheme.by_column else scheme.stand_ins, levels),
            told={FITS_NO_GROUP: int(unfit), IN_FAILING_GROUPS: int(failing)},
        )  # fmt: skip


def _by_column(
    tally: Tally, columns: tuple[str, ...], scheme: SchemeGroups, masks: Mapping[str, tuple[pl.Series, Bools]]
) -> tuple[Ints, pl.DataFrame]:
    """Return each tuple's group, and the labels of these: combinations of labels, also of those that are new."""
    numbers = np.empty((len(tally), len(columns)), dtype=np.int32)
    texts: dict[str, pl.Series] = {}
    for at, name in enumerate(columns):
        distinct, held = masks[name]
        tree = tally.trees[name]
        label_of_code = np.where(held.any(axis=0), held.argmax(axis=0), -1)
        texts[name] = distinct
        assert scheme.levels is not None
        level = scheme.levels[name]
        left = np.flatnonzero(label_of_code < 0)
        if len(left) and not tree.from_data and level <= tree.height:
            names = tree.names[level].gather(tree.nodes[level, left])
            listed = names.is_not_null().to_numpy() & ~_not_listed(tree)[left]
            known = listed if level else np.zeros(len(left), dtype=bool)
            more = names.filter(pl.Series(known)).unique().sort()
            place = pl.DataFrame({"name": names}).join(
                pl.DataFrame({"name": more}).with_row_index("at"), on="name", how="left", maintain_order="left"
            )["at"].fill_null(0).to_numpy().astype(np.int64)  # fmt: skip
            label_of_code[left[known]] = len(distinct) + place[known]
            written = more if tree.ordered else pl.Series([syntax.write_name(text) for text in more], dtype=pl.String)
            texts[name] = pl.concat([distinct, written.alias("")])
        numbers[:, at] = label_of_code[tally.column(name)]
    fits = (numbers >= 0).all(axis=1)
    sizes = [len(texts[name]) for name in columns]
    index, first = group_tuples(numbers[fits], sizes) if fits.any() else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    group_of = np.full(len(tally), WITHHELD, dtype=np.int64)
    group_of[fits] = index
    chosen = numbers[fits][first]
    return group_of, pl.DataFrame({name: texts[name].gather(chosen[:, at]) for at, name in enumerate(columns)})


def _by_group(
    tally: Tally, columns: tuple[str, ...], scheme: SchemeGroups, masks: Mapping[str, tuple[pl.Series, Bools]]
) -> Ints:
    """Return the tightest group whose labels hold each tuple."""
    codes = tally.codes_of(columns)
    label_of = {name: number_labels(scheme.labels[name])[0] for name in columns}
    holds_any = np.ones(scheme.labels.height, dtype=bool)
    lows, highs = np.empty((len(holds_any), len(columns)), np.int32), np.empty((len(holds_any), len(columns)), np.int32)
    for at, name in enumerate(columns):
        held = masks[name][1]
        some: Bools = np.asarray(held.any(axis=1))
        lows[:, at] = np.where(some, held.argmax(axis=1), 0)[label_of[name]]
        highs[:, at] = np.where(some, held.shape[1] - held[:, ::-1].argmax(axis=1), 0)[label_of[name]]
        holds_any &= some[label_of[name]]
    groups = np.flatnonzero(holds_any)
    found = np.full(len(tally), WITHHELD, dtype=np.int64)
    if not len(groups):
        return found
    offsets, boxes = boxes_of_points(lows[groups], highs[groups], codes)
    tuple_of, group = np.repeat(np.arange(len(tally)), np.diff(offsets)), groups[boxes]
    fits = np.ones(len(group), dtype=bool)
    for at, name in enumerate(columns):  # sets may leave out what lies between
        fits &= masks[name][1][label_of[name][group], codes[tuple_of, at]]
    tuple_of, group = tuple_of[fits], group[fits]
    order = np.lexsort((group, scheme.room[group], tuple_of))
    who, first = np.unique(tuple_of[order], return_index=True)
    found[who] = group[order][first]
    return found


def _without_failing(tally: Tally, schema: Schema, require: Sequence[Model], group_of: Ints) -> Ints:
    """Withhold groups that fail a model."""
    # Rows that fit no group are one more, whose verdict is of no matter: models compare groups with the whole table.
    used, compact = np.unique(group_of, return_inverse=True)
    groups = Grouper(tally, tuple(sorted(schema.sensitive))).groups(compact, len(used))
    good: Bools = satisfies_all(require, groups)
    return np.where(np.take(good, compact), group_of, WITHHELD)


def _not_listed(tree: Tree) -> Bools:
    """Return which codes stand for values that the hierarchy does not list."""
    if tree.ordered:
        return np.zeros(tree.size, dtype=bool)
    return np.asarray(tree.values.eq_missing(pl.Series([NOT_LISTED])).to_numpy())


def _masks(name: str, tree: Tree, labels: pl.Series) -> tuple[pl.Series, Bools]:
    """Return the distinct labels of a column, and which codes each of them stands for."""
    _, distinct = number_labels(labels)
    return distinct, label_masks(name, tree, distinct, ours=True, strict=False)


def _share(told: Mapping[str, Any], label: str | None) -> float:
    """Return which share of a column's values a label stands for, as far as the release tells."""
    pieces = [{"value": None}] if label is None else told["labels"].get(label, [{}])
    assumed = told["assumed"]
    if told["kind"] == "names":
        every = max(len(assumed), 1)
        return float(min(sum(every if not piece else 1 for piece in pieces), every)) / every
    if assumed is None:
        return 1.0
    low, high = point(assumed["from"]), point(assumed["below"])
    width = max(high - low, 1e-300)
    found = 0.0
    for piece in pieces:
        if "value" in piece:
            found += 1e-6
            continue
        ends = piece.get("below", piece.get("to"))
        found += ((high if ends is None else point(ends)) - (point(piece["from"]) if "from" in piece else low)) / width
    return min(max(found, 1e-6), 1.0)
