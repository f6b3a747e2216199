"""Run a whole suite on one method, model, attack or metric, over tables that Hypothesis makes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure

from incrowd.core.attack import Attack
from incrowd.core.method import Method
from incrowd.core.metric import Metric
from incrowd.core.model import Model
from incrowd.errors import Unsatisfiable
from incrowd.testing import claims, measures, promises, strategies, trials
from incrowd.testing.case import Attempt, Case
from incrowd.testing.expecting import expect
from incrowd.testing.naive import Definition, Members


def check_method(
    method: Method, *, require: Sequence[Model] | None = None, examples: int = 25, shrink: bool = True
) -> None:
    """Check that a method keeps every promise, on this many generated tables.

    `require` are the models to ask of it; without, a few are drawn for every table. Raises `AssertionError` with the
    smallest table found on which a promise is broken, or with the first one if it is not to `shrink`.
    """
    released = 0

    @_settings(examples, shrink=shrink)
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

    _run(keeps_its_promises)
    expect(released, f"not one of {examples} tables could be published", method)


def check_model(
    model: Model,
    *,
    definition: Definition | None = None,
    local: bool = True,
    nominal: bool = True,
    examples: int = 100,
    shrink: bool = True,
) -> None:
    """Check that a model is what it claims to be, on this many generated tables in groups.

    Members have values (`a` to `d`, or none) in the sensitive columns `s0` and `s1`. `definition` takes the model, the
    members of one group and all rows of the table, and says whether the group satisfies the model, in the simplest code
    that can be written. Say `local=False` where the verdict on a group depends on other groups, and `nominal=False`
    where it depends on what values are called or on their order.
    """
    claims.is_a_value(model)
    held = [*claims.EVERY_MODEL, *(claims.LOCAL_MODELS if local else ()), *(claims.NOMINAL_MODELS if nominal else ())]
    seen: list[tuple[float, bool]] = []

    @_settings(examples, shrink=shrink)
    @given(groups=strategies.groups())
    def holds_its_claims(groups: list[Members]) -> None:
        for claim in held:
            claim(model, groups)
        claims.agrees_with(definition, model, groups)
        seen.append(claims.achievement(model, groups, groups))
        seen.extend(claims.achievement(model, [members], groups) for members in groups)

    _run(holds_its_claims)
    claims.satisfied_means_achieved(model, seen)


def check_metric(metric: Metric, *, examples: int = 25, shrink: bool = True) -> None:
    """Check that a metric is what it claims to be, on this many generated tables."""
    measures.is_a_value(metric)

    @_settings(examples, shrink=shrink)
    @given(case=strategies.cases(most_rows=20))
    def holds_its_claims(case: Case) -> None:
        for claim in measures.CLAIMS:
            claim(metric, case)

    _run(holds_its_claims)


def check_attack(attack: Attack, *, examples: int = 10, shrink: bool = True) -> None:
    """Check that an attack keeps every promise, on this many generated tables."""
    trials.is_a_value(attack)

    @_settings(examples, shrink=shrink)
    @given(case=strategies.cases(most_rows=20, most_kept=0))
    def keeps_its_promises(case: Case) -> None:
        for promise in trials.PROMISES:
            promise(attack, case)

    _run(keeps_its_promises)


def _run(check: Callable[[], None]) -> None:
    try:
        check()
    except FlakyFailure as flaky:
        first = flaky.exceptions[0]
        raise AssertionError(f"fails now and then, so it follows chance that no seed governs: {first}") from first


def _settings(examples: int, *, shrink: bool) -> settings:
    """The same tables in every run, and no files left behind; a table that takes long is not an error."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
