"""Numbers in place of labels: what they are, that they define the groups, and that files read back as the release."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.show import SHOWS
from incrowd.errors import IncrowdError, RecipeError, SchemaError, SourceError
from incrowd.publishing.recipe import Recipe

ROWS = 120
NUMBERS = [18 + (7 * row * row + 3 * row) % 61 for row in range(ROWS)]
FRAME = pl.DataFrame(
    {
        "age": [None if row % 17 == 0 else age for row, age in enumerate(NUMBERS)],
        "height": [150.5 + (11 * row) % 43 / 2 for row in range(ROWS)],
        "born": [date(1950, 1, 1) + timedelta(days=91 * (row % 50)) for row in range(ROWS)],
        "sex": ["F" if row % 3 else "M" for row in range(ROWS)],
        "ill": [["flu", "cold", "gout", "none"][(row * 5) % 4] for row in range(ROWS)],
    }
)
METHODS = [
    ic.Mondrian(),
    ic.Mondrian(cuts="relaxed"),
    ic.Microaggregation(),
    ic.KMember(),
    ic.FullDomain(max_withheld=0.2),
]


def opened(frame: pl.DataFrame = FRAME, quasi: tuple[str, ...] = ("age", "height", "sex")) -> Any:
    return ic.read(frame, quasi=quasi, sensitive=["ill"], others="drop")


def written(release: Any) -> list[str]:
    return [name for name in release.to_polars().columns if name != "ill"]


def naive_groups(rows: pl.DataFrame, columns: list[str]) -> dict[tuple[Any, ...], list[Any]]:
    """Group published rows by what they show, in plain Python."""
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in rows.to_dicts():
        found[tuple(row[name] for name in columns)].append(row["ill"])
    return found


# All ways for groups that are cut and for those that are gathered; two ways, in turns, for each other method.
SHOWN = [(method, show) for method in (METHODS[0], METHODS[2]) for show in SHOWS]
SHOWN += [(METHODS[1], SHOWS[1]), (METHODS[1], SHOWS[2]), (METHODS[3], SHOWS[3]), (METHODS[3], SHOWS[0])]
SHOWN += [(METHODS[4], SHOWS[1]), (METHODS[4], SHOWS[2])]


@pytest.mark.parametrize(("method", "show"), SHOWN, ids=repr)
def test_published_values_alone_satisfy_the_models_in_memory_and_in_files(
    method: Any, show: Any, tmp_path: Path
) -> None:
    release = ic.publish(opened(), [ic.KAnonymity(4), ic.DistinctLDiversity(2)], method=method, show=show, seed=1)
    groups = naive_groups(release.to_polars(), written(release))
    assert min(map(len, groups.values())) >= 4
    assert min(len(set(values)) for values in groups.values()) >= 2
    assert sorted(map(len, groups.values())) == sorted(release.form.group_sizes.tolist())
    assert release.guarantees[0].achieved == min(map(len, groups.values()))
    # Both kinds of files for each method and each way to show, though not for each pair.
    kind = ("csv", "parquet")[(METHODS.index(method) + SHOWS.index(show)) % 2]
    release.save(tmp_path / kind, format=kind)
    again = ic.open_release(tmp_path / kind)
    assert [one.achieved for one in again.guarantees] == [one.achieved for one in release.guarantees]
    assert again.count({"age": (20, 40), "sex": "F"}) == pytest.approx(release.count({"age": (20, 40), "sex": "F"}))
    assert again.label_meanings == json.loads(json.dumps(release.label_meanings))
    known = ic.open_release(tmp_path / kind, original=FRAME)
    assert sorted(known.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())
    checked = ic.check(tmp_path / kind)
    assert checked.k == release.guarantees[0].achieved
    assert all(model.satisfied for model in checked.models)
    assert Recipe.load(tmp_path / kind / "recipe.toml").show.get("age", "label") == show


def test_microaggregation_shows_means_of_its_clusters() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, 10, 11, 15], "ill": ["a", "b"] * 3})
    release = ic.publish(opened(frame, ("x",)), ic.KAnonymity(3), method=ic.Microaggregation())
    assert Counter(release.to_polars()["x"]) == {2.0: 3, 12.0: 3}
    assert release.to_polars().schema["x"] == pl.Float64
    labels = ic.publish(opened(frame, ("x",)), ic.KAnonymity(3), method=ic.Microaggregation(), show="label")
    assert labels.to_polars().schema["x"] == pl.String


def test_means_are_those_of_the_published_people_whom_a_label_holds() -> None:
    release = ic.publish(
        opened(), ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0.1), show={"age": "mean"}, seed=0
    )
    truth = defaultdict(list)
    form = release.generalized
    for tuple_, group in zip(range(len(form.tally)), form.shown.group_of, strict=True):
        value = form.tally.trees["age"].values[int(form.tally.column("age")[tuple_])]
        if group >= 0 and value is not None:
            truth[int(group)] += [value] * int(form.tally.counts[tuple_])
    shown = form.shown.stand_ins["age"]["age"].to_list()
    assert truth
    for group, values in truth.items():
        assert shown[group] == pytest.approx(sum(values) / len(values), rel=1e-11)


def test_midpoints_and_bounds_of_whole_numbers_and_of_others() -> None:
    frame = pl.DataFrame({"n": [21, 29, 33, 38] * 2, "x": [1.0, 1.25, 2.5, 2.75] * 2, "ill": ["a", "b"] * 4})
    levels = {"n": ic.Intervals(widths=(10,)), "x": ic.Intervals(widths=(1,))}
    table = ic.read(frame, quasi=["n", "x"], sensitive=["ill"], hierarchies=levels)
    at = ic.FullDomain(levels={"n": 1, "x": 1})
    for show, expected in (
        ("midpoint", [(24.5, 1.5), (34.5, 2.5)]),
        ("bounds", [(20, 29, 1.0, 2.0), (30, 39, 2.0, 3.0)]),
    ):
        release = ic.publish(table, ic.KAnonymity(4), method=at, show=show)  # type: ignore[arg-type]
        assert sorted(set(release.to_polars().drop("ill").rows())) == expected


def test_dates_stay_dates(tmp_path: Path) -> None:
    table = opened(quasi=("born", "sex"))
    for show, kinds in (("bounds", ["born_from", "born_to"]), ("midpoint", ["born"]), ("mean", ["born"])):
        release = ic.publish(table, ic.KAnonymity(6), show=show, seed=2)  # type: ignore[arg-type]
        assert all(release.to_polars().schema[name] == pl.Date for name in kinds)
        release.save(tmp_path / show, format="csv")
        again = ic.open_release(tmp_path / show)
        assert again.guarantees[0].achieved == release.guarantees[0].achieved
        assert sorted(again.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())


def test_labels_with_one_middle_are_one_group_whose_label_holds_both() -> None:
    from incrowd.core.recoding import Recoding
    from incrowd.core.schema import Schema
    from incrowd.forms.generalized import Generalized

    frame = pl.DataFrame({"x": [10, 20, 30, 40, 50, 60], "ill": ["a"] * 6})
    counted = opened(frame, ("x",)).engine.count(opened(frame, ("x",)).schema)
    tally = counted.tally
    code = tally.column("x")
    # [10, 60] and [20, 50] are tight ranges with one middle; the reader sees one group of six
    groups = np.where((code == 1) | (code == 6), 0, 1)
    recoding = Recoding(
        np.arange(6),
        tally.counts,
        groups,
        ("x",),
        np.array([[1], [2]], np.int32),
        np.array([[7], [6]], np.int32),
        "tight",
    )
    schema = Schema({"x": ic.Automatic()}, {"ill": ic.Exact()}, show={"x": "midpoint"})
    form = Generalized.of(tally, schema, recoding)
    assert form.group_sizes.tolist() == [6]
    assert form.shown.stand_ins["x"]["x"].to_list() == [35.0]
    assert (form.shown.lows.tolist(), form.shown.highs.tolist()) == ([[1]], [[7]])
    apart = Generalized.of(tally, Schema({"x": ic.Automatic()}, {"ill": ic.Exact()}), recoding)
    assert len(apart.group_sizes) == 2
    with pytest.raises(IncrowdError):  # what the labels would satisfy is judged on what is shown
        form.verify([ic.KAnonymity(7)], tally)


def test_one_row_all_equal_and_all_missing() -> None:
    for values in ([5], [5] * 4, [None] * 4, [None, 5, 5, None]):
        frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64), "ill": ["a"] * len(values)})
        for show in SHOWS[1:]:
            release = ic.publish(opened(frame, ("x",)), ic.KAnonymity(1), show=show)
            assert release.rows == len(values)
            known = [value for value in values if value is not None]
            first = release.to_polars().to_series(0)
            if len(known) == len(values):
                assert set(first) == {5}


def test_a_number_that_labels_json_does_not_tell_is_refused(tmp_path: Path) -> None:
    release = ic.publish(opened(), ic.KAnonymity(5), show={"age": "mean"}, seed=0)
    release.save(tmp_path / "r", format="parquet")
    path = tmp_path / "r" / "labels.json"
    told = json.loads(path.read_text())
    first = told["columns"]["age"]["shown"]["values"].pop()
    path.write_text(json.dumps(told))
    with pytest.raises(SourceError, match="does not tell of"):
        ic.open_release(tmp_path / "r")
    told["columns"]["age"]["shown"]["values"] += [first, first]
    path.write_text(json.dumps(told))
    with pytest.raises(SourceError, match="twice"):
        ic.open_release(tmp_path / "r")
    path.unlink()
    with pytest.raises(SourceError, match="their meaning"):
        ic.open_release(tmp_path / "r")


def test_changed_numbers_in_the_file_are_found_out(tmp_path: Path) -> None:
    release = ic.publish(opened(), ic.KAnonymity(5), show={"age": "mean"}, seed=0)
    release.save(tmp_path / "r", format="parquet")
    data = pl.read_parquet(tmp_path / "r" / "data.parquet")
    other = next(value for value in data["age"].to_list() if value != data["age"][0] and value is not None)
    changed = data.with_columns(pl.Series("age", [other, *data["age"].to_list()[1:]]))
    changed.write_parquet(tmp_path / "r" / "data.parquet")
    with pytest.raises(SourceError, match="contradicts itself"):
        ic.check(tmp_path / "r")


@pytest.mark.parametrize(
    ("show", "error", "match"),
    [
        ("middle", RecipeError, "show= is one of"),
        ({"ill": "mean"}, RecipeError, "no quasi-identifier"),
        ({"sex": "mean"}, SchemaError, "holds names"),
    ],
)
def test_what_cannot_be_shown_is_refused(show: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        ic.publish(opened(), ic.KAnonymity(3), show=show)


def test_a_column_that_bounds_would_be_written_to_is_refused() -> None:
    frame = FRAME.rename({"height": "age_to"})
    with pytest.raises(SchemaError, match="'age_to'"):
        ic.publish(opened(frame, ("age", "age_to")), ic.KAnonymity(3), show={"age": "bounds"})


def test_no_mean_under_differential_privacy_and_no_number_without_labels() -> None:
    with pytest.raises(RecipeError, match="publishes no labels"):
        ic.publish(opened(), ic.BucketSize(3), form=ic.ShowBuckets(), show="mean")
    with pytest.raises(RecipeError, match="would break it"):
        ic.publish(opened(), method=ic.SDGS(k=20, epsilon=1.0), show="mean", sample=0.1)


def test_kept_columns_stand_beside_numbers(tmp_path: Path) -> None:
    table = ic.read(FRAME, quasi=["age", "sex"], sensitive=["ill"], keep=["height"], drop=["born"])
    release = ic.publish(table, ic.KAnonymity(5), show="bounds", seed=3)
    assert release.to_polars().columns == ["age_from", "age_to", "sex", "ill", "height"]
    release.save(tmp_path / "r", format="csv")
    again = ic.open_release(tmp_path / "r")
    assert again.outside == ("height",)
    with_table = ic.open_release(tmp_path / "r", original=FRAME).audit(learn=False, remedies=False).to_dict()
    assert with_table["attacks"] == release.audit(learn=False, remedies=False).to_dict()["attacks"]


def test_several_rows_of_a_person(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series("who", [f"p{row // 2}" for row in range(ROWS)]))
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], person="who", pseudonyms=["who"], others="drop")
    for show in ("mean", "bounds"):
        release = ic.publish(table, ic.KAnonymity(4), show=show, seed=3)  # type: ignore[arg-type]
        release.save(tmp_path / show, format="csv")
        again = ic.open_release(tmp_path / show)
        assert [one.achieved for one in again.guarantees] == [one.achieved for one in release.guarantees]


@pytest.mark.parametrize(
    ("name", "show"),
    [*(("*", show) for show in ("mean", "bounds")), *(("^a.*$", show) for show in ("mean", "bounds")),
     ("", "mean"), ("label", "bounds"), ("number", "mean"), ("a,b", "bounds")],
)  # fmt: skip
def test_columns_of_any_name(name: str, show: Any, tmp_path: Path) -> None:
    frame = FRAME.select(pl.col("age").alias(name), "sex", "ill")
    release = ic.publish(opened(frame, (name, "sex")), ic.KAnonymity(5), show={name: show}, seed=1)
    release.save(tmp_path / "r", format="parquet")
    again = ic.open_release(tmp_path / "r")
    assert sorted(again.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())
    second = again.scheme.apply(frame)
    assert set(second.to_polars().drop("ill").rows()) <= set(release.to_polars().drop("ill").rows())
