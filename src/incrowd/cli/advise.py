"""`incrowd advise`: which sampling rate and distortion limit publish most with least distortion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.command import Command

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

_SUFFIXES = (".svg", ".png")


def advise(
    recipe: Annotated[Path, typer.Argument(help="A recipe, such as `incrowd profile` writes; its models must hold.")],
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
    from incrowd.common.surface import written_in
    from incrowd.methods.local_recoding import LocalRecoding
    from incrowd.planning.sampling import MAX_DISTORTIONS, RATES, advise_sampling
    from incrowd.publishing.recipe import Recipe

    if plot is not None:
        from incrowd.common.extras import require_extra

        if plot.suffix.lower() not in _SUFFIXES:
            raise typer.BadParameter("the chart is a file that ends in .svg or .png", param_hint="--plot")
        require_extra("experiments", "charts")  # before the work, not after it
    loaded = Recipe.load(recipe)
    own = loaded.method if isinstance(loaded.method, LocalRecoding) else None
    with showing_progress(quiet=quiet or as_json) as progress, written_in("recipe"):
        table = loaded.table()
        noun = "people" if table.schema.person else "rows"
        advice = advise_sampling(
            table,
            rates=_shares(rates, "--rate") or RATES,
            max_distortions=_shares([*(max_distortions or ()), *(limits or ())], "--max-distortion") or MAX_DISTORTIONS,
            require=loaded.models,
            method=own,
            seed=loaded.seed if seed is None else seed,
            progress=progress,
        )
    if plot is not None:
        from incrowd.experiments.advice_chart import draw_advice

        draw_advice(advice, plot)
    notes = (
        []
        if own is not None
        else [f"The recipe's method is {loaded.method.name}. This is about local-recoding, which would take its place."]
    )
    if as_json:
        print_json({"pairs": advice.to_dicts(), "notes": notes, **({} if plot is None else {"plot": str(plot)})})
    elif not quiet:
        console = Console()
        console.print(_table(advice))
        for line in [*(f"Note: {note}" for note in notes), *_what_to_write(advice, noun), *_drawn(plot)]:
            console.print(line, highlight=False, markup=False)


def _drawn(plot: Path | None) -> Iterator[str]:
    if plot is not None:
        yield f"Drawn in {plot}"


def _what_to_write(advice: pl.DataFrame, noun: str) -> Iterator[str]:
    """Say in one sentence what is best, and which lines of a recipe ask for it."""
    if not advice["best"].any():
        yield "No pair publishes anything.  Hint: require less, or allow more distortion (--max-distortion 1)."
        return
    best = advice.filter(advice["best"]).sort("kept", descending=True).to_dicts()[0]
    yield (
        f"Best: sampling rate {best['rate']:g} with distortion limit {best['limit']:g} publishes "
        f"{best['published']:.1%} of the {noun} with a mean distortion of {best['distortion']:.3f}, and so keeps "
        f"{best['kept']:.3f}. A smaller rate leaves outsiders less sure who is in the release, which these numbers do "
        "not weigh: ○ is the best of its rate."
    )
    yield "In the recipe, write:"
    if best["rate"] < 1:
        yield f"  sample = {best['rate']:g}     (above the first [table])"
    yield "  [method]"
    yield '  name = "local-recoding"'
    yield f"  max_distortion = {best['limit']:g}"


def _shares(given: list[str] | None, option: str) -> list[float]:
    try:
        return [float(word) for text in given or [] for word in text.split(",") if word.strip()]
    except ValueError:
        raise typer.BadParameter("it is shares between 0 and 1, such as 0.8,0.9", param_hint=option) from None


def _table(advice: pl.DataFrame) -> Table:
    import polars as pl
    from rich.table import Table
    from rich.text import Text

    from incrowd.planning.weighing import TOLERANCE

    table = Table(
        title="What would be published; ● keeps most, rows × (1 − distortion), or as much within "
        f"{TOLERANCE:g}; ○ most at its rate",
        title_justify="left",
        box=None,
    )
    for name in ("", "sampling rate", "distortion limit", "published", "withheld", "mean distortion", "GCP", "kept"):
        table.add_column(name, justify="right")
    table.add_column("why", overflow="fold")
    most = advice.select(pl.col("kept").max().over("rate"))["kept"]
    first = (advice["kept"] == most) & ~advice["why"].str.starts_with("the same") & (advice["kept"] > 0)
    for line, of_rate in zip(advice.to_dicts(), first.to_list(), strict=True):
        shown = ["–" if line[name] is None else f"{line[name]:.3f}" for name in ("distortion", "gcp", "kept")]
        shares = [f"{line[name]:.1%}" for name in ("published", "withheld")]
        mark, style = ("●", "bold") if line["best"] else ("○", "") if of_rate else ("", "dim")
        pair = (f"{line['rate']:g}", f"{line['limit']:g}")
        table.add_row(mark, *pair, *shares, *shown, Text(line["why"]), style=style)
    return table


COMMANDS = (Command(advise, place=90),)
