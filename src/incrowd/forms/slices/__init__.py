"""Sliced tables as an adversary and an analyst see them; algorithms on tallies and code arrays.

sliced_rows, slices (permutation, chance)     rows in buckets, columns of attributes
diversity (matching, exact_shares)            how surely a person's sensitive value is guessed
fake_tuples                                   how many people match who are in no row
"""
