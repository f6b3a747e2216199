"""Models that speak of all groups together, for methods that judge some of them at a time.

Such a model says `whole_table = True`: its verdict on a group depends on the others. It also has `for_each_group`,
another model which, if every single group satisfies it, implies it.
"""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.models.model import Model


def for_each_group(models: Sequence[Model]) -> tuple[Model, ...]:
    """Replace models of the whole table by those that imply them group by group.

    >>> from incrowd.models.k_anonymity import KAnonymity
    >>> from incrowd.models.marketer_risk import MarketerRisk
    >>> for_each_group([KAnonymity(5), MarketerRisk(0.1)])
    (KAnonymity(k=5), ProsecutorRisk(risk=0.1))
    """
    return tuple(getattr(model, "for_each_group", model) for model in models)
