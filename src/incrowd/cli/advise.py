"""`incrowd advise`: which sampling rate and distortion limit publish most with least distortion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.command import Command

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

_SUFFIXES = (".svg", ".png")


def advise(
    recipe: Annotated[Path, typer.Argument(help="A recipe whose method is local-recoding.")],
    rates: Annotated[
        list[str] | None, typer.Option("--rate", help="Sampling rates; repeat, or separate by commas.")
    ] = None,
    max_distortions: Annotated[
        list[str] | None,
        typer.Option("--max-distortion", help="Largest distortions to allow; repeat, or separate by commas."),
    ] = None,
    limits: Annotated[list[str] | None, typer.Option("--limit", hidden=True)] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Make chance repeatable (default: the recipe's, or the system's).")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw a chart: FILE.svg or FILE.png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compare sampling rates and distortion limits for the table of a RECIPE; nothing is published."""
    from rich.console import Console

    from incrowd.cli.output import print_json, showing_progress
    from incrowd.errors import RecipeError
    from incrowd.methods.local_recoding import LocalRecoding
    from incrowd.planning.sampling import MAX_DISTORTIONS, RATES, advise_sampling
    from incrowd.publishing.recipe import Recipe

    if plot is not None:
        from incrowd.common.extras import require_extra

        if plot.suffix.lower() not in _SUFFIXES:
            raise typer.BadParameter("the chart is a file that ends in .svg or .png", param_hint="--plot")
        require_extra("experiments", "charts")  # before the work, not after it
    loaded = Recipe.load(recipe)
    if not isinstance(loaded.method, LocalRecoding):
        raise RecipeError(
            f"recipe {recipe}: its method is {loaded.method.name}, which has no distortion limit to choose.  "
            'Hint: write [method] with name = "local-recoding".'
        )
    with showing_progress(quiet=quiet or as_json) as progress:
        advice = advise_sampling(
            loaded.table(),
            rates=_shares(rates, "--rate") or RATES,
            max_distortions=_shares([*(max_distortions or ()), *(limits or ())], "--max-distortion") or MAX_DISTORTIONS,
            require=loaded.models,
            method=loaded.method,
            seed=loaded.seed if seed is None else seed,
            progress=progress,
        )
    if plot is not None:
        from incrowd.experiments.advice_chart import draw_advice

        draw_advice(advice, plot)
    if as_json:
        print_json({"pairs": advice.to_dicts(), **({} if plot is None else {"plot": str(plot)})})
    elif not quiet:
        Console().print(_table(advice))
        if plot is not None:
            Console().print(f"Drawn in {plot}", highlight=False, markup=False)


def _shares(given: list[str] | None, option: str) -> list[float]:
    try:
        return [float(word) for text in given or [] for word in text.split(",") if word.strip()]
    except ValueError:
        raise typer.BadParameter("it is shares between 0 and 1, such as 0.8,0.9", param_hint=option) from None


def _table(advice: pl.DataFrame) -> Table:
    from rich.table import Table

    table = Table(
        title="What would be published; ● publishes most with least distortion", title_justify="left", box=None
    )
    for name in ("", "sampling rate", "distortion limit", "published", "withheld", "mean distortion", "GCP"):
        table.add_column(name, justify="right")
    for line in advice.to_dicts():
        shown = ["–" if line[name] is None else f"{line[name]:.3f}" for name in ("distortion", "gcp")]
        shares = [f"{line[name]:.1%}" for name in ("published", "withheld")]
        mark, style = ("●", "bold") if line["best"] else ("", "dim")
        table.add_row(mark, f"{line['rate']:g}", f"{line['limit']:g}", *shares, *shown, style=style)
    return table


COMMANDS = (Command(advise, place=90),)
