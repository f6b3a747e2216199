"""An experiment several times over, so that its verdicts do not hang on one draw of chance."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.common.progress import Progress
from incrowd.experiments.results import Results

SEEDS_APART = 10_000
"""How far the seeds of two runs are apart: one run takes some that follow each other."""


def several_runs(results: Results, repeats: int, seed: int, progress: Progress) -> Iterator[tuple[int, Progress]]:
    """Yield the seed of each run and where to tell of progress; what is written down meanwhile is of that run."""
    for number in range(repeats):
        results.run = number

        def tell(stage: str, done: float, number: int = number) -> None:
            progress(stage if repeats == 1 else f"run {number + 1} of {repeats}: {stage}", done)

        yield seed + SEEDS_APART * number, tell
