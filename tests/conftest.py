"""What tests share: where the Adult data set is, and how Hypothesis draws its tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same tables in every run, no files left behind, and no failure because another process was busy.
settings.register_profile("incrowd", derandomize=True, database=None, deadline=None)
settings.load_profile("incrowd")


@pytest.fixture(scope="session")
def adult() -> Path:
    """The folder of the Adult data set; a test that asks for it skips where there is none."""
    root = Path(os.environ.get("INCROWD_DATA") or Path(__file__).parents[2] / "shared" / "data")
    folder = root / "adult"
    if not (folder / "adult.csv").exists():
        pytest.skip("the Adult data set is not here: put it in ../shared/data or name its folder in INCROWD_DATA")
    return folder
