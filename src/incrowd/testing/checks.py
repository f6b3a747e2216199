"""Run a whole suite on one method, model or metric, over tables that Hypothesis makes up."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import Unsatisfiable
from incrowd.methods import Method
from incrowd.metrics import Metric
from incrowd.models import Model
from incrowd.testing import claims, measures, promises, strategies
from incrowd.testing.case import Attempt, Case
from incrowd.testing.expecting import expect
from incrowd.testing.naive import Definition, Members


def check_method(method: Method, *, require: Sequence[Model] | None = None, examples: int = 25) -> None:
    """Check that a method keeps every promise, on this many generated tables.

    `require` are the models to ask of it; without, a few are drawn for every table. Raises `AssertionError` with the
    smallest table found on which a promise is broken.
    """
    released = 0

    @_settings(examples)
    @given(case=strategies.cases(), data=st.data())
    def keeps_its_promises(case: Case, data: st.DataObject) -> None:
        nonlocal released
        models = require if require is not None else data.draw(strategies.requirements(case), label="require")
        promises.unsatisfiable_raises(case, method)
        try:
            attempt = Attempt.of(case, method, models)
        except Unsatisfiable:
            return
        released += 1
        for promise in promises.PROMISES:
            promise(attempt)

    keeps_its_promises()
    expect(released, f"not one of {examples} tables could be published", method)


def check_model(model: Model, *, definition: Definition | None = None, examples: int = 100) -> None:
    """Check that a model is what it claims to be, on this many generated lists of groups.

    Members have values in the sensitive columns `s0` and `s1`. `definition` takes the model and the members of one
    group, and says whether they satisfy it, in the simplest code that can be written.
    """
    claims.is_a_value(model)
    seen: list[tuple[float, bool]] = []

    @_settings(examples)
    @given(groups=strategies.groups())
    def holds_its_claims(groups: list[Members]) -> None:
        for claim in claims.CLAIMS:
            claim(model, groups)
        claims.agrees_with(definition, model, groups)
        seen.append(claims.achievement(model, groups))
        seen.extend(claims.achievement(model, [members]) for members in groups)

    holds_its_claims()
    claims.satisfied_means_achieved(model, seen)


def check_metric(metric: Metric, *, examples: int = 25) -> None:
    """Check that a metric is what it claims to be, on this many generated tables."""
    measures.is_a_value(metric)

    @_settings(examples)
    @given(case=strategies.cases(most_rows=20))
    def holds_its_claims(case: Case) -> None:
        for claim in measures.CLAIMS:
            claim(metric, case)

    holds_its_claims()


def _settings(examples: int) -> settings:
    """The same tables in every run, and no files left behind; a table that takes long is not an error."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
