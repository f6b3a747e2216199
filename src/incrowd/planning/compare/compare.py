"""Publish and audit every candidate, several at once; what is finished is kept, so that an interrupted comparison goes
on where it stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from incrowd.auditing.learnt import headline
from incrowd.auditing.run import brief_audit
from incrowd.common.progress import Progress, silent
from incrowd.common.threads import VARIABLE as THREADS
from incrowd.common.writing import write_text
from incrowd.errors import IncrowdError
from incrowd.ledger import Ledger
from incrowd.planning.compare.candidates import Candidate, candidates_of, refuse_same_names
from incrowd.planning.compare.comparison import Comparison, Outcome, threats_of
from incrowd.publishing.recipe import Recipe
from incrowd.publishing.release import Release


def compare(
    recipes: Sequence[Candidate | str | Path],
    *,
    risk: str = "mean",
    loss: str = "queries",
    learn: bool = False,
    keep: Path | None = None,
    jobs: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
    finished: Callable[[Outcome], None] | None = None,
) -> Comparison:
    """Publish and audit what recipes ask for: files, or candidates that were made of them.

    `keep` is a directory for finished results, found again the next time. `finished` is told of each as it is there.
    Chance comes from the `seed`, so that the comparison can be repeated: make the release that is published anew.
    """
    Comparison((), risk, loss)  # refused before the work, not after it
    made = [recipe for recipe in recipes if isinstance(recipe, Candidate)]
    files = [Path(recipe) for recipe in recipes if not isinstance(recipe, Candidate)]
    candidates = [*made, *(candidates_of(files) if files or not made else [])]
    refuse_same_names(candidates)
    outcomes: dict[str, Outcome] = {}
    waiting: list[Candidate] = []
    for candidate in candidates:
        kept = _kept(keep, candidate, seed, learn)
        if kept is None:
            waiting.append(candidate)
        else:
            outcomes[candidate.name] = kept
    progress("comparing", len(outcomes) / max(len(candidates), 1))
    workers = min(jobs or os.cpu_count() or 1, max(len(waiting), 1))

    def heed(stage: str, done: float) -> None:
        progress("comparing", len(outcomes) / len(candidates))  # whoever listens may call the work off

    for candidate, outcome in _run(waiting, workers, seed, learn, silent if finished is None else heed):
        outcomes[candidate.name] = outcome
        _keep(keep, candidate, seed, learn, outcome)
        if finished is not None:
            finished(outcome)
        progress("comparing", len(outcomes) / len(candidates))
    return Comparison(tuple(outcomes[candidate.name] for candidate in candidates), risk, loss)


def try_candidate(
    candidate: Candidate,
    seed: int,
    learn: bool,
    *,
    rows: object = None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Publish, audit, and keep the numbers alone; a candidate that cannot be had says why.

    With `rows`, a frame or anything that `read` takes, these are tried in place of the recipe's source. The rehearsal
    of a `ledger` holds the release against the earlier ones.
    """
    started = time.perf_counter()
    try:
        # Nothing of it is published, so that a ledger has nothing to write down, and nothing is spent.
        asked = {key: value for key, value in candidate.recipe.items() if key not in ("ledger", "if_unsafe")}
        recipe = Recipe.from_dict(asked, base=candidate.base)
        table = recipe.table(rows=rows)
        unsafe = None if ledger is None else candidate.recipe.get("if_unsafe")
        release = recipe.run(seed=seed, table=table, ledger=ledger, if_unsafe=unsafe, progress=progress)
        made = time.perf_counter() - started
        original = table.engine.source if release.hides_rows else None
        return outcome_of(
            candidate.name, release, seconds=made, original=original, learn=learn, seed=seed, progress=progress
        )
    except IncrowdError as error:
        return failed(candidate.name, error, time.perf_counter() - started)


def failed(name: str, error: IncrowdError, seconds: float) -> Outcome:
    """Return what is said of a way that cannot be had."""
    return Outcome(name, "", "", (), 0, None, {}, {}, "", round(seconds, 3), failed=str(error))


def outcome_of(
    name: str,
    release: Release,
    *,
    seconds: float,
    original: object = None,
    learn: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Outcome:
    """Audit a release, and keep the numbers that are compared; `seconds` is how long it took to make."""
    found = brief_audit(release, original=original, learn=learn, seed=seed, progress=progress)
    numbers, strongest = found.about["rows"], found.strongest
    return Outcome(
        name=name,
        method=release.method.name,
        form=release.form.name,
        promises=tuple(found.guaranteed),
        rows=numbers["published"],
        withheld=numbers.get("withheld"),
        risks=threats_of([risk.to_dict() for risk in found.attacks]),
        losses=_losses(found.usefulness),
        strongest="" if strongest is None else strongest.attack,
        seconds=round(seconds, 3),
    )


def _losses(useful: Mapping[str, Any]) -> dict[str, float]:
    """Return what is lost, each from 0 on."""
    found: dict[str, float] = {}
    by_size = {line["queries"]: line["median error"] for line in useful.get("queries", [])}
    if by_size:
        found["queries"] = by_size.get("unbounded", next(iter(by_size.values())))
    for name in ("columns", "pairs"):
        lines = useful.get(name, [])
        if lines:
            found[name] = sum(line["total variation"] for line in lines) / len(lines)
    learnt = useful.get("learning", [])
    if learnt:
        best = headline(learnt)  # of columns that there is nothing to learn of, nothing is lost
        found["learning"] = 0.0 if best is None else max(best.on_raw_data - best.accuracy, 0.0)
    return found


def _run(
    candidates: Sequence[Candidate], workers: int, seed: int, learn: bool, progress: Progress
) -> Iterator[tuple[Candidate, Outcome]]:
    if workers <= 1:
        for candidate in candidates:
            yield candidate, try_candidate(candidate, seed, learn, progress=progress)
        return
    # A fresh process each: libraries that use threads must not be forked.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread_each) as pool:
        running = {pool.submit(try_candidate, candidate, seed, learn): candidate for candidate in candidates}
        try:
            while running:
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one_thread_each() -> None:
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    os.environ.setdefault(THREADS, "1")


def _kept(keep: Path | None, candidate: Candidate, seed: int, learn: bool) -> Outcome | None:
    if keep is None:
        return None
    with suppress(OSError, ValueError, TypeError, KeyError):
        data = json.loads((keep / f"{candidate.key(seed=seed, learn=learn)}.json").read_text(encoding="utf-8"))
        return replace(Outcome.from_dict(data), name=candidate.name)
    return None


def _keep(keep: Path | None, candidate: Candidate, seed: int, learn: bool, outcome: Outcome) -> None:
    """Write a result down, all of it or nothing."""
    if keep is None:
        return
    path = keep / f"{candidate.key(seed=seed, learn=learn)}.json"
    write_text(path, json.dumps(asdict(outcome), allow_nan=False), parents=True)
