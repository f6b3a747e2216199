"""Differential privacy: exact mechanisms, budgets and what they add up to. Methods that publish with it build on these.

discrete_laplace      noise for counts            bernoulli, exact         what it is made of
selection             choose one of many          opendp_source            the same noise from OpenDP
budget, accountant    what is spent, where        amplification            what sampling saves
tight_composition     many questions, some δ      audit                    try to catch a mechanism at lying
sampled_suppression   sampling with suppression   planning, largest_rate   its parameters
smooth_bound          its bound at every ε        binomial                 tails of the binomial distribution
"""

from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget

__all__ = ["Accountant", "Budget"]
