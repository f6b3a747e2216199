"""Many ways to publish one table, side by side: what each gives away, and what it is still good for."""

from incrowd.comparing.candidates import Candidate, candidates_of
from incrowd.comparing.comparison import Comparison, Outcome
from incrowd.comparing.running import compare

__all__ = ["Candidate", "Comparison", "Outcome", "candidates_of", "compare"]
