"""Bucketization and slicing: break the link instead of blurring the value. Algorithms on tallies and code arrays.

correlation, columns (medoids), company     attributes → columns
sliced                                      a tally in columns, rows in buckets
buckets (dealing), anatomy                  rows → buckets
diversity (matching, exact), membership     what a sliced table tells
permutation (chance)                        the last step before it is shown
"""
