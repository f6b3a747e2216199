"""What a release claims, judged on what is in its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from incrowd.auditing.suppression import FEW
from incrowd.common.records import dataclass
from incrowd.core.form import Form
from incrowd.core.groups import Groups
from incrowd.core.model import Guarantee, Model
from incrowd.core.set_model import SetModel
from incrowd.core.tally import Tally
from incrowd.errors import ConformanceError, IncrowdError, NeedsTable
from incrowd.forms.verify import groups_of, verify_groups, weights_included


@dataclass(frozen=True)
class Claim:
    """A model that a release is said to satisfy, and whether its files bear that out."""

    model: Model | SetModel
    verdict: Literal["holds", "does not hold", "cannot be judged"]
    found: Guarantee | None = None
    """What holds, and how far."""
    reason: str = ""
    """Why it does not hold, or cannot be judged."""

    @property
    def warning(self) -> str | None:
        """What is to be said about it, where it was not found to hold."""
        if self.verdict == "holds":
            return None
        said = "not found" if self.verdict == "does not hold" else "not to be judged from the files alone"
        return f"Claimed, and {said}: {self.model} ({self.reason})"


def judge_claims(models: Sequence[Model], form: Form, known: Tally | None, *, all_rows: bool) -> tuple[Claim, ...]:
    """Judge what a release claims; `known` is the table before, `all_rows` whether all its rows are published."""
    return tuple(
        _judge(
            model,
            known,
            lambda model: form.verify([model], known)[0],
            groups=lambda: _groups(form, known),
            all_rows=all_rows,
        )
        for model in models
    )


def _groups(form: Form, known: Tally | None) -> Groups | None:
    """Return the groups of a release with labels, as models see them."""
    labelled = form.labelled
    if labelled is None:
        return None
    quasi, sensitive = tuple(labelled.schema.quasi), tuple(labelled.schema.sensitive)
    return groups_of(labelled.lines(), quasi, sensitive, before=known, stands_for=labelled.stands_for())


def judge_claims_of_people(
    models: Sequence[Model], crowds: Groups | None, known: Tally | None, *, all_rows: bool
) -> tuple[Claim, ...]:
    """Judge what a release claims of people; `crowds` are those that hide them, where the files tell who is who."""
    if crowds is None:
        reason = "it counts people, and the files do not tell whose a row is"
        return tuple(Claim(model, "cannot be judged", reason=reason) for model in models)
    return tuple(
        _judge(
            model,
            known,
            lambda model: verify_groups(crowds, [model])[0],
            groups=lambda: crowds,
            all_rows=all_rows,
        )
        for model in models
    )


def with_weights(by_labels: Claim, by_classes: Claim) -> Claim:
    """Return how far a model holds for whoever sees weights, too, given the verdicts without and with them."""
    if by_labels.found is None or by_classes.found is None:
        return by_classes if by_labels.verdict == "holds" else by_labels
    (found,) = weights_included([by_labels.found], [by_classes.found])
    return replace(by_labels, found=found)


def _judge(
    model: Model,
    known: Tally | None,
    verified: Callable[[Model], Guarantee],
    *,
    groups: Callable[[], Groups | None],
    all_rows: bool,
) -> Claim:
    if known is None and model.needs_table:
        return Claim(model, "cannot be judged", reason="it needs the table that the release was made from")
    if known is None and model.compares_with_table and not all_rows:
        reason = "it compares groups with all rows of the table, and not all of them are published"
        return Claim(model, "cannot be judged", reason=reason)
    try:
        found = verified(model)
    except NeedsTable as error:
        return Claim(model, "cannot be judged", reason=str(error))
    except ConformanceError as error:
        return Claim(model, "does not hold", reason=_failing(model, groups()) or str(error))
    except IncrowdError as error:
        return Claim(model, "does not hold", reason=str(error))
    return Claim(model, "holds", found)


def _failing(model: Model, groups: Groups | None) -> str | None:
    """Return how many rows are in groups that fail a model, what it reaches, and what would make it true."""
    failing = 0 if groups is None else model.failing_rows(groups)
    if groups is None or not failing:
        return None
    rows, reached = int(groups.sizes.sum()), model.achieved(groups)
    some = f"{failing:,}" if failing >= FEW else f"fewer than {FEW}"
    said = f"{some} of {rows:,} rows are in groups that fail it; {reached:.4g} is reached"
    if model.whole_table or model.compares_with_table:
        return said
    others = f"{rows - failing:,} others" if failing >= FEW else "others"
    return f"{said}; without these rows it holds for the {others}"
