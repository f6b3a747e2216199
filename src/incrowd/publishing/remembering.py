"""Releases of the same people, one after the other: who was where before, who is where now, and what both tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role, option
from incrowd.core.form import Form
from incrowd.core.method import AnyMethod
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import People, PlacedPeople, with_values
from incrowd.core.people_memory import NO_SIGNATURE, PeopleMemory, PlacedValues, Placement, placed
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import HIDDEN, SIGNATURE, Schema
from incrowd.errors import RecipeError, SchemaError, UnsafeTogether
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.values import as_text, code_among
from incrowd.ledger import Ledger, OpenEntry
from incrowd.ledger.ledger import Overtaken
from incrowd.ledger.together import SensitiveColumn, Verdict, judge_together
from incrowd.publishing.in_ledger import outcome

if TYPE_CHECKING:
    from incrowd.methods.m_invariance import MInvariance
    from incrowd.publishing.release import Release

IfUnsafe = Literal["refuse", "withhold"]
"""What becomes of a release that tells too much together with others."""
WITHHELD_TOGETHER = "withheld: releases together would tell too much"
MOST_ROUNDS = 25
"""Withholding groups shows that people are gone, which may tell of others: it is tried so often, and then refused."""


@dataclass(frozen=True, eq=False)
class Remembered:
    """Where people were published before, and what to do with that."""

    memory: PeopleMemory
    entries: tuple[int, ...] | None
    """The ledger's releases that are in it; None where no ledger keeps them, and nothing is judged together."""
    if_unsafe: IfUnsafe

    @property
    def judges(self) -> bool:
        """Whether the release is judged together with the earlier ones."""
        return self.entries is not None


def remembered(
    ledger: Ledger | None, method: AnyMethod, schema: Schema, if_unsafe: IfUnsafe = "refuse"
) -> Remembered | None:
    """Return what is known of earlier releases; None where nobody asks for it."""
    if if_unsafe not in ("refuse", "withhold"):
        raise RecipeError(f'if_unsafe is "refuse" or "withhold", not {if_unsafe!r}.')
    keeps = ledger is not None and ledger.keeps_people and not method.promises_privacy and not method.private
    if not keeps and not method.remembers_people:
        return None
    if not schema.person:
        who = "the ledger keeps who was published where" if keeps else f"{method.name} asks who was published where"
        raise SchemaError(
            f"{who}, and no column tells whose a row is.  Hint: name it when the table is read, "
            f"{as_role('person', 'patient')}; of people who are in no other table, use a ledger without people."
        )
    if keeps and ledger is not None:
        memory, entries = ledger.memory()
        if method.remembers_people and (own := cast("MInvariance", method)) and (own.last or own.known is not None):
            raise RecipeError(
                f"the ledger keeps who was published where.  Hint: leave out {option('last')} where there is a ledger."
            )
        return Remembered(memory, entries, if_unsafe)
    return Remembered(_own_memory(cast("MInvariance", method)), None, if_unsafe)


def _own_memory(method: MInvariance) -> PeopleMemory:
    if method.known is not None:
        return method.known
    return PeopleMemory.load(Path(method.last)) if method.last else PeopleMemory.new()


def with_signatures(
    people: People, known_as: Ints, memory: PeopleMemory, method: MInvariance, schema: Schema
) -> People:
    """Return people with the values that they were published among, as a hidden column.

    A signature is the text of its codes in the tree of the sensitive column, ascending.
    """
    from incrowd.methods.m_invariance import CHANGED, GONE, the_column  # of no use to other methods

    column = the_column(schema)
    found = memory.signatures(known_as, column, method.name)
    tree = people.rows.trees[column]
    owner, codes = people.values_of(column, np.ones(len(people), dtype=bool))
    own = np.zeros(len(people), dtype=np.int64)
    own[owner] = codes
    there = np.zeros(tree.leaves, dtype=bool)
    there[codes] = True
    texts: list[str | None] = [None, CHANGED, GONE]
    holds = np.zeros((len(found.sets) + 1, tree.leaves), dtype=bool)
    text_of = np.zeros(len(found.sets) + 1, dtype=np.int64)  # the last one is that of people without a signature
    for number, values in enumerate(found.sets):  # as many as there are distinct signatures
        spelt = code_among(pl.Series(values, dtype=pl.String), as_text(tree.values.slice(1)))
        if (spelt < 0).any() or not there[spelt].all():
            text_of[number] = 2
            continue
        holds[number, spelt] = True
        text_of[number] = len(texts)
        texts.append(",".join(str(code) for code in sorted(spelt.tolist())))
    chosen = text_of[found.of]
    left = (found.of != NO_SIGNATURE) & (chosen > 2) & ~holds[found.of, own]
    chosen[left] = 1 if method.changed == "withhold" else 0
    tree_of_texts, codes_of_texts = Exact().build(SIGNATURE, pl.Series(texts, dtype=pl.String))
    pairs: tuple[Ints, Codes] = (np.arange(len(people)), codes_of_texts[chosen].astype(np.int32))
    return with_values(people, {SIGNATURE: pairs}, {SIGNATURE: tree_of_texts}, values=True)


def placement_of(
    form: Form,
    who: PlacedPeople,
    known_as: Ints,
    memory: PeopleMemory,
    schema: Schema,
    method: str,
    key: PseudonymKey | None,
) -> Placement:
    """Return who is published where; refuse forms that do not tell that."""
    people, groups = who.people, form.placed(who)
    if groups is None:
        raise SchemaError(
            f"the form {form.name} does not tell who is in which group.  Hint: publish generalized values."
        )
    published = groups != WITHHELD
    place = np.cumsum(published) - 1
    made_up = form.made_up_values()
    values = {}
    for name in people.sensitive:
        if name in HIDDEN:
            continue
        owner, codes = people.values_of(name, published)
        groups_of_none, codes_of_none = made_up.get(name, (np.empty(0, np.int64), np.empty(0, np.int32)))
        used, number_of = np.unique(np.concatenate([codes, codes_of_none]), return_inverse=True)
        names = as_text(people.rows.trees[name].values.gather(used)).to_list()
        numbers: Codes = number_of.astype(np.int32)
        none = (groups_of_none, numbers[len(codes) :], np.ones(len(codes_of_none), dtype=np.int64))
        values[name] = PlacedValues(place[owner], numbers[: len(codes)], tuple(names), none)
    links = tuple(_links(schema, memory, key))
    return placed(known_as[published], groups[published], values, method, links)


def _links(schema: Schema, memory: PeopleMemory, key: PseudonymKey | None) -> list[str]:
    """Return marks of what rows can be followed by: pseudonyms of one key, and columns that are shown as they are."""
    found = [] if key is None or not schema.pseudonyms else [memory.mark("pseudonyms", key.secret)]
    return found + [memory.mark(f"kept {name}") for name in (*schema.kept, *schema.dates)]


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a release stands among others: who is where in it, and what its sensitive columns have."""

    placement: Placement
    columns: Mapping[str, SensitiveColumn]
    not_judged: tuple[str, ...] = ()
    """Models that were not judged over several releases."""

    def judged(self, remembered: Remembered, models: Sequence[Model]) -> Verdict:
        """Judge the release together with all earlier ones."""
        return judge_together(remembered.memory.placements, self.placement, models, self.columns)


def _columns_of(people: People, names: Iterable[str]) -> dict[str, SensitiveColumn]:
    everybody, found = np.ones(len(people), dtype=bool), {}
    for name in names:
        tree = people.rows.trees[name]
        codes = people.values_of(name, everybody)[1]
        found[name] = SensitiveColumn(tree, np.bincount(codes, minlength=tree.leaves).astype(np.int64))
    return found


def refusal(verdict: Verdict, earlier: int) -> UnsafeTogether:
    """Return the error that says how many people too much would be told of."""
    models = "; ".join(f"{model}: {number:,}" for model, number in verdict.by_model.items())
    those = "the earlier release" if earlier == 1 else f"the {earlier:,} earlier releases"
    return UnsafeTogether(
        f"together with {those} of the ledger, this one would tell too much of {len(verdict.affected):,} people "
        f"({models}). Nothing was published.  Hint: {option('if_unsafe', 'withhold')} withholds their groups; "
        "MInvariance, or the scheme of an earlier release, are made for publishing again.",
        affected=len(verdict.affected),
    )


def without_groups(recoding: Recoding, who: PlacedPeople, gone: Ints) -> tuple[Recoding, PlacedPeople]:
    """Return the same with the people of some of the method's groups withheld."""
    number = np.arange(len(recoding.lows) + 1)
    number[-1] = WITHHELD  # where those are looked up who are withheld already
    number[gone] = WITHHELD
    lows, highs = recoding.lows, recoding.highs
    if recoding.form is None:  # groups that nobody is in would be shown
        kept = number[:-1] != WITHHELD
        number[:-1][kept] = np.arange(int(kept.sum()))
        lows, highs = lows[kept], highs[kept]
    made_up = recoding.made_up
    if made_up is not None:
        there = number[made_up.groups] != WITHHELD
        made_up = replace(made_up, groups=number[made_up.groups[there]], codes=made_up.codes[there])
    less = replace(recoding, groups=number[recoding.groups], lows=lows, highs=highs, made_up=made_up)
    return less, replace(who, group_of=number[who.group_of], row_groups=number[who.row_groups])


@dataclass(frozen=True, eq=False)
class Together:
    """A release beside the earlier ones of a ledger: judged with them, and mended where that is asked for."""

    remembered: Remembered
    known_as: Ints
    schema: Schema
    models: Sequence[Model]
    method: str
    key: PseudonymKey | None
    shown: Callable[[Recoding, PlacedPeople | None], tuple[Form, Sequence[Guarantee]]]

    def made(
        self, recoding: Recoding, who: PlacedPeople
    ) -> tuple[Form, Sequence[Guarantee], Recoding, PlacedPeople, Standing]:
        """Return it with who is where; groups are withheld until all releases together tell nothing too much."""
        memory, withheld = self.remembered, 0
        for _ in range(MOST_ROUNDS):
            form, guarantees = self.shown(recoding, who)
            placement = placement_of(form, who, self.known_as, memory.memory, self.schema, self.method, self.key)
            standing = Standing(placement, _columns_of(who.people, placement.values))
            if not memory.judges or not memory.memory.placements:
                return form, guarantees, recoding, who, standing
            verdict = standing.judged(memory, self.models)
            if verdict.safe:
                if withheld:
                    told = {**(recoding.told or {}), WITHHELD_TOGETHER: withheld}
                    recoding = replace(recoding, told=told)
                return form, guarantees, recoding, who, replace(standing, not_judged=verdict.not_judged)
            seen = form.placed(who)
            if memory.if_unsafe == "refuse" or not len(verdict.groups) or seen is None:
                raise refusal(verdict, len(memory.memory.placements))
            those = np.isin(seen, verdict.groups)
            withheld += int(those.sum())
            if (those | (seen == WITHHELD)).all():
                break
            recoding, who = without_groups(recoding, who, np.unique(who.group_of[those]))
        raise refusal(verdict, len(memory.memory.placements))


def end_entry(
    entry: OpenEntry,
    release: Release,
    memory: Remembered | None,
    standing: Standing | None,
    models: Sequence[Model],
) -> None:
    """Write down what came of a release; where others came first meanwhile, it is judged again, with them."""
    told = outcome(release)
    if memory is None or memory.entries is None or standing is None:
        entry.done(told)
        return
    if standing.not_judged:
        told["not judged together"] = list(standing.not_judged)
    while True:
        try:
            judged_with = {"judged with": list(memory.entries)}
            entry.done({**told, **judged_with}, people=standing.placement, judged_with=memory.entries)
            return
        except Overtaken:
            found, entries = entry.ledger.memory()
            memory = replace(memory, memory=found, entries=entries)
            verdict = standing.judged(memory, models)
            if not verdict.safe:
                raise refusal(verdict, len(entries)) from None
