"""(k,β)-SDGS: sample every row with probability β, generalize by fixed levels, withhold what is not seen k times.

Li, Qardaji & Su (2012), theorem 1: this is (ε, δ)-differentially private for every ε ≥ −ln(1−β), with a δ that follows
from k and β, although nothing is noisy. What is promised is the exact δ (`dp/exact_suppression.py`), several times
smaller than theorem 1's bound, which is told beside it. Publishing samples (`sample=`), k-DGS does the
rest. What is shown must not depend on the table, so every hierarchy is declared; how many rows there are, were sampled
or withheld is not told.

Per person. Where somebody has several rows, theorem 1 is about one of them, and it needs rows that are sampled
independently: if people were sampled with all their rows, how often two combinations are seen would hang together, and
the proof, which looks at one combination, would not hold. So at most `most_rows` rows of each person are kept, each of
these is sampled by itself, and theorem 1 is used for ε over `most_rows`; what that comes to for a person is
`dp/group_privacy.py`. ε is then at least −`most_rows`·ln(1−β). Levels that are chosen by the table are chosen by the
kept rows, under the same division. `k` counts rows. With one row each these are people, and the release is k-anonymous
in people; with more, the rows of a combination may be few people's, and it is not said to be.

Cost: that of k-DGS; with chosen levels, see `schemes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.method import Method
from incrowd.core.model import Guarantee, Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.exact import round_digits
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.dp.group_privacy import price_of_person, share_of_row
from incrowd.dp.promise import PrivacyPromise
from incrowd.dp.sampled_suppression import as_epsilon, checked, delta_of, least_epsilon
from incrowd.dp.smooth_bound import SmoothBound
from incrowd.errors import ConformanceError, RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import AsWritten
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.public import EachByItself
from incrowd.methods.k_dgs import KDGS
from incrowd.methods.private import require_most_rows
from incrowd.methods.schemes import choose_levels
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.models.full_k_anonymity import FullKAnonymity
from incrowd.models.k_anonymity import KAnonymity

EPSILONS = ("0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "8")
"""Where the curve of ε and δ is told, as far as the sampling rate allows."""
_USUAL = 1
_DIGITS = 6
_ELEVEN_DIGITS = 1 + Fraction(1, 10**10)
"""δ is computed to about eleven digits."""


@dataclass(frozen=True)
class SDGS(Method):
    """Of a sample, show every quasi-identifier at a fixed level, and withhold rows that are seen fewer than `k` times.

    Parameters
    ----------
    k : the smallest number of sampled rows that look alike in everything that is published.
    levels : the level of each quasi-identifier's hierarchy (default: 0 for columns that are not named).
    epsilon : the ε that is promised (default: 1, or the least that the sampling rate allows).
    scheme : "fixed" or "chosen" (default: "fixed"). "chosen" gives columns that `levels` does not name the levels that
        should publish most, chosen under differential privacy.
    scheme_epsilon : what that choice costs, on top of `epsilon`; given with `scheme="chosen"` and only then.
    most_rows : how many rows of each person are looked at, chosen at random before the sample; given where the schema
        has a person column and only then. ε and δ are then promised per person.

    The release is (ε, δ)-differentially private at all points of a curve at once; `epsilon` picks the one that is
    promised. You publish with a sample: `publish(..., sample=0.1)`.

    >>> import incrowd as ic
    >>> ages = ic.Intervals(widths=(5, 10, 20, 40))
    >>> table = ic.read(
    ...     ic.datasets.census(5000), quasi=["age"], sensitive=["sex"], others="drop", hierarchies={"age": ages}
    ... )
    >>> release = ic.publish(table, method=SDGS(20, levels={"age": 3}), sample=0.2)
    >>> print(release.guarantees[-1])
    differential privacy (ε = 1, δ = 2.77e-10) (by construction)

    Reference: Li, Qardaji & Su (2012), theorem 1.
    """

    k: int
    levels: Mapping[str, int] = field(default_factory=dict)
    epsilon: Exact | None = None
    scheme: Literal["fixed", "chosen"] = "fixed"
    scheme_epsilon: Exact | None = None
    most_rows: int | None = None
    name: ClassVar[str] = "sdgs"
    promises_privacy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)
        KDGS(self.k, self.levels)  # which refuses what is no k and no level
        if self.scheme not in ("fixed", "chosen"):
            raise RecipeError(f'{self.name}: scheme is "fixed" or "chosen", not {self.scheme!r}.')
        if (self.scheme == "chosen") != (self.scheme_epsilon is not None):
            raise RecipeError(
                f"{self.name}: choosing the levels by the table costs privacy; scheme_epsilon says how much, and is "
                'given with scheme = "chosen" and only then.'
            )
        require_most_rows(self.name, self.most_rows)
        for name in ("epsilon", "scheme_epsilon"):
            given = getattr(self, name)
            if given is not None:
                as_epsilon(given)
                if not isinstance(given, (int, float, str)):
                    object.__setattr__(self, name, str(given))  # which a recipe can hold, and reads back exactly

    @property
    def guarantees(self) -> tuple[Model, ...]:
        """What every release satisfies, whatever else is required of it: in people, where a row is a person."""
        return (FullKAnonymity(self.k),) if self._rows_are_people else ()

    @property
    def _rows_are_people(self) -> bool:
        return self.most_rows is None or self.most_rows == 1

    @property
    def _most_rows(self) -> int:
        return self.most_rows or 1

    def counted_as(self, schema: Schema) -> Schema:
        """No row changes how another one is spelled, ordered or refused: what has no place counts as missing."""
        kept = {
            name: EachByItself(one) if isinstance(one, Categories) else AsWritten()
            for name, one in schema.sensitive.items()
        }
        return replace(schema, quasi={name: EachByItself(one) for name, one in schema.quasi.items()}, sensitive=kept)

    def promise(self, rate: Fraction, *, note: str = "") -> PrivacyPromise:
        """Return what publishing a sample at this rate promises, or refuse rates that nothing is known about."""
        epsilon = self._promised(rate)
        accountant = Accountant()
        if self.scheme_epsilon is not None:
            with accountant.by_person(self.most_rows):
                accountant.spend("choice of levels", self._of_row(as_epsilon(self.scheme_epsilon)))
        delta = self._delta(rate, epsilon)
        if delta >= 1:
            raise RecipeError(
                f"{self.name}: with k = {self.k} at a sampling rate of {float(rate):g}, δ is 1 for ε = "
                f"{float(epsilon):g}: nothing would be promised.  Hint: raise k or ε, or sample less"
                f"{'' if self._rows_are_people else ', or keep fewer rows of a person'}."
            )
        with accountant.by_person(self.most_rows):
            row = self._of_row(epsilon)
            accountant.spend(
                "sampling and suppression", Budget.computed(row.epsilon, self._row_delta(rate, row.epsilon))
            )
        total = accountant.total()
        model = DifferentialPrivacy(str(total.epsilon), str(total.delta), self.most_rows)
        told: dict[str, Any] = {"budget": accountant.as_dict(), "ε and δ": self.curve(rate)}
        if self._rows_are_people:
            told["δ by theorem 1"] = delta_of(self.k, rate, epsilon)
            bound = SmoothBound.of(self.k, rate=rate, epsilon=epsilon)
            smooth = {"ε0": float(epsilon), "δ0": bound.delta, "δ at 2·ε0": bound.delta_at(2)}
            told["smooth bound of suppression"] = smooth
        return PrivacyPromise(Guarantee(model, "by construction", float(total.epsilon), note=note), total, told)

    def curve(self, rate: Fraction) -> list[dict[str, float]]:
        """Return pairs of ε and δ, all of which hold at once; a choice of levels is included in ε."""
        least = self.smallest_epsilon(rate)
        asked = {self._promised(rate), least, *(Fraction(epsilon) for epsilon in EPSILONS)}
        before = Fraction(0) if self.scheme_epsilon is None else as_epsilon(self.scheme_epsilon)
        return [
            {"ε": float(before + epsilon), "δ": float(self._delta(rate, epsilon))}
            for epsilon in sorted(asked)
            if epsilon >= least
        ]

    def _promised(self, rate: Fraction) -> Fraction:
        """Return the ε that is promised for sampling and suppression; refuse rates that theorem 1 is not about."""
        if rate == 1:
            raise RecipeError(
                f"{self.name} publishes a sample, and without one it is not differentially private: an adversary who "
                f"knows all others would see who is the k-th.  Hint: publish with {option('sample', 0.1)}, or use "
                "k-dgs, which promises less."
            )
        if self.epsilon is None:
            return max(Fraction(_USUAL), self.smallest_epsilon(rate))
        epsilon = as_epsilon(self.epsilon)
        if self.most_rows is not None and self.most_rows > 1 and epsilon < self.smallest_epsilon(rate):
            least = float(self.smallest_epsilon(rate))
            raise RecipeError(
                f"{self.name}: at a sampling rate of {float(rate):g} and with {self.most_rows:,} rows per person, ε is "
                f"at least −{self.most_rows}·ln(1−β) = {least!r}, not {float(epsilon)!r}.  "
                "Hint: sample less, keep fewer rows of a person, or accept a larger ε."
            )
        return checked(self.k, rate, epsilon / self._most_rows)[1] * self._most_rows

    def smallest_epsilon(self, rate: Fraction) -> Fraction:
        """Return the least ε that can be promised at a sampling rate, of each row or person."""
        return Fraction(str(least_epsilon(rate))) * self._most_rows

    def _of_row(self, epsilon: Fraction) -> Budget:
        """Return what a row pays of a person's ε."""
        return share_of_row(Budget.computed(epsilon, Fraction(0)), self._most_rows)

    def _delta(self, rate: Fraction, epsilon: Fraction) -> Fraction:
        """Return the δ that goes with an ε, of each row or person."""
        row = self._of_row(epsilon).epsilon
        return price_of_person(Budget.computed(row, self._row_delta(rate, row)), self._most_rows).delta

    def _row_delta(self, rate: Fraction, epsilon: Fraction) -> Fraction:
        """Return the least δ of one row, rounded up."""
        return round_digits(Fraction(exact_delta(self.k, rate, epsilon)) * _ELEVEN_DIGITS, _DIGITS, ROUND_CEILING)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Generalize and withhold; `tally` is a sample, drawn from the tally that levels are chosen by."""
        self._promised(tally.rate)  # which refuses what could not be kept
        _refuse_other_models(require, rows_are_people=self._rows_are_people)
        refuse_undeclared(tally, schema)
        levels: Mapping[str, int] = self.levels
        if self.scheme_epsilon is not None:
            whole = tally.drawn_from
            if whole is None or whole.rate < 1:  # a choice by the sample itself would tell of the sample
                raise ConformanceError(f"{self.name} chooses levels by the whole table, and was given a sample only.")
            expected = ExpectedRows(self.k, tally.rate)
            price = self._of_row(as_epsilon(self.scheme_epsilon))
            levels = choose_levels(whole, schema, levels, expected, epsilon=price.epsilon, rng=rng, progress=progress)
        try:
            return KDGS(self.k, levels).search(tally, schema, require, rng=rng, progress=progress)
        except Unsatisfiable:  # whose message counts the sample
            raise Unsatisfiable(
                f"in this sample, what is seen {self.k:,} times at these levels is nothing, or not what is required.  "
                "Hint: choose higher levels, a smaller k, or fewer columns; sampling again until something comes out "
                "spends privacy every time."
            ) from None


def _refuse_other_models(require: Sequence[Model], *, rows_are_people: bool) -> None:
    """Refuse models that may look at the whole table: whether they hold would be seen in what is published."""
    for model in require:
        if not rows_are_people:
            raise RecipeError(
                f"{model} counts people, and {SDGS.name} publishes several rows of a person that nobody can tell to be "
                f"one's.  Hint: leave it out, or say {option('most_rows', 1, section='method')}."
            )
        if not isinstance(model, (KAnonymity, FullKAnonymity)):
            raise RecipeError(
                f"{model} cannot be asked of {SDGS.name}: whether it holds may depend on rows that are not published, "
                "and differential privacy must not show that.  Hint: check it on the release."
            )


def refuse_undeclared(tally: Tally, schema: Schema) -> None:
    """Refuse hierarchies of which somebody in the table could change a level that others are shown at."""
    for name, why in undeclared(tally, schema).items():
        raise SchemaError(
            f"{SDGS.name} must not look at the table to choose what is shown, and the hierarchy of '{name}' {why}."
        )


def undeclared(tally: Tally, schema: Schema) -> dict[str, str]:
    """Return what is wrong with hierarchies that somebody in the table could change, by column."""
    found: dict[str, str] = {}
    for name, hierarchy in sorted(schema.quasi.items()):
        tree, why = tally.trees[name], ""
        if tree.from_data:
            why = "is made from the table.  Hint: declare one, such as intervals or categories"
        elif isinstance(hierarchy, Masking) and not hierarchy.steps:
            why = "has as many levels as its longest value has characters.  Hint: give masking its steps"
        elif isinstance(hierarchy, Masking) and tree.height != len(hierarchy.steps) + 1:
            why = "masks more characters than its values have.  Hint: give masking fewer steps"
        elif isinstance(hierarchy, Dates) and "day" in hierarchy.units:
            why = 'has a level for days only if it holds times.  Hint: name its units, such as ("month", "year")'
        elif isinstance(hierarchy, Dates) and tree.values.dtype == pl.Datetime:
            why = "holds times, beside which plain dates would be shown with one.  Hint: turn them into dates"
        if why:
            found[name] = why
    return found
