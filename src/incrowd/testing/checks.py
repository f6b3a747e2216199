"""Run a whole suite on one part, over tables that Hypothesis makes up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl
import polars.selectors as cs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure

from incrowd.changes.change import Change
from incrowd.core.attack import Attack
from incrowd.core.method import Method
from incrowd.core.metric import Metric
from incrowd.core.model import Model
from incrowd.core.recoding import Showing
from incrowd.core.sink import Sink
from incrowd.errors import HierarchyError, SchemaError, UncoveredValue, Unsatisfiable
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.methods.full_domain import FullDomain
from incrowd.methods.mondrian import Mondrian
from incrowd.models.bucket_size import BucketSize
from incrowd.testing import changing, claims, growing, measures, promises, showings, strategies, trials, writing
from incrowd.testing.case import Attempt, Case
from incrowd.testing.expecting import expect
from incrowd.testing.naive import Definition, Members
from incrowd.testing.numbers import holds_however_shown

_FEW = 20
"""With fewer columns than this, there may by chance be none of a kind."""


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


def check_shows(method: Method, *, examples: int = 10, shrink: bool = True) -> None:
    """Check that what a method publishes satisfies the models also where numbers are shown in place of labels.

    Midpoints, bounds and means are published of this many generated tables. Raises `AssertionError` with the smallest
    table found on which that is not so, or with the first one if it is not to `shrink`.
    """
    released = 0

    @_settings(examples, shrink=shrink)
    @given(case=strategies.cases(), data=st.data())
    def holds(case: Case, data: st.DataObject) -> None:
        nonlocal released
        released += holds_however_shown(case, method, data.draw(strategies.requirements(case), label="require"))

    _run(holds)
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


def check_form(
    showing: Showing, *, require: Sequence[Model] | None = None, examples: int = 10, shrink: bool = True
) -> None:
    """Check that a form keeps every promise, on this many generated tables.

    Groups are those of simple methods under `require`, which is a bucket size if nothing is given. The form and what it
    publishes must be registered, since files are read back by name. It may refuse tables, but not a simple one.
    """
    showings.is_a_value(showing)
    plain = showings.Shown.of(showings.SIMPLE, showing, Mondrian(), require or [BucketSize(2)])
    for promise in showings.PROMISES:
        promise(plain)

    @_settings(examples, shrink=shrink)
    @given(case=strategies.cases(most_rows=24, most_kept=0), data=st.data())
    def keeps_its_promises(case: Case, data: st.DataObject) -> None:
        methods: Sequence[Method] = (Mondrian(), FullDomain(max_withheld=0.4))
        method = data.draw(st.sampled_from(methods), label="method")
        models = require if require is not None else [BucketSize(data.draw(st.integers(1, 4), label="rows"))]
        # No file tells an empty text from a missing value, and some forms show values as they are.
        case = case.with_rows(case.frame.with_columns(cs.string().replace("", None)))
        try:
            shown = showings.Shown.of(case, showing, method, models)
        except (Unsatisfiable, SchemaError):
            return
        for promise in showings.PROMISES:
            promise(shown)

    _run(keeps_its_promises)


def check_hierarchy(hierarchy: Hierarchy, *, examples: int = 50, shrink: bool = True) -> None:
    """Check that a hierarchy keeps every promise, on this many generated columns; it may refuse some of them."""
    growing.is_a_value(hierarchy)
    taken = 0

    @_settings(examples, shrink=shrink)
    @given(values=strategies.columns_for(growing.declared(hierarchy)))
    def keeps_its_promises(values: pl.Series) -> None:
        nonlocal taken
        try:
            tree, codes = hierarchy.build(growing.COLUMN, values)
        except HierarchyError:
            return
        taken += values.null_count() < len(values)
        for promise in growing.PROMISES:
            promise(hierarchy, values, tree, codes)

    _run(keeps_its_promises)
    expect(taken or examples < _FEW, f"not one of {examples} columns could be taken", hierarchy)


def check_change(change: Change, *, examples: int = 15, shrink: bool = True) -> None:
    """Check that a change of a column keeps every promise, on this many generated tables; it may refuse some of them.

    >>> from incrowd import Rounding
    >>> check_change(Rounding(10), examples=3)
    """
    changing.is_a_value(change)
    taken = 0

    @_settings(examples, shrink=shrink)
    @given(case=strategies.cases(most_rows=20), data=st.data())
    def keeps_its_promises(case: Case, data: st.DataObject) -> None:
        nonlocal taken
        column = data.draw(st.sampled_from([*case.sensitive, *case.kept, None]), label="column")
        # No file tells an empty text from a missing value, and kept columns are written as they are.
        case = case.with_rows(case.frame.with_columns(cs.string().replace("", None)))
        if column is None:
            return
        given = {name: hierarchy for name, hierarchy in case.hierarchies.items() if name in case.quasi}
        if change.uses_hierarchy:
            given[column] = changing.hierarchy_for(case.frame[column])
        try:
            tried = changing.ChangedCase.of(replace(case, hierarchies=given), change, column)
        except (Unsatisfiable, SchemaError, HierarchyError, UncoveredValue):
            return
        taken += 1
        for promise in changing.PROMISES:
            promise(tried)

    _run(keeps_its_promises)
    expect(taken or examples < _FEW, f"not one of {examples} columns could be changed", change)


def check_sink(sink: Sink, *, examples: int = 40, shrink: bool = True) -> None:
    """Check that what a sink writes is read back as it was, on this many generated tables.

    >>> from incrowd.publishing.sinks.csv import CsvSink
    >>> check_sink(CsvSink(), examples=5)
    """
    writing.is_a_value(sink)

    @_settings(examples, shrink=shrink)
    @given(batches=writing.frames(words=sink.names_are_words), separator=st.sampled_from([",", ";", "\t"]))
    def keeps_its_promise(batches: list[pl.DataFrame], separator: str) -> None:
        writing.reads_back(sink, batches, separator)

    _run(keeps_its_promise)


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
