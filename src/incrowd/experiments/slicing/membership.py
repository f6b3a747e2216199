"""Whether a release tells who is in the table: by the paper's fake tuples, and by people made up from frequencies.

The paper's fakes are all who match a bucket and are not in the table; its second measure is whether they match as many
buckets as those who are. Harder to hide from is somebody with a list of people of whom few match anything: here they
have the table's frequencies, attribute by attribute, and nothing else in common with it. Where attributes are shown
less specific, they may still look like somebody who is in the table. All are counted as kinds of people, each once,
however many have the same values.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.core.tally import Tally
from incrowd.datasets import census
from incrowd.experiments.results import Results
from incrowd.experiments.slicing.ways import BUCKETIZED, COARSE, GENERALIZED, PAPER, RECOMMENDED, SLICED, WIDE, Case
from incrowd.experiments.tables import census_subject
from incrowd.forms.sliced import SlicedTable, as_sliced
from incrowd.forms.slices.fake_tuples import advantage, count_fakes, fake_tuples, known_parts, matching_fakes
from incrowd.forms.slices.matching import BucketIndex, matching_buckets
from incrowd.methods.mondrian import Mondrian
from incrowd.models.delta_presence import DeltaPresence
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.publishing.publish import publish
from incrowd.publishing.table import read

ORIGINAL, MATCHING, RANDOM = "original", "fake people who match", "people at random"
MATCHED, SHARE = "buckets matched by {}", "share of people at random that matches"
ADVANTAGE = "advantage over {}"
RATIO, PEOPLE_RATIO = "fake-original ratio", "fake people for each original"

_PEOPLE = 20_000


def measure_membership(results: Results, case: Case) -> None:
    """Write down how many fakes there are for each original, and how well matches tell them apart."""
    subject, rng = case.subject, case.rng
    tally, _ = subject.tally.project(subject.quasi)
    random = fake_tuples(rng, tally, _PEOPLE)
    some = tally.codes[rng.choice(len(tally), min(_PEOPLE, len(tally)), replace=False)]
    for name in (BUCKETIZED, SLICED, PAPER, WIDE, RECOMMENDED, COARSE):
        release = case.releases.get(name)
        form = None if release is None else as_sliced(release.form)
        if form is None:
            continue
        index = BucketIndex(form.slices, form.buckets)
        matched = {
            ORIGINAL: matching_buckets(index, known_of(form, tally, some)),
            MATCHING: matching_buckets(index, matching_fakes(rng, form.slices, form.buckets, _PEOPLE)),
            RANDOM: matching_buckets(index, known_of(form, tally, random)),
        }
        found = {
            RATIO: form.fakes.ratio,
            PEOPLE_RATIO: count_fakes(form.slices, form.buckets, people=True).ratio,
            **{MATCHED.format(kind): float(each.mean()) for kind, each in matched.items() if len(each)},
            SHARE: float((matched[RANDOM] > 0).mean()),
            **{ADVANTAGE.format(kind): advantage(matched[ORIGINAL], matched[kind]) for kind in (MATCHING, RANDOM)},
        }
        for measure, value in found.items():
            case.add(results, "membership", name, measure, value)


def known_of(form: SlicedTable, people: Tally, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the known parts of some people in a sliced table."""
    whole = np.zeros((len(codes), len(form.shown.columns)), dtype=np.int32)
    for place, name in enumerate(people.columns):
        shown_as = people.trees[name].starts[form.levels.get(name, 0)]
        whole[:, form.shown.columns.index(name)] = shown_as[codes[:, place]]
    return known_parts(form.shown, form.slices, form.columns, whole, tuple(form.schema.sensitive))


def measure_presence(results: Results, rows: int, l: int, seed: int) -> None:
    """Write down how sure generalization makes it that somebody is in the table, of twice as many people."""
    subject = census_subject("occupation", rows, seed)
    others = census(rows, seed=seed + 1_000)
    people = pl.concat([census(rows, seed=seed), others]).select(subject.quasi)
    table = read(
        census(rows, seed=seed),
        quasi=subject.quasi,
        sensitive=[subject.sensitive],
        others="drop",
        hierarchies=dict(subject.schema.quasi),
        population=people,
    )
    release = publish(table, [ProbabilisticLDiversity(l), DeltaPresence(1.0)], method=Mondrian(), seed=seed)
    results.add("membership", subject.name, rows, GENERALIZED, f"l = {l}", "largest presence (1/2 is no news)",
                release.guarantees[1].achieved)  # fmt: skip
