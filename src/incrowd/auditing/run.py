"""Run everything over one release: models, attacks, metrics.

Cost: attacks look at 100,000 people at most, drawn at random; what is measured of the release grows with its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast
from zlib import crc32

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.attacks.ladder import ladder, random_unusual_person
from incrowd.auditing import group_summary
from incrowd.auditing.audit import Audit, Skipped
from incrowd.auditing.changed_columns import changed_columns
from incrowd.auditing.dated_rows import dated_rows, groups_by_labels
from incrowd.auditing.household_rows import household_rows
from incrowd.auditing.measuring import Measuring
from incrowd.auditing.published import published
from incrowd.auditing.query_file import read_queries
from incrowd.auditing.reference_tables import read_people, read_weighted_truth
from incrowd.auditing.remedies.measuring import SKIPPED, Remade, measure_remedies
from incrowd.auditing.remedies.measuring import STAGE as REMEDIES
from incrowd.auditing.remedies.remedy import Remedies
from incrowd.auditing.rows_beside import kept_rows
from incrowd.auditing.stages import Stage, run_stages
from incrowd.auditing.suppression import FEW, told
from incrowd.auditing.whole_release import WholeRelease, sensitive_codes, whole_release
from incrowd.common.arrays import Floats
from incrowd.common.plain import finite, parameters
from incrowd.common.progress import Progress, silent
from incrowd.common.threads import do_together, using
from incrowd.core.attack import Attack
from incrowd.core.changed import ChangeFacts
from incrowd.core.dated import DatedRows, DateFacts
from incrowd.core.families import registered, require_member
from incrowd.core.form import Form
from incrowd.core.groups import Groups
from incrowd.core.households import HouseholdFacts
from incrowd.core.item_sets import ItemSets
from incrowd.core.model import Guarantee, verified_models
from incrowd.core.query import Query
from incrowd.core.risk import LEVELS, Risk
from incrowd.core.rows_beside import KeptRows, KeptTable
from incrowd.core.set_model import split_models
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.core.tally import Tally
from incrowd.core.target import Target
from incrowd.core.weights import estimated_population
from incrowd.errors import IncrowdError
from incrowd.forms.other_release import NOT_JOINED, joined, joined_rows, read_by
from incrowd.forms.outsiders import among_outsiders
from incrowd.forms.told_scheme import recoded_columns, recoded_says
from incrowd.hierarchies.tree import Tree
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.individual_risk import IndividualRisk
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.t_closeness import TCloseness
from incrowd.sources import open_table

_STREAMS_PER_COLUMN = 8
_OTHER_STREAMS = 30_000
"""Streams of chance from here on are those of attacks that state none."""


class Audited(Remade, Protocol):
    """What an audit needs of a release."""

    @property
    def form(self) -> Form:
        """What is published."""
        ...

    @property
    def to_attack(self) -> Audited:
        """The same as an adversary sees it who looks for a person: one line for each, where that is known."""
        ...

    @property
    def table_before(self) -> Tally | None:
        """The table that it was made of, where that is known."""
        ...

    @property
    def table_weights(self) -> Floats | None:
        """What the rows of each tuple of that table weigh together, where there are survey weights."""
        ...

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What it satisfies."""
        ...

    @property
    def stated_guarantees(self) -> list[dict[str, Any]]:
        """The same, as plain numbers and texts."""
        ...

    @property
    def seeded(self) -> bool:
        """Whether chance came from a seed, so that it can be replayed."""
        ...

    @property
    def rate(self) -> Fraction:
        """The share of the rows that was sampled."""
        ...

    @property
    def row_numbers(self) -> dict[str, Any]:
        """How many rows there are, as far as that may be told."""
        ...

    @property
    def hides_rows(self) -> bool:
        """Whether the number of the table's rows must not be told."""
        ...

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        ...

    @property
    def false_claims(self) -> list[str]:
        """What it is said to satisfy, and does not."""
        ...

    @property
    def changes(self) -> ChangeFacts:
        """What was done to sensitive and kept columns before they were published."""
        ...

    @property
    def dates(self) -> DateFacts:
        """What became of its dates."""
        ...

    @property
    def households(self) -> HouseholdFacts:
        """What tells who lives together, in the table before."""
        ...

    @property
    def item_numbers(self) -> Mapping[str, Any] | None:
        """What was lost of sets of items, where there are any."""
        ...

    @property
    def item_sets(self) -> ItemSets | None:
        """The items that people show, in parts by their groups."""
        ...

    @property
    def rows_before(self) -> OpenedTable | None:
        """The rows that it was made of, where they are at hand."""
        ...

    @property
    def unchanged_rows(self) -> OpenedTable | None:
        """The same before any column of them was changed."""
        ...

    @property
    def linking(self) -> tuple[str, ...]:
        """Columns beside the labels that may link rows to those of other releases: pseudonyms and kept ones."""
        ...

    def opened(self, original: object) -> OpenedTable:
        """Open the table that it was made of, in the words of the release."""
        ...

    def beside(self, original: object) -> Audited | None:
        """Return it as it reads beside the table that it was made of; None where it knows that, or was not read."""
        ...

    @property
    def files(self) -> Sequence[Path]:
        """The files that it was read from; none where it was made in this session."""
        ...

    @property
    def recipe_text(self) -> str | None:
        """How it was made, as a recipe without a seed, or what describes its columns; None if neither is known."""
        ...

    @property
    def kept_tables(self) -> list[KeptTable]:
        """Published tables in which people may have several rows, the people first; what is kept of each."""
        ...

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the published rows."""
        ...

    def count(self, query: Query) -> float:
        """Return its own answer to a counting query."""
        ...


def audit(
    release: Audited,
    *,
    original: object = None,
    external: object = None,
    earlier: Sequence[Audited] = (),
    attacks: Sequence[Attack] | None = None,
    queries: str | Path | None = None,
    learn: bool = True,
    remedies: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = silent,
    finished: Callable[[Risk], None] | None = None,
) -> Audit:
    """Attack a release in every way, and measure what it is still good for.

    A release that was made in this session knows its table; that of noisy counts, or one that was read from a file,
    needs it as the `original`: a file, a frame, or anything that `incrowd.read` takes. `external` is a table of people
    that an adversary may have, `earlier` other releases about overlapping people. `attacks` are tried in place of all.
    `queries` is a file of questions that it should answer well (see `auditing/query_file.py`). With `remedies`, what
    would change the findings is measured, too: the release is made again with other options, and attacked again.
    `threads` is how many there may be (default: `INCROWD_THREADS`, or one for each core); the audit is the same,
    whatever their number. `finished` is told of each attack as soon as it and those before it were tried.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> audit(ic.publish(table, ic.KAnonymity(5)), learn=False).strongest is not None
    True
    """
    with using(threads, "audit"):
        return _audited(
            release, original, external, earlier, attacks, queries, learn, remedies, seed, progress, finished
        )  # fmt: skip


def _audited(
    release: Audited,
    original: object,
    external: object,
    earlier: Sequence[Audited],
    attacks: Sequence[Attack] | None,
    queries: str | Path | None,
    learn: bool,
    remedies: bool,
    seed: int,
    progress: Progress,
    finished: Callable[[Risk], None] | None,
) -> Audit:
    if original is not None and (again := release.beside(original)) is not None:
        release, original = again, None  # labels stand for the table's values
    whole, release = release, release.to_attack
    target, notes = aim(release, original=original, external=external, earlier=earlier, seed=seed)
    asked = None if queries is None else read_queries(queries, _tallied_trees(target))
    for attack in attacks or ():
        require_member("attacks", attack)
    chosen = every_attack(target) if attacks is None else list(attacks)
    risks, skipped = attack_all(target, chosen, seed=seed, progress=progress, finished=finished)
    knows = target.truth is not None
    measuring = Measuring(target, float(release.rate), asked, count=release.count, learn=learn, seed=seed)
    stages = measuring.stages()
    if remedies:
        before = release.rows_before if original is None else release.opened(original)
        known = before if knows else None
        stages.append(
            Stage(REMEDIES, lambda tell: _remedies(whole, target, risks, known, external, attacks, seed, tell))
        )
    results = run_stages(stages, progress)
    what_to_do = results.pop() if remedies else Remedies(note=SKIPPED)
    useful = measuring.found(results)
    if knows and release.changes.columns and not release.hides_rows:
        raw = release.unchanged_rows if original is None else open_table(original, ReadOptions(lists=None))
        if raw is not None:
            useful["changed"] = changed_columns(release.changes, raw, release.batches())
    return Audit(
        about=_about(release),
        guarantees=_guarantees(release),
        achieved=achieved(target),
        attacks=tuple(risks),
        skipped=(*skipped, *measuring.skipped),
        usefulness=useful,
        crowds={
            "sizes": group_summary.group_sizes(target),
            "risk by record": [] if target.form.private else group_summary.risk_by_record(target),
            "worst groups": {name: group_summary.worst_groups(target, name) for name in target.view.sensitive},
        },
        ladder=_ladder(target, seed) if knows else [],
        warnings=[*release.warnings, *notes],
        settings={
            "seed": seed,
            "people attacked": target.people.number if knows else release.rows,
            "original": "known" if knows else "not given",
            "external": "given" if external is not None or target.external is not None else "not given",
            "earlier releases": len(target.earlier),
            "fewest people told of": FEW,
        },
        false_claims=release.false_claims,
        own_warnings=whole.warnings,
        remedies=what_to_do,
        published=published(whole.files, whole.recipe_text),
    )


def brief_audit(
    release: Audited,
    *,
    original: object = None,
    learn: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Audit:
    """Return the attacks of an audit and what is lost of columns, pairs and queries: the same numbers, and no more."""
    if original is not None and (again := release.beside(original)) is not None:
        release, original = again, None
    release = release.to_attack
    progress("attacking", 0.0)
    target, _ = aim(release, original=original, seed=seed)
    risks, skipped = attack_all(target, every_attack(target), seed=seed, progress=progress)
    measuring = Measuring(target, float(release.rate), count=release.count, learn=learn, seed=seed, metrics=False)
    useful = measuring.found(run_stages(measuring.stages(), progress))
    return Audit(
        about={"rows": release.row_numbers},
        guarantees=_guarantees(release),
        achieved={},
        attacks=tuple(risks),
        skipped=(*skipped, *measuring.skipped),
        usefulness=useful,
        crowds={},
        ladder=[],
        warnings=release.warnings,
        settings={"seed": seed},
    )


def _guarantees(release: Audited) -> list[dict[str, Any]]:
    return [
        {**stated, **({"plain name": plain} if (plain := guarantee.model.plain_name) else {})}
        for stated, guarantee in zip(release.stated_guarantees, release.guarantees, strict=True)
    ]


def _remedies(
    release: Audited,
    target: Target,
    risks: Sequence[Risk],
    before: OpenedTable | None,
    external: object,
    attacks: Sequence[Attack] | None,
    seed: int,
    progress: Progress,
) -> Remedies:
    """Measure what would change the findings: attacks that found something are tried again after each change."""
    wanted = {risk.attack for risk in risks if risk.level != LEVELS[0]}

    def again(other: Remade) -> list[Risk]:
        seen, _ = aim(cast("Audited", other), external=external, seed=seed)
        chosen = every_attack(seen) if attacks is None else attacks
        return attack_all(seen, [attack for attack in chosen if attack.name in wanted], seed=seed)[0]

    schema, truth = target.form.schema, target.truth
    return measure_remedies(
        release,
        risks,
        again,
        models=target.require,
        quasi=tuple(schema.quasi),
        sensitive=tuple(schema.sensitive),
        labelled=target.form.labelled is not None,
        before=before,
        total=0 if truth is None else truth.rows,
        seed=seed,
        progress=progress,
    )


def aim(
    release: Audited,
    *,
    original: object = None,
    external: object = None,
    earlier: Sequence[Audited] = (),
    seed: int = 0,
) -> tuple[Target, list[str]]:
    """Return the release as a target, and what is to be said about how it was read."""
    release, earlier = release.to_attack, [one.to_attack for one in earlier]
    form, notes = release.form, []
    truth, totals = release.table_before, release.table_weights
    if original is not None:
        # What other releases show of the same people is looked up in the table, too.
        trees = {name: tree for other in earlier for name, tree in other.form.tally.trees.items()}
        truth, totals = read_weighted_truth(
            release.opened(original),
            form.schema.tallied,
            {**trees, **form.tally.trees},
            sorted(trees),
            form.schema.weight,
        )
    if truth is not None:
        form = form.canonical(truth)
    dated: tuple[DatedRows, ...] = ()
    households = before = None
    if truth is not None and (release.dates.treatments or release.households.household):
        before = release.rows_before if original is None else release.opened(original)
        households = household_rows(release.households, before, form.view(), seed=seed)
    if release.dates.treatments and truth is not None and form.labelled is not None:
        dated = dated_rows(release.dates, before, release.batches(), form.labelled, seed=seed)
    several: tuple[KeptRows, ...] = ()
    if truth is not None and form.labelled is not None and not form.private and any(_kept_columns(release)):
        rows = release.rows_before if original is None else release.opened(original)
        several = kept_rows(release.dates, release.kept_tables, rows, form.labelled, seed=seed)
    people = form.tally.population
    if people is not None and people.by_weight is not None:  # these are people of the table, and nobody's register
        people = None
    if release.hides_rows and truth is not None:
        notes.append("This audit looks at the table itself: it is not covered by the promise, and not for publication.")
    target = Target(
        form=form,
        truth=truth,
        external=people,
        earlier=tuple(_read_by(other.form, form) for other in earlier),
        require=split_models(verified_models(release.guarantees))[0],
        method=release.method.name,
        seed=seed,
        dated=dated,
        kept_rows=several,
        households=households,
        sets=release.item_sets,
        totals=totals,
        changes=release.changes,
    )
    target = replace(target, joined=_joined(release, target, earlier))
    others = None if external is None else open_table(external, ReadOptions(lists=None))
    known = set() if others is None else {*others.columns}
    # A table that has none of the quasi-identifiers is of use where it has columns that are kept.
    if others is not None and (known & {*form.schema.quasi} or not known & {*release.kept_beside}):
        target, strangers = _with_outsiders(target, others)
        if strangers:
            some = f"{strangers:,}" if strangers >= FEW else f"Fewer than {FEW}"
            notes.append(f"{some} people of the external table have values that its columns cannot hold: left out.")
    inner = target.with_outsiders
    whole = _whole(release, inner.form, inner.truth, original, others)
    if whole is None:
        return target, notes
    beside = replace(
        inner,
        form=whole.form,
        truth=whole.truth,
        external=whole.external,
        beside=whole.columns,
        dated=(),
        households=None,  # who knows of them knows quasi-identifiers, in codes of the release's own trees
        kept_rows=(),
        earlier=(),
        joined=None,
    )
    return replace(target, whole=beside), notes


def _kept_columns(release: Audited) -> Iterator[str]:
    return (name for table in release.kept_tables for name in table.columns)


def _read_by(other: Form, form: Form) -> Form:
    return other if other.labelled is None or form.labelled is None else read_by(other.labelled, form.tally.trees)


def _joined(release: Audited, target: Target, earlier: Sequence[Audited]) -> Target | None:
    """Return the release joined with earlier ones, where rows of both can be linked; None where none can."""
    form = target.form.labelled
    if form is None or target.form.private or target.truth is None:
        return None
    quasi, secret = form.shown.columns, tuple(form.schema.sensitive)
    made: Form = target.form
    groups, sensitive, used = None, None, list[str]()
    for other, theirs in zip(earlier, target.earlier, strict=True):
        common = [name for name in release.linking if name in other.linking and name not in (*quasi, *secret)]
        if not common or theirs.labelled is None or theirs.private:
            continue
        rows = _rows(release, (*quasi, *secret, *common))
        others = _rows(other, (*theirs.labelled.shown.columns, *common))
        if groups is None or sensitive is None:
            groups, sensitive = groups_by_labels(rows, form), sensitive_codes(form, rows)
        partner, names = joined_rows(rows, others, common)
        there = groups_by_labels(others, theirs.labelled)
        if groups is None or there is None or not names:
            continue
        partners = np.where(partner >= 0, there[partner], NOT_JOINED)
        assert made.labelled is not None
        made, groups = joined(made.labelled, theirs.labelled, groups, partners, sensitive)
        used += [name for name in names if name not in used]
    return replace(target, form=made, joined_by=tuple(used), earlier=(), dated=(), kept_rows=()) if used else None


def _rows(release: Audited, names: Sequence[str]) -> pl.DataFrame:
    return pl.concat([batch.select(cs.by_name(*names)) for batch in release.batches()])


def _with_outsiders(target: Target, others: OpenedTable) -> tuple[Target, int]:
    """Return the release among people of an external table, and how many of these could be nobody.

    Their values stay what they are, also those that the table lacks: labels are then read by their text.
    """
    form = target.form
    people = read_people(others, tuple(form.schema.quasi), form.tally.trees)
    population, strangers = people.population(form.tally.trees)
    target = replace(target, external=population)
    if form.labelled is None or not people.unlisted:
        return target, strangers if form.labelled is not None else 0
    among = among_outsiders(form.labelled, people.unlisted)
    population, strangers = people.population(among.form.tally.trees)
    truth = None if target.truth is None else among.truth(target.truth)
    return replace(target, outside=replace(target, form=among.form, truth=truth, external=population)), strangers


def _whole(
    release: Audited, form: Form, truth: Tally | None, original: object, others: OpenedTable | None
) -> WholeRelease | None:
    """Return the release with what is kept beside its labels, where each row is a person's and another table has it."""
    beside = release.kept_beside
    if not beside or form.labelled is None or form.private:
        return None
    before = None
    if truth is not None:
        before = release.rows_before if original is None else release.opened(original)
    return whole_release(form.labelled, release.batches(), beside, before, others)


def every_attack(target: Target) -> list[Attack]:
    """Return all attacks that need no parameter, those that are after a sensitive column once for each."""
    kinds = [kind for kind in registered("attacks").values() if not any(kind.recipe_keys().values())]
    kinds.sort(key=lambda kind: (kind.stream is None, kind.stream))
    names: Iterable[str | None] = target.view.sensitive or (None,)
    by_column = [kind(column=name) for name in names for kind in kinds if kind.per_column]
    return [*(kind() for kind in kinds if not kind.per_column), *by_column]


def attack_all(
    target: Target,
    attacks: Sequence[Attack],
    *,
    seed: int = 0,
    progress: Progress = silent,
    finished: Callable[[Risk], None] | None = None,
) -> tuple[list[Risk], list[Skipped]]:
    """Try all attacks; return what came out, and what could not be tried. `finished` is told in their order."""

    def attempt(attack: Attack) -> Risk | Skipped:
        ways = [one for one in _adversaries(target) if _may_try(attack, one)]
        tried = [_tried(attack, one, target, seed) for one in ways]
        if not tried:
            return Skipped(attack.name, attack.lacks(target) or "")
        return max(tried, key=lambda risk: (LEVELS.index(risk.level), risk.got_through, risk.advantage))

    def note(place: int, came: Risk | Skipped) -> None:
        progress("attacking", (place + 1) / len(attacks))
        if finished is not None and isinstance(came, Risk):
            finished(came)

    progress("attacking", 0.0)
    all_of_them = do_together([partial(attempt, attack) for attack in attacks], note)
    if not attacks:
        progress("attacking", 1.0)
    skipped = [one for one in all_of_them if isinstance(one, Skipped)]
    return [one for one in all_of_them if isinstance(one, Risk)], list(dict.fromkeys(skipped))


def _adversaries(target: Target) -> list[Target]:
    """Return the release as it is seen by its labels, with what is kept beside them, and joined with other releases."""
    return [one for one in (target, target.whole, target.joined) if one is not None]


def _may_try(attack: Attack, target: Target) -> bool:
    more = target.beside or target.joined_by
    return (attack.knows_kept_columns or not more) and attack.lacks(target) is None


def _tried(attack: Attack, target: Target, base: Target, seed: int) -> Risk:
    risk = attack.run(target, rng=np.random.default_rng([seed, *_stream(attack, base)]))
    risk = replace(risk, beside=target.beside, joined_by=target.joined_by)
    if target.joined_by:
        return replace(risk, says=f"{risk.says} Joined with other releases by: {', '.join(target.joined_by)}.")
    if not target.beside:
        return risk
    return replace(risk, says=f"{risk.says} Known besides the labels: {', '.join(target.beside)}.")


def _stream(attack: Attack, target: Target) -> list[int]:
    """Return what an attack's chance starts from besides the seed: its own stream, for the column that it is after."""
    columns = target.view.sensitive
    column = parameters(attack).get("column") if attack.per_column else None
    place = columns.index(column) if column in columns else 0
    if attack.stream is None:
        return [_OTHER_STREAMS, crc32(attack.name.encode()), place]
    return [attack.stream + _STREAMS_PER_COLUMN * place]


def achieved(target: Target) -> dict[str, Any]:
    """Return what the groups turn out to satisfy, whatever was asked for."""

    if target.form.private:
        return {}  # noisy counts are nobody's groups
    found: dict[str, Any] = {}
    names: Iterable[str | None] = target.view.sensitive or (None,)
    for name in names:
        seen = target.view.crowds(name)
        whole = {} if name is None or target.truth is None else {name: target.truth.value_counts(name)}
        sensitive = {} if name is None else {name: seen.values}
        groups = Groups(seen.sizes, sensitive, whole, target.view.trees)
        if "k" not in found:
            alike, sizes = target.form.rows_alike(), target.form.group_sizes
            found["k"] = int(alike.min()) if len(alike) else 0
            if len(sizes) and found["k"] < sizes.min():  # rows in one bucket may show different people
                found["smallest bucket"] = int(sizes.min())
        if name is not None and len(groups):
            models = (DistinctLDiversity(1, column=name), EntropyLDiversity(1, column=name))
            found[f"diversity of {name}"] = {
                "distinct l": finite(models[0].achieved(groups)),
                "entropy l": finite(models[1].achieved(groups)),
                "probabilistic l": finite(ProbabilisticLDiversity(1, column=name).achieved(groups)),
                "t": _reached(TCloseness(1.0, column=name), groups),
            }
    risks = _individual_risks(target)
    return found if risks is None else {**found, "individual risk by weights": risks}


def _individual_risks(target: Target) -> dict[str, float] | None:
    """Return how likely rows are linked rightly by an adversary who knows nobody of the table, as weights tell."""
    labelled, truth, totals = target.form.labelled, target.truth, target.totals
    if labelled is None or truth is None or totals is None or not labelled.schema.quasi:
        return None
    means = totals / np.maximum(truth.counts, 1)
    table = estimated_population(truth, tuple(labelled.schema.quasi), np.arange(len(truth)), means, truth.counts)
    groups = Groups(labelled.group_sizes, table=table, regions=labelled.group_regions)
    try:
        sampled, _ = groups.estimated_population
    except IncrowdError:  # weights that do not add up to a population
        return None
    if (sampled < groups.sizes).any():  # labels that were read without the table, as names of their own
        return None
    return {
        "largest": IndividualRisk(1.0).achieved(groups),
        "mean": IndividualRisk(1.0, average=True).achieved(groups),
    }


def _tallied_trees(target: Target) -> dict[str, Tree]:
    return {name: target.form.tally.trees[name] for name in target.form.schema.tallied}


def _reached(model: Any, groups: Groups) -> float | None:
    try:
        return finite(model.achieved(groups))
    except IncrowdError:
        return None


def ladder_of(release: Audited, *, original: object = None, seed: int = 0) -> list[dict[str, Any]]:
    """Return the ladder of one unusual person, whom the seed picks: how the crowd shrinks that they could be.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(200), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> [rung["learnt"] for rung in ladder_of(ic.publish(table, ic.KAnonymity(5)))][0]
    'nothing'
    """
    target, _ = aim(release.to_attack, original=original, seed=seed)
    return _ladder(target, seed) if target.truth is not None else []


def _ladder(target: Target, seed: int) -> list[dict[str, Any]]:
    """Return one person's ladder; how few people are left is not told below a handful."""
    if not len(target.people.tuples) or target.form.private:
        return []
    person = random_unusual_person(target, np.random.default_rng([seed, 20_000]))
    return [
        {"learnt": rung.learnt, "before": told(rung.before), "after": told(rung.after), "fewer than": FEW}
        for rung in ladder(target, person)
    ]


def _about(release: Audited) -> dict[str, Any]:
    schema = release.form.schema
    return {
        "form": release.form.name,
        "method": {"name": release.method.name, "parameters": parameters(release.method)},
        "rows": release.row_numbers,
        "columns": {
            "quasi-identifiers": list(schema.quasi),
            "sensitive": list(schema.sensitive),
            "kept": list(schema.kept),
            "dates": list(schema.dates),
            **({"weight": [schema.weight]} if schema.weight is not None else {}),
            "pseudonyms": list(schema.pseudonyms),
        },
        "seeded": release.seeded,
        **_recoded(release.form),
        **(
            {"changed": {name: release.changes.says(name) for name in release.changes.columns}}
            if release.changes.columns
            else {}
        ),
        **({} if release.item_numbers is None else {"items": dict(release.item_numbers)}),
    }


def _recoded(form: Form) -> dict[str, Any]:
    """Return which levels or labels columns got, where there are labels."""
    labelled = None if form.private else form.labelled
    if labelled is None:
        return {}
    columns = recoded_columns(labelled)
    return {"recoded": {name: {**told, "says": recoded_says(told)} for name, told in columns.items()}}
