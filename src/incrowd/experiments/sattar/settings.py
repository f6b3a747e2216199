"""What the experiment runs on, and the names of what it compares."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, did_you_mean

PAPER = (
    "A.H.M. Sarowar Sattar, Jiuyong Li, Xiaofeng Ding, Jixue Liu & Millist Vincent (2013): A General Framework for "
    "Privacy Preserving Data Publishing. Knowledge-Based Systems 54."
)

FIGURES = ("2", "3", "4", "5", "6", "7", "8", "9", "10")

OURS = "local recoding"
LEAST_LOSS = "local recoding, least loss"
MAX_K, AVG_K = "Mondrian at Max.k", "Mondrian at Avg.k"
MAX_K_NODES, AVG_K_NODES = "Mondrian at Max.k, node labels", "Mondrian at Avg.k, node labels"
GAIN_MAX_K, GAIN_AVG_K = "InfoGain Mondrian at Max.k", "InfoGain Mondrian at Avg.k"
CRITERION = "Mondrian under the criterion"
LAPLACE, LAPLACE_IN_ALL = "Laplace, ε = 0.1 per answer", "Laplace, ε = 0.1 in all"
DIFFGEN_MAX, DIFFGEN_GAIN = "DiffGen (Max), ε = 0.1", "DiffGen (InfoGain), ε = 0.1"
RAW, MAJORITY = "raw data (baseline)", "largest class"
AS_THEY_ARE = "rows as they are"
BREAKS = "breaks the criterion"


@dataclass(frozen=True)
class Settings:
    """How much is measured; the paper's own sizes by default."""

    rows: tuple[int, ...] = (25_000, 50_000, 75_000, 100_000, 125_000, 150_000)
    time_rows: tuple[int, ...] = (100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000)
    queries: int = 1000
    folds: int = 10
    repeats: int = 3
    """Runs with different seeds; a claim holds only if it holds in all of them."""
    seed: int = 0
    only: tuple[str, ...] = FIGURES
    rate: float = 0.9
    limit: float = 0.6
    limits: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5, 0.6)
    ks: tuple[int, ...] = (10, 20, 30, 50, 70, 90, 120, 150, 200, 250)
    time_limits: tuple[float, ...] = (0.2, 0.4, 0.6)
    epsilon: str = "0.1"
    epsilons: tuple[str, ...] = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "1")
    adult: bool = True

    def __post_init__(self) -> None:
        require_whole("the experiment", "repeats", self.repeats, at_least=1)
        for figure in self.only:
            if figure not in FIGURES:
                raise RecipeError(f"there is no figure '{figure}' in the experiment.{did_you_mean(figure, FIGURES)}")

    @classmethod
    def quick(cls, **changes: Any) -> Settings:
        """Return two runs of about a minute: fewer sizes, queries and folds."""
        small: dict[str, Any] = {
            "rows": (10_000, 25_000),
            "time_rows": (50_000, 200_000),
            "repeats": 2,
            "queries": 100,
            "folds": 2,
            "ks": (10, 30, 90, 150),
            "limits": (0.2, 0.4, 0.6),
            "time_limits": (0.6,),
        }
        return cls(**{**small, **changes})

    def wants(self, *figures: str) -> bool:
        """Whether any of some figures is asked for."""
        return any(figure in self.only for figure in figures)

    def to_dict(self) -> dict[str, Any]:
        """Return what is worth telling."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
