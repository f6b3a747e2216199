"""m-invariance: releases one after the other in which everybody hides among the same values (Xiao & Tao 2007).

A release is m-unique if every bucket has at least m rows, all with different sensitive values. The values of a person's
bucket are the person's *signature*, and who stays keeps it. Then whoever comes and goes, all releases together tell
nobody's value with more than 1/m.

*Division*: people who were published before are taken by signature. *Balancing*: each signature gets equally many of
each of its values, from new people, or made up (counterfeits). *Assignment*: the other new people are laid out by
value, and every G-th of them is in one bucket, where G is the number of buckets: as no value has more than G rows, none
is twice in a bucket, and there are hardly more signatures than values, so that later releases balance with few
counterfeits. *Split*: chance deals the rows of a signature to its buckets. Xiao & Tao put rows together that are close
in their quasi-identifiers; here these are published as they are, and an order by them could be read backwards.

Cost: a few sorts of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.randomness import permutation
from incrowd.common.records import dataclass
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.people_memory import PeopleMemory
from incrowd.core.recoding import WITHHELD, MadeUp, Recoding, Showing
from incrowd.core.schema import HIDDEN, SIGNATURE, Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.forms.counterfeits import CounterfeitBuckets, with_counterfeits
from incrowd.forms.sliced import sliced
from incrowd.forms.slices.chance import shuffle_within
from incrowd.forms.slices.slices import Buckets
from incrowd.methods.anatomy import bucket_recoding
from incrowd.methods.slicing_parts.bucket_judging import require_satisfied
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity

CHANGED, GONE = "changed", "gone"
"""What stands for the signature of people who cannot stay in theirs: their value is none of it, or nobody has one of
its values any more, so that no counterfeit may name it."""
COUNTERFEITS = "counterfeits"
TELLS_CHANGED = "withheld: the value is none of the person's signature"
TELLS_GONE = "withheld: nobody has a value of the signature any more"
TELLS_TOO_MANY = "withheld: one value is too frequent among new people, who wait"


@dataclass(frozen=True)
class _ShowCounterfeits(Showing):
    """Show buckets, some of whose rows are nobody's."""

    name: ClassVar[str] = CounterfeitBuckets.name
    one_row_each: ClassVar[bool] = True

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> CounterfeitBuckets:
        """Take the sensitive values out of the rows."""
        columns = (tuple(schema.quasi), tuple(schema.sensitive))
        more, all_rows = with_counterfeits(tally, recoding, rng)
        form = sliced(CounterfeitBuckets, more, schema, all_rows, columns, rows_in=rows_in, rng=rng)
        made_up, number = recoding.made_up, form.bucket_of_group
        if made_up is None or number is None:
            return form
        return replace(form, tally=tally, made_up=number[made_up.groups], made_up_codes=made_up.codes)


@dataclass(frozen=True)
class MInvariance(Method):
    """Everybody stays among the same m sensitive values, from one release of the same people to the next.

    Parameters
    ----------
    m : among how many values everybody hides; each bucket has one row of each of its values.
    last : the file of what was kept of the last release (`release.memory.save`), where no ledger keeps it (default: "",
        this is the first one).
    changed : "withhold" or "new" (default: "withhold"): what becomes of somebody whose value is now another one, and
        none of the signature. Xiao & Tao take such a person for a new one; whoever knows the method and that the person
        stayed then knows that the new value is none of the old signature, which may leave one.

    The table has one sensitive column, and a column that tells whose a row is; everybody has one row. Quasi-identifiers
    are published as they are, with the number of a bucket. Rows that are nobody's (counterfeits) are among them where a
    signature lacks a value; the table `counterfeits` tells how many each bucket has.

    >>> import incrowd as ic
    >>> people = ic.datasets.census(900).with_row_index("id")
    >>> roles = {"person": "id", "quasi": ["age", "sex"], "sensitive": ["occupation"], "others": "drop"}
    >>> first = ic.publish(ic.read(people[:800], **roles), method=ic.MInvariance(3))
    >>> again = ic.MInvariance(3, known=first.memory)
    >>> second = ic.publish(ic.read(people[100:], **roles), method=again)
    >>> second.rows == second.rows_in - second.withheld + second.counterfeits
    True

    Reference: Xiao & Tao (2007).
    """

    m: int
    last: str = field(default="", repr=False)  # a place on this machine, which no summary tells
    changed: Literal["withhold", "new"] = "withhold"
    known: PeopleMemory | None = field(default=None, compare=False, repr=False)
    name: ClassVar[str] = "m-invariance"
    one_row_each: ClassVar[bool] = True
    remembers_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "m", self.m, at_least=2)
        if self.changed not in ("withhold", "new"):
            raise RecipeError(f'm-invariance: changed is "withhold" or "new", not {self.changed!r}.')

    @classmethod
    def recipe_keys(cls) -> Mapping[str, bool]:
        """What is kept of the last release is read from its file."""
        return {"m": True, "last": False, "changed": False}

    @classmethod
    def from_recipe(cls, given: Mapping[str, Any], base: Path) -> Self:
        """Make one from the keys of a recipe."""
        last = {"last": str(base / str(given["last"]))} if given.get("last") else {}
        return cls(**{**given, **last})

    def to_recipe(self) -> dict[str, Any]:
        """Return its parameters, and the file of the last release if it has one."""
        last = {"last": self.last} if self.last else {}
        return {"m": self.m, "changed": self.changed, **last}

    def seen_from(self, moved: Callable[[object], str]) -> Self:
        """Return it with the path as it reads from elsewhere."""
        return replace(self, last=moved(self.last)) if self.last else self

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """None: it needs to know whose a row is."""
        return ()

    @property
    def guarantees(self) -> tuple[Model, ...]:
        """Of each release, by itself."""
        return (ProbabilisticLDiversity(self.m, missing="counts"),)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Deal people to buckets, those who were published before by their signature."""
        column = the_column(schema)
        progress("dealing out", 0.0)
        rows = np.repeat(np.arange(len(tally)), tally.counts)
        rows = rows[permutation(rng, len(rows))]  # which of those with a value goes where is left to chance
        values = tally.column(column).astype(np.int64)[rows]
        kinds = tally.trees[column].size
        kept = _Signatures.of(tally, rows)
        old = kept.of_row >= 0
        stay = _stayed(
            rng, rows[old], values[old], kept.of_row[old], kept, rows[kept.is_new], values[kept.is_new], kinds
        )
        came, come = _assigned(stay.left, stay.left_values, self.m, kinds)
        groups = np.concatenate([stay.groups, np.where(come == WITHHELD, WITHHELD, come + stay.number)])
        placed = np.concatenate([stay.rows, came])
        out = rows[(kept.of_row < 0) & ~kept.is_new]
        groups = np.concatenate([groups, np.full(len(out), WITHHELD)])
        placed = np.concatenate([placed, out])
        if not (groups != WITHHELD).any():
            raise Unsatisfiable(
                f"m-invariance: one value of {column} is more than 1/{self.m} of the {tally.rows:,} rows.  Hint: ask "
                "for a smaller m, or group sensitive values."
            )
        made_up = MadeUp(stay.made_up_groups, column, stay.made_up_values.astype(np.int32))
        # Buckets are numbered without gaps, and each has a row that is somebody's.
        used, numbers = np.unique(groups[groups != WITHHELD], return_inverse=True)
        published = groups.copy()
        published[groups != WITHHELD] = numbers
        real = np.isin(made_up.groups, used)
        made_up = replace(made_up, groups=np.searchsorted(used, made_up.groups[real]), codes=made_up.codes[real])
        found = _recoding(tally, schema, placed, published, made_up)
        _require_all(tally, schema, found, require, rng)
        progress("dealing out", 1.0)
        return replace(
            found,
            told={
                COUNTERFEITS: len(made_up.groups),
                TELLS_CHANGED: int(np.count_nonzero(kept.is_changed)),
                TELLS_GONE: int(np.count_nonzero(kept.is_gone)),
                TELLS_TOO_MANY: int(np.count_nonzero(come == WITHHELD)),
            },
        )


def the_column(schema: Schema) -> str:
    """Return the sensitive column that signatures are of."""
    names = [name for name in schema.sensitive if name not in HIDDEN]
    if len(names) != 1:
        raise SchemaError(f"m-invariance needs exactly one sensitive column, and there are {len(names)}.")
    return names[0]


@dataclass(frozen=True, eq=False)
class _Signatures:
    """The signature of each row, by number, and the values of each signature: `starts[s]:starts[s + 1]` of `codes`."""

    of_row: Ints
    is_new: NDArray[np.bool_]
    is_changed: NDArray[np.bool_]
    is_gone: NDArray[np.bool_]
    starts: Ints
    codes: Codes

    @classmethod
    def of(cls, tally: Tally, rows: Ints) -> _Signatures:
        texts = [text or "" for text in tally.trees[SIGNATURE].values.to_list()] if SIGNATURE in tally.columns else [""]
        code_of = tally.column(SIGNATURE)[rows] if SIGNATURE in tally.columns else np.zeros(len(rows), dtype=np.int32)
        listed = [
            [] if text in ("", CHANGED, GONE) else [int(code) for code in text.split(",")] for text in texts
        ]  # as many as there are distinct signatures
        number = np.cumsum([bool(codes) for codes in listed]) - 1
        of_code = np.where([bool(codes) for codes in listed], number, -1)
        lengths = [len(codes) for codes in listed if codes]

        def those(word: str) -> NDArray[np.bool_]:
            return np.array([text == word for text in texts])[code_of]

        return cls(
            of_code[code_of],
            those(""),
            those(CHANGED),
            those(GONE),
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.array([code for codes in listed for code in codes], dtype=np.int32),
        )


@dataclass(frozen=True, eq=False)
class _Stayed:
    """Rows that were dealt to buckets of known signatures, what was made up there, and the new rows that are left."""

    rows: Ints
    groups: Ints
    number: int
    made_up_groups: Ints
    made_up_values: Ints
    left: Ints
    left_values: Ints


def _stayed(
    rng: np.random.Generator,
    rows: Ints,
    values: Ints,
    signature: Ints,
    known: _Signatures,
    new: Ints,
    new_values: Ints,
    kinds: int,
) -> _Stayed:
    """Balance the signatures of those who stay, and deal them out.

    A *slot* is a signature with one of its values. It has as many places as its signature has buckets, which is the
    number of people of its most frequent value: old people take them, then new ones, and the rest is made up.
    """
    slots = len(known.codes)
    signature_of_slot = np.repeat(np.arange(len(known.starts) - 1), np.diff(known.starts))
    keys = signature_of_slot * kinds + known.codes  # ascending: signatures are in order, and so are their values
    order = np.argsort(keys, kind="stable")
    slot = order[np.searchsorted(keys[order], signature * kinds + values)] if slots else np.empty(0, dtype=np.int64)
    there = np.bincount(slot, minlength=slots)
    buckets = np.zeros(len(known.starts) - 1, dtype=np.int64)
    np.maximum.at(buckets, signature_of_slot, there)
    places = buckets[signature_of_slot]
    lacking = places - there
    by_value = np.argsort(new_values, kind="stable")
    stock = np.bincount(new_values, minlength=kinds)
    taken = _shared_out(lacking, known.codes.astype(np.int64), stock)
    # The first ones of each value are taken: new rows are in random order already.
    first = np.concatenate(([0], np.cumsum(stock)))[:-1]
    slots_by_value = np.argsort(known.codes, kind="stable")
    counts = taken[slots_by_value]
    used = np.bincount(known.codes, weights=taken, minlength=kinds).astype(np.int64)
    before = np.cumsum(counts) - counts - np.repeat(np.cumsum(used) - used, np.bincount(known.codes, minlength=kinds))
    starts = first[known.codes[slots_by_value]] + before
    chosen = by_value[_ranges(starts, counts)]
    taken_slot = np.repeat(slots_by_value, counts)
    left = np.ones(len(new), dtype=bool)
    left[chosen] = False
    made_up_slot = np.repeat(np.arange(slots), lacking - taken)
    # Everybody of a slot, in random order, takes the buckets of its signature.
    slot_of = np.concatenate([slot, taken_slot, made_up_slot])
    everybody = np.concatenate([rows, new[chosen], np.full(len(made_up_slot), -1)])
    in_slots = np.argsort(slot_of, kind="stable")
    runs = np.concatenate(([0], np.cumsum(places)))
    dealt = shuffle_within(rng, everybody[in_slots], runs)
    base = (np.cumsum(buckets) - buckets)[signature_of_slot]
    groups = _ranges(base, places)
    made_up = dealt < 0
    return _Stayed(
        dealt[~made_up], groups[~made_up], int(buckets.sum()),
        groups[made_up], np.repeat(known.codes, places)[made_up].astype(np.int64), new[left], new_values[left],
    )  # fmt: skip


def _shared_out(lacking: Counts, kind: Ints, stock: Counts) -> Counts:
    """Return how many of what it lacks each slot gets, while there are new people of its kind, in order."""
    order = np.argsort(kind, kind="stable")
    wanted = np.cumsum(lacking[order])
    sizes = np.bincount(kind, minlength=len(stock))
    first = np.cumsum(sizes) - sizes
    before = wanted - lacking[order]
    before -= before[np.minimum(first, max(len(order) - 1, 0))][kind[order]] if len(order) else 0
    taken = np.empty_like(lacking)
    taken[order] = np.clip(stock[kind[order]] - before, 0, lacking[order])
    return taken


def _assigned(rows: Ints, values: Ints, m: int, kinds: int) -> tuple[Ints, Ints]:
    """Deal new people to buckets of m different values or a few more; return them with their bucket, or `WITHHELD`.

    Where a value is more than one in m of them, all are withheld: were it only some, their value would be known.
    """
    counts = np.bincount(values, minlength=kinds)
    number = len(rows) // m
    order = np.argsort(values, kind="stable")
    if not number or int(counts.max(initial=0)) > number:
        return rows, np.full(len(rows), WITHHELD, dtype=np.int64)
    return rows[order], np.arange(len(rows)) % number


def _require_all(
    tally: Tally, schema: Schema, found: Recoding, require: Sequence[Model], rng: np.random.Generator
) -> None:
    """Refuse models that buckets of m values fail, counterfeits included."""
    tally, found = with_counterfeits(tally, found, rng)
    published = found.groups != WITHHELD
    rows = Buckets(found.tuples[published], found.counts[published], found.groups[published])
    require_satisfied(MInvariance.name, tally, schema, rows, require)


def _ranges(starts: Ints, lengths: Counts) -> Ints:
    """Return the numbers from each start on, as many as its length."""
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + within


def _recoding(tally: Tally, schema: Schema, rows: Ints, groups: Ints, made_up: MadeUp) -> Recoding:
    """Return what was dealt as parts of tuples."""
    parts = Buckets(rows, np.ones(len(rows), dtype=np.int64), np.where(groups == WITHHELD, 0, groups))
    found = bucket_recoding(tally, schema, parts, _ShowCounterfeits())
    return replace(found, groups=groups, made_up=made_up)
