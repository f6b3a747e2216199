"""What every method promises, one function each: it returns if the promise is kept, and raises `AssertionError` if not.

Each takes an `Attempt`: a table, and what the method made of it. Numbers in brackets are those of the design's list.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import polars as pl

from incrowd.core.method import Method
from incrowd.errors import Unsatisfiable
from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Flat
from incrowd.models.k_anonymity import KAnonymity
from incrowd.testing import naive
from incrowd.testing.case import Attempt, Case
from incrowd.testing.expecting import expect
from incrowd.testing.matching import unmatched
from incrowd.testing.reading import as_published, covers, is_missing, plain, plain_bound
from incrowd.testing.strategies import TELLTALE

Promise = Callable[[Attempt], None]
_Row = tuple[list[object], dict[str, object]]
"""What a row has of the columns that are published as they are, and all of it."""


def satisfies_models(attempt: Attempt) -> None:
    """[1] The published rows, grouped by what they show, satisfy every model."""
    case, trees = attempt.case, attempt.release.form.tally.trees
    own = {name: trees[name] for name in case.sensitive}
    groups = naive.groups_of_rows(attempt.published.to_dicts(), case.quasi, case.sensitive)
    table = [{name: as_published(row[name], own[name]) for name in case.sensitive} for row in case.frame.to_dicts()]
    for model in attempt.require:
        broken = naive.satisfied(model, groups, table, own).count(False)
        expect(not broken, f"{broken} of {len(groups)} published groups break {model}", attempt)


def guarantees_every_model(attempt: Attempt) -> None:
    """[1] The release names a guarantee, and its ground, for every model that was required."""
    named = Counter(guarantee.model for guarantee in attempt.release.guarantees)
    asked = Counter((*attempt.require, *attempt.method.guarantees))
    expect(named == asked, "other models are guaranteed than were required", attempt)
    grounds = {guarantee.basis for guarantee in attempt.release.guarantees}
    expect(grounds <= {"verified", "by construction"}, f"unknown ground of a guarantee in {grounds}", attempt)


def conserves_rows(attempt: Attempt) -> None:
    """[2] Every row is published or withheld, and both numbers are reported rightly."""
    release = attempt.release
    expect(release.rows_in == attempt.case.frame.height, f"{release.rows_in} rows are said to be in", attempt)
    expect(release.rows == attempt.published.height, f"{release.rows} rows are said to be published", attempt)
    expect(release.withheld == release.rows_in - release.rows, f"{release.withheld} rows are said withheld", attempt)
    expect(release.count({}) == release.rows, "the count of all rows is another", attempt)


def ignores_row_order(attempt: Attempt) -> None:
    """[3, 9] The same rows in another order give the same release, down to the order of what is published."""
    case = attempt.case
    only_shuffled = case.respelled() == case
    same = attempt.is_same_retold or (not only_shuffled and attempt.is_what_becomes_of(case.shuffled()))
    expect(same, "another order of rows gives another release", attempt)


def ignores_column_order(attempt: Attempt) -> None:
    """[3] The same columns in another order give the same rows."""
    again = attempt.case.reordered().publish(attempt.method, attempt.require).to_polars()
    same = Counter(again.select(attempt.published.columns).rows()) == Counter(attempt.published.rows())
    expect(same, "another order of columns gives another release", attempt)


def is_reproducible(attempt: Attempt) -> None:
    """[3] One seed, one release: seen where the table is told otherwise, else with the very same table."""
    same = attempt.is_same_retold or attempt.is_what_becomes_of(attempt.case)
    expect(same, "the same seed gives another release", attempt)


def missing_is_a_value(attempt: Attempt) -> None:
    """[4] Null and NaN are one value, zero has no sign, and a missing value is shown as missing or as anything."""
    same = attempt.is_same_retold or attempt.case.respelled() == attempt.case
    expect(same, "NaN for null, or -0.0 for 0.0, in rows in another order gives another release", attempt)
    for name in attempt.case.quasi:
        missing = sum(map(is_missing, attempt.case.frame[name].to_list()))
        hidden = attempt.published.filter(pl.col(name).is_null() | (pl.col(name) == syntax.ANY)).height
        enough = hidden + attempt.release.withheld >= missing
        expect(enough, f"missing values of '{name}' are shown as known ones", attempt)
        expect(attempt.published[name].null_count() <= missing, f"'{name}' shows known values as missing", attempt)


def withheld_rows_are_no_group(attempt: Attempt) -> None:
    """[6] The groups that the release reports are those that a reader finds, none empty, none of withheld rows."""
    groups = naive.groups_of_rows(attempt.published.to_dicts(), attempt.case.quasi, ())
    sizes = sorted(len(members) for members in groups)
    expect(sorted(attempt.release.form.group_sizes.tolist()) == sizes, "a reader finds other groups", attempt)
    said = attempt.release.summary["groups"]
    told = (said["number"], said["smallest"], said["largest"])
    expect(told == (len(sizes), sizes[0], sizes[-1]), f"the summary tells of other groups, {told}", attempt)


def quotes_no_value(attempt: Attempt) -> None:
    """[8] Neither progress, nor the summary, nor what is printed of a release holds a value of any row.

    The summary's scheme lists the labels that are published: a value that is its own label is there, as in the table.
    """
    summary = dict(attempt.release.summary)
    if any(TELLTALE in attempt.published[name].cast(pl.String).to_list() for name in attempt.case.quasi):
        summary.pop("scheme", None)
    told = [json.dumps(summary, ensure_ascii=False), repr(attempt.release)]
    told += map(str, attempt.release.guarantees)
    told += attempt.searched_again[0]
    expect(not any(TELLTALE in text for text in told), "a row's value is quoted", attempt)


def leaves_caller_frame_alone(attempt: Attempt) -> None:
    """[9] Neither the caller's frame nor the tally that the method is given is changed."""
    expect(attempt.case.frame.equals(attempt.before), "the caller's frame was changed", attempt)
    _, unchanged = attempt.searched_again
    expect(unchanged, "the tally was changed", attempt)


def orders_rows_by_what_they_show(attempt: Attempt) -> None:
    """[9] Rows of one group are together, and their sensitive values too: the order says no more than the rows do."""
    for names in (attempt.case.quasi, (*attempt.case.quasi, *attempt.case.sensitive)):
        shown = attempt.published.select(names).rows()
        runs = 1 + sum(above != below for above, below in pairwise(shown))
        expect(runs == len(set(shown)), f"rows that agree in {', '.join(names)} are apart", attempt)


def labels_parse_back(attempt: Attempt) -> None:
    """[10] Every label can be read, says what it was written from, and its bounds are in order."""
    for name in attempt.case.quasi:
        tree = attempt.release.form.tally.trees[name]
        ordered, like = tree.ordered, plain(tree.values.drop_nulls().first())
        for label in attempt.published[name].unique().drop_nulls().to_list():
            read = syntax.read(label, ordered=ordered)
            expect(_write(read, ordered=ordered) == label, f"'{label}' is read as {read}", attempt)
            if isinstance(read, syntax.Range):
                bounds = [plain_bound(bound, like) for bound in (read.low, read.high) if bound is not None]
                comparable = not any(isinstance(bound, str) for bound in bounds)
                expect(comparable, f"'{label}' has a bound that is neither number nor date", attempt)
                expect(bounds[0] < bounds[-1] or len(bounds) == 1, f"'{label}' holds nothing", attempt)  # type: ignore[operator]


def labels_cover_their_rows(attempt: Attempt) -> None:
    """[10] Every published row can be traced to a row of its own whose values it covers, and which it otherwise equals.

    What was published says nothing of where it came from, so this looks for any way to trace all of them at once.
    """
    case, trees = attempt.case, attempt.release.form.tally.trees
    known: dict[tuple[str, object, object], bool] = {}

    def covered(name: str, label: object, value: object) -> bool:
        key = (name, label, value)
        if key not in known:
            expect(label is None or isinstance(label, str), f"'{name}' shows what is no label", label, attempt)
            known[key] = covers(label, value, case.hierarchy(name), ordered=trees[name].ordered)  # type: ignore[arg-type]
        return known[key]

    # What is the same is worked out once for each row, and not for each pair of rows.
    published = [
        ([plain(row[name]) for name in case.kept] + [row[name] for name in case.sensitive], row)
        for row in attempt.published.to_dicts()
    ]
    rows = [
        (
            [plain(row[name]) for name in case.kept]
            + [as_published(row[name], trees[name]) for name in case.sensitive],
            row,
        )
        for row in case.frame.to_dicts()
    ]

    def stands_for(one: _Row, other: _Row) -> bool:
        (same, shown), (same_of_row, row) = one, other
        return same == same_of_row and all(covered(name, shown[name], row[name]) for name in case.quasi)

    lost = [row for _, row in unmatched(published, rows, stands_for)]
    expect(not lost, "no row of the table is left that this could stand for", lost[:1], attempt)


def shows_no_extreme_value(attempt: Attempt) -> None:
    """[10] No bound of a region that was cut in the data has fewer people beyond it than a group may have.

    Bounds of a hierarchy that was declared are public anyway. Tight ranges show extremes, and the release warns of it.
    """
    if attempt.release.generalized.written == "tight":
        warned = any("tight" in warning for warning in attempt.release.warnings)
        expect(warned, "tight ranges without a warning", attempt)
    if attempt.release.generalized.written != "region":
        return
    for name in attempt.case.quasi:
        from_data = isinstance(attempt.case.hierarchy(name), Automatic | Flat)
        if not (from_data and attempt.release.form.tally.trees[name].ordered):
            continue
        values = [plain(value) for value in attempt.case.frame[name].to_list()]
        for bound in _bounds(attempt.published[name].unique().drop_nulls().to_list()):
            beyond = sum(value is not None and value >= plain_bound(bound, value) for value in values)  # type: ignore[operator]
            few = min(beyond, len(values) - beyond)
            enough = few >= attempt.min_group
            expect(enough, f"fewer people than in any group ({few}) are beyond {bound} in '{name}'", attempt)


def answers_what_it_shows(attempt: Attempt) -> None:
    """A question about a sensitive column alone, which is published as it is, gets the exact answer."""
    for name in attempt.case.sensitive:
        for value, count in Counter(attempt.published[name].to_list()).items():
            answer = attempt.release.count({name: value})
            expect(abs(answer - count) < 1e-6, f"{count} rows have {name} = {value!r}, not {answer}", attempt)


def unsatisfiable_raises(case: Case, method: Method) -> None:
    """[1, 8] What cannot be had raises `Unsatisfiable`, which says what was asked and quotes no value."""
    model = KAnonymity(case.frame.height + 1)
    try:
        release = case.publish(method, [model])
    except Unsatisfiable as error:
        message = str(error)
    else:
        raise AssertionError(f"{method} published {release.rows} rows under {model}: {case}")
    expect(str(model) in message, f"the message does not name {model}", message)
    expect(str(case.frame.height) in message, "the message does not say how many rows there are", message)
    expect(TELLTALE not in message, "the message quotes a value", message)


PROMISES: Sequence[Promise] = (
    satisfies_models,
    guarantees_every_model,
    conserves_rows,
    ignores_row_order,
    ignores_column_order,
    is_reproducible,
    missing_is_a_value,
    withheld_rows_are_no_group,
    quotes_no_value,
    leaves_caller_frame_alone,
    orders_rows_by_what_they_show,
    labels_parse_back,
    labels_cover_their_rows,
    shows_no_extreme_value,
    answers_what_it_shows,
)


def _write(label: syntax.Label, *, ordered: bool) -> str:
    match label:
        case syntax.Anything():
            return syntax.ANY
        case syntax.Range(low, high, closed):
            return f"[{low}, {high}]" if closed else syntax.write_range(low, high)
        case syntax.OneOf(names):
            return syntax.write_set(names)
        case syntax.Name(name):
            return name if ordered else syntax.write_name(name)


def _bounds(written: Iterable[str]) -> Iterable[str]:
    for label in written:
        read = syntax.read(label, ordered=True)
        if isinstance(read, syntax.Range):
            yield from (bound for bound in (read.low, read.high) if bound is not None)
