"""k-DGS: a generalization that is fixed beforehand, then every row that is not seen k times is withheld.

Algorithm 3 of Li, Qardaji & Su (2012). Nothing of what is shown is chosen by looking at the table, so a published row
says no more than that at least k people are like it in everything that is published, sensitive values included. By
itself this is not differential privacy; after a sample of the rows (`sample=` when publishing) it is (k,β)-SDGS, which
the paper proves to be, for an ε and δ that follow from k and the rate. Cost: one pass over the distinct tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.groups import Groups, Regions
from incrowd.core.method import Method
from incrowd.core.model import Model, refuse_uncovered
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.fixed_levels import require_levels
from incrowd.methods.grouping import Grouper
from incrowd.methods.lattice import LevelLimits, require_known
from incrowd.models.full_k_anonymity import FullKAnonymity


@dataclass(frozen=True)
class KDGS(Method):
    """Show every quasi-identifier at a fixed level, and withhold rows that are seen fewer than `k` times.

    Parameters
    ----------
    k : the smallest number of rows that look alike in everything that is published.
    levels : the level of each quasi-identifier's hierarchy (default: 0 for columns that are not named).
    allow_inferred : True accepts hierarchies that were made from the data (default: False, refuse them).

    Rows are counted by everything that is published of them, so single rows of a group may be withheld because of their
    sensitive values. Kept and pseudonymized columns could tell rows apart and are refused. Hierarchies must be
    declared: one that was made from the data would show what the data are like.

    Other required models are only checked, not searched for.

    >>> import incrowd as ic
    >>> ages = ic.Intervals(widths=(5, 10, 20, 40))
    >>> table = ic.read(
    ...     ic.datasets.census(1000), quasi=["age"], sensitive=["sex"], others="drop", hierarchies={"age": ages}
    ... )
    >>> ic.publish(table, ic.FullKAnonymity(20), method=KDGS(20, levels={"age": 2}))
    Release(987 rows in 8 groups, 13 withheld; full 20-anonymity)

    Reference: Li, Qardaji & Su (2012), Algorithm 3.
    """

    k: int
    levels: Mapping[str, int] = field(default_factory=dict)
    allow_inferred: bool = False
    name: ClassVar[str] = "k-dgs"

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)
        require_levels(self.name, self.levels)
        if not isinstance(self.allow_inferred, bool):
            raise RecipeError(f"{self.name}: allow_inferred is true or false, not {self.allow_inferred!r}.")

    @property
    def guarantees(self) -> tuple[Model, ...]:
        """What every release satisfies, whatever else is required of it."""
        return (FullKAnonymity(self.k),)

    @property
    def least_levels(self) -> Mapping[str, int]:
        """All of them are given."""
        return self.levels

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Generalize and withhold. Deterministic: `rng` is not used."""
        refuse_uncovered(self.guarantees, schema)
        columns = tuple(sorted(schema.quasi))
        require_known(list(self.levels), columns)
        if not self.allow_inferred:
            _refuse_inferred(tally, columns)
        limits = LevelLimits(self.levels, self.levels)
        levels = tuple(limits.of(name, tally.trees[name].height).start for name in columns)
        progress("generalizing", 0.0)
        nodes = [
            tally.trees[name].nodes[level][tally.column(name)] for name, level in zip(columns, levels, strict=True)
        ]
        group_of, _ = group_tuples(np.stack(nodes, axis=1), [tally.trees[name].size for name in columns])
        published = self._seen_often(tally, tuple(sorted(schema.sensitive)), group_of)
        if not published.size:
            asked = ", ".join(str(model) for model in (*self.guarantees, *require))
            raise Unsatisfiable(
                f"at these levels no row of {tally.rows:,} is seen {self.k:,} times, so none can be published under "
                f"{asked}.  Hint: choose higher levels, a smaller k, or fewer columns."
            )
        _, member, shown_groups = np.unique(group_of[published], return_index=True, return_inverse=True)
        groups = np.full(len(tally), WITHHELD, dtype=np.int64)
        groups[published] = shown_groups
        lows, highs = _runs(tally, columns, levels, published[member])
        recoding = Recoding(np.arange(len(tally)), tally.counts, groups, columns, lows, highs, "level", levels)
        _require_satisfied(require, tally, schema, recoding)
        progress("generalizing", 1.0)
        return recoding

    def _seen_often(self, tally: Tally, sensitive: tuple[str, ...], group_of: Ints) -> Ints:
        """Return the tuples of which all that would be published is seen at least k times."""
        shown = np.stack([group_of, *(tally.column(name) for name in sensitive)], axis=1).astype(np.int32)
        row_of, kinds = group_tuples(shown, [int(group_of.max()) + 1, *(tally.trees[name].size for name in sensitive)])
        seen = np.bincount(row_of, weights=tally.counts, minlength=len(kinds))
        return np.flatnonzero(seen[row_of] >= self.k)


def _refuse_inferred(tally: Tally, columns: Sequence[str]) -> None:
    inferred = [name for name in columns if tally.trees[name].from_data]
    if inferred:
        raise SchemaError(
            f"k-dgs must not look at the table to choose what is shown, and the hierarchy of '{inferred[0]}' is made "
            "from it.  Hint: declare one, such as intervals or categories; or say "
            f"{option('allow_inferred', True, section='method')}; what is shown then depends on the table."
        )


def _runs(tally: Tally, columns: Sequence[str], levels: Sequence[int], members: Ints) -> tuple[Codes, Codes]:
    """Return, column by column, the run of codes of each member's node."""
    lows, highs = [], []
    for name, level in zip(columns, levels, strict=True):
        tree, codes = tally.trees[name], tally.column(name)[members]
        low = tree.starts[level][codes]
        # The root holds the known values only where none is missing.
        lows.append(low if tally.has_missing(name) else np.maximum(low, np.int32(1)))
        highs.append(tree.ends[level][codes])
    return np.stack(lows, axis=1), np.stack(highs, axis=1)


def _require_satisfied(require: Sequence[Model], tally: Tally, schema: Schema, recoding: Recoding) -> None:
    """Raise `Unsatisfiable` if what is published fails a model: there is nothing to choose that could help."""
    groups = _published_groups(tally, schema, recoding)
    failing = [model for model in require if not model.satisfied(groups).all()]
    if failing:
        reached = "; ".join(f"{model}: they reach {model.achieved(groups):.4g}" for model in failing)
        raise Unsatisfiable(
            f"the {int(groups.sizes.sum()):,} of {tally.rows:,} rows that are seen often enough at these levels do not "
            f"satisfy what is required. {reached}.  Hint: choose other levels or a larger k, or ask for less."
        )


def _published_groups(tally: Tally, schema: Schema, recoding: Recoding) -> Groups:
    published = recoding.published
    sensitive = tuple(sorted(schema.sensitive))
    kept = replace(tally, codes=tally.codes[published], counts=tally.counts[published])
    return replace(
        Grouper(kept, sensitive).groups(recoding.groups[published], len(recoding.lows)),
        whole={name: tally.table_counts(name) for name in sensitive},
        table=tally,
        regions=lambda: Regions(recoding.columns, recoding.lows, recoding.highs),
    )
