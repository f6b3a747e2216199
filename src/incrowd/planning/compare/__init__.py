"""Many ways to publish one table, side by side: what each gives away, and what it is still good for."""

from incrowd.planning.compare.candidates import Candidate, candidates_of
from incrowd.planning.compare.compare import compare
from incrowd.planning.compare.comparison import Comparison, Outcome

__all__ = ["Candidate", "Comparison", "Outcome", "candidates_of", "compare"]
