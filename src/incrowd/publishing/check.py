"""What any table achieves, also one that was not made here: the models' parameters, read off its groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.paths import is_there
from incrowd.common.plain import finite, size_distribution
from incrowd.core.families import require_member
from incrowd.core.groups import Groups
from incrowd.core.model import Model, refuse_unverifiable
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.errors import EmptyTable, SchemaError
from incrowd.forms.verify import COUNT, groups_of, read_regions
from incrowd.hierarchies.values import one_spelling
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.recursive_l_diversity import RecursiveLDiversity
from incrowd.publishing.opening.claims import Claim, judge_claims
from incrowd.publishing.opening.open_release import open_release, publishes_all
from incrowd.publishing.opening.summary import read_summary
from incrowd.publishing.table import Table
from incrowd.sources import open_source, reading


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

    Groups are rows that show the same quasi-identifiers. Where a release has buckets, sensitive values are judged in
    these, and `smallest_bucket` is how many rows the smallest one has.
    """

    rows: int
    groups: int
    k: int
    unique_rows: int
    by_size: dict[str, int]
    sensitive: dict[str, SensitiveCheck]
    models: tuple[ModelCheck, ...] = ()
    smallest_bucket: int | None = None
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
    require: Sequence[Model] = (),
    original: Table | None = None,
    sample: float | Fraction | str = 1,
    query: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    exact_text: bool = False,
) -> Check:
    """Read off what a table achieves; a missing value is a value like any other.

    The directory of a release tells the roles of its columns, its form and what it claims: all of this is judged on its
    files alone. Any other table is judged by the columns that you name.

    Models that compare a release with the table it was made from need the `original`, with its roles and hierarchies,
    by which the labels are read; quasi-identifiers and sensitive columns are then the original's. `sample` is the share
    of the original's rows that was sampled for the release.

    >>> import incrowd as ic
    >>> check(ic.datasets.senellart_patients(), quasi=["zip", "age"], sensitive=["disease"]).k
    1
    """
    refuse_unverifiable(require)
    for model in require:
        require_member("models", model)
    if is_saved_release(source):
        if quasi or sensitive:
            raise SchemaError(
                f"{source} is a release, which tells itself what its columns are.  Hint: name no columns, or check its "
                "data file alone."
            )
        return _check_release(Path(str(source)), require, original)
    opened = open_source(
        source,
        query=query,
        separator=separator,
        quote=quote,
        encoding=encoding,
        missing=missing,
        exact_text=exact_text,
    )
    if original is not None:
        quasi = original.schema.quasi if quasi is None else quasi
        sensitive = original.schema.sensitive if sensitive is None else sensitive
    schema = Schema.of(opened.columns, quasi=quasi or (), sensitive=sensitive or (), others="drop")
    if not schema.quasi:
        raise SchemaError("no column is a quasi-identifier.  Hint: name those that outsiders may know.")
    columns = cs.by_name(*schema.tallied)
    with reading(opened):
        counted = opened.frame.group_by(columns).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    if counted.height == 0:
        raise EmptyTable("the table has columns but no rows.")
    # Spellings of one value are counted as one, as they are when a table is published.
    texts = [one_spelling(opened.texts.read(text)) for text in counted.select(columns & cs.string()).get_columns()]
    counted = counted.with_columns(texts).group_by(columns).agg(cs.by_name(COUNT).sum()) if texts else counted
    names = tuple(schema.quasi), tuple(schema.sensitive)
    found = check_groups(groups_of(counted, *names))
    if not require:
        return found
    if original is None:
        groups = groups_of(counted, *names)
    else:
        before = original.engine.count(original.schema, original.population).tally
        before = replace(before, rate=as_rate(sample))  # who was in the sample is not known, and need not be
        groups = groups_of(counted, *names, before=before, stands_for=read_regions(counted, names[0], before))
    return replace(found, models=tuple(_check_model(model, groups) for model in require))


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
    """Whether a source is the directory of a release."""
    return isinstance(source, (str, Path)) and is_there(Path(source) / "summary.json")


def _check_model(model: Model, groups: Groups) -> ModelCheck:
    good = model.satisfied(groups)
    return ModelCheck(
        statement=str(model),
        satisfied=bool(good.all()),
        achieved=finite(model.achieved(groups)),
        failing_groups=int(np.count_nonzero(~good)),
        failing_rows=model.failing_rows(groups),
    )


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
            for name in groups.sensitive
        },
    )
