"""What every method promises where numbers are shown in place of labels: the published values alone satisfy the models.

Groups are made in plain Python of what rows show, in memory and in files.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from math import isclose
from pathlib import Path

from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.show import SHOWS, Show
from incrowd.errors import FormulaWarning, SourceError, Unsatisfiable
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release
from incrowd.testing import naive
from incrowd.testing.case import Case
from incrowd.testing.expecting import expect
from incrowd.testing.reading import as_published


def holds_however_shown(case: Case, method: Method, require: Sequence[Model]) -> int:
    """Publish a case in every way to show numbers, and check each; return how many releases there were."""
    found, table = 0, case.table()
    for place, show in enumerate(SHOWS[1:]):
        if show == "mean" and method.promises_privacy:
            continue
        try:
            release = publish(table, require, method=method, show=show, seed=0)
        except Unsatisfiable:
            continue
        found += 1
        told = f"{method} showing {show}, {list(map(str, require))}, {case}"
        _satisfies_models(case, require, release, told)
        # Numbers are written as text in each way to show them; the kinds of columns, which Parquet keeps, by turns.
        by_turns = place == case.frame.height % len(SHOWS[1:])
        _survives_its_files(release, show, ("csv", "parquet") if by_turns else ("csv",), told)
    return found


def _satisfies_models(case: Case, require: Sequence[Model], release: Release, told: str) -> None:
    rows, columns = release.to_polars(), release.schema.written_quasi
    expect(release.rows + release.withheld == case.frame.height, f"rows are lost: {told}")
    groups = naive.groups_of_rows(rows.to_dicts(), columns, case.sensitive)
    trees = release.form.tally.trees
    own = {name: trees[name] for name in case.sensitive}
    table = [{name: as_published(row[name], own[name]) for name in case.sensitive} for row in case.frame.to_dicts()]
    for model in require:
        broken = naive.satisfied(model, groups, table, own).count(False)
        expect(not broken, f"{broken} of {len(groups)} groups of what is shown break {model}: {told}")
    seen = sorted(rows.group_by(columns).len()["len"].to_list()) if columns else [rows.height]
    expect(seen == sorted(release.form.group_sizes.tolist()), f"the groups are others than what is shown: {told}")


def _survives_its_files(release: Release, show: Show, formats: Sequence[str], told: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        for kind in formats:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FormulaWarning)
                release.save(Path(place) / kind, format=kind)
            try:
                opened = open_release(Path(place) / kind)
            except SourceError as error:
                raise AssertionError(f"read from {kind}, it is no release: {error}: {told}") from error
            expect(opened.schema.show == release.schema.show, f"read from {kind}, it does not show {show}: {told}")
            sizes = sorted(opened.form.group_sizes.tolist())
            expect(sizes == sorted(release.form.group_sizes.tolist()), f"read from {kind}, groups of {sizes}: {told}")
            for one, two in zip(opened.guarantees, release.guarantees, strict=False):
                same = one.model == two.model and isclose(one.achieved, two.achieved, rel_tol=1e-9)
                expect(same, f"read from {kind}, it guarantees {one}, not {two}: {told}")
