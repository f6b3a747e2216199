"""`incrowd plan`: parameters of sampling with suppression, before anything is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.command import Command

if TYPE_CHECKING:
    from rich.table import Table

_LINES = 15
_NOTHING = (
    "Nothing would be published at any level: a row must be seen k times with all it shows, also sensitive values.  "
    "Hint: drop columns that have many values, or accept a larger ε or δ."
)
_EPSILON, _DELTA = "1", "1e-6"
_MOST_ROWS = 2**62


def plan(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe whose table is to be published: which levels keep most of it?")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε: by how much one person may change what is published.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ: how likely that may fail, for one person.")] = None,
    k: Annotated[int | None, typer.Option(min=1, help="How often a row must be seen to be published.")] = None,
    rate: Annotated[str | None, typer.Option(help="β: the share of the rows that is sampled.")] = None,
    rows: Annotated[int | None, typer.Option(min=1, max=_MOST_ROWS, help="Rows of the table, to judge δ by.")] = None,
    table: Annotated[bool, typer.Option("--table", help="Print Table 1 of Li, Qardaji & Su (2012).")] = False,
    figures: Annotated[Path | None, typer.Option(help="Draw figures 2-7 of the paper into this directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """From three of ε, δ, k and the sampling rate, find the fourth; or, with a RECIPE, what its table would keep.

    A recipe is planned for ε = 1 and δ = 0.000001 unless others are given; its own models and method play no part.
    """
    from incrowd.cli.output import print_json

    told: dict[str, Any] = {}
    if table:
        told |= {"table 1": _table_1()}
    if figures is not None:
        told |= {"figures": [str(path) for path in _draw(figures)]}
    if recipe is not None:
        told |= _for_recipe(recipe, epsilon, delta, k, rate, quiet=quiet or as_json)
    elif not told or any(given is not None for given in (epsilon, delta, k, rate)):
        told |= _alone(epsilon, delta, k, rate, rows)
    if as_json:
        print_json(told)
    elif not quiet:
        _show(told)


def _table_1() -> list[dict[str, Any]]:
    from incrowd.dp.sampled_suppression import delta_of
    from incrowd.experiments.sdgs import TABLE_EPSILONS, TABLE_RATES

    return [
        {"k": 20, "rate": float(rate), "delta": {epsilon: delta_of(20, rate, epsilon) for epsilon in TABLE_EPSILONS}}
        for rate in TABLE_RATES
    ]


def _draw(directory: Path) -> list[Path]:
    from incrowd.common.extras import require_extra
    from incrowd.core.release_directory import require_directory
    from incrowd.experiments.charts import save
    from incrowd.experiments.sdgs import run

    require_extra("experiments", "charts")
    require_directory(directory)
    drawn = [section for section in run().sections if section.chart is not None]
    return [path for section in drawn for path in save(section.chart(), directory / section.name)]  # type: ignore[misc]


def _alone(epsilon: str | None, delta: str | None, k: int | None, rate: str | None, rows: int | None) -> dict[str, Any]:
    """Return the fourth parameter, and the curve that it lies on."""
    from incrowd.dp.sdgs_parameters import plan as complete
    from incrowd.dp.sdgs_parameters import warn_of_delta
    from incrowd.planning.sdgs import curve_around

    if sum(given is None for given in (epsilon, delta, k, rate)) != 1:
        raise typer.BadParameter(
            "give three of --epsilon, --delta, --k and --rate, or a recipe with --epsilon and --delta, or --table",
            param_hint="plan",
        )
    found = complete(epsilon=epsilon, delta=delta, k=k, rate=rate)
    warning = None if rows is None else warn_of_delta(found.delta, rows)
    four = {"epsilon": found.epsilon, "delta": found.delta, "k": found.k, "rate": found.rate}
    return {
        "plan": four,
        "found": found.found,
        "by theorem 1": found.by_theorem_1,
        "curve": curve_around(found),
        "warnings": [warning] if warning else [],
    }


def _for_recipe(
    recipe: Path, epsilon: str | None, delta: str | None, k: int | None, rate: str | None, *, quiet: bool
) -> dict[str, Any]:
    """Return what the table of a recipe would keep."""
    from incrowd.cli.output import showing_progress
    from incrowd.common.surface import written_in
    from incrowd.dp.sdgs_parameters import largest_rate, warn_of_delta
    from incrowd.planning.sdgs import LOOKED, RATES, plan_release, to_declare
    from incrowd.publishing.recipe import Recipe

    assumed = [
        f"{name} = {usual} is assumed; another one is named with --{option}."
        for name, option, usual, given in (("ε", "epsilon", _EPSILON, epsilon), ("δ", "delta", _DELTA, delta))
        if given is None
    ]
    epsilon, delta = epsilon or _EPSILON, delta or _DELTA
    rates: list[Any] = [rate] if rate is not None else list(RATES)
    if rate is None and k is not None:
        rates.append(largest_rate(epsilon=epsilon, delta=delta, k=k))
    loaded = Recipe.load(recipe)
    with showing_progress(quiet=quiet) as progress, written_in("recipe"):
        table = loaded.table()
        found, rows = plan_release(table, epsilon=epsilon, delta=delta, rates=rates, k=k, progress=progress)
        open_questions = to_declare(table)
    warning = warn_of_delta(delta, rows)
    one_each = "People have several rows: one row of each is planned with, which is most_rows = 1 in [method]."
    return {
        "epsilon": epsilon,
        "delta": delta,
        "choices": found.to_dicts(),
        "write": _lines_for_recipe(found.to_dicts(), epsilon, one_each=bool(table.schema.person)),
        "warnings": [
            *assumed,
            *([warning] if warning else []),
            *([one_each] if table.schema.person else []),
            *open_questions,
            LOOKED,
        ],
    }


def _lines_for_recipe(choices: list[dict[str, Any]], epsilon: str, *, one_each: bool) -> list[str]:
    """Return the lines of a recipe that ask for the best choice."""
    best = next((choice for choice in choices if choice["best"]), None)
    if best is None:
        return []
    levels = ", ".join(f"{json.dumps(name)} = {level}" for name, level in best["levels"].items())
    return [
        f"sample = {best['rate']:g}     (above the first [table]; and no [[models]])",
        "[method]",
        'name = "sdgs"',
        f"k = {best['k']}",
        f"epsilon = {epsilon}",
        f"levels = {{ {levels} }}",
        *(["most_rows = 1"] if one_each else []),
    ]


def _show(told: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from incrowd.cli.output import summary_table

    console = Console()
    if "table 1" in told:
        console.print(Text("δ for k = 20 (Li, Qardaji & Su 2012, Table 1)", style="italic"))
        console.print(_laid_out_table(told["table 1"]))
    if "figures" in told:
        console.print(Text(f"Drawn: {', '.join(told['figures'])}"))
    if "plan" in told:
        four, names = told["plan"], {"epsilon": "ε", "delta": "δ", "k": "k", "rate": "sampling rate β"}
        found = f"  ← found; theorem 1 alone would say {told['by theorem 1']:.6g}"
        lines = [(name, f"{four[key]:.6g}" + (found if key == told["found"] else "")) for key, name in names.items()]
        console.print(Text("Sampling, then withholding what is seen fewer than k times", style="italic"))
        console.print(summary_table("", lines))
        console.print(Text("The same k and rate also give", style="italic"))
        console.print(_laid_out_curve(told["curve"]))
    if "choices" in told:
        said = "What would be published on average; ● keeps most (rows × precision)"
        console.print(Text(said if told["choices"] else _NOTHING, style="italic"))
        console.print(_laid_out_choices(told["choices"]))
        for line in ["In the recipe, write:", *(f"  {line}" for line in told["write"])] if told["write"] else []:
            console.print(Text(line), soft_wrap=True)
    for warning in told.get("warnings", ()):
        console.print(Text(f"Note: {warning}"))


def _laid_out(columns: list[str]) -> Table:
    from rich.table import Table

    table = Table(box=None)
    for name in columns:
        table.add_column(name, justify="right")
    return table


def _laid_out_table(cells: list[dict[str, Any]]) -> Table:
    epsilons = list(cells[0]["delta"])
    table = _laid_out(["β", *(f"ε = {each}" for each in epsilons)])
    for line in cells:
        table.add_row(f"{line['rate']:g}", *(f"{line['delta'][epsilon]:.2e}" for epsilon in epsilons))
    return table


def _laid_out_curve(curve: list[dict[str, float]]) -> Table:
    table = _laid_out(["ε", "δ", "δ by theorem 1"])
    for point in curve:
        table.add_row(*(f"{point[name]:.{digits}g}" for name, digits in zip(point, (4, 3, 3), strict=True)))
    return table


def _laid_out_choices(choices: list[dict[str, Any]]) -> Table:
    """Show the best choice and its neighbours: with every one, more rows are published and less is shown of each."""
    if not choices:
        return _laid_out([])
    columns = list(choices[0]["levels"])
    table = _laid_out(["", "k", "β", *(f"level of {name}" for name in columns), "rows", "precision"])
    at = next(place for place, choice in enumerate(choices) if choice["best"])
    first = max(0, min(at - _LINES // 2, len(choices) - _LINES))
    for choice in choices[first : first + _LINES]:
        levels = [str(choice["levels"][name]) for name in columns]
        shares = [f"{choice['published']:.2%}", f"{choice['precision']:.3f}"]
        mark = "●" if choice["best"] else ""
        table.add_row(mark, str(choice["k"]), f"{choice['rate']:g}", *levels, *shares)
    return table


COMMANDS = (Command(plan, place=100),)
