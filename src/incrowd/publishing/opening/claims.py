"""What a release claims, judged on what is in its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from incrowd.core.form import Form
from incrowd.core.groups import Groups
from incrowd.core.model import Guarantee, Model
from incrowd.core.set_model import SetModel
from incrowd.core.tally import Tally
from incrowd.errors import IncrowdError, NeedsTable
from incrowd.forms.verify import verify_groups, weights_included


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
        _judge(model, known, lambda model: form.verify([model], known)[0], all_rows=all_rows) for model in models
    )


def judge_claims_of_people(
    models: Sequence[Model], crowds: Groups | None, known: Tally | None, *, all_rows: bool
) -> tuple[Claim, ...]:
    """Judge what a release claims of people; `crowds` are those that hide them, where the files tell who is who."""
    if crowds is None:
        reason = "it counts people, and the files do not tell whose a row is"
        return tuple(Claim(model, "cannot be judged", reason=reason) for model in models)
    return tuple(
        _judge(model, known, lambda model: verify_groups(crowds, [model])[0], all_rows=all_rows) for model in models
    )


def with_weights(by_labels: Claim, by_classes: Claim) -> Claim:
    """Return how far a model holds for whoever sees weights, too, given the verdicts without and with them."""
    if by_labels.found is None or by_classes.found is None:
        return by_classes if by_labels.verdict == "holds" else by_labels
    (found,) = weights_included([by_labels.found], [by_classes.found])
    return replace(by_labels, found=found)


def _judge(model: Model, known: Tally | None, verified: Callable[[Model], Guarantee], *, all_rows: bool) -> Claim:
    if known is None and model.needs_table:
        return Claim(model, "cannot be judged", reason="it needs the table that the release was made from")
    if known is None and model.compares_with_table and not all_rows:
        reason = "it compares groups with all rows of the table, and not all of them are published"
        return Claim(model, "cannot be judged", reason=reason)
    try:
        found = verified(model)
    except NeedsTable as error:
        return Claim(model, "cannot be judged", reason=str(error))
    except IncrowdError as error:
        return Claim(model, "does not hold", reason=str(error))
    return Claim(model, "holds", found)
