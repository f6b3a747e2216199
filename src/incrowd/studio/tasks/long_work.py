"""Work of seconds to minutes, each in a process that is there for it alone: measure, compare, attack, publish."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from incrowd.common.surface import written_in
from incrowd.core.describing import described
from incrowd.core.families import registered
from incrowd.core.release_directory import require_free
from incrowd.core.risk import Risk
from incrowd.errors import FormulaWarning
from incrowd.planning.compare.candidates import Candidate, candidate_of, candidates_in
from incrowd.planning.compare.compare import compare, try_candidate
from incrowd.planning.compare.comparison import Outcome
from incrowd.publishing.recipe import Recipe
from incrowd.studio.tasks.trying import SEED, as_tried, ledger_of, point
from incrowd.studio.working import Task, Teller

_PARTS = ("models", "method", "form", "sample")


def measure(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Publish and attack all rows: risk and loss as a comparison measures them."""
    candidate = candidate_of(as_tried(asked["recipe"]), Path(asked["base"]))
    found = try_candidate(candidate, SEED, False, ledger=ledger_of(asked), progress=tell.progress)
    return point(found, "all rows", None)


def compare_ways(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Compare ways to publish; each outcome is told as soon as it is there."""
    recipe = {key: value for key, value in asked["recipe"].items() if key not in ("ledger", "pseudonyms", "seed")}
    with written_in("recipe"):
        candidates = candidates_in(recipe, Path(asked["base"]))
    so_far: list[dict[str, Any]] = []

    def finished(outcome: Outcome) -> None:
        so_far.append(asdict(outcome))
        tell.part("so far", {"outcomes": list(so_far), "of": len(candidates)})

    found = compare(
        candidates, risk=asked["risk"], loss=asked["loss"], jobs=1, seed=SEED, progress=tell.progress, finished=finished
    )
    return {
        "comparison": found.to_dict(),
        "outcomes": [asdict(outcome) for outcome in found.outcomes],
        "candidates": {candidate.name: _parts(candidate) for candidate in candidates},
        "page": found.to_html() if found.compared else None,
    }


def _parts(candidate: Candidate) -> dict[str, Any]:
    return {key: candidate.recipe[key] for key in _PARTS if key in candidate.recipe}


def audit(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Make a release and attack it, or attack one that was published."""
    from incrowd.publishing.opening.open_release import open_release

    recipe = Recipe.from_dict(as_tried(asked["recipe"]), base=Path(asked["base"]))
    table = recipe.table()
    if asked.get("directory"):
        release = open_release(Path(asked["directory"]))
    else:
        release = recipe.run(table=table, ledger=ledger_of(asked), progress=tell.progress)
    original = table.engine.source if release.hides_rows or asked.get("directory") else None
    tried: list[dict[str, Any]] = []

    def finished(risk: Risk) -> None:
        tried.append({**risk.to_dict(), "about": about[risk.attack], "known besides": [*risk.beside, *risk.joined_by]})
        tell.part("attacks", list(tried))

    about = {name: described(kind)["about"] for name, kind in registered("attacks").items()}
    found = release.audit(
        original=original,
        learn=asked["learn"],
        remedies=asked["remedies"],
        seed=SEED,
        progress=tell.progress,
        finished=finished,
    )
    return {"audit": found.to_dict(), "page": found.to_html()}


def publish(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Make the release that a recipe describes and write it, as `incrowd publish` does."""
    recipe = Recipe.from_dict(asked["recipe"], base=Path(asked["base"]))
    directory = Path(asked["directory"])
    require_free(directory, force=asked["force"])  # before the work, not after it
    release = recipe.run(progress=tell.progress)
    safe = asked["spreadsheet_safe"] or bool(recipe.output.get("spreadsheet_safe", False))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", FormulaWarning)
        release.save(
            directory,
            format=asked["format"] or recipe.output.get("format"),
            force=asked["force"],
            spreadsheet_safe=safe,
            progress=tell.progress,
        )
    found = [str(warning.message) for warning in told if warning.category is FormulaWarning]
    return {
        "directory": str(directory),
        "files": list(files_of(directory)),
        "summary": release.summary,
        "warnings": [*release.summary["warnings"], *found],
    }


def evidence(memory: dict[str, Any], asked: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """Write what a reviewer asks about a published release beside it, as `incrowd evidence` does, unsigned."""
    from incrowd.evidence import make_evidence

    place = Path(asked["directory"])
    original = None if "://" in asked["location"] else asked["location"]
    found = make_evidence(place, original=original, learn=asked["learn"], progress=tell.progress)
    target = place.parent / f"{place.name}-evidence"
    written = found.save(target)
    return {
        "directory": str(target),
        "files": [path.name for path in written],
        "open_questions": list(found.to_dict()["context"]["open"]),
        "page": found.to_html(),
    }


def files_of(directory: Path) -> list[dict[str, Any]]:
    """Return the files of a release with their sizes and hashes."""
    found = []
    for path in sorted(Path(directory).rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            name = path.relative_to(directory).as_posix()
            found.append({"name": name, "size": path.stat().st_size, "sha256": digest})
    return found


TASKS: dict[str, Task] = {
    "measure": measure,
    "compare": compare_ways,
    "audit": audit,
    "publish": publish,
    "evidence": evidence,
}
