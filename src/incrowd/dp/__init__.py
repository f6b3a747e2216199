"""Differential privacy: exact mechanisms, budgets and what they add up to. Methods that publish with it build on these.

discrete_laplace      noise for counts            bernoulli, exact                what it is made of
selection             choose one of many          smooth_bound, expected_rows     of suppression
budget, accountant    what is spent, where        amplification                   what sampling saves
sampled_suppression, exact_suppression   sampling with suppression   sdgs_parameters, largest_rate   its parameters
promise               what is promised            binomial                        tails of the distribution
discrete_gaussian     noise for many counts       concentrated                    ρ as ε and δ
boxes/                boxes and noisy counts      marginals/                      columns and pairs
synthesis/            rows from counts chosen one after the other
"""

from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget

__all__ = ["Accountant", "Budget"]
