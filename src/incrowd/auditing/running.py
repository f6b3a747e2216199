"""Run everything over one release: models, attacks, metrics.

Cost: attacks look at 100,000 people at most, drawn at random; what is measured of the release grows with its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.attacks import (
    Attack,
    BackgroundKnowledge,
    Composition,
    DeFinetti,
    ExternalLinkage,
    ExtremeValues,
    Homogeneity,
    JointKnowledge,
    Linkage,
    Membership,
    Minimality,
    Risk,
    Similarity,
    SinglingOut,
    Skewness,
    Target,
)
from incrowd.attacks.ladder import ladder, somebody
from incrowd.attacks.target import is_noisy
from incrowd.auditing import crowds, usefulness
from incrowd.auditing.as_read import as_read
from incrowd.auditing.evidence import Audit, Skipped
from incrowd.auditing.people import read_people, read_truth
from incrowd.auditing.query_file import file_errors, read_queries
from incrowd.auditing.reading_labels import NoisyLines
from incrowd.auditing.suppression import FEW, told
from incrowd.errors import IncrowdError
from incrowd.groups import Groups
from incrowd.progress import Progress, silent
from incrowd.releases.release import Release, finite, parameters

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd.hierarchies.tree import Tree
    from incrowd.releases.query import Query
    from incrowd.tally import Tally

_PER_COLUMN: tuple[type[Any], ...] = (
    Homogeneity,
    BackgroundKnowledge,
    JointKnowledge,
    Skewness,
    Similarity,
    Composition,
    Minimality,
    DeFinetti,
)
_ONCE: tuple[type[Any], ...] = (Linkage, ExternalLinkage, Membership, SinglingOut, ExtremeValues)


def audit(
    release: Release,
    *,
    original: object = None,
    external: object = None,
    earlier: Sequence[Release] = (),
    attacks: Sequence[Attack] | None = None,
    queries: str | Path | None = None,
    learn: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Audit:
    """Attack a release in every way, and measure what it is still good for.

    A release that was made in this session knows its table; that of noisy counts, or one that was read from a file,
    needs it as the `original`: a file, a frame, or anything that `incrowd.read` takes. `external` is a table of people
    that an adversary may have, `earlier` other releases about overlapping people. `attacks` are tried in place of all.
    `queries` is a file of questions that it should answer well (see `auditing/query_file.py`).

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(1000), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> audit(ic.publish(table, ic.KAnonymity(5)), learn=False).strongest is not None
    True
    """
    target, notes = aim(release, original=original, external=external, earlier=earlier, seed=seed)
    asked = None if queries is None else read_queries(queries, _tallied_trees(target))
    chosen = every_attack(target) if attacks is None else list(attacks)
    risks, skipped = attack_all(target, chosen, seed=seed, progress=progress)
    useful, not_measured = measure(target, float(release.rate), asked, learn=learn, seed=seed, progress=progress)
    knows = target.truth is not None
    return Audit(
        about=_about(release),
        guarantees=release.promises,
        achieved=achieved(target),
        attacks=tuple(risks),
        skipped=(*skipped, *not_measured),
        usefulness=useful,
        crowds={
            "sizes": crowds.group_sizes(target),
            "risk by record": [] if is_noisy(target.form) else crowds.risk_by_record(target),
            "worst groups": {name: crowds.worst_groups(target, name) for name in target.view.sensitive},
        },
        ladder=_ladder(target, seed) if knows else [],
        warnings=[*release.warnings, *notes],
        settings={
            "seed": seed,
            "people attacked": target.people.number if knows else release.rows,
            "original": "known" if knows else "not given",
            "external": "given" if target.external is not None else "not given",
            "earlier releases": len(target.earlier),
            "fewest people told of": FEW,
        },
    )


def aim(
    release: Release,
    *,
    original: object = None,
    external: object = None,
    earlier: Sequence[Release] = (),
    seed: int = 0,
) -> tuple[Target, list[str]]:
    """Return the release as a target, and what is to be said about how it was read."""
    form, notes = release.form, []
    truth = known_truth(release)
    if original is not None:
        # What other releases show of the same people is looked up in the table, too.
        trees = {name: tree for other in earlier for name, tree in other.form.tally.trees.items()}
        truth = read_truth(original, form.schema.tallied, {**trees, **form.tally.trees}, also=sorted(trees))
    if truth is not None:
        form = as_read(form, truth)
    people = getattr(form.tally, "population", None)
    if external is not None:
        people, strangers = read_people(external, tuple(form.schema.quasi), form.tally.trees)
        if strangers:
            some = f"{strangers:,}" if strangers >= FEW else f"Fewer than {FEW}"
            notes.append(f"{some} people of the external table have values that the table has not: left out.")
    if release.hides_rows and truth is not None:
        notes.append("This audit looks at the table itself: it is not covered by the promise, and not for publication.")
    require = tuple(guarantee.model for guarantee in release.guarantees if guarantee.basis == "verified")
    target = Target(
        form=form,
        truth=truth,
        external=people,
        earlier=tuple(other.form for other in earlier),
        require=require,
        method=release.method.name,
        seed=seed,
    )
    return target, notes


def known_truth(release: Release) -> Tally | None:
    """Return the table that a release was made of, where it is still known."""
    if release.foreign or (is_noisy(release.form) and not isinstance(release.form, NoisyLines)):
        return None
    return release.form.tally


def every_attack(target: Target) -> list[Attack]:
    """Return all attacks, those by inference once for each sensitive column."""
    names: Iterable[str | None] = target.view.sensitive or (None,)
    by_column = [attack(column=name) for name in names for attack in _PER_COLUMN]
    return [*(attack() for attack in _ONCE), *by_column]


def attack_all(
    target: Target, attacks: Sequence[Attack], *, seed: int = 0, progress: Progress = silent
) -> tuple[list[Risk], list[Skipped]]:
    """Try attacks one after the other; return what came out, and what could not be tried."""
    risks, skipped = [], []
    for place, attack in enumerate(attacks):
        progress("attacking", place / max(len(attacks), 1))
        missing = attack.lacks(target)
        if missing is None:
            risks.append(attack.run(target, rng=np.random.default_rng([seed, place])))
        else:
            skipped.append(Skipped(attack.name, missing))
    progress("attacking", 1.0)
    return risks, list(dict.fromkeys(skipped))


def measure(
    target: Target,
    rate: float,
    asked: Sequence[Query] | None = None,
    *,
    learn: bool,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, Any], list[Skipped]]:
    """Measure what the release is still good for, as far as the table before is known."""
    truth, form = target.truth, target.form
    if truth is None:
        return {}, [Skipped("usefulness", "the table before is needed")]
    rng = np.random.default_rng([seed, 10_000])
    skipped = []
    progress("measuring", 0.0)
    columns = usefulness.columns_before_and_after(truth, form, rng)
    pairs = usefulness.pairs_before_and_after(truth, form, rng)
    losses = usefulness.losses(truth, form, columns, pairs)
    found: dict[str, Any] = {"losses": losses, "columns": columns, "pairs": pairs}
    progress("measuring", 1.0)
    found["queries"] = usefulness.query_errors(truth, form, rate, rng, progress)
    if asked is not None:
        found["queries"].append(file_errors(truth, form, rate, asked))
    if learn and usefulness.can_learn():
        found["learning"] = usefulness.learning(truth, form, rng, progress)
    else:
        why = "not asked for" if not learn else "scikit-learn is not installed (pip install 'incrowd[experiments]')"
        skipped.append(Skipped("learning", why))
    return found, skipped


def achieved(target: Target) -> dict[str, Any]:
    """Return what the groups turn out to satisfy, whatever was asked for."""
    from incrowd.models import DistinctLDiversity, EntropyLDiversity, KAnonymity, ProbabilisticLDiversity, TCloseness

    if is_noisy(target.form):
        return {}  # noisy counts are nobody's groups
    found: dict[str, Any] = {}
    names: Iterable[str | None] = target.view.sensitive or (None,)
    for name in names:
        seen = target.view.crowds(name)
        whole = {} if name is None or target.truth is None else {name: target.truth.value_counts(name)}
        sensitive = {} if name is None else {name: seen.values}
        groups = Groups(seen.sizes, sensitive, whole, target.view.trees)
        if "k" not in found:
            found["k"] = int(KAnonymity(1).achieved(groups)) if len(groups) else 0
        if name is not None and len(groups):
            models = (DistinctLDiversity(1, column=name), EntropyLDiversity(1, column=name))
            found[f"diversity of {name}"] = {
                "distinct l": finite(models[0].achieved(groups)),
                "entropy l": finite(models[1].achieved(groups)),
                "probabilistic l": finite(ProbabilisticLDiversity(1, column=name).achieved(groups)),
                "t": _reached(TCloseness(1.0, column=name), groups),
            }
    return found


def _tallied_trees(target: Target) -> dict[str, Tree]:
    return {name: target.form.tally.trees[name] for name in target.form.schema.tallied}


def _reached(model: Any, groups: Groups) -> float | None:
    try:
        return finite(model.achieved(groups))
    except IncrowdError:
        return None


def _ladder(target: Target, seed: int) -> list[dict[str, Any]]:
    """Return one person's ladder; how few people are left is not told below a handful."""
    if not len(target.people.tuples) or is_noisy(target.form):
        return []
    person = somebody(target, np.random.default_rng([seed, 20_000]))
    return [
        {"learnt": rung.learnt, "before": told(rung.before), "after": told(rung.after), "fewer than": FEW}
        for rung in ladder(target, person)
    ]


def _about(release: Release) -> dict[str, Any]:
    schema = release.form.schema
    return {
        "form": release.form.name,
        "method": {"name": release.method.name, "parameters": parameters(release.method)},
        "rows": release.row_numbers,
        "columns": {
            "quasi-identifiers": list(schema.quasi),
            "sensitive": list(schema.sensitive),
            "kept": list(schema.kept),
            "pseudonyms": list(schema.pseudonyms),
        },
        "seeded": release.seed is not None,
    }
