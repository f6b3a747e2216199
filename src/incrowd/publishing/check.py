"""What any table achieves, also one that was not made here: the models' parameters, read off its groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Counts, Ints
from incrowd.common.paths import is_there
from incrowd.common.plain import finite, size_distribution
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role
from incrowd.core.families import require_member
from incrowd.core.groups import Groups
from incrowd.core.item_sets import ItemSets
from incrowd.core.model import Model, refuse_unverifiable
from incrowd.core.people import number_households, number_people
from incrowd.core.sampling import as_rate
from incrowd.core.schema import HOUSEHOLD, Schema
from incrowd.core.set_model import SetModel, split_models
from incrowd.core.source import Reading, ReadOptions
from incrowd.errors import EmptyTable, SchemaError
from incrowd.forms.people_crowds import crowds_of_people
from incrowd.forms.verify import COUNT, groups_of, read_regions
from incrowd.hierarchies.values import one_spelling
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.recursive_l_diversity import RecursiveLDiversity
from incrowd.models.sets.exposure import exposure
from incrowd.models.sets.km_anonymity import KmAnonymity
from incrowd.publishing.databases.releases import is_release_in_database, release_directory
from incrowd.publishing.opening.claims import Claim, judge_claims, judge_claims_of_people
from incrowd.publishing.opening.items import sets_of_rows
from incrowd.publishing.opening.open_release import open_release, publishes_all
from incrowd.publishing.opening.summary import read_summary
from incrowd.publishing.publish import refuse_repeated
from incrowd.publishing.release import Release
from incrowd.publishing.table import Table
from incrowd.publishing.unnamed_people import refuse_unnamed_people
from incrowd.sources import open_table, reading


@dataclass(frozen=True)
class SensitiveCheck:
    """How diverse a sensitive column is in the worst group; `recursive_c` is the bound below which (c,2) fails."""

    distinct_l: int
    entropy_l: float
    probabilistic_l: float
    recursive_c: float | None


@dataclass(frozen=True)
class ModelCheck:
    """Whether a table satisfies a model, how far it gets, and how many of its groups and rows fail."""

    statement: str
    satisfied: bool | None
    """None where it cannot be judged without the table before."""
    achieved: float | None
    failing_groups: int
    failing_rows: int
    note: str = ""
    """Of what it holds, or why it does not."""


@dataclass(frozen=True)
class Check:
    """What a table achieves; `models` are those that it was asked about, or that a release claims.

    Groups are rows that show the same quasi-identifiers. Where the table tells whose a row is, all numbers but that of
    `rows` count people, and a group are those who have rows in all the groups that somebody's rows are in. Where a
    release has buckets, sensitive values are judged in these, and `smallest_bucket` is how many rows the smallest one
    has.
    """

    rows: int
    groups: int
    k: int | None
    """None where people have several rows and the table does not tell whose a row is."""
    unique_rows: int | None
    by_size: dict[str, int]
    sensitive: dict[str, SensitiveCheck]
    models: tuple[ModelCheck, ...] = ()
    smallest_bucket: int | None = None
    people: int | None = None
    """People, where the table tells whose a row is."""
    households: int | None = None
    """Households in the smallest group, where the table tells who lives together."""
    items: dict[str, int | None] = field(default_factory=dict)
    """Of a column of sets: how many people show the rarest items of which 1, 2, … are known; None where there are no so
    many."""
    outside: tuple[str, ...] = ()
    """Columns of a release that no guarantee speaks of: whoever knows somebody's values there may find their row."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "models": [asdict(model) for model in self.models], "outside": list(self.outside)}


def check(
    source: object,
    *,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    person: str | Iterable[str] = (),
    household: str | Iterable[str] = (),
    items: str | None = None,
    item_separator: str | None = None,
    known_items: int = 2,
    each_row_a_person: bool = False,
    require: Sequence[Model | SetModel] = (),
    original: Table | None = None,
    sample: float | Fraction | str = 1,
    **keywords: Unpack[Reading],
) -> Check:
    """Read off what a table achieves; a missing value is a value like any other.

    Where somebody has several rows, name the column that tells whose a row is, or several, as `person`: people are then
    counted. Who knows all rows of somebody takes that person for one of those who have a row in each of the same
    groups, so these are counted together. In the same way, where the table shows who lives together (`household`),
    households are counted that have members in each of the groups that somebody's household has members in.

    Where a column holds sets of `items` (lists, or texts with `item_separator` between), it is told among how many
    people of a group somebody hides of whom up to `known_items` are known. A column that nobody named, that repeats and
    that seems to tell whose a row is, is refused, unless `each_row_a_person`.

    The directory of a release tells the roles of its columns, its form and what it claims: all of this is judged on its
    files alone. Any other table is judged by the columns that you name.

    Models that compare a release with the table it was made from need the `original`, with its roles and hierarchies,
    by which the labels are read; quasi-identifiers and sensitive columns are then the original's. `sample` is the share
    of the original's rows that was sampled for the release. All other keywords tell how the table is read, as those of
    `incrowd.read` do.

    >>> import incrowd as ic
    >>> check(ic.datasets.senellart_patients(), quasi=["zip", "age"], sensitive=["disease"]).k
    1
    """
    models, of_sets = split_models(require)
    refuse_unverifiable(models)
    for model in models:
        require_member("models", model)
    for one in of_sets:
        require_member("set_models", one)
    if original is not None and not (original.schema.person or original.schema.each_row_a_person):
        refuse_repeated(original.engine.repeated(original.schema.naming))
    if is_release_in_database(source):
        source = release_directory(str(source))
    if is_saved_release(source):
        if quasi or sensitive or person or household or items:
            raise SchemaError(
                f"{source} is a release, which tells itself what its columns are.  Hint: name no columns, or check its "
                "data file alone."
            )
        return _check_release(Path(str(source)), models, original)
    if original is not None and items is None:
        items, item_separator = next(iter(original.schema.items), None), original.schema.item_separator
    options = ReadOptions.of(keywords, lists=None if items else ())
    opened = open_table(source, options)
    if original is not None:
        quasi = original.schema.quasi if quasi is None else quasi
        sensitive = original.schema.sensitive if sensitive is None else sensitive
        told = set(original.schema.person) <= set(opened.columns)  # by some of them, several people would be one
        person = person or (original.schema.person if told else ())
    schema = Schema.of(
        opened.columns,
        quasi=quasi or (),
        sensitive=sensitive or (),
        person=person,
        household=household,
        items=() if items is None else (items,),
        others="drop",
    )
    require_sets(of_sets, items)
    if not schema.quasi:
        raise SchemaError("no column is a quasi-identifier.  Hint: name those that outsiders may know.")
    if original is None and not schema.person and not each_row_a_person:
        named = {*schema.found_again_by, *schema.items}
        refuse_unnamed_people(opened, tuple(schema.quasi), [name for name in opened.columns if name not in named])
    columns = cs.by_name(*schema.found_again_by)
    with reading(opened):
        counted = opened.frame.group_by(columns).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    if counted.height == 0:
        raise EmptyTable("the table has columns but no rows.")
    # Spellings of one value are counted as one, as they are when a table is published.
    texts = [one_spelling(opened.texts.read(text)) for text in counted.select(columns & cs.string()).get_columns()]
    counted = counted.with_columns(texts).group_by(columns).agg(cs.by_name(COUNT).sum()) if texts else counted
    names = tuple(schema.quasi), tuple(schema.sensitive)
    before = None
    if original is not None and (models or original.schema.person):
        known = original.engine.count(original.schema, original.population)
        if known.people is not None and len(known.people) < known.tally.rows and not schema.person:
            asked = judge_claims_of_people(models, None, None, all_rows=False)
            return _not_known(groups_of(counted, *names).sizes, asked)
        before = known.tally if known.people is None else known.people.tally
        before = replace(before, rate=as_rate(sample))  # who was in the sample is not known, and need not be
    regions = None if before is None else read_regions(counted, names[0], before)
    person_of = np.arange(0)
    if schema.person:
        person_of = number_people(counted, schema.person, opened.texts)
        found = check_people(counted, *names, person_of)
        groups = crowds_of_people(counted, *names, person_of, before=before, stands_for=regions)
    else:
        found = check_groups(groups_of(counted, *names))
        groups = groups_of(counted, *names, before=before, stands_for=regions)
    apart = found.people is None or int(groups.sizes.sum()) == found.people
    together = None
    if schema.household:
        together = _crowds_of_households(counted, names[0], number_households(counted, schema.household, opened.texts))
        found = replace(found, households=int(together.sizes.min()))
    lacking = [name for name in schema.sensitive if schema.person and _lacks_beside_others(counted[name], person_of)]
    judged = (
        ModelCheck(
            str(model), None, None, 0, 0, f"somebody lacks a value of '{lacking[0]}' in one row and not in another"
        )
        if lacking and model.covers_all_columns
        else _check_model(model, together, apart=False)
        if together is not None and model.counts_households
        else _check_model(model, groups, apart=apart)
        for model in models
    )
    found = replace(found, models=tuple(judged))
    if items is None:
        return found
    sets = sets_of_rows(opened, *names, items, item_separator, schema.person)
    rarest, about_sets = check_items(sets, of_sets, known_items)
    return replace(found, items=rarest, models=(*found.models, *about_sets))


def _lacks_beside_others(values: pl.Series, person_of: Ints) -> bool:
    """Whether somebody lacks a value in one row and has one in another."""
    rows = pl.DataFrame({"person": person_of, "missing": values.alias("").is_null()})
    some = rows.group_by("person").agg(pl.col("missing").any() & ~pl.col("missing").all())
    return bool(some["missing"].any())


def require_sets(models: Sequence[SetModel], items: str | None) -> None:
    """Refuse models of sets without a column of sets."""
    if models and items is None:
        raise SchemaError(
            f"{models[0]} is about sets of items, and no column is of items.  Hint: {as_role('items', 'products')}."
        )


def check_items(
    sets: ItemSets, require: Sequence[SetModel], known_items: int
) -> tuple[dict[str, int | None], list[ModelCheck]]:
    """Read off how many people show the rarest items, by how many are known; and judge models."""
    seen = exposure(sets, KmAnonymity(2, m=known_items))
    told = {str(one.size): one.smallest_support for one in seen.by_size if one.size}
    models = []
    for model in require:
        found = exposure(sets, model)
        unsafe = sum(one.unsafe for one in found.by_size)
        least = found.smallest_support
        note = "" if found.holds else f"{found.exposed:,} people show items by which too few are left: {unsafe:,} sets"
        models.append(ModelCheck(str(model), found.holds, None if least is None else float(least), 0, 0, note))
    return told, models


def _crowds_of_households(counted: pl.DataFrame, quasi: Sequence[str], household_of: Ints) -> Groups:
    """Return the crowds that hide households, as people are hidden who have several rows."""
    every = np.arange(int(household_of.max()) + 1)
    return crowds_of_people(counted, quasi, (), household_of, events={HOUSEHOLD: (every, pl.Series(every))})


def _check_release(place: Path, require: Sequence[Model], original: Table | None) -> Check:
    """Judge a release by its files, and its claims with them."""
    release = open_release(place)
    if release.form.private:
        raise SchemaError(f"{place} holds noisy counts: they are nobody's groups, and promise nothing of these.")
    if original is not None:
        release = open_release(place, original=original)
    form, known = release.form, release.table_before
    before = None if known is None else replace(known, rate=release.rate)
    all_rows = publishes_all(read_summary(place, required=True))
    if release.counts_people:
        people = None if release.crowds is None else release.crowds.table
        asked = judge_claims_of_people(require, release.crowds, people, all_rows=all_rows)
        return _check_people_of_release(release, asked)
    asked = judge_claims(require, form, before, all_rows=all_rows)
    view = form.view()
    seen = {name: view.crowds(name) for name in view.sensitive}
    found = check_groups(Groups(form.rows_alike()))
    for name, crowds in seen.items():
        one = check_groups(Groups(crowds.sizes, {name: crowds.values}, {}, view.trees))
        found = replace(found, sensitive={**found.sensitive, **one.sensitive})
    buckets = form.group_sizes
    return replace(
        found,
        models=tuple(_check_claim(claim) for claim in (*release.claims, *asked)),
        outside=release.outside,
        smallest_bucket=int(buckets.min()) if len(buckets) and found.k < buckets.min() else None,
    )


def _check_people_of_release(release: Release, asked: Sequence[Claim]) -> Check:
    """Judge a release by the crowds that hide people; where its files do not tell whose a row is, by nothing."""
    models = tuple(_check_claim(claim) for claim in (*release.claims, *asked))
    if release.crowds is None:
        return replace(_not_known(release.form.group_sizes, ()), models=models, outside=release.outside)
    found = check_groups(release.crowds)
    return replace(found, rows=release.rows, people=found.rows, models=models, outside=release.outside)


def _not_known(sizes: Counts, asked: Sequence[Claim]) -> Check:
    """Tell what is known where people have several rows and nobody tells whose a row is: numbers of rows alone."""
    models = tuple(_check_claim(claim) for claim in asked)
    return Check(int(sizes.sum()), len(sizes), None, None, size_distribution(sizes), {}, models)


def _check_claim(claim: Claim) -> ModelCheck:
    held = claim.found
    return ModelCheck(
        statement=str(claim.model),
        satisfied={"holds": True, "does not hold": False}.get(claim.verdict),
        achieved=None if held is None else finite(held.achieved),
        failing_groups=0,
        failing_rows=0,
        note=claim.reason if held is None else held.note,
    )


def is_saved_release(source: object) -> bool:
    """Whether a source is the directory of a release, or one in a database."""
    if is_release_in_database(source):
        return True
    return isinstance(source, (str, Path)) and is_there(Path(source) / "summary.json")


def _check_model(model: Model, groups: Groups, *, apart: bool) -> ModelCheck:
    """Judge a model; where crowds of people are not apart, what holds of all of them together is not judged."""
    if model.whole_table and not apart:
        note = "rows of one person are in several groups, so that these cannot be added up"
        return ModelCheck(str(model), None, None, 0, 0, note)
    good = model.satisfied(groups)
    return ModelCheck(
        statement=str(model),
        satisfied=bool(good.all()),
        achieved=finite(model.achieved(groups)),
        failing_groups=int(np.count_nonzero(~good)),
        failing_rows=model.failing_rows(groups),
        note=model.told(groups),
    )


def check_people(counted: pl.DataFrame, quasi: Sequence[str], sensitive: Sequence[str], person_of: Ints) -> Check:
    """Read off what a table achieves that tells whose a row is."""
    found = check_groups(crowds_of_people(counted, quasi, sensitive, person_of))
    return replace(found, rows=int(counted[COUNT].sum()), people=int(person_of.max(initial=-1)) + 1)


def check_groups(groups: Groups) -> Check:
    """Read off what groups achieve."""
    return Check(
        rows=int(groups.sizes.sum()),
        groups=len(groups),
        k=int(KAnonymity(1).achieved(groups)),
        unique_rows=int(np.count_nonzero(groups.sizes == 1)),
        by_size=size_distribution(groups.sizes),
        sensitive={
            name: SensitiveCheck(
                distinct_l=int(DistinctLDiversity(1, column=name).achieved(groups)),
                entropy_l=EntropyLDiversity(1, column=name).achieved(groups),
                probabilistic_l=ProbabilisticLDiversity(1, column=name).achieved(groups),
                recursive_c=finite(RecursiveLDiversity(1, 2, column=name).achieved(groups)),
            )
            for name in groups.secrets
        },
    )
