"""`incrowd demo`: the whole path on a built-in table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.command import Command

_RECIPE = """\
# A recipe reads like the API. `incrowd publish demo/people.recipe.toml` makes this release again.
incrowd = 1

[source]
path = "people.csv"

[[models]]
name = "k-anonymity"
k = {k}

[[models]]
name = "distinct-l-diversity"
l = {l}

[method]
name = "mondrian"

[output]
directory = "release"
format = "csv"

# `incrowd compare demo/people.recipe.toml` publishes the same table in all these ways, and attacks each.
[[compare]]
name = "Mondrian, k = $k"
method = {{ name = "mondrian" }}
models = [{{ name = "k-anonymity", k = "$k" }}, {{ name = "distinct-l-diversity", l = {l} }}]
grid = {{ k = [{k}, {k5}] }}

[[compare]]
name = "full domain, k = {k}"
method = {{ name = "full-domain", max_withheld = 0.05 }}
models = [{{ name = "k-anonymity", k = {k} }}, {{ name = "distinct-l-diversity", l = {l} }}]

[[compare]]
name = "local recoding by levels, k = {k}"
method = {{ name = "level-sweep" }}
models = [{{ name = "k-anonymity", k = {k} }}]

[[compare]]
name = "Anatomy, l = {l}"
method = {{ name = "anatomy" }}
models = [{{ name = "probabilistic-l-diversity", l = {l} }}]

[[compare]]
name = "slicing, l = {l}"
method = {{ name = "slicing" }}
models = [{{ name = "sliced-diversity", l = {l} }}]

[[compare]]
name = "Consistent DiffGen, epsilon = $e"
method = {{ name = "consistent-diffgen", epsilon = "$e" }}
grid = {{ e = ["0.5", "2"] }}
"""


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the demo's files.")] = Path("demo"),
    rows: Annotated[int, typer.Option(min=1, help="How many people the built-in table has.")] = 30_000,
    k: Annotated[int, typer.Option("--k", min=1, help="Everybody hides among at least k.")] = 10,
    l: Annotated[int, typer.Option("--l", min=1, help="Each group has at least l different occupations.")] = 4,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many ways are tried at once.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Publish, check and attack a built-in table of people, compare ways to publish it, and say where everything is."""
    from rich.console import Console
    from rich.text import Text

    from incrowd.auditing.run import audit
    from incrowd.cli._demo_table import HIERARCHIES, QUASI, SENSITIVE, demo_recipe, person_table
    from incrowd.cli.compare import KEPT, ranking_table
    from incrowd.cli.output import print_json, release_lines, showing_progress, summary_table
    from incrowd.common.writing import write_text
    from incrowd.core.release_directory import require_directory
    from incrowd.datasets import write_census
    from incrowd.planning.compare import compare
    from incrowd.publishing.check import check
    from incrowd.publishing.recipe import Recipe

    people, recipe_path = output / "people.csv", output / "people.recipe.toml"
    _require_own(people, recipe_path)
    require_directory(output)
    write_text(recipe_path, demo_recipe(_RECIPE.format(k=k, l=l, k5=5 * k), HIERARCHIES))
    with showing_progress(quiet=as_json) as progress:
        progress("generating", 0.0)
        write_census(people, rows)
        progress("generating", 1.0)
        release = Recipe.load(recipe_path).run(progress=progress)
        data = release.save(output / "release", force=True, progress=progress)
        progress("checking", 0.0)
        before = check(people, quasi=QUASI, sensitive=SENSITIVE)
        after = check(data, quasi=QUASI, sensitive=SENSITIVE)
        progress("checking", 1.0)
        audited = audit(release, learn=False, progress=progress).save(output / "audit.html")
        compared = compare([recipe_path], keep=output / KEPT, jobs=jobs, progress=progress)
        page = compared.save(output / "comparison.html")
    if as_json:
        print_json(
            {
                "before": before.to_dict(),
                "after": after.to_dict(),
                "data": str(data),
                "audit": str(audited),
                "comparison": str(page),
                "compared": compared.to_dict(),
                **release.summary,
            }
        )
        return
    console = Console()
    console.print(
        Text.assemble(
            (f"{before.rows:,} invented people", "bold"),
            f", described by {', '.join(QUASI)}.\n",
            f"As they are, {before.unique_rows:,} of them are the only one of their kind: whoever knows these facts "
            f"about one of them finds the {' and '.join(SENSITIVE)}.\n",
        )
    )
    console.print(person_table(people, release))
    console.print()
    console.print(summary_table("Released", release_lines(release.summary)))
    console.print()
    console.print(
        summary_table(
            "Checked again, from the published file alone",
            [
                ("smallest group", f"{before.k} before, {after.k} now"),
                ("only one of a kind", f"{before.unique_rows:,} before, {after.unique_rows:,} now"),
                *((f"{name}s per group", f"at least {after.sensitive[name].distinct_l}") for name in SENSITIVE),
            ],
        )
    )
    console.print()
    console.print(ranking_table(compared))
    console.print()
    console.print(
        summary_table(
            "Files",
            [
                ("the table", str(people)),
                ("the recipe", str(recipe_path)),
                ("the release", str(data)),
                ("its summary", str(data.parent / "summary.json")),
                ("its audit, a page", str(audited)),
                ("ways compared, a page", str(page)),
                ("next", f"edit the recipe, then: incrowd publish {recipe_path} --force"),
            ],
        )
    )


def _require_own(people: Path, recipe: Path) -> None:
    """Refuse to write over a table or a recipe that an earlier demo did not make."""
    from incrowd.common.writing import require_name, telling
    from incrowd.errors import OutputError

    require_name(recipe)
    with telling(recipe):
        made_here = recipe.exists() and recipe.read_bytes().startswith(_RECIPE.partition("\n")[0].encode())
        taken = people.exists() or recipe.exists()
    if taken and not made_here:
        raise OutputError(
            f"{people if people.exists() else recipe} is not the demo's, and is not replaced.  "
            "Hint: choose another directory (--output)."
        )


COMMANDS = (Command(demo, place=10),)
