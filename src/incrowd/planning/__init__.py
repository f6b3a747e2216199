"""What to decide before publishing: what a file holds, which way to publish it, with which parameters.

profile/     roles and hierarchies for a file, and a recipe to start from
rules/       what laws and regulators ask, as recipes
compare/     many ways to publish one table, side by side
sampling     which share to sample, and how much distortion to allow
sdgs         which k, rate and levels keep most at (ε, δ)
"""
