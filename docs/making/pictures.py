"""A picture for every part, drawn by running it: a model judges groups, a method makes boxes, an attack is tried."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from docs.making import example_tables as tables
from docs.making.svg import Axes, Picture, ticks_between

_LOOK_OF = {"flu": "c1", "gout": "c2", "asthma": "c3", "eczema": "c4", "HIV": "c5"}


def of_model(model: Any) -> str:
    """Draw six wards as groups of patients, and which of them the model lets pass."""
    kind = type(model).name
    numbers = kind in ("ke-anonymity", "minimum-variance")
    passed = _judged(model, numbers)
    beside = _told_beside(kind)
    picture = Picture(640, 232 if beside else 214, f"Which of six groups satisfy {model}")
    for place, (ward, diseases) in enumerate(tables.WARDS.items()):
        x, good = 12 + place * 105, bool(passed[place])
        picture.box(x, 34, 96, 132, "group good" if good else "group bad", round_by=6)
        picture.text(x + 47, 24, f"group {ward}", "axis", "middle")
        people = tables.patients().filter(pl.col("ward") == ward)
        for row, disease in enumerate(diseases):
            at = x + 15 + row % 2 * 44, 50 + row // 2 * 30
            if numbers:
                picture.text(at[0] - 4, at[1] + 8, f"{people['salary'][row]}k", "value")
            else:
                picture.dot(at[0], at[1] + 2, _LOOK_OF[disease], 6)
                picture.text(at[0] - 8, at[1] + 19, disease, "small")
        picture.text(x + 47, 182, "passes" if good else "fails", "verdict good" if good else "verdict bad", "middle")
        if beside:
            picture.text(x + 47, 200, beside[ward], "small", "middle")
    picture.text(12, picture.height - 6, f"{model}, judged by the code that judges releases", "small")
    return picture.svg()


def _told_beside(kind: str) -> dict[str, str] | None:
    """Return what a model looks at that is not in the table, by ward."""
    if kind in ("k-map", "journalist-risk", "delta-presence", "individual-risk", "population-uniqueness"):
        counts = tables.population()["ward"].value_counts()
        return {ward: f"like {people} people" for ward, people in counts.iter_rows()}
    if kind == "household-anonymity":
        homes = tables.patients().group_by("ward").agg(pl.col("home").n_unique())
        return {ward: f"{number} households" for ward, number in homes.iter_rows()}
    return None


def _judged(model: Any, numbers: bool) -> np.ndarray:
    """Return the model's verdict on each ward."""
    from incrowd.core.groups import Groups, Histogram
    from incrowd.core.schema import HOUSEHOLD
    from incrowd.forms.verify import groups_of

    if type(model).counts_households:
        homes = tables.patients().group_by("ward", maintain_order=True).agg(pl.col("home"))["home"].to_list()
        counted = [np.unique([int(home[1:]) for home in found], return_counts=True) for found in homes]
        offsets = np.concatenate(([0], np.cumsum([len(values) for values, _ in counted])))
        values, counts = (np.concatenate(found) for found in zip(*counted, strict=True))
        sizes = np.array([len(found) for found in homes])
        return np.asarray(
            model.satisfied(Groups(sizes, {HOUSEHOLD: Histogram(offsets, values.astype(np.int32), counts)}))
        )
    form = _wards(numbers, type(model).name == "individual-risk").form
    found = groups_of(
        form.lines(), form.schema.written_quasi, tuple(form.schema.sensitive), before=form.tally,
        stands_for=form.stands_for(),
    )  # fmt: skip
    return np.asarray(model.satisfied(found))


@cache
def _wards(numbers: bool, weighted: bool) -> Any:
    more: dict[str, Any] = {"weight": "weight"} if weighted else {"population": tables.population()}
    table = ic.read(
        tables.patients(), quasi=["ward"], sensitive=["salary" if numbers else "disease"], others="drop", **more
    )
    return ic.publish(table, ic.KAnonymity(1), method=ic.Mondrian(fixed=("ward",)), seed=1)


def of_method(method: Any, require: Any, sample: float) -> str:
    """Draw what a method makes of 400 people by age and salary: boxes, buckets, or counts."""
    table = tables.plane()
    if getattr(type(method), "name", "") == "m-invariance":
        frame = tables.people_of_plane().with_row_index("id")
        table = ic.read(frame, person="id", quasi=["age", "salary"], sensitive=["occupation"])
    if getattr(type(method), "promises_privacy", False) or type(method).name == "hierarchical-histogram":
        return _counts(method, sample)
    release = ic.publish(table, require, method=method, seed=1, sample=sample)
    shown = getattr(release.form, "shown", None)
    return _boxes(release) if hasattr(shown, "lows") else _buckets(release)


def of_scheme() -> str:
    """Draw people of another table among the boxes of a release."""
    release = ic.publish(tables.plane(), ic.KAnonymity(10), seed=1)
    return _boxes(release)


def _ages_and_salaries() -> tuple[Picture, Axes]:
    picture = Picture(640, 300, "")
    axes = Axes(picture, (14, 92), (-2_500, 165_000))
    axes.draw(
        "age", "salary", [(age, str(age)) for age in range(20, 91, 10)],
        [(pay, f"{pay // 1000}k") for pay in range(0, 165_000, 40_000)],
    )  # fmt: skip
    return picture, axes


def _spots(axes: Axes, looks: list[str], people: pl.DataFrame) -> None:
    rng = np.random.default_rng(1)
    moved = rng.uniform(-0.35, 0.35, people.height), rng.uniform(-1_800, 1_800, people.height)
    for row, (age, pay) in enumerate(people.select("age", "salary").iter_rows()):
        axes.picture.dot(axes.across(age + moved[0][row]), axes.up(pay + moved[1][row]), looks[row])


def _boxes(release: Any) -> str:
    picture, axes = _ages_and_salaries()
    shown, trees = release.form.shown, release.form.tally.trees
    picture.title = f"{release.rows} of {release.rows_in} people in {len(shown)} groups"
    for group in range(len(shown)):
        ends = []
        for name, half in (("age", 0.5), ("salary", 2_500)):
            place = shown.columns.index(name)
            low, high = int(shown.lows[group, place]), int(shown.highs[group, place])
            values = trees[name].values
            anything = low == 0 or (low == 1 and high == trees[name].size)
            first = -np.inf if low <= 1 else float(values[low]) - half
            last = np.inf if high >= trees[name].size else float(values[high]) - half
            ends.append((-np.inf, np.inf) if anything else (first, last))
        (left, right), (down, above) = ends
        x0, x1, y0, y1 = axes.across(left), axes.across(right), axes.up(above), axes.up(down)
        picture.box(x0 + 0.5, y0 + 0.5, x1 - x0 - 1, y1 - y0 - 1, f"box b{group % 4}")
    people = tables.people_of_plane()
    _spots(axes, ["person"] * people.height, people)
    return picture.svg() + _caption(picture.title + ". Each box is what the release shows of a group; dots are people.")


def _buckets(release: Any) -> str:
    """Colour people by bucket, for those of the first buckets; all others are grey."""
    picture, axes = _ages_and_salaries()
    frame = release.to_polars().select("bucket", "age", "salary").drop_nulls()
    first = frame["bucket"].unique(maintain_order=True)[:5].to_list()
    look = {bucket: f"c{place + 1} big" for place, bucket in enumerate(first)}
    _spots(axes, [look.get(bucket, "person") for bucket in frame["bucket"]], frame)
    picture.title = f"{release.rows} published rows in {frame['bucket'].n_unique()} buckets"
    return picture.svg() + _caption(
        f"{picture.title}. Ages and salaries are published as values; five buckets are coloured. Who of a bucket has "
        "which occupation is not told."
    )


def _counts(method: Any, sample: float) -> str:
    """Draw how many people there are by age, in the table and by the release."""
    frame = tables.many()
    table = tables.declared(alone=type(method).name == "hierarchical-histogram")
    release = ic.publish(table, method=method, seed=1, sample=sample)
    bands = [(low, low + 9) for low in range(15, 95, 10)]
    true = [frame.filter(pl.col("age").is_between(*band)).height for band in bands]
    told = [float(release.count({"age": band})) for band in bands]
    picture = Picture(640, 260, "People by age: in the table, and by the release")
    axes = Axes(picture, (0, len(bands)), (0, max(*true, *told) * 1.08))
    axes.draw(
        "age", "people", [(place + 0.5, f"{low}–{high}") for place, (low, high) in enumerate(bands)],
        [(value, f"{value:.0f}") for value, _ in ticks_between(0, round(max(true), -2))],
    )  # fmt: skip
    for place, (one, other) in enumerate(zip(true, told, strict=True)):
        for shift, value, look in ((0.14, one, "bar true"), (0.5, other, "bar told")):
            x0, x1 = axes.across(place + shift), axes.across(place + shift + 0.34)
            picture.box(x0, axes.up(value), x1 - x0, axes.up(0) - axes.up(value), look)
    return picture.svg() + _caption(
        '<span class="key true"></span> in the table <span class="key told"></span> what the release answers. '
        f"{frame.height:,} people."
    )


_SCENES = {
    "known-date": "visit_release", "known-rows": "visit_release", "household": "family_release",
    "known-items": "basket_release", "homogeneity": "alike", "extreme-values": "tight",
}  # fmt: skip
"""Where an attack needs what the census does not have."""


@cache
def _audited(scene: str, k: int) -> dict[str, Any]:
    """Return the outcome of every attack on a release, by name."""
    release = getattr(tables, scene)(k)
    if scene != "attacked":
        wanted = [name for name, where in _SCENES.items() if where == scene]
        attacks = [_registered("attacks")[name]() for name in wanted]
        found = ic.audit(release, attacks=attacks, learn=False, remedies=False)
    else:
        attacks = [
            cls(fraction=0.05) if name == "unique-in-population" else cls()
            for name, cls in _registered("attacks").items()
            if name not in _SCENES
        ]
        people = tables.census().with_row_index("name")
        found = ic.audit(
            release, attacks=attacks, external=people, earlier=[tables.second_release(k)], learn=False, remedies=False
        )
    return {risk.attack: risk for risk in found.attacks}


def _registered(family: str) -> Any:
    from incrowd.core.families import registered

    return registered(family)


def of_attack(attack: str) -> str:
    """Draw how often an attack is right, next to its baseline, on releases of growing k."""
    risks = [_audited(_SCENES.get(attack, "attacked"), k).get(attack) for k in tables.KS]
    picture = Picture(640, 250, f"How often {attack} is right, by k")
    axes = Axes(picture, (0, len(tables.KS)), (0, 1))
    percents = [(share / 4, f"{share * 25} %") for share in range(5)]
    axes.draw("k of the release", "right", [(place + 0.5, f"k = {k}") for place, k in enumerate(tables.KS)], percents)
    for place, risk in enumerate(risks):
        if risk is None:
            picture.text(axes.across(place + 0.5), axes.up(0.5), "not possible", "small", "middle")
            continue
        x0, x1 = axes.across(place + 0.28), axes.across(place + 0.72)
        picture.box(x0, axes.up(risk.value), x1 - x0, axes.up(0) - axes.up(risk.value), "bar told")
        middle = (x0 + x1) / 2
        picture.line([(middle, axes.up(risk.low)), (middle, axes.up(risk.high))], "whisker")
        picture.line([(x0 - 10, axes.up(risk.baseline)), (x1 + 10, axes.up(risk.baseline))], "baseline")
        picture.text(x1 + 4, axes.up(risk.value) + 4, f"{risk.value:.0%}", "small")
    return picture.svg() + _caption(
        'Bars: how often the attack is right, with its 95 % interval. <span class="key dashed"></span> '
        f"the baseline: {next((risk.against for risk in risks if risk), 'guessing')}."
    )


def of_metric(metric: Any) -> str:
    """Draw a metric's value on releases of growing k."""
    values = [float(metric.measure(_release(k).table_before, _release(k).form)) for k in tables.KS]
    picture = Picture(640, 240, f"{type(metric).name} by k")
    top = max(values) or 1
    axes = Axes(picture, (0, len(values)), (0, top * 1.1), left=64)
    axes.draw(
        "k of the release", type(metric).name, [(place + 0.5, f"k = {k}") for place, k in enumerate(tables.KS)],
        ticks_between(0, top, 3),
    )  # fmt: skip
    for place, value in enumerate(values):
        x0, x1 = axes.across(place + 0.3), axes.across(place + 0.7)
        picture.box(x0, axes.up(value), x1 - x0, axes.up(0) - axes.up(value), "bar told")
        picture.text((x0 + x1) / 2, axes.up(value) - 5, f"{value:.4g}", "small", "middle")
    better = "Less is better" if type(metric).goal == "minimize" else "More is better"
    if type(metric).of_privacy:
        better = "It tells what is given away: less is better"
    return picture.svg() + _caption(f"{better}. The same census, published with growing k.")


def _release(k: int) -> Any:
    return tables.attacked(k)


def _caption(words: str) -> str:
    return f'\n<p class="caption">{words}</p>'


def of_form(form: Any) -> str:
    """Draw eight patients in two groups, as this form shows them."""
    frame = ic.datasets.slicing_patients()
    table = ic.read(frame, quasi=["age", "sex", "zip"], sensitive=["disease"])
    release = ic.publish(table, ic.BucketSize(4), form=form, seed=3)
    shown = release.to_polars()
    others = [frame for name, frame in release.tables.items() if name != "data" and frame.width < 6]
    both = [("Before", frame), ("Published", shown), *(("and beside it", other) for other in others[:1])]
    return '<div class="tables">' + "".join(_table(title, found) for title, found in both) + "</div>"


def _table(title: str, frame: pl.DataFrame) -> str:
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str('' if cell is None else cell))}</td>" for cell in row) + "</tr>"
        for row in frame.iter_rows()
    )
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def of_sets(require: Any, items: Any, *, sensitive: bool = False) -> str:
    """Draw what 24 people bought, as a grid of people and labels, before and after."""
    frame = tables.baskets().with_columns(paid=pl.lit("cash") + (pl.col("person") % 3).cast(pl.String))
    table = ic.read(
        frame, items=["bought"], sensitive=["paid"] if sensitive else [], others="drop",
        hierarchies={"bought": ic.Categories.from_tree(ic.datasets.basket_tree(12))},
    )  # fmt: skip
    release = ic.publish(table, require, items=items, seed=1)
    before = tables.baskets()["bought"].to_list()[:24]
    after = [_split(found) for found in release.to_polars()["bought"].to_list()[:24]]
    picture = Picture(640, 250, "Sets of items before and after")
    for title, sets, x in (("before", before, 14), ("published", after, 334)):
        names = sorted({name for found in sets for name in found}, key=str)
        picture.text(x, 18, f"{title}: {len(names)} different labels, 24 people", "axis")
        for row, found in enumerate(sets):
            for name in found:
                picture.box(
                    x + row * 12, 30 + names.index(name) * 15, 10, 12, f"c{names.index(name) % 5 + 1}", round_by=2
                )
    return picture.svg() + _caption(
        "Each column is a person, each row of squares a label. People of the right picture are in another order."
    )


def _split(found: Any) -> list[str]:
    if found is None:
        return []
    return [name for name in found.split(";") if name] if isinstance(found, str) else [str(name) for name in found]
